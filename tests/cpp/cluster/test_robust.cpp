#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "cluster/robust_check.h"
#include "cluster/robust_graph.h"
#include "cluster/robust_linkage.h"
#include "cluster/robust_tree.h"
#include "core/random/rng.h"
#include "harness.h"

using namespace granary;
using namespace granary::cluster;

namespace {

MatrixXd similarities(Index n, Rng& rng) {
  MatrixXd k(n, n);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j <= i; ++j) k(i, j) = k(j, i) = rng.uniform();
  return k;
}

MatrixXd topics() {
  MatrixXd k(64, 64);
  for (Index i = 0; i < 64; ++i) {
    for (Index j = 0; j < 64; ++j) {
      const Index a = i / 8, b = j / 8;
      k(i, j) = a == b ? 0.999 : a / 2 == b / 2 ? 0.75 : a / 4 == b / 4 ? 0.5 : 0;
      if (i != j && i % 8 == j % 8 && std::abs(static_cast<long>(a - b)) == 4) k(i, j) = 1;
    }
  }
  return k;
}

ClusterTree tree_of(const RobustLinkageResult& r) { return {r.merge, r.height, std::vector<bool>(r.part.begin(), r.part.end())}; }

// The sets of points of all nodes that are no parts.
std::set<std::vector<int>> clusters_of(const ClusterTree& tree) {
  const auto n = static_cast<int>(tree.merge.rows()) + 1;
  std::vector<std::vector<int>> below(static_cast<std::size_t>(n - 1));
  std::set<std::vector<int>> out;
  for (int i = 0; i < n - 1; ++i) {
    auto& mine = below[static_cast<std::size_t>(i)];
    for (int c = 0; c < 2; ++c) {
      const int entry = tree.merge(i, c);
      if (entry < 0) mine.push_back(-entry - 1);
      if (entry > 0)
        mine.insert(mine.end(), below[static_cast<std::size_t>(entry - 1)].begin(),
                    below[static_cast<std::size_t>(entry - 1)].end());
    }
    std::sort(mine.begin(), mine.end());
    if (tree.part.empty() || !tree.part[static_cast<std::size_t>(i)]) out.insert(mine);
  }
  return out;
}

