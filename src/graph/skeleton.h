// The adjacency search of the PC algorithm: Spirtes, Glymour, Scheines (2000); Colombo, Maathuis (JMLR 2014), Algorithms 3.2
// (original) and 4.1 (stable).
//
//   start from the complete graph; for l = 0, 1, ...: delete i - j as soon as i _||_ j given some S of adj(i)\j or adj(j)\i, |S|
//   = l
//
// The stable version freezes the adjacency sets while l does not change. Then edges do not affect one another within a level: the
// result does not depend on the order of the variables, and edges are handled in parallel. Each edge goes through its sets in
// lexicographic order, first those of the smaller end, so separating sets do not depend on the number of threads.
#pragma once

#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

#include "../core/monitor.h"
#include "independence.h"
#include "knowledge.h"

namespace granary::graph {

// The set that separated a pair. Pairs that were separated by the empty set at level 0 are not stored: there may be p^2 / 2.
class SeparatingSets {
 public:
  struct Entry {
    std::vector<int> given;
    double p_value;
  };
  explicit SeparatingSets(int variables = 0) : variables_(variables) {}
  void store(int i, int j, std::vector<int> given, double p_value) { sets_[key(i, j)] = {std::move(given), p_value}; }
  void expect(std::size_t more) { sets_.reserve(sets_.size() + more); }
  const std::vector<int>& operator()(int i, int j) const;  // of a pair that is not adjacent
  bool contains(int i, int j, int member) const;
  std::vector<std::pair<std::pair<int, int>, const Entry*>> sorted() const;

 private:
  std::uint64_t key(int i, int j) const {
    return static_cast<std::uint64_t>(std::min(i, j)) * static_cast<std::uint64_t>(variables_) +
           static_cast<std::uint64_t>(std::max(i, j));
  }
  int variables_;
  std::unordered_map<std::uint64_t, Entry> sets_;
};

struct SearchOptions {
  double alpha = 0.01;
  bool stable = true;
  int max_set = std::numeric_limits<int>::max();  // largest conditioning set
  int threads = 1;
};

struct LevelCount {
  std::int64_t tests = 0;    // made
  std::int64_t repeats = 0;  // the printed algorithm makes these too, though it has their answers already
  std::int64_t removed = 0;  // edges
};

struct EdgeStrength {
  int i, j;         // i < j
  double evidence;  // the smallest met; p_value() of it is the largest p-value
};

struct Skeleton {
  std::vector<Bitset> adjacent;
  SeparatingSets separators;
  std::vector<EdgeStrength> edges;  // those left, in lexicographic order
  std::vector<LevelCount> levels;
  bool out_of_data = false;  // larger sets were called for, but the test cannot condition on them
};

Skeleton find_skeleton(const IndependenceTest& test, const Knowledge& knowledge, const SearchOptions& options, Monitor& monitor);

// One edge after another through sets of one size. Used by the skeleton, by Possible-D-SEP and by the collider rules.
struct SetScan {
  bool found = false;
  std::vector<int> separator;
  double evidence = std::numeric_limits<double>::infinity();  // smallest
  std::int64_t tests = 0, repeats = 0;
};
// Adds to `scan`. Sets that lie in `tried` (flags over all variables; may be null) are counted as repeats and not tested.
void scan_sets(TestSession& session, int i, int j, const std::vector<int>& candidates, int size, const Bitset* tried, double cut,
               Monitor& monitor, SetScan& scan);

}  // namespace granary::graph
