#include "graph/fci.h"

#include <algorithm>

#include "core/base/parallel.h"
#include "core/graph/subsets.h"

namespace granary::graph {

std::vector<Bitset> possible_d_sep(const MixedGraph& graph, Monitor& monitor) {
  const int p = graph.nodes();
  std::vector<Bitset> result(p, Bitset(p));
  std::vector<Bitset> seen(p, Bitset(p));
  for (int i = 0; i < p; ++i) {
    monitor.check();
    std::vector<std::pair<int, int>> open;  // steps (before, at)
    for (int j : graph.neighbours(i)) {
      seen[i].set(j);
      open.push_back({i, j});
    }
    for (std::size_t k = 0; k < open.size(); ++k) {
      const auto [before, at] = open[k];
      result[i].set(at);
      Bitset next = graph.neighbours(at) & graph.neighbours(before);
      if (graph.arrows_at(at).test(before)) next |= graph.arrows_at(at);
      next.reset(before);
      next.reset(i);
      for (int to : next - seen[at]) {
        seen[at].set(to);
        open.push_back({at, to});
      }
    }
    for (const auto& step : open) seen[step.first].reset(step.second);
  }
  return result;
}

namespace {

MixedGraph circle_graph(const std::vector<Bitset>& adjacent) {
  MixedGraph graph(static_cast<int>(adjacent.size()));
  for (int i = 0; i < graph.nodes(); ++i) {
    for (int j = adjacent[i].next(i); j >= 0; j = adjacent[i].next(j)) graph.set_edge(i, j, Mark::circle, Mark::circle);
  }
  return graph;
}

// i -> j known: tail and arrow. i known to be no cause of j: arrow at i.
void apply_knowledge(MixedGraph& graph, const Knowledge& knowledge) {
  if (!knowledge.orients()) return;
  for (int i = 0; i < graph.nodes(); ++i) {
    for (int j : graph.neighbours(i)) {
      if (knowledge.excludes_arrow(i, j)) graph.set_mark(j, i, Mark::arrow);
    }
  }
  for (int i = 0; i < graph.nodes(); ++i) {
    for (int j : graph.neighbours(i)) {
      if (knowledge.requires_arrow(i, j)) graph.orient(i, j);
    }
  }
}

// Arrows at j on i *-* j *-* k. A tail there is knowledge, and stays.
void orient_collider(MixedGraph& graph, const Triple& t, std::vector<std::pair<int, int>>& conflicts) {
  for (int end : {t[0], t[2]}) {
    if (graph.mark(end, t[1]) == Mark::tail) {
      conflicts.push_back({std::min(end, t[1]), std::max(end, t[1])});
    } else {
      graph.set_mark(end, t[1], Mark::arrow);
    }
  }
}

void sort_unique(std::vector<std::pair<int, int>>& pairs) {
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
}

struct Colliders {
  std::vector<Triple> colliders, ambiguous;
  TripleSet unclear;
};

Colliders judge_all(ColliderJudge& judge, const std::vector<Triple>& triples, int variables) {
  Colliders result{{}, {}, TripleSet(variables)};
  judge.prepare(triples);
  for (const Triple& t : triples) {
    const Verdict verdict = judge(t[0], t[1], t[2]);
    if (verdict == Verdict::collider) result.colliders.push_back(t);
    if (verdict == Verdict::ambiguous) {
      result.ambiguous.push_back(t);
      result.unclear.insert(t[0], t[1], t[2]);
    }
  }
  return result;
}

void drop_edge(Skeleton& skeleton, int i, int j) {
  skeleton.adjacent[i].reset(j);
  skeleton.adjacent[j].reset(i);
  const int low = std::min(i, j), high = std::max(i, j);
  auto& edges = skeleton.edges;
  edges.erase(std::remove_if(edges.begin(), edges.end(), [&](const EdgeStrength& e) { return e.i == low && e.j == high; }),
              edges.end());
}

// Removes the edges that subsets of Possible-D-SEP separate.
void possible_d_sep_step(const IndependenceTest& test, const Knowledge& knowledge, const FciOptions& options,
                         const std::vector<Bitset>& pds, ConstraintResult& result, Monitor& monitor) {
  auto& skeleton = result.skeleton;
  const std::vector<Bitset> frozen = skeleton.adjacent;
  const std::vector<EdgeStrength> edges = skeleton.edges;
  const double cut = test.cut(options.search.alpha);
  const int largest = std::min({options.search.max_set, options.max_possible_d_sep, test.largest_set()});
  std::vector<SetScan> scans(edges.size());
  std::vector<std::vector<int>> separators(edges.size());
  std::vector<char> limited(edges.size(), 0);
  parallel_for(static_cast<Index>(edges.size()), test.concurrent() ? options.search.threads : 1, monitor, [&](Index e) {
    const int i = edges[e].i, j = edges[e].j;
    if (knowledge.edge(i, j)) return;
    const auto session = test.session();
    const auto candidates = [&](int end) {
      std::vector<int> list;
      for (int v : pds[end]) {
        if (v != i && v != j && knowledge.may_separate(v, i, j)) list.push_back(v);
      }
      return list;
    };
    const std::vector<int> first = candidates(i), second = candidates(j);
    const int most = static_cast<int>(std::max(first.size(), second.size()));
    // Subsets of either adjacency have been tried by the search.
    const auto scan = [&](const std::vector<int>& list, int size, const Bitset* before) {
      std::vector<int> given;
      for (KSubsets subset(static_cast<int>(list.size()), size); subset.valid() && !scans[e].found; subset.next()) {
        subset.pick(list, given);
        const auto within = [&](const Bitset& set) {
          return std::all_of(given.begin(), given.end(), [&](int v) { return set.test(v); });
        };
        if (within(frozen[i]) || within(frozen[j]) || (before && within(*before))) continue;
        if ((++scans[e].tests & 255) == 0) monitor.check();
        const double evidence = session->evidence(i, j, given);
        scans[e].evidence = std::min(scans[e].evidence, evidence);
        if (evidence <= cut) {
          scans[e].found = true;
          separators[e] = given;
        }
      }
    };
    for (int size = 1; size <= std::min(most, largest) && !scans[e].found; ++size) {
      scan(first, size, nullptr);
      if (!scans[e].found) scan(second, size, &pds[i]);
    }
    limited[e] = !scans[e].found && most > test.largest_set() && largest == test.largest_set();
  });
  std::vector<EdgeStrength> left;
  for (std::size_t e = 0; e < edges.size(); ++e) {
    result.later.tests += scans[e].tests;
    skeleton.out_of_data = skeleton.out_of_data || limited[e];
    if (!scans[e].found) {
      left.push_back({edges[e].i, edges[e].j, std::min(edges[e].evidence, scans[e].evidence)});
      continue;
    }
    ++result.later.removed;
    const int size = static_cast<int>(separators[e].size());
    skeleton.separators.store(edges[e].i, edges[e].j, separators[e].data(), size, test.p_value(scans[e].evidence));
    skeleton.adjacent[edges[e].i].reset(edges[e].j);
    skeleton.adjacent[edges[e].j].reset(edges[e].i);
  }
  skeleton.edges = std::move(left);
}

}  // namespace

ConstraintResult fci(const IndependenceTest& test, const Knowledge& knowledge, const FciOptions& options, Monitor& monitor) {
  ConstraintResult result;
  result.skeleton = find_skeleton(test, knowledge, options.search, monitor);
  auto& skeleton = result.skeleton;
  const int p = test.variables();
  {
    ColliderOptions first = options.colliders;
    first.hidden = true;
    first.rule = options.first_colliders;
    ColliderJudge judge(test, skeleton.adjacent, skeleton.separators, knowledge, options.search, first, nullptr, monitor);
    const Colliders found = judge_all(judge, unshielded_triples(skeleton.adjacent), p);
    result.capped = judge.capped();
    result.collider_tests = judge.tests();
    MixedGraph graph = circle_graph(skeleton.adjacent);
    apply_knowledge(graph, knowledge);
    std::vector<std::pair<int, int>> ignored;
    for (const Triple& t : found.colliders) orient_collider(graph, t, ignored);
    if (options.possible_colliders) {
      for (const Triple& t : found.ambiguous) orient_collider(graph, t, ignored);
    }
    possible_d_sep_step(test, knowledge, options, possible_d_sep(graph, monitor), result, monitor);
  }
  MixedGraph& graph = result.graph = circle_graph(skeleton.adjacent);
  apply_knowledge(graph, knowledge);
  // Where the adjacencies hold no separating set, Possible-D-SEP of the all-circle graph with its surest colliders does.
  std::vector<Bitset> wider;
  if (options.colliders.rule != ColliderRule::standard) {
    MixedGraph plain = circle_graph(skeleton.adjacent);
    for (const Triple& t : unshielded_triples(skeleton.adjacent)) {
      for (int end : {t[0], t[2]}) plain.set_mark(end, t[1], Mark::arrow);
    }
    wider = possible_d_sep(plain, monitor);
  }
  ColliderOptions last = options.colliders;
  last.hidden = true;
  ColliderJudge judge(test, skeleton.adjacent, skeleton.separators, knowledge, options.search, last,
                      wider.empty() ? nullptr : &wider, monitor);
  Colliders found = judge_all(judge, unshielded_triples(skeleton.adjacent), p);
  for (const Triple& t : found.colliders) orient_collider(graph, t, result.conflicts);
  orient_pag(
      graph, found.unclear, [&](int d, int b, int c) { return judge(d, b, c); }, {}, options.rules, monitor);
  result.ambiguous = std::move(found.ambiguous);
  result.capped = result.capped || judge.capped();
  result.collider_tests += judge.tests();
  sort_unique(result.conflicts);
  return result;
}

namespace {

class Rfci {
 public:
  Rfci(const IndependenceTest& test, const Knowledge& knowledge, const FciOptions& options, Monitor& monitor)
      : test_(test),
        knowledge_(knowledge),
        options_(options),
        monitor_(monitor),
        session_(test.session()),
        cut_(test.cut(options.search.alpha)) {}

