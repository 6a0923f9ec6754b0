// Exports of the core that the checks in R/ use.
#include "r_glue.h"

#include <algorithm>
#include <cmath>

#include "core/spectral.h"

using namespace granary;

// Largest |X_ij - X_ji|, where it is (counted from 1), and largest |X_ij|. By tiles, so that the transpose stays in the cache.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector core_asymmetry(const Eigen::Map<Eigen::MatrixXd> x) {
  constexpr Index tile = 32;
  const Index p = x.rows();
  double gap = 0, size = 0;
  Index row = 0, column = 0;
  for (Index j0 = 0; j0 < p; j0 += tile) {
    for (Index i0 = 0; i0 <= j0; i0 += tile) {
      for (Index j = j0; j < std::min(j0 + tile, p); ++j) {
        for (Index i = i0; i < std::min(i0 + tile, j + 1); ++i) {
          const double a = x(i, j), b = x(j, i);
          size = std::max(size, std::max(std::abs(a), std::abs(b)));
          if (std::abs(a - b) > gap) {
            gap = std::abs(a - b);
            row = i;
            column = j;
          }
        }
      }
    }
  }
  return Rcpp::NumericVector::create(gap, static_cast<double>(row + 1), static_cast<double>(column + 1), size);
}

// How far the smallest eigenvalue is below zero, in units of the mean of the diagonal. Above some hundred variables a lower bound of
// that, from as many matrix-vector products as 2.5 million multiplications buy (never fewer than ten): no false alarm, and what a pairwise
// or rounded covariance does wrong shows early.
// [[Rcpp::export(rng = false)]]
double core_semidefinite_excess(const Eigen::Map<Eigen::MatrixXd> s) {
  const double scale = s.diagonal().mean();
  if (!(scale > 0)) return 0;
  const Index steps = std::max<Index>(10, 2500000 / (s.rows() * s.rows()));
  return std::max(0.0, -smallest_ritz_value(s, steps) / scale);
}

// The largest |x|, missing values and infinities aside; 0 of nothing.
// [[Rcpp::export(rng = false)]]
double core_largest(const Rcpp::NumericVector& x) {
  double size = 0;
  for (const double value : x) {
    const double a = std::abs(value);
    if (a > size && std::isfinite(a)) size = a;
  }
  return size;
}
