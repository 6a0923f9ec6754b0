// Dynamic programming over families (Korhonen, Parviainen 2013). In a graph in which every family {v} + parents(v) is a clique
// some bag holds the whole family, so parents are chosen at once, in a bag, and a record needs to know only
//
//   done      which bag nodes have got their parents
//   reach     which bag nodes reach which
//   score     of the families chosen
//
// A family is chosen where its last member is introduced.
#include <algorithm>

#include "core/graph/elimination.h"
#include "core/base/errors.h"
#include "graph/causal_dag_reach.h"
#include "graph/causal_dag_search.h"

namespace granary::graph {

namespace {

struct Record {
  Reach reach = 0;
  double score = 0;
  int left = -1, right = -1;
  std::uint64_t set = 0;  // the parents chosen in this step
  unsigned done = 0;
};

// The nice tree, each introduction followed by one step per node whose family may be completed by it.
struct Step {
  enum class Kind { leaf, introduce, choose, forget, join };
  Kind kind;
  int node;         // introduced, choosing or forgotten
  int newest;       // for `choose`: the node introduced before, which has to be in the family
  int left, right;  // steps
  std::vector<int> bag;
};

class FamilySearch {
 public:
  FamilySearch(const ScoreTable& table, const std::vector<int>& nodes, const DagSearchOptions& options, Monitor& monitor)
      : table_(table),
        nodes_(nodes),
        options_(options),
        monitor_(monitor),
        graph_(induced_subgraph(possible_families(table), nodes)) {}

  TreeStats run(Choice& chosen) {
    TreeStats stats;
    const Triangulation cover = triangulate(graph_, elimination_order(graph_, EliminationRule::min_fill, monitor_));
    stats.width = cover.width;
    if (cover.width + 1 > bag_limit) return stats;
    plan(nice_tree_decomposition(junction_tree(cover)));
    std::vector<std::vector<Record>> live(steps_.size());
    for (std::size_t t = 0; t < steps_.size(); ++t) {
      monitor_.progress(static_cast<double>(t) / steps_.size());
      if (!advance(steps_[t], live, live[t])) return stats;
      stats.records += live[t].size();
      stats.largest = std::max(stats.largest, static_cast<double>(live[t].size()));
      if (stats.records > options_.max_kept / 4 || stats.largest > options_.max_records) return stats;
    }
    if (live.back().empty())
      throw InputError("no DAG satisfies the required and forbidden arcs: the required ones form a cycle.");
    std::vector<std::pair<int, int>> open = {{static_cast<int>(steps_.size()) - 1, 0}};
    while (!open.empty()) {
      const auto [t, r] = open.back();
      open.pop_back();
      const Step& step = steps_[t];
      const Record& record = live[t][r];
      // An unchanged record passed through: its node was left open here, and got its parents elsewhere.
      if (step.kind == Step::Kind::choose && record.done != live[step.left][record.left].done)
        chosen[nodes_[step.node]] = record.set;
      if (step.left >= 0) open.push_back({step.left, record.left});
      if (step.right >= 0) open.push_back({step.right, record.right});
    }
    stats.finished = true;
    return stats;
  }

 private:
  void plan(const std::vector<NiceNode>& tree) {
    std::vector<int> last(tree.size());  // the step that ends the work of a node of the tree
    for (std::size_t t = 0; t < tree.size(); ++t) {
      const NiceNode& n = tree[t];
      const int left = n.left >= 0 ? last[n.left] : -1, right = n.right >= 0 ? last[n.right] : -1;
      const Step::Kind kind = n.kind == NiceNode::Kind::leaf        ? Step::Kind::leaf
                              : n.kind == NiceNode::Kind::introduce ? Step::Kind::introduce
                              : n.kind == NiceNode::Kind::forget    ? Step::Kind::forget
                                                                    : Step::Kind::join;
      steps_.push_back({kind, n.vertex, -1, left, right, n.bag});
      if (kind == Step::Kind::introduce) {
        for (int v : n.bag) {
          if (v != n.vertex && !graph_.adjacent(v, n.vertex)) continue;
          const int before = static_cast<int>(steps_.size()) - 1;
          steps_.push_back({Step::Kind::choose, v, n.vertex, before, -1, n.bag});
        }
      }
      last[t] = static_cast<int>(steps_.size()) - 1;
    }
  }

  static int slot_of(const std::vector<int>& bag, int v) {
    return static_cast<int>(std::lower_bound(bag.begin(), bag.end(), v) - bag.begin());
  }