  ConstraintResult run() {
    result_.skeleton = find_skeleton(test_, knowledge_, options_.search, monitor_);
    std::vector<Triple> sound = examine(unshielded_triples(skeleton().adjacent));
    TripleSet unclear(test_.variables());
    MixedGraph& graph = result_.graph = circle_graph(skeleton().adjacent);
    apply_knowledge(graph, knowledge_);
    ColliderOptions colliders = options_.colliders;
    colliders.hidden = true;
    ColliderJudge judge(test_, skeleton().adjacent, skeleton().separators, knowledge_, options_.search, colliders, nullptr,
                        monitor_);
    // Triples that were not examined (their ends are a known gap) support nothing.
    for (const Triple& t : unshielded_triples(skeleton().adjacent)) {
      if (knowledge_.gap(t[0], t[2])) unclear.insert(t[0], t[1], t[2]);
    }
    const auto orient = [&](const std::vector<Triple>& triples) {
      judge.prepare(triples);
      for (const Triple& t : triples) {
        if (!skeleton().adjacent[t[0]].test(t[1]) || !skeleton().adjacent[t[1]].test(t[2])) continue;
        const Verdict verdict = judge(t[0], t[1], t[2]);
        if (verdict == Verdict::collider) orient_collider(graph, t, result_.conflicts);
        if (verdict == Verdict::ambiguous) {
          unclear.insert(t[0], t[1], t[2]);
          result_.ambiguous.push_back(t);
        }
      }
    };
    orient(sound);
    const PathCheck check = [&](const std::vector<int>& path) {
      const std::vector<Triple> created = check_path(path);
      if (!removed_) return false;
      judge.forget();
      orient(examine(created));
      sync(graph);
      return true;
    };
    orient_pag(
        graph, unclear, [&](int d, int b, int c) { return judge(d, b, c); }, check, options_.rules, monitor_);
    result_.capped = judge.capped();
    result_.collider_tests = judge.tests();
    sort_unique(result_.conflicts);
    std::sort(result_.ambiguous.begin(), result_.ambiguous.end());
    auto& ambiguous = result_.ambiguous;
    ambiguous.erase(std::remove_if(ambiguous.begin(), ambiguous.end(),
                                   [&](const Triple& t) { return !graph.adjacent(t[0], t[1]) || !graph.adjacent(t[1], t[2]); }),
                    ambiguous.end());
    return std::move(result_);
  }

