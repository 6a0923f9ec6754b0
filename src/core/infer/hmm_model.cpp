#include "core/infer/hmm_model.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/base/parallel.h"

namespace granary {
namespace {

constexpr Index groups = 16;
constexpr double worth_threads = 1e6;  // as for mixtures
constexpr Index batch_rows = 2048;     // of which densities and memberships are held at once

double x_log_y(double x, double y) { return x > 0 ? x * (y > 0 ? std::log(y) : -std::numeric_limits<double>::infinity()) : 0; }

}  // namespace

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

std::vector<int> HmmModel::path(Index i, double& log_joint) const {
  return hmm_path(initial_, transition_, densities(i), log_joint); }

EmPart HmmModel::expect(Index from, Index to, const ForwardRule& rule, VectorXd& s, Monitor& monitor) {
  if (rule.kind != EmForward::exact && rule.kind != EmForward::hard) throw InputError(
      "the forward step of sequences is \"exact\" or \"hard\".");
  const Index parts = std::min(groups, to - from), size = emission_.statistics();
  std::vector<VectorXd> sums(static_cast<std::size_t>(parts));
  std::vector<EmPart> found(static_cast<std::size_t>(parts));
  const double effort = static_cast<double>(row(to) - row(from)) * static_cast<double>(size);
  parallel_for(parts, effort < worth_threads ? 1 : threads_, monitor, [&](Index g) {
    VectorXd& sum = sums[static_cast<std::size_t>(g)];
    EmPart& part = found[static_cast<std::size_t>(g)];
    sum = VectorXd::Zero(statistics());
    HmmWork work;
    MatrixXd d, r;
    const Index last = from + (g + 1) * (to - from) / parts;
    for (Index i = from + g * (to - from) / parts; i < last;) {
      Index next = i;
      while (next < last && (next == i || row(next + 1) - row(i) <= batch_rows)) ++next;
      monitor.check();
      const Index rows = row(next) - row(i);
      if (d.rows() != rows) {
        d.resize(rows, k_);
        r.resize(rows, k_);
      }
      emission_.log_density(row(i), d);
      Eigen::Map<VectorXd> first(sum.data() + size, k_);
      Eigen::Map<MatrixXd> moves(sum.data() + size + k_, k_, k_);
      for (Index u = i; u < next; ++u) {
        const Index at = row(u) - row(i), length = row(u + 1) - row(u);
        auto states = r.middleRows(at, length);
        const double w = weight(u);
        if (w == 0) {
          states.setZero();
          continue;
        }
        const auto seen = d.middleRows(at, length);
        double loglik = 0;
        if (rule.kind == EmForward::hard) {
          double joint = 0;
          const std::vector<int> path = hmm_path(initial_, transition_, seen, joint);
          loglik = hmm_loglik(initial_, transition_, seen, work);
          states.setZero();
          for (std::size_t t = 0; t < path.size(); ++t) {
            states(static_cast<Index>(t), path[t]) = 1;
            if (t > 0) moves(path[t - 1], path[t]) += w;
          }
        } else {
          loglik = hmm_smooth(initial_, transition_, seen, w, work, states, moves);
        }
        part.loglik += w * loglik;
        states *= w;
        first += states.row(0).transpose();
      }
      if (rule.kind == EmForward::exact) part.entropy -= r.cwiseProduct((r.array() > 0).select(d, 0)).sum();
      emission_.accumulate(row(i), r, sum.data());
      i = next;
    }
    if (rule.kind != EmForward::exact) return;
    // log p(y) - E log p(path, y)
    part.entropy += part.loglik;
    for (Index a = 0; a < k_; ++a) {
      part.entropy -= x_log_y(sum[size + a], initial_[a]);
      for (Index b = 0; b < k_; ++b) part.entropy -= x_log_y(sum[size + k_ + a + k_ * b], transition_(a, b));
    }
    part.entropy = std::max(0.0, part.entropy);
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
    worst = std::max(worst, std::abs(s[size + a] + prior_ - (sequences_ + static_cast<double>(k_) * prior_)
                                     * initial_[a]) / rows_);
    const VectorXd row = Eigen::Map<const MatrixXd>(s.data() + size + k_, k_, k_).row(a).transpose().array() + prior_;
    worst = std::max(worst, (row - row.sum() * transition_.row(a).transpose()).cwiseAbs().maxCoeff() / rows_);
  }
  return worst;
}

}  // namespace granary
