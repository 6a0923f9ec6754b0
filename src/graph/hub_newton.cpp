#include "graph/hub_newton.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/prox/proximal.h"

namespace granary::graph {

namespace {

constexpr char kFreeV = 1, kFreeZ = 2;

// argmin over x of  a/2 (x - c)^2 + l2/2 |x| + l3/2 sqrt(x^2 + rest^2), the update of one entry of V.
double entry_of_column(double a, double c, double l2, double l3, double rest) {
  const double pull = std::abs(a * c) - 0.5 * l2;
  if (pull <= 0) return 0;
  const double sign = c > 0 ? 1 : -1;
  if (l3 == 0) return sign * pull / a;
  if (rest == 0) return sign * std::max(pull - 0.5 * l3, 0.0) / a;
  // a x + l3/2 x / sqrt(x^2 + rest^2) = pull, increasing in x; Newton kept inside a bracket.
  double low = 0, high = pull / a, x = pull / (a + 0.5 * l3 / rest);
  for (int k = 0; k < 50; ++k) {
    const double norm2 = x * x + rest * rest, norm = std::sqrt(norm2);
    const double excess = a * x + 0.5 * l3 * x / norm - pull;
    (excess > 0 ? high : low) = x;
    double next = x - excess / (a + 0.5 * l3 * rest * rest / (norm2 * norm));
    if (!(next >= low && next <= high)) next = 0.5 * (low + high);
    const bool done = std::abs(next - x) <= 1e-14 * high;
    x = next;
    if (done) break;
  }
  return sign * x;
}

// One Newton step's worth of work: the free set, the direction on it, and V and Z at its end.
class HubDirection {
 public:
  HubDirection(HubModel& model, const HubPenalty& penalty, HubRegime regime, const HubState& state, Monitor& monitor)
      : model_(model), penalty_(penalty), state_(state), monitor_(monitor), p_(state.theta.rows()) {
    find_free_set(regime);
    model_.begin_direction(pattern_);
  }

  // Sweeps until the last one moved by less than `eta` of the first, in the metric of the curvatures.
  int solve(double eta, int max_sweeps) {
    double first = 0;
    for (int sweep = 1;; ++sweep) {
      double moved = 0;
      for (Index j = 0; j < p_; ++j) {
        monitor_.check();
        moved += settle_column(j);
      }
      for (int k = 0; k < 3; ++k) share_out();
      first = std::max(first, moved);
      if (moved <= eta * eta * first || sweep == max_sweeps) return sweep;
    }
  }

  double slope() const {  // <G, D>
    double sum = 0;
    each([&](Index i, Index j, int at) { sum += model_.gradient()(i, j) * d_[at]; });
    return sum;
  }

  // The point at `step` along the direction.
  HubState at(double step) const {
    HubState out = state_;
    each([&](Index i, Index j, int at) {
      if (i == j) {
        out.theta(i, i) += step * d_[at];
      } else {
        const bool whole = step == 1;  // exact zeros
        out.v(i, j) = whole ? v_[at] : state_.v(i, j) + step * (v_[at] - state_.v(i, j));
        out.z(i, j) = whole ? z_[at] : state_.z(i, j) + step * (z_[at] - state_.z(i, j));
      }
    });
    each([&](Index i, Index j, int) {
      if (i != j) out.theta(i, j) = out.v(i, j) + out.v(j, i) + out.z(i, j);
    });
    out.z.diagonal() = out.theta.diagonal();
    return out;
  }

 private:
  template <class Body>
  void each(Body&& body) const {
    for (Index j = 0; j < p_; ++j) {
      for (int at = pattern_.start[j]; at < pattern_.start[j + 1]; ++at) body(pattern_.row[at], j, at);
    }
  }

