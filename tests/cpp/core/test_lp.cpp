#include "eigen.h"
#include <limits>

#include "core/optim/lp.h"
#include "core/random/rng.h"
#include "draw.h"
#include "harness.h"

using namespace granary;

namespace {

const double infinity = std::numeric_limits<double>::infinity();

RowSense sense_of(const LinearProgram& lp, Index i) { return lp.sense.empty() ? RowSense::less_equal : lp.sense[i]; }

bool feasible(const LinearProgram& lp, const VectorXd& x, double tol) {
  for (Index j = 0; j < x.size(); ++j)
    if (x[j] < lp.lower[j] - tol || x[j] > lp.upper[j] + tol) return false;
  for (Index i = 0; i < lp.a.rows(); ++i) {
    const double r = lp.a.row(i).dot(x) - lp.b[i];
    if (sense_of(lp, i) != RowSense::greater_equal && r > tol) return false;
    if (sense_of(lp, i) != RowSense::less_equal && r < -tol) return false;
  }
  return true;
}

// Best vertex: every choice of n among the rows and the finite bounds, held with equality. infinity when there is none.
double brute_force(const LinearProgram& lp) {
  const Index n = lp.c.size();
  std::vector<std::pair<VectorXd, double>> planes;
  for (Index i = 0; i < lp.a.rows(); ++i) planes.emplace_back(lp.a.row(i).transpose(), lp.b[i]);
  for (Index j = 0; j < n; ++j) {
    if (std::isfinite(lp.lower[j])) planes.emplace_back(VectorXd::Unit(n, j), lp.lower[j]);
    if (std::isfinite(lp.upper[j])) planes.emplace_back(VectorXd::Unit(n, j), lp.upper[j]);
  }
  double best = infinity;
  const std::size_t count = planes.size();
  for (std::size_t code = 0; code < (std::size_t(1) << count); ++code) {
    Index bits = 0;
    for (std::size_t k = 0; k < count; ++k) bits += code >> k & 1;
    if (bits != n) continue;
    MatrixXd a(n, n);
    VectorXd b(n);
    for (std::size_t k = 0, r = 0; k < count; ++k)
      if (code >> k & 1) {
        a.row(static_cast<Index>(r)) = planes[k].first.transpose();
        b[static_cast<Index>(r++)] = planes[k].second;
      }
    const Eigen::FullPivLU<MatrixXd> lu(a);
    if (lu.rank() < n) continue;
    const VectorXd x = lu.solve(b);
    if (feasible(lp, x, 1e-9)) best = std::min(best, lp.c.dot(x));
  }
  return best;
}

// Checks from the problem's data alone that x and y are optimal.
void check_optimal(const LinearProgram& lp, const LpResult& r, double scale = 1) {
  CHECK(r.status == LpStatus::optimal);
  if (r.status != LpStatus::optimal) return;
  CHECK(feasible(lp, r.x, 1e-8 * scale));
  CHECK(r.convergence.gap <= 1e-9);
  double dual = lp.b.size() ? lp.b.dot(r.dual) : 0;
  for (Index i = 0; i < lp.a.rows(); ++i) {
    if (sense_of(lp, i) == RowSense::less_equal) CHECK(r.dual[i] <= 0);
    if (sense_of(lp, i) == RowSense::greater_equal) CHECK(r.dual[i] >= 0);
  }
  VectorXd d = lp.c;
  if (lp.a.rows()) d -= lp.a.transpose() * r.dual;
  CHECK_NEAR((d - r.reduced_cost).norm(), 0.0, 1e-12 * (1 + d.norm()));
  for (Index j = 0; j < d.size(); ++j) {
    const double bound = d[j] > 0 ? lp.lower[j] : lp.upper[j];
    if (std::isfinite(bound))
      dual += d[j] * bound;
    else
      CHECK(std::abs(d[j]) <= 1e-8 * lp.c.cwiseAbs().maxCoeff());
  }
  CHECK_NEAR(dual, r.objective, 1e-8 * (std::abs(r.objective) + lp.c.cwiseAbs().dot(r.x.cwiseAbs())));
}

void check_infeasible(const LinearProgram& lp, const LpResult& r) {
  CHECK(r.status == LpStatus::infeasible);
  if (r.status != LpStatus::infeasible) return;
  double proof = lp.b.dot(r.ray);
  for (Index i = 0; i < lp.a.rows(); ++i) {
    if (sense_of(lp, i) == RowSense::less_equal) CHECK(r.ray[i] <= 0);
    if (sense_of(lp, i) == RowSense::greater_equal) CHECK(r.ray[i] >= 0);
  }
  const VectorXd d = -lp.a.transpose() * r.ray;
  for (Index j = 0; j < d.size(); ++j) {
    if (std::abs(d[j]) < 1e-12) continue;
    const double bound = d[j] > 0 ? lp.lower[j] : lp.upper[j];
    CHECK(std::isfinite(bound));
    proof += d[j] * bound;
  }
  CHECK(proof > 1e-10);
}

void check_unbounded(const LinearProgram& lp, const LpResult& r) {
  CHECK(r.status == LpStatus::unbounded);
  if (r.status != LpStatus::unbounded) return;
  CHECK(feasible(lp, r.x, 1e-8));
  CHECK(lp.c.dot(r.ray) < 0);
  for (Index i = 0; i < lp.a.rows(); ++i) {
    const double v = lp.a.row(i).dot(r.ray);
    if (sense_of(lp, i) != RowSense::greater_equal) CHECK(v <= 1e-12);
    if (sense_of(lp, i) != RowSense::less_equal) CHECK(v >= -1e-12);
  }
  for (Index j = 0; j < r.ray.size(); ++j) {
    if (std::isfinite(lp.lower[j])) CHECK(r.ray[j] >= 0);
    if (std::isfinite(lp.upper[j])) CHECK(r.ray[j] <= 0);
  }
}

LinearProgram make(Index n, Index m) {
  LinearProgram lp;
  lp.c = VectorXd::Zero(n);
  lp.a = MatrixXd::Zero(m, n);
  lp.b = VectorXd::Zero(m);
  lp.lower = VectorXd::Zero(n);
  lp.upper = VectorXd::Constant(n, infinity);
  return lp;
}

LpResult solve(const LinearProgram& lp) {
  Monitor monitor;
  return solve_lp(lp, LpOptions(), monitor);
}

}  // namespace