// Algorithm 3 as it is written, with matrices; what is left open is settled as robust_linkage.h says. The clusters it forms, with their t.
std::map<std::vector<int>, int> by_the_book(const NeighbourOrder& order, double eps) {
  const auto n = static_cast<int>(order.cols());
  const double e = eps * n;
  std::vector<std::vector<int>> blobs;
  for (int i = 0; i < n; ++i) blobs.push_back({i});
  std::map<std::vector<int>, int> out;
  const auto median = [](std::vector<double> v) {
    std::sort(v.begin(), v.end());
    return 0.5 * (v[(v.size() - 1) / 2] + v[v.size() / 2]);
  };
  for (int t = static_cast<int>(std::floor(6 * e + 1e-9)) + 1; blobs.size() > 1; ++t) {
    const Eigen::MatrixXi common = common_neighbours(order, t);
    Eigen::MatrixXi f(n, n);
    for (int x = 0; x < n; ++x)
      for (int y = 0; y < n; ++y) f(x, y) = common(x, y) >= t - 2 * e - 1e-9;
    const auto ratio = [&](const std::vector<int>& u, const std::vector<int>& v) {  // of an edge of H, or -1
      if (u.size() == 1 && v.size() == 1) return f.row(u[0]).dot(f.row(v[0])) > e + 1e-9 ? 1.0 : -1.0;
      std::vector<double> s;
      for (const int x : u) {
        for (const int y : v) {
          double sum = 0;
          for (const int z : u) sum += f(x, z) * f(y, z);
          for (const int z : v) sum += f(x, z) * f(y, z);
          s.push_back(sum);
        }
      }
      const double m = median(s), size = static_cast<double>(u.size() + v.size());
      return m > size / 4 + 1e-9 ? m / size : -1.0;
    };
    const auto join = [&](std::size_t a, std::size_t b) {
      blobs[a].insert(blobs[a].end(), blobs[b].begin(), blobs[b].end());
      std::sort(blobs[a].begin(), blobs[a].end());
      blobs.erase(blobs.begin() + static_cast<std::ptrdiff_t>(b));
    };
    for (bool merged = true; merged;) {
      merged = false;
      double best = -1;
      std::size_t a = 0, b = 0;
      for (std::size_t u = 0; u < blobs.size(); ++u) {
        for (std::size_t v = u + 1; v < blobs.size(); ++v) {
          if ((blobs[u].size() == 1 && blobs[v].size() == 1) ||
              !(static_cast<double>(blobs[u].size() + blobs[v].size()) > 4 * e + 1e-9))
            continue;
          const double r = ratio(blobs[u], blobs[v]);
          if (r > best) best = r, a = u, b = v;
        }
      }
      if (best >= 0) {
        join(a, b);
        out[blobs[a]] = t;
        merged = true;
      }
    }
    // Components of singletons.
    for (std::size_t u = 0; u < blobs.size(); ++u) {
      if (blobs[u].size() > 1) continue;
      std::vector<std::size_t> component{u};
      for (std::size_t i = 0; i < component.size(); ++i)
        for (std::size_t v = 0; v < blobs.size(); ++v)
          if (blobs[v].size() == 1 && std::find(component.begin(), component.end(), v) == component.end() &&
              ratio(blobs[component[i]], blobs[v]) > 0)
            component.push_back(v);
      if (component.size() < 2 || static_cast<double>(component.size()) < 4 * e - 1e-9) continue;
      std::sort(component.begin(), component.end());
      for (std::size_t i = component.size(); i-- > 1;) join(component[0], component[i]);
      out[blobs[component[0]]] = t;
    }
    std::vector<std::size_t> single;
    bool any = false;
    for (std::size_t u = 0; u < blobs.size(); ++u) blobs[u].size() == 1 ? single.push_back(u) : void(any = true);
    if (any && static_cast<double>(single.size()) < std::max(4 * e, 0.5 * t) - 1e-9) {
      std::map<std::size_t, std::vector<int>> gains;
      for (const std::size_t u : single) {
        double least = 1e300;
        std::size_t to = 0;
        for (std::size_t v = 0; v < blobs.size(); ++v) {
          if (blobs[v].size() == 1) continue;
          std::vector<double> ranks;
          for (const int y : blobs[v])
            for (int r = 0; r < n; ++r)
              if (order(r, blobs[u][0]) == y) ranks.push_back(r);
          if (median(ranks) < least) least = median(ranks), to = v;
        }
        gains[to].push_back(blobs[u][0]);
      }
      for (auto& [v, points] : gains) {
        blobs[v].insert(blobs[v].end(), points.begin(), points.end());
        std::sort(blobs[v].begin(), blobs[v].end());
        out[blobs[v]] = t;
      }
      blobs.erase(std::remove_if(blobs.begin(), blobs.end(), [](const auto& b) { return b.size() == 1; }), blobs.end());
    }
  }
  return out;
}

}  // namespace

TEST("the graph F_t, kept up to date, is the one by definition at every t") {
  Monitor monitor;
  Rng rng(1);
  for (const int n : {5, 20, 40, 70}) {
    const NeighbourOrder order = neighbour_order(similarities(n, rng), Closeness::similarity, 1, monitor);
    for (const double wrong : {0.3, 1.0, 2.5}) {
      CommonNeighbourGraph one(order, wrong, 1), two(order, wrong, 2);
      for (int t = 1; t <= n; t += t < 6 ? 1 : 2) {
        one.advance(t, monitor);
        two.advance(t, monitor);
        const Eigen::MatrixXi common = common_neighbours(order, t);
        for (int x = 0; x < n; ++x) {
          for (int y = 0; y < n; ++y) {
            CHECK(one.edges().test(x, y) == (common(x, y) >= t - 2 * wrong - 1e-9));
            CHECK(one.edges().test(x, y) == two.edges().test(x, y));
          }
        }
      }
    }
  }
}

