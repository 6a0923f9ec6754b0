#include "ensemble/nc_features.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/linalg/dense.h"

namespace granary::ensemble {
namespace {

constexpr Index most_unknowns = 5000;

Index units_of(const CoupledFeatures& f) { return f.phi.front().cols(); }
Index members_of(const CoupledFeatures& f) { return static_cast<Index>(f.phi.size()); }

// A^-1 for a symmetric A that may be singular: by Cholesky, or where that meets a pivot near 0 by eigenvalues, those near 0 left
// out.
class SemiInverse {
 public:
  explicit SemiInverse(const MatrixXd& a) {
    factor_.compute(a);
    const auto pivots = factor_.matrixLLT().diagonal().array();
    if (factor_.info() == Eigen::Success && pivots.minCoeff() > 1e-6 * pivots.maxCoeff()) return;
    eigen_.compute(a);
    const double least = 1e-12 * static_cast<double>(a.rows()) * std::max(eigen_.eigenvalues().maxCoeff(), 0.0);
    inverse_ = eigen_.eigenvalues().unaryExpr([&](double d) { return d > least ? 1 / d : 0.0; });
    full_ = (inverse_.array() > 0).all();
    by_eigen_ = true;
  }
  bool full() const { return full_; }
  MatrixXd solve(const MatrixXd& b) const {
    if (!by_eigen_) return factor_.solve(b);
    const MatrixXd& v = eigen_.eigenvectors();
    return v * (inverse_.asDiagonal() * (v.transpose() * b));
  }