TEST("solve_lp finds the best vertex of random programs, and proves the rest infeasible") {
  Draw draw{1};
  int optimal = 0, infeasible = 0;
  for (int trial = 0; trial < 150; ++trial) {
    const Index n = 2 + trial % 3, m = 1 + trial % 5;
    LinearProgram lp = make(n, m);
    lp.c = draw.matrix(n, 1);
    lp.a = draw.matrix(m, n);
    lp.b = draw.matrix(m, 1);
    for (Index i = 0; i < m; ++i) lp.sense.push_back(static_cast<RowSense>(i == 0 ? draw.below(3) : 2 * draw.below(2)));
    for (Index j = 0; j < n; ++j) {
      lp.lower[j] = draw();
      lp.upper[j] = lp.lower[j] + 1.5 * std::abs(draw());
    }
    const double best = brute_force(lp);
    const LpResult r = solve(lp);
    if (best == infinity) {
      ++infeasible;
      check_infeasible(lp, r);
    } else {
      ++optimal;
      check_optimal(lp, r);
      CHECK_NEAR(r.objective, best, 1e-8);
    }
  }
  CHECK(optimal > 30 && infeasible > 20);
}

TEST("solve_lp handles degenerate, integer and redundant programs with free variables") {
  Draw draw{2};
  int unbounded = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const Index n = 2 + trial % 3, m = 2 + trial % 4;
    LinearProgram lp = make(n, m + 2);
    for (Index j = 0; j < n; ++j) lp.c[j] = static_cast<double>(draw.below(7)) - 3;
    for (Index i = 0; i < m; ++i)
      for (Index j = 0; j < n; ++j) lp.a(i, j) = static_cast<double>(draw.below(5)) - 2;
    for (Index i = 0; i < m; ++i) lp.b[i] = static_cast<double>(draw.below(3));  // many zeros: degenerate at the origin
    lp.a.row(m) = lp.a.row(0);
    lp.b[m] = lp.b[0];
    lp.a.row(m + 1) = lp.a.row(0) + lp.a.row(1);
    lp.b[m + 1] = lp.b[0] + lp.b[1];
    if (trial % 4 == 0) lp.sense.assign(m + 2, RowSense::equal);
    if (trial % 2 == 0) lp.lower[0] = -infinity;
    if (trial % 8 == 0) lp.b.setZero();
    const LpResult r = solve(lp);
    if (r.status == LpStatus::unbounded) {
      ++unbounded;
      check_unbounded(lp, r);
    } else if (r.status == LpStatus::infeasible) {
      check_infeasible(lp, r);
    } else {
      check_optimal(lp, r);
    }
  }
  CHECK(unbounded > 20);
}

