#include "kernel/structured_qp.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/errors.h"

namespace granary::kernel {
namespace {

// A hard margin below this share of the largest ||d|| counts as none.
constexpr double smallest_margin = 1e-5;

constexpr double tiny = 1e-14;

// Steps within one visit of a block; what is left waits for the next visit.
int step_limit(Index cuts) { return 10 * static_cast<int>(cuts) + 50; }

}  // namespace

CutSet::CutSet(const Output& output, Space& space, SlackPenalty penalty, double cost)
    : output_(output),
      space_(space),
      penalty_(penalty),
      budget_(cost / static_cast<double>(output.size())),
      ridge_(penalty == SlackPenalty::squared ? static_cast<double>(output.size()) / cost : 0),
      blocks_(static_cast<std::size_t>(output.size())),
      order_(1) {}

double CutSet::highest(Index i, const CutValues& value) const {
  double most = -std::numeric_limits<double>::infinity();
  for (const Cut& cut : cuts(i)) most = std::max(most, value(cut));
  return most;
}

void CutSet::add(Index i, Cut cut) {
  Block& block = blocks_[static_cast<std::size_t>(i)];
  const Index m = static_cast<Index>(block.cuts.size());
  if (block.gram.rows() <= m) block.gram.conservativeResize(2 * m + 2, 2 * m + 2);
  for (Index r = 0; r < m; ++r) {
    block.gram(r, m) = block.gram(m, r) = space_.inner(block.cuts[static_cast<std::size_t>(r)].direction, cut.direction);
  }
  block.gram(m, m) = space_.inner(cut.direction, cut.direction);
  largest_norm2_ = std::max(largest_norm2_, block.gram(m, m));
  block.cuts.push_back(std::move(cut));
  ++size_;
}

// The pair (up, down) with the largest difference of slopes, `down` having something to give; index m is the unused budget.
double CutSet::solve_with_budget(Block& block, const std::vector<Index>& at, VectorXd& slope, VectorXd& b, double tol) const {
  const Index m = slope.size();
  double arrival = -1;
  for (int step = 0; step < step_limit(m); ++step) {
    Index up = m, down = -1;
    double high = 0, low = std::numeric_limits<double>::infinity();
    if (block.total < budget_) {
      low = 0;
      down = m;
    }
    for (Index r = 0; r < m; ++r) {
      if (slope[r] > high) {
        high = slope[r];
        up = r;
      }
      if (b[r] > 0 && slope[r] < low) {
        low = slope[r];
        down = r;
      }
    }
    const double violation = high - low;
    if (arrival < 0) arrival = violation;
    if (!(violation > tol) || up == down) break;
    const auto product = [&](Index r, Index s) { return r == m || s == m ? 0 : block.gram(at[r], at[s]); };
    // of those that can give to `up`, the one that promises the largest gain (Fan, Chen and Lin 2005)
    double most = -1, curvature = 0, difference = 0;
    for (Index r = 0; r <= m; ++r) {
      if (r == up || (r < m ? !(b[r] > 0) : !(block.total < budget_))) continue;
      const double ahead = high - (r < m ? slope[r] : 0);
      if (!(ahead > 0)) continue;
      const double bend = std::max(product(up, up) + product(r, r) - 2 * product(up, r), tiny * largest_norm2_);
      if (ahead * ahead / bend > most) {
        most = ahead * ahead / bend;
        curvature = bend;
        difference = ahead;
        down = r;
      }
    }
    const double available = down == m ? budget_ - block.total : b[down];
    const bool all = !(curvature * available > difference);
    const double move = all ? available : difference / curvature;
    if (up < m) b[up] += move;
    if (down < m) b[down] = all ? 0 : b[down] - move;
    if (up == m) block.total -= move;
    if (down == m) block.total = all ? budget_ : block.total + move;
    for (Index r = 0; r < m; ++r) slope[r] -= move * (product(r, up) - product(r, down));
  }
  return arrival;
}

double CutSet::solve_free(Block& block, const std::vector<Index>& at, VectorXd& slope, VectorXd& b, double tol) const {
  const Index m = slope.size();
  double arrival = -1;
  for (int step = 0; step < step_limit(m); ++step) {
    Index best = -1;
    double most = 0;
    for (Index r = 0; r < m; ++r) {
      const double violation = b[r] > 0 ? std::abs(slope[r]) : slope[r];
      if (violation > most) {
        most = violation;
        best = r;
      }
    }
    if (arrival < 0) arrival = most;
    if (!(most > tol)) break;
    const double curvature = block.gram(at[best], at[best]) + ridge_;
    if (!(curvature > 0)) {
      throw InputError("the data cannot be separated: two outputs of one example have the same features. Use a soft margin.");
    }
    const double move = std::max(-b[best], slope[best] / curvature);
    b[best] = move == -b[best] ? 0 : b[best] + move;
    block.total += move;
    for (Index r = 0; r < m; ++r) slope[r] -= move * (block.gram(at[r], at[best]) + ridge_);
  }
  return arrival;
}

double CutSet::optimise(Index i, double tol, bool all_cuts, const Enlarge& enlarge) {
  Block& block = blocks_[static_cast<std::size_t>(i)];
  at_.clear();
  for (std::size_t r = 0; r < block.cuts.size(); ++r) {
    if (all_cuts || !block.cuts[r].rests) at_.push_back(static_cast<Index>(r));
  }
  if (at_.empty()) return 0;
  const CutValues value(output_, space_.view(), i, at_.size());
  if (enlarge && value.scores().size() > 0 && enlarge(i, value)) at_.push_back(static_cast<Index>(block.cuts.size()) - 1);
  const Index m = static_cast<Index>(at_.size());
  VectorXd slope(m), b(m);
  for (Index r = 0; r < m; ++r) {
    const Cut& cut = block.cuts[static_cast<std::size_t>(at_[r])];
    slope[r] = value(cut) - ridge_ * block.total;
    b[r] = cut.b;
  }
  const double arrival =
      penalty_ == SlackPenalty::linear ? solve_with_budget(block, at_, slope, b, tol) : solve_free(block, at_, slope, b, tol);
  double total = 0, level = 0;
  for (Index r = 0; r < m; ++r) {
    Cut& cut = block.cuts[static_cast<std::size_t>(at_[r])];
    if (b[r] != cut.b) space_.add(b[r] - cut.b, cut.direction);
    cut.b = b[r];
    total += b[r];
    if (b[r] > 0) level = std::max(level, slope[r]);
  }
  if (all_cuts) {
    for (Index r = 0; r < m; ++r) block.cuts[static_cast<std::size_t>(at_[r])].rests = b[r] == 0 && slope[r] < level;
  }
  // Afresh, so that rounding does not build up; a budget that is used up stays so.
  block.total = penalty_ == SlackPenalty::linear && block.total == budget_ ? budget_ : total;
  return arrival;
}

bool CutSet::optimise_all(double tol, int max_passes, Monitor& monitor, const Enlarge& enlarge) {
  std::vector<Index> all;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    if (!blocks_[i].cuts.empty()) all.push_back(static_cast<Index>(i));
  }
  std::vector<Index> active = all, next;
  for (int pass = 0; pass < max_passes; ++pass) {
    const bool complete = active.size() == all.size();
    for (std::size_t j = active.size(); j > 1; --j) {  // in random order ascent needs fewer passes; the seed is fixed
      std::swap(active[j - 1], active[static_cast<std::size_t>(order_.uniform() * static_cast<double>(j))]);
    }
    const VectorXd before = complete && pass > 0 ? all_weights() : VectorXd();
    const Index size = size_;
    next.clear();
    for (Index i : active) {
      monitor.check();
      if (optimise(i, tol / 2, complete, enlarge) > tol) next.push_back(i);
    }
    if (next.empty() && complete) return true;
    if (before.size() > 0 && size == size_) stretch(before);
    if (penalty_ == SlackPenalty::none && complete) require_separable();
    if (next.empty()) {
      active = all;
    } else {
      active.swap(next);  // blocks that were fine are left alone until the others are
    }
  }
  return false;
}

