#include "core/optim/smo.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>

#include "core/base/errors.h"
#include "core/optim/smo_parts.h"
#include "core/linalg/wide_loops.h"

namespace granary {

namespace {

using namespace smo_detail;

template <class Real>
class Solver {
 public:
  Solver(const SmoProblem& problem, KernelRows& rows, const SmoOptions& options, Monitor& monitor, RowCache<Real>& cache,
         const std::vector<Index>& id)
      : rows_(rows),
        options_(options),
        monitor_(monitor),
        n_(problem.sheets[0].linear.size()),
        active_(n_),
        cache_(cache),
        id_(id),
        at_(static_cast<std::size_t>(n_)),
        kink_(problem.kink.size() > 0 ? problem.kink : VectorXd::Zero(n_)),
        f_(problem.f.size() > 0 ? problem.f : VectorXd::Zero(n_)) {
    std::iota(at_.begin(), at_.end(), Index(0));
    for (const SmoSheet& given : problem.sheets) {
      Sheet sheet{given.linear, given.lower, given.upper, given.start.size() > 0 ? given.start : VectorXd::Zero(n_),
                  VectorXd(n_), VectorXd(n_)};
      for (Index t = 0; t < n_; ++t) sheet.refresh(t, kink_[t]);
      sheets_.push_back(std::move(sheet));
    }
    start_values_ = rows_.values_computed();
    start_hits_ = static_cast<double>(cache_.hits());
    start_misses_ = static_cast<double>(cache_.misses());
    work_.resize(n_);
    const double largest = n_ > 0 ? rows_.diagonal().head(n_).maxCoeff() : 0;
    if (largest > 0) floor_ *= largest;
    if (problem.f.size() == 0) bring_up_to_date();
  }

  SmoResult solve() {
    const Stopwatch watch;
    SmoResult out;
    const double every = std::min<double>(static_cast<double>(n_), 1000);
    double countdown = every, first_violation = -1;
    bool grown_once = false;
    scan(0, nullptr, nullptr);
    while (true) {
      double violation = worst();
      if (violation < options_.tol && active_ < n_) {  // optimal among the active rows: look at all of them
        grow();
        violation = worst();
        countdown = 1;
      }
      if (violation < options_.tol) {
        if (!drifted()) break;
        bring_up_to_date();
        scan(0, nullptr, nullptr);
        continue;
      }
      if (out.iterations >= options_.max_iter) {
        if (active_ < n_) grow();
        break;
      }
      if (options_.shrink && --countdown <= 0) {
        countdown = every;
        if (!grown_once && violation <= 10 * options_.tol) {
          grown_once = true;
          if (active_ < n_) grow();
        }
        shrink();
      }
      if (first_violation < 0) first_violation = violation;
      if (options_.trace) out.trace.push_back(violation);
      const Pair pair = choose();
      out.ratio = std::min(out.ratio, pair.violation / violation);
      step(pair);
      out.iterations += 1;
      drift_ += 1;
      tick(violation, first_violation);
    }
    finish(out);
    out.convergence.seconds = watch.seconds();
    return out;
  }

 private:
  Index name(Index place) const { return id_.empty() ? at_[place] : id_[static_cast<std::size_t>(at_[place])]; }
  const Real* row(Index place) {
    return cache_.fetch(name(place), active_, [&](Index from, Index to, Real* out) { evaluate(place, from, to, out); });
  }
  void evaluate(Index place, Index from, Index to, double* out) {
    rows_.row(place, from, to, out);
    require_finite(out, to - from);
  }
  void evaluate(Index place, Index from, Index to, float* out) {
    rows_.row(place, from, to, work_.data());
    require_finite(work_.data(), to - from);
    for (Index t = 0; t < to - from; ++t) out[t] = static_cast<float>(work_[t]);
  }
  static void require_finite(const double* k, Index size) {
    if (!std::isfinite(Eigen::Map<const VectorXd>(k, size).sum()))
      throw InputError(
          "the kernel of two rows is not finite: the data are too large for it. Scale the columns, or lower the degree.");
  }

