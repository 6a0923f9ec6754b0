#include "eigen.h"
#include <algorithm>
#include <limits>

#include "core/optim/qp.h"
#include "draw.h"
#include "harness.h"

using namespace granary;

namespace {

const double infinity = std::numeric_limits<double>::infinity();

QuadraticProgram make(const MatrixXd& q, const VectorXd& c) {
  QuadraticProgram qp;
  qp.q = q;
  qp.c = c;
  qp.a = MatrixXd(0, c.size());
  qp.b = VectorXd(0);
  qp.lower = VectorXd::Constant(c.size(), -infinity);
  qp.upper = VectorXd::Constant(c.size(), infinity);
  return qp;
}

QpResult solve(const QuadraticProgram& qp) {
  Monitor monitor;
  return solve_qp(qp, QpOptions(), monitor);
}

RowSense sense_of(const QuadraticProgram& qp, Index i) { return qp.sense.empty() ? RowSense::less_equal : qp.sense[i]; }

// The optimality conditions, from the program's data; x_unit and d_unit are the sizes that x and the gradient naturally have.
void check_optimal(const QuadraticProgram& qp, const QpResult& r, double x_unit = 1, double d_unit = 1) {
  CHECK(r.status == LpStatus::optimal);
  if (r.status != LpStatus::optimal) return;
  CHECK(r.convergence.gap <= 1e-9 && r.convergence.residual <= 1e-9);
  VectorXd d = qp.q * r.x + qp.c;
  if (qp.a.rows()) d -= qp.a.transpose() * r.dual;
  CHECK_NEAR((d - r.reduced_cost).norm(), 0.0, 1e-10 * d_unit);
  for (Index j = 0; j < d.size(); ++j) {
    CHECK(r.x[j] >= qp.lower[j] && r.x[j] <= qp.upper[j]);
    if (r.x[j] > qp.lower[j] + 1e-7 * x_unit) CHECK(d[j] <= 1e-7 * d_unit);
    if (r.x[j] < qp.upper[j] - 1e-7 * x_unit) CHECK(d[j] >= -1e-7 * d_unit);
  }
  for (Index i = 0; i < qp.a.rows(); ++i) {
    const double size = qp.a.row(i).cwiseAbs().maxCoeff();
    const double excess = (qp.a.row(i).dot(r.x) - qp.b[i]) / size;
    if (sense_of(qp, i) != RowSense::greater_equal) CHECK(excess <= 1e-7 * x_unit);
    if (sense_of(qp, i) != RowSense::less_equal) CHECK(excess >= -1e-7 * x_unit);
    if (sense_of(qp, i) == RowSense::less_equal) CHECK(r.dual[i] <= 0);
    if (sense_of(qp, i) == RowSense::greater_equal) CHECK(r.dual[i] >= 0);
    if (std::abs(excess) > 1e-6 * x_unit) CHECK(std::abs(r.dual[i]) * size <= 1e-6 * d_unit);
  }
}

// Every subset of inequalities held with equality; the best feasible stationary point.
double brute_force(const QuadraticProgram& qp) {
  const Index n = qp.c.size();
  std::vector<VectorXd> planes;
  std::vector<double> right;
  for (Index i = 0; i < qp.a.rows(); ++i) {
    planes.push_back(qp.a.row(i).transpose());
    right.push_back(qp.b[i]);
  }
  for (Index j = 0; j < n; ++j) {
    if (std::isfinite(qp.lower[j])) {
      planes.push_back(-VectorXd::Unit(n, j));
      right.push_back(-qp.lower[j]);
    }
    if (std::isfinite(qp.upper[j])) {
      planes.push_back(VectorXd::Unit(n, j));
      right.push_back(qp.upper[j]);
    }
  }
  double best = infinity;
  const std::size_t count = planes.size();
  for (std::size_t code = 0; code < (std::size_t(1) << count); ++code) {
    std::vector<std::size_t> on;
    for (std::size_t k = 0; k < count; ++k)
      if (code >> k & 1) on.push_back(k);
    const Index m = static_cast<Index>(on.size());
    if (m > n) continue;
    MatrixXd kkt = MatrixXd::Zero(n + m, n + m);
    VectorXd b(n + m);
    kkt.topLeftCorner(n, n) = qp.q;
    b.head(n) = -qp.c;
    for (Index t = 0; t < m; ++t) {
      kkt.block(n + t, 0, 1, n) = planes[on[t]].transpose();
      kkt.block(0, n + t, n, 1) = planes[on[t]];
      b[n + t] = right[on[t]];
    }
    const Eigen::FullPivLU<MatrixXd> lu(kkt);
    if (lu.rank() < n + m) continue;
    const VectorXd x = VectorXd(lu.solve(b)).head(n);
    bool ok = true;
    for (std::size_t k = 0; k < count; ++k) ok = ok && planes[k].dot(x) <= right[k] + 1e-9;
    for (Index i = 0; i < qp.a.rows(); ++i)
      if (sense_of(qp, i) == RowSense::equal) ok = ok && std::abs(qp.a.row(i).dot(x) - qp.b[i]) < 1e-9;
    if (ok) best = std::min(best, 0.5 * x.dot(qp.q * x) + qp.c.dot(x));
  }
  return best;
}

VectorXd project_simplex(VectorXd v) {  // by sorting
  VectorXd u = v;
  std::sort(u.data(), u.data() + u.size(), [](double a, double b) { return a > b; });
  double sum = 0, theta = 0;
  for (Index k = 0; k < u.size(); ++k) {
    sum += u[k];
    if (u[k] - (sum - 1) / static_cast<double>(k + 1) > 0) theta = (sum - 1) / static_cast<double>(k + 1);
  }
  return (v.array() - theta).max(0);
}

}  // namespace

