#include "core/optim/lp.h"
#include "core/linalg/dense.h"
#include "core/random/rng.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace granary {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr int standing = 30;     // steps without progress before something is done about it
constexpr int most_shifts = 3;   // of the bounds; then Bland's rule
constexpr double shift = 1e-6;   // of a bound, relative to the scaled data

void check_input(const LinearProgram& lp) {
  const Index n = lp.c.size(), m = lp.a.rows();
  if (n < 1) throw InputError("a linear program needs at least one variable.");
  if (m > 0 && lp.a.cols() != n)
    throw InputError(message("the constraint matrix must have ", n, " columns, one for each cost, not ", lp.a.cols(), "."));
  if (lp.b.size() != m) throw InputError(message("the right-hand side must have length ", m, ", not ", lp.b.size(), "."));
  if (!lp.sense.empty() && static_cast<Index>(lp.sense.size()) != m)
    throw InputError(message("there must be one sense for each of the ", m, " rows, not ", lp.sense.size(), "."));
  if ((lp.lower.size() && lp.lower.size() != n) || (lp.upper.size() && lp.upper.size() != n))
    throw InputError(message("bounds must have length ", n, " or be empty."));
  if (!lp.c.allFinite() || !lp.b.allFinite() || !lp.a.allFinite())
    throw InputError("costs, constraints and right-hand sides must be finite.");
  for (Index j = 0; j < n; ++j)
    if ((lp.lower.size() && !(lp.lower[j] < infinity)) || (lp.upper.size() && !(lp.upper[j] > -infinity)))
      throw InputError(message("the bounds of variable ", j + 1,
                               " must be numbers, with lower below infinity and upper above minus infinity."));
}

// A power of two, so that scaling is exact.
double rounded_inverse(double size) { return size > 0 ? std::exp2(-std::round(std::log2(size))) : 1; }

// min c'x, Ax + s = b, bounds on x and on the slack s_i of each row; variable n + i is s_i. All data scaled to about one.
class Simplex {
 public:
  LpStatus status = LpStatus::stopped;
  int pivots = 0;

  Simplex(const LinearProgram& lp, const LpOptions& options, Monitor& monitor)
      : n_(lp.c.size()), m_(lp.a.rows()), tol_(options.tol), monitor_(monitor) {
    max_pivots_ = options.max_iter > 0 ? options.max_iter : 200 * static_cast<int>(n_ + m_) + 1000;
    scale(lp);
    start();
  }

  void run() {
    int still = 0;
    bool checked = false;
    for (; pivots < max_pivots_; ++pivots) {
      monitor_.check();
      if (etas_.size() >= 40) factorise();
      const bool feasible = set_costs();
      const VectorXd y = btran(cost_basic_);
      if (still > standing && shifts_ < most_shifts) {
        shift_bounds();
        still = 0;
        continue;
      }
      const bool bland = still > standing;
      double slope = 0;
      const Index enter = price(y, feasible, bland, slope);
      if (enter < 0 && shifted()) {
        restore_bounds();
        still = 0;
        continue;
      }
      if (enter < 0) {
        if (!checked) {  // once more with fresh factors before it is final
          factorise();
          checked = true;
          continue;
        }
        status = feasible ? LpStatus::optimal : LpStatus::infeasible;
        dual_ = y;
        return;
      }
      checked = false;
      const double sign = slope < 0 ? 1 : -1;  // the way x_enter moves
      const VectorXd w = ftran(column(enter));
      double step = upper_[enter] - lower_[enter];
      bool to_upper = false;
      const Index leave = ratio_test(w, sign, bland, step, to_upper);
      if (step == infinity) {
        if (shifted()) {
          restore_bounds();
          continue;
        }
        if (!etas_.empty()) {
          factorise();
          continue;
        }
        if (!feasible) throw NumericalError("the linear program is too badly scaled to be solved in double precision.");
        status = LpStatus::unbounded;
        ray_ = VectorXd::Zero(n_ + m_);
        ray_[enter] = sign;
        for (Index i = 0; i < m_; ++i) ray_[basis_[i]] = -sign * w[i];
        dual_ = y;
        return;
      }
      still = step > 1e-12 ? 0 : still + 1;
      for (Index i = 0; i < m_; ++i) x_[basis_[i]] -= sign * step * w[i];
      if (leave < 0) {  // runs to its other bound
        x_[enter] = sign > 0 ? upper_[enter] : lower_[enter];
        continue;
      }
      const Index out = basis_[leave];
      x_[enter] += sign * step;
      x_[out] = to_upper ? upper_[out] : lower_[out];
      place_[out] = -1;
      place_[enter] = leave;
      basis_[leave] = enter;
      etas_.push_back({leave, w});
    }
  }