 private:
  Llt factor_;
  SymmetricEigen eigen_;
  VectorXd inverse_;
  bool full_ = true, by_eigen_ = false;
};

MatrixXd side_by_side(const CoupledFeatures& f) {
  const Index k = units_of(f), m = members_of(f);
  MatrixXd all(f.t.size(), k * m);
  for (Index i = 0; i < m; ++i) all.middleCols(i * k, k) = f.phi[static_cast<std::size_t>(i)];
  return all;
}

MatrixXd primal_matrix(const CoupledFeatures& f, const Coupling& c, double alpha) {
  const Index k = units_of(f), m = members_of(f);
  if (k * m > most_unknowns)
    throw InputError(message("the system has ", k * m,
                             " unknowns, too many to solve at once: take fewer units or members, or optimizer = \"sweeps\"."));
  const MatrixXd all = side_by_side(f);
  MatrixXd a = all.transpose() * all;
  const double share = c.joint / static_cast<double>(m);
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < m; ++j) a.block(i * k, j * k, k, k) *= share + (i == j ? c.own : 0);
  a.diagonal().array() += alpha;
  return a;
}

MatrixXd own_matrix(const CoupledFeatures& f, Index i, double factor, double alpha) {
  const MatrixXd& phi = f.phi[static_cast<std::size_t>(i)];
  MatrixXd d = factor * (phi.transpose() * phi);
  d.diagonal().array() += alpha;
  return d;
}

// Each member given what the others add up to.
MatrixXd own_answers(const CoupledFeatures& f, const Coupling& c, double alpha, const VectorXd& aim, bool& determined,
                     Monitor& monitor) {
  MatrixXd out(units_of(f), members_of(f));
  for (Index i = 0; i < members_of(f); ++i) {
    monitor.check();
    const SemiInverse d(own_matrix(f, i, c.own, alpha));
    determined = determined && d.full();
    out.col(i) = d.solve(f.phi[static_cast<std::size_t>(i)].transpose() * aim);
  }
  return out;
}

MatrixXd solve_dual(const CoupledFeatures& f, const Coupling& c, double alpha, bool& determined, Monitor& monitor) {
  const Index n = f.t.size(), m = members_of(f);
  MatrixXd s = MatrixXd::Zero(n, n);
  for (Index i = 0; i < m; ++i) {
    monitor.check();
    const MatrixXd& phi = f.phi[static_cast<std::size_t>(i)];
    s += phi * SemiInverse(own_matrix(f, i, c.own, alpha)).solve(phi.transpose()) / static_cast<double>(m);
  }
  MatrixXd a = c.joint * s;
  a.diagonal().array() += 1;
  const VectorXd mean = (c.own + c.joint) * SemiInverse(0.5 * (a + a.transpose())).solve(s * f.t);
  return own_answers(f, c, alpha, (c.own + c.joint) * f.t - c.joint * mean, determined, monitor);
}

VectorXd mean_values(const CoupledFeatures& f, const MatrixXd& weights) {
  VectorXd out = VectorXd::Zero(f.t.size());
  for (Index i = 0; i < weights.cols(); ++i) out += f.phi[static_cast<std::size_t>(i)] * weights.col(i);
  return out / static_cast<double>(weights.cols());
}

// Largest entry of the gradient, over that at 0.
double residual_of(const CoupledFeatures& f, const Coupling& c, double alpha, const MatrixXd& weights) {
  const VectorXd mean = mean_values(f, weights);
  double most = 0, start = 0;
  for (Index i = 0; i < weights.cols(); ++i) {
    const MatrixXd& phi = f.phi[static_cast<std::size_t>(i)];
    const VectorXd aim = (c.own + c.joint) * f.t;
    start = std::max(start, (phi.transpose() * aim).cwiseAbs().maxCoeff());
    most = std::max(most, (phi.transpose() * (c.own * (phi * weights.col(i)) + c.joint * mean - aim) + alpha * weights.col(i))
                              .cwiseAbs()
                              .maxCoeff());
  }
  return start > 0 ? most / start : most;
}

MatrixXd solve_by_sweeps(const CoupledFeatures& f, const Coupling& c, double alpha, double tol, int max_iter, bool& determined,
                         int& sweeps, Monitor& monitor) {
  const Index m = members_of(f);
  const double share = c.joint / static_cast<double>(m);
  std::vector<SemiInverse> inverse;
  for (Index i = 0; i < m; ++i) {
    monitor.check();
    inverse.emplace_back(own_matrix(f, i, c.own + share, alpha));
    determined = determined && inverse.back().full();
  }
  MatrixXd weights = MatrixXd::Zero(units_of(f), m);
  VectorXd sum = VectorXd::Zero(f.t.size());
  for (sweeps = 0; sweeps < max_iter; ++sweeps) {
    if (sweeps % 5 == 0 && residual_of(f, c, alpha, weights) <= tol) break;
    for (Index i = 0; i < m; ++i) {
      monitor.check();
      const MatrixXd& phi = f.phi[static_cast<std::size_t>(i)];
      sum -= phi * weights.col(i);
      weights.col(i) = inverse[static_cast<std::size_t>(i)].solve(phi.transpose() * ((c.own + c.joint) * f.t - share * sum));
      sum += phi * weights.col(i);
    }
  }
  return weights;
}

}  // namespace

CoupledFeatures coupled_features(const std::vector<MatrixXd>& features, const VectorXd& t, const VectorXd& row_weights) {
  CoupledFeatures out;
  const double total = row_weights.sum();
  out.root = row_weights.cwiseSqrt();
  out.mean = row_weights.dot(t) / total;
  out.t = (t.array() - out.mean) * out.root.array();
  for (const MatrixXd& f : features) {
    out.means.push_back(f * row_weights / total);
    out.phi.push_back(((f.colwise() - out.means.back()).array().rowwise() * out.root.transpose().array()).matrix().transpose());
  }
  return out;
}