TEST("solve_lp does not cycle on Beale's program and finishes Klee and Minty's") {
  LinearProgram lp = make(4, 3);
  lp.c << -0.75, 150, -0.02, 6;
  lp.a << 0.25, -60, -0.04, 9, 0.5, -90, -0.02, 3, 0, 0, 1, 0;
  lp.b << 0, 0, 1;
  LpResult r = solve(lp);
  check_optimal(lp, r);
  CHECK_NEAR(r.objective, -0.05, 1e-12);

  const Index n = 10;
  lp = make(n, n);
  for (Index i = 0; i < n; ++i) {
    lp.c[i] = -std::pow(10.0, static_cast<double>(n - 1 - i));
    for (Index j = 0; j < i; ++j) lp.a(i, j) = 2 * std::pow(10.0, static_cast<double>(i - j));
    lp.a(i, i) = 1;
    lp.b[i] = std::pow(100.0, static_cast<double>(i));
  }
  r = solve(lp);
  check_optimal(lp, r, 1e18);
  CHECK_NEAR(r.objective, -std::pow(100.0, static_cast<double>(n - 1)), 1e-9 * std::pow(100.0, static_cast<double>(n - 1)));
}

TEST("solve_lp certifies unbounded and infeasible programs by hand-checked examples") {
  LinearProgram lp = make(2, 1);
  lp.c << -1, -1;
  lp.a << 1, -1;
  lp.b << 1;
  check_unbounded(lp, solve(lp));
  lp = make(2, 2);
  lp.c << 1, 1;
  lp.a << 1, 1, 1, 1;
  lp.b << 1, 2;
  lp.sense = {RowSense::less_equal, RowSense::greater_equal};
  check_infeasible(lp, solve(lp));
  lp = make(2, 0);
  lp.c << 1, -2;
  lp.upper << 3, 5;
  const LpResult box = solve(lp);
  check_optimal(lp, box);
  CHECK_NEAR(box.objective, -10.0, 1e-14);
  lp.upper[1] = infinity;
  check_unbounded(lp, solve(lp));
  lp.upper[0] = -1;
  CHECK(solve(lp).status == LpStatus::infeasible);
}

TEST("solve_lp with equalities only gives the dense solution; at any scale the same one") {
  Draw draw{3};
  LinearProgram lp = make(5, 5);
  lp.a = draw.matrix(5, 5);
  const VectorXd x = draw.matrix(5, 1);
  lp.b = lp.a * x;
  lp.c = draw.matrix(5, 1);
  lp.sense.assign(5, RowSense::equal);
  lp.lower.setConstant(-infinity);
  LpResult r = solve(lp);
  check_optimal(lp, r);
  CHECK_NEAR((r.x - x).norm(), 0.0, 1e-10);

  LinearProgram base = make(6, 4);
  base.c = -draw.matrix(6, 1).cwiseAbs();
  base.a = draw.matrix(4, 6).cwiseAbs();
  base.b = VectorXd::Ones(4) + draw.matrix(4, 1).cwiseAbs();
  base.upper.setConstant(2);
  const LpResult reference = solve(base);
  check_optimal(base, reference);
  for (const double s : {1e-8, 1e8}) {
    LinearProgram scaled = base;
    scaled.a *= s;  // x in units of 1/s
    scaled.upper /= s;
    r = solve(scaled);
    check_optimal(scaled, r, 1 / s);
    CHECK_NEAR((r.x * s - reference.x).norm(), 0.0, 1e-9);
    scaled = base;
    scaled.c *= s;
    scaled.b *= s;
    scaled.upper *= s;
    r = solve(scaled);
    check_optimal(scaled, r, s);
    CHECK_NEAR((r.x / s - reference.x).norm(), 0.0, 1e-9);
    scaled = base;  // one row and one variable in other units
    scaled.a.row(1) *= s;
    scaled.b[1] *= s;
    scaled.a.col(2) /= s;
    scaled.c[2] /= s;
    scaled.upper[2] *= s;
    r = solve(scaled);
    CHECK_NEAR(r.objective, reference.objective, 1e-9);
  }
}

TEST("solve_lp solves a larger program") {
  Draw draw{4};
  const Index n = 120, m = 80;
  LinearProgram lp = make(n, m);
  lp.c = -draw.matrix(n, 1).cwiseAbs();
  lp.a = draw.matrix(m, n).cwiseAbs();
  lp.b = VectorXd::Constant(m, 10);
  for (Index i = 0; i < m; ++i) lp.sense.push_back(i % 10 == 0 ? RowSense::equal : RowSense::less_equal);
  check_optimal(lp, solve(lp));
}

