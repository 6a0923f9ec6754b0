// Records of Ordyniak and Szeider, in a leaner form. For a bag with nodes b_0 < b_1 < ... a record holds
//
//   in[i]     the parents chosen for b_i among the neighbours met so far (the printed algorithm guesses the full parent set when
//             a node is introduced: as many records as there are sets, where most of the guess is not needed yet)
//   reach     which bag nodes reach which along arcs chosen so far
//   score     of the nodes forgotten
//
// and of two records with the same `in` the one with the higher score is dropped if it reaches all that the other reaches.
#include <algorithm>
#include <array>
#include <limits>
#include <unordered_map>

#include "core/graph/elimination.h"
#include "core/base/errors.h"
#include "graph/causal_dag_reach.h"
#include "graph/causal_dag_search.h"

namespace granary::graph {

namespace {

struct Record {
  Reach reach = 0;
  double score = 0;
  int left = -1, right = -1;  // the records it came from
  std::array<std::uint64_t, bag_limit> in{};
};

struct Trace {  // what is kept of a record for the way back
  int left, right;
  std::uint64_t set;  // parents of the node forgotten
};

using Projections = std::vector<std::uint64_t>;  // increasing

class TreeSearch {
 public:
  TreeSearch(const ScoreTable& table, const std::vector<int>& nodes, const DagSearchOptions& options, Monitor& monitor)
      : options_(options), monitor_(monitor), nodes_(nodes) {
    // Node numbers within the component from here on.
    const int k = static_cast<int>(nodes.size());
    graph_ = induced_subgraph(possible_arcs(table), nodes);
    std::vector<int> inside(table.size(), -1);
    for (int i = 0; i < k; ++i) inside[nodes[i]] = i;
    sets_.resize(k);
    value_.resize(k);
    bit_.assign(k, std::vector<std::pair<int, int>>());
    for (int i = 0; i < k; ++i) {
      sets_[i] = &table[nodes[i]];
      value_[i].reserve(sets_[i]->sets.size());
      for (std::size_t s = 0; s < sets_[i]->sets.size(); ++s) value_[i][sets_[i]->sets[s]] = sets_[i]->scores[s];
      for (std::size_t c = 0; c < sets_[i]->candidates.size(); ++c) {
        bit_[i].push_back({inside[sets_[i]->candidates[c]], static_cast<int>(c)});
      }
    }
  }

  TreeStats run(Choice& chosen) {
    TreeStats stats;
    const Triangulation cover = triangulate(graph_, elimination_order(graph_, EliminationRule::min_fill, monitor_));
    stats.width = cover.width;
    if (cover.width + 1 > bag_limit) return stats;
    const std::vector<NiceNode> tree = nice_tree_decomposition(junction_tree(cover));
    std::vector<std::vector<Record>> live(tree.size());
    traces_.resize(tree.size());
    forgotten_.assign(tree.size(), Bitset(graph_.nodes()));
    for (std::size_t t = 0; t < tree.size(); ++t) {
      monitor_.progress(static_cast<double>(t) / tree.size());
      const NiceNode& node = tree[t];
      bool fits = true;
      if (node.kind == NiceNode::Kind::leaf) {
        live[t].emplace_back();
      } else if (node.kind == NiceNode::Kind::introduce) {
        forgotten_[t] = forgotten_[node.left];
        fits = introduce(node, forgotten_[t], live[node.left], live[t]);
      } else if (node.kind == NiceNode::Kind::forget) {
        forgotten_[t] = forgotten_[node.left];
        forgotten_[t].set(node.vertex);
        forget(node, tree[node.left].bag, live[node.left], live[t], traces_[t]);
      } else {
        forgotten_[t] = forgotten_[node.left] | forgotten_[node.right];
        fits = join(node, t, live[node.left], live[node.right], live[t]);
      }
      stats.records += live[t].size();
      stats.largest = std::max(stats.largest, static_cast<double>(live[t].size()));
      if (!fits || stats.records > options_.max_kept) return stats;
      if (node.kind != NiceNode::Kind::forget) {
        traces_[t].reserve(live[t].size());
        for (const Record& r : live[t]) traces_[t].push_back({r.left, r.right, 0});
      }
      for (int child : {node.left, node.right}) {
        if (child >= 0) std::vector<Record>().swap(live[child]);
      }
    }
    if (live.back().empty())
      throw InputError("no DAG satisfies the required and forbidden arcs: the required ones form a cycle.");
    trace_back(tree, chosen);
    stats.finished = true;
    return stats;
  }

 private:
  int bit(int node, int parent) const {  // bit of `parent` among the candidates of `node`, -1 if it is none
    for (const auto& [other, position] : bit_[node]) {
      if (other == parent) return position;
    }
    return -1;
  }

