#include "core/optim/qp.h"
#include "core/linalg/dense.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace granary {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

void check_input(const QuadraticProgram& qp) {
  const Index n = qp.c.size(), m = qp.a.rows();
  if (n < 1) throw InputError("a quadratic program needs at least one variable.");
  if (qp.q.rows() != n || qp.q.cols() != n)
    throw InputError(message("the quadratic's matrix must be ", n, " x ", n, ", not ", qp.q.rows(), " x ", qp.q.cols(), "."));
  if (m > 0 && qp.a.cols() != n)
    throw InputError(message("the constraint matrix must have ", n, " columns, not ", qp.a.cols(), "."));
  if (qp.b.size() != m) throw InputError(message("the right-hand side must have length ", m, ", not ", qp.b.size(), "."));
  if (!qp.sense.empty() && static_cast<Index>(qp.sense.size()) != m)
    throw InputError(message("there must be one sense for each of the ", m, " rows, not ", qp.sense.size(), "."));
  if ((qp.lower.size() && qp.lower.size() != n) || (qp.upper.size() && qp.upper.size() != n))
    throw InputError(message("bounds must have length ", n, " or be empty."));
  if (!qp.q.allFinite() || !qp.c.allFinite() || !qp.a.allFinite() || !qp.b.allFinite())
    throw InputError("the quadratic, costs, constraints and right-hand sides must be finite.");
  const double size = qp.q.cwiseAbs().maxCoeff();
  if ((qp.q - qp.q.transpose()).cwiseAbs().maxCoeff() > 1e-10 * size)
    throw InputError("the quadratic's matrix must be symmetric.");
  for (Index j = 0; j < n; ++j) {
    if (qp.q(j, j) < -1e-12 * size)
      throw InputError(message("the quadratic's matrix must be positive semidefinite, but its diagonal entry ", j + 1, " is ",
                               qp.q(j, j), "."));
    if ((qp.lower.size() && !(qp.lower[j] < infinity)) || (qp.upper.size() && !(qp.upper[j] > -infinity)))
      throw InputError(message("the bounds of variable ", j + 1,
                               " must be numbers, with lower below infinity and upper above minus infinity."));
  }
}

// min 1/2 x'Qx + c'x,  Ex = e,  Gx <= h.  G stacks the rows `g`, then -x_j for `low`, then x_j for `high`: bounds cost no rows.
struct Scaled {
  MatrixXd q, e, g;
  VectorXd c, e_right, h;
  std::vector<Index> low, high;
  std::vector<Index> e_row, g_row;   // row of A, or -1 - j for a variable fixed at x_j
  VectorXd e_scale, g_scale, unit;   // multipliers of rows, and the unit of each variable
  std::vector<double> g_sign;        // -1 for >= rows
  double cost_unit = 1, length = 1;  // of the objective, and of all variables together

  Index inequalities() const { return h.size(); }

  VectorXd times_g(const VectorXd& x) const {
    VectorXd out(h.size());
    Index k = g.rows();
    out.head(k).noalias() = g * x;
    for (const Index j : low) out[k++] = -x[j];
    for (const Index j : high) out[k++] = x[j];
    return out;
  }
  VectorXd times_g_transposed(const VectorXd& z) const {
    Index k = g.rows();
    VectorXd out = g.transpose() * z.head(k);
    for (const Index j : low) out[j] -= z[k++];
    for (const Index j : high) out[j] += z[k++];
    return out;
  }
  MatrixXd hessian(const VectorXd& weight) const {  // Q + G' diag(weight) G
    MatrixXd out = q;
    Index k = g.rows();
    if (k > 0) out.noalias() += g.transpose() * (weight.head(k).asDiagonal() * g);
    for (const Index j : low) out(j, j) += weight[k++];
    for (const Index j : high) out(j, j) += weight[k++];
    return out;
  }
};

