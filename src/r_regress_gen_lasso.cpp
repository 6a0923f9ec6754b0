// The generalized lasso: regress/gen_lasso.h.
#include "r_door.h"
#include "regress/chain_penalty.h"
#include "regress/gen_lasso_problem.h"

using namespace granary;
using namespace granary::regress;

GRANARY_DEFAULTS(gen_lasso, GenFitOptions);

// [[Rcpp::export(rng = false)]]
SEXP core_gen_lasso(SEXP data, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(gen_lasso_fit(read<GenData>(data, "x"), read<GenFitOptions>(options), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_chain_penalty(SEXP position, SEXP options) {
  return crossing(R_NilValue, [&](Monitor&) { return write(chain_penalty(vector(position, "pos"), read<ChainOptions>(options))); });
}
