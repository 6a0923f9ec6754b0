#include "core/infer/spin_states.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/graph/union_find.h"

namespace granary {

namespace {

void require_enumerable(Index n) {
  if (n > max_enumerated_spins) {
    throw InputError(message(n, " connected variables have 2^", n, " joint states; exact enumeration stops at ",
                             max_enumerated_spins,
                             ". Use the pseudo-likelihood for a fit, and for moments expectation consistent inference, belief "
                             "propagation or Gibbs sampling."));
  }
}

SpinModel restrict(ConstMatrixRef w, ConstVectorRef b, const std::vector<int>& members) {
  const Index k = static_cast<Index>(members.size());
  SpinModel part{MatrixXd(k, k), VectorXd(k)};
  for (Index i = 0; i < k; ++i) {
    part.b[i] = b[members[i]];
    for (Index j = 0; j < k; ++j) part.w(i, j) = w(members[i], members[j]);
  }
  return part;
}

// Turns energies into exp(energy - top) and returns top.
double exponentiate(VectorXd& energy) {
  const double top = energy.maxCoeff();
  energy = (energy.array() - top).exp();
  return top;
}

// First moments of `size` signed weights; the array is used up. out[i] = sum_s v_s x_i(s).
double first_moments(double* v, Index size, double* out) {
  int k = 0;
  while ((Index{1} << k) < size) ++k;
  for (Index half = size / 2; half >= 1; half /= 2) {
    double difference = 0;
    for (Index s = 0; s < half; ++s) {
      difference += v[s + half] - v[s];
      v[s] += v[s + half];
    }
    out[--k] = difference;
  }
  return v[0];
}

}  // namespace

void require_spin_model(ConstMatrixRef w, ConstVectorRef b) {
  if (w.rows() != w.cols() || w.rows() != b.size() || w.rows() == 0) {
    throw InputError(message("the couplings must be a square matrix with one row per field: got ", w.rows(), " x ", w.cols(),
                             " and ", b.size(), " fields."));
  }
  if (!w.allFinite() || !b.allFinite()) throw InputError("couplings and fields must be finite.");
  if (w.diagonal().cwiseAbs().maxCoeff() != 0) throw InputError("couplings must have a zero diagonal: x_i x_i is always one.");
  if ((w - w.transpose()).cwiseAbs().maxCoeff() != 0) throw InputError("couplings must be symmetric.");
}

VectorXd spin_energies(ConstMatrixRef w, ConstVectorRef b) {
  const int n = static_cast<int>(b.size());
  require_enumerable(n);
  VectorXd energy = VectorXd::Zero(Index{1} << n);
  VectorXd field(n > 0 ? Index{1} << (n - 1) : 1);
  for (int k = 0; k < n; ++k) {
    field[0] = b[k];
    for (int j = 0; j < k; ++j) field[0] -= 2 * w(k, j);
    for (int j = 0; j < k; ++j) {
      const Index half = Index{1} << j;
      field.segment(half, half) = field.head(half).array() + 4 * w(k, j);
    }
    const Index half = Index{1} << k;
    energy.segment(half, half) = energy.head(half) + field.head(half);
    energy.head(half) -= field.head(half);
  }
  return energy;
}

void spin_moments_of(VectorXd& weights, int n, double& total, VectorXd& mean, MatrixXd& second) {
  mean.resize(n);
  second = MatrixXd::Identity(n, n);
  VectorXd row(n);
  for (int k = n - 1; k >= 0; --k) {
    const Index half = Index{1} << k;
    for (Index s = 0; s < half; ++s) {
      const double low = weights[s], high = weights[s + half];
      weights[s] = low + high;
      weights[s + half] = high - low;
    }
    mean[k] = first_moments(weights.data() + half, half, row.data());
    for (int j = 0; j < k; ++j) second(j, k) = second(k, j) = row[j];
  }
  total = weights[0];
  mean = (mean / total).cwiseMax(-1.0).cwiseMin(1.0);
  for (int k = 0; k < n; ++k) {
    for (int j = 0; j < n; ++j) {
      if (j != k) second(j, k) = std::max(-1.0, std::min(1.0, second(j, k) / total));
    }
  }
}

void walsh_hadamard(VectorXd& values) {
  const Index size = values.size();
  for (Index half = 1; half < size; half *= 2) {
    for (Index start = 0; start < size; start += 2 * half) {
      for (Index s = start; s < start + half; ++s) {
        const double low = values[s], high = values[s + half];
        values[s] = low + high;
        values[s + half] = high - low;
      }
    }
  }
}

std::vector<std::vector<int>> spin_components(ConstMatrixRef w) {
  const int n = static_cast<int>(w.rows());
  UnionFind sets(n);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < j; ++i) {
      if (w(i, j) != 0) sets.unite(i, j);
    }
  }
  return sets.members();
}