VectorXd CutSet::all_weights() const {
  VectorXd b(size_);
  Index k = 0;
  for (const Block& block : blocks_) {
    for (const Cut& cut : block.cuts) b[k++] = cut.b;
  }
  return b;
}

// Where C is large single steps crawl, and without a soft margin they crawl for ever when there is no margin: one exact step
// along the movement of the last pass, as far as the constraints allow.
void CutSet::stretch(const VectorXd& before) {
  const VectorXd move = all_weights() - before;
  SparseBuilder builder;
  double slope = 0, curvature = 0, sum = 0, limit = std::numeric_limits<double>::infinity();
  Index k = 0;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const Block& block = blocks_[i];
    const CutValues value = values(static_cast<Index>(i));
    double shift = 0, size = 0;
    for (const Cut& cut : block.cuts) {
      const double step = move[k++];
      sum += cut.b;
      if (step == 0) continue;
      slope += step * (value(cut) - ridge_ * block.total);
      shift += step;
      size += std::abs(step);
      if (step < 0) limit = std::min(limit, cut.b / -step);
      for (std::size_t j = 0; j < cut.direction.index.size(); ++j)
        builder.add(cut.direction.index[j], step * cut.direction.value[j]);
    }
    curvature += ridge_ * shift * shift;
    if (penalty_ == SlackPenalty::linear && shift > 1e-12 * size) limit = std::min(limit, (budget_ - block.total) / shift);
  }
  if (!(slope > 0) || !(limit > 0)) return;
  const SparseVector direction = builder.finish();
  curvature += space_.inner(direction, direction);
  const double far = 1e3 * sum / move.cwiseAbs().sum();  // rounding may leave no curvature where there is some
  const double length = std::min({limit, far, curvature > 0 ? slope / curvature : far});
  if (!(length > 0) || !std::isfinite(length)) return;
  k = 0;
  for (Block& block : blocks_) {
    double total = 0;
    for (Cut& cut : block.cuts) {
      cut.b = std::max(0.0, cut.b + length * move[k++]);
      total += cut.b;
    }
    block.total = penalty_ == SlackPenalty::linear && (block.total == budget_ || total > budget_) ? budget_ : total;
  }
  space_.add(length, direction);
}