CoupledFit solve_coupled(const CoupledFeatures& f, const Coupling& c, double alpha, CoupledSolver solver, double tol,
                         int max_iter, Monitor& monitor) {
  if (c.own < 0 || c.own + c.joint <= 0)
    throw InputError(
        "beyond lambda = 1 the objective of linear members has no minimum: it falls without end as they move apart.");
  Stopwatch watch;
  CoupledFit out;
  const Index n = f.t.size(), k = units_of(f), m = members_of(f);
  if (solver == CoupledSolver::automatic) {
    const bool dual = (c.own > 0 || alpha > 0) && n < k * m;
    solver = c.joint == 0 || dual ? CoupledSolver::dual : CoupledSolver::primal;
    if (c.joint != 0 && std::min(n, k * m) > most_unknowns) solver = CoupledSolver::sweeps;
  }
  if (solver == CoupledSolver::dual && c.own == 0 && alpha == 0) solver = CoupledSolver::primal;  // D_i = 0
  out.convergence.iterations = 1;
  if (solver == CoupledSolver::sweeps) {
    out.weights = solve_by_sweeps(f, c, alpha, tol, max_iter, out.determined, out.convergence.iterations, monitor);
  } else if (c.joint == 0) {
    out.weights = own_answers(f, c, alpha, c.own * f.t, out.determined, monitor);
  } else if (solver == CoupledSolver::dual) {
    out.weights = solve_dual(f, c, alpha, out.determined, monitor);
  } else {
    const SemiInverse a(primal_matrix(f, c, alpha));
    out.determined = a.full();
    MatrixXd right(k, m);
    for (Index i = 0; i < m; ++i) right.col(i) = (c.own + c.joint) * (f.phi[static_cast<std::size_t>(i)].transpose() * f.t);
    const MatrixXd solved = a.solve(Eigen::Map<const VectorXd>(right.data(), right.size()));
    out.weights = Eigen::Map<const MatrixXd>(solved.data(), k, m);
  }
  out.constants.resize(m);
  for (Index i = 0; i < m; ++i) out.constants[i] = f.mean - f.means[static_cast<std::size_t>(i)].dot(out.weights.col(i));
  out.convergence.residual = residual_of(f, c, alpha, out.weights);
  out.convergence.converged = out.convergence.residual <= (solver == CoupledSolver::sweeps ? tol : 1e-6);
  if (!out.convergence.converged && solver != CoupledSolver::sweeps) out.convergence.reason = Stop::stalled;
  if (!out.determined)
    out.convergence.message = "without a ridge only the ensemble is determined, not its members: theirs are the shortest weights";
  out.convergence.seconds = watch.seconds();
  return out;
}

VectorXd coupled_left_out(const CoupledFeatures& f, const CoupledFit& fit, const Coupling& c, double alpha, Monitor& monitor) {
  const Index n = f.t.size(), k = units_of(f), m = members_of(f);
  if (static_cast<double>(n) * static_cast<double>(k * m) * static_cast<double>(k * m) > 1e11)
    throw InputError(
        message("leaving out each of ", n, " rows of an ensemble with ", k * m, " units takes too long: use folds."));
  const MatrixXd inverse = SemiInverse(primal_matrix(f, c, alpha)).solve(MatrixXd::Identity(k * m, k * m));
  MatrixXd q = MatrixXd::Constant(m, m, c.joint / static_cast<double>(m));
  q.diagonal().array() += c.own;
  const double total = f.root.squaredNorm();
  VectorXd out(n);
  for (Index row = 0; row < n; ++row) {
    monitor.check();
    const double root = f.root[row];
    if (!(root > 0)) {
      out[row] = std::numeric_limits<double>::quiet_NaN();
      continue;
    }
    MatrixXd spread = MatrixXd::Zero(k * m, m);  // A^-1 Phi_n'
    VectorXd value(m);
    for (Index i = 0; i < m; ++i) {
      const auto phi = f.phi[static_cast<std::size_t>(i)].row(row).transpose();
      spread.col(i) = inverse.middleCols(i * k, k) * phi;
      value[i] = phi.dot(fit.weights.col(i)) - f.t[row];
    }
    MatrixXd block(m, m);
    for (Index i = 0; i < m; ++i) block.row(i) = f.phi[static_cast<std::size_t>(i)].row(row) * spread.middleRows(i * k, k);
    MatrixXd left = -block * q;
    left.diagonal().array() += 1 - root * root / total;
    out[row] = f.t[row] / root + f.mean + Lu(left).solve(value).mean() / root;
  }
  return out;
}

}  // namespace granary::ensemble
