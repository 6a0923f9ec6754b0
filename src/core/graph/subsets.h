// Walks over subsets: k of n in lexicographic order, all of n, and all of n by single flips (Gray code).
//
//   for (KSubsets s(n, k); s.valid(); s.next()) use(s.indices());
//   for (GrayCode g(n); g.valid(); g.next()) flip(g.bit());        2^n - 1 flips, starting after the empty set
#pragma once

#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "core/graph/bitset.h"
#include "core/base/errors.h"

namespace granary {

// All k-subsets of {0, .., n-1} as increasing index vectors, in lexicographic order. k = 0 gives the empty set once; k > n
// nothing.
class KSubsets {
 public:
  KSubsets(int n, int k) { restart(n, k); }
  void restart(int n, int k) {  // keeps its memory
    n_ = n;
    indices_.resize(k < 0 ? 0 : k);
    valid_ = k >= 0 && k <= n;
    std::iota(indices_.begin(), indices_.end(), 0);
  }

  bool valid() const { return valid_; }
  const std::vector<int>& indices() const { return indices_; }

  void next() {
    const int k = static_cast<int>(indices_.size());
    int i = k - 1;
    while (i >= 0 && indices_[i] == n_ - k + i) --i;
    if (i < 0) {
      valid_ = false;
      return;
    }
    ++indices_[i];
    for (int j = i + 1; j < k; ++j) indices_[j] = indices_[j - 1] + 1;
  }

  // The chosen elements of `items` (which has n entries), written to `chosen`.
  template <class T>
  void pick(const std::vector<T>& items, std::vector<T>& chosen) const {
    chosen.resize(indices_.size());
    for (std::size_t i = 0; i < indices_.size(); ++i) chosen[i] = items[indices_[i]];
  }

 private:
  int n_;
  std::vector<int> indices_;
  bool valid_;
};

// Counting masks serve up to 62 elements: 2^62 is past what any loop finishes.
inline void require_countable(int n, const char* who) {
  if (n < 0 || n > 62) throw InputError(message(who, " enumerates the subsets of at most 62 elements, not ", n, "."));
}

// All 2^n subsets in the order of their binary numbers; bit i of the mask says whether i is in.
class AllSubsets {
 public:
  explicit AllSubsets(int n) : n_(n) { require_countable(n, "AllSubsets"); }

  bool valid() const { return mask_ >> n_ == 0; }
  void next() { ++mask_; }
  std::uint64_t mask() const { return mask_; }
  bool contains(int i) const { return mask_ >> i & 1; }
  void members(std::vector<int>& out) const {
    out.clear();
    for (std::uint64_t rest = mask_; rest; rest &= rest - 1) out.push_back(__builtin_ctzll(rest));
  }

 private:
  int n_;
  std::uint64_t mask_ = 0;
};

// Reflected Gray code: starting from the empty set, flipping `bit()` and stepping visits each other subset once.
class GrayCode {
 public:
  explicit GrayCode(int n) : n_(n) { require_countable(n, "GrayCode"); }

  bool valid() const { return step_ >> n_ == 0; }
  void next() { ++step_; }
  int bit() const { return __builtin_ctzll(step_); }
  std::uint64_t mask() const { return step_ ^ (step_ >> 1); }  // the subset once bit() has been flipped
  bool sets() const { return mask() >> bit() & 1; }            // whether the flip puts the element in

 private:
  int n_;
  std::uint64_t step_ = 1;
};

// n choose k as a 64-bit number; InputError when it does not fit.
inline std::uint64_t choose(int n, int k) {
  if (k < 0 || k > n) return 0;
  if (k > n - k) k = n - k;
  std::uint64_t result = 1;
  for (int i = 1; i <= k; ++i) {
    // result * (n - k + i) / i is whole; dividing out common factors first keeps the product as small as the quotient allows.
    std::uint64_t factor = n - k + i, divisor = i;
    const std::uint64_t shared = std::gcd(factor, divisor);
    factor /= shared;
    divisor /= shared;
    result /= divisor;
    if (result > std::numeric_limits<std::uint64_t>::max() / factor) {
      throw InputError(message(n, " choose ", k, " is too large for 64 bits."));
    }
    result *= factor;
  }
  return result;
}

// Position of an increasing k-subset of {0, .., n-1} in lexicographic order, and back.
inline std::uint64_t combination_rank(int n, const std::vector<int>& subset) {
  const int k = static_cast<int>(subset.size());
  std::uint64_t rank = choose(n, k);  // counts the subsets that are not smaller, then turns round
  for (int i = 0; i < k; ++i) {
    if (subset[i] < (i ? subset[i - 1] + 1 : 0) || subset[i] >= n) {
      throw InputError(message("combination_rank needs increasing indices in 0 .. ", n - 1, "."));
    }
    rank -= choose(n - 1 - subset[i], k - i);
  }
  return rank - 1;
}

inline std::vector<int> combination_unrank(int n, int k, std::uint64_t rank) {
  if (k < 0 || k > n || rank >= choose(n, k))
    throw InputError(message("there is no subset number ", rank, " of ", k, " out of ", n, "."));
  std::vector<int> subset(k);
  int candidate = 0;
  for (int i = 0; i < k; ++i, ++candidate) {
    for (std::uint64_t block; rank >= (block = choose(n - 1 - candidate, k - i - 1)); ++candidate) rank -= block;
    subset[i] = candidate;
  }
  return subset;
}

}  // namespace granary