// The largest margin any w of norm 1 can have is the distance of the convex hull of the d_r from 0, so at most ||w|| / sum_r b_r.
void CutSet::require_separable() const {
  double sum = 0;
  for (const Block& block : blocks_) sum += block.total;
  const double margin = std::sqrt(std::max(space_.norm2(), 0.0)) / sum;
  if (sum > 0 && margin < smallest_margin * std::sqrt(largest_norm2_)) {
    throw InputError(message("the data cannot be separated: no weights reach a margin above ", margin,
                             ", with feature differences as large as ", std::sqrt(largest_norm2_),
                             ". Use penalty = \"linear\" or \"squared\"."));
  }
}

double CutSet::dual() const {
  double theta = -0.5 * space_.norm2();
  for (const Block& block : blocks_) {
    for (const Cut& cut : block.cuts) theta += cut.height * cut.b;
    theta -= 0.5 * ridge_ * block.total * block.total;
  }
  return theta;
}

void CutSet::prune(int age) {
  for (Block& block : blocks_) {
    std::vector<Index> keep;
    for (std::size_t r = 0; r < block.cuts.size(); ++r) {
      Cut& cut = block.cuts[r];
      cut.idle = cut.b > 0 ? 0 : cut.idle + 1;
      if (cut.idle <= age) keep.push_back(static_cast<Index>(r));
    }
    if (keep.size() == block.cuts.size()) continue;
    for (std::size_t r = 0; r < keep.size(); ++r) {
      if (keep[r] != static_cast<Index>(r)) block.cuts[r] = std::move(block.cuts[static_cast<std::size_t>(keep[r])]);
      for (std::size_t s = 0; s < keep.size(); ++s) {  // sources lie at or after their targets in both directions
        block.gram(static_cast<Index>(r), static_cast<Index>(s)) = block.gram(keep[r], keep[s]);
      }
    }
    size_ -= static_cast<Index>(block.cuts.size() - keep.size());
    block.cuts.resize(keep.size());
  }
}

}  // namespace granary::kernel
