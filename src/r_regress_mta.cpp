// Exports of multi-task averaging.
#include "r_door.h"
#include "regress/mta.h"
#include "regress/mta_loo.h"
#include "regress/mta_vector.h"

using namespace granary;
using namespace granary::regress;

// [[Rcpp::export(rng = false)]]
SEXP core_task_moments(SEXP y, SEXP task, SEXP tasks) {
  return crossing([&] { return write(task_moments(vector(y, "y"), read<VectorXi>(task).array() - 1, count(tasks))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_mta_common(SEXP mean, SEXP s, SEXP tau2) {
  return crossing([&] { return write(shrink_to_common(vector(mean), vector(s), number(tau2))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_mta_common_weights(SEXP s, SEXP tau2) {
  return crossing([&] { return write(common_weights(vector(s), number(tau2))); });
}

// `a` is a matrix or a dgCMatrix.
// [[Rcpp::export(rng = false)]]
SEXP core_mta_along(SEXP a, SEXP mean, SEXP s, SEXP gamma, SEXP with_variance, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(shrink_along(design(a), vector(mean), vector(s), number(gamma), flag(with_variance), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_mta_weights(SEXP a, SEXP s, SEXP gamma, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) { return write(along_weights(matrix(a), vector(s), number(gamma), monitor)); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_mta_pairwise_weights(SEXP centres, SEXP s, SEXP gamma, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) { return write(pairwise_weights(vector(centres), vector(s), number(gamma), monitor)); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_linear_risk(SEXP mu, SEXP s, SEXP w) {
  return crossing([&] { return write(linear_risk(vector(mu), vector(s), matrix(w))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_common_risk(SEXP mu, SEXP s, SEXP tau2) {
  return crossing([&] { return write(common_risk(vector(mu), vector(s), number(tau2))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_mta_vectors(SEXP data, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) { return write(shrink_vectors(read<VectorMeansData>(data), monitor)); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_loo_risk(SEXP data, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) { return write(loo_risk(read<RiskData>(data), read<RiskOptions>(options), monitor)); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_double_loo_risk(SEXP data, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(double_loo_risk(read<RiskData>(data), read<RiskOptions>(options), rng(seed), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_split_risk(SEXP data, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(split_risk(read<RiskData>(data), read<RiskOptions>(options), rng(seed), monitor));
  });
}