  VectorXd primal() const { return primal_scale_ * column_scale_.cwiseProduct(x_.head(n_)); }
  VectorXd dual() const { return cost_scale_ * row_scale_.cwiseProduct(dual_); }
  VectorXd direction() const { return column_scale_.cwiseProduct(ray_.head(n_)); }
  VectorXd farkas() const { return row_scale_.cwiseProduct(dual_); }

 private:
  struct Eta {
    Index row;
    VectorXd w;
  };

  void scale(const LinearProgram& lp) {
    a_ = lp.a;
    if (m_ == 0) a_.resize(0, n_);
    row_scale_ = VectorXd::Ones(m_);
    column_scale_ = VectorXd::Ones(n_);
    for (int pass = 0; pass < 4; ++pass) {
      // Geometric means of the largest and smallest entry, then a last pass to a largest entry of one in each column. What is
      // left of a zero after rounding must not decide: it would blow up its row until no violation of another row is seen.
      const auto size = [&](const auto& line) {
        double large = 0, small = infinity;
        for (Index k = 0; k < line.size(); ++k) {
          const double v = std::abs(line[k]);
          if (v == 0) continue;
          large = std::max(large, v);
          small = std::min(small, v);
        }
        return large == 0 ? 0 : pass == 3 ? large : std::sqrt(large) * std::sqrt(std::max(small, 1e-6 * large));
      };
      for (Index i = 0; i < m_ && pass < 3; ++i) {
        const double s = rounded_inverse(size(a_.row(i)));
        a_.row(i) *= s;
        row_scale_[i] *= s;
      }
      for (Index j = 0; j < n_; ++j) {
        const double s = rounded_inverse(size(a_.col(j)));
        a_.col(j) *= s;
        column_scale_[j] *= s;
      }
    }
    lower_ = VectorXd::Zero(n_ + m_);
    upper_ = VectorXd::Constant(n_ + m_, infinity);
    if (lp.lower.size()) lower_.head(n_) = lp.lower.cwiseQuotient(column_scale_);
    if (lp.upper.size()) upper_.head(n_) = lp.upper.cwiseQuotient(column_scale_);
    for (Index i = 0; i < m_; ++i) {
      const RowSense sense = lp.sense.empty() ? RowSense::less_equal : lp.sense[i];
      if (sense != RowSense::less_equal) upper_[n_ + i] = 0;
      if (sense == RowSense::greater_equal) lower_[n_ + i] = -infinity;
    }
    b_ = lp.b.cwiseProduct(row_scale_);
    c_ = lp.c.cwiseProduct(column_scale_);
    cost_scale_ = c_.cwiseAbs().maxCoeff();
    if (cost_scale_ == 0) cost_scale_ = 1;
    c_ /= cost_scale_;
    // The unit of x: what the constraints have left once every variable sits at its bound.
    x_ = VectorXd::Zero(n_ + m_);
    double largest_bound = 0;
    for (Index j = 0; j < n_; ++j) {
      x_[j] = start_value(j);
      largest_bound = std::max(largest_bound, std::abs(x_[j]));
    }
    primal_scale_ = m_ > 0 ? (b_ - a_ * x_.head(n_)).cwiseAbs().maxCoeff() : 0;
    if (primal_scale_ == 0) primal_scale_ = largest_bound;
    if (primal_scale_ == 0) primal_scale_ = 1;
    b_ /= primal_scale_;
    x_ /= primal_scale_;
    lower_ /= primal_scale_;
    upper_ /= primal_scale_;
  }

