#include "graph/skeleton.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/graph/subsets.h"

namespace granary::graph {

const SeparatingSets::Entry* SeparatingSets::find(int i, int j) const {
  if (i > j) std::swap(i, j);
  for (const Entry& entry : rows_[i]) {
    if (entry.j == j) return &entry;
  }
  return nullptr;
}

void SeparatingSets::store(int i, int j, const int* members, int size, double p_value) {
  if (i > j) std::swap(i, j);
  const Entry fresh{i, j, members_.size(), size, p_value};
  members_.insert(members_.end(), members, members + size);
  if (const Entry* known = find(i, j)) {
    rows_[i][known - rows_[i].data()] = fresh;
  } else {
    rows_[i].push_back(fresh);
  }
}

std::vector<int> SeparatingSets::operator()(int i, int j) const {
  const Entry* known = find(i, j);
  return known ? std::vector<int>(members(*known), members(*known) + known->size) : std::vector<int>();
}

bool SeparatingSets::contains(int i, int j, int member) const {
  const Entry* known = find(i, j);
  return known && std::find(members(*known), members(*known) + known->size, member) != members(*known) + known->size;
}

std::vector<SeparatingSets::Entry> SeparatingSets::sorted() const {
  std::vector<Entry> list;
  for (const auto& row : rows_) {
    const auto from = static_cast<std::ptrdiff_t>(list.size());
    list.insert(list.end(), row.begin(), row.end());
    std::sort(list.begin() + from, list.end(), [](const Entry& a, const Entry& b) { return a.j < b.j; });
  }
  return list;
}

namespace {

// One edge after another through sets of one size. Its memory serves all edges: allocating it anew took a sixth of the search.
class Scanner {
 public:
  Scanner(const IndependenceTest& test, const Knowledge& knowledge, double cut, Monitor& monitor)
      : test_(test), knowledge_(knowledge), cut_(cut), monitor_(monitor), session_(test.session()) {}

  // Tests i and j given the sets of `size` members of `adjacent`; adds to `scan`. Sets that lie in `tried` (which may be null)
  // are counted as repeats and not tested.
  void operator()(int i, int j, const Bitset& adjacent, int size, const Bitset* tried, SetScan& scan) {
    candidates_.clear();
    for (int k : adjacent) {
      if (k != i && k != j && knowledge_.may_separate(k, i, j)) candidates_.push_back(k);
    }
    for (subset_.restart(static_cast<int>(candidates_.size()), size); subset_.valid() && !scan.found; subset_.next()) {
      subset_.pick(candidates_, given_);
      if (tried && std::all_of(given_.begin(), given_.end(), [&](int v) { return tried->test(v); })) {
        ++scan.repeats;
        continue;
      }
      if ((++scan.tests & 255) == 0) monitor_.check();
      const double evidence = session_->evidence(i, j, given_);
      scan.evidence = std::min(scan.evidence, evidence);
      if (evidence <= cut_) {
        scan.found = true;
        scan.p_value = test_.p_value(evidence);
      }
    }
  }
  const std::vector<int>& separator() const { return given_; }  // of the last pair, if one was found

 private:
  const IndependenceTest& test_;
  const Knowledge& knowledge_;
  double cut_;
  Monitor& monitor_;
  std::unique_ptr<TestSession> session_;
  KSubsets subset_{0, 0};
  std::vector<int> candidates_, given_;
};

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
  bool apply(EdgeStrength& edge, const SetScan& scan, const int* separator, int size, LevelCount& level) {
    edge.evidence = std::min(edge.evidence, scan.evidence);
    level.tests += scan.tests;
    level.repeats += scan.repeats;
    if (!scan.found) return false;
    ++level.removed;
    result_.separators.store(edge.i, edge.j, separator, size, scan.p_value);
    result_.adjacent[edge.i].reset(edge.j);
    result_.adjacent[edge.j].reset(edge.i);
    return true;
  }

  void stable_level(int size) {
    const std::vector<Bitset> frozen = result_.adjacent;
    auto& edges = result_.edges;
    std::vector<SetScan> scans(edges.size());
    std::vector<int> separators(edges.size() * static_cast<std::size_t>(size));
    const Index count = static_cast<Index>(edges.size());
    parallel_for((count + chunk - 1) / chunk, threads_, monitor_, [&](Index block) {
      Scanner scan(test_, knowledge_, cut_, monitor_);
      for (Index e = block * chunk; e < std::min(count, (block + 1) * chunk); ++e) {
        const int i = edges[e].i, j = edges[e].j;
        if (knowledge_.edge(i, j)) continue;
        scan(i, j, frozen[i], size, nullptr, scans[e]);
        if (!scans[e].found) scan(i, j, frozen[j], size, &frozen[i], scans[e]);
        if (scans[e].found) std::copy(scan.separator().begin(), scan.separator().end(), separators.begin() + e * size);
      }
    });
    LevelCount level;
    std::vector<EdgeStrength> left;
    for (std::size_t e = 0; e < edges.size(); ++e) {
      if (!apply(edges[e], scans[e], separators.data() + e * size, size, level)) left.push_back(edges[e]);
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
    Scanner scanner(test_, knowledge_, cut_, monitor_);
    LevelCount level;
    std::vector<char> gone(edges.size(), 0);
    for (const Ordered& pair : pairs) {
      if (gone[pair.edge] || knowledge_.edge(pair.from, pair.to)) continue;
      monitor_.check();
      SetScan scan;
      // adj(to) has only lost members since (to, from) was scanned: sets within it have been tried.
      const Bitset* tried = pair.from > pair.to ? &result_.adjacent[pair.to] : nullptr;
      const int i = edges[pair.edge].i, j = edges[pair.edge].j;
      scanner(i, j, result_.adjacent[pair.from], size, tried, scan);
      gone[pair.edge] = apply(edges[pair.edge], scan, scanner.separator().data(), size, level);
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
