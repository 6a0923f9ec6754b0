// One graph type for undirected graphs, DAGs, CPDAGs, ancestral graphs and PAGs: at most one edge per pair of nodes, with a mark
// at each end.
//
//   i -- j  tail, tail        i -> j  tail, arrow        i <-> j  arrow, arrow        i o-> j  circle, arrow   ...
//
// Each node keeps five bit rows (adjacent; near and far arrows; near and far tails), so that parents, children and the rest are
// one pass of word operations: 5 p^2 bits in all, 16 MB at p = 5000. Nodes are 0 .. p - 1; messages to users count from 1.
#pragma once

#include <cstdint>
#include <vector>

#include "core/graph/bitset.h"
#include "core/random/rng.h"

namespace granary {

enum class Mark : std::uint8_t { none, tail, arrow, circle };

struct MarkedEdge {
  int from, to;  // from < to
  Mark at_from, at_to;
  friend bool operator==(const MarkedEdge& a, const MarkedEdge& b) {
    return a.from == b.from && a.to == b.to && a.at_from == b.at_from && a.at_to == b.at_to;
  }
};

class MixedGraph {
 public:
  explicit MixedGraph(int nodes = 0);
  static MixedGraph complete(int nodes, Mark mark = Mark::tail);  // every edge with this mark at both ends

  int nodes() const { return static_cast<int>(adjacent_.size()); }
  int edges() const { return edges_; }
  std::vector<MarkedEdge> edge_list() const;  // in lexicographic order

  bool adjacent(int i, int j) const { return adjacent_[i].test(j); }
  Mark mark(int i, int j) const;  // at j, on the edge between i and j
  bool directed(int i, int j) const { return near_tail_[i].test(j) && far_arrow_[i].test(j); }     // i -> j
  bool undirected(int i, int j) const { return near_tail_[i].test(j) && far_tail_[i].test(j); }    // i -- j
  bool bidirected(int i, int j) const { return near_arrow_[i].test(j) && far_arrow_[i].test(j); }  // i <-> j

  // Adds the edge or gives it new marks; `orient` and `set_mark` insist that it is there.
  void set_edge(int i, int j, Mark at_i, Mark at_j);
  void add_undirected(int i, int j) { set_edge(i, j, Mark::tail, Mark::tail); }
  void add_directed(int i, int j) { set_edge(i, j, Mark::tail, Mark::arrow); }
  void add_bidirected(int i, int j) { set_edge(i, j, Mark::arrow, Mark::arrow); }
  void orient(int i, int j);  // to i -> j
  void set_mark(int i, int j, Mark at_j);
  void remove_edge(int i, int j);
  void remove_edges_of(int i);

  int degree(int i) const { return adjacent_[i].count(); }
  const Bitset& neighbours(int i) const { return adjacent_[i]; }    // whatever the marks
  const Bitset& arrows_at(int i) const { return near_arrow_[i]; }   // j *-> i
  const Bitset& tails_at(int i) const { return near_tail_[i]; }     // j *-- i
  const Bitset& arrows_from(int i) const { return far_arrow_[i]; }  // i *-> j
  const Bitset& tails_from(int i) const { return far_tail_[i]; }    // i *-- j
  Bitset parents(int i) const { return near_arrow_[i] & far_tail_[i]; }
  Bitset children(int i) const { return near_tail_[i] & far_arrow_[i]; }
  Bitset spouses(int i) const { return near_arrow_[i] & far_arrow_[i]; }
  Bitset undirected_neighbours(int i) const { return near_tail_[i] & far_tail_[i]; }

  bool all_undirected() const { return undirected_ == edges_; }
  bool all_directed() const { return directed_ == edges_; }
  bool has_circles() const { return with_circle_ > 0; }

  friend bool operator==(const MixedGraph& a, const MixedGraph& b) {
    return a.adjacent_ == b.adjacent_ && a.far_arrow_ == b.far_arrow_ && a.far_tail_ == b.far_tail_;
  }
  friend bool operator!=(const MixedGraph& a, const MixedGraph& b) { return !(a == b); }

 private:
  void require_edge(int i, int j) const;
  void put(int i, int j, Mark at_i, Mark at_j);  // row i only
  void count(int i, int j, int change);          // adds the edge to the tallies or takes it off

  int edges_ = 0, directed_ = 0, undirected_ = 0, with_circle_ = 0;
  std::vector<Bitset> adjacent_, near_arrow_, near_tail_, far_arrow_, far_tail_;
};

MixedGraph skeleton(const MixedGraph& graph);                                         // same adjacencies, all undirected
MixedGraph induced_subgraph(const MixedGraph& graph, const std::vector<int>& nodes);  // node i of the result is nodes[i]
std::vector<int> connected_components(const MixedGraph& graph);  // labels 0, 1, ... by smallest member, whatever the marks
std::vector<std::vector<int>> component_members(const MixedGraph& graph);   // in that order, members increasing
int structural_hamming_distance(const MixedGraph& a, const MixedGraph& b);  // pairs of nodes whose edge or marks differ

// Along directed edges; both include the nodes asked for.
Bitset ancestors(const MixedGraph& graph, const Bitset& of);
Bitset descendants(const MixedGraph& graph, const Bitset& of);

// Parents before children, smallest free node first; InputError naming a cycle if there is one. Other edges are ignored.
std::vector<int> topological_order(const MixedGraph& graph);
std::vector<int> directed_cycle(
    const MixedGraph& graph);  // i_1 -> i_2 -> ... -> i_1 (first not repeated), empty if there is none
bool is_dag(const MixedGraph& graph);

MixedGraph moral_graph(const MixedGraph& dag);  // parents of a common child joined, directions dropped

// Each pair is an edge with this probability; the DAG directs them along a random order.
MixedGraph random_undirected_graph(int nodes, double edge_probability, Rng& rng);
MixedGraph random_dag(int nodes, double edge_probability, Rng& rng);

}  // namespace granary