  double start_value(Index j) const {
    if (lower_[j] > -infinity && (upper_[j] == infinity || std::abs(lower_[j]) <= std::abs(upper_[j]))) return lower_[j];
    return upper_[j] < infinity ? upper_[j] : 0;
  }

  void start() {
    place_.assign(n_ + m_, -1);
    basis_.resize(m_);
    for (Index i = 0; i < m_; ++i) {
      basis_[i] = n_ + i;
      place_[n_ + i] = i;
    }
    cost_basic_.resize(m_);
    factorise();
  }

  bool shifted() const { return true_lower_.size() > 0; }

  // Where many bounds meet in one vertex steps have no length, and Bland's rule, though it ends, may take exponentially many of
  // them: in a matrix game every row but one goes through the origin. Bounds moved apart by a little, each by its own amount,
  // give every step a length.
  void shift_bounds() {
    true_lower_ = lower_;
    true_upper_ = upper_;
    ++shifts_;
    for (Index j = 0; j < n_ + m_; ++j) {
      if (lower_[j] == upper_[j]) continue;
      const std::uint64_t bits = SplitMix64::finish(static_cast<std::uint64_t>(j) * most_shifts + static_cast<std::uint64_t>(shifts_));
      const double share = 0.5 + 0.5 * static_cast<double>(bits >> 11) * 0x1p-53;
      if (lower_[j] > -infinity) move_bound(j, lower_[j], -share * shift * std::max(1.0, std::abs(lower_[j])));
      if (upper_[j] < infinity) move_bound(j, upper_[j], share * shift * std::max(1.0, std::abs(upper_[j])));
    }
    factorise();
  }
  void move_bound(Index j, double& bound, double by) {
    if (place_[j] < 0 && x_[j] == bound) x_[j] += by;
    bound += by;
  }

  // Back to the true bounds from the basis reached; what is violated then is mended by a few more steps.
  void restore_bounds() {
    for (Index j = 0; j < n_ + m_; ++j)
      if (place_[j] < 0) x_[j] = x_[j] == lower_[j] ? true_lower_[j] : x_[j] == upper_[j] ? true_upper_[j] : x_[j];
    lower_ = true_lower_;
    upper_ = true_upper_;
    true_lower_.resize(0);
    factorise();
  }

  VectorXd column(Index j) const { return j < n_ ? VectorXd(a_.col(j)) : VectorXd(VectorXd::Unit(m_, j - n_)); }

  // Factors of the basis, and the basic variables from them, refined once.
  void factorise() {
    etas_.clear();
    if (m_ == 0) return;
    MatrixXd basis(m_, m_);
    VectorXd rest = b_;
    for (Index i = 0; i < m_; ++i) basis.col(i) = column(basis_[i]);
    for (Index j = 0; j < n_; ++j)
      if (place_[j] < 0 && x_[j] != 0) rest.noalias() -= x_[j] * a_.col(j);
    for (Index i = 0; i < m_; ++i)
      if (place_[n_ + i] < 0) rest[i] -= x_[n_ + i];
    lu_.compute(basis);
    VectorXd values = lu_.solve(rest);
    values += lu_.solve(rest - basis * values);
    if (!values.allFinite()) throw NumericalError("the linear program is too badly scaled to be solved in double precision.");
    for (Index i = 0; i < m_; ++i) x_[basis_[i]] = values[i];
  }

  VectorXd ftran(VectorXd v) const {
    if (m_ == 0) return v;
    v = lu_.solve(v);
    for (const Eta& eta : etas_) {
      const double t = v[eta.row] / eta.w[eta.row];
      v.noalias() -= t * eta.w;
      v[eta.row] = t;
    }
    return v;
  }

  VectorXd btran(VectorXd v) const {
    if (m_ == 0) return v;
    for (auto eta = etas_.rbegin(); eta != etas_.rend(); ++eta) {
      const double pivot = eta->w[eta->row];
      v[eta->row] = (v[eta->row] - (eta->w.dot(v) - pivot * v[eta->row])) / pivot;
    }
    return lu_.solve_transposed(v);
  }

  double slack_of(double bound) const { return tol_ * std::max(1.0, std::abs(bound)); }
  bool below(Index j) const { return x_[j] < lower_[j] - slack_of(lower_[j]); }
  bool above(Index j) const { return x_[j] > upper_[j] + slack_of(upper_[j]); }

