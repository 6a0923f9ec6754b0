// Exports of co-boosting and of late fusion.
#include "ensemble/co_boost.h"
#include "ensemble/late_fusion.h"
#include "r_door.h"

using namespace granary;
using namespace granary::ensemble;

GRANARY_DEFAULTS(co_boost, CoBoostOptions);

// [[Rcpp::export(rng = false)]]
SEXP core_co_boost(SEXP views, SEXP y, SEXP weights, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    return write(co_boost(read<std::vector<CaseView>>(views, "x"), labels(y, "y"), vector(weights, "weights"),
                          read<CoBoostOptions>(options), draws, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_co_boost_scores(SEXP model, SEXP views, SEXP ask, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(co_boost_scores(read_state<CoBoostModel>(model, "model"), read<std::vector<CaseView>>(views, "newdata"),
                                 read<CoBoostAsk>(ask), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_late_fusion(SEXP data, SEXP weights, SEXP folds, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    const LabelledViews cases = read<LabelledViews>(data, "data");
    return write(late_fusion(cases.views, cases.y, vector(weights, "weights"), labels(folds, "folds"),
                             read<LateFusionOptions>(options), draws, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_late_fusion_posterior(SEXP model, SEXP views, SEXP threads, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(late_fusion_posterior(read_state<LateFusionModel>(model, "model"),
                                       read<std::vector<CaseView>>(views, "newdata"), count(threads, "threads"), monitor));
  });
}
