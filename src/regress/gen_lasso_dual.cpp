// The dual of the penalty step for general rows: block coordinate ascent, an interior point method, accelerated projected
// gradients.
#include "core/linalg/sparse_cholesky.h"
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/prox/proximal.h"
#include "regress/gen_lasso_penalty.h"
#include "core/linalg/dense.h"

namespace granary::regress {

// Block coordinate ascent; for one row in closed form, for a block through the secular equation of its eigenvalues.
double GenPenalty::ascent(ConstVectorRef z, ConstVectorRef d, double lambda, double gap_tol, Monitor& monitor, VectorXd& b,
                          VectorXd& mu) {
  const std::size_t blocks = start_.size() - 1;
  const VectorXd inverse = d.cwiseInverse();
  b = z - inverse.cwiseProduct(r_transposed_ * mu);
  VectorXd curvature(rows());
  for (Index j = 0; j < rows(); ++j) {
    curvature[j] = 0;
    for (Rows::InnerIterator it(r_, j); it; ++it) curvature[j] += it.value() * it.value() * inverse[it.col()];
  }
  double gap = inner_gap(b, mu, lambda), before = gap;
  for (int sweep = 0; sweep < 20 && gap > gap_tol; ++sweep) {
    monitor.check();
    for (std::size_t k = 0; k < blocks; ++k) {
      const int from = start_[k], size = start_[k + 1] - from;
      if (size == 1) {
        if (curvature[from] == 0) continue;
        double pull = 0;
        for (Rows::InnerIterator it(r_, from); it; ++it) pull += it.value() * b[it.col()];
        const double next = std::min(std::max(mu[from] + pull / curvature[from], -lambda), lambda), change = next - mu[from];
        if (change == 0) continue;
        mu[from] = next;
        for (Rows::InnerIterator it(r_, from); it; ++it) b[it.col()] -= change * it.value() * inverse[it.col()];
        continue;
      }
      // minimise 1/2 x'Hx - (g + H mu)'x on ||x|| <= lambda, H = R_k D^-1 R_k', g = R_k b
      MatrixXd h = MatrixXd::Zero(size, size);
      VectorXd g(size);
      for (int r = 0; r < size; ++r) {
        g[r] = 0;
        for (Rows::InnerIterator it(r_, from + r); it; ++it) {
          g[r] += it.value() * b[it.col()];
          for (int s = 0; s <= r; ++s) {
            for (Rows::InnerIterator other(r_, from + s); other; ++other) {
              if (other.col() == it.col()) h(r, s) += it.value() * other.value() * inverse[it.col()];
            }
          }
        }
      }
      const MatrixXd full = h.selfadjointView<Eigen::Lower>();
      const SymmetricEigen eigen(full);
      const VectorXd target = g + full * mu.segment(from, size);
      const VectorXd next =
          eigen.eigenvectors() *
          separable_trust_region(eigen.eigenvalues().cwiseMax(0), -(eigen.eigenvectors().transpose() * target), lambda).x;
      for (int r = 0; r < size; ++r) {
        const double change = next[r] - mu[from + r];
        mu[from + r] = next[r];
        for (Rows::InnerIterator it(r_, from + r); it; ++it) b[it.col()] -= change * it.value() * inverse[it.col()];
      }
    }
    gap = inner_gap(b, mu, lambda);
    if (sweep % 5 == 4) {
      if (gap > 0.3 * before) break;  // too slow to go on
      before = gap;
    }
  }
  return gap;
}

// Primal-dual interior point method for  minimise 1/2 mu'A mu - c'mu  on |mu| <= lambda, A = R D^-1 R' (Kim, Koh, Boyd and
// Gorinevsky, SIAM Rev. 2009, for trend filtering).
double GenPenalty::interior(ConstVectorRef z, ConstVectorRef d, double lambda, double gap_tol, Monitor& monitor, VectorXd& b,
                            VectorXd& mu) {
  const Index m = rows();
  const VectorXd inverse = d.cwiseInverse(), c = r_ * z;
  const SparseMatrix a = SparseMatrix(r_ * inverse.asDiagonal() * r_transposed_);
  SparseMatrix system = a;
  Eigen::SimplicialLDLT<SparseMatrix> factor;
  for (Index j = 0; j < m; ++j) system.coeffRef(j, j) += 1;
  system.makeCompressed();
  factor.analyzePattern(system);
  mu = mu.cwiseMax(-0.9 * lambda).cwiseMin(0.9 * lambda);
  const double first = std::max((c - a * mu).cwiseAbs().maxCoeff(), 1e-300);
  VectorXd above = VectorXd::Constant(m, first), below = above;  // multipliers of mu <= lambda and -mu <= lambda
  VectorXd best_mu = mu;
  double best = std::numeric_limits<double>::infinity();
  for (int iteration = 0; iteration < 100; ++iteration) {
    monitor.check();
    b = z - inverse.cwiseProduct(r_transposed_ * mu);
    const double gap = inner_gap(b, mu, lambda);
    if (gap < best) {
      best = gap;
      best_mu = mu;
    }
    if (gap <= gap_tol) break;
    const VectorXd up = (lambda - mu.array()).matrix(), down = (lambda + mu.array()).matrix();
    const double complementarity = (up.dot(above) + down.dot(below)) / (2 * static_cast<double>(m));
    const VectorXd residual = a * mu - c + above - below;
    const double target = 0.1 * complementarity;
    system = a;
    for (Index j = 0; j < m; ++j) system.coeffRef(j, j) += above[j] / up[j] + below[j] / down[j];
    factor.factorize(system);
    if (factor.info() != Eigen::Success) break;
    const VectorXd right = -residual - (target * up.cwiseInverse() - above) + (target * down.cwiseInverse() - below);
    const VectorXd step = factor.solve(right);
    if (!step.allFinite()) break;
    const VectorXd step_above = (target + above.cwiseProduct(step).array()).matrix().cwiseQuotient(up) - above;
    const VectorXd step_below = (target - below.cwiseProduct(step).array()).matrix().cwiseQuotient(down) - below;
    double length = 1;
    for (Index j = 0; j < m; ++j) {
      if (step[j] > 0) length = std::min(length, 0.995 * up[j] / step[j]);
      if (step[j] < 0) length = std::min(length, -0.995 * down[j] / step[j]);
      if (step_above[j] < 0) length = std::min(length, -0.995 * above[j] / step_above[j]);
      if (step_below[j] < 0) length = std::min(length, -0.995 * below[j] / step_below[j]);
    }
    mu += length * step;
    above += length * step_above;
    below += length * step_below;
    if (length < 1e-12) break;
  }
  mu = best_mu;
  b = z - inverse.cwiseProduct(r_transposed_ * mu);
  return inner_gap(b, mu, lambda);
}

// Accelerated projected gradients on the dual (Beck and Teboulle, IEEE Trans. Image Process. 2009), restarted where they
// overshoot.
double GenPenalty::accelerated(ConstVectorRef z, ConstVectorRef d, double lambda, double gap_tol, Monitor& monitor, VectorXd& b,
                               VectorXd& mu) {
  const VectorXd inverse = d.cwiseInverse();
  VectorXd column = VectorXd::Zero(cols());
  for (Index j = 0; j < rows(); ++j) {
    for (Rows::InnerIterator it(r_, j); it; ++it) column[it.col()] += std::abs(it.value()) * inverse[it.col()];
  }
  double curvature = 0;  // of R D^-1 R', by its row sums
  for (Index j = 0; j < rows(); ++j) {
    double sum = 0;
    for (Rows::InnerIterator it(r_, j); it; ++it) sum += std::abs(it.value()) * column[it.col()];
    curvature = std::max(curvature, sum);
  }
  const auto project = [&](VectorXd& x) {
    if (single_rows()) {
      x = x.cwiseMax(-lambda).cwiseMin(lambda);
      return;
    }
    for (std::size_t k = 0; k + 1 < start_.size(); ++k) {
      double square = 0;
      for (int j = start_[k]; j < start_[k + 1]; ++j) square += x[j] * x[j];
      if (square <= lambda * lambda) continue;
      const double scale = lambda / std::sqrt(square);
      for (int j = start_[k]; j < start_[k + 1]; ++j) x[j] *= scale;
    }
  };
  VectorXd ahead = mu, next, image(rows());
  double momentum = 1, gap = 0;
  for (int iteration = 0; iteration < 5000; ++iteration) {
    if (iteration % 16 == 0) {
      monitor.check();
      b = z - inverse.cwiseProduct(r_transposed_ * mu);
      gap = inner_gap(b, mu, lambda);
      if (gap <= gap_tol) return gap;
    }
    b = z - inverse.cwiseProduct(r_transposed_ * ahead);
    image.noalias() = r_ * b;
    next = ahead + image / curvature;
    project(next);
    const bool overshot = (ahead - next).dot(next - mu) > 0;
    const double grown = overshot ? 1 : 0.5 * (1 + std::sqrt(1 + 4 * momentum * momentum));
    if (overshot) {
      ahead = next;
    } else {
      ahead = next + (momentum - 1) / grown * (next - mu);
    }
    momentum = grown;
    mu.swap(next);
  }
  b = z - inverse.cwiseProduct(r_transposed_ * mu);
  return inner_gap(b, mu, lambda);
}

}  // namespace granary::regress
