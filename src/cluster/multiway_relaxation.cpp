#include "cluster/multiway_relaxation.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/optim/lp.h"
#include "core/prox/proximal.h"

namespace granary::cluster {

namespace {

// Free nodes have positions to be found; an edge to terminal t costs w (1 - x_vt), which is linear, one between terminals is a constant.
struct Problem {
  Index k = 0, free = 0;
  std::vector<int> number;            // of a node among the free ones, or -1 - t for terminal t
  MatrixXd linear;                    // free x k
  double constant = 0;
  std::vector<int> a, b;              // edges between free nodes
  VectorXd weight;

  Problem(const WeightedEdges& g, const std::vector<Index>& terminals) : k(static_cast<Index>(terminals.size())), number(static_cast<std::size_t>(g.nodes), 0) {
    for (std::size_t t = 0; t < terminals.size(); ++t) number[static_cast<std::size_t>(terminals[t])] = -1 - static_cast<int>(t);
    for (int& v : number)
      if (v >= 0) v = static_cast<int>(free++);
    linear = MatrixXd::Zero(free, k);
    std::vector<double> w;
    for (Index e = 0; e < g.size(); ++e) {
      int u = number[static_cast<std::size_t>(g.from[e])], v = number[static_cast<std::size_t>(g.to[e])];
      if (u < 0 && v < 0) {
        constant += g.weight[e];
      } else if (u >= 0 && v >= 0) {
        a.push_back(u);
        b.push_back(v);
        w.push_back(g.weight[e]);
      } else {
        if (u < 0) std::swap(u, v);
        constant += g.weight[e];
        linear(u, -1 - v) -= g.weight[e];
      }
    }
    weight = Eigen::Map<VectorXd>(w.data(), static_cast<Index>(w.size()));
  }

