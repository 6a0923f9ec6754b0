#include "ensemble/linear01.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/linalg/dense.h"

namespace granary::ensemble {

namespace {

constexpr double pi = 3.14159265358979323846;
const double infinity = std::numeric_limits<double>::infinity();

struct Problem {
  MatrixXd x;        // columns brought to one scale
  VectorXd up, down; // cost of calling a row -1, 1
  VectorXd center, scale;
  double weight = 0;
};

Problem problem_of(ConstMatrixRef x, ConstVectorRef y, ConstVectorRef weight, const Linear01Options& o) {
  const Index n = x.rows();
  if (y.size() != n || weight.size() != n) throw InputError(message("there must be one label and one weight per row, ", n, "."));
  require(o.false_positive > 0 && o.false_negative > 0, "costs must be above 0.");
  if (!(weight.minCoeff() >= 0) || !(weight.sum() > 0)) throw InputError("weights must not be negative, nor all zero.");
  Problem p;
  p.center = x.colwise().mean().transpose();
  p.x = x.rowwise() - p.center.transpose();
  p.scale = p.x.cwiseAbs().colwise().maxCoeff().transpose();
  p.scale = (p.scale.array() > 0).select(p.scale, 1.0);
  p.x = p.x.array().rowwise() / p.scale.transpose().array();
  p.up = p.down = VectorXd::Zero(n);
  for (Index i = 0; i < n; ++i) (y[i] > 0 ? p.up : p.down)[i] = weight[i] * (y[i] > 0 ? o.false_negative : o.false_positive);
  p.weight = weight.sum();
  return p;
}

double cost_of(const Problem& p, const VectorXd& w, double b) {
  double sum = 0;
  const VectorXd f = p.x * w;
  for (Index i = 0; i < f.size(); ++i) sum += f[i] + b > 0 ? p.down[i] : p.up[i];
  return sum;
}

struct Line {
  VectorXd w;
  double b = 0, cost = infinity;
};

// The best threshold along direction w: label 1 where w'x > t.
Line best_threshold(const Problem& p, const VectorXd& w) {
  const VectorXd f = p.x * w;
  std::vector<Index> order(static_cast<std::size_t>(f.size()));
  std::iota(order.begin(), order.end(), Index(0));
  std::sort(order.begin(), order.end(), [&](Index a, Index c) { return f[a] < f[c]; });
  Line best;
  best.w = w;
  double cost = p.down.sum();  // all called 1
  best.cost = cost;
  best.b = -f[order[0]] + 1;
  for (std::size_t i = 0; i < order.size(); ++i) {
    cost += p.up[order[i]] - p.down[order[i]];
    const bool tied = i + 1 < order.size() && f[order[i + 1]] == f[order[i]];
    if (tied || !(cost < best.cost)) continue;
    best.cost = cost;
    best.b = i + 1 < order.size() ? -(f[order[i]] + (f[order[i + 1]] - f[order[i]]) / 2) : -f[order[i]] - 1;
  }
  return best;
}

// ---- the plane
// -------------------------------------------------------------------------------------------------------------------

// All lines through row `pivot`, turned once round. The line at angle theta has direction u = (cos, sin) and normal (-sin,
// cos): rows with
// angle in (theta, theta + pi) are on its positive side.
Line turn_about(const Problem& p, Index pivot) {
  const Index n = p.x.rows();
  struct Event {
    double angle;  // in [0, pi)
    Index row;
    bool above;    // on the positive side before the line gets there
  };
  std::vector<Event> events;
  double one = 0, other = 0, own_up = 0, own_down = 0;  // cost of calling the positive side 1, of calling it -1
  for (Index j = 0; j < n; ++j) {
    const double dx = p.x(j, 0) - p.x(pivot, 0), dy = p.x(j, 1) - p.x(pivot, 1);
    if (dx == 0 && dy == 0) {
      own_up += p.up[j];
      own_down += p.down[j];
      continue;
    }
    double angle = std::atan2(dy, dx);
    bool above = true;  // angles in (0, pi) lie above the line at theta = 0
    if (angle < 0) {
      angle += pi;
      above = false;
    }
    if (angle >= pi) {
      angle = 0;
      above = false;
    }
    events.push_back({angle, j, above});
    // just before theta = 0 a row at angle 0 lies above, one at pi below
    one += above ? p.down[j] : p.up[j];
    other += above ? p.up[j] : p.down[j];
  }
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) { return a.angle < b.angle; });
  Line best;
  double best_angle = 0, best_side = 1, best_shift = 1;
  const double own = std::min(own_up, own_down);
  const auto consider = [&](double angle) {
    if (one + own < best.cost) {
      best.cost = one + own;
      best_angle = angle;
      best_side = 1;
      best_shift = own_down <= own_up ? 1 : -1;  // the pivot called 1: on the side that is
    }
    if (other + own < best.cost) {
      best.cost = other + own;
      best_angle = angle;
      best_side = -1;
      best_shift = own_down <= own_up ? -1 : 1;
    }
  };
  for (std::size_t i = 0; i <= events.size();) {
    const double before = i == 0 ? (events.empty() ? 0 : events.back().angle - pi) : events[i - 1].angle;
    const double next = i == events.size() ? (events.empty() ? pi : events.front().angle + pi) : events[i].angle;
    if (next - before > 1e-14) consider(before + (next - before) / 2);
    if (i == events.size()) break;
    const double at = events[i].angle;
    for (; i < events.size() && events[i].angle == at; ++i) {
      const Event& e = events[i];
      const double swing = e.above ? p.up[e.row] - p.down[e.row] : p.down[e.row] - p.up[e.row];
      one += swing;
      other -= swing;
    }
  }
  if (best.cost == infinity) return best;
  VectorXd normal(2);
  normal << -std::sin(best_angle), std::cos(best_angle);
  const VectorXd f = p.x * normal;
  const double at = f[pivot];
  double near = 1;  // the next row off the line
  for (Index j = 0; j < n; ++j)
    if (p.x(j, 0) != p.x(pivot, 0) || p.x(j, 1) != p.x(pivot, 1)) near = std::min(near, std::abs(f[j] - at));
  // the pivot on the normal's side where shift is 1
  best.w = best_side * normal;
  best.b = best_side * (-at + best_shift * near / 2);
  return best;
}