  void find_free_set(HubRegime regime) {
    const MatrixXd& g = model_.gradient();
    Eigen::Matrix<char, Eigen::Dynamic, Eigen::Dynamic> free(p_, p_);
    free.setZero();
    for (Index j = 0; j < p_; ++j) {
      const bool alive = (state_.v.col(j).array() != 0).any();
      const bool may = regime != HubRegime::no_hubs && (alive || dual_column_norm(penalty_, g, j) > penalty_.l3);
      for (Index i = 0; i < p_; ++i) {
        if (i == j) continue;
        if (state_.v(i, j) != 0 || (may && std::abs(2 * g(i, j)) > penalty_.l2)) free(i, j) |= kFreeV;
        if (state_.z(i, j) != 0 || (regime != HubRegime::hubs_only && std::abs(g(i, j)) > penalty_.l1)) free(i, j) |= kFreeZ;
      }
    }
    pattern_.start.assign(1, 0);
    for (Index j = 0; j < p_; ++j) {
      for (Index i = 0; i < p_; ++i) {
        if (i != j && !free(i, j) && !free(j, i)) continue;
        pattern_.row.push_back(static_cast<int>(i));
        free_.push_back(free(i, j));
      }
      pattern_.start.push_back(static_cast<int>(pattern_.row.size()));
    }
    pattern_.mirror.resize(pattern_.row.size());
    std::vector<int> next(pattern_.start.begin(), pattern_.start.end() - 1);
    v_.resize(pattern_.size());
    z_.resize(pattern_.size());
    d_ = VectorXd::Zero(pattern_.size());
    norm2_ = VectorXd::Zero(p_);
    each([&](Index i, Index j, int at) {  // columns in order: row j is the next one of column i
      pattern_.mirror[at] = next[i]++;
      v_[at] = i == j ? 0 : state_.v(i, j);
      z_[at] = i == j ? 0 : state_.z(i, j);
      norm2_[j] += v_[at] * v_[at];
    });
  }

  // The squared norm of column j without one entry, summed anew where the difference would cancel.
  double rest2(Index j, int without) const {
    const double own = v_[without] * v_[without], rest = norm2_[j] - own;
    if (rest > 1e-6 * own || own == 0) return std::max(rest, 0.0);
    double sum = 0;
    for (int at = pattern_.start[j]; at < pattern_.start[j + 1]; ++at) {
      if (at != without) sum += v_[at] * v_[at];
    }
    return sum;
  }

  void set_v(Index j, int at, double value) {
    const double rest = rest2(j, at);
    norm2_[j] = rest + value * value;
    v_[at] = value;
    if (value != 0) free_[at] |= kFreeV;
  }

  double move(int at, double by) {
    const Index k = at - first_;
    model_.move(k, by);
    d_[at] += by;
    return model_.curvature(k) * by * by;
  }

  // Passes over column j, until it has settled; returns the sum of curvature times squared change.
  double settle_column(Index j) {
    first_ = pattern_.start[j];
    const int last = pattern_.start[j + 1];
    model_.begin_column(j, d_);
    double moved = 0, before = 0;
    for (int pass = 0; pass < 4; ++pass) {
      double now = norm2_[j] == 0 ? leave_zero(j) : 0;
      const bool dead = norm2_[j] == 0;
      const double norm2 = norm2_[j];
      for (int at = first_; at < last; ++at) {
        const Index k = at - first_;
        const double a = model_.curvature(k);
        if (!(a > 0)) continue;
        if (pattern_.row[at] == j) {
          now += move(at, -model_.slope(k) / a);
          continue;
        }
        if (!dead && (free_[at] & kFreeV)) {
          const double old = v_[at];
          const double value = entry_of_column(a, old - model_.slope(k) / a, penalty_.l2, penalty_.l3, std::sqrt(rest2(j, at)));
          if (value != old) {
            set_v(j, at, value);
            now += move(at, value - old);
          }
        }
        if (free_[at] & kFreeZ) {
          const double old = z_[at];
          const double value = soft_threshold(old - model_.slope(k) / a, penalty_.l1 / a);
          if (value != old) {
            z_[at] = value;
            now += move(at, value - old);
          }
        }
      }
      if (!dead && norm2_[j] < 0.99 * norm2) now += try_zero(j);
      if (pass == 0 && norm2_[j] > 0) now += stretch(j);
      moved += now;
      if (now <= 1e-2 * before || now == 0) break;
      before = std::max(before, now);
    }
    for (int at = first_; at < last; ++at) {
      const int other = pattern_.mirror[at];
      d_[other] = d_[at];
      z_[other] = z_[at];
    }
    return moved;
  }