Scaled scale_program(const QuadraticProgram& qp, const VectorXd& lower, const VectorXd& upper) {
  const Index n = qp.c.size(), m = qp.a.rows();
  Scaled out;
  // Variables in units of their curvature, else of their largest constraint coefficient over its row's size.
  out.unit = VectorXd::Ones(n);
  const VectorXd row_size = m > 0 ? VectorXd(qp.a.cwiseAbs().rowwise().maxCoeff()) : VectorXd(0);
  const double curvature = qp.q.diagonal().maxCoeff();
  for (Index j = 0; j < n; ++j) {
    if (qp.q(j, j) > 1e-14 * curvature) {
      out.unit[j] = std::sqrt(curvature / qp.q(j, j));
    } else {
      double size = 0;
      for (Index i = 0; i < m; ++i)
        if (row_size[i] > 0) size = std::max(size, std::abs(qp.a(i, j)) / row_size[i]);
      if (size > 0) out.unit[j] = 1 / size;
    }
    out.unit[j] = std::exp2(std::round(std::log2(out.unit[j])));
  }
  const MatrixXd a = m > 0 ? MatrixXd(qp.a * out.unit.asDiagonal()) : MatrixXd(0, n);
  std::vector<double> e_scale, g_scale, e_right, h;
  std::vector<VectorXd> e_rows, g_rows;
  for (Index i = 0; i < m; ++i) {
    const RowSense sense = qp.sense.empty() ? RowSense::less_equal : qp.sense[i];
    const double size = a.row(i).cwiseAbs().maxCoeff();
    const double s = size > 0 ? 1 / size : 1;
    if (sense == RowSense::equal) {
      out.e_row.push_back(i);
      e_scale.push_back(s);
      e_rows.push_back(s * a.row(i).transpose());
      e_right.push_back(s * qp.b[i]);
    } else {
      const double sign = sense == RowSense::less_equal ? 1 : -1;
      out.g_row.push_back(i);
      out.g_sign.push_back(sign);
      g_scale.push_back(s);
      g_rows.push_back(sign * s * a.row(i).transpose());
      h.push_back(sign * s * qp.b[i]);
    }
  }
  for (Index j = 0; j < n; ++j) {
    if (lower[j] == upper[j]) {
      out.e_row.push_back(-1 - j);
      e_scale.push_back(1);
      e_rows.push_back(VectorXd::Unit(n, j));
      e_right.push_back(lower[j] / out.unit[j]);
      continue;
    }
    if (lower[j] > -infinity) out.low.push_back(j);
    if (upper[j] < infinity) out.high.push_back(j);
  }
  for (const Index j : out.low) h.push_back(-lower[j] / out.unit[j]);
  for (const Index j : out.high) h.push_back(upper[j] / out.unit[j]);

  const auto vector = [](const std::vector<double>& from) {
    return VectorXd(Eigen::Map<const VectorXd>(from.data(), static_cast<Index>(from.size())));
  };
  out.e_scale = vector(e_scale);
  out.g_scale = vector(g_scale);
  out.e_right = vector(e_right);
  out.h = vector(h);
  out.e.resize(static_cast<Index>(e_rows.size()), n);
  out.g.resize(static_cast<Index>(g_rows.size()), n);
  for (Index i = 0; i < out.e.rows(); ++i) out.e.row(i) = e_rows[i].transpose();
  for (Index i = 0; i < out.g.rows(); ++i) out.g.row(i) = g_rows[i].transpose();
  out.q = out.unit.asDiagonal() * qp.q * out.unit.asDiagonal();
  out.c = out.unit.cwiseProduct(qp.c);

  // One unit for all of x: what the right-hand sides ask for, or the unconstrained minimiser when they are all zero.
  double& length = out.length;
  length = 0;
  if (out.e_right.size()) length = out.e_right.cwiseAbs().maxCoeff();
  if (out.h.size()) length = std::max(length, out.h.cwiseAbs().maxCoeff());
  const double q_size = out.q.cwiseAbs().maxCoeff(), c_size = out.c.cwiseAbs().maxCoeff();
  if (q_size > 0 && c_size > 0)
    length = length > 0 ? std::min(length, std::max(c_size / q_size, 1e-3 * length)) : c_size / q_size;
  if (length == 0) length = 1;
  out.unit *= length;
  out.e_right /= length;
  out.h /= length;
  out.q *= length * length;
  out.c *= length;
  out.cost_unit = std::max(out.q.cwiseAbs().maxCoeff(), out.c.cwiseAbs().maxCoeff());
  if (out.cost_unit == 0) out.cost_unit = 1;
  out.q /= out.cost_unit;
  out.c /= out.cost_unit;
  return out;
}

