// The best division of a row of m things into intervals, for any cost of an interval: exact, by dynamic programming.
//
//   D_h(j) = min_i D_(h-1)(i) + cost(i, j),   cost(i, j) of the things i .. j - 1
//
// `monge`: the cost has cost(a, c) + cost(b, d) <= cost(a, d) + cost(b, c) for a <= b <= c <= d. The last cut then moves to the
// right with j, and every layer is filled in linear time (SMAWK: Aggarwal et al., Algorithmica 1987); otherwise in m^2 / 2 steps.
//
// A layer is the least loss of the first j things in exactly h intervals. `next()` adds one; what more layers could give is up to
// the caller, who knows what a group costs. `last()` adds one after which there is no other: of it only the end is worked out.
#pragma once

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary {

template <class Cost>
class IntervalLayers {
 public:
  IntervalLayers(Index m, const Cost& cost, bool monge, Monitor& monitor)
      : m_(m), cost_(cost), monge_(monge), monitor_(monitor), last_(m + 1), now_(m + 1) {
    last_[0] = 0;
    for (Index j = 1; j <= m; ++j) last_[j] = cost_(Index{0}, j);
    cut_.push_back(VectorXi::Zero(m + 1));
  }

  Index layers() const { return static_cast<Index>(cut_.size()); }
  double loss() const { return last_[m_]; }  // of all in layers() intervals
  bool can_go_on() const { return layers() < m_; }

  void next() {
    const Index h = layers();
    now_.setConstant(infinity);
    cut_.emplace_back(VectorXi::Zero(m_ + 1));
    if (monge_) {
      std::vector<int> cuts(static_cast<std::size_t>(m_ - h));
      std::iota(cuts.begin(), cuts.end(), static_cast<int>(h));
      search(h + 1, 1, m_ - h, cuts);
    } else {
      fill(h);
    }
    last_.swap(now_);
  }

  void last() {
    const Index h = layers();
    cut_.emplace_back(VectorXi::Zero(m_ + 1));
    double best = infinity;
    for (Index c = h; c < m_; ++c) {
      if ((c & 16383) == 0) monitor_.check();
      const double here = last_[c] + cost_(c, m_);
      if (here < best) {
        best = here;
        cut_.back()[m_] = static_cast<int>(c);
      }
    }
    last_[m_] = best;
  }

  // The interval of every thing, from 0, in the best division into h intervals.
  VectorXi groups(Index h) const {
    VectorXi out(m_);
    Index end = m_;
    for (Index g = h - 1; g >= 0; --g) {
      const Index from = g > 0 ? cut_[static_cast<std::size_t>(g)][end] : 0;
      for (Index i = from; i < end; ++i) out[i] = static_cast<int>(g);
      end = from;
    }
    return out;
  }

 private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  double value(Index j, Index c) const { return c < j ? last_[c] + cost_(c, j) : infinity; }

  void fill(Index h) {
    VectorXi& cut = cut_.back();
    for (Index j = h + 1; j <= m_; ++j) {
      if ((j & 63) == 0) monitor_.check();
      double best = infinity;
      for (Index c = h; c < j; ++c) {
        const double here = last_[c] + cost_(c, j);
        if (here < best) {
          best = here;
          cut[j] = static_cast<int>(c);
        }
      }
      now_[j] = best;
    }
  }

  // Ends first, first + step, ... (count of them). A cut that loses to a later one at j loses to it ever after: of 2r cuts only r
  // can serve r ends, and the cuts of every other end lie between those of its neighbours.
  void search(Index first, Index step, Index count, const std::vector<int>& cuts) {
    if (count < 1) return;
    std::vector<int> kept;
    std::vector<double> judged;  // of a kept cut at the end it was last judged by, the one of its place
    kept.reserve(static_cast<std::size_t>(count));
    judged.reserve(static_cast<std::size_t>(count));
    std::size_t looked = 0;
    for (const int c : cuts) {
      if ((++looked & 16383u) == 0) monitor_.check();
      while (!kept.empty() && judged.back() > value(first + step * (static_cast<Index>(kept.size()) - 1), c)) {
        kept.pop_back();
        judged.pop_back();
      }
      if (static_cast<Index>(kept.size()) == count) continue;
      kept.push_back(c);
      judged.push_back(value(first + step * (static_cast<Index>(kept.size()) - 1), c));
    }
    if (count > 1) search(first + step, 2 * step, count / 2, kept);
    VectorXi& cut = cut_.back();
    std::size_t at = 0;
    for (Index r = 0; r < count; r += 2) {
      if ((r & 16383) == 0) monitor_.check();
      const Index j = first + step * r;
      const Index right = r + 1 < count ? cut[j + step] : kept.back();
      double best = infinity;
      for (;; ++at) {
        const double here = value(j, kept[at]);
        if (here < best) {
          best = here;
          cut[j] = kept[at];
        }
        if (kept[at] >= right) break;
      }
      now_[j] = best;
    }
  }

  Index m_;
  const Cost& cost_;
  bool monge_;
  Monitor& monitor_;
  VectorXd last_, now_;
  std::vector<VectorXi> cut_;  // where the last interval begins
};

}  // namespace granary
