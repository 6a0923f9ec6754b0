#include "graph/local_bcd.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "graph/nodes_problem.h"
#include "core/linalg/dense.h"

namespace granary::graph {

double minimise_kinked_parabola(double p, double q, std::vector<std::pair<double, double>>& kinks) {
  std::sort(kinks.begin(), kinks.end());
  double slope = q;  // of the linear part, left of all kinks
  for (const auto& kink : kinks) slope -= kink.second;
  for (const auto& kink : kinks) {
    const double t = -slope / p;
    if (t < kink.first) return t;
    slope += 2 * kink.second;  // equal kinks follow each other: the test between them cannot pass twice
    if (p * kink.first + slope >= 0) return kink.first;
  }
  return -slope / p;
}

namespace {

// The row problem of variable n, in full-length vectors whose entry n stays zero.
class RowProblem {
 public:
  RowProblem(const ConstMatrixRef& s, const LocalOperator& op, const LocalPenalty& penalty, const MatrixXd& x, const MatrixXd& h,
             int n)
      : s_(s), op_(op), penalty_(penalty), x_(x), h_(h), n_(n), level_(s(n, n) + penalty.rho), y_(x.col(n)) {
    y_[n] = 0;
    hy_.noalias() = h_ * y_;
    inside_.assign(x.cols(), 0);
  }

  const VectorXd& y() const { return y_; }
  const VectorXd& hy() const { return hy_; }

  void sweep() {
    const int p = op_.size();
    std::vector<int> group;
    for (int j = 0; j < p; ++j) {
      if (j == n_) continue;
      group.assign(1, j);
      move(group);
    }
    for (const auto& pair : op_.neighbours()) {
      if (pair.first == n_ || pair.second == n_) continue;
      group = {pair.first, pair.second};
      move(group);
    }
    // Groups as they are now; moving one may merge it with the next, which only the next sweep sees.
    std::vector<char> done(p, 0);
    for (int j = 0; j < p; ++j) {
      if (j == n_ || done[j] || y_[j] == 0) continue;
      group.assign(1, j);
      done[j] = 1;
      for (std::size_t k = 0; k < group.size(); ++k) {
        for (const int to : op_.adjacent()[group[k]]) {
          if (to == n_ || done[to] || y_[to] != y_[j]) continue;
          done[to] = 1;
          group.push_back(to);
        }
      }
      if (group.size() > 2) move(group);
    }
  }

 private:
  // Exact minimisation along the indicator of the group.
  void move(const std::vector<int>& group) {
    double curvature = 0, slope = 0;
    for (const int j : group) {
      for (const int k : group) curvature += h_(k, j);
      slope += level_ * hy_[j] + s_(j, n_);
      inside_[j] = 1;
    }
    kinks_.clear();
    const double half = 0.5 * penalty_.tau;
    for (const int j : group) {
      kinks_.emplace_back(-y_[j], penalty_.rho);
      if (half == 0) continue;
      for (const int k : op_.adjacent()[j]) {
        if (k != n_ && !inside_[k]) kinks_.emplace_back(y_[k] - y_[j], half);
      }
      for (const int o : op_.adjacent()[n_]) {
        if (o != j) kinks_.emplace_back(x_(o, j) - y_[j], half);
      }
    }
    for (const int j : group) inside_[j] = 0;
    const double t = minimise_kinked_parabola(level_ * curvature, slope, kinks_);
    if (t == 0) return;
    for (const int j : group) {
      // -y_j + y_j is zero in floating point too, so a kink at zero gives an exact zero, and one at y_k - y_j nearly y_k:
      // snapped to it, so that groups of equal values can be seen.
      double value = y_[j] + t;
      for (const int k : op_.adjacent()[j]) {
        if (k != n_ && std::abs(value - y_[k]) <= 1e-14 * std::abs(value)) value = y_[k];
      }
      const double change = value - y_[j];
      y_[j] = value;
      hy_.noalias() += change * h_.col(j);
    }
  }

  const ConstMatrixRef& s_;
  const LocalOperator& op_;
  const LocalPenalty& penalty_;
  const MatrixXd& x_;
  const MatrixXd& h_;
  const int n_;
  const double level_;  // v + rho
  VectorXd y_, hy_;
  std::vector<char> inside_;
  std::vector<std::pair<double, double>> kinks_;
};

}  // namespace

LocalBcdReport local_bcd(const ConstMatrixRef& s, const LocalOperator& op, const LocalPenalty& penalty, double tol, int sweeps,
                         Monitor& monitor, MatrixXd& x, MatrixXd& w) {
  if (!op.is_difference()) throw InputError("the block descent is for the difference operator only; use another method.");
  LocalBcdReport report;
  const int p = op.size();
  const std::vector<char> isolated = isolated_variables(s, op, penalty);
  MatrixXd h(p, p);
  while (report.sweeps < sweeps) {
    double moved = 0;
    for (int n = 0; n < p; ++n) {
      monitor.check();
      h = w;
      h.noalias() -= w.col(n) * (w.col(n).transpose() / w(n, n));
      h.col(n).setZero();
      h.row(n).setZero();
      VectorXd y = VectorXd::Zero(p), hy = y;
      if (!isolated[n]) {
        RowProblem row(s, op, penalty, x, h, n);
        row.sweep();
        y = row.y();
        hy = row.hy();
      }
      const double level = s(n, n) + penalty.rho, corner = 1 / level + y.dot(hy);
      VectorXd column = y;
      column[n] = corner;
      moved = std::max(moved, (column - x.col(n)).cwiseAbs().maxCoeff());
      x.col(n) = column;
      x.row(n) = column.transpose();
      w = h;
      w.noalias() += level * hy * hy.transpose();
      hy *= -level;
      hy[n] = level;
      w.col(n) = hy;
      w.row(n) = hy.transpose();
    }
    ++report.sweeps;
    const Llt llt(x);  // drops what rounding has piled up
    if (llt.info() != Eigen::Success) throw NumericalError("the block descent left the positive definite matrices by rounding.");
    w = llt.solve(MatrixXd::Identity(p, p));
    w = 0.5 * (w + w.transpose()).eval();
    report.objective.push_back(-2 * llt.matrixLLT().diagonal().array().log().sum() + s.cwiseProduct(x).sum() +
                               local_penalty(x, op, penalty));
    if (moved <= tol * x.cwiseAbs().maxCoeff()) {
      report.settled = true;
      break;
    }
  }
  return report;
}

}  // namespace granary::graph
