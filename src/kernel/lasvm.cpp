#include "kernel/lasvm.h"

#include <numeric>
#include <type_traits>

#include "core/base/errors.h"

namespace granary::kernel {

namespace {

void require_finite(const double* k, Index size) {
  if (!std::isfinite(Eigen::Map<const VectorXd>(k, size).sum()))
    throw InputError(
        "the kernel of two rows is not finite: the data are too large for it. Scale the columns, or lower the degree.");
}

constexpr double drift_interval = 1e5;  // steps between looks at the rounding in f
constexpr Index spare = 64;             // vacant places that are never worth closing

}  // namespace

template <class Real>
Lasvm<Real>::Lasvm(KernelRows& rows, LasvmData& data, const LasvmState& start, const LasvmOptions& options, Monitor& monitor)
    : rows_(rows),
      data_(data),
      options_(options),
      monitor_(monitor),
      cache_(rows.size(), options.cache_mb * 1048576),
      machines_(static_cast<std::size_t>(data.machines()), WitnessSearch(rows.size(), options.bias)),
      idle_(machines_.size()),
      at_(static_cast<std::size_t>(rows.size())),
      holders_(at_.size(), 0),
      nonzero_(at_.size(), 0),
      seeded_(start.seeded),
      size_(start.alpha.rows()),
      b_(VectorXd::Zero(data.machines())),
      objective_(VectorXd::Zero(data.machines())),
      fresh_(rows.size()),
      scores_(data.machines()),
      before_(start) {
  std::iota(at_.begin(), at_.end(), Index(0));
  place_ = at_;
  seeded_.resize(static_cast<std::size_t>(data.classes()), 0);
  for (Index c = 0; c < machines(); ++c) {
    WitnessSearch& machine = machines_[c];
    for (Index s = 0; s < size_; ++s) {
      machine.put(s, data_.y(data_.label[s], c), data_.cost[data_.label[s]], start.f(s, c), start.alpha(s, c));
      if (start.alpha(s, c) != 0) tally(s, 1);
      if (!start.member(s, c)) continue;
      machine.set_member(s, true);
      ++holders_[s];
      if (machine.alpha(s) == 0) idle_[c].push_back(s);
    }
    machine.scan(size_);
    set_bias(c);
    objective_[c] = machine.objective(size_);
  }
}

template <class Real>
int Lasvm<Real>::label(Index row) {
  int& label = data_.label[row];
  if (label < 0) {
    if (!data_.ask) throw InputError(message("the label of row ", row + 1, " is not known."));
    label = data_.ask(row);
  }
  return label;
}

template <class Real>
double Lasvm<Real>::delta() const {
  double delta = 0;
  for (const WitnessSearch& machine : machines_)
    if (std::isfinite(machine.violation())) delta = std::max(delta, machine.violation());
  return delta;
}

// Kernel rows ----------------------------------------------------------------------------------------------------------

template <class Real>
const Real* Lasvm<Real>::row(Index place) {
  return cache_.fetch(at_[place], size_, [&](Index from, Index to, Real* out) {
    thread_local VectorXd work;
    if (work.size() < to - from) work.resize(to - from);
    fill(place, from, to, work.data());
    for (Index t = 0; t < to - from; ++t) out[t] = static_cast<Real>(work[t]);
  });
}

template <class Real>
void Lasvm<Real>::fill(Index place, Index from, Index to, double* out) {
  rows_.row(place, from, to, out);
  require_finite(out, to - from);
}

template <class Real>
const VectorXd& Lasvm<Real>::evaluate(Index row) {
  const Index place = place_[row];
  if (place < size_) {
    for (Index c = 0; c < machines(); ++c) scores_[c] = machines_[c].f(place);
    fresh_row_ = row;
    return scores_;
  }
  const auto known = std::find(candidates_.begin(), candidates_.end(), row);
  if (known != candidates_.end()) {
    fresh_.head(size_) = candidate_rows_.col(known - candidates_.begin());
  } else {
    fill(place, 0, size_, fresh_.data());
  }
  for (Index c = 0; c < machines(); ++c) scores_[c] = fresh_.head(size_).dot(machines_[c].alpha().head(size_));
  fresh_row_ = row;
  return scores_;
}

template <class Real>
MatrixXd Lasvm<Real>::evaluate(const std::vector<Index>& candidates) {
  std::vector<Index> places;
  candidates_.clear();
  for (const Index row : candidates)
    if (place_[row] >= size_) {
      places.push_back(place_[row]);
      candidates_.push_back(row);
    }
  MatrixXd alpha(size_, machines());
  for (Index c = 0; c < machines(); ++c) alpha.col(c) = machines_[c].alpha().head(size_);
  rows_.block(places, 0, size_, candidate_rows_, options_.threads, monitor_);
  require_finite(candidate_rows_.data(), candidate_rows_.size());
  const MatrixXd outside = alpha.transpose() * candidate_rows_;
  MatrixXd out(machines(), static_cast<Index>(candidates.size()));
  Index next = 0;
  for (std::size_t k = 0; k < candidates.size(); ++k) {
    const Index place = place_[candidates[k]];
    for (Index c = 0; c < machines(); ++c)
      out(c, static_cast<Index>(k)) = place < size_ ? machines_[c].f(place) : outside(c, next);
    if (place >= size_) ++next;
  }
  return out;
}

// S --------------------------------------------------------------------------------------------------------------------

template <class Real>
void Lasvm<Real>::tally(Index s, int change) {
  const bool had = nonzero_[s] > 0;
  nonzero_[s] += change;
  support_ += static_cast<Index>(nonzero_[s] > 0) - static_cast<Index>(had);
}

// The row evaluated last gets the first place behind S.
template <class Real>
Index Lasvm<Real>::insert(Index row) {
  const Index s = size_, from = place_[row];
  rows_.swap(s, from);
  std::swap(at_[s], at_[from]);
  std::swap(place_[at_[s]], place_[at_[from]]);
  fresh_[s] = rows_.diagonal()[s];
  ++size_;
  cache_.fetch(row, size_, [&](Index first, Index last, Real* out) {
    for (Index t = first; t < last; ++t) out[t - first] = static_cast<Real>(fresh_[t]);
  });
  const int code = label(row);
  for (Index c = 0; c < machines(); ++c) machines_[c].put(s, data_.y(code, c), data_.cost[code], scores_[c]);
  holders_[s] = nonzero_[s] = 0;
  ++vacant_;
  candidates_.clear();  // their kernel rows lack the new member
  return s;
}

template <class Real>
void Lasvm<Real>::admit(Index c, Index s) {
  machines_[c].set_member(s, true);
  machines_[c].include(s);
  if (holders_[s]++ == 0) --vacant_;
  idle_[c].push_back(s);
}

template <class Real>
void Lasvm<Real>::drop(Index c, Index s) {
  machines_[c].set_member(s, false);
  if (--holders_[s] == 0) ++vacant_;
}

template <class Real>
void Lasvm<Real>::seed(Index row) {
  ++seeded_[static_cast<std::size_t>(label(row))];
  evaluate(row);
  const Index s = place_[row] < size_ ? place_[row] : insert(row);
  for (Index c = 0; c < machines(); ++c) {
    if (!machines_[c].member(s)) admit(c, s);
    set_bias(c);
  }
}

// Steps ----------------------------------------------------------------------------------------------------------------

// Whether the example can form a violating pair with a member of S: where not, it would only clutter S.
template <class Real>
bool Lasvm<Real>::wants(Index c, double y, double g) const {
  if (options_.keep_all) return true;
  if (!options_.bias) return y * g > 0;
  const double partner = y > 0 ? machines_[c].least() : machines_[c].largest();
  return std::isfinite(partner) && (y > 0 ? g >= partner : g <= partner);
}

template <class Real>
void Lasvm<Real>::step(Index c, Index i, Index j) {
  WitnessSearch& machine = machines_[c];
  const bool had_i = machine.alpha(i) != 0, had_j = j >= 0 && machine.alpha(j) != 0;
  const Real* ki = row(i);
  const VectorXd& diagonal = rows_.diagonal();
  if (options_.bias) {
    const Real* kj = row(j);
    objective_[c] += machine.step_pair(i, j, ki, kj, diagonal[i], diagonal[j], size_);
  } else {
    objective_[c] += machine.step_single(i, ki, diagonal[i], size_);
  }
  follow(c, i, had_i);
  if (options_.bias) follow(c, j, had_j);
  refresh_drift(c);
}

template <class Real>
void Lasvm<Real>::follow(Index c, Index s, bool had) {
  const bool has = machines_[c].alpha(s) != 0;
  if (has != had) tally(s, has ? 1 : -1);
  if (had && !has) idle_[c].push_back(s);
}

template <class Real>
bool Lasvm<Real>::process(Index row) {
  if (fresh_row_ != row) evaluate(row);
  const int code = label(row);
  Index s = place_[row];
  std::vector<Index> takers;
  for (Index c = 0; c < machines(); ++c) {
    if (s < size_ && machines_[c].member(s)) continue;
    const double y = data_.y(code, c);
    if (wants(c, y, y - scores_[c])) takers.push_back(c);
  }
  if (takers.empty()) return false;
  if (s >= size_) s = insert(row);
  for (const Index c : takers) {
    WitnessSearch& machine = machines_[c];
    const bool positive = machine.y(s) > 0;
    const Index partner = positive ? machine.least_at() : machine.largest_at();
    admit(c, s);
    if (!options_.bias) {
      if (std::abs(machine.gradient(s)) > options_.tol && machine.y(s) * machine.gradient(s) > 0) step(c, s, -1);
    } else if (partner >= 0) {
      const Index i = positive ? s : partner, j = positive ? partner : s;
      if (machine.gradient(i) - machine.gradient(j) > options_.tol) step(c, i, j);
    }
    set_bias(c);
  }
  return true;
}

template <class Real>
bool Lasvm<Real>::reprocess(Index c) {
  WitnessSearch& machine = machines_[c];
  if (!(machine.violation() > options_.tol) || !std::isfinite(machine.violation())) return false;
  if (options_.bias) {
    step(c, machine.largest_at(), machine.least_at());
  } else {
    step(c, machine.largest() >= -machine.least() ? machine.largest_at() : machine.least_at(), -1);
  }
  prune(c);
  set_bias(c);
  return true;
}

template <class Real>
bool Lasvm<Real>::reprocess() {
  bool moved = false;
  for (Index c = 0; c < machines(); ++c) {
    bool more = true;
    for (double count = 0; more && (count == 0 || machines_[c].violation() >= options_.delta_max); ++count) {
      more = reprocess(c);
      moved |= more;
      if (count > options_.max_iter) break;
      if (count > 0) monitor_.check();
    }
  }
  if (vacant_ > size_ / 5 + spare) close_ranks();
  return moved;
}

// REPROCESS (4). The extreme members themselves stay, so that b remains known.
template <class Real>
void Lasvm<Real>::prune(Index c) {
  WitnessSearch& machine = machines_[c];
  const double largest = options_.bias ? machine.largest() : std::max(0.0, machine.largest());
  const double least = options_.bias ? machine.least() : std::min(0.0, machine.least());
  std::vector<Index>& idle = idle_[c];
  std::size_t kept = 0;
  for (const Index s : idle) {
    if (!machine.member(s) || machine.alpha(s) != 0) continue;
    const double g = machine.gradient(s);
    const bool beyond = machine.y(s) < 0 ? g >= largest : g <= least;
    if (beyond && !options_.keep_all && s != machine.largest_at() && s != machine.least_at()) {
      drop(c, s);
    } else {
      idle[kept++] = s;
    }
  }
  idle.resize(kept);
}

template <class Real>
void Lasvm<Real>::set_bias(Index c) {
  const WitnessSearch& machine = machines_[c];
  const bool above = std::isfinite(machine.largest()), below = std::isfinite(machine.least());
  b_[c] = 0;
  if (!options_.bias) return;
  if (above && below) {
    b_[c] = 0.5 * (machine.largest() + machine.least());
  } else if (above || below) {  // one class only so far: its own label everywhere
    b_[c] = above ? machine.largest() : machine.least();
  }
}

template <class Real>
void Lasvm<Real>::close_ranks() {
  std::vector<Index> order, gone, now(static_cast<std::size_t>(size_), -1);
  for (Index s = 0; s < size_; ++s) {
    if (holders_[s] > 0) now[static_cast<std::size_t>(s)] = static_cast<Index>(order.size());
    (holders_[s] > 0 ? order : gone).push_back(s);
  }
  if (gone.empty()) return;
  cache_.select(order);
  const Index left = static_cast<Index>(order.size());
  order.insert(order.end(), gone.begin(), gone.end());
  rows_.reorder(order);
  const auto permute = [&](auto& values) {
    const auto old = values;
    for (std::size_t k = 0; k < order.size(); ++k) values[k] = old[static_cast<std::size_t>(order[k])];
  };
  permute(at_);
  permute(holders_);
  permute(nonzero_);
  for (Index s = 0; s < size_; ++s) place_[at_[s]] = s;
  size_ = left;
  vacant_ = 0;
  fresh_row_ = -1;
  candidates_.clear();
  for (Index c = 0; c < machines(); ++c) {
    machines_[c].reorder(order);
    machines_[c].scan(size_);
    std::size_t kept = 0;
    for (const Index s : idle_[c])
      if (now[static_cast<std::size_t>(s)] >= 0) idle_[c][kept++] = now[static_cast<std::size_t>(s)];
    idle_[c].resize(kept);
  }
}

// f afresh, where the rounding of many steps could be seen next to the tolerance.
template <class Real>
void Lasvm<Real>::refresh_drift(Index c) {
  WitnessSearch& machine = machines_[c];
  if (std::fmod(machine.steps(), drift_interval) != 0) return;
  const double rounding = std::numeric_limits<double>::epsilon() * std::max(1.0, machine.f().head(size_).cwiseAbs().maxCoeff());
  if (machine.steps() * rounding < 0.01 * options_.tol) return;
  VectorXd f = VectorXd::Zero(size_);
  for (Index s = 0; s < size_; ++s) {
    if (machine.alpha(s) == 0) continue;
    f += machine.alpha(s) * Eigen::Map<const Eigen::Matrix<Real, Eigen::Dynamic, 1>>(row(s), size_).template cast<double>();
    monitor_.check();
  }
  for (Index s = 0; s < size_; ++s) machine.set_solution(s, machine.alpha(s), f[s]);
  machine.scan(size_);
}

// Finishing ------------------------------------------------------------------------------------------------------------

template <class Real>
bool Lasvm<Real>::finish() {
  bool done = true;
  for (Index c = 0; c < machines(); ++c) done &= finish_machine(c);
  return done;
}

template <class Real>
bool Lasvm<Real>::finish_machine(Index c) {
  WitnessSearch& machine = machines_[c];
  if (!std::isfinite(machine.violation())) return true;  // one class only: nothing can move
  if (!options_.bias) return finish_without_bias(c);
  SmoProblem problem;
  problem.sheets.resize(1);
  SmoSheet& sheet = problem.sheets[0];
  sheet.linear.resize(size_);
  sheet.lower = sheet.upper = VectorXd::Zero(size_);
  sheet.start = machine.alpha().head(size_);
  problem.f = machine.f().head(size_);
  for (Index s = 0; s < size_; ++s) {
    sheet.linear[s] = machine.y(s);
    if (!machine.member(s)) continue;
    sheet.lower[s] = machine.lower(s);
    sheet.upper[s] = machine.upper(s);
  }
  SmoOptions options;
  options.tol = options_.tol;
  options.max_iter = options_.max_iter;
  options.cache_mb = options_.cache_mb;
  const std::vector<Index> names(at_.begin(), at_.begin() + size_);
  const SmoResult solved = solve_smo(problem, rows_, options, monitor_, cache_, names);
  before_.steps += solved.iterations;
  idle_[c].clear();
  for (Index s = 0; s < size_; ++s) {
    const bool had = machine.alpha(s) != 0, has = solved.beta[0][s] != 0;
    if (had != has) tally(s, has ? 1 : -1);
    machine.set_solution(s, solved.beta[0][s], solved.f[s]);
    if (machine.member(s) && !has) idle_[c].push_back(s);
  }
  machine.scan(size_);
  objective_[c] = machine.objective(size_);
  prune(c);
  set_bias(c);
  return solved.convergence.converged;
}

// Steps in one coefficient: with the rows of the cache, then, where these are single precision and the true slopes are still above
// the tolerance, with rows in double precision.
template <class Real>
bool Lasvm<Real>::finish_without_bias(Index c) {
  WitnessSearch& machine = machines_[c];
  double count = 0;
  while (reprocess(c)) {
    if (++count >= options_.max_iter) return false;
    monitor_.check();
  }
  if (std::is_same_v<Real, double>) return true;
  certify();
  RowCache<double> exact(rows_.size(), options_.cache_mb * 1048576);
  while (machine.violation() > options_.tol) {
    if (++count >= options_.max_iter) return false;
    const Index i = machine.largest() >= -machine.least() ? machine.largest_at() : machine.least_at();
    const bool had = machine.alpha(i) != 0;
    const double* ki = exact.fetch(at_[i], size_, [&](Index from, Index to, double* out) { fill(i, from, to, out); });
    objective_[c] += machine.step_single(i, ki, rows_.diagonal()[i], size_);
    follow(c, i, had);
    monitor_.check();
  }
  prune(c);
  return true;
}

template <class Real>
void Lasvm<Real>::certify() {
  constexpr Index width = 32;
  MatrixXd alpha(size_, machines()), f = MatrixXd::Zero(size_, machines()), block;
  for (Index c = 0; c < machines(); ++c) alpha.col(c) = machines_[c].alpha().head(size_);
  std::vector<Index> which;
  for (Index s = 0; s < size_; ++s) {
    if (nonzero_[s] > 0) which.push_back(s);
    if (which.empty() || (static_cast<Index>(which.size()) < width && s + 1 < size_)) continue;
    rows_.block(which, 0, size_, block);
    require_finite(block.data(), block.size());
    for (std::size_t k = 0; k < which.size(); ++k) f += block.col(static_cast<Index>(k)) * alpha.row(which[k]);
    which.clear();
    monitor_.check();
  }
  for (Index c = 0; c < machines(); ++c) {
    WitnessSearch& machine = machines_[c];
    for (Index s = 0; s < size_; ++s) machine.set_solution(s, machine.alpha(s), f(s, c));
    machine.scan(size_);
    objective_[c] = machine.objective(size_);
    set_bias(c);
  }
}

template <class Real>
LasvmReach Lasvm<Real>::reach(const std::vector<Index>& which) {
  LasvmReach out;
  out.rows = static_cast<Index>(which.size());
  MatrixXd alpha(size_, machines()), block;
  for (Index c = 0; c < machines(); ++c) alpha.col(c) = machines_[c].alpha().head(size_);
  VectorXd most = VectorXd::Constant(machines(), -WitnessSearch::infinity), least = -most;
  constexpr std::size_t width = 256;
  for (std::size_t from = 0; from < which.size(); from += width) {
    const std::size_t to = std::min(which.size(), from + width);
    std::vector<Index> places;
    for (std::size_t k = from; k < to; ++k) places.push_back(place_[which[k]]);
    rows_.block(places, 0, size_, block, options_.threads, monitor_);
    require_finite(block.data(), block.size());
    const MatrixXd f = block.transpose() * alpha;
    for (std::size_t k = from; k < to; ++k)
      for (Index c = 0; c < machines(); ++c) {
        const int code = label(which[k]);
        const Index place = place_[which[k]];
        const double y = data_.y(code, c), bound = data_.cost[code], a = place < size_ ? alpha(place, c) : 0;
        const double lower = y > 0 ? 0 : -bound, upper = y > 0 ? bound : 0, g = y - f(static_cast<Index>(k - from), c);
        if (a < upper) most[c] = std::max(most[c], g);
        if (a > lower) least[c] = std::min(least[c], g);
        const double slope = g - b_[c];
        out.gap += (slope > 0 ? slope * upper : slope < 0 ? slope * lower : 0) - slope * a;
      }
    monitor_.check();
  }
  for (Index c = 0; c < machines(); ++c) {
    const double violation = options_.bias ? most[c] - least[c] : std::max(most[c], -least[c]);
    if (std::isfinite(violation)) out.violation = std::max(out.violation, violation);
  }
  if (!std::isfinite(out.gap)) out.gap = Convergence::unknown;
  return out;
}

template <class Real>
void Lasvm<Real>::restore(const Snapshot& s) {
  machines_ = s.machines;
  idle_ = s.idle;
  holders_ = s.holders;
  nonzero_ = s.nonzero;
  b_ = s.b;
  objective_ = s.objective;
  support_ = s.support;
  vacant_ = s.vacant;
}

// Out ------------------------------------------------------------------------------------------------------------------

template <class Real>
std::vector<Index> Lasvm<Real>::support_rows() const {
  std::vector<Index> out;
  for (Index s = 0; s < size_; ++s)
    if (nonzero_[s] > 0) out.push_back(at_[s]);
  return out;
}

template <class Real>
MatrixXd Lasvm<Real>::support_alpha() const {
  MatrixXd out(support_, machines());
  Index next = 0;
  for (Index s = 0; s < size_; ++s) {
    if (nonzero_[s] == 0) continue;
    for (Index c = 0; c < machines(); ++c) out(next, c) = machines_[c].alpha(s);
    ++next;
  }
  return out;
}

template <class Real>
LasvmState Lasvm<Real>::state() {
  close_ranks();
  LasvmState out;
  out.alpha.resize(size_, machines());
  out.f.resize(size_, machines());
  out.member.resize(size_, machines());
  out.b = b_;
  out.delta.resize(machines());
  out.objective = objective_;
  out.seeded = seeded_;
  out.steps = before_.steps;
  for (Index c = 0; c < machines(); ++c) {
    const WitnessSearch& machine = machines_[c];
    out.delta[c] = std::isfinite(machine.violation()) ? machine.violation() : 0;
    out.steps += machine.steps();
    for (Index s = 0; s < size_; ++s) {
      out.alpha(s, c) = machine.alpha(s);
      out.f(s, c) = machine.f(s);
      out.member(s, c) = machine.member(s);
    }
  }
  out.kernel_values = before_.kernel_values + rows_.values_computed();
  out.cache_hits = before_.cache_hits + static_cast<double>(cache_.hits());
  out.cache_misses = before_.cache_misses + static_cast<double>(cache_.misses());
  out.rows.assign(at_.begin(), at_.begin() + size_);
  return out;
}

template class Lasvm<float>;
template class Lasvm<double>;

}  // namespace granary::kernel