  // A zero column of V with ||soft(2 slope, l2)|| > l3 goes along that vector to the minimum on the ray.
  double leave_zero(Index j) {
    VectorXd u = VectorXd::Zero(pattern_.start[j + 1] - first_);
    for (Index k = 0; k < u.size(); ++k) {
      if (free_[first_ + k] & kFreeV) u[k] = -soft_threshold(2 * model_.slope(k), penalty_.l2);
    }
    return u.norm() > penalty_.l3 ? along(j, u) : 0;
  }

  // A short column is stiff but for its length: single entries would take long to change that.
  double stretch(Index j) { return along(j, v_.segment(first_, pattern_.start[j + 1] - first_)); }

  // Minimises over V_.j = v + t u, t >= -1, u = v unless v is zero; both penalties then grow by t times their value at u.
  double along(Index j, const VectorXd& u) {
    double slope = 0.5 * (penalty_.l2 * u.lpNorm<1>() + penalty_.l3 * u.norm()), bend = 0;
    for (Index k = 0; k < u.size(); ++k) {
      if (u[k] != 0) {
        slope += u[k] * model_.slope(k);
        bend -= u[k] * model_.slope(k);
      }
    }
    for (Index k = 0; k < u.size(); ++k) {
      if (u[k] != 0) model_.move(k, u[k]);
    }
    for (Index k = 0; k < u.size(); ++k) {
      if (u[k] != 0) bend += u[k] * model_.slope(k);
    }
    const double least = norm2_[j] > 0 ? -1 : 0, t = bend > 0 ? std::max(-slope / bend, least) : 0;
    double moved = 0;
    for (Index k = 0; k < u.size(); ++k) {
      if (u[k] == 0) continue;
      const int at = first_ + static_cast<int>(k);
      model_.move(k, (t - 1) * u[k]);
      d_[at] += t * u[k];
      v_[at] += t * u[k];
      moved += model_.curvature(k) * t * t * u[k] * u[k];
    }
    norm2_[j] = v_.segment(first_, u.size()).squaredNorm();
    return moved;
  }

  // A column that shrinks may belong at zero, where single entries would get to only in the limit.
  double try_zero(Index j) {
    const int last = pattern_.start[j + 1];
    for (int at = first_; at < last; ++at) {
      if (v_[at] != 0) model_.move(at - first_, -v_[at]);
    }
    double norm2 = 0, moved = 0;
    for (int at = first_; at < last; ++at) {
      if (!(free_[at] & kFreeV)) continue;
      const double excess = soft_threshold(2 * model_.slope(at - first_), penalty_.l2);
      norm2 += excess * excess;
    }
    const bool zero = norm2 <= penalty_.l3 * penalty_.l3;
    for (int at = first_; at < last; ++at) {
      if (v_[at] == 0) continue;
      if (zero) {
        d_[at] -= v_[at];
        moved += model_.curvature(at - first_) * v_[at] * v_[at];
        v_[at] = 0;
      } else {
        model_.move(at - first_, v_[at]);
      }
    }
    if (zero) norm2_[j] = 0;
    return moved;
  }

  // How V_ij, V_ji and Z_ij share their sum, pair by pair.
  void share_out() {
    const double part = penalty_.l3 > 0 ? (2 * penalty_.l1 - penalty_.l2) / penalty_.l3 : 0;
    each([&](Index i, Index j, int at) {
      if (i >= j) return;
      const int other = pattern_.mirror[at];
      if (v_[at] * v_[other] != 0 || (norm2_[i] > 0 && norm2_[j] > 0 && (v_[at] != 0 || v_[other] != 0))) {
        const double sum = v_[at] + v_[other];
        const double a = std::sqrt(rest2(j, at)), b = std::sqrt(rest2(i, other));
        if (a + b > 0 && penalty_.l3 > 0) {
          const double own = sum * (a / (a + b));
          set_v(j, at, own);
          set_v(i, other, sum - own);
        }
      }
      if (penalty_.l3 > 0 && z_[at] != 0) {
        z_[at] = with_z(j, at, part);
        z_[at] = with_z(i, other, part);
        z_[other] = z_[at];
      }
    });
  }

  double with_z(Index j, int at, double part) {
    const double z = z_[pattern_.row[at] < j ? at : pattern_.mirror[at]], sum = v_[at] + z;
    if (norm2_[j] == 0 || sum == 0) return z;
    const double rest = std::sqrt(rest2(j, at));
    const double wish = part <= 0 ? 0 : part >= 1 ? std::abs(sum) : rest * part / std::sqrt(1 - part * part);
    const double own = std::copysign(std::min(wish, std::abs(sum)), sum);
    set_v(j, at, own);
    return sum - own;
  }

