// Rows of a large symmetric matrix, kept as long as a budget of bytes allows: the least recently used one goes first.
//
// A row is known on its first places only, as many as were asked for; the rest is computed when it is needed. Two rows always
// fit, whatever the budget, and the last two rows fetched stay valid.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/base/types.h"

namespace granary {

template <class Real>
class RowCache {
 public:
  RowCache(Index rows, double bytes)
      : entries_(static_cast<std::size_t>(rows) + 1), budget_(static_cast<std::size_t>(std::max(bytes, 0.0)) / sizeof(Real)) {
    budget_ = std::max(budget_, 2 * static_cast<std::size_t>(rows));
    entries_.back().before = entries_.back().after = rows;  // the ring's own place, between newest and oldest
  }

  // Row `id` on its first `length` places; fill(from, to, out) computes what is missing.
  template <class Fill>
  const Real* fetch(Index id, Index length, Fill&& fill) {
    Entry& entry = entries_[id];
    const Index known = static_cast<Index>(entry.values.size());
    if (known > 0) unlink(id);
    if (known < length) {
      ++misses_;
      used_ += static_cast<std::size_t>(length - known);
      while (used_ > budget_ && oldest() != ring()) drop(oldest());
      entry.values.resize(static_cast<std::size_t>(length));
      fill(known, length, entry.values.data() + known);
    } else {
      ++hits_;
    }
    link_newest(id);
    return entry.values.data();
  }

  // The row where it is known that far, else null; it grows no younger.
  const Real* peek(Index id, Index length) const {
    return static_cast<Index>(entries_[id].values.size()) >= length ? entries_[id].values.data() : nullptr;
  }

  // What was at place order[k] is now at place k < order.size(). Rows that know fewer places keep those that are first again.
  // Costs as much as there are places whose content changes.
  void reorder(const std::vector<Index>& order) {
    const Index size = static_cast<Index>(order.size());
    std::vector<Index> moved;
    for (Index k = 0; k < size; ++k)
      if (order[k] != k) moved.push_back(k);
    std::vector<Real> values(moved.size());
    for (Index id = entries_.back().after; id != ring();) {
      Entry& entry = entries_[id];
      const Index next = entry.after, known = static_cast<Index>(entry.values.size());
      std::size_t count = 0;
      while (count < moved.size() && moved[count] < known && order[moved[count]] < known) ++count;
      const bool whole = count == moved.size() || moved[count] >= known;
      for (std::size_t m = 0; m < count; ++m) values[m] = entry.values[order[moved[m]]];
      for (std::size_t m = 0; m < count; ++m) entry.values[moved[m]] = values[m];
      if (!whole) shorten(id, moved[count]);
      id = next;
    }
  }

  // Of the places known, only these stay, and close ranks; `kept` ascends.
  void select(const std::vector<Index>& kept) {
    for (Index id = entries_.back().after; id != ring();) {
      Entry& entry = entries_[id];
      const Index next = entry.after, known = static_cast<Index>(entry.values.size());
      Index keep = 0;
      for (; keep < static_cast<Index>(kept.size()) && kept[keep] < known; ++keep) entry.values[keep] = entry.values[kept[keep]];
      if (keep < known) shorten(id, keep);
      id = next;
    }
  }

  void clear() {
    while (oldest() != ring()) drop(oldest());
  }

  std::size_t hits() const { return hits_; }
  std::size_t misses() const { return misses_; }

 private:
  struct Entry {
    std::vector<Real> values;
    Index before = 0, after = 0;  // newer and older
  };

  Index ring() const { return static_cast<Index>(entries_.size()) - 1; }
  Index oldest() const { return entries_.back().before; }
  void unlink(Index id) {
    entries_[entries_[id].before].after = entries_[id].after;
    entries_[entries_[id].after].before = entries_[id].before;
  }
  void link_newest(Index id) {
    Entry& entry = entries_[id];
    entry.before = ring();
    entry.after = entries_.back().after;
    entries_[entry.after].before = id;
    entries_.back().after = id;
  }
  void drop(Index id) {
    unlink(id);
    used_ -= entries_[id].values.size();
    std::vector<Real>().swap(entries_[id].values);
  }
  void shorten(Index id, Index length) {
    if (length == 0) {
      drop(id);
      return;
    }
    used_ -= entries_[id].values.size() - static_cast<std::size_t>(length);
    entries_[id].values.resize(static_cast<std::size_t>(length));
    entries_[id].values.shrink_to_fit();
  }

  std::vector<Entry> entries_;
  std::size_t budget_, used_ = 0, hits_ = 0, misses_ = 0;
};

}  // namespace granary
