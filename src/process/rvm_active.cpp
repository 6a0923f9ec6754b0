// Relevance vectors by an active set, for columns that nearly repeat one another. There steps of one column lose their digits, and rounds
// over all columns gain little each. Here few columns are in use; their precisions and the noise climb together (quasi-Newton steps in
// their logarithms, so the evidence never falls), a column whose best precision given the others is infinite leaves, and the one that
// raises the evidence most enters, until the precisions are stationary and no column gains anything.
//
// With T = [Phi_A A^-1/2 / s; I] = Q R and r(b) = [b / s; 0] - Q Q'[b / s; 0], the factors of a column that is out are
//
//   s_i = phi_i'C^-1 phi_i = |r(phi_i)|^2,   q_i = phi_i'C^-1 y = r(phi_i)'r(y),
//
// sums of squares of what is left over: nothing cancels where phi_i is nearly in the span of the others.
#include <algorithm>
#include <cmath>

#include "core/linalg/dense.h"
#include "core/optim/lbfgs.h"
#include "process/rvm_model.h"

namespace granary::process {

namespace {

constexpr double kStationary = 1e-5;  // of a_k mu_k^2 = gamma_k
constexpr double kWorth = 1e-6;       // a gain below this share of the evidence is none

class ActiveSet {
 public:
  ActiveSet(const RvmScaled& data, const RvmOptions& options, Monitor& monitor) : data_(data), options_(options), monitor_(monitor) {}

  // Columns that span what the prior of `model` can do beyond a share of the noise, by falling size.
  RvmModel thinned(const RvmModel& model, double noise_share) const {
    MatrixXd weighted(data_.y.size(), model.size());
    for (Index k = 0; k < model.size(); ++k) weighted.col(k) = data_.phi.col(model.active[k]) / std::sqrt(model.alpha[k] * model.noise);
    const PivotedQr qr(weighted);
    Index count = 0;
    const Index most = std::min(weighted.rows(), weighted.cols());
    while (count < most && std::abs(qr.matrixQR()(count, count)) > noise_share) ++count;
    std::vector<std::pair<Index, double>> chosen;
    const double share = static_cast<double>(std::max<Index>(count, 1)) / static_cast<double>(model.size());
    for (Index k = 0; k < count; ++k) chosen.emplace_back(model.active[qr.pivots()[k]], share * model.alpha[qr.pivots()[k]]);
    std::sort(chosen.begin(), chosen.end());
    RvmModel few;
    few.noise = model.noise;
    few.alpha.resize(count);
    for (Index k = 0; k < count; ++k) {
      few.active.push_back(chosen[static_cast<std::size_t>(k)].first);
      few.alpha[k] = chosen[static_cast<std::size_t>(k)].second;
    }
    refresh(few, data_);
    return few;
  }

  RvmModel run(RvmModel model, std::vector<double>& trace, Convergence& convergence) {
    refresh(model, data_);
    while (convergence.iterations < options_.max_iter) {
      climb(model, convergence);
      while (remove_one(model)) {
      }
      trace.push_back(model.evidence);
      const double before = model.evidence;
      if (add_best(model)) continue;
      if (stationary(model)) {
        convergence.converged = true;
        break;
      }
      climb(model, convergence);
      if (stationary(model)) continue;  // what left or entered is looked at once more
      if (model.evidence - before < kWorth * (1 + std::abs(before))) {
        convergence.reason = Stop::stalled;
        convergence.message = "no step raises the evidence in double precision";
        break;
      }
    }
    return model;
  }

 private:
  bool learns() const { return !(options_.noise > 0); }
  bool stationary(const RvmModel& model) const {
    const double noise = learns() ? std::abs(std::log(residual_noise(model, data_) / model.noise)) : 0;
    return rvm_residual(model) < 10 * kStationary && noise < 10 * kStationary;
  }

  void climb(RvmModel& model, Convergence& convergence) {
    const Index m = model.size(), free = m + (learns() ? 1 : 0);
    if (free == 0) return;
    MatrixXd phi(data_.y.size(), m);
    for (Index k = 0; k < m; ++k) phi.col(k) = data_.phi.col(model.active[k]);
    const MatrixXd gram = phi.transpose() * phi;
    const VectorXd projection = phi.transpose() * data_.y;
    const double n = static_cast<double>(data_.y.size());
    RvmModel at = model;
    const Objective minus = [&](const VectorXd& p, VectorXd& gradient) {
      at.alpha = p.head(m).array().exp();
      if (learns()) at.noise = std::exp(p[m]);
      refresh(at, gram, projection, data_);
      const VectorXd gamma = gammas(at);
      gradient.resize(free);
      gradient.head(m) = 0.5 * (at.alpha.array() * at.mean.array().square() - gamma.array());
      if (learns()) gradient[m] = 0.5 * (n - gamma.sum()) - 0.5 * (data_.y - phi * at.mean).squaredNorm() / at.noise;
      return -at.evidence;
    };
    VectorXd start(free), lower(free), upper = VectorXd::Constant(free, std::log(options_.prune)), gradient(free);
    start.head(m) = model.alpha.array().log().min(upper[0]);
    lower = start.array() - 100;
    if (learns()) {
      start[m] = std::log(model.noise);
      lower[m] = std::log(1e-10);
      upper[m] = std::log(1e2);
    }
    minus(start, gradient);
    LbfgsOptions options;
    options.max_iter = std::min(300, options_.max_iter);
    options.tol = std::min(0.5, 0.5 * kStationary / std::max(gradient.cwiseAbs().maxCoeff(), 1e-300));
    const LbfgsResult found = lbfgs_box(minus, start, lower, upper, options, monitor_);
    convergence.iterations += std::max(1, found.convergence.iterations);
    minus(found.x, gradient);
    if (no_less(at.evidence, model.evidence)) model = at;
  }