 private:
  Skeleton& skeleton() { return result_.skeleton; }

  bool independent(int i, int j, const std::vector<int>& given) {
    ++result_.later.tests;
    last_ = session_->evidence(i, j, given);
    return last_ <= cut_;
  }

  // The first subset of `from` that separates i and j, by size and then in lexicographic order. False if none does.
  bool separate(int i, int j, const std::vector<int>& from, std::vector<int>& separator) {
    for (int size = 0; size <= static_cast<int>(from.size()); ++size) {
      for (KSubsets subset(static_cast<int>(from.size()), size); subset.valid(); subset.next()) {
        subset.pick(from, separator);
        if (independent(i, j, separator)) return true;
      }
    }
    return false;
  }

  // Removes i - j; returns the triples that lose their shield.
  std::vector<Triple> remove(int i, int j, const std::vector<int>& separator) {
    const int low = std::min(i, j), high = std::max(i, j);
    skeleton().separators.store(low, high, separator.data(), static_cast<int>(separator.size()), test_.p_value(last_));
    drop_edge(skeleton(), i, j);
    ++result_.later.removed;
    std::vector<Triple> created;
    for (int m : skeleton().adjacent[i] & skeleton().adjacent[j]) created.push_back({low, m, high});
    return created;
  }

  std::vector<int> without(const std::vector<int>& set, int a, int b) const {
    std::vector<int> result;
    for (int v : set) {
      if (v != a && v != b) result.push_back(v);
    }
    return result;
  }

