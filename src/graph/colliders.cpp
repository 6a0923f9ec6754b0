#include "graph/colliders.h"

#include <algorithm>

#include "core/base/parallel.h"
#include "core/graph/subsets.h"

namespace granary::graph {

std::vector<Triple> unshielded_triples(const std::vector<Bitset>& adjacent) {
  std::vector<Triple> triples;
  for (int i = 0; i < static_cast<int>(adjacent.size()); ++i) {
    for (int j : adjacent[i]) {
      const Bitset far = adjacent[j] - adjacent[i];
      for (int k = far.next(i); k >= 0; k = far.next(k)) triples.push_back({i, j, k});
    }
  }
  return triples;
}

ColliderJudge::ColliderJudge(const IndependenceTest& test, const std::vector<Bitset>& adjacent, const SeparatingSets& separators,
                             const Knowledge& knowledge, const SearchOptions& search, const ColliderOptions& options,
                             const std::vector<Bitset>* wider, Monitor& monitor)
    : test_(test),
      adjacent_(adjacent),
      separators_(separators),
      knowledge_(knowledge),
      search_(search),
      options_(options),
      wider_(wider),
      monitor_(monitor) {}

ColliderJudge::Votes ColliderJudge::count(int i, int k) const {
  Votes votes;
  const auto session = test_.session();
  const double cut = test_.cut(search_.alpha);
  const int largest = std::min({search_.max_set, options_.max_set, test_.largest_set()});
  std::vector<int> given;
  // Visits the sets of one size; `before` marks the candidates whose sets have been visited already.
  const auto visit = [&](const std::vector<int>& candidates, int size, const Bitset* before) {
    for (KSubsets subset(static_cast<int>(candidates.size()), size); subset.valid(); subset.next()) {
      subset.pick(candidates, given);
      if (before && std::all_of(given.begin(), given.end(), [&](int v) { return before->test(v); })) continue;
      if ((++votes.tests & 255) == 0) monitor_.check();
      if (session->evidence(i, k, given) > cut) continue;
      ++votes.total;
      for (int v : given) ++votes.containing[v];
    }
  };
  const auto candidates_among = [&](const Bitset& set) {
    std::vector<int> list;
    for (int v : set) {
      if (v != i && v != k && knowledge_.may_separate(v, i, k)) list.push_back(v);
    }
    return list;
  };
  const auto visit_both = [&](const Bitset& near_i, const Bitset& near_k, bool smallest_only, int largest) {
    const std::vector<int> first = candidates_among(near_i), second = candidates_among(near_k);
    const int most = static_cast<int>(std::max(first.size(), second.size()));
    for (int size = 0; size <= std::min(most, largest); ++size) {
      visit(first, size, nullptr);
      visit(second, size, &near_i);
      if (smallest_only && votes.total > 0) break;
    }
    if (most > largest && !(smallest_only && votes.total > 0)) votes.capped = true;
  };
  visit_both(adjacent_[i], adjacent_[k], false, largest);
  if (votes.total == 0 && options_.hidden) {
    const std::vector<int>& known = separators_(i, k);
    const bool capped = votes.capped;
    if (wider_) visit_both((*wider_)[i], (*wider_)[k], true, std::min(largest, static_cast<int>(known.size())));
    votes.capped = capped;  // stopping at the size of the known set leaves nothing out that is wanted
    if (votes.total == 0) {
      votes.total = 1;
      for (int v : known) votes.containing[v] = 1;
    }
  }
  return votes;
}

void ColliderJudge::prepare(const std::vector<Triple>& triples) {
  if (options_.rule == ColliderRule::standard) return;
  std::vector<std::pair<int, int>> pairs;
  for (const Triple& t : triples) {
    const std::pair<int, int> pair{t[0], t[2]};
    if (!knowledge_.gap(t[0], t[2]) && votes_.find(pair) == votes_.end()) pairs.push_back(pair);
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  std::vector<Votes> counted(pairs.size());
  parallel_for(static_cast<Index>(pairs.size()), test_.concurrent() ? search_.threads : 1, monitor_,
               [&](Index e) { counted[e] = count(pairs[e].first, pairs[e].second); });
  for (std::size_t e = 0; e < pairs.size(); ++e) {
    capped_ = capped_ || counted[e].capped;
    tests_ += counted[e].tests;
    votes_.emplace(pairs[e], std::move(counted[e]));
  }
}

Verdict ColliderJudge::operator()(int i, int j, int k) {
  if (i > k) std::swap(i, k);
  if (knowledge_.gap(i, k)) return Verdict::ambiguous;  // nothing was tested, so nothing is known of their separating sets
  if (options_.rule == ColliderRule::standard) {
    return separators_.contains(i, k, j) ? Verdict::not_collider : Verdict::collider;
  }
  auto at = votes_.find({i, k});
  if (at == votes_.end()) {
    at = votes_.emplace(std::make_pair(i, k), count(i, k)).first;
    capped_ = capped_ || at->second.capped;
    tests_ += at->second.tests;
  }
  const Votes& votes = at->second;
  if (votes.total == 0) return Verdict::ambiguous;
  const auto found = votes.containing.find(j);
  const double with_j = found == votes.containing.end() ? 0 : static_cast<double>(found->second);
  const double total = static_cast<double>(votes.total);
  if (options_.rule == ColliderRule::conservative) {
    if (with_j == 0) return Verdict::collider;
    return with_j == total ? Verdict::not_collider : Verdict::ambiguous;
  }
  // Twice the distance from 1/2, in whole counts where the band is 0, so that rounding cannot decide.
  const double excess = 2 * with_j - total;
  if (std::abs(excess) <= 2 * options_.band * total) return Verdict::ambiguous;
  return excess < 0 ? Verdict::collider : Verdict::not_collider;
}

}  // namespace granary::graph