  // f <- f + lambda (k_i - k_j) on the active rows, and the extremes of v on each sheet, panel by panel.
  void scan(double lambda, const Real* ki, const Real* kj) {
    extremes_.assign(sheets_.size(), Extremes());
    std::vector<Index> grow_panel(sheets_.size(), 0), shrink_panel(sheets_.size(), 0);
    double* f = f_.data();
    for (Index from = 0; from < active_; from += panel) {
      const Index size = std::min(panel, active_ - from);
      if (lambda != 0) add_difference(lambda, ki + from, kj + from, f + from, size);
      for (std::size_t s = 0; s < sheets_.size(); ++s) {
        double largest = 0, least = 0;
        extreme_differences(sheets_[s].can_grow.data() + from, sheets_[s].can_shrink.data() + from, f + from, size, largest, least);
        if (largest >= extremes_[s].largest) {
          extremes_[s].largest = largest;
          grow_panel[s] = from;
        }
        if (least <= extremes_[s].least) {
          extremes_[s].least = least;
          shrink_panel[s] = from;
        }
      }
    }
    for (std::size_t s = 0; s < sheets_.size(); ++s) {
      Extremes& e = extremes_[s];
      for (Index t = grow_panel[s]; t < std::min(active_, grow_panel[s] + panel); ++t)
        if (sheets_[s].can_grow[t] - f[t] == e.largest) e.i = t;
      for (Index t = shrink_panel[s]; t < std::min(active_, shrink_panel[s] + panel); ++t)
        if (sheets_[s].can_shrink[t] - f[t] == e.least) e.j = t;
    }
  }

  double worst() const {
    double violation = -infinity;
    for (const Extremes& e : extremes_) violation = std::max(violation, e.violation());
    return violation;
  }

  Pair choose() {
    Pair best;
    for (std::size_t s = 0; s < sheets_.size(); ++s) {
      const Extremes& e = extremes_[s];
      if (!(e.violation() > 0) || !std::isfinite(e.violation())) continue;
      Pair pair;
      if (options_.working_set == WorkingSet::all_pairs) {
        for (Index i = 0; i < active_; ++i) {
          const Pair candidate = partner(s, i, sheets_[s].can_grow[i] - f_[i]);
          if (candidate.j >= 0 && candidate.score >= pair.score) pair = candidate;
        }
      } else {
        pair = partner(s, e.i, e.largest);
      }
      if (pair.score >= best.score) best = pair;
    }
    return best;
  }

  // The best j for this i: by decrease of the objective without the box (second order), within it (feasible), or by slope.
  Pair partner(std::size_t s, Index i, double vi) {
    const Sheet& sheet = sheets_[s];
    Pair out;
    out.sheet = s;
    out.i = i;
    if (!std::isfinite(vi)) return out;
    const Real* ki = row(i);
    const double kii = rows_.diagonal()[i];
    const double* diagonal = rows_.diagonal().data();
    const double* down = sheet.can_shrink.data();
    const double* f = f_.data();
    if (options_.working_set == WorkingSet::first_order) {
      out.j = extremes_[s].j;
      out.violation = extremes_[s].violation();
      out.score = out.violation * out.violation / curvature(kii, diagonal[out.j], ki[out.j]);
      return out;
    }
    const bool feasible = options_.working_set == WorkingSet::feasible;
    double scores[panel], best = 0;
    Index best_panel = -1;
    for (Index from = 0; from < active_; from += panel) {
      const Index size = std::min(panel, active_ - from);
      if (feasible) {
        const double room = sheet.room_up(i, kink_[i]);
        for (Index k = 0; k < size; ++k) {
          const Index t = from + k;
          const double b = vi - (down[t] - f[t]), a = curvature(kii, diagonal[t], ki[t]);
          const double lambda = std::min({b / a, room, sheet.room_down(t, kink_[t])});
          scores[k] = b > 0 ? 2 * lambda * b - lambda * lambda * a : 0;
        }
      } else {
        pair_scores(vi, down + from, f + from, kii, diagonal + from, ki + from, floor_, scores, size);
      }
      const double largest = Eigen::Map<const VectorXd>(scores, size).maxCoeff();
      if (largest > 0 && largest >= best) {
        best = largest;
        best_panel = from;
        for (Index k = 0; k < size; ++k)
          if (scores[k] == largest) out.j = from + k;
      }
    }
    if (best_panel < 0) return out;
    out.score = best;
    out.violation = vi - (down[out.j] - f[out.j]);
    return out;
  }