// Solves [H E'; E 0] by LU of a slightly regularised matrix (H may be singular, rows of E dependent) and refinement.
class Saddle {
 public:
  Saddle(const MatrixXd& h, const MatrixXd& e) : n_(h.rows()), matrix_(MatrixXd::Zero(h.rows() + e.rows(), h.rows() + e.rows())) {
    const Index m = e.rows();
    matrix_.topLeftCorner(n_, n_) = h;
    matrix_.topRightCorner(n_, m) = e.transpose();
    matrix_.bottomLeftCorner(m, n_) = e;
    MatrixXd regular = matrix_;
    const double shift = 1e-11;
    regular.diagonal().head(n_).array() += shift;
    regular.diagonal().tail(m).array() -= shift;
    lu_.compute(regular);
  }

  VectorXd solve(const VectorXd& right) const {
    VectorXd x = lu_.solve(right);
    double error = (right - matrix_ * x).norm();
    for (int k = 0; k < 20 && error > 1e-15 * right.norm(); ++k) {
      const VectorXd next = x + lu_.solve(right - matrix_ * x);
      const double now = (right - matrix_ * next).norm();
      if (!(now < error)) break;
      const bool slow = now > 0.5 * error;
      x = next;
      error = now;
      if (slow) break;
    }
    return x;
  }

 private:
  Index n_;
  MatrixXd matrix_;
  Lu lu_;
};

struct Iterate {
  VectorXd x, y, z, s;  // y of Ex = e, z and slack s of Gx + s = h
  double residual = infinity, gap = infinity;
};

// The size of the largest violation, and the duality gap relative to the terms of the objective.
void measure(const Scaled& p, Iterate& it) {
  const VectorXd qx = p.q * it.x, gz = p.times_g_transposed(it.z), ey = p.e.transpose() * it.y;
  const VectorXd stationarity = qx + p.c + ey + gz;
  const double force = 1 + std::max(gz.cwiseAbs().maxCoeff(), qx.cwiseAbs().maxCoeff());
  const double length = 1 + it.x.cwiseAbs().maxCoeff();
  it.residual = stationarity.cwiseAbs().maxCoeff() / force;
  double complementarity = 0;
  if (p.e.rows()) it.residual = std::max(it.residual, (p.e * it.x - p.e_right).cwiseAbs().maxCoeff() / length);
  if (p.inequalities()) {
    const VectorXd excess = p.times_g(it.x) - p.h;
    it.residual = std::max({it.residual, excess.maxCoeff() / length, -it.z.minCoeff() / force});
    for (Index i = 0; i < excess.size(); ++i) complementarity += std::abs(it.z[i] * excess[i]);
  }
  const double size = 0.5 * std::abs(it.x.dot(qx)) + p.c.cwiseAbs().dot(it.x.cwiseAbs());
  it.gap = complementarity <= 1e-18 ? 0 : complementarity / std::max(size, 1e-9);
}

