#include "core/infer/hmm_model.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/sequence/chain.h"

namespace granary {
namespace {

constexpr Index groups = 16;
constexpr double worth_threads = 1e6;  // as for mixtures

double log_or_none(double x) { return x > 0 ? std::log(x) : -std::numeric_limits<double>::infinity(); }

double x_log_y(double x, double y) { return x > 0 ? x * log_or_none(y) : 0; }

// Densities relative to the largest of their row, and the sum of what was taken off; k x T, so that a step walks along memory.
MatrixXd relative_densities(ConstMatrixRef log_density, double& taken) {
  MatrixXd b(log_density.cols(), log_density.rows());
  taken = 0;
  for (Index t = 0; t < b.cols(); ++t) {
    const double top = log_density.row(t).maxCoeff();
    if (!std::isfinite(top)) throw NumericalError("a row has probability zero in every state.");
    taken += top;
    b.col(t) = (log_density.row(t).transpose().array() - top).exp().matrix();
  }
  return b;
}

// alpha: P(state t | y_1..y_t), scale_t: what each step was divided by.
double forward(ConstVectorRef initial, const MatrixXd& to_next, const MatrixXd& b, MatrixXd& alpha, VectorXd& scale) {
  double loglik = 0;
  for (Index t = 0; t < b.cols(); ++t) {
    if (t == 0) {
      alpha.col(0) = initial.cwiseProduct(b.col(0));
    } else {
      alpha.col(t).noalias() = to_next * alpha.col(t - 1);
      alpha.col(t).array() *= b.col(t).array();
    }
    scale[t] = alpha.col(t).sum();
    if (!(scale[t] > 0)) throw NumericalError("a sequence has probability zero: a transition it makes is forbidden.");
    alpha.col(t) /= scale[t];
    loglik += std::log(scale[t]);
  }
  return loglik;
}

}  // namespace

double hmm_loglik(ConstVectorRef initial, ConstMatrixRef transition, ConstMatrixRef log_density) {
  double taken = 0;
  const MatrixXd b = relative_densities(log_density, taken), to_next = transition.transpose();
  MatrixXd alpha(b.rows(), b.cols());
  VectorXd scale(b.cols());
  return taken + forward(initial, to_next, b, alpha, scale);
}

HmmPosterior hmm_posterior(ConstVectorRef initial, ConstMatrixRef transition, ConstMatrixRef log_density) {
  const Index k = initial.size(), n = log_density.rows();
  HmmPosterior out;
  double taken = 0;
  const MatrixXd b = relative_densities(log_density, taken), to_next = transition.transpose();
  MatrixXd alpha(k, n);
  VectorXd scale(n);
  out.loglik = taken + forward(initial, to_next, b, alpha, scale);
  out.states.resize(n, k);
  out.transitions = MatrixXd::Zero(k, k);
  VectorXd beta = VectorXd::Ones(k), later(k);
  for (Index t = n - 1; t >= 0; --t) {
    VectorXd gamma = alpha.col(t).cwiseProduct(beta);
    out.states.row(t) = (gamma / gamma.sum()).transpose();
    if (t == 0) break;
    later = b.col(t).cwiseProduct(beta) / scale[t];
    out.transitions.noalias() += alpha.col(t - 1) * later.transpose();
    beta.noalias() = transition * later;
  }
  out.transitions.array() *= transition.array();
  return out;
}

std::vector<int> hmm_path(ConstVectorRef initial, ConstMatrixRef transition, ConstMatrixRef log_density, double& log_joint) {
  const Index k = initial.size();
  ChainScores scores;
  scores.unary = log_density.transpose();
  scores.pair.resize(static_cast<std::size_t>(k * k));
  for (Index a = 0; a < k; ++a) {
    scores.unary(a, 0) += log_or_none(initial[a]);
    for (Index b = 0; b < k; ++b) scores.pair[static_cast<std::size_t>(a + k * b)] = log_or_none(transition(a, b));
  }
  const std::vector<ChainPath> best = viterbi(scores, 1);
  if (best.empty()) throw NumericalError("a sequence has probability zero: a transition it makes is forbidden.");
  log_joint = best[0].score;
  return best[0].labels;
}

HmmModel::HmmModel(Emission& emission, std::vector<Index> begin, ConstVectorRef weights, int threads, double prior)
    : emission_(emission), k_(emission.states()), begin_(std::move(begin)), weights_(weights), threads_(threads), prior_(prior) {
  require(begin_.size() >= 2 && begin_.front() == 0 && begin_.back() == emission.rows(), "the sequences must cover all rows.");
  for (Index i = 0; i < units(); ++i) {
    const Index length = begin_[static_cast<std::size_t>(i) + 1] - begin_[static_cast<std::size_t>(i)];
    require(length >= 1, message("sequence ", i + 1, " has no rows."));
    rows_ += weight(i) * static_cast<double>(length);
    sequences_ += weight(i);
  }
}

void HmmModel::set(const VectorXd& theta) {
  initial_ = theta.head(k_);
  transition_ = Eigen::Map<const MatrixXd>(theta.data() + k_, k_, k_);
  if (!initial_.allFinite() || !transition_.allFinite() || initial_.minCoeff() < 0 || transition_.minCoeff() < 0)
    throw NumericalError("the probabilities of the states left their domain.");
  emission_.set(theta.data() + k_ + k_ * k_);
}

MatrixXd HmmModel::densities(Index i) const {
  const Index from = begin_[static_cast<std::size_t>(i)], to = begin_[static_cast<std::size_t>(i) + 1];
  MatrixXd d(to - from, k_);
  emission_.log_density(from, d);
  return d;
}

HmmPosterior HmmModel::posterior(Index i) const { return hmm_posterior(initial_, transition_, densities(i)); }

std::vector<int> HmmModel::path(Index i, double& log_joint) const { return hmm_path(initial_, transition_, densities(i), log_joint); }

EmPart HmmModel::expect(Index from, Index to, const ForwardRule& rule, VectorXd& s, Monitor& monitor) {
  if (rule.kind != EmForward::exact && rule.kind != EmForward::hard) throw InputError("the forward step of sequences is \"exact\" or \"hard\".");
  const Index parts = std::min(groups, to - from), size = emission_.statistics();
  std::vector<VectorXd> sums(static_cast<std::size_t>(parts));
  std::vector<EmPart> found(static_cast<std::size_t>(parts));
  const double work = static_cast<double>(begin_[static_cast<std::size_t>(to)] - begin_[static_cast<std::size_t>(from)]) * static_cast<double>(size);
  parallel_for(parts, work < worth_threads ? 1 : threads_, monitor, [&](Index g) {
    VectorXd& sum = sums[static_cast<std::size_t>(g)];
    EmPart& part = found[static_cast<std::size_t>(g)];
    sum = VectorXd::Zero(statistics());
    for (Index i = from + g * (to - from) / parts; i < from + (g + 1) * (to - from) / parts; ++i) {
      monitor.check();
      const double w = weight(i);
      const MatrixXd d = densities(i);
      HmmPosterior one;
      if (rule.kind == EmForward::hard) {
        double joint = 0;
        const std::vector<int> path = hmm_path(initial_, transition_, d, joint);
        one.loglik = hmm_loglik(initial_, transition_, d);
        one.states = MatrixXd::Zero(d.rows(), k_);
        one.transitions = MatrixXd::Zero(k_, k_);
        for (std::size_t t = 0; t < path.size(); ++t) {
          one.states(static_cast<Index>(t), path[t]) = 1;
          if (t > 0) one.transitions(path[t - 1], path[t]) += 1;
        }
      } else {
        one = hmm_posterior(initial_, transition_, d);
        double joint = one.states.cwiseProduct((one.states.array() > 0).select(d, 0)).sum();  // E log p(path, y)
        for (Index a = 0; a < k_; ++a) {
          joint += x_log_y(one.states(0, a), initial_[a]);
          for (Index b = 0; b < k_; ++b) joint += x_log_y(one.transitions(a, b), transition_(a, b));
        }
        part.entropy += w * std::max(0.0, one.loglik - joint);
      }
      part.loglik += w * one.loglik;
      emission_.accumulate(begin_[static_cast<std::size_t>(i)], w * one.states, sum.data());
      sum.segment(size, k_) += w * one.states.row(0).transpose();
      Eigen::Map<MatrixXd>(sum.data() + size + k_, k_, k_) += w * one.transitions;
    }
  });
  s = VectorXd::Zero(statistics());
  EmPart all;
  for (Index g = 0; g < parts; ++g) {
    s += sums[static_cast<std::size_t>(g)];
    all.loglik += found[static_cast<std::size_t>(g)].loglik;
    all.entropy += found[static_cast<std::size_t>(g)].entropy;
  }
  return all;
}

void HmmModel::maximise(const VectorXd& s, VectorXd& theta) {
  const Index size = emission_.statistics();
  VectorXd first = s.segment(size, k_).cwiseMax(0.0).array() + prior_;
  theta.head(k_) = first / first.sum();
  const Eigen::Map<const MatrixXd> moves(s.data() + size + k_, k_, k_);
  Eigen::Map<MatrixXd> transition(theta.data() + k_, k_, k_);
  for (Index a = 0; a < k_; ++a) {
    const VectorXd row = moves.row(a).transpose().cwiseMax(0.0).array() + prior_;
    if (row.sum() > 1e-10 * rows_) transition.row(a) = (row / row.sum()).transpose();
  }
  emission_.maximise(s.data(), theta.data() + k_ + k_ * k_);
}

double HmmModel::log_prior() const {
  double sum = emission_.log_prior();
  if (prior_ > 0) sum += prior_ * (initial_.array().log().sum() + transition_.array().log().sum());
  return sum;
}

double HmmModel::complete(const VectorXd& s) const {
  const Index size = emission_.statistics();
  double sum = emission_.complete(s.data());
  for (Index a = 0; a < k_; ++a) {
    sum += x_log_y(s[size + a] + prior_, initial_[a]);
    for (Index b = 0; b < k_; ++b) sum += x_log_y(s[size + k_ + a + k_ * b] + prior_, transition_(a, b));
  }
  return sum;
}

double HmmModel::score(const VectorXd& s) const {
  const Index size = emission_.statistics();
  double worst = emission_.score(s.data(), rows_);
  for (Index a = 0; a < k_; ++a) {
    worst = std::max(worst, std::abs(s[size + a] + prior_ - (sequences_ + static_cast<double>(k_) * prior_) * initial_[a]) / rows_);
    const VectorXd row = Eigen::Map<const MatrixXd>(s.data() + size + k_, k_, k_).row(a).transpose().array() + prior_;
    worst = std::max(worst, (row - row.sum() * transition_.row(a).transpose()).cwiseAbs().maxCoeff() / rows_);
  }
  return worst;
}

}  // namespace granary
