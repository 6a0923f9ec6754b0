#include "graph/multi_direction.h"

#include <algorithm>
#include <cmath>

namespace granary::graph {

MultiDirection::MultiDirection(const MultiProblem& problem, const std::vector<MatrixXd>& w, const MultiFreeSet& free,
                               Monitor& monitor)
    : problem_(problem),
      w_(w),
      free_(free),
      monitor_(monitor),
      tasks_(problem.tasks()),
      d_(MatrixXd::Zero(free.values.rows(), free.values.cols())),
      off_(problem.off, tasks_),
      diagonal_(problem.diagonal, tasks_),
      columns_(free.pattern),
      u_(problem.variables(), tasks_),
      w_local_(tasks_),
      along_(tasks_),
      q_(tasks_),
      c_(tasks_),
      z_(tasks_) {}

void MultiDirection::solve_diagonal() {
  for_each_entry(free_.pattern, [&](Index i, Index j, Index e) {
    for (int k = 0; k < tasks_; ++k) {
      const double wii = w_[k](i, i), wjj = w_[k](j, j), x = free_.values(k, e);
      q_[k] = problem_.weight[k] * wii * wjj;
      c_[k] = q_[k] * x - problem_.weight[k] * (problem_.s[k](i, j) - (i == j ? wjj : 0));
    }
    (i == j ? diagonal_ : off_).solve(q_.data(), c_.data(), z_.data());
    d_.col(e) = z_ - free_.values.col(e);
  });
}

int MultiDirection::solve_to(double eta) {
  return sweep_until(
      eta, [&](bool full) { return sweep(full); }, [&] { return d_.cwiseAbs().sum(); });
}

double MultiDirection::sweep(bool full) {
  return problem_.variables() >= panel_width ? sweep_panels<panel_width>(full) : sweep_panels<1>(full);
}

template <int Width>
double MultiDirection::sweep_panels(bool full) {
  const Index p = problem_.variables();
  std::vector<Panel<Width>> u(tasks_, Panel<Width>(p));
  double moved = 0;
  for (Index done = 0; done < p; done += Width) {
    const Index j0 = std::min<Index>(done, p - Width);  // the last panel overlaps the one before
    monitor_.check();
    for (int k = 0; k < tasks_; ++k) {
      u[k].begin(w_[k], j0);
      for_each_entry(free_.pattern, [&](Index i, Index j, Index e) {
        if (d_(k, e) != 0) u[k].add(i, j, d_(k, e));
      });
    }
    for (Index j = done; j < j0 + Width; ++j) {
      for (int k = 0; k < tasks_; ++k) u_.col(k) = u[k].column(j - j0);
      moved += settle_column(j, full);
      for (std::size_t r = 0; r < local_.size(); ++r) {
        for (int k = 0; k < tasks_; ++k) {
          const double change = change_(k, static_cast<Index>(r));
          if (change != 0) u[k].add(local_[r].row, j, change);
        }
      }
    }
  }
  return moved;
}

void MultiDirection::copy_local() {
  const Index m = static_cast<Index>(local_.size());
  for (int k = 0; k < tasks_; ++k) {
    MatrixXd& out = w_local_[k];
    if (out.rows() < m) out.resize(m, m);
    for (Index c = 0; c < m; ++c) {
      const double* column = w_[k].data() + w_[k].rows() * local_[c].row;
      double* to = out.data() + out.rows() * c;
      for (Index r = 0; r < m; ++r) to[r] = column[local_[r].row];
    }
  }
}

// Block coordinate descent on the entries of column j. With u = D w_j the gradient of task k's quadratic at (i, j) is S_ij - W_ij
// + w_i' u.
double MultiDirection::settle_column(Index j, bool full) {
  local_.clear();
  for (int e = columns_.start[j]; e < columns_.start[j + 1]; ++e) {
    const int at = columns_.entries[e].at;
    if (!full && (free_.values.col(at).array() + d_.col(at).array() == 0).all()) continue;
    local_.push_back(columns_.entries[e]);
  }
  const Index m = static_cast<Index>(local_.size());
  b_.resize(m, tasks_);
  w_j_.resize(m, tasks_);
  curvature_.resize(tasks_, m);
  x_.resize(tasks_, m);
  change_.setZero(tasks_, m);
  for (Index r = 0; r < m; ++r) x_.col(r) = free_.values.col(local_[r].at) + d_.col(local_[r].at);
  for (int k = 0; k < tasks_; ++k) {
    const MatrixXd& w = w_[k];
    const double t = problem_.weight[k], wjj = w(j, j);
    for (Index r = 0; r < m; ++r) {
      const int i = local_[r].row;
      const double wij = w(i, j);
      w_j_(r, k) = wij;
      b_(r, k) = t * (problem_.s[k](i, j) - wij + w.col(i).dot(u_.col(k)));
      curvature_(k, r) = t * (i == j ? wjj * wjj : wij * wij + w(i, i) * wjj);
    }
  }

  double first = 0, moved = 0;
  along_.setZero();  // what multiplies w_j in the gradient, for the second half of the change
  bool have_local = false;
  for (int pass = 0; pass < passes_per_column; ++pass) {
    double now = 0;
    for (Index r = 0; r < m; ++r) {
      const bool on_diagonal = local_[r].row == j;
      bool zero = true;
      for (int k = 0; k < tasks_; ++k) {
        q_[k] = curvature_(k, r);
        c_[k] = q_[k] * x_(k, r) - b_(r, k) - along_[k] * w_j_(r, k);
        zero = zero && x_(k, r) == 0;
      }
      if (zero && !on_diagonal && off_.is_zero(c_.data())) continue;
      (on_diagonal ? diagonal_ : off_).solve(q_.data(), c_.data(), z_.data());
      for (int k = 0; k < tasks_; ++k) {
        const double mu = z_[k] - x_(k, r);
        if (mu == 0) continue;
        if (!have_local) {
          copy_local();
          have_local = true;
        }
        x_(k, r) = z_[k];
        change_(k, r) += mu;
        now += std::abs(mu);
        const double t = problem_.weight[k];
        const double* column = w_local_[k].data() + w_local_[k].rows() * r;
        b_.col(k) += (t * mu * w_[k](j, j)) * Eigen::Map<const VectorXd>(column, m);
        if (!on_diagonal) along_[k] += t * mu * w_j_(r, k);
      }
    }
    if (pass == 0) first = now;
    if (now <= 0.1 * first) break;
  }
  for (Index r = 0; r < m; ++r) d_.col(local_[r].at) = x_.col(r) - free_.values.col(local_[r].at);
  moved = change_.cwiseAbs().sum();
  return moved;
}

double MultiDirection::slope() const {
  double sum = 0;
  VectorXd x(tasks_);
  for_each_entry(free_.pattern, [&](Index i, Index j, Index e) {
    const MultiPenalty& penalty = problem_.penalty(i == j);
    x = free_.values.col(e) + d_.col(e);
    double term = penalty_value(penalty, x.data(), tasks_) - penalty_value(penalty, free_.values.col(e).data(), tasks_);
    for (int k = 0; k < tasks_; ++k) term += problem_.weight[k] * (problem_.s[k](i, j) - w_[k](i, j)) * d_(k, e);
    sum += i == j ? term : 2 * term;
  });
  return sum;
}

}  // namespace granary::graph