  // True when the basic variables keep their bounds: the program's costs; else those of the sum of violations.
  bool set_costs() {
    bool feasible = true;
    for (Index i = 0; i < m_; ++i) {
      cost_basic_[i] = below(basis_[i]) ? -1 : above(basis_[i]) ? 1 : 0;
      feasible = feasible && cost_basic_[i] == 0;
    }
    if (feasible)
      for (Index i = 0; i < m_; ++i) cost_basic_[i] = basis_[i] < n_ ? c_[basis_[i]] : 0;
    return feasible;
  }

  // The variable to enter and the slope of the objective along it, or -1 at an optimum.
  Index price(const VectorXd& y, bool phase_two, bool bland, double& slope) const {
    VectorXd d = VectorXd::Zero(n_ + m_);
    if (phase_two) d.head(n_) = c_;
    if (m_ > 0) {
      d.head(n_).noalias() -= a_.transpose() * y;
      d.tail(m_) -= y;
    }
    Index best = -1;
    double size = tol_;
    for (Index j = 0; j < n_ + m_; ++j) {
      if (place_[j] >= 0 || lower_[j] == upper_[j]) continue;
      const bool rises = d[j] < 0 && x_[j]<upper_[j], falls = d[j]> 0 && x_[j] > lower_[j];
      if (!(rises || falls) || std::abs(d[j]) <= size) continue;
      best = j;
      slope = d[j];
      if (bland) break;
      size = std::abs(d[j]);
    }
    return best;
  }

  // How far x_enter can move (at most `step`), and the basic variable that stops it there, or -1. Harris: a bound may be overrun
  // by the tolerance, and of the variables that would stop it within that the one with the largest pivot is taken.
  Index ratio_test(const VectorXd& w, double sign, bool bland, double& step, bool& to_upper) const {
    const auto target = [&](Index i, double rate, bool& up) {  // the bound variable i runs into
      const Index j = basis_[i];
      if (rate < 0) {
        up = above(j);
        if (below(j)) return -infinity;
        return up ? upper_[j] : lower_[j];
      }
      up = !below(j);
      if (above(j)) return infinity;
      return up ? upper_[j] : lower_[j];
    };
    double relaxed = infinity;
    bool up = false;
    for (Index i = 0; i < m_; ++i) {
      const double rate = -sign * w[i];
      if (std::abs(rate) < 1e-11) continue;
      const double bound = target(i, rate, up);
      if (!std::isfinite(bound)) continue;
      const double room = std::max(0.0, (bound - x_[basis_[i]]) / rate);
      relaxed = std::min(relaxed, bland ? room : room + slack_of(bound) / std::abs(rate));
    }
    if (step <= relaxed) return -1;
    Index leave = -1;
    double size = 0;
    for (Index i = 0; i < m_; ++i) {
      const double rate = -sign * w[i];
      if (std::abs(rate) < 1e-11) continue;
      const double bound = target(i, rate, up);
      if (!std::isfinite(bound)) continue;
      const double room = std::max(0.0, (bound - x_[basis_[i]]) / rate);
      if (room > relaxed) continue;
      const bool better = leave < 0 || (bland ? basis_[i] < basis_[leave] : std::abs(rate) > size);
      if (!better) continue;
      leave = i;
      size = std::abs(rate);
      step = room;
      to_upper = up;
    }
    return leave;
  }

  Index n_, m_;
  double tol_;
  Monitor& monitor_;
  int max_pivots_ = 0;
  MatrixXd a_;
  VectorXd true_lower_, true_upper_;  // while bounds are shifted
  int shifts_ = 0;
  VectorXd b_, c_, lower_, upper_, x_, row_scale_, column_scale_, cost_basic_, dual_, ray_;
  double cost_scale_ = 1, primal_scale_ = 1;
  std::vector<Index> basis_, place_;  // variable in each row of the basis; row of each variable, or -1
  Lu lu_;
  std::vector<Eta> etas_;
};

double inward(double value, double low, double high) { return std::min(std::max(value, low), high); }

