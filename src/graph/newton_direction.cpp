#include "graph/newton_direction.h"

#include <algorithm>
#include <cmath>

#include "core/prox/proximal.h"

namespace granary::graph {

NewtonDirection::NewtonDirection(const ConstMatrixRef& s, const Penalty& lambda, const MatrixXd& w, const SparseMatrix& x,
                                 Monitor& monitor)
    : s_(s), lambda_(lambda), w_(w), x_(x), monitor_(monitor), d_(VectorXd::Zero(x.nonZeros())), columns_(x), u_(s.rows()) {}

void NewtonDirection::solve_diagonal() {
  for_each_entry(x_, [&](Index i, Index j, Index k) {
    const double a = w_(i, i) * w_(j, j);
    const double b = i == j ? s_(i, i) - w_(i, i) : s_(i, j);
    const double c = value(k);
    d_[k] = soft_threshold(c - b / a, lambda_(i, j) / a) - c;
  });
}

void NewtonDirection::solve_sweeps(int sweeps) {
  for (int k = 0; k < sweeps; ++k) sweep({true, false, 1});
}

int NewtonDirection::solve_to(double eta) {
  return sweep_until(
      eta,
      [&](bool full) {
        return sweep({full, true, passes_per_column});
      },
      [&] { return d_.lpNorm<1>(); });
}

double NewtonDirection::sweep(const Visit& visit) {
  return s_.rows() >= panel_width ? sweep_panels<panel_width>(visit) : sweep_panels<1>(visit);
}

template <int Width>
double NewtonDirection::sweep_panels(const Visit& visit) {
  const Index p = s_.rows();
  Panel<Width> u(p);
  double moved = 0;
  for (Index done = 0; done < p; done += Width) {
    const Index j0 = std::min<Index>(done, p - Width);  // the last panel overlaps the one before
    monitor_.check();
    u.begin(w_, j0);
    for_each_entry(x_, [&](Index i, Index j, Index k) {
      if (d_[k] != 0) u.add(i, j, d_[k]);
    });
    for (Index j = done; j < j0 + Width; ++j) {
      u_ = u.column(j - j0);
      moved += settle_column(j, visit);
      for (const Local& entry : local_) {
        if (entry.change != 0) u.add(entry.row, j, entry.change);
      }
    }
  }
  return moved;
}

// W over the rows of the column being worked on.
void NewtonDirection::copy_local() {
  const Index m = static_cast<Index>(local_.size());
  w_local_.resize(m, m);
  for (Index c = 0; c < m; ++c) {
    const double* column = w_.data() + w_.rows() * local_[c].row;
    for (Index r = 0; r < m; ++r) w_local_(r, c) = column[local_[r].row];
  }
}

// Coordinate descent on the entries of column j. With u_ = D w_j the gradient of the quadratic at (i, j) is S_ij - W_ij + w_i'
// u_.
double NewtonDirection::settle_column(Index j, const Visit& visit) {
  local_.clear();
  const double wjj = w_(j, j);
  for (int e = columns_.start[j]; e < columns_.start[j + 1]; ++e) {
    const int i = columns_.entries[e].row, k = columns_.entries[e].at;
    if (!visit.column && i > j) break;
    const double c = value(k) + d_[k];
    if (!visit.full && c == 0) continue;
    const double wij = w_(i, j);
    local_.push_back({i, k, i == j ? wjj * wjj : wij * wij + w_(i, i) * wjj, lambda_(i, j), c, 0});
  }
  const Index m = static_cast<Index>(local_.size());
  b_.resize(m);
  w_j_.resize(m);
  for (Index r = 0; r < m; ++r) {
    const int i = local_[r].row;
    w_j_[r] = w_(i, j);
    b_[r] = s_(i, j) - w_j_[r] + w_.col(i).dot(u_);
  }

  // A step mu at (i, j) changes the gradient at (k, j) by mu (W_ki W_jj + W_kj W_ij), the second term for i != j only: it is kept
  // as a multiple of w_j.
  double moved = 0, first = 0, along_w_j = 0;
  bool have_local = false;
  for (int pass = 0; pass < visit.passes; ++pass) {
    double now = 0;
    for (Index r = 0; r < m; ++r) {
      Local& entry = local_[r];
      const double b = b_[r] + along_w_j * w_j_[r];
      const double z = soft_threshold(entry.c - b / entry.a, entry.threshold / entry.a);  // (16); exact zeros
      const double mu = z - entry.c;
      if (mu == 0) continue;
      entry.c = z;
      entry.change += mu;
      now += std::abs(mu);
      if (!have_local) {
        copy_local();
        have_local = true;
      }
      b_ += (mu * wjj) * w_local_.col(r);
      if (entry.row != j) along_w_j += mu * w_j_[r];
    }
    if (pass == 0) first = now;
    if (now <= 0.1 * first) break;
  }
  for (const Local& entry : local_) {
    d_[entry.at] = entry.c - value(entry.at);
    moved += std::abs(entry.change);
  }
  return moved;
}

double NewtonDirection::trace_gradient() const {
  double sum = 0;
  for_each_entry(x_, [&](Index i, Index j, Index k) { sum += (i == j ? 1 : 2) * (s_(i, j) - w_(i, j)) * d_[k]; });
  return sum;
}

double NewtonDirection::penalty_change() const {
  double sum = 0;
  for_each_entry(x_, [&](Index i, Index j, Index k) {
    sum += (i == j ? 1 : 2) * lambda_(i, j) * (std::abs(value(k) + d_[k]) - std::abs(value(k)));
  });
  return sum;
}

}  // namespace granary::graph
