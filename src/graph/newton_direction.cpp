#include "newton_direction.h"

#include <algorithm>
#include <cmath>

#include "../core/proximal.h"
#include "../core/submatrix.h"

namespace granary::graph {

namespace {
constexpr int panel_width = 8;
constexpr int passes_per_column = 6;  // about as much work as preparing the column
}  // namespace

NewtonDirection::NewtonDirection(const ConstMatrixRef& s, const Penalty& lambda, const MatrixXd& w, const SparseMatrix& x,
                                 Monitor& monitor)
    : s_(s),
      lambda_(lambda),
      w_(w),
      x_(x),
      monitor_(monitor),
      d_(VectorXd::Zero(x.nonZeros())),
      start_(x.cols() + 1, 0),
      u_(s.rows()) {
  for_each([&](Index i, Index j, Index) {
    ++start_[j + 1];
    if (i != j) ++start_[i + 1];
  });
  for (Index j = 0; j < x.cols(); ++j) start_[j + 1] += start_[j];
  entries_.resize(start_.back());
  std::vector<int> next(start_.begin(), start_.end() - 1);
  for_each([&](Index i, Index j, Index k) {  // rows arrive in ascending order in every column
    entries_[next[j]++] = {static_cast<int>(i), static_cast<int>(k)};
    if (i != j) entries_[next[i]++] = {static_cast<int>(j), static_cast<int>(k)};
  });
}

template <class Body>
void NewtonDirection::for_each(Body&& body) const {
  const int* start = x_.outerIndexPtr();
  const int* row = x_.innerIndexPtr();
  for (Index j = 0; j < x_.cols(); ++j) {
    for (Index k = start[j]; k < start[j + 1]; ++k) body(row[k], j, k);
  }
}

void NewtonDirection::solve_diagonal() {
  for_each([&](Index i, Index j, Index k) {
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
  constexpr int most = 1000;
  bool full = true;
  for (int sweeps = 1; sweeps <= most; ++sweeps) {
    const double moved = sweep({full, true, passes_per_column});
    const bool small = moved <= eta * d_.cwiseAbs().sum();
    if (small && full) return sweeps;
    full = small;
  }
  return most;
}

double NewtonDirection::sweep(const Visit& visit) {
  return s_.rows() >= panel_width ? sweep_panels<panel_width>(visit) : sweep_panels<1>(visit);
}

// Columns j0 .. j0 + Width - 1 of U = D W, transposed so that one entry of D adds Width contiguous numbers.
template <int Width, class Panel>
void NewtonDirection::form_panel(Index j0, Panel& u) const {
  u.setZero();
  const Index p = w_.rows();
  const double* w = w_.data() + j0;
  for_each([&](Index i, Index j, Index k) {
    const double d = d_[k];
    if (d == 0) return;
    add_strip<Width>(u.data() + Width * i, d, w + p * j);
    if (i != j) add_strip<Width>(u.data() + Width * j, d, w + p * i);
  });
}

template <int Width>
double NewtonDirection::sweep_panels(const Visit& visit) {
  const Index p = s_.rows();
  Eigen::Matrix<double, Width, Eigen::Dynamic> u(Width, p);
  double moved = 0;
  for (Index done = 0; done < p; done += Width) {
    const Index j0 = std::min<Index>(done, p - Width);  // the last panel overlaps the one before
    monitor_.check();
    form_panel<Width>(j0, u);
    for (Index j = done; j < j0 + Width; ++j) {
      u_ = u.row(j - j0).transpose();
      moved += settle_column(j, visit);
      for (const Local& entry : local_) {  // D_ij + mu changes U by mu (e_i w_j' + e_j w_i')
        if (entry.change == 0) continue;
        add_strip<Width>(u.data() + Width * entry.row, entry.change, w_.data() + p * j + j0);
        if (entry.row != j) add_strip<Width>(u.data() + Width * j, entry.change, w_.data() + p * entry.row + j0);
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
  for (int e = start_[j]; e < start_[j + 1]; ++e) {
    const int i = entries_[e].row, k = entries_[e].at;
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
  for_each([&](Index i, Index j, Index k) { sum += (i == j ? 1 : 2) * (s_(i, j) - w_(i, j)) * d_[k]; });
  return sum;
}

double NewtonDirection::penalty_change() const {
  double sum = 0;
  for_each([&](Index i, Index j, Index k) {
    sum += (i == j ? 1 : 2) * lambda_(i, j) * (std::abs(value(k) + d_[k]) - std::abs(value(k)));
  });
  return sum;
}

}  // namespace granary::graph