TEST("common neighbours are those of I I'; orders keep oneself first, ties by number, missing last") {
  Monitor monitor;
  Rng rng(2);
  MatrixXd k = similarities(12, rng);
  k(3, 5) = k(5, 3) = std::nan("");
  k(3, 7) = k(7, 3) = k(3, 2) = k(2, 3) = 0.5;
  const NeighbourOrder order = neighbour_order(k, Closeness::similarity, 2, monitor);
  CHECK(order(0, 3) == 3 && order(11, 3) == 5);
  Index at_two = 0, at_seven = 0;
  for (Index r = 0; r < 12; ++r) {
    if (order(r, 3) == 2) at_two = r;
    if (order(r, 3) == 7) at_seven = r;
  }
  CHECK(at_seven == at_two + 1);
  for (const int t : {1, 4, 12}) {
    Eigen::MatrixXi i = Eigen::MatrixXi::Zero(12, 12);
    for (int x = 0; x < 12; ++x)
      for (int r = 0; r < t; ++r) i(x, order(r, x)) = 1;
    CHECK((common_neighbours(order, t) - i * i.transpose()).cwiseAbs().maxCoeff() == 0);
  }
  CHECK(neighbour_order(-k, Closeness::distance, 1, monitor) == order);
}

TEST("the tree has the clusters of Algorithm 3 as it is written, and heights rise") {
  Monitor monitor;
  Rng rng(3);
  for (int trial = 0; trial < 30; ++trial) {
    const int n = 20 + static_cast<int>(rng.below(30)), groups = 1 + static_cast<int>(rng.below(4));
    MatrixXd k = similarities(n, rng);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        if (i != j && i % groups == j % groups) k(i, j) += 0.4 + 0.5 * (trial % 3);
    const NeighbourOrder order = neighbour_order(k, Closeness::similarity, 1, monitor);
    RobustLinkageOptions options;
    options.eps = 0.02 + 0.1 * rng.uniform();
    const RobustLinkageResult found = robust_linkage(order, options, monitor);
    const std::map<std::vector<int>, int> wanted = by_the_book(order, options.eps);
    const std::set<std::vector<int>> have = clusters_of(tree_of(found));
    for (const auto& [cluster, t] : wanted) CHECK(have.count(cluster) == 1);
    for (Index i = 1; i < n - 1; ++i) CHECK(found.height[i] >= found.height[i - 1]);
    CHECK_NEAR(found.height[n - 2], wanted.at([&] {
      std::vector<int> all(static_cast<std::size_t>(n));
      for (int i = 0; i < n; ++i) all[static_cast<std::size_t>(i)] = i;
      return all;
    }()),
               0);
    options.threads = 2;
    CHECK(robust_linkage(order, options, monitor).merge == found.merge);
  }
}

TEST("eight topics with wrong links: regions, pairs and halves at t = 7, 16, 32, all at 62, and no error") {
  Monitor monitor;
  RobustLinkageOptions options;
  options.eps = 1.0 / 64;
  const RobustLinkageResult found =
      robust_linkage(neighbour_order(topics(), Closeness::similarity, 1, monitor), options, monitor);
  std::map<double, int> merges;
  for (Index i = 0; i < 63; ++i) ++merges[found.height[i]];
  CHECK(merges == (std::map<double, int>{{7, 56}, {16, 4}, {32, 2}, {62, 1}}));
  for (const int size : {8, 16, 32}) {
    VectorXi labels(64);
    for (int i = 0; i < 64; ++i) labels[i] = i / size;
    CHECK_NEAR(best_pruning(tree_of(found), labels, 64 / size, monitor).value, 64, 0);
  }
  CHECK(found.order.minCoeff() == 1 && found.order.maxCoeff() == 64);
}

TEST("only the order counts: rising functions of the similarities give the same tree; relabelled points the same clusters") {
  Monitor monitor;
  Rng rng(4);
  const int n = 50;
  MatrixXd k = similarities(n, rng);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) k(i, j) += i % 3 == j % 3 ? 0.7 : 0;
  RobustLinkageOptions options;
  options.eps = 0.03;
  const RobustLinkageResult one = robust_linkage(neighbour_order(k, Closeness::similarity, 1, monitor), options, monitor);
  const RobustLinkageResult cubed =
      robust_linkage(neighbour_order(k.array().cube().exp(), Closeness::similarity, 1, monitor), options, monitor);
  CHECK(one.merge == cubed.merge && one.height == cubed.height);
  const std::vector<int> to = rng.permutation(n);
  MatrixXd moved(n, n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) moved(to[static_cast<std::size_t>(i)], to[static_cast<std::size_t>(j)]) = k(i, j);
  const RobustLinkageResult other = robust_linkage(neighbour_order(moved, Closeness::similarity, 1, monitor), options, monitor);
  CHECK(one.height == other.height);
  std::set<std::vector<int>> renamed;
  for (std::vector<int> cluster : clusters_of(tree_of(one))) {
    if (cluster.size() < 6) continue;
    for (int& i : cluster) i = to[static_cast<std::size_t>(i)];
    std::sort(cluster.begin(), cluster.end());
    renamed.insert(cluster);
  }
  const std::set<std::vector<int>> found = clusters_of(tree_of(other));
  int kept = 0;
  for (const auto& cluster : renamed) kept += static_cast<int>(found.count(cluster));
  CHECK(kept + 3 >= static_cast<int>(renamed.size()));  // singletons that join at the same t may do so in another order
}

