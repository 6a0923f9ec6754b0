#include "core/infer/hmm_chain.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/sequence/chain.h"

namespace granary {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
// Terms that a double cannot hold are then below rounding of the sum.
constexpr double least = 1e-280;

double log_or_none(double x) { return x > 0 ? std::log(x) : -infinity; }

ChainScores scores_of(ConstVectorRef initial, ConstMatrixRef transition, ConstMatrixRef log_density) {
  const Index k = initial.size();
  ChainScores scores;
  scores.unary = log_density.transpose();
  scores.pair.resize(static_cast<std::size_t>(k * k));
  for (Index a = 0; a < k; ++a) {
    scores.unary(a, 0) += log_or_none(initial[a]);
    for (Index b = 0; b < k; ++b) scores.pair[static_cast<std::size_t>(a + k * b)] = log_or_none(transition(a, b));
  }
  return scores;
}

[[noreturn]] void impossible() { throw NumericalError(
    "a sequence has probability zero: no path that the transitions allow leads through it."); }

// out_k = exp(log f_k - top), top the largest; false where all densities are zero or one is not a number.
bool relative(const double* log_density, Index stride, Index k, double* out, double& taken) {
  double top = -infinity;
  for (Index h = 0; h < k; ++h) {
    const double d = log_density[h * stride];
    if (!(d <= infinity)) return false;
    top = std::max(top, d);
  }
  if (!std::isfinite(top)) return false;
  taken += top;
  for (Index h = 0; h < k; ++h) {
    const double d = log_density[h * stride] - top;
    out[h] = d == 0 ? 1 : d < -745 ? 0 : std::exp(d);
  }
  return true;
}

// now_k = b_k sum_j A_jk before_j, brought to sum one; what it was divided by.
double step(const double* before, const double* transition, Index stride, const double* b, Index k, double* now) {
  double sum = 0;
  for (Index h = 0; h < k; ++h) {
    const double* from = transition + h * stride;
    double in = 0;
    for (Index j = 0; j < k; ++j) in += from[j] * before[j];
    now[h] = in * b[h];
    sum += now[h];
  }
  if (!(sum > least)) return 0;
  const double scale = 1 / sum;
  for (Index h = 0; h < k; ++h) now[h] *= scale;
  return sum;
}

double first_step(ConstVectorRef initial, const double* b, double* now) {
  const Index k = initial.size();
  double sum = 0;
  for (Index h = 0; h < k; ++h) sum += now[h] = initial[h] * b[h];
  if (!(sum > least)) return 0;
  for (Index h = 0; h < k; ++h) now[h] /= sum;
  return sum;
}

// The product of many numbers of at most one, by its logarithm.
class LogProduct {
 public:
  void times(double x) {
    product_ *= x;
    if (product_ < 1e-20) {
      log_ += std::log(product_);
      product_ = 1;
    }
  }
  double value() const { return log_ + std::log(product_); }

 private:
  double product_ = 1, log_ = 0;
};

double smooth_in_logs(ConstVectorRef initial, ConstMatrixRef transition, ConstMatrixRef log_density, double weight,
                      MatrixRef states, MatrixRef transitions) {
  const ChainMarginals m = forward_backward(scores_of(initial, transition, log_density));
  if (!std::isfinite(m.log_partition)) impossible();
  const Index k = initial.size();
  states = m.unary.transpose();
  for (Index t = 0; t < states.rows(); ++t) states.row(t) /= states.row(t).sum();
  for (std::size_t at = 0; at < m.pair.size(); ++at) transitions(static_cast<Index>(at) % k,
                                                                 static_cast<Index>(at) / k % k) += weight * m.pair[at];
  return m.log_partition;
}

}  // namespace

double hmm_loglik(ConstVectorRef initial, ConstMatrixRef transition, ConstMatrixRef log_density, HmmWork& work) {
  const Index k = initial.size(), n = log_density.rows(), stride = log_density.outerStride();
  work.beta.resize(k);
  work.later.resize(k);
  VectorXd b(k);
  double taken = 0;
  LogProduct product;
  bool fine = true;
  for (Index t = 0; t < n && fine; ++t) {
    fine = relative(log_density.data() + t, stride, k, b.data(), taken);
    if (!fine) break;
    const double scale = t == 0 ? first_step(initial, b.data(), work.later.data())
        : step(work.beta.data(), transition.data(), transition.outerStride(), b.data(), k, work.later.data());
    fine = scale > 0;
    product.times(scale);
    work.beta.swap(work.later);
  }
  if (fine) return taken + product.value();
  for (Index t = 0; t < n; ++t)
    if (!(log_density.row(t).maxCoeff() > -infinity)) return -infinity;
  return forward_backward(scores_of(initial, transition, log_density)).log_partition;
}