  // Bits of the candidates of `node` that are forgotten or in the bag.
  std::uint64_t met(int node, const std::vector<int>& bag, const Bitset& forgotten) const {
    std::uint64_t mask = 0;
    for (const auto& [other, position] : bit_[node]) {
      if (forgotten.test(other) || std::binary_search(bag.begin(), bag.end(), other)) mask |= std::uint64_t{1} << position;
    }
    return mask;
  }

  Projections projections(int node, std::uint64_t onto) const {
    Projections out;
    out.reserve(sets_[node]->sets.size());
    for (std::uint64_t set : sets_[node]->sets) out.push_back(set & onto);
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

  static bool holds(const Projections& possible, std::uint64_t set) {
    return std::binary_search(possible.begin(), possible.end(), set);
  }

  bool introduce(const NiceNode& node, const Bitset& forgotten, const std::vector<Record>& from, std::vector<Record>& to) {
    const int size = static_cast<int>(node.bag.size()), v = node.vertex;
    const int slot = static_cast<int>(std::lower_bound(node.bag.begin(), node.bag.end(), v) - node.bag.begin());
    struct Neighbour {
      int slot, as_parent, as_child;  // bit of it among the candidates of v, and of v among its own; -1: not allowed
      Projections possible;
    };
    std::vector<Neighbour> around;
    for (int i = 0; i < size; ++i) {
      if (i == slot || !graph_.adjacent(v, node.bag[i])) continue;
      around.push_back(
          {i, bit(v, node.bag[i]), bit(node.bag[i], v), projections(node.bag[i], met(node.bag[i], node.bag, forgotten))});
    }
    const Projections own = projections(v, met(v, node.bag, forgotten));
    for (std::size_t f = 0; f < from.size(); ++f) {
      if ((f & 1023) == 0) monitor_.check();
      Record base;
      base.reach = insert_node(from[f].reach, slot);
      base.score = from[f].score;
      base.left = static_cast<int>(f);
      for (int i = 0; i < size; ++i) base.in[i] = i < slot ? from[f].in[i] : i > slot ? from[f].in[i - 1] : 0;
      // Depth first over none, neighbour -> v, v -> neighbour for every neighbour in the bag.
      const auto extend = [&](const auto& self, std::size_t at, unsigned parents, unsigned children) -> void {
        if (at == around.size()) {
          if (!holds(own, base.in[slot])) return;
          Record done = base;
          if (add_arcs(done.reach, slot, parents, children)) to.push_back(done);
          return;
        }
        const Neighbour& u = around[at];
        if (holds(u.possible, base.in[u.slot])) {
          self(self, at + 1, parents, children);
          if (u.as_parent >= 0) {
            base.in[slot] ^= std::uint64_t{1} << u.as_parent;
            self(self, at + 1, parents | 1u << u.slot, children);
            base.in[slot] ^= std::uint64_t{1} << u.as_parent;
          }
        }
        if (u.as_child >= 0) {
          base.in[u.slot] ^= std::uint64_t{1} << u.as_child;
          if (holds(u.possible, base.in[u.slot])) self(self, at + 1, parents, children | 1u << u.slot);
          base.in[u.slot] ^= std::uint64_t{1} << u.as_child;
        }
      };
      extend(extend, 0, 0, 0);
      if (static_cast<double>(to.size()) > options_.max_records) return false;
    }
    return true;
  }

  void forget(const NiceNode& node, const std::vector<int>& bag, const std::vector<Record>& from, std::vector<Record>& to,
              std::vector<Trace>& trace) {
    const int size = static_cast<int>(bag.size());
    const int slot = static_cast<int>(std::lower_bound(bag.begin(), bag.end(), node.vertex) - bag.begin());
    std::vector<Record> all;
    all.reserve(from.size());
    for (std::size_t f = 0; f < from.size(); ++f) {
      const auto found = value_[node.vertex].find(from[f].in[slot]);
      if (found == value_[node.vertex].end()) continue;
      Record r;
      r.reach = erase_node(from[f].reach, slot);
      r.score = from[f].score + found->second;
      r.left = static_cast<int>(f);
      for (int i = 0; i + 1 < size; ++i) r.in[i] = from[f].in[i < slot ? i : i + 1];
      all.push_back(r);
    }
    keep_best(all, to);
    trace.reserve(to.size());
    for (const Record& r : to) trace.push_back({r.left, -1, from[r.left].in[slot]});
  }

  bool join(const NiceNode& node, std::size_t t, const std::vector<Record>& left, const std::vector<Record>& right,
            std::vector<Record>& to) {
    const int size = static_cast<int>(node.bag.size());
    const Bitset nothing(graph_.nodes());
    std::array<std::uint64_t, bag_limit> inside{};  // arcs within the bag, on which both sides have to agree
    std::vector<Projections> possible;
    for (int i = 0; i < size; ++i) {
      inside[i] = met(node.bag[i], node.bag, nothing);
      possible.push_back(projections(node.bag[i], met(node.bag[i], node.bag, forgotten_[t])));
    }
    const auto key = [&](const Record& r) {
      std::array<std::uint64_t, bag_limit> out{};
      for (int i = 0; i < size; ++i) out[i] = r.in[i] & inside[i];
      return out;
    };
    using Keyed = std::pair<std::array<std::uint64_t, bag_limit>, int>;
    std::vector<Keyed> a, b;
    for (std::size_t k = 0; k < left.size(); ++k) a.emplace_back(key(left[k]), static_cast<int>(k));
    for (std::size_t k = 0; k < right.size(); ++k) b.emplace_back(key(right[k]), static_cast<int>(k));
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    std::vector<Record> all;
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
      if (a[i].first != b[j].first) {
        a[i].first < b[j].first ? ++i : ++j;
        continue;
      }
      std::size_t i_end = i, j_end = j;
      while (i_end < a.size() && a[i_end].first == a[i].first) ++i_end;
      while (j_end < b.size() && b[j_end].first == b[j].first) ++j_end;
      for (std::size_t x = i; x < i_end; ++x) {
        monitor_.check();
        for (std::size_t y = j; y < j_end; ++y) {
          const Record &l = left[a[x].second], &r = right[b[y].second];
          Record both;
          both.reach = l.reach | r.reach;
          if (!close(both.reach)) continue;
          bool feasible = true;
          for (int s = 0; s < size && feasible; ++s) {
            both.in[s] = l.in[s] | r.in[s];
            feasible = holds(possible[s], both.in[s]);
          }
          if (!feasible) continue;
          both.score = l.score + r.score;
          both.left = a[x].second;
          both.right = b[y].second;
          all.push_back(both);
          if (static_cast<double>(all.size()) > 2 * options_.max_records) return false;
        }
      }
      i = i_end;
      j = j_end;
    }
    keep_best(all, to);
    return static_cast<double>(to.size()) <= options_.max_records;
  }