  double curvature(double kii, double kjj, double kij) const { return std::max(kii + kjj - 2 * kij, floor_); }

  void step(const Pair& pair) {
    if (pair.j < 0) throw NumericalError("no pair of variables can move although the optimality conditions are violated.");
    Sheet& sheet = sheets_[pair.sheet];
    const Real* ki = row(pair.i);
    const Real* kj = row(pair.j);
    const double bend = curvature(rows_.diagonal()[pair.i], rows_.diagonal()[pair.j], ki[pair.j]);
    const double up = sheet.room_up(pair.i, kink_[pair.i]), down = sheet.room_down(pair.j, kink_[pair.j]);
    const double lambda = std::min({pair.violation / bend, up, down});
    // At a bound or the kink a variable is put there exactly: what can move is decided without tolerances.
    sheet.beta[pair.i] = lambda == up ? stop_up(sheet, pair.i) : sheet.beta[pair.i] + lambda;
    sheet.beta[pair.j] = lambda == down ? stop_down(sheet, pair.j) : sheet.beta[pair.j] - lambda;
    sheet.refresh(pair.i, kink_[pair.i]);
    sheet.refresh(pair.j, kink_[pair.j]);
    scan(lambda, ki, kj);
  }
  double stop_up(const Sheet& sheet, Index t) const { return kink_[t] > 0 && sheet.beta[t] < 0 ? 0 : sheet.upper[t]; }
  double stop_down(const Sheet& sheet, Index t) const { return kink_[t] > 0 && sheet.beta[t] > 0 ? 0 : sheet.lower[t]; }

  // (25): rows whose variables are at a bound and point outwards beyond every violating pair. They change places with the last
  // rows that stay, so that the others, and what the cache knows of them, remain where they are.
  void shrink() {
    const auto idle = [&](Index t) {
      for (std::size_t s = 0; s < sheets_.size(); ++s)
        if (!(sheets_[s].can_grow[t] - f_[t] < extremes_[s].least && sheets_[s].can_shrink[t] - f_[t] > extremes_[s].largest))
          return false;
      return true;
    };
    std::vector<Index> order(static_cast<std::size_t>(active_));
    std::iota(order.begin(), order.end(), Index(0));
    Index left = active_;
    for (Index t = 0; t < left; ++t) {
      if (!idle(t)) continue;
      while (--left > t && idle(left)) {
      }
      std::swap(order[t], order[left]);
    }
    if (left == active_ || left < 2) return;
    record_changes();
    rearrange(order);
    cache_.reorder(order);
    left_out_.push_back({left, {}, {}});
    active_ = left;
    scan(0, nullptr, nullptr);
  }

  // What the coefficients have moved by since the last shrinking.
  void record_changes() {
    const VectorXd beta = total();
    if (left_out_.empty()) recorded_.resize(n_);
    for (Index t = 0; t < active_; ++t) {
      double& before = recorded_[at_[t]];
      if (!left_out_.empty() && beta[t] != before) {
        left_out_.back().row.push_back(at_[t]);
        left_out_.back().change.push_back(beta[t] - before);
      }
      before = beta[t];
    }
  }

  // Rows left out know f as it was then: it lacks what the coefficients have moved by since. Coefficients that had found their
  // bound before, most of them where C is small, cost nothing.
  void grow() {
    record_changes();
    VectorXd moved = VectorXd::Zero(n_), by_place(n_);
    for (; !left_out_.empty(); left_out_.pop_back()) {
      const LeftOut& part = left_out_.back();
      for (std::size_t k = 0; k < part.row.size(); ++k) moved[part.row[k]] += part.change[k];
      for (Index t = 0; t < n_; ++t) by_place[t] = moved[at_[t]];
      add_products(by_place, part.from, left_out_.size() > 1 ? left_out_[left_out_.size() - 2].from : n_);
    }
    active_ = n_;
    scan(0, nullptr, nullptr);
  }

