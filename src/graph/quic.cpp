#include "quic.h"

#include <algorithm>
#include <cmath>

#include "../core/spd_inverse.h"

namespace granary::graph {

namespace {

// The free set (33) as a sparsity pattern: X with explicit zeros where only the subgradient is nonzero. Diagonal entries are
// always in it, because X_ii > 0.
struct FreeSet {
  SparseMatrix x;
  Optimality optimality;
};

FreeSet free_set(const ConstMatrixRef& s, const Penalty& lambda, const GlassoState& state) {
  const Index p = s.rows();
  FreeSet free{SparseMatrix(p, p), {}};
  std::vector<int> rows;
  std::vector<double> values;
  rows.reserve(2 * state.upper.nonZeros());
  values.reserve(2 * state.upper.nonZeros());
  std::vector<int> starts(p + 1, 0);
  for (Index j = 0; j < p; ++j) {
    SparseMatrix::InnerIterator it(state.upper, j);
    const double* sj = s.data() + j * s.outerStride();
    const double* wj = state.w.data() + j * p;
    for (Index i = 0; i <= j; ++i) {
      double x = 0;
      if (it && it.row() == i) {
        x = it.value();
        ++it;
      }
      const double g = sj[i] - wj[i], l = lambda(i, j);
      if (x == 0 && std::abs(g) <= l) continue;
      const double v = std::abs(x > 0 ? g + l : x < 0 ? g - l : soft(g, l));
      free.optimality.subgradient += i == j ? v : 2 * v;
      free.optimality.size += i == j ? std::abs(x) : 2 * std::abs(x);
      free.optimality.largest = std::max(free.optimality.largest, v);
      rows.push_back(static_cast<int>(i));
      values.push_back(x);
    }
    starts[j + 1] = static_cast<int>(rows.size());
  }
  free.x = Eigen::Map<const SparseMatrix>(p, p, static_cast<Index>(rows.size()), starts.data(), rows.data(), values.data());
  return free;
}

// The Newton direction D = argmin tr(G D) + 1/2 tr(W D W D) + h(X + D) over the free set, by coordinate descent from D = 0.
class NewtonDirection {
 public:
  NewtonDirection(const ConstMatrixRef& s, const Penalty& lambda, const MatrixXd& w, const SparseMatrix& x, Monitor& monitor)
      : s_(s), lambda_(lambda), w_(w), x_(x), monitor_(monitor), d_(VectorXd::Zero(x.nonZeros())), u_(s.rows()) {}

  // With X (hence W) diagonal the coordinates decouple: one exact update each. (Step 4 of the card; Section 3.4 of the paper.)
  void solve_diagonal() {
    for_each([&](Index i, Index j, Index k) {
      const double a = w_(i, i) * w_(j, j);
      const double b = i == j ? s_(i, i) - w_(i, i) : s_(i, j);
      const double c = value(k);
      d_[k] = soft(c - b / a, lambda_(i, j) / a) - c;
    });
  }

  // Sweeps until the last full sweep moved less than `eta` of the direction. In between only coordinates that are nonzero are
  // visited: most of the rest of the free set stays at zero.
  int solve_to(double eta) {
    constexpr int most = 1000;
    bool full = true;
    for (int sweeps = 1; sweeps <= most; ++sweeps) {
      const double moved = sweep(full);
      const bool small = moved <= eta * d_.cwiseAbs().sum();
      if (small && full) return sweeps;
      full = small;
    }
    return most;
  }

  // One sweep; returns sum |mu|.
  double sweep(bool full = true) { return s_.rows() >= 8 ? sweep_blocks<8>(full) : sweep_blocks<1>(full); }

  const VectorXd& values() const { return d_; }

  double trace_gradient() const {  // tr(G D)
    double sum = 0;
    for_each([&](Index i, Index j, Index k) { sum += (i == j ? 1 : 2) * (s_(i, j) - w_(i, j)) * d_[k]; });
    return sum;
  }

  double penalty_change() const {  // h(X + D) - h(X)
    double sum = 0;
    for_each([&](Index i, Index j, Index k) {
      sum += (i == j ? 1 : 2) * lambda_(i, j) * (std::abs(value(k) + d_[k]) - std::abs(value(k)));
    });
    return sum;
  }

 private:
  double value(Index k) const { return x_.valuePtr()[k]; }

  template <class Body>
  void for_each(Body&& body) const {
    for (Index j = 0; j < x_.cols(); ++j) {
      for (Index k = x_.outerIndexPtr()[j]; k < x_.outerIndexPtr()[j + 1]; ++k) body(x_.innerIndexPtr()[k], j, k);
    }
  }

