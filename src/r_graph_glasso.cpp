// The graphical lasso, covariances, and draws of Gaussian graphs through the door: graph/glasso.h, graph/sim_ggm.h.
#include "core/linalg/moments.h"
#include "core/linalg/spectral_norm.h"
#include "graph/glasso.h"
#include "graph/precision_loss.h"
#include "graph/sim_ggm.h"
#include "r_door.h"

using namespace granary;
using namespace granary::graph;

GRANARY_DEFAULTS(ggm_lasso, GlassoOptions);
GRANARY_DEFAULTS(sim_ggm, SimGgmOptions);

// [[Rcpp::export(rng = false)]]
SEXP core_glasso_path(SEXP s, SEXP penalty, SEXP options, SEXP start, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const auto from = read<std::optional<SparseMatrix>>(start, "start");
    return write(glasso_path(matrix(s, "S"), read<PenaltyPath>(penalty), read<GlassoOptions>(options), monitor, from));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_glasso_bounds(SEXP s, SEXP penalty, SEXP objective_at_start) {
  return crossing([&] {
    const MatrixView data = matrix(s, "S");
    return write(level_set_bounds(data, read<PenaltyPath>(penalty).base(data.rows()), number(objective_at_start)));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_covariance(SEXP x) {
  return crossing([&] { return write(sample_covariance(matrix(x))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_sim_ggm(SEXP options, SEXP seed) {
  return crossing([&] {
    Rng stream = rng(seed);
    return write(sim_ggm_precision(read<SimGgmOptions>(options), stream));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_ggm_sample(SEXP precision, SEXP n, SEXP seed) {
  return crossing([&] {
    Rng stream = rng(seed);
    return write(sample_from_precision(sparse(precision, "precision"), count(n, "n"), stream));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_covariance_sample(SEXP covariance, SEXP n, SEXP seed) {
  return crossing([&] {
    Rng stream = rng(seed);
    return write(sample_from_covariance(matrix(covariance, "covariance"), count(n, "n"), stream));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_eigenvalue_range(SEXP a) {
  return crossing([&] { return write(eigenvalue_range(matrix(a))); });
}

// NULL where it is not positive definite.
// [[Rcpp::export(rng = false)]]
SEXP core_definite_inverse(SEXP a) {
  return crossing([&] { return write(definite_inverse(matrix(a))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_precision_loss(SEXP truth, SEXP estimate) {
  return crossing([&] { return write(precision_loss(matrix(truth, "truth"), matrix(estimate, "estimate"))); });
}
