#include "regress/q_alpha_supervised.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/linalg/leading_eigenpair.h"
#include "core/linalg/spectral.h"

namespace granary::regress {

namespace {

std::vector<MatrixXd> split_rows(const ConstMatrixRef& x, const std::vector<int>& labels) {
  const int classes = *std::max_element(labels.begin(), labels.end()) + 1;
  std::vector<Index> size(static_cast<std::size_t>(classes), 0);
  for (int label : labels) ++size[static_cast<std::size_t>(label)];
  std::vector<MatrixXd> parts;
  for (Index count : size) parts.emplace_back(count, x.cols());
  std::vector<Index> next(size.size(), 0);
  for (Index r = 0; r < x.rows(); ++r) {
    const auto g = static_cast<std::size_t>(labels[static_cast<std::size_t>(r)]);
    parts[g].row(next[g]++) = x.row(r);
  }
  return parts;
}

// The terms of the criterion at the current subspaces.
class ClassProblem {
 public:
  ClassProblem(std::vector<MatrixXd> parts, const QAlphaClassesOptions& options, Monitor& monitor)
      : parts_(std::move(parts)), options_(options), monitor_(monitor) {}

  // Q^gh from alpha; returns the criterion, a function of alpha alone.
  double set_weights(const VectorXd& alpha) {
    terms_.clear();
    double value = 0;
    for (std::size_t g = 0; g < parts_.size(); ++g) {
      const MatrixXd scaled = parts_[g] * alpha.asDiagonal();
      for (std::size_t h = 0; h < parts_.size(); ++h) {
        const double sign = g == h ? 1 : -options_.gamma;
        if (sign == 0) continue;
        const MatrixXd a = scaled * parts_[h].transpose();
        const Index rank = std::min({g == h ? options_.k_within : options_.k_between, a.rows(), a.cols()});
        // right singular vectors as eigenvectors of A'A: only the leading ones are wanted, and the criterion has their squares
        // anyway
        const EigenPairs top = top_eigenpairs(MatrixXd(a.transpose() * a), rank, Which::largest, {}, monitor_);
        value += sign * top.values.sum();
        terms_.push_back({g, sign, parts_[h].transpose() * top.vectors});
      }
    }
    return value;
  }

  void product(ConstVectorRef a, VectorRef y) const {
    y.setZero();
    for (const Term& term : terms_) {
      const MatrixXd& x = parts_[term.g];
      const MatrixXd h = x * (a.asDiagonal() * term.p);
      const MatrixXd t = x.transpose() * h;
      y += term.sign * t.cwiseProduct(term.p).rowwise().sum();
    }
  }

 private:
  struct Term {
    std::size_t g;
    double sign;
    MatrixXd p;  // n x k_gh, rows Q^gh' m_i^h
  };
  std::vector<MatrixXd> parts_;
  const QAlphaClassesOptions& options_;
  Monitor& monitor_;
  std::vector<Term> terms_;
};

}  // namespace

VectorXd between_share(ConstMatrixRef x, const std::vector<int>& labels) {
  VectorXd share = VectorXd::Zero(x.cols());
  const VectorXd mean = x.colwise().mean().transpose();
  for (const MatrixXd& part : split_rows(x, labels)) {
    if (part.rows() == 0) continue;
    const VectorXd own = part.colwise().mean().transpose();
    share += static_cast<double>(part.rows()) * (own - mean).cwiseAbs2();
  }
  const VectorXd total = (x.rowwise() - mean.transpose()).colwise().squaredNorm().transpose();
  for (Index i = 0; i < share.size(); ++i) share[i] = total[i] > 0 ? share[i] / total[i] : 0;
  return share;
}

QAlphaResult q_alpha_classes(ConstMatrixRef x, const std::vector<int>& labels, const QAlphaClassesOptions& options,
                             Monitor& monitor) {
  if (static_cast<Index>(labels.size()) != x.rows()) {
    throw InputError(message("there are ", labels.size(), " labels for ", x.rows(), " samples."));
  }
  if (labels.empty() || *std::min_element(labels.begin(), labels.end()) < 0) throw InputError("labels must be 0, 1, ...");
  const Stopwatch clock;
  const Index n = x.cols();
  ClassProblem problem(split_rows(x, labels), options, monitor);
  const LinearOperator apply = [&](ConstVectorRef a, VectorRef y) { problem.product(a, y); };

  VectorXd alpha = between_share(x, labels).array() + 1e-6;
  alpha.normalize();
  QAlphaResult best;
  best.alpha = alpha;
  best.objective = problem.set_weights(alpha);
  double worst_change = 1;
  for (int round = 1; round <= options.max_iter; ++round) {
    monitor.progress(static_cast<double>(round) / options.max_iter);
    LeadingEigenOptions inner;
    inner.tol = 1e-9;
    VectorXd next = leading_eigenpair(apply, alpha, inner, monitor).vector;
    if (next.sum() < 0) next = -next;
    worst_change = (next - alpha).norm();
    alpha.swap(next);
    const double value = problem.set_weights(alpha);
    best.path.push_back(value);
    if (value > best.objective) {
      best.objective = value;
      best.alpha = alpha;
    }
    best.convergence.iterations = round;
    best.convergence.converged = worst_change < options.tol;
    if (best.convergence.converged) break;
  }
  problem.set_weights(best.alpha);
  if (n > 1) {
    const EigenPairs two = top_eigenpairs(apply, n, 2, Which::largest, {}, monitor);
    best.eigen_gap = two.values[0] > 0 ? 1 - std::max(0.0, two.values[1]) / two.values[0] : 0;
  } else {
    best.eigen_gap = 1;
  }
  best.start_objectives = VectorXd::Constant(1, best.objective);
  best.convergence.residual = worst_change;
  best.convergence.seconds = clock.seconds();
  return best;
}

}  // namespace granary::regress
