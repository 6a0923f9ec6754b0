#include "process/ec_loops.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/linalg/small.h"

namespace granary::process {

namespace {

// What every loop does before a sweep: look at the state, note how far it is, and stop when that is near enough or hopeless.
// Keeps the best parameters seen.
class Record {
 public:
  // The double loop has a free energy of its own, that of its inner maximum.
  Record(const EcLoop& loop, EcTrace& trace, Monitor& monitor, bool energy = true)
      : loop_(loop), trace_(trace), monitor_(monitor), energy_(energy) {}

  bool next(const EcState& state, EcView& now) {
    if (sweep_ >= loop_.max_iter) return false;
    monitor_.progress(static_cast<double>(sweep_++) / loop_.max_iter);
    now = view(state);
    trace_.residual.push_back(now.residual);
    if (energy_) trace_.free_energy.push_back(-now.log_z);
    since_ = now.residual < 0.9 * best_ ? 0 : since_ + 1;
    if (now.residual < best_) {
      best_ = now.residual;
      r_ = state.r;
    }
    return !done() && since_ < loop_.patience && std::isfinite(now.residual);
  }
  bool finish(EcState& state) const {
    if (r_.gamma.size() > 0) state.r = r_;
    state.refresh();
    return done();
  }

 private:
  bool done() const { return best_ <= loop_.tol; }

