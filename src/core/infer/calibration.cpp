#include "core/infer/calibration.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/errors.h"
#include "core/base/monitor.h"
#include "core/optim/lbfgs.h"

namespace granary {

namespace {

// -t log p - (1 - t) log(1 - p) where p = 1 / (1 + e^s), without overflow.
double cross_entropy(double target, double s) {
  return s >= 0 ? target * s + std::log1p(std::exp(-s)) : (target - 1) * s + std::log1p(std::exp(s));
}

double logistic(double s) {  // 1 / (1 + e^s)
  return s >= 0 ? std::exp(-s) / (1 + std::exp(-s)) : 1 / (1 + std::exp(s));
}

// Labels a little inside of 0 and 1: what a uniform prior on the error makes of them.
VectorXd softened(ConstVectorRef label, const VectorXd& w, double& positive, double& negative) {
  positive = (label.array() > 0).select(w, 0.0).sum();
  negative = w.sum() - positive;
  return (label.array() > 0).select(VectorXd::Constant(w.size(), (positive + 1) / (positive + 2)), 1 / (negative + 2));
}

VectorXd unit_weights(ConstVectorRef weight) {
  if (weight.size() == 0) throw InputError("probabilities need at least one score.");
  if (!(weight.minCoeff() >= 0) || !(weight.sum() > 0)) throw InputError("weights must not be negative, nor all zero.");
  return weight * (static_cast<double>(weight.size()) / weight.sum());
}

// log s and -log(1 - s)
Eigen::Matrix<double, 2, 1> beta_features(double s) {
  if (!(s >= 0 && s <= 1)) throw InputError(message("scores must lie in [0, 1], but one is ", s, "."));
  s = std::min(std::max(s, 1e-9), 1 - 1e-9);
  return {std::log(s), -std::log1p(-s)};
}

}  // namespace

Sigmoid fit_sigmoid(ConstVectorRef decision, ConstVectorRef label, ConstVectorRef weight) {
  const Index n = decision.size();
  const VectorXd w = unit_weights(weight);
  // Decision values in units of their own size: the curvature's floor below has no units then.
  const double unit = std::max(decision.cwiseAbs().maxCoeff(), 1e-300);
  double positive = 0, negative = 0;
  const VectorXd target = softened(label, w, positive, negative);
  const auto loss = [&](double a, double b) {
    double sum = 0;
    for (Index i = 0; i < n; ++i) sum += w[i] * cross_entropy(target[i], a * (decision[i] / unit) + b);
    return sum;
  };
  Sigmoid out;
  double a = 0, b = std::log((negative + 1) / (positive + 1)), value = loss(a, b);
  const Stopwatch watch;
  constexpr double ridge = 1e-12, tol = 1e-7;
  for (; out.convergence.iterations < 100; ++out.convergence.iterations) {
    double haa = ridge, hbb = ridge, hab = 0, ga = 0, gb = 0;
    for (Index i = 0; i < n; ++i) {
      const double f = decision[i] / unit, p = logistic(a * f + b), curvature = w[i] * p * (1 - p),
                   slope = w[i] * (target[i] - p);
      haa += f * f * curvature;
      hab += f * curvature;
      hbb += curvature;
      ga += f * slope;
      gb += slope;
    }
    out.convergence.residual = std::max(std::abs(ga), std::abs(gb)) / static_cast<double>(n);
    if (out.convergence.residual < tol) {
      out.convergence.converged = true;
      break;
    }
    const double determinant = haa * hbb - hab * hab;
    const double da = -(hbb * ga - hab * gb) / determinant, db = -(haa * gb - hab * ga) / determinant;
    const double descent = ga * da + gb * db;
    double step = 1;
    for (; step >= 1e-10; step /= 2) {
      const double next = loss(a + step * da, b + step * db);
      if (next < value + 1e-4 * step * descent) {
        a += step * da;
        b += step * db;
        value = next;
        break;
      }
    }
    if (step < 1e-10) {  // nothing left that rounding does not hide
      out.convergence.converged = out.convergence.residual < 1e-4;
      break;
    }
  }
  out.slope = a / unit;
  out.intercept = b;
  out.convergence.seconds = watch.seconds();
  return out;
}

VectorXd sigmoid_values(const Sigmoid& sigmoid, ConstVectorRef decision) {
  VectorXd p(decision.size());
  for (Index i = 0; i < p.size(); ++i) p[i] = logistic(sigmoid.slope * decision[i] + sigmoid.intercept);
  return p;
}

Steps fit_isotonic(ConstVectorRef decision, ConstVectorRef label, ConstVectorRef weight) {
  std::vector<Index> order(static_cast<std::size_t>(decision.size()));
  std::iota(order.begin(), order.end(), Index(0));
  std::stable_sort(order.begin(), order.end(), [&](Index i, Index j) { return decision[i] < decision[j]; });
  struct Block {
    double first, last, sum, weight;
    double mean() const { return sum / weight; }
  };
  std::vector<Block> blocks;
  for (const Index i : order) {
    const Block one{decision[i], decision[i], label[i] > 0 ? weight[i] : 0, weight[i]};
    const bool tied = !blocks.empty() && blocks.back().last == one.first;
    blocks.push_back(one);
    bool merge = tied;
    while (blocks.size() > 1 && (merge || blocks[blocks.size() - 2].mean() >= blocks.back().mean())) {
      const Block top = blocks.back();
      blocks.pop_back();
      blocks.back() = {blocks.back().first, top.last, blocks.back().sum + top.sum, blocks.back().weight + top.weight};
      merge = false;
    }
  }
  Steps out;
  for (const Block& block : blocks) {
    for (const double end : {block.first, block.last}) {
      if (!out.at.empty() && out.at.back() == end) continue;
      out.at.push_back(end);
      out.value.push_back(block.mean());
    }
  }
  return out;
}

VectorXd step_values(const Steps& steps, ConstVectorRef decision) {
  if (steps.at.empty() || steps.at.size() != steps.value.size()) throw InputError("an isotonic curve needs at least one step.");
  VectorXd out(decision.size());
  for (Index i = 0; i < out.size(); ++i) {
    const auto above = std::lower_bound(steps.at.begin(), steps.at.end(), decision[i]);
    const std::size_t k = static_cast<std::size_t>(above - steps.at.begin());
    if (k == 0 || k == steps.at.size()) {
      out[i] = k == 0 ? steps.value.front() : steps.value.back();
    } else {
      const double share = (decision[i] - steps.at[k - 1]) / (steps.at[k] - steps.at[k - 1]);
      out[i] = steps.value[k - 1] + share * (steps.value[k] - steps.value[k - 1]);
    }
  }
  return out;
}

BetaCurve fit_beta(ConstVectorRef score, ConstVectorRef label, ConstVectorRef weight) {
  const Index n = score.size();
  const VectorXd w = unit_weights(weight);
  double positive = 0, negative = 0;
  const VectorXd target = softened(label, w, positive, negative);
  MatrixXd z(n, 2);
  for (Index i = 0; i < n; ++i) z.row(i) = beta_features(score[i]).transpose();
  const auto loss = [&](const VectorXd& theta, VectorXd& gradient) {
    double sum = 0;
    gradient.setZero(3);
    for (Index i = 0; i < n; ++i) {
      const double s = -(theta[0] * z(i, 0) + theta[1] * z(i, 1) + theta[2]), slope = w[i] * (logistic(s) - target[i]);
      sum += w[i] * cross_entropy(target[i], s);
      gradient[0] += slope * z(i, 0);
      gradient[1] += slope * z(i, 1);
      gradient[2] += slope;
    }
    gradient /= static_cast<double>(n);
    return sum / static_cast<double>(n);
  };
  const double infinity = std::numeric_limits<double>::infinity();
  VectorXd start(3), lower(3);
  start << 1, 1, 0;
  lower << 0, 0, -infinity;
  LbfgsOptions options;
  options.tol = 1e-9;
  Monitor quiet;
  const LbfgsResult found = lbfgs_box(loss, start, lower, VectorXd::Constant(3, infinity), options, quiet);
  BetaCurve out;
  out.log_slope = found.x[0];
  out.complement_slope = found.x[1];
  out.intercept = found.x[2];
  out.convergence = found.convergence;
  // Of the answer: the largest derivative that may still be followed, per unit of weight.
  VectorXd gradient(3);
  loss(found.x, gradient);
  for (Index k = 0; k < 2; ++k)
    if (found.x[k] <= 0) gradient[k] = std::min(gradient[k], 0.0);
  out.convergence.residual = gradient.cwiseAbs().maxCoeff();
  out.convergence.converged = out.convergence.residual < 1e-6;
  return out;
}

VectorXd beta_values(const BetaCurve& curve, ConstVectorRef score) {
  VectorXd p(score.size());
  for (Index i = 0; i < p.size(); ++i) {
    const auto z = beta_features(score[i]);
    p[i] = logistic(-(curve.log_slope * z[0] + curve.complement_slope * z[1] + curve.intercept));
  }
  return p;
}

}  // namespace granary
