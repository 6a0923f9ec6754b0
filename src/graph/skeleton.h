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

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/base/monitor.h"
#include "graph/independence.h"
#include "graph/knowledge.h"

namespace granary::graph {

// The set that separated a pair. Pairs that were separated by the empty set at level 0 are not stored: there may be p^2 / 2.
class SeparatingSets {
 public:
  struct Entry {
    int i, j;  // i < j
    std::size_t from;
    int size;
    double p_value;
  };
  explicit SeparatingSets(int variables = 0) : rows_(variables) {}
  void store(int i, int j, const int* members, int size, double p_value);
  std::vector<int> operator()(int i, int j) const;  // of a pair that is not adjacent
  bool contains(int i, int j, int member) const;
  std::vector<Entry> sorted() const;
  const int* members(const Entry& entry) const { return members_.data() + entry.from; }

 private:
  const Entry* find(int i, int j) const;
  std::vector<std::vector<Entry>> rows_;  // by the smaller of the two: short lists, which need no index
  std::vector<int> members_;              // of all sets
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

// What the tests of one pair came to. Used by the skeleton and by Possible-D-SEP.
struct SetScan {
  bool found = false;
  double evidence = std::numeric_limits<double>::infinity();  // smallest
  double p_value = 0;                                         // of the separator
  std::int64_t tests = 0, repeats = 0;
};

}  // namespace granary::graph