TEST("solve_qp matches the best of all active sets, and proves the others infeasible") {
  Draw draw{1};
  int optimal = 0, infeasible = 0;
  for (int trial = 0; trial < 120; ++trial) {
    const Index n = 2 + trial % 3, m = 1 + trial % 4;
    const MatrixXd root = draw.matrix(n + 1, n);
    QuadraticProgram qp = make(root.transpose() * root, 2 * draw.matrix(n, 1));
    qp.a = draw.matrix(m, n);
    qp.b = 0.5 * draw.matrix(m, 1);
    if (trial % 3 == 0) {
      qp.sense.assign(m, RowSense::less_equal);
      qp.sense[0] = RowSense::equal;
    }
    for (Index j = 0; j < n; ++j) {
      if (trial % 2 == 0) qp.lower[j] = draw() - 0.5;
      if (trial % 4 == 0) qp.upper[j] = qp.lower[j] + std::abs(draw()) + 0.01;
    }
    const double best = brute_force(qp);
    const QpResult r = solve(qp);
    if (best == infinity) {
      ++infeasible;
      CHECK(r.status == LpStatus::infeasible && r.ray.size() == m);
    } else {
      ++optimal;
      check_optimal(qp, r);
      CHECK_NEAR(r.objective, best, 1e-8);
    }
  }
  CHECK(optimal > 50 && infeasible > 3);
}

TEST("solve_qp projects onto the simplex") {
  Draw draw{2};
  for (int trial = 0; trial < 10; ++trial) {
    const Index n = 3 + 4 * trial;
    const VectorXd v = 2 * draw.matrix(n, 1);
    QuadraticProgram qp = make(MatrixXd::Identity(n, n), -v);
    qp.a = MatrixXd::Ones(1, n);
    qp.b = VectorXd::Ones(1);
    qp.sense = {RowSense::equal};
    qp.lower.setZero();
    const QpResult r = solve(qp);
    check_optimal(qp, r);
    CHECK_NEAR((r.x - project_simplex(v)).cwiseAbs().maxCoeff(), 0.0, 1e-9);
  }
}

TEST("solve_qp without inequalities is a linear system") {
  Draw draw{3};
  const MatrixXd x = draw.matrix(30, 8);
  const MatrixXd q = x.transpose() * x + 0.3 * MatrixXd::Identity(8, 8);
  const VectorXd c = -x.transpose() * draw.matrix(30, 1);
  QuadraticProgram qp = make(q, c);
  QpResult r = solve(qp);
  check_optimal(qp, r);
  CHECK_NEAR((r.x - VectorXd(q.llt().solve(-c))).norm(), 0.0, 1e-10);
  qp.a = draw.matrix(3, 8);  // x = Q^-1 (A'y - c), A x = b; the third row repeats the first
  qp.a.row(2) = qp.a.row(0);
  qp.b = VectorXd::Ones(3);
  qp.sense.assign(3, RowSense::equal);
  r = solve(qp);
  check_optimal(qp, r);
  const MatrixXd a = qp.a.topRows(2), inner = q.llt().solve(a.transpose());
  const VectorXd y = (a * inner).llt().solve(VectorXd::Ones(2) + a * VectorXd(q.llt().solve(c)));
  CHECK_NEAR((r.x - VectorXd(inner * y - q.llt().solve(c))).norm(), 0.0, 1e-8);
}

TEST("solve_qp handles a singular quadratic, fixed variables and linear programs") {
  Draw draw{4};
  for (int trial = 0; trial < 20; ++trial) {
    const Index n = 10;
    const MatrixXd root = draw.matrix(4, n);
    QuadraticProgram qp = make(root.transpose() * root, draw.matrix(n, 1));
    qp.a = draw.matrix(5, n);
    qp.b = VectorXd::Ones(5);
    qp.lower.setConstant(-1);
    qp.upper.setConstant(2);
    qp.lower[3] = qp.upper[3] = 0.25;
    const QpResult r = solve(qp);
    check_optimal(qp, r);
    CHECK(r.x[3] == 0.25);
  }
  QuadraticProgram qp = make(MatrixXd::Zero(3, 3), Eigen::Vector3d(-1, -2, 1));
  qp.a = MatrixXd::Ones(1, 3);
  qp.b = VectorXd::Ones(1);
  qp.lower.setZero();
  const QpResult r = solve(qp);
  check_optimal(qp, r);
  CHECK_NEAR(r.objective, -2.0, 1e-9);
  CHECK_NEAR(r.dual[0], -2.0, 1e-8);
}