TEST("solve_matrix_game knows its classics and proves each value") {
  Monitor monitor;
  MatrixXd a(3, 3);
  a << 0, -1, 1, 1, 0, -1, -1, 1, 0;
  auto game = solve_matrix_game(a, LpOptions(), monitor);
  CHECK_NEAR(game.value, 0.0, 1e-12);
  CHECK_NEAR((game.row.array() - 1.0 / 3).matrix().norm() + (game.column.array() - 1.0 / 3).matrix().norm(), 0.0, 1e-10);
  MatrixXd b(2, 2);
  b << 3, -1, -2, 4;  // value (3*4 - 2)/(3 + 4 + 1 + 2), row plays 0.6, column 0.5
  game = solve_matrix_game(b, LpOptions(), monitor);
  CHECK_NEAR(game.value, 1.0, 1e-12);
  CHECK_NEAR(game.row[0], 0.6, 1e-12);
  CHECK_NEAR(game.column[0], 0.5, 1e-12);
  Draw draw{5};
  for (const double s : {1e-8, 1.0, 1e8}) {
    const MatrixXd c = s * draw.matrix(12, 17);
    game = solve_matrix_game(c, LpOptions(), monitor);
    CHECK(game.convergence.gap <= 1e-9 && game.convergence.gap >= -1e-12);
    CHECK((c * game.column).maxCoeff() <= game.value + 1e-9 * s);
    CHECK((c.transpose() * game.row).minCoeff() >= game.value - 1e-9 * s);
  }
  game = solve_matrix_game(MatrixXd::Constant(2, 3, 7.0), LpOptions(), monitor);
  CHECK_NEAR(game.value, 7.0, 1e-12);
}

TEST("solve_matrix_game takes few pivots where every strategy is as good as the next at the start") {
  Monitor monitor;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    Rng rng(seed);
    const Index k = 200 + 20 * static_cast<Index>(seed), l = 30 + 8 * static_cast<Index>(seed);
    MatrixXd u(k, l);  // votes right or wrong: rows through the origin, ties everywhere
    for (Index i = 0; i < u.size(); ++i) u.data()[i] = rng.bernoulli(0.65) ? 1 : -1;
    const GameSolution game = solve_matrix_game(u, LpOptions(), monitor), other = solve_matrix_game(-u.transpose(), LpOptions(), monitor);
    CHECK(game.convergence.converged && game.convergence.iterations < 10 * (k + l));
    CHECK(other.convergence.converged && other.convergence.iterations < 10 * (k + l));
    CHECK_NEAR(game.value, -other.value, 1e-9);
  }
  // the same strategies many times over
  MatrixXd twice = MatrixXd::Zero(60, 60);
  for (Index i = 0; i < 60; ++i)
    for (Index j = 0; j < 60; ++j) twice(i, j) = i % 3 == j % 3 ? -1 : 1;
  CHECK_NEAR(solve_matrix_game(twice, LpOptions(), monitor).value, 1.0 / 3, 1e-9);
}

TEST("solve_lp says what is wrong with its input") {
  LinearProgram lp = make(2, 1);
  lp.b = VectorXd::Zero(2);
  CHECK_THROWS(solve(lp), InputError);
  lp = make(2, 1);
  lp.a = MatrixXd::Zero(1, 3);
  CHECK_THROWS(solve(lp), InputError);
  lp = make(2, 1);
  lp.c[0] = std::nan("");
  CHECK_THROWS(solve(lp), InputError);
  lp = make(2, 1);
  lp.upper[0] = std::nan("");
  CHECK_THROWS(solve(lp), InputError);
  Monitor monitor;
  CHECK_THROWS(solve_matrix_game(MatrixXd(0, 2), LpOptions(), monitor), InputError);
}

TEST("entries left by rounding do not hide violated rows") {
  // min t subject to |u| <= 1, u >= 3 - t, with zeros that rounding has filled: t = 2
  for (double dust : {0.0, 1e-17, 1e-15}) {
    LinearProgram lp;
    lp.a = MatrixXd::Constant(4, 3, dust);
    lp.a(0, 0) = 1;
    lp.a(1, 0) = -1;
    lp.a(2, 0) = -1;
    lp.a(2, 2) = -1;
    lp.a(3, 1) = 1;
    lp.b = VectorXd::Ones(4);
    lp.b(2) = -3;
    lp.c = VectorXd::Unit(3, 2);
    lp.lower = VectorXd::Constant(3, -1e3);
    lp.upper = VectorXd::Constant(3, 1e3);
    lp.lower(2) = 0;
    Monitor quiet;
    const LpResult result = solve_lp(lp, LpOptions(), quiet);
    CHECK(result.status == LpStatus::optimal);
    CHECK(std::abs(result.objective - 2) < 1e-8);
    CHECK((lp.a * result.x - lp.b).maxCoeff() < 1e-8);
  }
}