  bool advance(const Step& step, const std::vector<std::vector<Record>>& live, std::vector<Record>& to) {
    std::vector<Record> all;
    switch (step.kind) {
      case Step::Kind::leaf:
        to.emplace_back();
        return true;
      case Step::Kind::introduce: {
        const int slot = slot_of(step.bag, step.node);
        const unsigned below = (1u << slot) - 1;
        const std::vector<Record>& from = live[step.left];
        for (std::size_t f = 0; f < from.size(); ++f) {
          Record r;
          r.reach = insert_node(from[f].reach, slot);
          r.done = (from[f].done & below) | (from[f].done & ~below) << 1;
          r.score = from[f].score;
          r.left = static_cast<int>(f);
          to.push_back(r);
        }
        return true;
      }
      case Step::Kind::choose:
        if (!choose(step, live[step.left], all)) return false;
        break;
      case Step::Kind::forget: {
        const std::vector<Record>& from = live[step.left];
        const int slot = slot_of(steps_[step.left].bag, step.node);
        const unsigned below = (1u << slot) - 1;
        for (std::size_t f = 0; f < from.size(); ++f) {
          if (!(from[f].done >> slot & 1)) continue;
          Record r;
          r.reach = erase_node(from[f].reach, slot);
          r.done = (from[f].done & below) | (from[f].done >> 1 & ~below);
          r.score = from[f].score;
          r.left = static_cast<int>(f);
          all.push_back(r);
        }
        break;
      }
      case Step::Kind::join: {
        const std::vector<Record>&left = live[step.left], &right = live[step.right];
        for (std::size_t i = 0; i < left.size(); ++i) {
          monitor_.check();
          for (std::size_t j = 0; j < right.size(); ++j) {
            if (left[i].done & right[j].done) continue;
            Record r;
            r.reach = left[i].reach | right[j].reach;
            if (!close(r.reach)) continue;
            r.done = left[i].done | right[j].done;
            r.score = left[i].score + right[j].score;
            r.left = static_cast<int>(i);
            r.right = static_cast<int>(j);
            all.push_back(r);
          }
          if (static_cast<double>(all.size()) > 2 * options_.max_records) return false;
        }
        break;
      }
    }
    keep_best(all, to);
    return true;
  }

  bool choose(const Step& step, const std::vector<Record>& from, std::vector<Record>& all) {
    const int slot = slot_of(step.bag, step.node);
    const ParentSets& sets = table_[nodes_[step.node]];
    struct Option {
      unsigned parents;
      std::uint64_t set;
      double score;
    };
    std::vector<Option> possible;
    for (std::size_t k = 0; k < sets.sets.size(); ++k) {
      unsigned parents = 0;
      bool inside = true, newest = step.node == step.newest;
      for (std::uint64_t rest = sets.sets[k]; rest && inside; rest &= rest - 1) {
        const int parent = sets.candidates[__builtin_ctzll(rest)];
        int at = -1;
        for (std::size_t s = 0; s < step.bag.size(); ++s) {
          if (nodes_[step.bag[s]] == parent) at = static_cast<int>(s);
        }
        inside = at >= 0;
        if (!inside) break;
        parents |= 1u << at;
        newest = newest || step.bag[at] == step.newest;
      }
      if (inside && newest) possible.push_back({parents, sets.sets[k], sets.scores[k]});
    }
    for (std::size_t f = 0; f < from.size(); ++f) {
      monitor_.check();
      Record r = from[f];
      r.left = static_cast<int>(f);
      r.right = -1;
      all.push_back(r);
      if (r.done >> slot & 1) continue;
      for (const Option& option : possible) {
        Record larger = r;
        if (!add_arcs(larger.reach, slot, option.parents, 0)) continue;
        larger.done |= 1u << slot;
        larger.score += option.score;
        larger.set = option.set;
        all.push_back(larger);
      }
      if (static_cast<double>(all.size()) > 2 * options_.max_records) return false;
    }
    return true;
  }

  static void keep_best(std::vector<Record>& all, std::vector<Record>& to) {
    std::sort(all.begin(), all.end(), [](const Record& a, const Record& b) {
      if (a.done != b.done) return a.done < b.done;
      if (a.reach != b.reach) return a.reach < b.reach;
      if (a.score != b.score) return a.score < b.score;
      if (a.left != b.left) return a.left < b.left;
      return a.right != b.right ? a.right < b.right : a.set < b.set;
    });
    all.erase(std::unique(all.begin(), all.end(),
                          [](const Record& a, const Record& b) { return a.done == b.done && a.reach == b.reach; }),
              all.end());
    std::sort(all.begin(), all.end(), [](const Record& a, const Record& b) {
      if (a.done != b.done) return a.done < b.done;
      return a.score != b.score ? a.score < b.score : a.reach < b.reach;
    });
    std::size_t group = 0;
    for (const Record& r : all) {
      if (to.empty() || to.back().done != r.done) group = to.size();
      bool beaten = false;
      for (std::size_t k = group; k < std::min(to.size(), group + compared) && !beaten; ++k) beaten = !(to[k].reach & ~r.reach);
      if (!beaten) to.push_back(r);
    }
  }

  const ScoreTable& table_;
  const std::vector<int>& nodes_;
  const DagSearchOptions& options_;
  Monitor& monitor_;
  MixedGraph graph_;
  std::vector<Step> steps_;
};

}  // namespace

TreeStats family_search(const ScoreTable& table, const std::vector<int>& nodes, const DagSearchOptions& options, Choice& chosen,
                        Monitor& monitor) {
  return FamilySearch(table, nodes, options, monitor).run(chosen);
}

}  // namespace granary::graph
