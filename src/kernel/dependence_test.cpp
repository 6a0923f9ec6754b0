#include "kernel/dependence_test.h"

#include <algorithm>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <numeric>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "kernel/dependence_variable.h"

namespace granary::kernel {

namespace {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;  // rows are gathered: contiguous

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

// prod_k of the entries (i, j) of K^k with rows and columns of all but the first in their own order, summed over i and j.
double permuted_products(const std::vector<MatrixXd>& k, const std::vector<std::vector<int>>& order) {
  const Index n = k[0].rows();
  double diagonal = 0, above = 0;
  VectorXd product(n);
  for (Index j = 0; j < n; ++j) {
    product.head(j + 1) = k[0].col(j).head(j + 1);
    for (std::size_t v = 1; v < k.size(); ++v) {
      const std::vector<int>& o = order[v];
      const double* column = k[v].data() + static_cast<Index>(o[j]) * n;
      for (Index i = 0; i <= j; ++i) product[i] *= column[o[i]];
    }
    above += product.head(j).sum();
    diagonal += product[j];
  }
  return diagonal + 2 * above;
}

void finish(PermutationTest& test) {
  // Permutations that give back the observed pairs must count as ties, whatever the order of summation did to the last digits.
  const double level = std::isfinite(test.statistic) ? test.statistic - 1e-10 * std::abs(test.statistic) : test.statistic;
  const auto reached = static_cast<double>((test.permuted.array() >= level).count());
  test.p_value = (1 + reached) / (1 + static_cast<double>(test.permuted.size()));
}

void require_test(Index m, int permutations) {
  if (m < 5) throw InputError("a permutation test needs at least 5 observations.");
  if (permutations < 1) throw InputError("at least one permutation is needed.");
}

}  // namespace

PermutationTest permutation_test(const MatrixXd& k, const MatrixXd& l, int permutations, const Rng& rng, int threads,
                                 Monitor& monitor) {
  const Index m = k.rows();
  require_test(m, permutations);
  PermutationTest result;
  result.permuted.resize(permutations);
  result.statistic = k.cwiseProduct(l).sum() / (static_cast<double>(m) * static_cast<double>(m));
  parallel_for(permutations, threads, monitor, [&](Index b) {
    Rng mine = rng.stream(static_cast<std::uint64_t>(b));
    result.permuted[b] = permuted_product(k, l, mine.permutation(static_cast<int>(m)));
  });
  finish(result);
  return result;
}

PermutationTest joint_permutation_test(const std::vector<MatrixXd>& k, int permutations, const Rng& rng, int threads,
                                       Monitor& monitor) {
  if (k.size() < 2) throw InputError("dependence needs at least two variables.");
  const Index n = k[0].rows();
  require_test(n, permutations);
  const double n_ = static_cast<double>(n);
  std::vector<VectorXd> mean;  // of rows
  double all = 1;
  for (const MatrixXd& gram : k) {
    mean.push_back(gram.rowwise().mean());
    all *= mean.back().mean();
  }
  const auto value = [&](const std::vector<std::vector<int>>& order) {
    double marginal = 0;
    for (Index i = 0; i < n; ++i) {
      double product = mean[0][i];
      for (std::size_t v = 1; v < k.size(); ++v) product *= mean[v][order[v][i]];
      marginal += product;
    }
    return permuted_products(k, order) / (n_ * n_) + all - 2 * marginal / n_;
  };
  std::vector<std::vector<int>> as_observed(k.size(), std::vector<int>(static_cast<std::size_t>(n)));
  for (std::vector<int>& order : as_observed) std::iota(order.begin(), order.end(), 0);
  PermutationTest result;
  result.statistic = value(as_observed);
  result.permuted.resize(permutations);
  parallel_for(permutations, threads, monitor, [&](Index b) {
    Rng mine = rng.stream(static_cast<std::uint64_t>(b));
    std::vector<std::vector<int>> order(k.size());
    for (std::size_t v = 1; v < k.size(); ++v) order[v] = mine.permutation(static_cast<int>(n));
    result.permuted[b] = value(order);
  });
  finish(result);
  return result;
}

PermutationTest permutation_test(const Features& z, const DependenceOptions& options, int permutations, const Rng& rng,
                                 int threads, Monitor& monitor) {
  if (z.size() < 2) throw InputError("dependence needs at least two variables.");
  const Index m = z[0].rows();
  require_test(m, permutations);
  const double m_ = static_cast<double>(m);
  const bool pair = z.size() == 2;
  const Features scaled = scaled_features(z, options);
  if (pair && options.measure == Measure::hsic && m <= largest_gram && scaled[0].cols() * scaled[1].cols() > m) {
    const MatrixXd k = scaled[0] * scaled[0].transpose(), l = scaled[1] * scaled[1].transpose();
    return permutation_test(k, l, permutations, rng, threads, monitor);
  }
  PermutationTest result;
  result.permuted.resize(permutations);
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
  finish(result);
  return result;
}

namespace {

struct Traces {
  double t, t2, s2;  // tr K, tr K^2, sum K_ii^2
};

GammaTest matched_gamma(double n, double product, const Traces& a, const Traces& b) {
  if (n < 5) throw InputError("a test of independence needs at least 5 observations.");
  GammaTest result;
  result.statistic = product / (n * n);
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
  result.p_value = boost::math::gamma_q(result.shape, std::max(0.0, result.statistic) / result.scale);
  return result;
}

}  // namespace

GammaTest gamma_test(const MatrixXd& x, const MatrixXd& y) {
  const auto traces = [](const MatrixXd& z) {
    const VectorXd diagonal = z.rowwise().squaredNorm();
    return Traces{diagonal.sum(), (z.transpose() * z).squaredNorm(), diagonal.squaredNorm()};
  };
  return matched_gamma(static_cast<double>(x.rows()), (x.transpose() * y).squaredNorm(), traces(x), traces(y));
}

GammaTest gamma_test_matrices(const MatrixXd& k, const MatrixXd& l) {
  const auto traces = [](const MatrixXd& a) { return Traces{a.trace(), a.squaredNorm(), a.diagonal().squaredNorm()}; };
  return matched_gamma(static_cast<double>(k.rows()), k.cwiseProduct(l).sum(), traces(k), traces(l));
}

}  // namespace granary::kernel
