#include "core/cluster/space_filling.h"

#include <algorithm>
#include <boost/random/sobol.hpp>
#include <cmath>
#include <limits>

#include "core/base/errors.h"

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

SobolNumbers::SobolNumbers(Index d, int levels) : d(d), levels(levels) {
  if (d < 1 || d > 3667) throw InputError(message("Sobol's sequence is known for 1 to 3667 dimensions, got ", d, "."));
  if (levels < 0 || levels > 31) throw InputError("the number of Sobol points must be a power of two of at most 2^31.");
  boost::random::sobol engine(static_cast<std::size_t>(d));
  const auto draw = [&] { return static_cast<std::uint32_t>(engine() >> 32); };
  direction.resize(static_cast<std::size_t>(d) * static_cast<std::size_t>(std::max(levels, 1)));
  std::vector<std::uint32_t> last(static_cast<std::size_t>(d), 0), now(last);
  const std::uint64_t end = levels > 0 ? std::uint64_t(1) << (levels - 1) : 0;
  int level = 0;
  for (std::uint64_t i = 1; i <= end; ++i) {
    for (auto& value : now) value = draw();
    if (i == 1 && now == last)  // the origin, where Boost has it
      for (auto& value : now) value = draw();
    if ((i & (i - 1)) == 0) {
      for (Index j = 0; j < d; ++j) direction[static_cast<std::size_t>(j * levels + level)] = now[j] ^ last[j];
      ++level;
    }
    last = now;
  }
}

ScrambledSobol::ScrambledSobol(const SobolNumbers& numbers, Rng& rng)
    : d_(numbers.d), levels_(numbers.levels), direction_(numbers.direction.size()), at_(static_cast<std::size_t>(numbers.d)) {
  const auto bits = [&] { return static_cast<std::uint32_t>(rng() >> 32); };
  std::uint32_t column[32];  // of a lower triangular matrix of bits with ones on its diagonal
  for (Index j = 0; j < d_; ++j) {
    at_[static_cast<std::size_t>(j)] = bits();
    for (int b = 0; b < 32; ++b) {
      const std::uint32_t one = 0x80000000u >> b;
      column[b] = one | (bits() & (one - 1));
    }
    for (int level = 0; level < levels_; ++level) {
      const std::size_t k = static_cast<std::size_t>(j * levels_ + level);
      std::uint32_t scrambled = 0;
      for (int b = 0; b < 32; ++b)
        if (numbers.direction[k] & (0x80000000u >> b)) scrambled ^= column[b];
      direction_[k] = scrambled;
    }
  }
}

void ScrambledSobol::next(double* point) {
  if (index_ > 0) {
    int level = 0;
    while (((index_ >> level) & 1) == 0) ++level;
    for (Index j = 0; j < d_; ++j) at_[static_cast<std::size_t>(j)] ^= direction_[static_cast<std::size_t>(j * levels_ + level)];
  }
  ++index_;
  for (Index j = 0; j < d_; ++j) point[j] = (at_[static_cast<std::size_t>(j)] + 0.5) * 0x1p-32;
}

MatrixXd to_box(ConstMatrixRef unit, ConstVectorRef lower, ConstVectorRef upper) {
  if (unit.cols() != lower.size() || lower.size() != upper.size())
    throw InputError("the box does not have the columns of the points.");
  return (unit * (upper - lower).asDiagonal()).rowwise() + lower.transpose();
}

}  // namespace granary