  const EcLoop& loop_;
  EcTrace& trace_;
  Monitor& monitor_;
  bool energy_;
  EcParameters r_;
  double best_ = std::numeric_limits<double>::infinity();
  int since_ = 0, sweep_ = 0;
};

// g + sinh(2 g) / 2 = c: the stationary point (35) of one spin, by Newton steps from above the root of the convex side.
double solve_spin(double c) {
  const double size = std::abs(c);
  double g = std::min(0.5 * std::asinh(2 * size), 0.5 * size + 1e-300);
  // g is now an upper bound of the root: sinh(2 g) / 2 <= c, and g + sinh(2 g) / 2 >= 2 g.
  for (int step = 0; step < 100; ++step) {
    const double slope = 1 + std::cosh(2 * g), move = (g + 0.5 * std::sinh(2 * g) - size) / slope;
    g -= move;
    if (std::abs(move) <= 1e-15 * (1 + g)) break;
  }
  return std::copysign(g, c);
}

struct Pair {
  double mean_i, mean_j, second;
};

// Minimises -H(p) - 1/2 log det(second moments - m m') - a m_i - b m_j + k <x_i x_j> over the laws p of two spins: the inner
// problem of one edge in its moments, strictly convex, by Newton steps that stay inside.
Pair solve_pair(Pair at, double a, double b, double k) {
  const double signs[4][3] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
  const auto value = [&](const Eigen::Vector3d& u, Eigen::Vector3d* gradient, Eigen::Matrix3d* hessian) {
    double f = -a * u[0] - b * u[1] + k * u[2];
    const double det = 1 - u.squaredNorm() + 2 * u[0] * u[1] * u[2];
    if (!(det > 0)) return std::numeric_limits<double>::infinity();
    f -= 0.5 * std::log(det);
    if (gradient != nullptr) {
      const Eigen::Vector3d slope = 2 * Eigen::Vector3d(u[1] * u[2] - u[0], u[0] * u[2] - u[1], u[0] * u[1] - u[2]);
      Eigen::Matrix3d bend;
      bend << -2, 2 * u[2], 2 * u[1], 2 * u[2], -2, 2 * u[0], 2 * u[1], 2 * u[0], -2;
      *gradient = Eigen::Vector3d(-a, -b, k) - 0.5 * slope / det;
      *hessian = -0.5 * (bend / det - slope * slope.transpose() / (det * det));
    }
    for (const auto& sign : signs) {
      const Eigen::Vector3d s(sign[0], sign[1], sign[2]);
      const double p = 0.25 * (1 + s.dot(u));
      if (!(p > 0)) return std::numeric_limits<double>::infinity();
      f += p * std::log(p);
      if (gradient != nullptr) {
        *gradient += 0.25 * std::log(p) * s;
        *hessian += s * s.transpose() / (16 * p);
      }
    }
    return f;
  };
  Eigen::Vector3d u(at.mean_i, at.mean_j, at.second), gradient;
  Eigen::Matrix3d hessian;
  double f = value(u, nullptr, nullptr);
  while (!std::isfinite(f) || 1 - u.squaredNorm() + 2 * u[0] * u[1] * u[2] < 1e-12) {  // rounding put it on the boundary
    u *= 1 - 1e-6;
    f = value(u, nullptr, nullptr);
    if (u.norm() >= 0.5) continue;
    break;
  }
  if (!u.allFinite()) {  // couplings too large to compute with: the caller sees a residual that is not finite
    const double nan = std::numeric_limits<double>::quiet_NaN();
    return {nan, nan, nan};
  }
  for (int step = 0; step < 100; ++step) {
    value(u, &gradient, &hessian);
    const Eigen::Vector3d move = hessian.ldlt().solve(-gradient);
    const double fall = -gradient.dot(move);
    if (!(fall > 1e-28)) break;
    double t = 1, next = value(u + move, nullptr, nullptr);
    while (!(next <= f - 1e-4 * t * fall) && t > 1e-12) {
      t *= 0.5;
      next = value(u + t * move, nullptr, nullptr);
    }
    if (t <= 1e-12) break;
    u += t * move;
    f = next;
    if (fall < 1e-22) break;
  }
  return {u[0], u[1], u[2]};
}

// One inner update at fixed s: the marginal of r (and of q) on spin i, or on the spins of edge e. q = s - r.
void inner_node(EcState& state, const EcParameters& s, Index i) {
  const double v = state.chi(i, i), g = solve_spin(state.mean[i] / v + s.gamma[i] - state.r.gamma[i]);
  const double variance = std::max(smallest_spin_variance, 4 * std::exp(-2 * log_two_cosh(g)));
  state.replace_node(i, std::tanh(g), variance);
}

void inner_edge(EcState& state, const EcParameters& s, Index e) {
  const EcParameters q = difference(s, state.r);
  const BinaryForest spins = binary_inference(q, state.forest);
  const auto [i, j] = state.forest.edges[e];
  // The fields that the rest of the tree sends to the two spins.
  const int child = state.forest.parent[i] == j ? i : j, parent = child == i ? j : i;
  const double at_child = spins.field[child] - spins.down[child] - q.gamma[child];
  const double at_parent = spins.field[parent] - spins.up[child] - q.gamma[parent];
  Eigen::Matrix2d marginal;
  marginal << state.chi(i, i), state.chi(i, j), state.chi(i, j), state.chi(j, j);
  const Eigen::Matrix2d precision = marginal.inverse();
  const Eigen::Vector2d shift = precision * Eigen::Vector2d(state.mean[i], state.mean[j]);
  const double a = shift[0] + q.gamma[i] + (child == i ? at_child : at_parent);
  const double b = shift[1] + q.gamma[j] + (child == i ? at_parent : at_child);
  const EcMoments& m = spins.moments;
  const Pair pair = solve_pair({m.mean[i], m.mean[j], m.edge[e] + m.mean[i] * m.mean[j]}, a, b, precision(0, 1) + q.edge[e]);
  const double vi = std::max(smallest_spin_variance, 1 - pair.mean_i * pair.mean_i);
  const double vj = std::max(smallest_spin_variance, 1 - pair.mean_j * pair.mean_j);
  state.replace_pair(e, pair.mean_i, pair.mean_j, vi, vj, proper_covariance(vi, vj, pair.second - pair.mean_i * pair.mean_j));
}

// f(edge or node) for every edge, and every node without one.
template <class Edge, class Node>
void for_units(const EcForest& forest, const Edge& edge, const Node& node) {
  for (std::size_t e = 0; e < forest.edges.size(); ++e) edge(static_cast<Index>(e));
  for (Index i = 0; i < forest.size(); ++i) {
    if (forest.degree[i] == 0) node(i);
  }
}

}  // namespace

bool ec_parallel(EcState& state, const EcLoop& loop, EcTrace& trace, Monitor& monitor) {
  Record record(loop, trace, monitor);
  EcView now;
  while (record.next(state, now)) {
    const EcParameters old = state.r, to = difference(gaussian_parameters(now.spins.moments, state.forest), now.q);
    double share = loop.damping;
    bool proper = false;
    for (int half = 0; half < 40 && !proper; ++half, share *= 0.5) {
      state.r.gamma = old.gamma + share * (to.gamma - old.gamma);
      state.r.lambda = old.lambda + share * (to.lambda - old.lambda);
      state.r.edge = old.edge + share * (to.edge - old.edge);
      proper = state.refresh();
    }
    if (!proper) break;
  }
  return record.finish(state);
}

// Appendix D. With the moments of q_i under its cavity put in place of the marginal of r, damped in the natural parameters, r
// stays proper whatever q says.
bool ec_sequential(EcState& state, const EcLoop& loop, EcTrace& trace, Monitor& monitor) {
  Record record(loop, trace, monitor);
  EcView now;
  while (record.next(state, now)) {
    for (Index i = 0; i < state.size(); ++i) {
      monitor.check();
      const double v = state.chi(i, i), h = state.mean[i] / v, g = h - state.r.gamma[i];
      const double to_variance = std::max(smallest_spin_variance, 4 * std::exp(-2 * log_two_cosh(g)));
      const double precision = 1 / v + loop.damping * (1 / to_variance - 1 / v);
      const double shift = h + loop.damping * (std::tanh(g) / to_variance - h);
      state.replace_node(i, shift / precision, 1 / precision);
    }
    if (!state.refresh()) break;
  }
  return record.finish(state);
}

bool ec_greedy(EcState& state, const EcLoop& loop, EcTrace& trace, Monitor& monitor) {
  Record record(loop, trace, monitor);
  EcView now;
  while (record.next(state, now)) {
    const auto separator = [&] { return gaussian_parameters(state.moments(), state.forest); };
    for_units(
        state.forest,
        [&](Index e) {
          monitor.check();
          inner_edge(state, separator(), e);
        },
        [&](Index i) {
          monitor.check();
          inner_node(state, separator(), i);
        });
    if (!state.refresh()) break;
  }
  return record.finish(state);
}

// Moments of r at the inner maximum become those of s; r itself is kept, so that the next inner problem starts at a proper point.
bool ec_double(EcState& state, const EcLoop& loop, EcTrace& trace, Monitor& monitor) {
  Record record(loop, trace, monitor, false);
  EcView now;
  while (record.next(state, now)) {
    const EcParameters s = gaussian_parameters(now.s, state.forest);
    const double log_zs = gaussian_log_z(now.s, state.forest), target = std::min(1e-10, 1e-3 * now.residual);
    double free_energy = 0, nearest = std::numeric_limits<double>::infinity();
    int still = 0;
    for (int inner = 0; inner < 100 && still < 5; ++inner) {
      for_units(
          state.forest,
          [&](Index e) {
            monitor.check();
            inner_edge(state, s, e);
          },
          [&](Index i) {
            monitor.check();
            inner_node(state, s, i);
          });
      if (!state.refresh()) return record.finish(state);
      const BinaryForest spins = binary_inference(difference(s, state.r), state.forest);
      free_energy = -spins.log_z - state.log_zr() + log_zs;
      const double gap = state.residual(spins.moments);
      if (gap <= target) break;
      still = gap < 0.9 * nearest ? 0 : still + 1;
      nearest = std::min(nearest, gap);
    }
    trace.free_energy.push_back(free_energy);
  }
  return record.finish(state);
}

}  // namespace granary::process
