#include "core/prox/rows_prox.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/prox/proximal.h"

namespace granary {

RowsProx::RowsProx(Rows k) : k_(std::move(k)), k_transposed_(k_.transpose()), dual_(VectorXd::Zero(k_.rows())) {
  // ||K||_2^2 <= ||K||_1 ||K||_inf, both at hand.
  VectorXd column = VectorXd::Zero(k_.cols());
  double row_sum = 0;
  for (Index m = 0; m < k_.rows(); ++m) {
    double sum = 0;
    for (Rows::InnerIterator it(k_, m); it; ++it) {
      sum += std::abs(it.value());
      column[it.col()] += std::abs(it.value());
    }
    row_sum = std::max(row_sum, sum);
  }
  curvature_ = column.size() > 0 ? row_sum * column.maxCoeff() : 0;
  if (!std::isfinite(curvature_)) throw InputError("the rows of the operator must be finite.");
}

double RowsProx::solve(ConstVectorRef v, double lambda, double l1, double gap_tol, int max_iter, Monitor& monitor, VectorRef x) {
  if (v.size() != k_.cols()) throw InputError(message("v has ", v.size(), " entries, but the operator ", k_.cols(), " columns."));
  if (!(lambda >= 0) || !(l1 >= 0)) throw InputError("lambda and l1 must not be negative.");
  if (lambda == 0 || k_.rows() == 0 || curvature_ == 0) {
    x = soft_threshold(v, l1);
    return 0;
  }
  VectorXd pull, image, next, ahead = dual_;
  double momentum = 1, gap = 0;
  const auto at = [&](const VectorXd& b) {
    pull.noalias() = k_transposed_ * b;
    x = soft_threshold(v - lambda * pull, l1);
    image.noalias() = k_ * x;
  };
  for (int k = 0; k < max_iter; ++k) {
    if (k % 16 == 0) {
      monitor.check();
      at(dual_);
      // ||K x||_1 lambda + l1 ||x||_1 - <v - x, x>, term by term not negative.
      gap = std::max(0.0, lambda * (image.lpNorm<1>() - dual_.dot(image)));
      if (gap <= gap_tol) return gap;
    }
    at(ahead);
    next = (ahead + image / (lambda * curvature_)).cwiseMax(-1).cwiseMin(1);
    const bool overshot = (ahead - next).dot(next - dual_) > 0;
    const double grown = overshot ? 1 : 0.5 * (1 + std::sqrt(1 + 4 * momentum * momentum));
    ahead = overshot ? next : VectorXd(next + (momentum - 1) / grown * (next - dual_));
    momentum = grown;
    dual_.swap(next);
  }
  at(dual_);
  return std::max(0.0, lambda * (image.lpNorm<1>() - dual_.dot(image)));
}

}  // namespace granary
