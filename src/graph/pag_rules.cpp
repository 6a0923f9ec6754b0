#include "graph/pag_rules.h"

#include <algorithm>
#include <set>
#include <utility>

namespace granary::graph {

std::vector<int> uncovered_path(const MixedGraph& graph, int first, int second, int last, const TripleSet& ambiguous,
                                const std::function<bool(int from, int to)>& allowed, Monitor& monitor) {
  if (second == last) return {first, second};
  const int p = graph.nodes();
  const auto steps = [&](int before, int at) {
    std::vector<int> next;
    for (int to : graph.neighbours(at) - graph.neighbours(before)) {
      if (to != before && to != first && allowed(at, to) && !ambiguous.contains(before, at, to)) next.push_back(to);
    }
    return next;
  };
  // Which steps can end in `last` at all, repeated nodes not minded? Breadth first over steps (before, at).
  std::vector<Bitset> seen(p, Bitset(p));
  std::vector<std::pair<int, int>> open{{first, second}};
  std::vector<int> parent{-1};
  seen[first].set(second);
  int found = -1;
  for (std::size_t k = 0; k < open.size() && found < 0; ++k) {
    const auto [before, at] = open[k];
    for (int to : steps(before, at)) {
      if (seen[at].test(to)) continue;
      seen[at].set(to);
      open.push_back({at, to});
      parent.push_back(static_cast<int>(k));
      if (to == last) {
        found = static_cast<int>(open.size()) - 1;
        break;
      }
    }
  }
  if (found < 0) return {};
  std::vector<int> path;
  for (int k = found; k >= 0; k = parent[k]) path.push_back(open[k].second);
  path.push_back(first);
  std::reverse(path.begin(), path.end());
  if (std::set<int>(path.begin(), path.end()).size() == path.size()) return path;

  // The shortest walk meets a node twice: search depth first among proper paths.
  Bitset on(p, {first, second});
  path = {first, second};
  const std::function<bool()> extend = [&]() {
    monitor.check();
    const int before = path[path.size() - 2], at = path.back();
    for (int to : steps(before, at)) {
      if (on.test(to)) continue;
      path.push_back(to);
      on.set(to);
      if (to == last || extend()) return true;
      on.reset(to);
      path.pop_back();
    }
    return false;
  };
  return extend() ? path : std::vector<int>{};
}

namespace {

class PagOrienter {
 public:
  PagOrienter(MixedGraph& g, const TripleSet& ambiguous, const Discriminator& discriminate, const PathCheck& check,
              const PagRuleOptions& options, Monitor& monitor)
      : g_(g), ambiguous_(ambiguous), discriminate_(discriminate), check_(check), options_(options), monitor_(monitor) {}

  void run() {
    const auto until_still = [&](const std::vector<int>& rules) {
      bool any = false;
      for (bool changed = true; changed;) {
        changed = false;
        for (int rule : rules) changed = apply(rule) || changed;
        any = any || changed;
      }
      return any;
    };
    for (bool changed = true; changed;) {
      changed = until_still({1, 2, 3, 4});
      if (options_.selection) changed = until_still({5, 6, 7}) || changed;
      changed = until_still({8, 9, 10}) || changed;
    }
  }

 private:
  Mark at(int i, int j) const { return g_.mark(i, j); }  // at j, on i *-* j
  bool circle(int i, int j) const { return g_.mark(i, j) == Mark::circle; }
  bool arrow(int i, int j) const { return g_.arrows_from(i).test(j); }
  bool tail(int i, int j) const { return g_.tails_from(i).test(j); }
  bool potentially_directed(int from, int to) const { return !arrow(to, from) && !tail(from, to); }

  // Asks for `mark` at j on i *-* j: done at once, or once the rule has gone through the graph.
  void ask(int i, int j, Mark mark) {
    if (!circle(i, j)) return;
    changed_ = true;
    if (options_.lists) {
      asked_.push_back({i, j, mark});
    } else {
      g_.set_mark(i, j, mark);
    }
  }
  void ask_directed(int i, int j) {  // i -> j
    ask(j, i, Mark::tail);
    ask(i, j, Mark::arrow);
  }

