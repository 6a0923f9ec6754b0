#include "multi_direction.h"

#include <algorithm>
#include <cmath>

#include "../core/submatrix.h"

namespace granary::graph {

namespace {
constexpr int panel_width = 8;
constexpr int passes_per_column = 6;  // about as much work as preparing the column
}  // namespace

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
      start_(problem.variables() + 1, 0),
      u_(problem.variables(), tasks_),
      w_local_(tasks_),
      along_(tasks_),
      q_(tasks_),
      c_(tasks_),
      z_(tasks_) {
  const SparseMatrix& pattern = free.pattern;
  for_each_entry(pattern, [&](Index i, Index j, Index) {
    ++start_[j + 1];
    if (i != j) ++start_[i + 1];
  });
  for (Index j = 0; j < pattern.cols(); ++j) start_[j + 1] += start_[j];
  entries_.resize(start_.back());
  std::vector<int> next(start_.begin(), start_.end() - 1);
  for_each_entry(pattern, [&](Index i, Index j, Index e) {
    entries_[next[j]++] = {static_cast<int>(i), static_cast<int>(e)};
    if (i != j) entries_[next[i]++] = {static_cast<int>(j), static_cast<int>(e)};
  });
}

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
  constexpr int most = 1000;
  bool full = true;
  for (int sweeps = 1; sweeps <= most; ++sweeps) {
    const bool small = sweep(full) <= eta * d_.cwiseAbs().sum();
    if (small && full) return sweeps;
    full = small;
  }
  return most;
}

double MultiDirection::sweep(bool full) {
  return problem_.variables() >= panel_width ? sweep_panels<panel_width>(full) : sweep_panels<1>(full);
}

// For Width columns j at a time, U_k = D_k W_k over those columns, transposed so that an entry of D adds contiguous numbers.
template <int Width>
double MultiDirection::sweep_panels(bool full) {
  const Index p = problem_.variables();
  using Panel = Eigen::Matrix<double, Width, Eigen::Dynamic>;
  std::vector<Panel> u(tasks_, Panel(Width, p));
  double moved = 0;
  for (Index done = 0; done < p; done += Width) {
    const Index j0 = std::min<Index>(done, p - Width);  // the last panel overlaps the one before
    monitor_.check();
    for (int k = 0; k < tasks_; ++k) {
      u[k].setZero();
      const double* w = w_[k].data() + j0;
      for_each_entry(free_.pattern, [&](Index i, Index j, Index e) {
        const double d = d_(k, e);
        if (d == 0) return;
        add_strip<Width>(u[k].data() + Width * i, d, w + p * j);
        if (i != j) add_strip<Width>(u[k].data() + Width * j, d, w + p * i);
      });
    }
    for (Index j = done; j < j0 + Width; ++j) {
      for (int k = 0; k < tasks_; ++k) u_.col(k) = u[k].row(j - j0).transpose();
      moved += settle_column(j, full);
      for (std::size_t r = 0; r < local_.size(); ++r) {  // D_ij + mu changes U by mu (e_i w_j' + e_j w_i')
        const int i = local_[r].row;
        for (int k = 0; k < tasks_; ++k) {
          const double mu = change_(k, static_cast<Index>(r));
          if (mu == 0) continue;
          const double* w = w_[k].data() + j0;
          add_strip<Width>(u[k].data() + Width * i, mu, w + p * j);
          if (i != j) add_strip<Width>(u[k].data() + Width * j, mu, w + p * i);
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
  for (int e = start_[j]; e < start_[j + 1]; ++e) {
    const int at = entries_[e].at;
    if (!full && (free_.values.col(at).array() + d_.col(at).array() == 0).all()) continue;
    local_.push_back(entries_[e]);
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
