#include "core/infer/mixture_model.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/base/parallel.h"

namespace granary {
namespace {

constexpr Index chunk = 512;  // rows whose densities are held at once
constexpr Index groups = 16;  // of chunks whose sums are made apart, so that they do not depend on the number of threads
constexpr double worth_threads = 1e6;  // numbers looked at, below which waking a thread costs more than it saves

}  // namespace

MixtureModel::MixtureModel(Emission& emission, ConstVectorRef weights, int threads, double prior, bool equal_share)
    : emission_(emission), weights_(weights), threads_(threads), prior_(prior), equal_share_(equal_share) {
  total_ = weights_.size() > 0 ? weights_.sum() : static_cast<double>(emission.rows());
}

void MixtureModel::set(const VectorXd& theta) {
  const Index k = emission_.states();
  share_ = theta.head(k);
  if (!share_.allFinite() || share_.minCoeff() < 0) throw NumericalError("the shares of the states left their domain.");
  log_share_ = share_.array().log().matrix();
  emission_.set(theta.data() + k);
}

EmPart MixtureModel::expect(Index from, Index to, const ForwardRule& rule, VectorXd& s, Monitor& monitor) {
  const Index k = emission_.states(), chunks = (to - from + chunk - 1) / chunk, parts = std::min(groups, std::max<Index>(chunks, 1));
  std::vector<VectorXd> sums(static_cast<std::size_t>(parts));
  std::vector<EmPart> found(static_cast<std::size_t>(parts));
  const double work = static_cast<double>(to - from) * static_cast<double>(emission_.statistics());
  parallel_for(parts, work < worth_threads ? 1 : threads_, monitor, [&](Index g) {
    VectorXd& sum = sums[static_cast<std::size_t>(g)];
    EmPart& part = found[static_cast<std::size_t>(g)];
    sum = VectorXd::Zero(emission_.statistics());
    MatrixXd q(chunk, k);
    VectorXd row(k);
    for (Index c = g * chunks / parts; c < (g + 1) * chunks / parts; ++c) {
      monitor.check();
      const Index begin = from + c * chunk, n = std::min(chunk, to - begin);
      auto block = q.topRows(n);
      emission_.log_density(begin, block);
      for (Index i = 0; i < n; ++i) {
        row = block.row(i).transpose() + log_share_;
        const EmPart one = forward_states(rule, row);
        const double w = weight(begin + i);
        part.loglik += w * one.loglik;
        part.entropy += w * one.entropy;
        block.row(i) = w * row.transpose();
      }
      emission_.accumulate(begin, block, sum.data());
    }
  });
  s = VectorXd::Zero(emission_.statistics());
  EmPart all;
  for (Index g = 0; g < parts; ++g) {
    s += sums[static_cast<std::size_t>(g)];
    all.loglik += found[static_cast<std::size_t>(g)].loglik;
    all.entropy += found[static_cast<std::size_t>(g)].entropy;
  }
  return all;
}

EmPart MixtureModel::expect_moved(double eps, bool all, const ForwardRule& rule, VectorXd& s, Monitor& monitor) {
  const Index n = units(), k = emission_.states();
  const bool first = q_.rows() == 0;
  if (first) {
    q_ = MatrixXd::Zero(n, k);
    entropy_ = VectorXd::Zero(n);
    moving_.assign(static_cast<std::size_t>(n), 1);
  }
  if (first || all) sum_ = VectorXd::Zero(emission_.statistics());
  EmPart part;
  part.loglik = first || all ? 0 : Convergence::unknown;
  MatrixXd block(1, k);
  VectorXd row(k);
  for (Index i = 0; i < n; ++i) {
    if (i % 4096 == 0) monitor.check();
    const double w = weight(i);
    if (!first && !all && !moving_[static_cast<std::size_t>(i)]) {
      part.entropy += w * entropy_[i];
      continue;
    }
    emission_.log_density(i, block);
    row = block.row(0).transpose() + log_share_;
    const EmPart one = forward_states(rule, row);
    if (first || all) {
      part.loglik += w * one.loglik;
      block.row(0) = w * row.transpose();
    } else {
      block.row(0) = w * (row.transpose() - q_.row(i));
    }
    emission_.accumulate(i, block, sum_.data());
    moving_[static_cast<std::size_t>(i)] = first || (row.transpose() - q_.row(i)).cwiseAbs().maxCoeff() > eps;
    q_.row(i) = row.transpose();
    entropy_[i] = one.entropy;
    part.entropy += w * one.entropy;
  }
  s = sum_;
  return part;
}

void MixtureModel::maximise(const VectorXd& s, VectorXd& theta) {
  const Index k = emission_.states();
  if (equal_share_) {
    theta.head(k).setConstant(1.0 / static_cast<double>(k));
  } else {
    VectorXd counts = s.head(k).cwiseMax(0.0);
    counts.array() += prior_;
    theta.head(k) = counts / counts.sum();
  }
  emission_.maximise(s.data(), theta.data() + k);
}

double MixtureModel::log_prior() const {
  double sum = emission_.log_prior();
  if (prior_ > 0 && !equal_share_) sum += prior_ * log_share_.sum();
  return sum;
}

double MixtureModel::complete(const VectorXd& s) const {
  double sum = emission_.complete(s.data());
  for (Index h = 0; h < emission_.states(); ++h) {
    if (s[h] > 0) sum += s[h] * log_share_[h];
    if (prior_ > 0 && !equal_share_) sum += prior_ * log_share_[h];
  }
  return sum;
}

double MixtureModel::score(const VectorXd& s) const {
  double worst = emission_.score(s.data(), total_);
  if (equal_share_) return worst;
  const double n = total_ + prior_ * static_cast<double>(emission_.states());
  for (Index h = 0; h < emission_.states(); ++h) worst = std::max(worst, std::abs(s[h] + prior_ - n * share_[h]) / total_);
  return worst;
}

void MixtureModel::memberships(const ForwardRule& rule, MatrixXd& q, VectorXd& loglik, Monitor& monitor) const {
  const Index n = units(), k = emission_.states(), chunks = (n + chunk - 1) / chunk;
  q.resize(n, k);
  loglik.resize(n);
  parallel_for(chunks, threads_, monitor, [&](Index c) {
    const Index begin = c * chunk, size = std::min(chunk, n - begin);
    MatrixXd block(size, k);
    VectorXd row(k);
    emission_.log_density(begin, block);
    for (Index i = 0; i < size; ++i) {
      row = block.row(i).transpose() + log_share_;
      loglik[begin + i] = forward_states(rule, row).loglik;
      q.row(begin + i) = row.transpose();
    }
  });
}

VectorXd MixtureModel::statistics_of(ConstMatrixRef q) const {
  VectorXd s = VectorXd::Zero(emission_.statistics());
  const Index n = units();
  for (Index begin = 0; begin < n; begin += chunk) {
    MatrixXd block = q.middleRows(begin, std::min(chunk, n - begin));
    for (Index i = 0; i < block.rows(); ++i) block.row(i) *= weight(begin + i);
    emission_.accumulate(begin, block, s.data());
  }
  return s;
}

}  // namespace granary