  bool apply(int rule) {
    changed_ = false;
    for (bool again = true; again;) {
      again = false;
      asked_.clear();
      for (int b = 0; b < g_.nodes() && !again; ++b) {
        monitor_.check();
        switch (rule) {
          case 1:
            rule_1(b);
            break;
          case 2:
            rule_2(b);
            break;
          case 3:
            rule_3(b);
            break;
          case 4:
            again = rule_4(b);
            break;
          case 5:
            rule_5(b);
            break;
          case 6:
            rule_6(b);
            break;
          case 7:
            rule_7(b);
            break;
          case 8:
            rule_8(b);
            break;
          case 9:
            rule_9(b);
            break;
          default:
            rule_10(b);
        }
      }
      if (again) changed_ = true;  // an edge has gone: what was collected may rest on it
    }
    for (const Request& r : asked_) {
      if (circle(r.i, r.j) || r.mark == Mark::arrow) g_.set_mark(r.i, r.j, r.mark);
    }
    return changed_;
  }

  void rule_1(int b) {
    for (int c : g_.neighbours(b)) {
      if (!circle(c, b)) continue;
      for (int a : g_.arrows_at(b) - g_.neighbours(c)) {
        if (a == c || ambiguous_.contains(a, b, c)) continue;
        ask_directed(b, c);
        break;
      }
    }
  }

  void rule_2(int a) {
    for (int c : g_.neighbours(a)) {
      if (!circle(a, c)) continue;
      const Bitset middle = g_.arrows_from(a) & g_.arrows_at(c);  // a *-> b *-> c
      if (middle.intersects(g_.children(a)) || middle.intersects(g_.parents(c))) ask(a, c, Mark::arrow);
    }
  }

  void rule_3(int b) {
    for (int d : g_.neighbours(b)) {
      if (!circle(d, b)) continue;
      const Bitset both = g_.arrows_at(b) & g_.neighbours(d);
      for (int a : both) {
        if (!circle(a, d) || !circle(d, b)) continue;
        const Bitset apart = both - g_.neighbours(a);
        for (int c = apart.next(a); c >= 0; c = apart.next(c)) {
          if (!circle(c, d) || ambiguous_.contains(a, d, c)) continue;
          ask(d, b, Mark::arrow);
          break;
        }
      }
    }
  }

  // True if an edge was removed.
  bool rule_4(int b) {
    for (int c : g_.neighbours(b)) {
      if (!circle(c, b)) continue;
      const Bitset between = g_.parents(c);
      for (int a : between& g_.neighbours(b)) {
        if (!arrow(b, a) || !circle(c, b)) continue;
        // Backwards from a through colliders that are parents of c, to nodes that are not adjacent to c.
        Bitset seen(g_.nodes(), {a, b, c});
        std::vector<int> open{a}, parent{-1};
        bool done = false;
        for (std::size_t k = 0; k < open.size() && !done; ++k) {
          for (int d : g_.arrows_at(open[k]) - seen) {
            seen.set(d);
            if (between.test(d)) {
              if (!arrow(open[k], d)) continue;
              open.push_back(d);
              parent.push_back(static_cast<int>(k));
            } else if (!g_.adjacent(d, c)) {
              std::vector<int> path{d};
              for (int at = static_cast<int>(k); at >= 0; at = parent[at]) path.push_back(open[at]);
              path.push_back(b);
              path.push_back(c);
              if (check_ && check_(path)) return true;
              const Verdict verdict = discriminate_(d, b, c);
              if (verdict == Verdict::not_collider) {
                ask_directed(b, c);
              } else if (verdict == Verdict::collider) {
                ask(a, b, Mark::arrow);
                ask(c, b, Mark::arrow);
                ask(b, c, Mark::arrow);
              }
              done = !options_.lists && verdict != Verdict::ambiguous;  // with lists every path has its say
              if (done) break;
            }
          }
        }
      }
    }
    return false;
  }