  // Step 2: the triples whose two edges are dependent given the set that separates their ends.
  std::vector<Triple> examine(std::vector<Triple> todo) {
    std::vector<Triple> sound;
    const auto has_edge = [](const Triple& t, int i, int j) {
      const auto is = [&](int a, int b) { return (a == i && b == j) || (a == j && b == i); };
      return is(t[0], t[1]) || is(t[1], t[2]);
    };
    for (std::size_t at = 0; at < todo.size(); ++at) {
      monitor_.check();
      const Triple t = todo[at];
      const auto& adjacent = skeleton().adjacent;
      if (!adjacent[t[0]].test(t[1]) || !adjacent[t[1]].test(t[2]) || knowledge_.gap(t[0], t[2])) continue;
      const std::vector<int> given = without(skeleton().separators(t[0], t[2]), t[1], t[1]);
      bool both = true;
      for (int r : {t[0], t[2]}) {
        if (knowledge_.edge(r, t[1]) || !independent(std::min(r, t[1]), std::max(r, t[1]), given)) continue;
        both = false;
        std::vector<int> separator;
        separate(std::min(r, t[1]), std::max(r, t[1]), given, separator);
        for (const Triple& created : remove(r, t[1], separator)) todo.push_back(created);
        sound.erase(std::remove_if(sound.begin(), sound.end(), [&](const Triple& s) { return has_edge(s, r, t[1]); }),
                    sound.end());
      }
      if (both) sound.push_back(t);
    }
    return sound;
  }

  // R4: are the consecutive pairs of the path <d, .., b, c> dependent given every subset of sepset(d, c)? Sets removed_.
  std::vector<Triple> check_path(const std::vector<int>& path) {
    removed_ = false;
    const std::vector<int> set = skeleton().separators(path.front(), path.back());
    for (std::size_t k = 0; k + 1 < path.size(); ++k) {
      const int i = std::min(path[k], path[k + 1]), j = std::max(path[k], path[k + 1]);
      std::vector<int> separator;
      if (knowledge_.edge(i, j) || !separate(i, j, without(set, i, j), separator)) continue;
      removed_ = true;
      return remove(i, j, separator);
    }
    return {};
  }

  void sync(MixedGraph& graph) {
    for (int i = 0; i < graph.nodes(); ++i) {
      for (int j : graph.neighbours(i) - skeleton().adjacent[i]) graph.remove_edge(i, j);
    }
  }

  const IndependenceTest& test_;
  const Knowledge& knowledge_;
  const FciOptions& options_;
  Monitor& monitor_;
  std::unique_ptr<TestSession> session_;
  double cut_, last_ = 0;
  bool removed_ = false;
  ConstraintResult result_;
};

}  // namespace

ConstraintResult rfci(const IndependenceTest& test, const Knowledge& knowledge, const FciOptions& options, Monitor& monitor) {
  return Rfci(test, knowledge, options, monitor).run();
}

}  // namespace granary::graph