Line best_line(const Problem& p, const Linear01Options& o, Monitor& monitor) {
  const Index n = p.x.rows();
  std::vector<Line> found(static_cast<std::size_t>(n));
  parallel_for(n, o.threads, monitor, [&](Index i) {
    monitor.check();
    found[static_cast<std::size_t>(i)] = turn_about(p, i);
  });
  Line best = best_threshold(p, (VectorXd(2) << 1, 0).finished());
  double checked = cost_of(p, best.w, best.b);
  for (const Line& line : found) {
    if (!(line.cost < best.cost - 1e-12 * p.weight)) continue;
    best = line;
  }
  checked = cost_of(p, best.w, best.b);
  best.cost = checked;
  return best;
}

// ---- the search
// ------------------------------------------------------------------------------------------------------------------

// The best value of coefficient k with the others fixed: rows change sides at t_i = -(rest_i)/x_ik.
void sweep(const Problem& p, Line& line, Index k) {
  const Index n = p.x.rows();
  const VectorXd rest = (p.x * line.w - p.x.col(k) * line.w[k]).array() + line.b;
  struct Change {
    double at, cost;
  };
  std::vector<Change> changes;
  double cost = 0;  // for a coefficient of minus infinity
  for (Index i = 0; i < n; ++i) {
    const double z = p.x(i, k);
    if (z == 0) {
      cost += rest[i] > 0 ? p.down[i] : p.up[i];
    } else {
      const bool positive = z < 0;
      cost += positive ? p.down[i] : p.up[i];
      changes.push_back({-rest[i] / z, positive ? p.up[i] - p.down[i] : p.down[i] - p.up[i]});
    }
  }
  if (changes.empty()) return;
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) { return a.at < b.at; });
  double best = infinity, value = line.w[k];
  if (cost < best) {
    best = cost;
    value = changes.front().at - 1;
  }
  for (std::size_t i = 0; i < changes.size();) {
    const double at = changes[i].at;
    for (; i < changes.size() && changes[i].at == at; ++i) cost += changes[i].cost;
    if (cost >= best) continue;
    best = cost;
    value = i < changes.size() ? at + (changes[i].at - at) / 2 : at + 1;
  }
  VectorXd w = line.w;
  w[k] = value;
  const double real = cost_of(p, w, line.b);  // in double precision, not by counting
  if (real < line.cost) {
    line.w = w;
    line.cost = real;
  }
}

