#include "space_filling.h"

#include <boost/random/sobol.hpp>
#include <cmath>
#include <limits>

#include "errors.h"

namespace granary {

namespace {

MatrixXd one_design(Index n, Index d, Rng& rng) {
  MatrixXd x(n, d);
  for (Index j = 0; j < d; ++j) {
    const std::vector<int> strip = rng.permutation(static_cast<int>(n));
    for (Index i = 0; i < n; ++i) x(i, j) = (strip[i] + rng.uniform_open()) / static_cast<double>(n);
  }
  return x;
}

double smallest_distance(const MatrixXd& x) {
  double least = std::numeric_limits<double>::infinity();
  for (Index i = 1; i < x.rows(); ++i) {
    for (Index j = 0; j < i; ++j) least = std::min(least, (x.row(i) - x.row(j)).squaredNorm());
  }
  return least;
}

}  // namespace

MatrixXd latin_hypercube(Index n, Index d, Rng& rng, int candidates) {
  if (n > std::numeric_limits<int>::max()) throw InputError("too many points for a Latin hypercube.");
  MatrixXd best = one_design(n, d, rng);
  double distance = candidates > 1 ? smallest_distance(best) : 0;
  for (int c = 1; c < candidates; ++c) {
    MatrixXd other = one_design(n, d, rng);
    const double at = smallest_distance(other);
    if (at > distance) {
      distance = at;
      best.swap(other);
    }
  }
  return best;
}

MatrixXd sobol(Index n, Index d) {
  if (d < 1 || d > 3667) throw InputError(message("Sobol's sequence is known for 1 to 3667 dimensions, got ", d, "."));
  boost::random::sobol engine(static_cast<std::size_t>(d));
  // The sequence starts at the origin in some versions of Boost and after it in others: leave the origin out in both.
  const double unit = 1 / (1 + static_cast<double>(boost::random::sobol::max()));
  MatrixXd x(n, d);
  for (Index i = 0; i < n;) {
    for (Index j = 0; j < d; ++j) x(i, j) = unit * static_cast<double>(engine());
    if (i > 0 || x.row(0).maxCoeff() > 0) ++i;
  }
  return x;
}

MatrixXd sobol_shifted(Index n, Index d, Rng& rng) {
  MatrixXd x = sobol(n, d);
  for (Index j = 0; j < d; ++j) {
    const double shift = rng.uniform();
    x.col(j) = x.col(j).unaryExpr([shift](double v) { return v + shift < 1 ? v + shift : v + shift - 1; });
  }
  return x;
}

MatrixXd to_box(ConstMatrixRef unit, ConstVectorRef lower, ConstVectorRef upper) {
  if (unit.cols() != lower.size() || lower.size() != upper.size())
    throw InputError("the box does not have the columns of the points.");
  return (unit * (upper - lower).asDiagonal()).rowwise() + lower.transpose();
}

}  // namespace granary