Iterate interior_point(const Scaled& p, const QpOptions& options, int& iterations, Monitor& monitor) {
  const Index n = p.c.size(), m = p.inequalities(), k = p.e.rows();
  Iterate it;
  VectorXd right(n + k);
  {  // the minimiser with a squared penalty on Gx - h; slacks and multipliers moved into the interior
    right << -p.c + p.times_g_transposed(p.h), p.e_right;
    const VectorXd first = Saddle(p.hessian(VectorXd::Ones(m)), p.e).solve(right);
    it.x = first.head(n);
    it.y = first.tail(k);
    it.z = p.times_g(it.x) - p.h;
    it.s = -it.z;
    if (m > 0) {
      if (it.s.minCoeff() <= 1e-3) it.s.array() += 1 - it.s.minCoeff();
      if (it.z.minCoeff() <= 1e-3) it.z.array() += 1 - it.z.minCoeff();
    }
  }
  Iterate best = it;
  measure(p, best);
  int stale = 0;
  for (iterations = 0; iterations < options.max_iter; ++iterations) {
    monitor.check();
    measure(p, it);
    if (!std::isfinite(it.residual)) break;
    if (std::max(it.residual, it.gap) < std::max(best.residual, best.gap)) {
      best = it;
      stale = 0;
    } else if (++stale > 15) {
      break;
    }
    if (it.residual <= 0.1 * options.tol && it.gap <= 0.1 * options.tol) break;

    const VectorXd dual_residual = p.q * it.x + p.c + p.e.transpose() * it.y + p.times_g_transposed(it.z);
    const VectorXd equality_residual = p.e * it.x - p.e_right;
    const VectorXd slack_residual = p.times_g(it.x) + it.s - p.h;
    const VectorXd weight = it.z.cwiseQuotient(it.s);
    const Saddle saddle(p.hessian(weight), p.e);
    VectorXd dx, dy, dz, ds;
    const auto direction = [&](const VectorXd& complementarity) {
      const VectorXd inner = (it.z.cwiseProduct(slack_residual) - complementarity).cwiseQuotient(it.s);
      right << -dual_residual - p.times_g_transposed(inner), -equality_residual;
      const VectorXd step = saddle.solve(right);
      dx = step.head(n);
      dy = step.tail(k);
      const VectorXd gdx = p.times_g(dx);
      ds = -slack_residual - gdx;
      dz = inner + weight.cwiseProduct(gdx);
    };
    const auto longest = [&] {
      double length = infinity;
      for (Index i = 0; i < m; ++i) {
        if (ds[i] < 0) length = std::min(length, -it.s[i] / ds[i]);
        if (dz[i] < 0) length = std::min(length, -it.z[i] / dz[i]);
      }
      return length;
    };
    const VectorXd product = it.s.cwiseProduct(it.z);
    direction(product);
    double length = 1;
    if (m > 0) {
      const double mu = product.mean(), affine = std::min(1.0, longest());
      const double mu_affine = (it.s + affine * ds).dot(it.z + affine * dz) / static_cast<double>(m);
      const double sigma = std::pow(std::max(mu_affine, 0.0) / mu, 3);
      direction((product + ds.cwiseProduct(dz)).array() - sigma * mu);
      length = std::min(1.0, std::min(std::max(0.9, 1 - mu), 0.9999) * longest());
    }
    if (!dx.allFinite() || !dz.allFinite()) break;
    it.x += length * dx;
    it.y += length * dy;
    it.z += length * dz;
    it.s += length * ds;
  }
  return best;
}

// The equations of the constraints that look active, solved exactly.
void polish(const Scaled& p, Iterate& best) {
  const Index n = p.c.size(), m = p.inequalities(), k = p.e.rows();
  std::vector<Index> active;
  for (Index i = 0; i < m; ++i)
    if (best.z[i] > best.s[i]) active.push_back(i);
  const Index r = static_cast<Index>(active.size());
  MatrixXd rows(k + r, n);
  VectorXd right(n + k + r);
  rows.topRows(k) = p.e;
  right.head(n) = -p.c;
  right.segment(n, k) = p.e_right;
  for (Index t = 0; t < r; ++t) {
    rows.row(k + t) = p.times_g_transposed(VectorXd::Unit(m, active[t])).transpose();
    right[n + k + t] = p.h[active[t]];
  }
  const VectorXd solution = Saddle(p.q, rows).solve(right);
  Iterate exact = best;
  exact.x = solution.head(n);
  exact.y = solution.segment(n, k);
  exact.z.setZero();
  for (Index t = 0; t < r; ++t) exact.z[active[t]] = solution[n + k + t];
  if (!exact.x.allFinite() || !exact.z.allFinite()) return;
  measure(p, exact);
  if (std::max(exact.residual, exact.gap) <= std::max(best.residual, best.gap)) best = exact;
}

