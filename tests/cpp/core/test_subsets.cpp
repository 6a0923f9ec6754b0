#include <algorithm>
#include <set>

#include "core/graph/subsets.h"
#include "harness.h"

using namespace granary;

TEST("k-subsets come in lexicographic order, each once, and rank and unrank follow them") {
  for (int n = 0; n <= 9; ++n) {
    for (int k = 0; k <= n; ++k) {
      std::vector<int> last;
      std::uint64_t count = 0;
      for (KSubsets s(n, k); s.valid(); s.next(), ++count) {
        const std::vector<int>& now = s.indices();
        CHECK(static_cast<int>(now.size()) == k && std::is_sorted(now.begin(), now.end()));
        CHECK(count == 0 || last < now);
        CHECK(now.empty() || (now.front() >= 0 && now.back() < n));
        CHECK(combination_rank(n, now) == count);
        CHECK(combination_unrank(n, k, count) == now);
        last = now;
      }
      CHECK(count == choose(n, k));
    }
  }
  CHECK(!KSubsets(3, 4).valid() && !KSubsets(3, -1).valid());
  std::vector<char> chosen;
  KSubsets s(4, 2);
  s.next();
  s.pick(std::vector<char>({'a', 'b', 'c', 'd'}), chosen);
  CHECK(chosen == std::vector<char>({'a', 'c'}));
}

TEST("binomial coefficients by Pascal's rule, up to the 64-bit limit") {
  for (int n = 1; n <= 62; ++n) {
    for (int k = 1; k < n; ++k) CHECK(choose(n, k) == choose(n - 1, k - 1) + choose(n - 1, k));
  }
  CHECK(choose(67, 33) == 14226520737620288370u);
  CHECK(choose(5, 6) == 0 && choose(5, -1) == 0 && choose(0, 0) == 1);
  CHECK(choose(1000000, 3) == 166666166667000000u);
  CHECK_THROWS(choose(68, 34), InputError);
  CHECK(combination_unrank(67, 33, combination_rank(67, combination_unrank(67, 33, 12345678901234567u))).size() == 33);
  CHECK(combination_rank(67, combination_unrank(67, 33, 12345678901234567u)) == 12345678901234567u);
  CHECK_THROWS(combination_unrank(5, 2, 10), InputError);
  CHECK_THROWS(combination_rank(5, {2, 2}), InputError);
  CHECK_THROWS(combination_rank(5, {2, 5}), InputError);
}

TEST("all subsets, by number and by Gray code") {
  for (int n : {0, 1, 5, 10}) {
    std::uint64_t count = 0;
    std::vector<int> members;
    for (AllSubsets s(n); s.valid(); s.next(), ++count) {
      CHECK(s.mask() == count);
      s.members(members);
      std::uint64_t mask = 0;
      for (int i : members) {
        CHECK(s.contains(i));
        mask |= std::uint64_t{1} << i;
      }
      CHECK(mask == count);
    }
    CHECK(count == std::uint64_t{1} << n);

    std::uint64_t state = 0;
    std::set<std::uint64_t> seen = {0};
    for (GrayCode g(n); g.valid(); g.next()) {
      state ^= std::uint64_t{1} << g.bit();
      CHECK(g.mask() == state && g.bit() < n);
      CHECK(g.sets() == ((state >> g.bit() & 1) == 1));
      seen.insert(state);
    }
    CHECK(seen.size() == std::uint64_t{1} << n);
  }
  CHECK_THROWS(AllSubsets(63), InputError);
  CHECK_THROWS(GrayCode(-1), InputError);
}