  void rearrange(const std::vector<Index>& order) {
    rows_.reorder(order);
    const auto permute = [&](auto& values) {
      const auto old = values;
      for (std::size_t k = 0; k < order.size(); ++k) values[k] = old[order[k]];
    };
    permute(at_);
    permute(kink_);
    permute(f_);
    for (Sheet& sheet : sheets_)
      for (VectorXd* v : {&sheet.linear, &sheet.lower, &sheet.upper, &sheet.beta, &sheet.can_grow, &sheet.can_shrink})
        permute(*v);
  }

  VectorXd total() const {
    VectorXd beta = sheets_[0].beta;
    for (std::size_t s = 1; s < sheets_.size(); ++s) beta += sheets_[s].beta;
    return beta;
  }

  // f = K b afresh; exactly: in double precision whatever the cache has.
  void bring_up_to_date(bool exactly = false) {
    f_.setZero();
    add_products(total(), 0, n_, !exactly || std::is_same_v<Real, double>);
    drift_ = 0;
  }

  // f <- f + K b on the places from `first` to `last`: from the cache where rows are known that far, else in blocks.
  void add_products(const VectorXd& beta, Index first, Index last, bool use_cache = true) {
    std::vector<Index> which;
    MatrixXd block;
    VectorXd weight;
    for (Index j = 0; j < n_; ++j) {
      const Real* known = use_cache && beta[j] != 0 ? cache_.peek(name(j), last) : nullptr;
      if (known) {
        f_.segment(first, last - first) +=
            beta[j] * Eigen::Map<const Eigen::Matrix<Real, Eigen::Dynamic, 1>>(known + first, last - first).template cast<double>();
      } else if (beta[j] != 0) {
        which.push_back(j);
      }
      if (which.empty() || (which.size() < 32 && j + 1 < n_)) continue;
      weight.resize(static_cast<Index>(which.size()));
      for (std::size_t k = 0; k < which.size(); ++k) weight[static_cast<Index>(k)] = beta[which[k]];
      constexpr Index height = 2048;
      for (Index from = first; from < last; from += height) {
        const Index to = std::min(last, from + height);
        rows_.block(which, from, to, block);
        f_.segment(from, to - from).noalias() += block * weight;
        monitor_.check();
      }
      which.clear();
    }
    if (!f_.allFinite()) require_finite(f_.data(), n_);
  }

  // Whether rounding in f, which grows with the steps taken, can be seen next to the tolerance.
  bool drifted() const {
    return drift_ * std::numeric_limits<double>::epsilon() * std::max(1.0, f_.cwiseAbs().maxCoeff()) > 0.01 * options_.tol;
  }

  void tick(double violation, double first) {
    work_done_ += 2 * active_ + 100;
    if (work_done_ < 100000) return;
    work_done_ = 0;
    const double goal = std::log(first / options_.tol);
    monitor_.progress(goal > 0 ? std::min(0.99, std::max(0.0, std::log(first / violation) / goal)) : 0);
  }

