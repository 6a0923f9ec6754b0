// Exports of the scaled and the debiased lasso.
#include "r_door.h"
#include "regress/compatibility.h"
#include "regress/debiased_baseline.h"
#include "regress/debiased_power.h"
#include "regress/scaled_lasso.h"

using namespace granary;
using namespace granary::regress;

GRANARY_DEFAULTS(scaled_lasso, ScaledLassoOptions);
GRANARY_DEFAULTS(debiased_lasso, DebiasedOptions);
GRANARY_DEFAULTS(debiased_lasso_baseline, BaselineOptions);

// [[Rcpp::export(rng = false)]]
SEXP core_scaled_lasso(SEXP x, SEXP y, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(scaled_lasso(design(x), vector(y, "y"), read<ScaledLassoOptions>(options), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_debiased_lasso(SEXP data, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(debiased_lasso(read<DebiasedData>(data), read<DebiasedOptions>(options), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_debiased_baseline(SEXP data, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(debiased_baseline(read<DebiasedData>(data), read<BaselineOptions>(options), rng(seed), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_decorrelate(SEXP data, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(decorrelate_columns(read<DebiasedData>(data), read<DebiasedOptions>(options), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_coherence(SEXP data, SEXP options) {
  return crossing([&] { return write(coherence(read<DebiasedData>(data), read<DebiasedOptions>(options))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_wald_statistic(SEXP difference, SEXP covariance) {
  return crossing([&] { return write(wald_statistic(vector(difference), matrix(covariance))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_compatibility(SEXP s, SEXP set, SEXP cone, SEXP threads, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const std::vector<Index> at = places(set);
    return write(compatibility(matrix(s), std::vector<int>(at.begin(), at.end()), number(cone), count(threads), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_debiased_power(SEXP options) {
  return crossing([&] { return write(debiased_power(read<PowerOptions>(options))); });
}