  // Per choice of parents and reachability the lowest score; of these, records are dropped that one of the first few of their
  // group beats in both. (Comparing with all would drop more, at quadratic cost.)
  static void keep_best(std::vector<Record>& all, std::vector<Record>& to) {
    std::sort(all.begin(), all.end(), [](const Record& a, const Record& b) {
      if (a.in != b.in) return a.in < b.in;
      if (a.reach != b.reach) return a.reach < b.reach;
      if (a.score != b.score) return a.score < b.score;
      return a.left != b.left ? a.left < b.left : a.right < b.right;
    });
    all.erase(
        std::unique(all.begin(), all.end(), [](const Record& a, const Record& b) { return a.in == b.in && a.reach == b.reach; }),
        all.end());
    std::sort(all.begin(), all.end(), [](const Record& a, const Record& b) {
      if (a.in != b.in) return a.in < b.in;
      return a.score != b.score ? a.score < b.score : a.reach < b.reach;
    });
    std::size_t group = 0;
    for (const Record& r : all) {
      if (to.empty() || to.back().in != r.in) group = to.size();
      bool beaten = false;
      for (std::size_t k = group; k < std::min(to.size(), group + compared) && !beaten; ++k) beaten = !(to[k].reach & ~r.reach);
      if (!beaten) to.push_back(r);
    }
  }

  void trace_back(const std::vector<NiceNode>& tree, Choice& chosen) const {
    std::vector<std::pair<int, int>> open = {{static_cast<int>(tree.size()) - 1, 0}};
    while (!open.empty()) {
      const auto [t, r] = open.back();
      open.pop_back();
      const Trace& trace = traces_[t][r];
      if (tree[t].kind == NiceNode::Kind::forget) chosen[nodes_[tree[t].vertex]] = trace.set;
      if (tree[t].left >= 0) open.push_back({tree[t].left, trace.left});
      if (tree[t].right >= 0) open.push_back({tree[t].right, trace.right});
    }
  }

  const DagSearchOptions& options_;
  Monitor& monitor_;
  const std::vector<int>& nodes_;
  MixedGraph graph_;
  std::vector<const ParentSets*> sets_;
  std::vector<std::unordered_map<std::uint64_t, double>> value_;  // looked up only
  std::vector<std::vector<std::pair<int, int>>> bit_;             // (candidate, its bit) per node
  std::vector<std::vector<Trace>> traces_;
  std::vector<Bitset> forgotten_;
};

}  // namespace

TreeStats tree_search(const ScoreTable& table, const std::vector<int>& nodes, const DagSearchOptions& options, Choice& chosen,
                      Monitor& monitor) {
  return TreeSearch(table, nodes, options, monitor).run(chosen);
}

}  // namespace granary::graph