  void finish(SmoResult& out) {
    std::vector<Index> back(at_.size());
    for (std::size_t k = 0; k < at_.size(); ++k) back[static_cast<std::size_t>(at_[k])] = static_cast<Index>(k);
    rearrange(back);
    if (!id_.empty()) cache_.reorder(back);  // it lives on
    active_ = n_;
    if (std::is_same_v<Real, float> || drifted()) bring_up_to_date(true);
    scan(0, nullptr, nullptr);
    out.violation = worst();
    out.f = f_;
    out.objective = 0.5 * total().dot(f_);
    double gap = 0, nonzero = 0;
    for (std::size_t s = 0; s < sheets_.size(); ++s) {
      const Sheet& sheet = sheets_[s];
      const double m = multiplier(s);
      out.multiplier.push_back(m);
      out.beta.push_back(sheet.beta);
      const double low = std::min(extremes_[s].largest, extremes_[s].least);
      const double high = std::max(extremes_[s].largest, extremes_[s].least);
      out.pinned.emplace_back(static_cast<std::size_t>(n_));
      for (Index t = 0; t < n_; ++t)
        out.pinned[s][static_cast<std::size_t>(t)] = sheet.can_grow[t] - f_[t] < low && sheet.can_shrink[t] - f_[t] > high;
      for (Index t = 0; t < n_; ++t) {
        const double slope = sheet.linear[t] - f_[t] - m;
        const auto value = [&](double x) { return x * slope - kink_[t] * std::abs(x); };
        double best = std::max(value(sheet.lower[t]), value(sheet.upper[t]));
        if (sheet.lower[t] <= 0 && sheet.upper[t] >= 0) best = std::max(best, 0.0);
        gap += best - value(sheet.beta[t]);
        out.objective -= sheet.linear[t] * sheet.beta[t] - kink_[t] * std::abs(sheet.beta[t]);
        nonzero += sheet.beta[t] != 0;
      }
    }
    out.kernel_values = rows_.values_computed() - start_values_;
    out.cache_hits = static_cast<double>(cache_.hits()) - start_hits_;
    out.cache_misses = static_cast<double>(cache_.misses()) - start_misses_;
    out.cache_small = options_.cache_mb * 1048576 < 0.1 * nonzero * static_cast<double>(n_) * sizeof(Real);
    out.convergence.converged = out.violation < options_.tol;
    out.convergence.iterations = static_cast<int>(std::min<double>(out.iterations, std::numeric_limits<int>::max()));
    out.convergence.gap = std::isfinite(gap) ? gap : Convergence::unknown;  // a bound at infinity leaves none
    out.convergence.residual = out.violation;
    if (!out.convergence.converged) {
      out.convergence.reason = Stop::iterations;
      out.convergence.message = message("stopped after ", out.iterations, " steps with a violation of ", out.violation);
    }
  }

  // The mean of v over variables inside their box, else the middle of what the optimality conditions allow.
  double multiplier(std::size_t s) const {
    const Sheet& sheet = sheets_[s];
    double sum = 0, count = 0;
    for (Index t = 0; t < n_; ++t) {
      const bool at_kink = kink_[t] > 0 && sheet.beta[t] == 0;
      if (at_kink || !(sheet.beta[t] > sheet.lower[t] && sheet.beta[t] < sheet.upper[t])) continue;
      sum += sheet.can_grow[t] - f_[t];
      ++count;
    }
    if (count > 0) return sum / count;
    const Extremes& e = extremes_[s];
    if (std::isfinite(e.largest) && std::isfinite(e.least)) return 0.5 * (e.largest + e.least);
    return std::isfinite(e.largest) ? e.largest : std::isfinite(e.least) ? e.least : 0;
  }

