#include "graph/pdag_rules.h"

#include <algorithm>
#include <set>

namespace granary::graph {

namespace {

using Pair = std::pair<int, int>;

class Orienter {
 public:
  Orienter(const std::vector<Bitset>& adjacent, const TripleSet& ambiguous, const Knowledge& knowledge, ConflictRule rule,
           Monitor& monitor)
      : p_(static_cast<int>(adjacent.size())),
        g_(p_),
        ambiguous_(ambiguous),
        knowledge_(knowledge),
        rule_(rule),
        monitor_(monitor) {
    for (int i = 0; i < p_; ++i) {
      for (int j = adjacent[i].next(i); j >= 0; j = adjacent[i].next(j)) g_.add_undirected(i, j);
    }
    if (!knowledge.orients()) return;
    for (int i = 0; i < p_; ++i) {
      for (int j : adjacent[i]) {
        if (fixed(i, j)) g_.orient(i, j);
      }
    }
  }

  void colliders(const std::vector<Triple>& colliders) {
    if (rule_ == ConflictRule::first) {
      for (const Triple& t : colliders) {
        const bool contradicts = g_.directed(t[1], t[0]) || g_.directed(t[1], t[2]);
        if (g_.directed(t[1], t[0])) note(t[0], t[1]);
        if (g_.directed(t[1], t[2])) note(t[1], t[2]);
        if (contradicts) continue;
        g_.orient(t[0], t[1]);
        g_.orient(t[2], t[1]);
      }
      return;
    }
    for (const Triple& t : colliders) {
      for (int end : {t[0], t[2]}) {
        if (fixed(t[1], end)) {
          note(t[1], end);
        } else if (rule_ == ConflictRule::overwrite) {
          if (g_.directed(t[1], end)) note(t[1], end);
          g_.orient(end, t[1]);
        } else if (!fixed(end, t[1])) {
          g_.set_mark(end, t[1], Mark::arrow);  // an arrow at the other end stays: <->
        }
      }
    }
  }

  void rules() {
    for (bool changed = true; changed;) {
      changed = false;
      for (int rule = 1; rule <= (knowledge_.orients() ? 4 : 3); ++rule) changed = apply(rule) || changed;
    }
  }

  PdagOrientation finish() {
    for (const MarkedEdge& edge : g_.edge_list()) {
      if (g_.bidirected(edge.from, edge.to)) note(edge.from, edge.to);
    }
    return {std::move(g_), {conflicts_.begin(), conflicts_.end()}};
  }

 private:
  // Knowledge that settles the edge as i -> j.
  bool fixed(int i, int j) const {
    return knowledge_.requires_arrow(i, j) || (knowledge_.excludes_arrow(j, i) && !knowledge_.excludes_arrow(i, j));
  }

  void note(int i, int j) { conflicts_.insert({std::min(i, j), std::max(i, j)}); }

  bool applies(int rule, int a, int b) const {
    switch (rule) {
      case 1:
        for (int c : g_.parents(a) - g_.neighbours(b)) {
          if (!ambiguous_.contains(c, a, b)) return true;
        }
        return false;
      case 2:
        return g_.children(a).intersects(g_.parents(b));
      case 3: {
        const Bitset middle = g_.undirected_neighbours(a) & g_.parents(b);
        for (int c : middle) {
          const Bitset apart = middle - g_.neighbours(c);
          for (int d = apart.next(c); d >= 0; d = apart.next(d)) {
            if (!ambiguous_.contains(c, a, d)) return true;
          }
        }
        return false;
      }
      default:
        for (int d : g_.parents(b) & g_.neighbours(a)) {
          for (int c : (g_.undirected_neighbours(a) & g_.parents(d)) - g_.neighbours(b)) {
            if (c != b && !ambiguous_.contains(c, a, b)) return true;
          }
        }
        return false;
    }
  }

  bool apply(int rule) {
    std::vector<Pair> list;
    bool changed = false;
    for (int a = 0; a < p_; ++a) {
      monitor_.check();
      for (int b : g_.undirected_neighbours(a)) {
        if (!applies(rule, a, b)) continue;
        changed = true;
        if (rule_ == ConflictRule::lists) {
          list.push_back({a, b});
        } else {
          g_.orient(a, b);
        }
      }
    }
    for (const Pair& pair : list) g_.set_mark(pair.first, pair.second, Mark::arrow);
    return changed;
  }

  int p_;
  MixedGraph g_;
  const TripleSet& ambiguous_;
  const Knowledge& knowledge_;
  ConflictRule rule_;
  Monitor& monitor_;
  std::set<Pair> conflicts_;
};

}  // namespace

PdagOrientation orient_pdag(const std::vector<Bitset>& adjacent, const std::vector<Triple>& colliders, const TripleSet& ambiguous,
                            const Knowledge& knowledge, ConflictRule rule, Monitor& monitor) {
  Orienter orienter(adjacent, ambiguous, knowledge, rule, monitor);
  orienter.colliders(colliders);
  orienter.rules();
  return orienter.finish();
}

}  // namespace granary::graph