Line search_from(const Problem& p, const VectorXd& start, const Linear01Options& o, Monitor& monitor) {
  Line line = best_threshold(p, start);
  const Line opposite = best_threshold(p, -start);
  if (opposite.cost < line.cost) line = opposite;
  line.cost = cost_of(p, line.w, line.b);
  for (int round = 0; round < o.max_iter; ++round) {
    const double before = line.cost;
    for (Index k = 0; k < p.x.cols(); ++k) {
      monitor.check();
      sweep(p, line, k);
      const Line shifted = best_threshold(p, line.w);
      const double real = cost_of(p, shifted.w, shifted.b);
      if (real < line.cost) {
        line.b = shifted.b;
        line.cost = real;
      }
    }
    if (!(line.cost < before)) break;
  }
  return line;
}

}  // namespace

double half_space_risk(ConstMatrixRef x, ConstVectorRef y, ConstVectorRef weight, ConstVectorRef w, double b,
    const Linear01Options& o) {
  double sum = 0;
  for (Index i = 0; i < x.rows(); ++i) {
    const bool up = x.row(i).dot(w) + b > 0;
    if (up != (y[i] > 0)) sum += weight[i] * (y[i] > 0 ? o.false_negative : o.false_positive);
  }
  return sum / weight.sum();
}

Linear01 linear01(ConstMatrixRef x, ConstVectorRef y, ConstVectorRef weight, const Linear01Options& o, Rng& rng, Monitor&
    monitor) {
  const Problem p = problem_of(x, y, weight, o);
  const Index n = x.rows(), d = x.cols();
  require(d >= 1, "there must be at least one column.");
  Line best;
  Linear01 out;
  out.exact = o.exact && d <= 2;
  if (out.exact && d == 2) {
    best = best_line(p, o, monitor);
  } else if (out.exact) {
    best = best_threshold(p, VectorXd::Ones(1));
    const Line opposite = best_threshold(p, -VectorXd::Ones(1));
    if (opposite.cost < best.cost) best = opposite;
  } else {
    std::vector<VectorXd> starts;
    MatrixXd design(n, d + 1);
    design.col(0).setOnes();
    design.rightCols(d) = p.x;
    VectorXd target(n);
    for (Index i = 0; i < n; ++i) target[i] = y[i] > 0 ? 1 : -1;
    const VectorXd fitted = PivotedQr(design).solve(target);
    if (fitted.tail(d).norm() > 0) starts.push_back(fitted.tail(d).normalized());
    for (int s = 0; s < o.n_starts; ++s) starts.push_back(rng.normals(d).normalized());
    std::vector<Line> found(starts.size());
    parallel_for(static_cast<Index>(starts.size()), o.threads, monitor, [&](Index s) {
      found[static_cast<std::size_t>(s)] = search_from(p, starts[static_cast<std::size_t>(s)], o, monitor);
    });
    for (const Line& line : found)
      if (line.cost < best.cost) best = line;
  }
  // back to the columns as they came
  VectorXd w = best.w.array() / p.scale.array();
  const double length = w.norm();
  double b = best.b - w.dot(p.center);
  if (length > 0) {
    w /= length;
    b /= length;
  }
  out.coefficients = w;
  out.intercept = b;
  out.risk = half_space_risk(x, y, weight, w, b, o);
  return out;
}

}  // namespace granary::ensemble
