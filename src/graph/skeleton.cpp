#include "skeleton.h"

#include <algorithm>

#include "../core/errors.h"
#include "../core/parallel.h"
#include "../core/subsets.h"

namespace granary::graph {

const std::vector<int>& SeparatingSets::operator()(int i, int j) const {
  static const std::vector<int> empty;
  const auto at = sets_.find(key(i, j));
  return at == sets_.end() ? empty : at->second.given;
}

bool SeparatingSets::contains(int i, int j, int member) const {
  const std::vector<int>& set = (*this)(i, j);
  return std::find(set.begin(), set.end(), member) != set.end();
}

std::vector<std::pair<std::pair<int, int>, const SeparatingSets::Entry*>> SeparatingSets::sorted() const {
  std::vector<std::pair<std::pair<int, int>, const Entry*>> list;
  list.reserve(sets_.size());
  const std::uint64_t p = static_cast<std::uint64_t>(variables_);
  for (const auto& entry : sets_)
    list.push_back({{static_cast<int>(entry.first / p), static_cast<int>(entry.first % p)}, &entry.second});
  std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return list;
}

void scan_sets(TestSession& session, int i, int j, const std::vector<int>& candidates, int size, const Bitset* tried, double cut,
               Monitor& monitor, SetScan& scan) {
  std::vector<int> given;
  for (KSubsets subset(static_cast<int>(candidates.size()), size); subset.valid() && !scan.found; subset.next()) {
    subset.pick(candidates, given);
    if (tried && std::all_of(given.begin(), given.end(), [&](int v) { return tried->test(v); })) {
      ++scan.repeats;
      continue;
    }
    if ((++scan.tests & 255) == 0) monitor.check();
    const double evidence = session.evidence(i, j, given);
    scan.evidence = std::min(scan.evidence, evidence);
    if (evidence <= cut) {
      scan.found = true;
      scan.separator = given;
    }
  }
}

namespace {

std::vector<int> candidates_of(int i, int j, const Bitset& adjacent, const Knowledge& knowledge) {
  std::vector<int> result;
  for (int k : adjacent) {
    if (k != i && k != j && knowledge.may_separate(k, i, j)) result.push_back(k);
  }
  return result;
}

class Search {
 public:
  Search(const IndependenceTest& test, const Knowledge& knowledge, const SearchOptions& options, Monitor& monitor)
      : test_(test),
        knowledge_(knowledge),
        options_(options),
        monitor_(monitor),
        p_(test.variables()),
        threads_(test.concurrent() ? options.threads : 1),
        cut_(test.cut(options.alpha)) {}

  Skeleton run() {
    result_.separators = SeparatingSets(p_);
    result_.adjacent.assign(p_, Bitset(p_));
    marginal_level();
    for (int size = 1; size <= options_.max_set && needs_level(size); ++size) {
      if (size > test_.largest_set()) {
        result_.out_of_data = true;
        break;
      }
      options_.stable ? stable_level(size) : original_level(size);
      monitor_.progress(1 - 1.0 / (size + 1));
    }
    return std::move(result_);
  }

 private:
  static constexpr Index chunk = 32;

  void marginal_level() {
    std::vector<std::vector<EdgeStrength>> rows(p_);
    std::vector<LevelCount> counts(p_);
    parallel_for((p_ + chunk - 1) / chunk, threads_, monitor_, [&](Index block) {
      const auto session = test_.session();
      const std::vector<int> none;
      for (int i = static_cast<int>(block * chunk); i < std::min<Index>(p_, (block + 1) * chunk); ++i) {
        for (int j = i + 1; j < p_; ++j) {
          if (knowledge_.gap(i, j)) continue;
          if ((++counts[i].tests & 1023) == 0) monitor_.check();
          const double evidence = session->evidence(i, j, none);
          if (evidence > cut_ || knowledge_.edge(i, j)) {
            rows[i].push_back({i, j, evidence});
          } else {
            ++counts[i].removed;
          }
        }
      }
    });
    LevelCount level;
    for (int i = 0; i < p_; ++i) {
      level.tests += counts[i].tests;
      level.removed += counts[i].removed;
      for (const EdgeStrength& edge : rows[i]) {
        result_.adjacent[i].set(edge.j);
        result_.adjacent[edge.j].set(i);
        result_.edges.push_back(edge);
      }
    }
    level.repeats = static_cast<std::int64_t>(result_.edges.size());  // printed: (j, i) after (i, j) has survived
    result_.levels.push_back(level);
  }

