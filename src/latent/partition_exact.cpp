#include "latent/partition_exact.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/math/logspace.h"
#include "core/math/special.h"

namespace granary::latent {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::size_t z(Index i) { return static_cast<std::size_t>(i); }

VectorXd mix_components(const PartitionPrior& prior, Index n, const VectorXd& count) {
  VectorXd out;
  if (prior.type != PriorType::mfm) return out;
  for (Index t = 1; t <= count.size(); ++t) {
    if (!(count[t - 1] > 0)) continue;
    const VectorXd k = components_given_count(prior, n, t);
    if (out.size() < k.size()) {
      const Index old = out.size();
      out.conservativeResize(k.size());
      out.tail(k.size() - old).setZero();
    }
    out.head(k.size()) += count[t - 1] * k;
  }
  return out;
}

}  // namespace

std::vector<double> subset_marginals(const BlockFamily& family, Monitor& monitor) {
  const Index n = family.rows();
  if (n > 20) throw InputError(message("subsets of ", n, " rows are too many to list."));
  const std::unique_ptr<BlockFamily> work = family.clone();
  work->slots(1);
  std::vector<double> out(std::size_t(1) << n, 0);
  for (std::size_t bits = 1; bits < out.size(); ++bits) {
    monitor.check();
    work->clear(0);
    for (Index i = 0; i < n; ++i)
      if (bits >> i & 1u) work->add(i, 0);
    out[bits] = work->log_marginal(0);
  }
  return out;
}

ExactPosterior enumerate_partitions(const BlockFamily& family, const PartitionPrior& prior, Monitor& monitor) {
  const Index n = family.rows();
  if (n > most_enumerated) {
    throw InputError(message("every partition can be listed for at most ", most_enumerated, " rows, not ", n,
                             "; rows with only two different values go further, and dp_mixture() samples."));
  }
  const PartitionLaw law(prior, n);
  std::vector<double> weight = subset_marginals(family, monitor);
  for (std::size_t bits = 1; bits < weight.size(); ++bits) {
    int size = 0;
    for (std::size_t b = bits; b != 0; b &= b - 1) ++size;
    weight[bits] += law.log_size(size);
  }
  std::vector<double> v(z(n) + 1, -infinity);
  Index most = 0;
  for (Index t = 1; t <= n; ++t)
    if ((v[z(t)] = law.log_v(t)) > -infinity) most = t;
  ExactPosterior out;
  // The largest term first, so that the second pass can sum plain exponentials.
  double top = -infinity;
  std::vector<unsigned> best;
  for_each_partition(n, most, [&](const std::vector<unsigned>& block, int t) {
    if ((static_cast<long>(out.partitions += 1) & 65535) == 0) monitor.check();
    double value = v[z(t)];
    for (int b = 0; b < t; ++b) value += weight[block[z(b)]];
    if (value > top) {
      top = value;
      best.assign(block.begin(), block.begin() + t);
    }
  });
  out.count = VectorXd::Zero(most);
  std::vector<double> by_subset(weight.size(), 0);
  long seen = 0;
  for_each_partition(n, most, [&](const std::vector<unsigned>& block, int t) {
    if ((++seen & 65535) == 0) monitor.check();
    double value = v[z(t)];
    for (int b = 0; b < t; ++b) value += weight[block[z(b)]];
    const double p = std::exp(value - top);
    out.count[t - 1] += p;
    for (int b = 0; b < t; ++b) by_subset[block[z(b)]] += p;
  });
  const double total = out.count.sum();
  out.similarity = MatrixXd::Zero(n, n);
  for (std::size_t bits = 1; bits < by_subset.size(); ++bits) {
    if (by_subset[bits] == 0) continue;
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j)
        if ((bits >> i & 1u) && (bits >> j & 1u)) out.similarity(i, j) += by_subset[bits] / total;
  }
  out.count /= total;
  out.log_evidence = top + std::log(total);
  out.best_probability = 1 / total;
  out.best.resize(n);
  for (std::size_t b = 0; b < best.size(); ++b)
    for (Index i = 0; i < n; ++i)
      if (best[b] >> i & 1u) out.best[i] = static_cast<int>(b);
  out.components = mix_components(prior, n, out.count);
  return out;
}

VectorXi two_values(ConstMatrixRef x) {
  VectorXi out = VectorXi::Zero(x.rows());
  Index other = -1;
  for (Index i = 1; i < x.rows(); ++i) {
    if (x.row(i) == x.row(0)) continue;
    if (other < 0) other = i;
    if (x.row(i) != x.row(other)) return VectorXi();
    out[i] = 1;
  }
  return out;
}