TEST("the best pruning is that of all prunings, with and without merges that are parts") {
  Monitor monitor;
  Rng rng(5);
  for (int trial = 0; trial < 40; ++trial) {
    const int n = 4 + static_cast<int>(rng.below(8)), k = 2 + static_cast<int>(rng.below(3));
    ClusterTree tree{Eigen::MatrixXi(n - 1, 2), VectorXd(n - 1), {}};
    std::vector<int> open;
    for (int i = 1; i <= n; ++i) open.push_back(-i);
    for (int i = 0; i < n - 1; ++i) {
      for (int c = 0; c < 2; ++c) {
        const auto at = static_cast<std::ptrdiff_t>(rng.below(open.size()));
        tree.merge(i, c) = open[static_cast<std::size_t>(at)];
        open.erase(open.begin() + at);
      }
      open.push_back(i + 1);
      tree.height[i] = i + 1;
    }
    if (trial % 2 == 1) {
      tree.part.assign(static_cast<std::size_t>(n - 1), false);
      tree.part[0] = true;
    }
    VectorXi labels(n);
    for (int i = 0; i < n; ++i) labels[i] = i < k ? i : static_cast<int>(rng.below(static_cast<std::uint64_t>(k)));
    // All prunings by recursion: lists of sets of points.
    using Sets = std::vector<std::vector<int>>;
    const std::function<std::vector<Sets>(int)> all = [&](int entry) {
      if (entry < 0) return std::vector<Sets>{{{-entry - 1}}};
      std::vector<Sets> out;
      std::vector<int> whole;
      for (const Sets& left : all(tree.merge(entry - 1, 0))) {
        for (const Sets& right : all(tree.merge(entry - 1, 1))) {
          Sets both = left;
          both.insert(both.end(), right.begin(), right.end());
          out.push_back(both);
          if (whole.empty())
            for (const auto& set : both) whole.insert(whole.end(), set.begin(), set.end());
        }
      }
      if (tree.part.empty() || !tree.part[static_cast<std::size_t>(entry - 1)]) out.push_back({whole});
      return out;
    };
    double best = -1;
    for (const Sets& pruning : all(n - 1)) {
      if (static_cast<int>(pruning.size()) != k) continue;
      std::vector<int> name(static_cast<std::size_t>(k));
      for (int i = 0; i < k; ++i) name[static_cast<std::size_t>(i)] = i;
      do {
        double right = 0;
        for (std::size_t c = 0; c < pruning.size(); ++c)
          for (const int i : pruning[c]) right += labels[i] == name[c];
        best = std::max(best, right);
      } while (std::next_permutation(name.begin(), name.end()));
    }
    const Pruning found = best_pruning(tree, labels, k, monitor);
    if (best >= 0) CHECK_NEAR(found.value, best, 0);
    double again = 0;
    for (int i = 0; i < n; ++i) again += found.label[static_cast<std::size_t>(found.cluster[i])] == labels[i];
    CHECK_NEAR(again, found.value, 0);
  }
}

TEST("persistence: two lasting groups are found; a damaged tree is refused") {
  Monitor monitor;
  MatrixXd k(40, 40);
  Rng rng(6);
  for (int i = 0; i < 40; ++i)
    for (int j = 0; j <= i; ++j) k(i, j) = k(j, i) = (i / 20 == j / 20) + 0.1 * rng.uniform();
  RobustLinkageOptions options;
  options.eps = 0.05;
  const RobustLinkageResult found = robust_linkage(neighbour_order(k, Closeness::similarity, 1, monitor), options, monitor);
  for (const int wanted : {0, 2}) {
    const Pruning two = persistent_pruning(tree_of(found), wanted, monitor);
    CHECK(two.nodes.size() == 2);
    for (int i = 0; i < 40; ++i) CHECK(two.cluster[i] == i / 20);
  }
  CHECK(found.height[38] <= 40 && found.height[37] <= 20);
  ClusterTree bad = tree_of(found);
  bad.merge(3, 0) = bad.merge(2, 0);
  CHECK_THROWS(check(bad), InputError);
  options.eps = 0.2;
  CHECK_THROWS(robust_linkage(neighbour_order(k, Closeness::similarity, 1, monitor), options, monitor), InputError);
}

