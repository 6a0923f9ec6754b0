// Exports of thresholds and of their limit laws.
#include "core/math/chernoff.h"
#include "ensemble/linear01.h"
#include "ensemble/threshold_limits.h"
#include "ensemble/thresholds.h"
#include "r_door.h"

using namespace granary;
using namespace granary::ensemble;

// [[Rcpp::export(rng = false)]]
SEXP core_thresholds(SEXP x, SEXP y, SEXP weights, SEXP options) {
  return crossing([&] { return write(thresholds(vector(x), vector(y, "y"), vector(weights, "weights"),
      read<ThresholdOptions>(options))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_threshold_labels(SEXP x, SEXP thresholds, SEXP first) {
  return crossing([&] { return write(threshold_labels(vector(x), vector(thresholds, "thresholds"), count(first, "first"))); });
}

// data: x, y, weights in a list.
// [[Rcpp::export(rng = false)]]
SEXP core_threshold_resample(SEXP data, SEXP options, SEXP resample, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    return write(resampled_thresholds(vector(door::element(data, "x")), vector(door::element(data, "y")),
        vector(door::element(data, "weights")),
                                      read<ThresholdOptions>(options), read<ResampleOptions>(resample), draws, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_threshold_local(SEXP data, SEXP at, SEXP slope_width, SEXP density_width, SEXP nearest) {
  return crossing([&] {
    return write(local_fit(vector(door::element(data, "x")), vector(door::element(data, "y")),
        vector(door::element(data, "weights")), vector(at, "at"),
                           number(slope_width, "width"), number(density_width, "width"), count(nearest, "nearest")));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_cut_profile(SEXP data, SEXP thresholds, SEXP cut, SEXP first, SEXP options) {
  return crossing([&] {
    return write(cut_profile(vector(door::element(data, "x")), vector(door::element(data, "y")),
        vector(door::element(data, "weights")),
                             vector(thresholds, "thresholds"), count(cut, "cut") - 1, read<ThresholdOptions>(options),
                                 count(first, "first")));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_linear01(SEXP x, SEXP y, SEXP weights, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    return write(linear01(matrix(x), vector(y, "y"), vector(weights, "weights"), read<Linear01Options>(options), draws, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_chernoff(SEXP x, SEXP what) {
  return crossing([&] { return write(chernoff_values(vector(x), value_of<ChernoffValue>(text(what, "what"), "what"))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_smooth_limit(SEXP slope, SEXP density) {
  return crossing([&] { return write(smooth_limit(vector(slope, "slope"), vector(density, "density"))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_excess_draws(SEXP limit, SEXP n, SEXP seed) {
  return crossing([&] {
    Rng draws = rng(seed);
    return write(excess_draws(read<SmoothLimit>(limit, "limit"), count(n, "n"), draws));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_jump_tail(SEXP m, SEXP left, SEXP right) {
  return crossing([&] { return write(jump_tail(number(m, "m"), number(left, "left"), number(right, "right"))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_jump_quantile(SEXP level, SEXP left, SEXP right) {
  return crossing([&] { return write(jump_quantile(number(level, "level"), number(left, "left"), number(right, "right"))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_poisson_argmin(SEXP left, SEXP right, SEXP density, SEXP n, SEXP seed) {
  return crossing([&] {
    Rng draws = rng(seed);
    return write(poisson_argmin(number(left, "left"), number(right, "right"), number(density, "density"), count(n, "n"), draws));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_risk_bound(SEXP n, SEXP eps, SEXP c, SEXP a, SEXP level) {
  return crossing([&] { return write(risk_bound(number(n, "n"), number(eps, "eps"), number(c, "c"), number(a, "a"),
      number(level, "level"))); });
}