  KernelRows& rows_;
  const SmoOptions& options_;
  Monitor& monitor_;
  Index n_, active_;
  RowCache<Real>& cache_;
  const std::vector<Index>& id_;  // the cache's name for a row; empty: its number
  std::vector<Index> at_;  // which row stands at a place
  std::vector<LeftOut> left_out_;  // the places of each end where those of the one before begin
  VectorXd recorded_;              // coefficients of rows at the last shrinking
  VectorXd kink_, f_, work_;
  std::vector<Sheet> sheets_;
  std::vector<Extremes> extremes_;
  double floor_ = smo_curvature_floor;  // in the units of the kernel
  double drift_ = 0, start_values_ = 0, start_hits_ = 0, start_misses_ = 0;
  Index work_done_ = 0;
};

void check(const SmoProblem& problem, Index n) {
  if (problem.sheets.empty() || problem.sheets.size() > 2) throw InputError("the quadratic program must have one or two sheets.");
  if (problem.kink.size() > 0 && (problem.sheets.size() > 1 || problem.kink.size() != n || !(problem.kink.minCoeff() >= 0)))
    throw InputError("kinks must be one number for each row, not negative, and need a single sheet.");
  if (problem.f.size() > 0 && problem.f.size() != n) throw InputError("f must have one number for each row.");
  for (const SmoSheet& sheet : problem.sheets) {
    if (sheet.linear.size() != n || sheet.lower.size() != n || sheet.upper.size() != n ||
        (sheet.start.size() > 0 && sheet.start.size() != n))
      throw InputError(message("the linear term, the bounds and the start must have one number for each of the ", n, " rows."));
    if (!sheet.linear.allFinite()) throw InputError("the linear term must be finite.");
    for (Index t = 0; t < n; ++t) {
      const double start = sheet.start.size() > 0 ? sheet.start[t] : 0;
      if (!(sheet.lower[t] <= sheet.upper[t]) || !(start >= sheet.lower[t] && start <= sheet.upper[t]))
        throw InputError(message("the start of row ", t + 1, " is not between its bounds."));
    }
  }
}

// From where rows in single precision led, to the tolerance.
SmoResult go_on_in_double(const SmoProblem& problem, KernelRows& rows, const SmoOptions& options, Monitor& monitor,
                          SmoResult first) {
  SmoProblem rest = problem;
  for (std::size_t s = 0; s < rest.sheets.size(); ++s) rest.sheets[s].start = first.beta[s];
  rest.f = first.f;
  SmoOptions left = options;
  left.max_iter -= first.iterations;
  RowCache<double> cache(first.f.size(), options.cache_mb * 1048576);
  SmoResult out = Solver<double>(rest, rows, left, monitor, cache, {}).solve();
  out.iterations += first.iterations;
  out.kernel_values += first.kernel_values;
  out.cache_hits += first.cache_hits;
  out.cache_misses += first.cache_misses;
  out.ratio = std::min(out.ratio, first.ratio);
  out.trace.insert(out.trace.begin(), first.trace.begin(), first.trace.end());
  out.convergence.iterations = static_cast<int>(std::min<double>(out.iterations, std::numeric_limits<int>::max()));
  out.convergence.seconds += first.convergence.seconds;
  return out;
}

}  // namespace

template <class Real>
SmoResult solve_smo(const SmoProblem& problem, KernelRows& rows, const SmoOptions& options, Monitor& monitor,
                    RowCache<Real>& cache, const std::vector<Index>& id) {
  const Index n = problem.sheets.empty() ? 0 : problem.sheets[0].linear.size();
  check(problem, n);
  if (n == 0) throw InputError("the quadratic program has no variables.");
  if (n > rows.size())
    throw InputError(message("the quadratic program has ", n, " variables, but there are ", rows.size(), " rows."));
  if (options.working_set == WorkingSet::all_pairs && n > 5000)
    throw InputError("the search over all pairs is for at most 5000 rows.");
  SmoResult out = Solver<Real>(problem, rows, options, monitor, cache, id).solve();
  if (std::is_same_v<Real, double> || out.convergence.converged || out.iterations >= options.max_iter) return out;
  cache.clear();  // what it knows is not good enough
  return go_on_in_double(problem, rows, options, monitor, std::move(out));
}

template SmoResult solve_smo(const SmoProblem&, KernelRows&, const SmoOptions&, Monitor&, RowCache<float>&,
                             const std::vector<Index>&);
template SmoResult solve_smo(const SmoProblem&, KernelRows&, const SmoOptions&, Monitor&, RowCache<double>&,
                             const std::vector<Index>&);

SmoResult solve_smo(const SmoProblem& problem, KernelRows& rows, const SmoOptions& options, Monitor& monitor) {
  const Index n = problem.sheets.empty() ? 0 : problem.sheets[0].linear.size();
  const auto with_own_cache = [&](auto cache) { return solve_smo(problem, rows, options, monitor, cache, {}); };
  const double bytes = options.cache_mb * 1048576;
  return options.single_precision && options.tol > 1e-5 ? with_own_cache(RowCache<float>(n, bytes))
                                                        : with_own_cache(RowCache<double>(n, bytes));
}

}  // namespace granary