  bool needs_level(int size) const {
    for (const EdgeStrength& edge : result_.edges) {
      if (knowledge_.edge(edge.i, edge.j)) continue;
      if (std::max(result_.adjacent[edge.i].count(), result_.adjacent[edge.j].count()) > size) return true;
    }
    return false;
  }

  // Takes the outcome of one edge into the graph; true when the edge is gone.
  bool apply(EdgeStrength& edge, SetScan& scan, LevelCount& level) {
    edge.evidence = std::min(edge.evidence, scan.evidence);
    level.tests += scan.tests;
    level.repeats += scan.repeats;
    if (!scan.found) return false;
    ++level.removed;
    result_.separators.store(edge.i, edge.j, std::move(scan.separator), test_.p_value(scan.evidence));
    result_.adjacent[edge.i].reset(edge.j);
    result_.adjacent[edge.j].reset(edge.i);
    return true;
  }

  void stable_level(int size) {
    const std::vector<Bitset> frozen = result_.adjacent;
    auto& edges = result_.edges;
    std::vector<SetScan> scans(edges.size());
    const Index count = static_cast<Index>(edges.size());
    parallel_for((count + chunk - 1) / chunk, threads_, monitor_, [&](Index block) {
      const auto session = test_.session();
      for (Index e = block * chunk; e < std::min(count, (block + 1) * chunk); ++e) {
        const int i = edges[e].i, j = edges[e].j;
        if (knowledge_.edge(i, j)) continue;
        scan_sets(*session, i, j, candidates_of(i, j, frozen[i], knowledge_), size, nullptr, cut_, monitor_, scans[e]);
        if (scans[e].found) continue;
        scan_sets(*session, i, j, candidates_of(i, j, frozen[j], knowledge_), size, &frozen[i], cut_, monitor_, scans[e]);
      }
    });
    LevelCount level;
    std::vector<EdgeStrength> left;
    result_.separators.expect(
        static_cast<std::size_t>(std::count_if(scans.begin(), scans.end(), [](const SetScan& s) { return s.found; })));
    for (std::size_t e = 0; e < edges.size(); ++e) {
      if (!apply(edges[e], scans[e], level)) left.push_back(edges[e]);
    }
    edges = std::move(left);
    result_.levels.push_back(level);
  }

  void original_level(int size) {
    auto& edges = result_.edges;
    struct Ordered {
      int from, to, edge;
    };
    std::vector<Ordered> pairs;
    for (std::size_t e = 0; e < edges.size(); ++e) {
      pairs.push_back({edges[e].i, edges[e].j, static_cast<int>(e)});
      pairs.push_back({edges[e].j, edges[e].i, static_cast<int>(e)});
    }
    std::sort(pairs.begin(), pairs.end(),
              [](const Ordered& a, const Ordered& b) { return a.from != b.from ? a.from < b.from : a.to < b.to; });
    const auto session = test_.session();
    LevelCount level;
    std::vector<char> gone(edges.size(), 0);
    for (const Ordered& pair : pairs) {
      if (gone[pair.edge] || knowledge_.edge(pair.from, pair.to)) continue;
      monitor_.check();
      SetScan scan;
      // adj(to) has only lost members since (to, from) was scanned: sets within it have been tried.
      const Bitset* tried = pair.from > pair.to ? &result_.adjacent[pair.to] : nullptr;
      const int i = edges[pair.edge].i, j = edges[pair.edge].j;
      scan_sets(*session, i, j, candidates_of(pair.from, pair.to, result_.adjacent[pair.from], knowledge_), size, tried, cut_,
                monitor_, scan);
      gone[pair.edge] = apply(edges[pair.edge], scan, level);
    }
    std::vector<EdgeStrength> left;
    for (std::size_t e = 0; e < edges.size(); ++e) {
      if (!gone[e]) left.push_back(edges[e]);
    }
    edges = std::move(left);
    result_.levels.push_back(level);
  }

  const IndependenceTest& test_;
  const Knowledge& knowledge_;
  const SearchOptions& options_;
  Monitor& monitor_;
  int p_, threads_;
  double cut_;
  Skeleton result_;
};

}  // namespace

Skeleton find_skeleton(const IndependenceTest& test, const Knowledge& knowledge, const SearchOptions& options, Monitor& monitor) {
  if (!(options.alpha >= 0 && options.alpha <= 1)) {
    throw InputError(message("alpha must be a significance level in [0, 1], not ", options.alpha, "."));
  }
  return Search(test, knowledge, options, monitor).run();
}

}  // namespace granary::graph