  // Given the others, the best precision of a column in use is infinite where a mu^2 <= gamma (1 - gamma).
  bool remove_one(RvmModel& model) const {
    if (model.size() < 2) return false;
    const VectorXd gamma = gammas(model);
    std::vector<Index> out;
    for (Index k = 0; k < model.size(); ++k)
      if (model.alpha[k] >= options_.prune || model.alpha[k] * model.mean[k] * model.mean[k] <= gamma[k] * (1 - gamma[k])) out.push_back(k);
    std::sort(out.begin(), out.end(), [&](Index a, Index b) { return gamma[a] < gamma[b]; });
    for (const Index k : out) {
      RvmModel without;
      without.noise = model.noise;
      without.alpha.resize(model.size() - 1);
      for (Index j = 0; j < model.size(); ++j) {
        if (j == k) continue;
        without.alpha[static_cast<Index>(without.active.size())] = model.alpha[j];
        without.active.push_back(model.active[j]);
      }
      refresh(without, data_);
      if (!no_less(without.evidence, model.evidence)) continue;
      model = std::move(without);
      return true;
    }
    return false;
  }

  bool add_best(RvmModel& model) const {
    const Index m = model.size(), n = data_.y.size();
    const double root_beta = 1 / std::sqrt(model.noise);
    MatrixXd left = MatrixXd::Zero(n + m, data_.phi.cols());
    left.topRows(n) = root_beta * data_.phi;
    const VectorXd size = left.colwise().squaredNorm().transpose();
    VectorXd rest = VectorXd::Zero(n + m);
    rest.head(n) = root_beta * data_.y;
    if (m > 0) {
      MatrixXd tall = MatrixXd::Zero(n + m, m);
      for (Index k = 0; k < m; ++k) tall.col(k).head(n) = root_beta / std::sqrt(model.alpha[k]) * data_.phi.col(model.active[k]);
      tall.bottomRows(m).setIdentity();
      const MatrixXd q = Qr(tall).thin_q();
      for (int twice = 0; twice < 2; ++twice) {  // once more takes the rounding errors of the first
        left -= q * (q.transpose() * left);
        rest -= q * (q.transpose() * rest);
      }
    }
    const VectorXd s = left.colwise().squaredNorm().transpose(), qs = left.transpose() * rest;
    std::vector<char> used(static_cast<std::size_t>(data_.phi.cols()), 0);
    for (const Index k : model.active) used[static_cast<std::size_t>(k)] = 1;
    std::vector<std::pair<double, Index>> gains;
    for (Index i = 0; i < s.size(); ++i) {
      const double theta = qs[i] * qs[i] - s[i];
      if (used[static_cast<std::size_t>(i)] || !(s[i] > 1e-10 * size[i]) || theta <= 0 || s[i] * s[i] / theta > options_.prune) continue;
      const double gain = 0.5 * (theta / s[i] + std::log(s[i] / (qs[i] * qs[i])));
      if (gain > kWorth * (1 + std::abs(model.evidence))) gains.emplace_back(-gain, i);
    }
    std::sort(gains.begin(), gains.end());
    for (std::size_t k = 0; k < std::min<std::size_t>(gains.size(), 5); ++k) {  // rounding may refuse the first
      const Index i = gains[k].second;
      RvmModel more = model;
      more.active.push_back(i);
      more.alpha.conservativeResize(m + 1);
      more.alpha[m] = s[i] * s[i] / (qs[i] * qs[i] - s[i]);
      refresh(more, data_);
      if (more.evidence <= model.evidence) continue;
      model = std::move(more);
      return true;
    }
    return false;
  }

  const RvmScaled& data_;
  const RvmOptions& options_;
  Monitor& monitor_;
};

}  // namespace

RvmModel rvm_active(const RvmScaled& data, const RvmOptions& options, RvmModel model, Monitor& monitor, std::vector<double>& trace,
                    Convergence& convergence) {
  ActiveSet set(data, options, monitor);
  refresh(model, data);
  for (const double noise_share : {0.3, 0.03, 0.003}) {  // more columns where fewer end below the start
    Convergence course;
    std::vector<double> values;
    RvmModel found = set.run(set.thinned(model, noise_share), values, course);
    convergence.iterations += course.iterations;
    if (!no_less(found.evidence, model.evidence)) continue;
    course.iterations = convergence.iterations;
    convergence = course;
    trace.insert(trace.end(), values.begin(), values.end());
    return found;
  }
  convergence.reason = Stop::stalled;
  convergence.message = "the evidence no longer rises, though some precisions still move";
  return model;
}

}  // namespace granary::process