TEST("a point of the tree that walks down it reaches its own clusters") {
  Monitor monitor;
  const NeighbourOrder order = neighbour_order(topics(), Closeness::similarity, 1, monitor);
  RobustLinkageOptions options;
  options.eps = 1.0 / 64;
  const ClusterTree tree = tree_of(robust_linkage(order, options, monitor));
  Eigen::MatrixXi near(6, 64);
  for (Index x = 0; x < 64; ++x)
    for (Index r = 0; r < 6; ++r) near(r, x) = order(r, x);
  const VectorXi reached = descend(tree, near, 2, monitor);
  for (int x = 0; x < 64; ++x) CHECK(reached[x] == x);
}

TEST("good neighbourhoods: counted by definition; strict separation has none wrong") {
  Monitor monitor;
  const NeighbourOrder order = neighbour_order(topics(), Closeness::similarity, 1, monitor);
  VectorXi region(64);
  for (int i = 0; i < 64; ++i) region[i] = i / 8;
  const NeighbourhoodCheck found = neighbourhood_check(order, region, VectorXi(), 10, 2, monitor);
  CHECK(found.outside.minCoeff() == 1 && found.outside.maxCoeff() == 1);
  CHECK(found.alpha.size() == 11);
  Rng rng(7);
  MatrixXd k(30, 30);
  for (int i = 0; i < 30; ++i)
    for (int j = 0; j <= i; ++j) k(i, j) = k(j, i) = (i / 15 == j / 15) + 0.1 * rng.uniform();
  VectorXi half(30);
  for (int i = 0; i < 30; ++i) half[i] = i / 15;
  for (int j = 0; j < 30; ++j) k(4, j) = k(j, 4) = 1 - k(4, j);  // one bad point
  const NeighbourhoodCheck one =
      neighbourhood_check(neighbour_order(k, Closeness::similarity, 1, monitor), half, half, 10, 1, monitor);
  CHECK(one.removed.size() == 1 && one.removed[0] == 4);
  CHECK_NEAR(one.alpha.back(), 0, 0);
  CHECK(one.outside_set == one.outside);
}

TEST("robust single linkage: components at every radius are those of its definition") {
  Monitor monitor;
  Rng rng(8);
  const int n = 40, k = 4;
  const double alpha = std::sqrt(2.0);
  MatrixXd x(2, n);
  for (Index e = 0; e < x.size(); ++e) x.data()[e] = rng.normal() + (e / 2 < 20 ? 4 : 0);
  MatrixXd d(n, n);
  for (int i = 0; i < n; ++i) d.col(i) = (x.colwise() - x.col(i)).colwise().norm().transpose();
  const SpanningLinkage found = robust_single_linkage(d, k, alpha, monitor);
  for (const int at : {5, 20, 35}) {
    const double r = found.height[at] + 1e-12;
    std::vector<int> label(n);
    for (int i = 0; i < n; ++i) label[static_cast<std::size_t>(i)] = i;
    for (bool moved = true; moved;) {
      moved = false;
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
          if (found.radius[i] > r || found.radius[j] > r || d(i, j) > alpha * r) continue;
          const int least = std::min(label[static_cast<std::size_t>(i)], label[static_cast<std::size_t>(j)]);
          if (label[static_cast<std::size_t>(i)] != least || label[static_cast<std::size_t>(j)] != least)
            label[static_cast<std::size_t>(i)] = label[static_cast<std::size_t>(j)] = least, moved = true;
        }
      }
    }
    int merges = 0;
    for (Index m = 0; m < n - 1; ++m) merges += found.height[m] <= r;
    CHECK_NEAR(static_cast<double>(std::set<int>(label.begin(), label.end()).size()), n - merges, 0);
  }
  for (int i = 0; i < n; ++i) {
    VectorXd row = d.col(i);
    std::sort(row.data(), row.data() + n);
    CHECK_NEAR(found.radius[i], row[k - 1], 0);
  }
}
