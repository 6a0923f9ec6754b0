#include "dependence_test.h"

#include <algorithm>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>

#include "core/errors.h"
#include "core/parallel.h"

namespace granary::kernels {

namespace {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;  // rows are gathered: contiguous

constexpr Index largest_gram = 4000;  // two matrices of this order are 256 MB

// sum_ij K_ij L_pi(i)pi(j) / m^2 for symmetric K and L.
double permuted_product(const MatrixXd& k, const MatrixXd& l, const std::vector<int>& order) {
  const Index m = k.rows();
  double diagonal = 0, above = 0;
  for (Index j = 0; j < m; ++j) {
    const double* left = k.data() + j * m;
    const double* right = l.data() + static_cast<Index>(order[j]) * m;
    diagonal += left[j] * right[order[j]];
    double sum0 = 0, sum1 = 0;
    Index i = 0;
    for (; i + 1 < j; i += 2) {
      sum0 += left[i] * right[order[i]];
      sum1 += left[i + 1] * right[order[i + 1]];
    }
    if (i < j) sum0 += left[i] * right[order[i]];
    above += sum0 + sum1;
  }
  return (diagonal + 2 * above) / (static_cast<double>(m) * static_cast<double>(m));
}

}  // namespace

PermutationTest permutation_test(const Features& z, const DependenceOptions& options, int permutations, const Rng& rng,
                                 int threads, Monitor& monitor) {
  if (z.size() < 2) throw InputError("dependence needs at least two variables.");
  const Index m = z[0].rows();
  if (m < 5) throw InputError("a permutation test needs at least 5 observations.");
  if (permutations < 1) throw InputError("at least one permutation is needed.");
  const double m_ = static_cast<double>(m);
  const bool pair = z.size() == 2;
  const Features scaled = scaled_features(z, options);
  PermutationTest result;
  result.permuted.resize(permutations);

  if (pair && options.measure == Measure::hsic && m <= largest_gram && scaled[0].cols() * scaled[1].cols() > m) {
    const MatrixXd k = scaled[0] * scaled[0].transpose(), l = scaled[1] * scaled[1].transpose();
    result.statistic = k.cwiseProduct(l).sum() / (m_ * m_);
    parallel_for(permutations, threads, monitor, [&](Index b) {
      Rng mine = rng.stream(static_cast<std::uint64_t>(b));
      result.permuted[b] = permuted_product(k, l, mine.permutation(static_cast<int>(m)));
    });
  } else {
    const auto value = [&](const Features& f) {
      return dependence_value(pair ? MatrixXd(f[0].transpose() * f[1]) : dependence_blocks(f), pair, m_, options);
    };
    result.statistic = value(scaled);
    std::vector<RowMatrix> rows(scaled.begin(), scaled.end());
    parallel_for(permutations, threads, monitor, [&](Index b) {
      Rng mine = rng.stream(static_cast<std::uint64_t>(b));
      Features mixed;
      mixed.reserve(scaled.size());
      if (!pair) mixed.push_back(scaled[0]);
      MatrixXd cross;
      for (std::size_t v = 1; v < scaled.size(); ++v) {
        const std::vector<int> order = mine.permutation(static_cast<int>(m));
        RowMatrix shuffled(m, rows[v].cols());
        for (Index i = 0; i < m; ++i) shuffled.row(i) = rows[v].row(order[i]);
        if (pair) {
          cross.noalias() = scaled[0].transpose() * shuffled;
        } else {
          mixed.push_back(shuffled);
        }
      }
      result.permuted[b] = dependence_value(pair ? cross : dependence_blocks(mixed), pair, m_, options);
    });
  }
  // Permutations that give back the observed pairs must count as ties, whatever the order of summation did to the last digits.
  const double level = std::isfinite(result.statistic) ? result.statistic - 1e-10 * std::abs(result.statistic) : result.statistic;
  result.p_value = (1 + static_cast<double>((result.permuted.array() >= level).count())) / (1 + permutations);
  return result;
}

GammaTest gamma_test(const MatrixXd& x, const MatrixXd& y) {
  const double n = static_cast<double>(x.rows());
  if (x.rows() < 5) throw InputError("a test of independence needs at least 5 observations.");
  struct Traces {
    double t, t2, s2;  // tr K, tr K^2, sum K_ii^2
  };
  const auto traces = [](const MatrixXd& z) {
    const VectorXd diagonal = z.rowwise().squaredNorm();
    return Traces{diagonal.sum(), (z.transpose() * z).squaredNorm(), diagonal.squaredNorm()};
  };
  const Traces a = traces(x), b = traces(y);
  GammaTest result;
  result.statistic = (x.transpose() * y).squaredNorm() / (n * n);
  result.mean = a.t * b.t / ((n - 1) * n * n);
  const auto spread = [&](const Traces& k) { return (n - 1) * k.t2 - k.t * k.t; };
  const auto shape = [&](const Traces& k) { return n * (n + 1) * k.s2 - (n - 1) * (k.t * k.t + 2 * k.t2); };
  const double variance = 2 * spread(a) * spread(b) / ((n - 1) * (n - 1) * (n + 1) * (n - 2)) +
                          shape(a) * shape(b) / ((n + 1) * n * (n - 1) * (n - 2) * (n - 3));
  result.variance = variance / (n * n * n * n);
  if (!(result.mean > 0)) throw InputError("one of the variables is constant.");
  if (!(result.variance > 1e-14 * result.mean * result.mean)) {
    throw NumericalError(
        "every order of the rows gives the same HSIC: the kernels do not tell the observations apart. Change the width.");
  }
  result.shape = result.mean * result.mean / result.variance;
  result.scale = result.variance / result.mean;
  result.p_value = boost::math::gamma_q(result.shape, result.statistic / result.scale);
  return result;
}

}  // namespace granary::kernels