// Multipliers of the wrong sign by rounding are zero.
void clean_signs(const LinearProgram& lp, VectorXd& y) {
  const double tiny = 1e-13 * (y.size() ? y.cwiseAbs().maxCoeff() : 0);
  for (Index i = 0; i < y.size(); ++i) {
    const RowSense sense = lp.sense.empty() ? RowSense::less_equal : lp.sense[i];
    if (std::abs(y[i]) <= tiny || (sense == RowSense::less_equal && y[i] > 0) || (sense == RowSense::greater_equal && y[i] < 0))
      y[i] = 0;
  }
}

// b'y + sum_j (-A'y)_j (lower_j or upper_j by sign) > 0; what is left of a zero of A'y after rounding counts as zero.
bool proves_infeasible(const LinearProgram& lp, const VectorXd& lower, const VectorXd& upper, const VectorXd& y) {
  if (lp.a.rows() == 0) return false;
  const VectorXd d = -(lp.a.transpose() * y), size = lp.a.cwiseAbs().transpose() * y.cwiseAbs();
  double value = lp.b.dot(y), scale = lp.b.cwiseAbs().dot(y.cwiseAbs());
  for (Index j = 0; j < d.size(); ++j) {
    if (std::abs(d[j]) <= 1e-9 * size[j]) continue;
    const double bound = d[j] > 0 ? lower[j] : upper[j];
    value += d[j] * bound;
    scale += std::abs(d[j] * bound);
  }
  return value > 1e-12 * scale;
}

// The simplex believes in an answer that the data do not confirm.
void refuse(LpResult& result, const std::string& why) {
  result.status = LpStatus::stopped;
  result.convergence.converged = false;
  result.convergence.message = why + ": the program is too badly scaled for double precision";
}

}  // namespace

LpResult solve_lp(const LinearProgram& lp, const LpOptions& options, Monitor& monitor) {
  const Stopwatch watch;
  check_input(lp);
  const Index n = lp.c.size(), m = lp.a.rows();
  const VectorXd lower = lp.lower.size() ? lp.lower : VectorXd::Zero(n);
  const VectorXd upper = lp.upper.size() ? lp.upper : VectorXd::Constant(n, infinity);
  LpResult result;
  result.dual = VectorXd::Zero(m);
  result.reduced_cost = lp.c;
  for (Index j = 0; j < n; ++j) {
    if (lower[j] <= upper[j]) continue;
    result.status = LpStatus::infeasible;  // no multiplier of a row is needed to see it
    result.x = lower;
    result.ray = VectorXd::Zero(m);
    result.convergence.converged = true;
    result.convergence.message = message("the bounds of variable ", j + 1, " exclude each other");
    return result;
  }

  Simplex simplex(lp, options, monitor);
  simplex.run();
  result.status = simplex.status;
  result.x = simplex.primal();
  for (Index j = 0; j < n; ++j) result.x[j] = inward(result.x[j], lower[j], upper[j]);
  result.objective = lp.c.dot(result.x);
  Convergence& convergence = result.convergence;
  convergence.iterations = simplex.pivots;
  convergence.converged = result.status != LpStatus::stopped;

  double worst = 0;
  for (Index i = 0; i < m; ++i) {
    const RowSense sense = lp.sense.empty() ? RowSense::less_equal : lp.sense[i];
    const double left = lp.a.row(i).dot(result.x);
    const double size = lp.a.row(i).cwiseAbs().dot(result.x.cwiseAbs()) + std::abs(lp.b[i]);
    const double excess = sense == RowSense::equal        ? std::abs(left - lp.b[i])
                          : sense == RowSense::less_equal ? left - lp.b[i]
                                                          : lp.b[i] - left;
    if (excess > 0) worst = std::max(worst, excess / size);
  }
  convergence.residual = worst;

  if (result.status == LpStatus::optimal) {
    result.dual = simplex.dual();
    clean_signs(lp, result.dual);
    if (m > 0) result.reduced_cost = lp.c - lp.a.transpose() * result.dual;
    // c'x - dual objective = sum_i y_i (Ax - b)_i + sum_j d_j (x_j - its bound), relative to the terms of the two sums, so that
    // an objective of zero is no special case.
    double gap = 0, size = lp.c.cwiseAbs().dot(result.x.cwiseAbs());
    if (m > 0) {
      gap += result.dual.dot(lp.a * result.x - lp.b);
      size += result.dual.cwiseAbs().dot(lp.a.cwiseAbs() * result.x.cwiseAbs() + lp.b.cwiseAbs());
    }
    // A reduced cost within the tolerance is zero: times the distance of a far bound it would say more than there is.
    VectorXd dust = lp.c.cwiseAbs();
    if (m > 0) dust += lp.a.cwiseAbs().transpose() * result.dual.cwiseAbs();
    for (Index j = 0; j < n; ++j) {
      const double bound = result.reduced_cost[j] > 0 ? lower[j] : upper[j];
      if (std::isfinite(bound) && std::abs(result.reduced_cost[j]) > options.tol * dust[j]) gap += result.reduced_cost[j] * (result.x[j] - bound);
    }
    convergence.gap = size > 0 ? std::abs(gap) / size : 0;
    if (!(convergence.gap <= 1e-6)) refuse(result, message("a relative duality gap of ", convergence.gap, " is left"));
  } else if (result.status == LpStatus::infeasible) {
    result.ray = simplex.farkas();
    clean_signs(lp, result.ray);
    if (m > 0 && result.ray.cwiseAbs().maxCoeff() > 0) result.ray /= result.ray.cwiseAbs().maxCoeff();
    convergence.message = "no point satisfies all constraints";
    if (!proves_infeasible(lp, lower, upper, result.ray)) refuse(result, "the multipliers found do not prove that no point exists");
  } else if (result.status == LpStatus::unbounded) {
    result.ray = simplex.direction();
    result.ray /= result.ray.cwiseAbs().maxCoeff();
    result.objective = -infinity;
    convergence.message = "the objective decreases without bound along the ray";
  } else {
    convergence.message = message("stopped after ", simplex.pivots, " pivots");
  }
  if (worst > 1e-7 && (result.status == LpStatus::optimal || result.status == LpStatus::unbounded))
    refuse(result, message("the point found violates a constraint by ", worst, " of its size"));
  convergence.seconds = watch.seconds();
  return result;
}

