// Exports of kriging: a model crosses as the list R/process-kriging.R calls its core (x, y, f, kernel, nugget, ..., factor).
#include "core/cluster/space_filling.h"
#include "process/kriging.h"
#include "process/kriging_fit.h"
#include "r_core_kernel.h"

using namespace granary;
using namespace granary::process;

GRANARY_DEFAULTS(kriging, KrigingSearch);
GRANARY_DEFAULTS(gp_parameter_sample, ParameterSampleOptions);

// [[Rcpp::export(rng = false)]]
SEXP core_trend_columns(SEXP f, SEXP y) {
  return crossing([&] { return write(trend_columns(matrix(f, "f"), vector(y, "y"))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_kriging(SEXP problem, SEXP search, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng random = rng(seed);
    return write(kriging_fit(read_state<KrigingProblem>(problem), read<KrigingSearch>(search), random, monitor));
  });
}

// At the parameters of `problem`.
// [[Rcpp::export(rng = false)]]
SEXP core_kriging_solve(SEXP problem, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) { return write(kriging_solve(read_state<KrigingProblem>(problem), monitor)); });
}

// For optimisers of the user's own.
// [[Rcpp::export(rng = false)]]
SEXP core_kriging_starts(SEXP search, SEXP seed) {
  return crossing([&] {
    Rng random = rng(seed);
    return write(kriging_starts(read<KrigingSearch>(search), random));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_kriging_objective(SEXP problem, SEXP log_parameters) {
  return crossing([&] { return write(kriging_objective(read_state<KrigingProblem>(problem), vector(log_parameters))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_kriging_sample(SEXP problem, SEXP start, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(kriging_parameter_sample(read_state<KrigingProblem>(problem), vector(start, "start"),
                                          read<ParameterSampleOptions>(options), rng(seed), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_kriging_surface(SEXP problem, SEXP log_parameters, SEXP threads, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const KrigingProblem p = read_state<KrigingProblem>(problem);
    GpLearnOptions options;
    options.criterion = p.method;
    options.threads = count(threads, "threads");
    return write(kriging_surface(p.model(), p.x, p.y, p.f, matrix(log_parameters), options, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_kriging_append(SEXP state, SEXP rows) {
  return crossing([&] { return write(kriging_append(read_state<KrigingState>(state), read<KrigingRows>(rows, "rows"))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_kriging_predict(SEXP state, SEXP points, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(kriging_predict(read_state<KrigingState>(state), read<KrigingPoints>(points, "points"),
                                 read<KrigingPredictOptions>(options), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_kriging_draws(SEXP state, SEXP points, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng random = rng(seed);
    return write(kriging_draws(read_state<KrigingState>(state), read<KrigingPoints>(points, "points"),
                               read<KrigingDrawOptions>(options), random, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_kriging_imse(SEXP state, SEXP lower, SEXP upper) {
  return crossing([&] {
    const KrigingState s = read_state<KrigingState>(state);
    return write(imse_constant(s.process(), s.kernel, vector(lower, "lower"), vector(upper, "upper")));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_kriging_weights(SEXP state, SEXP points, SEXP threads, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const KrigingPoints at = read<KrigingPoints>(points, "points");
    return write(largest_weights(read_state<KrigingState>(state).process(), at.x, at.f, count(threads, "threads"), monitor));
  });
}

// `z`: the inputs coded to [-1, 1].
// [[Rcpp::export(rng = false)]]
SEXP core_blind_search(SEXP state, SEXP z, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(blind_search(read_state<KrigingState>(state), matrix(z, "z"), read<BlindOptions>(options), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_kriging_joint(SEXP levels, SEXP points, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(joint_predict(read<std::vector<LevelData>>(levels, "levels"), read<KrigingPoints>(points, "points"),
                               read<KrigingPredictOptions>(options), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_kriging_joint_draws(SEXP levels, SEXP points, SEXP n, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng random = rng(seed);
    return write(joint_draws(read<std::vector<LevelData>>(levels, "levels"), read<KrigingPoints>(points, "points"), count(n), random,
                             monitor));
  });
}

// Sobol's points of the unit cube.
// [[Rcpp::export(rng = false)]]
SEXP core_sobol(SEXP n, SEXP d) {
  return crossing([&] { return write(sobol(count(n), count(d))); });
}