  double value(const MatrixXd& x) const {
    double total = constant + linear.cwiseProduct(x).sum();
    for (Index e = 0; e < weight.size(); ++e) total += weight[e] / 2 * (x.row(a[static_cast<std::size_t>(e)]) - x.row(b[static_cast<std::size_t>(e)])).cwiseAbs().sum();
    return total;
  }
  // linear + K'y, whose least entry in every row is what the best x pays.
  MatrixXd slopes(const MatrixXd& y) const {
    MatrixXd out = linear;
    for (Index e = 0; e < weight.size(); ++e) {
      out.row(a[static_cast<std::size_t>(e)]) += y.row(e);
      out.row(b[static_cast<std::size_t>(e)]) -= y.row(e);
    }
    return out;
  }
  double bound(const MatrixXd& y) const { return constant + (free > 0 ? slopes(y).rowwise().minCoeff().sum() : 0); }
};

// Columns: x (free k), then z_ei >= |x_ai - x_bi|.
bool by_simplex(const Problem& p, MatrixXd& x, MatrixXd& y, Monitor& monitor) {
  const Index edges = p.weight.size(), k = p.k, nx = p.free * k, nz = edges * k;
  LinearProgram lp;
  lp.c.resize(nx + nz);
  for (Index v = 0; v < p.free; ++v)
    for (Index i = 0; i < k; ++i) lp.c[v * k + i] = p.linear(v, i);
  for (Index e = 0; e < edges; ++e) lp.c.segment(nx + e * k, k).setConstant(p.weight[e] / 2);
  lp.a = MatrixXd::Zero(p.free + 2 * nz, nx + nz);
  lp.b = VectorXd::Zero(p.free + 2 * nz);
  lp.sense.assign(static_cast<std::size_t>(p.free + 2 * nz), RowSense::less_equal);
  for (Index v = 0; v < p.free; ++v) {
    lp.a.row(v).segment(v * k, k).setOnes();
    lp.b[v] = 1;
    lp.sense[static_cast<std::size_t>(v)] = RowSense::equal;
  }
  for (Index e = 0; e < edges; ++e)
    for (Index i = 0; i < k; ++i) {
      const Index row = p.free + 2 * (e * k + i);
      const Index u = p.a[static_cast<std::size_t>(e)] * k + i, v = p.b[static_cast<std::size_t>(e)] * k + i, z = nx + e * k + i;
      lp.a(row, u) = lp.a(row + 1, v) = 1;
      lp.a(row, v) = lp.a(row + 1, u) = -1;
      lp.a(row, z) = lp.a(row + 1, z) = -1;
    }
  const LpResult found = solve_lp(lp, LpOptions(), monitor);
  if (found.status != LpStatus::optimal) return false;
  for (Index v = 0; v < p.free; ++v) x.row(v) = found.x.segment(v * k, k).transpose();
  for (Index e = 0; e < edges; ++e)
    for (Index i = 0; i < k; ++i) {
      const Index row = p.free + 2 * (e * k + i);
      y(e, i) = std::clamp(found.dual[row + 1] - found.dual[row], -p.weight[e] / 2, p.weight[e] / 2);
    }
  return true;
}

void to_simplex(MatrixXd& x) {
  for (Index v = 0; v < x.rows(); ++v) x.row(v) = project_simplex(x.row(v).transpose()).transpose();
}

// Steps by degrees (Pock and Chambolle 2011): 1 / degree for x, 1/2 for y, in units of the mean weight.
int by_primal_dual(const Problem& p, double tol, int max_iter, MatrixXd& x, MatrixXd& y, Monitor& monitor) {
  const Index edges = p.weight.size();
  const double unit = std::max(p.weight.mean(), p.linear.cwiseAbs().maxCoeff() / static_cast<double>(p.k));
  VectorXd step = VectorXd::Zero(p.free);
  for (Index e = 0; e < edges; ++e) {
    step[p.a[static_cast<std::size_t>(e)]] += 1;
    step[p.b[static_cast<std::size_t>(e)]] += 1;
  }
  step = step.unaryExpr([](double degree) { return 1 / std::max(degree, 1.0); }) / unit;
  const auto gap_of = [&](const MatrixXd& at, const MatrixXd& dual) { return p.value(at) - p.bound(dual); };
  MatrixXd best_x = x, best_y = y, sum_x = MatrixXd::Zero(x.rows(), x.cols()), sum_y = MatrixXd::Zero(y.rows(), y.cols());
  double best_value = p.value(x), best_bound = p.bound(y), at_restart = gap_of(x, y);
  int since = 0, iter = 0;
  const auto keep = [&](const MatrixXd& at, const MatrixXd& dual) {
    const double value = p.value(at), bound = p.bound(dual);
    if (value < best_value) {
      best_value = value;
      best_x = at;
    }
    if (bound > best_bound) {
      best_bound = bound;
      best_y = dual;
    }
  };
  while (iter < max_iter && best_value - best_bound > tol * std::abs(best_value)) {
    for (int inner = 0; inner < 40 && iter < max_iter; ++inner, ++iter, ++since) {
      MatrixXd next = x - step.asDiagonal() * p.slopes(y);
      to_simplex(next);
      const MatrixXd ahead = 2 * next - x;
      for (Index e = 0; e < edges; ++e) {
        const double half = p.weight[e] / 2;
        for (Index i = 0; i < p.k; ++i)
          y(e, i) = std::clamp(y(e, i) + unit / 2 * (ahead(p.a[static_cast<std::size_t>(e)], i) - ahead(p.b[static_cast<std::size_t>(e)], i)), -half, half);
      }
      x = std::move(next);
      sum_x += x;
      sum_y += y;
    }
    monitor.check();
    const MatrixXd mean_x = sum_x / since, mean_y = sum_y / since;
    keep(x, y);
    keep(mean_x, mean_y);
    const double now = gap_of(x, y), mean = gap_of(mean_x, mean_y);
    if (std::min(now, mean) <= 0.3 * at_restart || since >= 4000) {
      if (mean < now) {
        x = mean_x;
        y = mean_y;
      }
      at_restart = std::min(now, mean);
      sum_x.setZero();
      sum_y.setZero();
      since = 0;
    }
  }
  x = best_x;
  y = best_y;
  return iter;
}

}  // namespace

MultiwayRelaxation relax_multiway(const WeightedEdges& g, const std::vector<Index>& terminals, double tol, int max_iter, Monitor& monitor) {
  const Stopwatch watch;
  const Problem p(g, terminals);
  MatrixXd x = MatrixXd::Constant(p.free, p.k, 1 / static_cast<double>(p.k)), y = MatrixXd::Zero(p.weight.size(), p.k);
  MultiwayRelaxation out;
  Convergence& c = out.convergence;
  if (p.free > 0 && p.weight.size() == 0) {  // every node on its own
    for (Index v = 0; v < p.free; ++v) {
      Index best = 0;
      p.linear.row(v).minCoeff(&best);
      x.row(v).setZero();
      x(v, best) = 1;
    }
    out.vertex = true;
  } else if (p.free > 0) {
    out.vertex = p.weight.size() * p.k <= 120 && by_simplex(p, x, y, monitor);
    if (!out.vertex) c.iterations = by_primal_dual(p, tol, max_iter, x, y, monitor);
  }
  out.value = p.value(x);
  out.bound = std::min(p.bound(y), out.value);
  out.position = MatrixXd::Zero(g.nodes, p.k);
  for (Index v = 0; v < g.nodes; ++v) {
    const int at = p.number[static_cast<std::size_t>(v)];
    if (at < 0) out.position(v, -1 - at) = 1;
    else out.position.row(v) = x.row(at);
  }
  c.gap = out.value > 0 ? (out.value - out.bound) / out.value : 0;
  c.converged = c.gap <= std::max(tol, 1e-9);
  if (!c.converged) c.message = message("the relaxation has a relative gap of ", c.gap, " left");
  c.seconds = watch.seconds();
  return out;
}

}  // namespace granary::cluster