int largest_component(ConstMatrixRef w) {
  std::size_t largest = 0;
  for (const auto& part : spin_components(w)) largest = std::max(largest, part.size());
  return static_cast<int>(largest);
}

SpinMoments exact_moments(ConstMatrixRef w, ConstVectorRef b, Monitor& monitor) {
  const Index n = b.size();
  SpinMoments result;
  result.mean.resize(n);
  const auto parts = spin_components(w);
  std::vector<MatrixXd> second(parts.size());
  for (std::size_t c = 0; c < parts.size(); ++c) {
    monitor.check();
    const auto& members = parts[c];
    if (members.size() == 1) {
      const double field = std::abs(b[members[0]]);
      result.mean[members[0]] = std::tanh(b[members[0]]);
      result.log_partition += field + std::log1p(std::exp(-2 * field));
      continue;
    }
    const SpinModel part = restrict(w, b, members);
    VectorXd p = spin_energies(part.w, part.b), mean;
    const double top = exponentiate(p);
    double total = 0;
    spin_moments_of(p, static_cast<int>(members.size()), total, mean, second[c]);
    result.log_partition += top + std::log(total);
    for (std::size_t i = 0; i < members.size(); ++i) result.mean[members[i]] = mean[static_cast<Index>(i)];
  }
  result.second = result.mean * result.mean.transpose();
  for (std::size_t c = 0; c < parts.size(); ++c) {
    const auto& members = parts[c];
    for (std::size_t i = 0; i < members.size(); ++i) {
      for (std::size_t j = 0; j < members.size(); ++j) {
        result.second(members[i], members[j]) = i == j ? 1 : second[c](static_cast<Index>(i), static_cast<Index>(j));
      }
    }
  }
  return result;
}

double exact_log_partition(ConstMatrixRef w, ConstVectorRef b, Monitor& monitor) {
  double total = 0;
  for (const auto& members : spin_components(w)) {
    monitor.check();
    const SpinModel part = restrict(w, b, members);
    VectorXd p = spin_energies(part.w, part.b);
    const double top = exponentiate(p);
    total += top + std::log(p.sum());
  }
  return total;
}

VectorXd spin_probabilities(ConstMatrixRef w, ConstVectorRef b) {
  VectorXd p = spin_energies(w, b);
  exponentiate(p);
  const double total = p.sum();
  p /= total;
  return p;
}

MatrixXd exact_spin_sample(ConstMatrixRef w, ConstVectorRef b, Index rows, Rng& rng, Monitor& monitor) {
  MatrixXd x(rows, b.size());
  for (const auto& members : spin_components(w)) {
    const SpinModel part = restrict(w, b, members);
    VectorXd cumulative = spin_probabilities(part.w, part.b);
    for (Index s = 1; s < cumulative.size(); ++s) cumulative[s] += cumulative[s - 1];
    const double total = cumulative[cumulative.size() - 1];
    const double* begin = cumulative.data();
    for (Index t = 0; t < rows; ++t) {
      if (t % 4096 == 0) monitor.check();
      const Index state = std::upper_bound(begin, begin + cumulative.size() - 1, rng.uniform() * total) - begin;
      for (std::size_t i = 0; i < members.size(); ++i) x(t, members[i]) = state >> i & 1 ? 1.0 : -1.0;
    }
  }
  return x;
}

double spin_divergence(const SpinModel& p, const SpinModel& q, Monitor& monitor) {
  if (p.b.size() != q.b.size()) {
    throw InputError(
        message("the two models must have the same variables, but they have ", p.b.size(), " and ", q.b.size(), "."));
  }
  const SpinMoments moments = exact_moments(p.w, p.b, monitor);
  const double log_q = exact_log_partition(q.w, q.b, monitor);
  // E_p of the difference of energies, less the difference of the log partition functions; the diagonal of w is zero.
  const double difference = (p.w - q.w).cwiseProduct(moments.second).sum() + (p.b - q.b).dot(moments.mean);
  return std::max(0.0, difference - moments.log_partition + log_q);
}

void check(const SpinModel& model) { require_spin_model(model.w, model.b); }

}  // namespace granary