  HubModel& model_;
  const HubPenalty& penalty_;
  const HubState& state_;
  Monitor& monitor_;
  Index p_;
  int first_ = 0;  // where the column being worked on begins
  HubPattern pattern_;
  std::vector<char> free_;
  VectorXd v_, z_, d_;  // V and Z at the end of the direction, and D, entry by entry of the pattern
  VectorXd norm2_;      // squared norms of the columns of V
};

}  // namespace

HubResult hub_newton(HubModel& model, const HubPenalty& penalty, const MatrixXd& diagonal_start, double gap_tol,
                     const HubOptions& options, const HubState* start, Monitor& monitor) {
  const Stopwatch clock;
  const Index p = diagonal_start.rows();
  const HubRegime regime = hub_regime(penalty, p);
  HubState state;
  if (start) {
    state = *start;
  } else {
    state.theta = state.z = diagonal_start;
    state.v = MatrixXd::Zero(p, p);
  }
  double loss = model.evaluate(state.theta);
  if (std::isnan(loss)) {  // a start that is of no use
    state.theta = state.z = diagonal_start;
    state.v = MatrixXd::Zero(p, p);
    loss = model.evaluate(state.theta);
    if (std::isnan(loss)) throw NumericalError("the loss has no value at the diagonal start; rescale the data.");
  }
  model.accept();
  double cost = hub_cost(penalty, state.v, state.z);

  HubResult out;
  std::vector<HubStep> trace;
  Convergence end;
  for (int t = 0;; ++t) {
    monitor.check();
    HubResult now;
    now.state = state;
    now.convergence.gap = model.certify(now);
    trace.push_back({t, now.objective, now.convergence.gap});
    const double gap = now.convergence.gap;
    if (t == 0 || !(gap > out.convergence.gap)) out = std::move(now);
    end.iterations = t;
    if (gap <= gap_tol) {
      end.converged = true;
      break;
    }
    // No dual point and an estimate without bound: with an S that is not semi-definite the penalties may be too small for a
    // minimum.
    if (std::isnan(gap) &&
        (t == options.max_iter || state.theta.cwiseAbs().maxCoeff() > 1e8 * diagonal_start.cwiseAbs().maxCoeff())) {
      throw NumericalError(
          "the objective has no minimum that could be certified; use larger penalties, or a covariance matrix that is positive "
          "semi-definite.");
    }
    if (t == options.max_iter) {
      end.message = "the iteration limit was reached";
      break;
    }
    const double accuracy = std::isnan(gap) ? 1 : std::sqrt(std::max(gap, 0.0) / static_cast<double>(p));
    HubDirection direction(model, penalty, regime, state, monitor);
    direction.solve(std::clamp(accuracy, 1e-6, 0.3), 100);

    const HubState whole = direction.at(1);
    const double whole_cost = hub_cost(penalty, whole.v, whole.z);
    const double descent = direction.slope() + whole_cost - cost;
    const double slack = 1e-14 * (std::abs(loss) + cost + static_cast<double>(p));
    bool taken = false;
    double step = 1;
    for (int cut = 0; cut < 40 && !taken; ++cut, step *= 0.5) {
      HubState next = cut == 0 ? whole : direction.at(step);
      const double next_cost = cut == 0 ? whole_cost : hub_cost(penalty, next.v, next.z);
      const double next_loss = model.evaluate(next.theta);
      if (!(next_loss + next_cost <= loss + cost + 1e-3 * step * std::min(descent, 0.0) + slack)) continue;
      taken = true;
      state = std::move(next);
      loss = next_loss;
      cost = next_cost;
    }
    if (!taken && std::isnan(gap)) {
      throw NumericalError("the objective could not be lowered further before a minimum was in sight; use larger penalties.");
    }
    if (!taken) {
      end.message = "no step lowered the objective further";
      break;
    }
    model.accept();
  }
  end.gap = out.convergence.gap;
  end.seconds = clock.seconds();
  out.convergence = end;
  out.trace = std::move(trace);
  return out;
}

}  // namespace granary::graph