ExactPosterior two_valued(const BlockFamily& family, const VectorXi& value, const PartitionPrior& prior, Monitor& monitor) {
  const Index n = family.rows(), b = value.sum(), a = n - b;
  if (static_cast<double>(a) * static_cast<double>(a) * static_cast<double>(b + 1) * static_cast<double>(b + 1) > 1.2e8) {
    throw InputError(message("the recursion for two values would take too long for ", a, " and ", b, " rows; dp_mixture() samples."));
  }
  const PartitionLaw law(prior, n);
  const std::unique_ptr<BlockFamily> work = family.clone();
  work->slots(1);
  std::vector<Index> first, second;
  for (Index i = 0; i < n; ++i) (value[i] == 0 ? first : second).push_back(i);
  // m(i, j) over c0^i c1^j, c the geometric means of the marginals of all rows of one value: what underflows then does not matter.
  MatrixXd w(a + 1, b + 1);
  for (Index i = 0; i <= a; ++i) {
    work->clear(0);
    for (Index r = 0; r < i; ++r) work->add(first[z(r)], 0);
    w(i, 0) = work->log_marginal(0);
    for (Index j = 1; j <= b; ++j) {
      work->add(second[z(j - 1)], 0);
      w(i, j) = work->log_marginal(0);
    }
  }
  const double c0 = a > 0 ? w(a, 0) / static_cast<double>(a) : 0, c1 = b > 0 ? w(0, b) / static_cast<double>(b) : 0;
  // g_t(a, b) = f_t(a, b) / (a! b!) turns the recursion into sums of products of numbers of moderate size.
  for (Index i = 0; i <= a; ++i) {
    for (Index j = 0; j <= b; ++j) {
      const double di = static_cast<double>(i), dj = static_cast<double>(j);
      w(i, j) = i + j == 0 ? 0 : std::exp(w(i, j) - di * c0 - dj * c1 + law.log_size(di + dj) - log_factorial(di) - log_factorial(dj));
    }
  }
  MatrixXd f = MatrixXd::Zero(a + 1, b + 1), next(a + 1, b + 1);
  f(0, 0) = 1;
  std::vector<double> terms;
  LogSumExp sum;
  const double whole = log_factorial(static_cast<double>(a)) + log_factorial(static_cast<double>(b)) + static_cast<double>(a) * c0 + static_cast<double>(b) * c1;
  int small = 0;
  for (Index t = 1; t <= n && small < 4; ++t) {
    if (law.log_v(t) == -infinity) break;
    for (Index p = 0; p <= a; ++p) {
      monitor.check();
      for (Index q = 0; q <= b; ++q) {
        double s = 0;
        if (p > 0) {
          for (Index i = 1; i <= p; ++i) {
            double part = 0;
            for (Index j = 0; j <= q; ++j) part += w(i, j) * f(p - i, q - j);
            s += part * static_cast<double>(i) / static_cast<double>(p);
          }
        } else {
          for (Index j = 1; j <= q; ++j) s += w(0, j) * f(0, q - j) * static_cast<double>(j) / static_cast<double>(q);
        }
        next(p, q) = s;
      }
    }
    std::swap(f, next);
    terms.push_back(std::log(f(a, b)) + law.log_v(t) + whole);
    sum.add(terms.back());
    small = terms.back() < sum.value() - 40 ? small + 1 : 0;
  }
  if (!std::isfinite(sum.value())) throw NumericalError("the recursion for two values ran out of the range of numbers; dp_mixture() samples.");
  ExactPosterior out;
  out.count.resize(static_cast<Index>(terms.size()));
  for (Index t = 0; t < out.count.size(); ++t) out.count[t] = std::exp(terms[z(t)] - sum.value());
  out.log_evidence = sum.value();
  out.best_probability = out.partitions = std::numeric_limits<double>::quiet_NaN();
  out.components = mix_components(prior, n, out.count);
  return out;
}

ExactPosterior exact_posterior(ConstMatrixRef x, const FamilySpec& spec, const PartitionPrior& prior, Monitor& monitor) {
  const std::unique_ptr<BlockFamily> family = make_family(x, spec);
  const bool same_size = spec.type != FamilyType::binomial || spec.size.size() == 1 || spec.size.minCoeff() == spec.size.maxCoeff();
  if (x.rows() > most_enumerated && same_size) {
    const VectorXi value = two_values(x);
    if (value.size() > 0) return two_valued(*family, value, prior, monitor);
  }
  return enumerate_partitions(*family, prior, monitor);
}

}  // namespace granary::latent