TEST("solve_qp certifies infeasible and unbounded programs") {
  QuadraticProgram qp = make(MatrixXd::Identity(2, 2), VectorXd::Zero(2));
  qp.a = MatrixXd(2, 2);
  qp.a << 1, 1, 1, 1;
  qp.b = Eigen::Vector2d(1, 2);
  qp.sense = {RowSense::less_equal, RowSense::greater_equal};
  QpResult r = solve(qp);
  CHECK(r.status == LpStatus::infeasible);
  CHECK(r.ray.size() == 2 && qp.b.dot(r.ray) > 0 && (qp.a.transpose() * r.ray).norm() < 1e-9);
  MatrixXd q(2, 2);
  q << 1, -1, -1, 1;  // flat along (1, 1)
  qp = make(q, Eigen::Vector2d(-1, -1));
  r = solve(qp);
  CHECK(r.status == LpStatus::unbounded);
  CHECK(r.ray.size() == 2 && qp.c.dot(r.ray) < 0 && (q * r.ray).norm() < 1e-9);
  qp.lower[0] = 1;
  qp.upper[0] = 0;
  CHECK(solve(qp).status == LpStatus::infeasible);
}

TEST("solve_qp gives the same answer at any scale") {
  Draw draw{5};
  const Index n = 12;
  const MatrixXd root = draw.matrix(15, n);
  QuadraticProgram qp = make(root.transpose() * root, 3 * draw.matrix(n, 1));
  qp.a = draw.matrix(4, n);
  qp.b = 0.2 * VectorXd::Ones(4);
  qp.sense = {RowSense::less_equal, RowSense::greater_equal, RowSense::less_equal, RowSense::equal};
  qp.b[1] = -0.2;
  qp.lower.setConstant(-0.3);
  const QpResult base = solve(qp);
  check_optimal(qp, base);
  for (const double s : {1e-8, 1e8}) {
    QuadraticProgram scaled = qp;  // cost
    scaled.q *= s;
    scaled.c *= s;
    QpResult r = solve(scaled);
    check_optimal(scaled, r, 1, s);
    CHECK_NEAR((r.x - base.x).norm(), 0.0, 1e-8);
    scaled = qp;  // all variables
    scaled.q /= s * s;
    scaled.c /= s;
    scaled.a /= s;
    scaled.lower *= s;
    r = solve(scaled);
    check_optimal(scaled, r, s, 1 / s);
    CHECK_NEAR((r.x / s - base.x).norm(), 0.0, 1e-8);
    scaled = qp;  // one row, one variable
    scaled.a.row(0) *= s;
    scaled.b[0] *= s;
    scaled.q.row(2) /= s;
    scaled.q.col(2) /= s;
    scaled.c[2] /= s;
    scaled.a.col(2) /= s;
    scaled.lower[2] *= s;
    r = solve(scaled);
    CHECK(r.status == LpStatus::optimal);
    CHECK_NEAR(r.objective, base.objective, 1e-8 * std::abs(base.objective));
    CHECK_NEAR(r.x[2] / s, base.x[2], 1e-7);
  }
}

TEST("solve_qp solves a support vector machine's dual") {
  Draw draw{6};
  const Index n = 150;
  MatrixXd x = draw.matrix(n, 3);
  VectorXd label(n);
  for (Index i = 0; i < n; ++i) label[i] = x(i, 0) + 0.3 * draw() > 0 ? 1 : -1;
  const MatrixXd z = label.asDiagonal() * x;
  QuadraticProgram qp = make(z * z.transpose(), VectorXd::Constant(n, -1));
  qp.a = label.transpose();
  qp.b = VectorXd::Zero(1);
  qp.sense = {RowSense::equal};
  qp.lower.setZero();
  qp.upper.setConstant(10);
  const QpResult r = solve(qp);
  check_optimal(qp, r, 10);
  // Strong duality against the hinge-loss objective, whose intercept is the equality's multiplier.
  const VectorXd w = z.transpose() * r.x;
  double primal = 0.5 * w.squaredNorm();
  for (Index i = 0; i < n; ++i) primal += 10 * std::max(0.0, 1 - label[i] * (x.row(i).dot(w) - r.dual[0]));
  CHECK_NEAR(primal, -r.objective, 1e-7 * primal);
}

TEST("solve_qp says what is wrong with its input") {
  QuadraticProgram qp = make(MatrixXd::Identity(2, 2), VectorXd::Zero(2));
  qp.q(0, 1) = 1;
  CHECK_THROWS(solve(qp), InputError);
  qp.q = -MatrixXd::Identity(2, 2);
  CHECK_THROWS(solve(qp), InputError);
  qp = make(MatrixXd::Identity(3, 3), VectorXd::Zero(2));
  CHECK_THROWS(solve(qp), InputError);
  qp = make(MatrixXd::Identity(2, 2), VectorXd::Zero(2));
  qp.b = VectorXd::Ones(1);
  CHECK_THROWS(solve(qp), InputError);
}
