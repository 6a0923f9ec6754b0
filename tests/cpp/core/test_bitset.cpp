#include <algorithm>
#include <set>
#include <unordered_set>

#include "core/graph/bitset.h"
#include "core/random/rng.h"
#include "harness.h"

using namespace granary;

namespace {
std::vector<int> draw_members(Rng& rng, int n, double density) {
  std::vector<int> members;
  for (int i = 0; i < n; ++i) {
    if (rng.bernoulli(density)) members.push_back(i);
  }
  return members;
}
}  // namespace

TEST("bitset operations agree with std::set at every size around a word") {
  Rng rng(1);
  for (int n : {0, 1, 2, 63, 64, 65, 127, 128, 129, 500}) {
    for (double density : {0.0, 0.02, 0.5, 1.0}) {
      const std::vector<int> va = draw_members(rng, n, density), vb = draw_members(rng, n, 0.5);
      const Bitset a(n, va), b(n, vb);
      std::vector<int> both, either, only, differ, outside;
      std::set_intersection(va.begin(), va.end(), vb.begin(), vb.end(), std::back_inserter(both));
      std::set_union(va.begin(), va.end(), vb.begin(), vb.end(), std::back_inserter(either));
      std::set_difference(va.begin(), va.end(), vb.begin(), vb.end(), std::back_inserter(only));
      std::set_symmetric_difference(va.begin(), va.end(), vb.begin(), vb.end(), std::back_inserter(differ));
      for (int i = 0; i < n; ++i) {
        if (!std::binary_search(va.begin(), va.end(), i)) outside.push_back(i);
      }
      CHECK(a.members() == va && a.count() == static_cast<int>(va.size()));
      CHECK(a.any() == !va.empty() && a.none() == va.empty());
      CHECK((a & b).members() == both && a.count_common(b) == static_cast<int>(both.size()));
      CHECK((a | b).members() == either);
      CHECK((a - b).members() == only);
      CHECK((a ^ b).members() == differ);
      CHECK((~a).members() == outside && ~~a == a);
      CHECK(a.intersects(b) == !both.empty());
      CHECK(a.is_subset_of(b) == only.empty() && (a & b).is_subset_of(b) && a.is_subset_of(a | b));
      std::vector<int> walked;
      for (int i = a.first(); i >= 0; i = a.next(i)) walked.push_back(i);
      CHECK(walked == va);
      CHECK(std::equal(a.begin(), a.end(), va.begin(), va.end()));
      CHECK((a == b) == (va == vb) && (a != b) == (va != vb));
      CHECK(a == b || (a < b) != (b < a));
      CHECK(a.hash() == Bitset(n, va).hash());
    }
  }
}

TEST("bitset edits, and members removed while walking") {
  Bitset s(130);
  s.set(0);
  s.set(64);
  s.set(129, true);
  CHECK(s.test(64) && !s.test(63));
  s.flip(64);
  s.flip(63);
  s.set(0, false);
  CHECK(s.members() == std::vector<int>({63, 129}));
  s.fill();
  CHECK(s.count() == 130 && (~s).none());
  int visits = 0;
  for (int i : s) {
    s.reset(i);
    ++visits;
  }
  CHECK(visits == 130 && s.none());
  s.set(5);
  s.clear();
  CHECK(s.first() == -1 && s.next(5) == -1 && s.begin() == s.end());
  CHECK(Bitset(65) != Bitset(64));
}

TEST("bitset hashes tell subsets apart") {
  std::unordered_set<Bitset> seen;
  std::unordered_set<std::size_t> hashes;
  for (int i = 0; i < 70; ++i) {
    for (int j = 0; j < i; ++j) {
      const Bitset pair(70, {i, j});
      CHECK(seen.insert(pair).second);
      hashes.insert(pair.hash());
    }
  }
  CHECK(seen.size() == 70 * 69 / 2 && hashes.size() == seen.size());
}
