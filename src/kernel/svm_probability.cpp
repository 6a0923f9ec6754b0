#include "kernel/svm_probability.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/errors.h"
#include "core/linalg/dense.h"

namespace granary::kernel {

namespace {

// -t log p - (1 - t) log(1 - p) where p = 1 / (1 + e^s), without overflow.
double cross_entropy(double target, double s) {
  return s >= 0 ? target * s + std::log1p(std::exp(-s)) : (target - 1) * s + std::log1p(std::exp(s));
}

double logistic(double s) {  // 1 / (1 + e^s)
  return s >= 0 ? std::exp(-s) / (1 + std::exp(-s)) : 1 / (1 + std::exp(s));
}

}  // namespace

Sigmoid fit_sigmoid(ConstVectorRef decision, ConstVectorRef label, ConstVectorRef weight) {
  const Index n = decision.size();
  if (n == 0) throw InputError("probabilities need at least one decision value.");
  const VectorXd w = weight * (static_cast<double>(n) / weight.sum());
  // Decision values in units of their own size: the curvature's floor below has no units then.
  const double unit = std::max(decision.cwiseAbs().maxCoeff(), 1e-300);
  const double positive = (label.array() > 0).select(w, 0.0).sum(), negative = static_cast<double>(n) - positive;
  VectorXd target(n);
  for (Index i = 0; i < n; ++i) target[i] = label[i] > 0 ? (positive + 1) / (positive + 2) : 1 / (negative + 2);
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

MatrixXd couple_pairs(ConstMatrixRef pairs, Index classes) {
  if (pairs.cols() != classes * (classes - 1) / 2) throw InputError("there must be one column for each pair of classes.");
  MatrixXd out(pairs.rows(), classes);
  MatrixXd r = MatrixXd::Zero(classes, classes), system(classes + 1, classes + 1);
  VectorXd right = VectorXd::Zero(classes + 1);
  right[classes] = 1;
  for (Index i = 0; i < pairs.rows(); ++i) {
    Index c = 0;
    for (Index a = 0; a < classes; ++a) {
      for (Index b = a + 1; b < classes; ++b, ++c) {
        r(b, a) = std::min(std::max(pairs(i, c), 1e-7), 1 - 1e-7);
        r(a, b) = 1 - r(b, a);
      }
    }
    system.setZero();
    for (Index a = 0; a < classes; ++a) {
      for (Index b = 0; b < classes; ++b) {
        if (a == b) continue;
        system(a, a) += r(b, a) * r(b, a);
        system(a, b) = -r(b, a) * r(a, b);
      }
      system(a, classes) = system(classes, a) = 1;
    }
    const VectorXd p = Lu(system).solve(VectorXd(right)).head(classes).cwiseMax(0.0);
    out.row(i) = p.transpose() / p.sum();
  }
  return out;
}

}  // namespace granary::kernel