double hmm_loglik(ConstVectorRef initial, ConstMatrixRef transition, ConstMatrixRef log_density) {
  HmmWork work;
  return hmm_loglik(initial, transition, log_density, work);
}

double hmm_smooth(ConstVectorRef initial, ConstMatrixRef transition, ConstMatrixRef log_density, double weight, HmmWork& work,
                  MatrixRef states, MatrixRef transitions) {
  const Index k = initial.size(), n = log_density.rows(), stride = log_density.outerStride();
  if (work.density.rows() != k || work.density.cols() < n) {
    work.density.resize(k, n);
    work.alpha.resize(k, n);
  }
  work.beta.resize(k);
  work.later.resize(k);
  double taken = 0;
  LogProduct product;
  for (Index t = 0; t < n; ++t) {
    double* b = work.density.data() + t * k;
    if (!relative(log_density.data() + t, stride, k, b, taken)) throw NumericalError(
        "a row has probability zero in every state.");
    double* now = work.alpha.data() + t * k;
    const double scale = t == 0 ? first_step(initial, b, now)
        : step(now - k, transition.data(), transition.outerStride(), b, k, now);
    if (!(scale > 0)) return smooth_in_logs(initial, transition, log_density, weight, states, transitions);
    product.times(scale);
  }
  // A sequence that fails on the way back must leave `transitions` as they were.
  MatrixXd moves = MatrixXd::Zero(k, k);
  double* beta = work.beta.data();
  double* later = work.later.data();
  for (Index h = 0; h < k; ++h) {
    beta[h] = 1;
    states(n - 1, h) = work.alpha(h, n - 1);
  }
  for (Index t = n - 1; t > 0; --t) {
    const double* b = work.density.data() + t * k;
    const double* before = work.alpha.data() + (t - 1) * k;
    for (Index h = 0; h < k; ++h) later[h] = b[h] * beta[h];
    for (Index j = 0; j < k; ++j) beta[j] = 0;
    for (Index h = 0; h < k; ++h) {
      const double* from = transition.data() + h * transition.outerStride();
      for (Index j = 0; j < k; ++j) beta[j] += from[j] * later[h];
    }
    double sum = 0, top = 0;
    for (Index j = 0; j < k; ++j) {
      sum += before[j] * beta[j];
      top = std::max(top, beta[j]);
    }
    if (!(sum > least * top) || !(top > 0)) return smooth_in_logs(initial, transition, log_density, weight, states, transitions);
    const double scale = 1 / sum;
    for (Index h = 0; h < k; ++h) {
      const double f = later[h] * scale;
      if (f == 0) continue;
      double* to = moves.data() + h * k;
      for (Index j = 0; j < k; ++j) to[j] += before[j] * f;
    }
    for (Index j = 0; j < k; ++j) states(t - 1, j) = before[j] * beta[j] * scale;
    const double down = 1 / top;
    for (Index j = 0; j < k; ++j) beta[j] *= down;
  }
  transitions.array() += weight * moves.array() * transition.array();
  return taken + product.value();
}

HmmPosterior hmm_posterior(ConstVectorRef initial, ConstMatrixRef transition, ConstMatrixRef log_density) {
  HmmPosterior out;
  HmmWork work;
  out.states.resize(log_density.rows(), initial.size());
  out.transitions = MatrixXd::Zero(initial.size(), initial.size());
  out.loglik = hmm_smooth(initial, transition, log_density, 1, work, out.states, out.transitions);
  return out;
}

std::vector<int> hmm_path(ConstVectorRef initial, ConstMatrixRef transition, ConstMatrixRef log_density, double& log_joint) {
  const std::vector<ChainPath> best = viterbi(scores_of(initial, transition, log_density), 1);
  if (best.empty()) impossible();
  log_joint = best[0].score;
  return best[0].labels;
}

}  // namespace granary
