// Which unshielded triples i - j - k are colliders i -> j <- k?
//
//   standard      iff j is not in the set that separated i and k
//   conservative  F = all distinct subsets of adj(i) and of adj(k) that separate i and k. j in none: collider; in all: not;
//   otherwise,
//                 or if F is empty, ambiguous (Ramsey, Zhang, Spirtes 2006)
//   majority      the share of F that contains j: below 1/2 collider, above not, exactly 1/2 or F empty ambiguous (Colombo,
//   Maathuis
//                 2014, section 4.2; the band that counts as "exactly" can be widened)
//
// The last two do not look at the separating sets of the search, so they do not depend on the order of the variables. A set in
// both adjacencies counts once, as in Example 5 of the paper. Where hidden variables are allowed a pair may be separated only by
// sets outside the adjacencies. If F is empty there, it is made of the smallest separating subsets of `wider` sets
// (Possible-D-SEP), as long as they are no larger than the set of the search (whose size does not depend on the order either),
// and failing that of the latter.
#pragma once

#include <array>
#include <map>
#include <unordered_set>
#include <vector>

#include "core/base/fields.h"
#include "graph/skeleton.h"

namespace granary::graph {

enum class ColliderRule { standard, conservative, majority };
inline Names<ColliderRule> names(ColliderRule) {
  return {{ColliderRule::standard, "standard"}, {ColliderRule::conservative, "conservative"}, {ColliderRule::majority, "majority"}};
}
enum class Verdict { collider, not_collider, ambiguous };

struct ColliderOptions {
  ColliderRule rule = ColliderRule::standard;
  double band = 0;      // majority: shares within 1/2 +- band are ambiguous
  bool hidden = false;  // may there be hidden variables?
  int max_set = std::numeric_limits<int>::max();
};

// Unshielded triples i - j - k with i < k.
using Triple = std::array<int, 3>;

class TripleSet {
 public:
  explicit TripleSet(int variables = 0) : p_(static_cast<std::uint64_t>(variables)) {}
  void insert(int i, int j, int k) { keys_.insert(key(i, j, k)); }
  bool contains(int i, int j, int k) const { return !keys_.empty() && keys_.count(key(i, j, k)) > 0; }
  bool empty() const { return keys_.empty(); }

 private:
  std::uint64_t key(int i, int j, int k) const {
    return (static_cast<std::uint64_t>(std::min(i, k)) * p_ + static_cast<std::uint64_t>(j)) * p_ +
           static_cast<std::uint64_t>(std::max(i, k));
  }
  std::uint64_t p_;
  std::unordered_set<std::uint64_t> keys_;
};

std::vector<Triple> unshielded_triples(const std::vector<Bitset>& adjacent);  // lexicographic

class ColliderJudge {
 public:
  // The references must stay valid; `wider` may be null.
  ColliderJudge(const IndependenceTest& test, const std::vector<Bitset>& adjacent, const SeparatingSets& separators,
                const Knowledge& knowledge, const SearchOptions& search, const ColliderOptions& options,
                const std::vector<Bitset>* wider, Monitor& monitor);

  // Counts votes for the pairs of all triples, in parallel.
  void prepare(const std::vector<Triple>& triples);
  // Is j outside (collider) or inside the sets that separate i and k? j need not be adjacent to them.
  Verdict operator()(int i, int j, int k);
  void forget() { votes_.clear(); }        // the adjacencies have changed
  bool capped() const { return capped_; }  // sets larger than max_set were left out
  std::int64_t tests() const { return tests_; }

 private:
  struct Votes {
    std::int64_t total = 0, tests = 0;
    bool capped = false;
    std::map<int, std::int64_t> containing;
  };
  Votes count(int i, int k) const;

  const IndependenceTest& test_;
  const std::vector<Bitset>& adjacent_;
  const SeparatingSets& separators_;
  const Knowledge& knowledge_;
  SearchOptions search_;
  ColliderOptions options_;
  const std::vector<Bitset>* wider_;
  Monitor& monitor_;
  std::map<std::pair<int, int>, Votes> votes_;
  bool capped_ = false;
  std::int64_t tests_ = 0;
};

}  // namespace granary::graph
