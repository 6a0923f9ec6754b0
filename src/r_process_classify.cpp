// Exports of the Gaussian process classifier. `problem`: x, y, kernel, settings, as a fit has them.
#include "core/infer/ep.h"
#include "process/gp_classify_fit.h"
#include "r_core_kernel.h"

using namespace granary;
using namespace granary::process;

GRANARY_DEFAULTS(gp_classify, ClassifySettings);
GRANARY_DEFAULTS(gp_classify_sample, SampleOptions);

// [[Rcpp::export(rng = false)]]
SEXP core_gp_classify(SEXP problem, SEXP search, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(gp_classify_fit(read_state<ClassifyProblem>(problem), read<ClassifySearch>(search), rng(seed), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_gp_classify_posterior(SEXP problem, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const ClassifyProblem p = read_state<ClassifyProblem>(problem);
    Rng random = rng(seed);
    return write(latent_posterior(p.model(), p.x, p.y, p.settings.options(), random, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_gp_classify_sample(SEXP problem, SEXP start, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(classify_parameter_sample(read_state<ClassifyProblem>(problem), vector(start, "start"),
                                           read<ParameterSampleOptions>(options), rng(seed), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_gp_classify_predict(SEXP state, SEXP at, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const ClassifyState s = read_state<ClassifyState>(state);
    return write(predict_class(s.model(), s.x, s.tau, s.weight, matrix(at, "newdata"), read<PredictOptions>(options), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_gp_lower_bound(SEXP problem, SEXP data) {
  return crossing([&] {
    const ClassifyProblem p = read_state<ClassifyProblem>(problem);
    const LowerBoundData more = read<LowerBoundData>(data, "data");
    return write(evidence_lower_bound(p.model(), p.y, more.posterior, more.nodes, more.y, more.mean, more.variance));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_gp_sample(SEXP problem, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const ClassifyProblem p = read_state<ClassifyProblem>(problem);
    return write(sample_posterior(p.model(), p.x, p.y, read<SampleOptions>(options), rng(seed), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_gp_sample_predict(SEXP problem, SEXP weight, SEXP jitter, SEXP at, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const ClassifyProblem p = read_state<ClassifyProblem>(problem);
    return write(predict_sample(p.model(), p.x, matrix(weight, "weight"), number(jitter), matrix(at, "newdata"), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_gp_ais(SEXP problem, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const ClassifyProblem p = read_state<ClassifyProblem>(problem);
    return write(annealed_evidence(p.model(), p.x, p.y, read<AisOptions>(options), rng(seed), monitor));
  });
}

// Expectation propagation for N(0, covariance) cut to the positive orthant.
// [[Rcpp::export(rng = false)]]
SEXP core_orthant_ep(SEXP covariance, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng random = rng(seed);
    return write(orthant_ep(matrix(covariance, "covariance"), random, monitor));
  });
}
