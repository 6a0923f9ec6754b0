#include "core/linalg/submatrix.h"
#include "core/graph/union_find.h"
#include "harness.h"

using namespace granary;

TEST("union-find joins, counts and labels by smallest member") {
  UnionFind sets(7);
  CHECK(sets.sets() == 7);
  CHECK(sets.labels() == std::vector<int>({0, 1, 2, 3, 4, 5, 6}));
  CHECK(sets.unite(5, 1));
  CHECK(sets.unite(6, 2));
  CHECK(sets.unite(1, 6));
  CHECK(!sets.unite(5, 2));
  CHECK(sets.sets() == 4);
  CHECK(sets.connected(5, 6) && !sets.connected(0, 5));
  CHECK(sets.size_of(2) == 4 && sets.size_of(3) == 1);
  CHECK(sets.labels() == std::vector<int>({0, 1, 1, 2, 3, 1, 1}));
}

TEST("union-find agrees with relabelling by hand on many random-looking unions") {
  const int n = 200;
  UnionFind sets(n);
  std::vector<int> label(n);
  std::iota(label.begin(), label.end(), 0);
  unsigned state = 1;
  for (int step = 0; step < 150; ++step) {
    const int i = (state = state * 1103515245u + 12345u) / 65536u % n, j = (state = state * 1103515245u + 12345u) / 65536u % n;
    const int from = label[i], to = label[j];
    CHECK(sets.unite(i, j) == (from != to));
    for (int& l : label) {
      if (l == from) l = to;
    }
  }
  bool same = true;
  for (int i = 0; i < n; ++i) {
    int size = 0;
    for (int j = 0; j < n; ++j) {
      same = same && sets.connected(i, j) == (label[i] == label[j]);
      size += label[i] == label[j];
    }
    same = same && sets.size_of(i) == size;
  }
  CHECK(same);
}

TEST("union-find of a chain of a million ends in one set, and of nothing in none") {
  const int n = 1000000;
  UnionFind sets(n);
  for (int i = 1; i < n; ++i) sets.unite(i - 1, i);
  CHECK(sets.sets() == 1 && sets.size_of(0) == n && sets.connected(0, n - 1));
  UnionFind none(0);
  CHECK(none.sets() == 0 && none.labels().empty());
}

TEST("members of the sets ascend, sets in the order of their labels") {
  UnionFind sets(6);
  sets.unite(5, 1);
  sets.unite(3, 4);
  const std::vector<std::vector<int>> expected = {{0}, {1, 5}, {2}, {3, 4}};
  CHECK(sets.members() == expected);
  CHECK(UnionFind(0).members().empty());
}

TEST("a principal submatrix and the way back") {
  MatrixXd m(3, 3);
  m << 1, 2, 3, 4, 5, 6, 7, 8, 9;
  const std::vector<int> members = {2, 0};
  const MatrixXd part = principal_submatrix(m, members);
  CHECK(part(0, 0) == 9 && part(0, 1) == 7 && part(1, 0) == 3 && part(1, 1) == 1);
  MatrixXd whole = MatrixXd::Zero(3, 3);
  put_back(whole, part, members);
  CHECK(whole(0, 0) == 1 && whole(2, 0) == 7 && whole(0, 2) == 3 && whole(2, 2) == 9 && whole(1, 1) == 0 && whole(0, 1) == 0);
  CHECK((symmetrised(m) - 0.5 * (m + m.transpose())).cwiseAbs().maxCoeff() == 0);
}