// Proves by linear programming why there is no solution, when there is none.
void explain(const QuadraticProgram& qp, const VectorXd& lower, const VectorXd& upper, QpResult& result, Monitor& monitor) {
  const Index n = qp.c.size(), m = qp.a.rows();
  LinearProgram lp;
  lp.c = VectorXd::Zero(n);
  lp.a = m > 0 ? qp.a : MatrixXd(0, n);
  lp.b = qp.b;
  lp.sense = qp.sense;
  lp.lower = lower;
  lp.upper = upper;
  const LpResult point = solve_lp(lp, LpOptions(), monitor);
  if (point.status == LpStatus::infeasible) {
    result.status = LpStatus::infeasible;
    result.ray = point.ray;
    result.convergence.message = "no point satisfies all constraints";
    return;
  }
  const double size = std::max(qp.q.cwiseAbs().maxCoeff(), 1e-300);
  lp.c = qp.c;
  lp.a.conservativeResize(m + n, n);
  lp.a.bottomRows(n) = qp.q / size;
  lp.b = VectorXd::Zero(m + n);
  if (lp.sense.empty()) lp.sense.assign(m, RowSense::less_equal);
  lp.sense.insert(lp.sense.end(), n, RowSense::equal);
  for (Index j = 0; j < n; ++j) {
    lp.lower[j] = lower[j] > -infinity ? 0 : -1;
    lp.upper[j] = upper[j] < infinity ? 0 : 1;
  }
  const LpResult way = solve_lp(lp, LpOptions(), monitor);
  if (way.status == LpStatus::optimal && way.objective < -1e-8 * qp.c.cwiseAbs().maxCoeff()) {
    result.status = LpStatus::unbounded;
    result.x = point.x;
    result.ray = way.x;
    result.objective = -infinity;
    result.convergence.message = "the objective decreases without bound along the ray";
  }
}

}  // namespace

QpResult solve_qp(const QuadraticProgram& qp, const QpOptions& options, Monitor& monitor) {
  const Stopwatch watch;
  check_input(qp);
  const Index n = qp.c.size(), m = qp.a.rows();
  const VectorXd lower = qp.lower.size() ? qp.lower : VectorXd::Constant(n, -infinity);
  const VectorXd upper = qp.upper.size() ? qp.upper : VectorXd::Constant(n, infinity);
  QpResult result;
  result.x = result.reduced_cost = VectorXd::Zero(n);
  result.dual = VectorXd::Zero(m);
  Convergence& convergence = result.convergence;
  for (Index j = 0; j < n; ++j) {
    if (lower[j] <= upper[j]) continue;
    result.status = LpStatus::infeasible;
    result.ray = VectorXd::Zero(m);
    convergence.converged = true;
    convergence.message = message("the bounds of variable ", j + 1, " exclude each other");
    return result;
  }

  const Scaled p = scale_program(qp, lower, upper);
  Iterate best = interior_point(p, options, convergence.iterations, monitor);
  if (std::isfinite(best.residual)) polish(p, best);
  convergence.residual = best.residual;
  convergence.gap = best.gap;
  if (best.residual <= options.tol && best.gap <= options.tol) {
    result.status = LpStatus::optimal;
    for (Index j = 0; j < n; ++j) result.x[j] = std::min(std::max(best.x[j] * p.unit[j], lower[j]), upper[j]);
    result.objective = 0.5 * result.x.dot(qp.q * result.x) + qp.c.dot(result.x);
    for (Index i = 0; i < p.e.rows(); ++i) {
      const Index row = p.e_row[i];
      if (row >= 0) result.dual[row] = -p.cost_unit / p.length * p.e_scale[i] * best.y[i];
    }
    for (Index i = 0; i < p.g.rows(); ++i)
      result.dual[p.g_row[i]] = -p.cost_unit / p.length * p.g_scale[i] * p.g_sign[i] * std::max(best.z[i], 0.0);
    result.reduced_cost = qp.q * result.x + qp.c;
    if (m > 0) result.reduced_cost -= qp.a.transpose() * result.dual;
  } else {
    explain(qp, lower, upper, result, monitor);
    if (result.status == LpStatus::stopped)
      convergence.message =
          message("stopped at residual ", best.residual, " and gap ", best.gap, "; is the matrix positive semidefinite?");
  }
  convergence.converged = result.status != LpStatus::stopped;
  convergence.seconds = watch.seconds();
  return result;
}

}  // namespace granary
