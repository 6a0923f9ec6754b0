#include "graph/glasso_barrier.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/linalg/dense.h"

namespace granary::graph {

namespace {

struct Pair {
  Index i, j;
  double bound;  // infinite where the entry of X is to be zero
};

// The pairs whose V is not fixed.
std::vector<Pair> moving_pairs(const Penalty& lambda, Index p) {
  std::vector<Pair> pairs;
  for (Index j = 0; j < p; ++j) {
    for (Index i = 0; i < j; ++i) {
      const double l = lambda(i, j);
      if (l > 0) pairs.push_back({i, j, l < Penalty::forbidden ? l : INFINITY});
    }
  }
  return pairs;
}

// The operator D -> X D X over the pairs, and `added` on its diagonal; lower triangle.
void fill_system(const std::vector<Pair>& pairs, const MatrixXd& x, const VectorXd& added, MatrixXd& system) {
  const Index m = static_cast<Index>(pairs.size());
  for (Index c = 0; c < m; ++c) {
    const double* xk = x.data() + x.rows() * pairs[c].i;
    const double* xl = x.data() + x.rows() * pairs[c].j;
    double* out = system.data() + m * c;
    for (Index r = c; r < m; ++r) {
      const Pair& e = pairs[r];
      out[r] = xk[e.i] * xl[e.j] + xl[e.i] * xk[e.j];
    }
    out[c] += added[c];
  }
}

// The largest step up to one that keeps v + step * change above a hundredth of v.
double inside(const VectorXd& v, const VectorXd& change) {
  double step = 1;
  for (Index k = 0; k < v.size(); ++k) {
    if (change[k] < 0 && std::isfinite(v[k])) step = std::min(step, -0.99 * v[k] / change[k]);
  }
  return step;
}

}  // namespace

std::optional<SparseMatrix> glasso_barrier(const ConstMatrixRef& s, const Penalty& lambda, double tol, Monitor& monitor) {
  const Index p = s.rows();
  const std::vector<Pair> pairs = moving_pairs(lambda, p);
  const Index m = static_cast<Index>(pairs.size());
  MatrixXd v = s;
  for (Index i = 0; i < p; ++i) v(i, i) += lambda(i, i);
  Llt factor(v);
  if (factor.info() != Eigen::Success) return std::nullopt;
  const MatrixXd identity = MatrixXd::Identity(p, p);
  MatrixXd x = factor.solve(identity), system(m, m);

  VectorXd u(m), l(m), a(m), b(m);
  double mu = 0;
  for (const Pair& e : pairs) mu += std::isfinite(e.bound) ? e.bound * std::abs(x(e.i, e.j)) / static_cast<double>(m) : 0;
  for (Index k = 0; k < m; ++k) {
    u[k] = l[k] = pairs[k].bound;
    a[k] = b[k] = mu / pairs[k].bound;  // 0 for a forbidden entry, and stays so
  }
  VectorXd added(m), right(m), step(m), up(m), down(m);
  constexpr int most = 200;
  for (int t = 0; t < most; ++t) {
    monitor.check();
    double product = 0, scale = 0, apart = 0;
    for (Index k = 0; k < m; ++k) {
      if (!std::isfinite(u[k])) continue;
      product += a[k] * u[k] + b[k] * l[k];
      scale += pairs[k].bound * std::abs(x(pairs[k].i, pairs[k].j));
      apart += pairs[k].bound * std::abs(x(pairs[k].i, pairs[k].j) - a[k] + b[k]);
    }
    if (product <= tol * scale && apart <= tol * scale) break;
    mu = std::max(0.1 * product / (2.0 * static_cast<double>(m)), 1e-18 * scale / static_cast<double>(m));
    for (Index k = 0; k < m; ++k) {
      const bool bounded = std::isfinite(u[k]);
      added[k] = bounded ? a[k] / u[k] + b[k] / l[k] : 0;
      right[k] = x(pairs[k].i, pairs[k].j) + (bounded ? mu / l[k] - mu / u[k] : 0);
    }
    fill_system(pairs, x, added, system);
    // In units of its diagonal: it spans many orders of magnitude towards the end.
    const VectorXd unit = system.diagonal().cwiseSqrt().cwiseInverse();
    system = unit.asDiagonal() * system * unit.asDiagonal();
    const LltInPlace solver(system);
    if (solver.info() != Eigen::Success) break;
    step = unit.cwiseProduct(right);
    solver.solveInPlace(step);
    step = unit.cwiseProduct(step);
    for (Index k = 0; k < m; ++k) {
      const bool bounded = std::isfinite(u[k]);
      up[k] = bounded ? mu / u[k] - a[k] + a[k] / u[k] * step[k] : 0;
      down[k] = bounded ? mu / l[k] - b[k] - b[k] / l[k] * step[k] : 0;
    }
    double alpha = std::min(inside(u, -step), inside(l, step));
    const double beta = std::min(inside(a, up), inside(b, down));
    MatrixXd next;
    for (;; alpha *= 0.5) {
      if (alpha < 1e-12) return std::nullopt;
      next = v;
      for (Index k = 0; k < m; ++k) next(pairs[k].i, pairs[k].j) = next(pairs[k].j, pairs[k].i) += alpha * step[k];
      factor.compute(next);
      if (factor.info() == Eigen::Success) break;
    }
    v = std::move(next);
    x = factor.solve(identity);
    u -= alpha * step;
    l += alpha * step;
    a += beta * up;
    b += beta * down;
  }
  if (!x.allFinite()) return std::nullopt;

  std::vector<Eigen::Triplet<double>> entries;
  for (Index i = 0; i < p; ++i) entries.emplace_back(static_cast<int>(i), static_cast<int>(i), x(i, i));
  std::vector<char> fixed(static_cast<std::size_t>(p * p), 1);
  for (Index k = 0; k < m; ++k) {
    const Pair& e = pairs[k];
    fixed[static_cast<std::size_t>(e.i + p * e.j)] = 0;
    // Away from both bounds the multipliers vanish, and the entry with them.
    const bool at_bound = std::isfinite(e.bound) && std::min(u[k], l[k]) < 1e-3 * e.bound;
    if (at_bound) entries.emplace_back(static_cast<int>(e.i), static_cast<int>(e.j), 0.5 * (x(e.i, e.j) + x(e.j, e.i)));
  }
  for (Index j = 0; j < p; ++j) {
    for (Index i = 0; i < j; ++i) {
      if (fixed[static_cast<std::size_t>(i + p * j)]) entries.emplace_back(static_cast<int>(i), static_cast<int>(j), x(i, j));
    }
  }
  SparseMatrix upper(p, p);
  upper.setFromTriplets(entries.begin(), entries.end());
  return upper;
}

}  // namespace granary::graph
