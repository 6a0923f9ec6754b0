#include "ensemble/co_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/fields.h"
#include "core/linalg/dense.h"

namespace granary::ensemble {
namespace {

constexpr double most = 30;  // |b|: without smoothing an empty cell has no finite best ratio
constexpr double enough = 1e-10;

class Bound {
 public:
  Bound(const Eigen::MatrixXi& answers, const VectorXi& y, ConstVectorRef log_odds, const VectorXd& weights, int label,
        double smooth) : views_(answers.cols()) {
    require(views_ >= 1 && views_ <= most_views, message("there must be 1 to ", most_views, " views, not ", views_, "."));
    right_ = wrong_ = VectorXd::Zero(Index{1} << views_);
    for (Index i = 0; i < answers.rows(); ++i) {
      Index cell = 0;
      for (Index v = 0; v < views_; ++v) cell |= Index{answers(i, v) == label} << v;
      if (y[i] == label) right_[cell] += weights[i] * std::exp(-log_odds[i]);
      else wrong_[cell] += weights[i] * std::exp(log_odds[i]);
    }
    before_ = right_.sum() + wrong_.sum();
    plain_right_ = right_;
    plain_wrong_ = wrong_;
    right_.array() += smooth * before_;
    wrong_.array() += smooth * before_;
    b_ = VectorXd::Zero(2 * views_);
  }

  BoundStep solve() {
    BoundStep out;
    out.before = before_;
    for (out.sweeps = 0; out.sweeps < 10 && residual() > enough;) {
      for (Index at = 0; at < b_.size(); ++at) sweep(at);
      ++out.sweeps;
    }
    while (residual() > enough && out.newton < 50 && newton()) ++out.newton;
    while (residual() > enough && out.sweeps < 500) {
      for (Index at = 0; at < b_.size(); ++at) sweep(at);
      ++out.sweeps;
    }
    out.residual = residual();
    // The same sum for all views.
    double mean = 0;
    for (Index v = 0; v < views_; ++v) mean += (b_[2 * v] + b_[2 * v + 1]) / static_cast<double>(views_);
    out.hit.resize(views_);
    out.miss.resize(views_);
    for (Index v = 0; v < views_; ++v) {
      const double off = 0.5 * (b_[2 * v] + b_[2 * v + 1] - mean);
      out.miss[v] = b_[2 * v] - off;
      out.hit[v] = b_[2 * v + 1] - off;
    }
    for (Index cell = 0; cell < right_.size(); ++cell) out.after += plain_right_[cell] * std::exp(-score(b_, cell))
        + plain_wrong_[cell] * std::exp(score(b_, cell));
    return out;
  }

 private:
  static Index place(Index v, Index cell) { return 2 * v + ((cell >> v) & 1); }

  double score(const VectorXd& b, Index cell) const {
    double sum = 0;
    for (Index v = 0; v < views_; ++v) sum += b[place(v, cell)];
    return sum;
  }

  double value(const VectorXd& b) const {
    double sum = 0;
    for (Index cell = 0; cell < right_.size(); ++cell) sum += right_[cell] * std::exp(-score(b, cell)) + wrong_[cell]
        * std::exp(score(b, cell));
    return sum;
  }

  // Equation 14.
  void sweep(Index at) {
    double up = 0, down = 0;
    for (Index cell = 0; cell < right_.size(); ++cell) {
      if (place(at / 2, cell) != at) continue;
      const double f = score(b_, cell) - b_[at];
      up += right_[cell] * std::exp(-f);
      down += wrong_[cell] * std::exp(f);
    }
    if (up == 0 && down == 0) return;
    b_[at] = std::clamp(0.5 * (std::log(up) - std::log(down)), -most, most);
  }

  double residual() const {
    VectorXd gradient = VectorXd::Zero(b_.size());
    double sum = 0;
    for (Index cell = 0; cell < right_.size(); ++cell) {
      const double f = score(b_, cell), r = right_[cell] * std::exp(-f), w = wrong_[cell] * std::exp(f);
      sum += r + w;
      for (Index v = 0; v < views_; ++v) gradient[place(v, cell)] += w - r;
    }
    for (Index at = 0; at < b_.size(); ++at)
      if ((b_[at] >= most && gradient[at] < 0) || (b_[at] <= -most && gradient[at] > 0)) gradient[at] = 0;
    return sum > 0 ? gradient.cwiseAbs().maxCoeff() / sum : 0;
  }

  bool newton() {
    VectorXd gradient = VectorXd::Zero(b_.size());
    MatrixXd curvature = MatrixXd::Zero(b_.size(), b_.size());
    for (Index cell = 0; cell < right_.size(); ++cell) {
      const double f = score(b_, cell), r = right_[cell] * std::exp(-f), w = wrong_[cell] * std::exp(f);
      for (Index v = 0; v < views_; ++v) {
        gradient[place(v, cell)] += w - r;
        for (Index u = 0; u < views_; ++u) curvature(place(v, cell), place(u, cell)) += w + r;
      }
    }
    curvature.diagonal().array() += 1e-9 * curvature.diagonal().maxCoeff();  // what leaves the bound as it is has no curvature
    const Llt llt(curvature);
    if (llt.info() != Eigen::Success) return false;
    const VectorXd way = llt.solve(gradient);
    const double now = value(b_);
    for (double step = 1; step > 1e-6; step /= 2) {
      const VectorXd b = (b_ - step * way).cwiseMax(-most).cwiseMin(most);
      if (!(value(b) < now)) continue;
      b_ = b;
      return true;
    }
    return false;
  }

  Index views_;
  VectorXd right_, wrong_, plain_right_, plain_wrong_, b_;
  double before_ = 0;
};

}  // namespace

BoundStep bound_step(const Eigen::MatrixXi& answers, const VectorXi& y, ConstVectorRef log_odds, const VectorXd& weights,
                     int label, double smooth) {
  return Bound(answers, y, log_odds, weights, label, smooth).solve();
}

void probabilities_of(double hit, double miss, double& if_other, double& if_class) {
  if_other = if_class = std::numeric_limits<double>::quiet_NaN();
  const double p = -std::expm1(miss) / (std::exp(hit) - std::exp(miss));
  if (!(p > 0 && p < 1)) return;
  const double q = p * std::exp(hit);
  if (!(q > 0 && q < 1)) return;
  if_other = p;
  if_class = q;
}

}  // namespace granary::ensemble