  // Columns j0 .. j0 + Width - 1 of U = D W at a time, held transposed so that one entry of D adds Width contiguous numbers. A step
  // mu in D_ij changes U by mu (e_i w_j' + e_j w_i'), in the panel two columns.
  template <int Width>
  double sweep_blocks(bool full) {
    using Panel = Eigen::Matrix<double, Width, Eigen::Dynamic>;
    const Index p = s_.rows();
    const int* start = x_.outerIndexPtr();
    const int* row = x_.innerIndexPtr();
    Panel u(Width, p);
    double moved = 0;
    for (Index done = 0; done < p; done += Width) {
      const Index j0 = std::min<Index>(done, p - Width);  // the last panel overlaps the one before
      monitor_.check();
      u.setZero();
      for_each([&](Index i, Index j, Index k) {
        const double d = d_[k];
        if (d == 0) return;
        u.col(i) += d * w_.col(j).template segment<Width>(j0);
        if (i != j) u.col(j) += d * w_.col(i).template segment<Width>(j0);
      });
      for (Index j = done; j < j0 + Width; ++j) {
        u_ = u.row(j - j0).transpose();
        for (Index k = start[j]; k < start[j + 1]; ++k) {
          const Index i = row[k];
          const double c = value(k) + d_[k];
          if (!full && c == 0) continue;
          const double wij = w_(i, j), wii = w_(i, i), wjj = w_(j, j);
          const double a = i == j ? wii * wii : wij * wij + wii * wjj;
          const double b = s_(i, j) - wij + w_.col(i).dot(u_);
          const double z = soft(c - b / a, lambda_(i, j) / a);  // the new X_ij + D_ij, (16): exactly zero inside the threshold
          const double mu = z - c;
          if (mu == 0) continue;
          d_[k] = z - value(k);
          moved += std::abs(mu);
          u.col(i) += mu * w_.col(j).template segment<Width>(j0);
          u_[i] += mu * wjj;
          if (i != j) {
            u.col(j) += mu * w_.col(i).template segment<Width>(j0);
            u_[j] += mu * wij;
          }
        }
      }
    }
    return moved;
  }

  const ConstMatrixRef& s_;
  const Penalty& lambda_;
  const MatrixXd& w_;
  const SparseMatrix& x_;
  Monitor& monitor_;
  VectorXd d_;  // aligned with the entries of x_
  VectorXd u_;  // the column of U in use, contiguous
};

bool is_diagonal(const SparseMatrix& upper) {
  for (Index j = 0; j < upper.cols(); ++j) {
    for (SparseMatrix::InnerIterator it(upper, j); it; ++it) {
      if (it.row() != j && it.value() != 0) return false;
    }
  }
  return true;
}

}  // namespace

SolverReport quic(const ConstMatrixRef& s, const Penalty& lambda, const GlassoOptions& options, Monitor& monitor, GlassoState& state) {
  const double p = static_cast<double>(s.rows());
  SolverReport report;
  SpdInverse factor;
  double f = -state.log_det + linear_and_penalty(s, lambda, state.upper);

  for (int t = 1;; ++t) {
    monitor.check();
    FreeSet free = free_set(s, lambda, state);
    const double residual = free.optimality.relative();
    if (residual <= options.tol) {
      report.converged = true;
      report.trace.push_back({f, residual, static_cast<double>(free.x.nonZeros()), 0, 0});
      break;
    }
    if (t > options.max_iter) {
      report.message = message("stopped after ", options.max_iter, " Newton steps with relative subgradient ", residual);
      break;
    }

    NewtonDirection direction(s, lambda, state.w, free.x, monitor);
    int sweeps = 1;
    if (is_diagonal(state.upper)) {
      direction.solve_diagonal();
    } else if (options.inner == InnerRule::paper) {
      sweeps = (t + 2) / 3;
      for (int k = 0; k < sweeps; ++k) direction.sweep();
    } else {
      sweeps = direction.solve_to(std::min(0.1, residual));
    }

    const double delta = direction.trace_gradient() + direction.penalty_change();
    const double scale = std::max(std::abs(f), p);
    // Below this the rounding of f hides any decrease; the residual tells how good the point is.
    const bool at_rounding = -delta <= 1e-13 * scale;

    double alpha = 1;
    bool accepted = false;
    SparseMatrix trial = free.x;
    for (; !at_rounding && alpha > 1e-18; alpha *= options.backtrack) {
      Eigen::Map<VectorXd>(trial.valuePtr(), trial.nonZeros()) =
          Eigen::Map<const VectorXd>(free.x.valuePtr(), free.x.nonZeros()) + alpha * direction.values();
      if (!factor.factorise(trial)) continue;
      const double f_trial = -factor.log_det() + linear_and_penalty(s, lambda, trial);
      if (f_trial <= f + alpha * options.armijo * delta + 1e-14 * scale) {
        f = f_trial;
        accepted = true;
        break;
      }
    }
    report.trace.push_back({f, residual, static_cast<double>(free.x.nonZeros()), accepted ? alpha : 0, sweeps});
    report.iterations = t;
    if (!accepted) {
      report.converged = residual <= 100 * options.tol || at_rounding;
      report.message = message("the objective cannot be decreased further in double precision; relative subgradient ", residual);
      break;
    }
    trial.prune([](Index, Index, double value) { return value != 0; });
    state.upper = std::move(trial);
    state.log_det = factor.log_det();
    factor.inverse(state.w);

    const double growth = (state.upper.diagonal().array() * s.diagonal().array()).maxCoeff();
    if (growth > 1e13) {
      throw NumericalError(message("the likelihood is unbounded: a conditional variance has shrunk to ", 1 / growth,
                                   " of the marginal one. Use a larger lambda, penalise every off-diagonal entry, or repair the ",
                                   "covariance if it is not positive semi-definite"));
    }
  }
  return report;
}

}  // namespace granary::graph