  void rule_5(int a) {
    const auto both_circles = [&](int i, int j) { return circle(i, j) && circle(j, i); };
    for (int b : g_.neighbours(a)) {
      if (b < a || !both_circles(a, b)) continue;
      for (int c : g_.neighbours(a) - g_.neighbours(b)) {
        if (c == b || !both_circles(a, c) || ambiguous_.contains(c, a, b)) continue;
        // The last step into b must come from a node that is not adjacent to a.
        const auto allowed = [&](int from, int to) { return both_circles(from, to) && (to != b || !g_.adjacent(from, a)); };
        const std::vector<int> path = uncovered_path(g_, a, c, b, ambiguous_, allowed, monitor_);
        if (path.size() < 4) continue;
        ask(a, b, Mark::tail);
        ask(b, a, Mark::tail);
        for (std::size_t k = 0; k + 1 < path.size(); ++k) {
          ask(path[k], path[k + 1], Mark::tail);
          ask(path[k + 1], path[k], Mark::tail);
        }
        break;
      }
    }
  }

  void rule_6(int b) {
    if (g_.undirected_neighbours(b).none()) return;
    for (int c : g_.neighbours(b)) ask(c, b, Mark::tail);
  }

  void rule_7(int b) {
    for (int c : g_.neighbours(b)) {
      if (!circle(c, b)) continue;
      for (int a : g_.neighbours(b) - g_.neighbours(c)) {
        if (a == c || !circle(a, b) || !tail(b, a) || ambiguous_.contains(a, b, c)) continue;
        ask(c, b, Mark::tail);
        break;
      }
    }
  }

  void rule_8(int a) {
    for (int c : g_.arrows_from(a)) {
      if (!circle(c, a)) continue;
      for (int b : g_.tails_at(a) & g_.parents(c)) {  // a -* b -> c
        if (arrow(a, b) || circle(a, b)) {
          ask(c, a, Mark::tail);
          break;
        }
      }
    }
  }

  void rule_9(int a) {
    for (int c : g_.arrows_from(a)) {
      if (!circle(c, a)) continue;
      for (int b : g_.neighbours(a) - g_.neighbours(c)) {
        if (b == c || !potentially_directed(a, b) || ambiguous_.contains(b, a, c)) continue;
        const auto allowed = [&](int from, int to) { return potentially_directed(from, to); };
        if (uncovered_path(g_, a, b, c, ambiguous_, allowed, monitor_).size() < 4) continue;
        ask(c, a, Mark::tail);
        break;
      }
    }
  }

  void rule_10(int a) {
    for (int c : g_.arrows_from(a)) {
      if (!circle(c, a)) continue;
      const std::vector<int> parents = g_.parents(c).members();
      if (parents.size() < 2) continue;
      // For each parent of c the second nodes of uncovered p.d. paths from a.
      const auto allowed = [&](int from, int to) { return to != c && potentially_directed(from, to); };
      std::vector<Bitset> second(parents.size(), Bitset(g_.nodes()));
      for (std::size_t k = 0; k < parents.size(); ++k) {
        if (parents[k] == a) continue;
        for (int m : g_.neighbours(a)) {
          if (m != c && potentially_directed(a, m) &&
              !uncovered_path(g_, a, m, parents[k], ambiguous_, allowed, monitor_).empty()) {
            second[k].set(m);
          }
        }
      }
      bool found = false;
      for (std::size_t k = 0; k < parents.size() && !found; ++k) {
        for (std::size_t l = k + 1; l < parents.size() && !found; ++l) {
          for (int m : second[k]) {
            for (int w : second[l] - g_.neighbours(m)) found = found || (w != m && !ambiguous_.contains(m, a, w));
          }
        }
      }
      if (found) ask(c, a, Mark::tail);
    }
  }

  struct Request {
    int i, j;
    Mark mark;
  };

  MixedGraph& g_;
  const TripleSet& ambiguous_;
  const Discriminator& discriminate_;
  const PathCheck& check_;
  const PagRuleOptions& options_;
  Monitor& monitor_;
  std::vector<Request> asked_;
  bool changed_ = false;
};

}  // namespace

void orient_pag(MixedGraph& pag, const TripleSet& ambiguous, const Discriminator& discriminate, const PathCheck& check,
                const PagRuleOptions& options, Monitor& monitor) {
  PagOrienter(pag, ambiguous, discriminate, check, options, monitor).run();
}

}  // namespace granary::graph
