// Draws from normal laws for the simulate() methods.
#include "core/random/gaussian.h"
#include "r_door.h"

using namespace granary;

// One draw per column.
// [[Rcpp::export(rng = false)]]
SEXP core_gaussian_draws(SEXP mean, SEXP covariance, SEXP n, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng random = rng(seed);
    return write(gaussian_draws(vector(mean, "mean"), matrix(covariance, "covariance"), count(n), random, monitor));
  });
}

// Standard normals, n x p.
// [[Rcpp::export(rng = false)]]
SEXP core_normals(SEXP n, SEXP p, SEXP seed) {
  return crossing([&] {
    Rng random = rng(seed);
    const Index rows = count(n), columns = count(p, "p");
    const VectorXd drawn = random.normals(rows * columns);
    return write(MatrixXd(Eigen::Map<const MatrixXd>(drawn.data(), rows, columns)));
  });
}