GameSolution solve_matrix_game(ConstMatrixRef payoff, const LpOptions& options, Monitor& monitor) {
  const Index k = payoff.rows(), l = payoff.cols();
  if (k < 1 || l < 1) throw InputError("a game needs at least one strategy for each player.");
  if (!payoff.allFinite()) throw InputError("the payoffs must be finite.");
  // min v over (q, v): payoff q <= v, q in the simplex. Payoffs are moved and scaled to [0, 1]; the duals of the rows are -p.
  const double low = payoff.minCoeff(), spread = payoff.maxCoeff() - low, unit = spread > 0 ? spread : 1;
  LinearProgram lp;
  lp.c = VectorXd::Unit(l + 1, l);
  lp.a = MatrixXd::Zero(k + 1, l + 1);
  lp.a.topLeftCorner(k, l) = (payoff.array() - low) / unit;
  lp.a.col(l).head(k).setConstant(-1);
  lp.a.row(k).head(l).setOnes();
  lp.b = VectorXd::Unit(k + 1, k);
  lp.sense.assign(k, RowSense::less_equal);
  lp.sense.push_back(RowSense::equal);
  lp.lower = VectorXd::Zero(l + 1);
  lp.lower[l] = -infinity;
  const LpResult solved = solve_lp(lp, options, monitor);
  if (solved.status != LpStatus::optimal)
    throw NumericalError("the game could not be solved; its payoffs may span too many orders of magnitude.");
  GameSolution game;
  game.column = solved.x.head(l).cwiseMax(0);
  game.column /= game.column.sum();
  game.row = (-solved.dual.head(k)).cwiseMax(0);
  game.row /= game.row.sum();
  game.value = game.row.dot(payoff * game.column);
  game.convergence = solved.convergence;
  game.convergence.gap = ((payoff * game.column).maxCoeff() - (payoff.transpose() * game.row).minCoeff()) / unit;
  game.convergence.converged = game.convergence.gap <= 1e-8;
  return game;
}

}  // namespace granary
