// Exports of multilabel learners.
#include "ensemble/multilabel.h"
#include "r_door.h"

using namespace granary;
using namespace granary::ensemble;

GRANARY_DEFAULTS(multilabel, MultilabelOptions);

// [[Rcpp::export(rng = false)]]
SEXP core_multilabel(SEXP x, SEXP y, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    return write(multilabel_fit(matrix(x), matrix(y, "y"), read<MultilabelOptions>(options), draws, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_multilabel_predict(SEXP x, SEXP fit, SEXP ask, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    return write(multilabel_predict(matrix(x), read_state<MultilabelFit>(fit, "fit"), read<MultilabelAsk>(ask), draws, monitor));
  });
}
