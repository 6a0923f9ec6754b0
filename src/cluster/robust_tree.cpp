#include "cluster/robust_tree.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "cluster/robust_linkage.h"
#include "core/base/errors.h"
#include "core/cluster/merge_tree.h"
#include "core/base/parallel.h"
#include "core/graph/union_find.h"
#include "core/neighbours/neighbours.h"
#include "core/optim/assignment.h"

namespace granary::cluster {

namespace {

constexpr double impossible = -std::numeric_limits<double>::infinity();

// Nodes are numbered 0 .. n - 1 for points, n + i for merge i.
int node_of(int entry, int n) { return entry < 0 ? -entry - 1 : n + entry - 1; }
int entry_of(int node, int n) { return node < n ? -(node + 1) : node - n + 1; }

bool is_part(const ClusterTree& tree, int node, int n) {
  return node >= n && !tree.part.empty() && tree.part[static_cast<std::size_t>(node - n)];
}

std::vector<int> leaves_below(const ClusterTree& tree, int node, int n) {
  std::vector<int> out, open{node};
  while (!open.empty()) {
    const int u = open.back();
    open.pop_back();
    if (u < n) {
      out.push_back(u);
    } else {
      open.push_back(node_of(tree.merge(u - n, 0), n));
      open.push_back(node_of(tree.merge(u - n, 1), n));
    }
  }
  return out;
}

void name_clusters(const ClusterTree& tree, const std::vector<int>& nodes, int n, Pruning& out) {
  out.cluster.resize(n);
  for (std::size_t c = 0; c < nodes.size(); ++c) {
    out.nodes.push_back(entry_of(nodes[c], n));
    for (const int i : leaves_below(tree, nodes[c], n)) out.cluster[i] = static_cast<int>(c);
  }
}

// The cut into k clusters by height, matched with the labels.
Pruning horizontal(const ClusterTree& tree, const VectorXi& labels, int k, int n, Monitor& monitor) {
  std::vector<int> nodes;
  std::vector<int> open{2 * n - 2};
  // The latest merges are undone until there are k clusters.
  while (static_cast<int>(open.size()) < k) {
    const auto last = std::max_element(open.begin(), open.end());
    if (*last < n) break;
    const int u = *last;
    *last = node_of(tree.merge(u - n, 0), n);
    open.push_back(node_of(tree.merge(u - n, 1), n));
  }
  Pruning out;
  name_clusters(tree, open, n, out);
  MatrixXd overlap = MatrixXd::Zero(static_cast<Index>(open.size()), k);
  for (int i = 0; i < n; ++i) overlap(out.cluster[i], labels[i]) += 1;
  const AssignmentResult match = assign_rows_most(overlap, monitor);
  out.value = match.objective;
  for (Index c = 0; c < match.column.size(); ++c) out.label.push_back(static_cast<int>(match.column[c]));
  out.exact = false;
  return out;
}

}  // namespace

void check(const ClusterTree& tree) {
  const Index n = tree.merge.rows() + 1;
  require(tree.merge.cols() == 2 || n == 1, "`merge` must have two columns.");
  require(tree.height.size() == n - 1, "`height` must have one number per merge.");
  require(tree.part.empty() || static_cast<Index>(tree.part.size()) == n - 1, "`part` must have one flag per merge.");
  std::vector<char> used(static_cast<std::size_t>(2 * n), 0);
  for (Index i = 0; i < n - 1; ++i) {
    for (int c = 0; c < 2; ++c) {
      const int entry = tree.merge(i, c);
      require(entry != 0 && entry >= -n && entry <= i, "`merge` names a point or a merge that is not there.");
      char& once = used[static_cast<std::size_t>(node_of(entry, static_cast<int>(n)))];
      require(once == 0, "`merge` names a point or a merge twice.");
      once = 1;
    }
  }
}

Pruning best_pruning(const ClusterTree& tree, const VectorXi& labels, int k, Monitor& monitor) {
  const auto n = static_cast<int>(tree.merge.rows()) + 1;
  if (labels.size() != n)
    throw InputError(message("there must be one label per point of the tree, ", n, ", but there are ", labels.size(), "."));
  if (k > n) throw InputError("there are more labels than points.");
  if (k > most_labels) return horizontal(tree, labels, k, n, monitor);
  const std::size_t sets = std::size_t{1} << k;
  std::vector<VectorXd> own(static_cast<std::size_t>(2 * n - 1));             // points of each label below a node
  std::vector<std::vector<float>> best(static_cast<std::size_t>(2 * n - 1));  // g(u, L); whole numbers
  std::vector<std::vector<std::uint16_t>> choice(static_cast<std::size_t>(2 * n - 1));
  for (int u = 0; u < 2 * n - 1; ++u) {
    monitor.check();
    const auto at = static_cast<std::size_t>(u);
    own[at] = VectorXd::Zero(k);
    best[at].assign(sets, -1);
    if (u < n) {
      own[at][labels[u]] = 1;
    } else {
      const int a = node_of(tree.merge(u - n, 0), n), b = node_of(tree.merge(u - n, 1), n);
      const std::vector<float>&left = best[static_cast<std::size_t>(a)], &right = best[static_cast<std::size_t>(b)];
      own[at] = own[static_cast<std::size_t>(a)] + own[static_cast<std::size_t>(b)];
      choice[at].assign(sets, 0);
      for (std::size_t l = 1; l < sets; ++l) {
        for (std::size_t first = (l - 1) & l; first > 0; first = (first - 1) & l) {
          const float value = left[first] < 0 || right[l ^ first] < 0 ? -1 : left[first] + right[l ^ first];
          if (value > best[at][l]) best[at][l] = value, choice[at][l] = static_cast<std::uint16_t>(first);
        }
      }
      std::vector<float>().swap(best[static_cast<std::size_t>(a)]);
      std::vector<float>().swap(best[static_cast<std::size_t>(b)]);
    }
    if (!is_part(tree, u, n))
      for (int l = 0; l < k; ++l) best[at][std::size_t{1} << l] = static_cast<float>(own[at][l]);
  }
  Pruning out;
  std::size_t wanted = sets - 1;
  if (best.back()[wanted] < 0)  // more became one at once: the best with fewer
    for (std::size_t l = 1; l < sets; ++l)
      if (best.back()[l] > best.back()[wanted]) wanted = l;
  out.value = best.back()[wanted];
  std::vector<std::pair<int, std::size_t>> open{{2 * n - 2, wanted}};
  std::vector<int> nodes;
  while (!open.empty()) {
    const auto [u, l] = open.back();
    open.pop_back();
    if ((l & (l - 1)) == 0 && !is_part(tree, u, n)) {
      nodes.push_back(u);
      out.label.push_back(__builtin_ctzll(l));
    } else {
      const std::size_t first = choice[static_cast<std::size_t>(u)][l];
      open.emplace_back(node_of(tree.merge(u - n, 0), n), first);
      open.emplace_back(node_of(tree.merge(u - n, 1), n), l ^ first);
    }
  }
  name_clusters(tree, nodes, n, out);
  return out;
}

Pruning persistent_pruning(const ClusterTree& tree, int k, Monitor& monitor) {
  const auto n = static_cast<int>(tree.merge.rows()) + 1;
  const int nodes = 2 * n - 1;
  if (k > n) throw InputError(message("`k` must be at most the number of points, ", n, ", not ", k, "."));
  std::vector<double> size(static_cast<std::size_t>(nodes), 1), height(static_cast<std::size_t>(nodes), 0),
      end(static_cast<std::size_t>(nodes));
  for (int u = n; u < nodes; ++u) {
    height[static_cast<std::size_t>(u)] = tree.height[u - n];
    size[static_cast<std::size_t>(u)] = 0;
    for (int c = 0; c < 2; ++c)
      size[static_cast<std::size_t>(u)] += size[static_cast<std::size_t>(node_of(tree.merge(u - n, c), n))];
  }
  end.back() = height.back();
  for (int u = nodes - 1; u >= n; --u) {
    // A part ends where the whole begins.
    const double here = is_part(tree, u, n) ? end[static_cast<std::size_t>(u)] : height[static_cast<std::size_t>(u)];
    for (int c = 0; c < 2; ++c) end[static_cast<std::size_t>(node_of(tree.merge(u - n, c), n))] = here;
  }
  const auto lasting = [&](int u) {
    return u < n ? 0
                 : size[static_cast<std::size_t>(u)] * (end[static_cast<std::size_t>(u)] - height[static_cast<std::size_t>(u)]);
  };
  // f(u, j): the best with j clusters; for any number j = 0 keeps the best of all.
  const int most = std::max(k, 1);
  std::vector<std::vector<double>> value(static_cast<std::size_t>(nodes));
  std::vector<std::vector<int>> left(static_cast<std::size_t>(nodes));
  for (int u = 0; u < nodes; ++u) {
    monitor.check();
    const auto at = static_cast<std::size_t>(u);
    const int reach = static_cast<int>(std::min<double>(most, size[at]));
    value[at].assign(static_cast<std::size_t>(reach) + 1, impossible);
    left[at].assign(static_cast<std::size_t>(reach) + 1, 0);
    const bool stop = !is_part(tree, u, n);
    if (stop) value[at][1] = lasting(u);
    value[at][0] = stop ? lasting(u) : impossible;
    if (u < n) continue;
    const auto a = static_cast<std::size_t>(node_of(tree.merge(u - n, 0), n)),
               b = static_cast<std::size_t>(node_of(tree.merge(u - n, 1), n));
    const double split = value[a][0] + value[b][0];
    if (split > value[at][0] || u == nodes - 1) value[at][0] = split, left[at][0] = 1;
    for (int j = 2; j <= reach; ++j) {
      for (int i = std::max(1, j - static_cast<int>(value[b].size()) + 1); i < std::min(j, static_cast<int>(value[a].size()));
           ++i) {
        const double sum = value[a][static_cast<std::size_t>(i)] + value[b][static_cast<std::size_t>(j - i)];
        if (sum > value[at][static_cast<std::size_t>(j)])
          value[at][static_cast<std::size_t>(j)] = sum, left[at][static_cast<std::size_t>(j)] = i;
      }
    }
  }
  Pruning out;
  out.value = value.back()[static_cast<std::size_t>(k)];
  if (out.value == impossible)
    throw InputError(message("the tree has no pruning into ", k, " clusters: more became one at once."));
  std::vector<std::pair<int, int>> open{{nodes - 1, k}};
  std::vector<int> chosen;
  while (!open.empty()) {
    const auto [u, j] = open.back();
    open.pop_back();
    const int i = left[static_cast<std::size_t>(u)][static_cast<std::size_t>(j)];
    if (u < n || i == 0) {
      chosen.push_back(u);
    } else {
      open.emplace_back(node_of(tree.merge(u - n, 0), n), j == 0 ? 0 : i);
      open.emplace_back(node_of(tree.merge(u - n, 1), n), j == 0 ? 0 : j - i);
    }
  }
  std::sort(chosen.begin(), chosen.end(), [&](int a, int b) {
    const auto la = leaves_below(tree, a, n), lb = leaves_below(tree, b, n);
    return *std::min_element(la.begin(), la.end()) < *std::min_element(lb.begin(), lb.end());
  });
  name_clusters(tree, chosen, n, out);
  return out;
}

VectorXi descend(const ClusterTree& tree, const Eigen::MatrixXi& near, int threads, Monitor& monitor) {
  const auto n = static_cast<int>(tree.merge.rows()) + 1;
  std::vector<int> size(static_cast<std::size_t>(2 * n - 1), 1);
  for (int u = n; u < 2 * n - 1; ++u)
    size[static_cast<std::size_t>(u)] = size[static_cast<std::size_t>(node_of(tree.merge(u - n, 0), n))] +
                                        size[static_cast<std::size_t>(node_of(tree.merge(u - n, 1), n))];
  VectorXi out(near.cols());
  parallel_for(near.cols(), threads, monitor, [&](Index i) {
    std::vector<int> held(static_cast<std::size_t>(2 * n - 1), 0);
    for (Index r = 0; r < near.rows(); ++r) held[static_cast<std::size_t>(near(r, i))] = 1;
    for (int u = n; u < 2 * n - 1; ++u)
      held[static_cast<std::size_t>(u)] = held[static_cast<std::size_t>(node_of(tree.merge(u - n, 0), n))] +
                                          held[static_cast<std::size_t>(node_of(tree.merge(u - n, 1), n))];
    int u = 2 * n - 2;
    while (u >= n) {
      int best = -1;
      std::vector<int> open{node_of(tree.merge(u - n, 1), n), node_of(tree.merge(u - n, 0), n)};
      while (!open.empty()) {
        const int c = open.back();
        open.pop_back();
        if (is_part(tree, c, n)) {
          open.push_back(node_of(tree.merge(c - n, 1), n));
          open.push_back(node_of(tree.merge(c - n, 0), n));
          continue;
        }
        const auto held_by = [&](int node) {
          return std::make_pair(held[static_cast<std::size_t>(node)], size[static_cast<std::size_t>(node)]);
        };
        // Among points of a blob that became one at once the nearest neighbour decides.
        if (best < 0 || held_by(c) > held_by(best) || (c == near(0, i) && held_by(c) == held_by(best))) best = c;
      }
      u = best;
    }
    out[i] = u;
  });
  return out;
}

MatrixXd full_distances(ConstVectorRef lower) {
  const auto n = static_cast<Index>(std::lround((1 + std::sqrt(1 + 8 * static_cast<double>(lower.size()))) / 2));
  if (n * (n - 1) / 2 != lower.size()) throw InputError("the distances are not those of all pairs.");
  MatrixXd out(n, n);
  Index at = 0;
  for (Index j = 0; j < n; ++j) {
    out(j, j) = 0;
    for (Index i = j + 1; i < n; ++i) out(i, j) = lower[at++];
  }
  constexpr Index tile = 64;  // mirrored by tiles, which stay in the cache
  for (Index b = 0; b < n; b += tile)
    for (Index a = 0; a <= b; a += tile)
      for (Index j = b; j < std::min(n, b + tile); ++j)
        for (Index i = a; i < std::min(j, a + tile); ++i) out(i, j) = out(j, i);
  return out;
}

namespace {

// Prim's tree of the weights max(r_k(x), r_k(y), d(x, y) / alpha), as merges. from(i): distances of all points from point i.
template <class Distances>
SpanningLinkage spanning_linkage(VectorXd radius, double alpha, const Distances& from, Monitor& monitor) {
  const Index n = radius.size();
  SpanningLinkage out;
  out.radius = std::move(radius);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  // Those outside the tree stand in front, so that what is looked at shrinks; of equal ones the point of smaller number is taken.
  std::vector<int> outside(static_cast<std::size_t>(n - 1)), by(static_cast<std::size_t>(n - 1), 0);
  std::iota(outside.begin(), outside.end(), 1);
  std::vector<double> least(static_cast<std::size_t>(n - 1), infinity);
  struct Edge {
    double weight;
    int a, b;
  };
  std::vector<Edge> edges;
  int at = 0;
  while (!outside.empty()) {
    monitor.check();
    const double* away = from(at);
    std::size_t next = 0;
    for (std::size_t s = 0; s < outside.size(); ++s) {
      const int j = outside[s];
      const double weight = std::max(std::max(out.radius[at], out.radius[j]), away[j] / alpha);
      if (weight < least[s]) least[s] = weight, by[s] = at;
      if (least[s] < least[next] || (least[s] == least[next] && j < outside[next])) next = s;
    }
    edges.push_back({least[next], by[next], outside[next]});
    at = outside[next];
    outside[next] = outside.back(), least[next] = least.back(), by[next] = by.back();
    outside.pop_back(), least.pop_back(), by.pop_back();
  }
  std::stable_sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.weight < b.weight; });
  UnionFind sets(static_cast<int>(n));
  std::vector<int> node(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) node[static_cast<std::size_t>(i)] = -static_cast<int>(i + 1);
  out.merge.resize(n - 1, 2);
  out.height.resize(n - 1);
  for (Index i = 0; i < n - 1; ++i) {
    const Edge& e = edges[static_cast<std::size_t>(i)];
    int a = node[static_cast<std::size_t>(sets.find(e.a))], b = node[static_cast<std::size_t>(sets.find(e.b))];
    if ((a > 0 && (b < 0 || b < a)) || (a < 0 && b < 0 && a < b)) std::swap(a, b);
    out.merge.row(i) << a, b;
    out.height[i] = e.weight;
    sets.unite(e.a, e.b);
    node[static_cast<std::size_t>(sets.find(e.a))] = static_cast<int>(i) + 1;
  }
  out.order = leaf_order(out.merge);
  return out;
}

}  // namespace

SpanningLinkage robust_single_linkage(ConstMatrixRef distance, int k, double alpha, Monitor& monitor) {
  const Index n = distance.rows();
  VectorXd radius(n);
  std::vector<double> away(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) {
    if (i % 64 == 0) monitor.check();
    std::copy(distance.col(i).data(), distance.col(i).data() + n, away.begin());
    std::nth_element(away.begin(), away.begin() + (k - 1), away.end());
    radius[i] = away[static_cast<std::size_t>(k) - 1];
  }
  return spanning_linkage(std::move(radius), alpha, [&](Index i) { return distance.col(i).data(); }, monitor);
}

SpanningLinkage robust_single_linkage_rows(const MatrixView& x, int k, double alpha, int threads, Monitor& monitor) {
  const Index n = x.rows();
  VectorXd radius = VectorXd::Zero(n);
  if (k > 1) {
    NeighbourOptions how;
    how.k = k - 1;
    how.threads = threads;
    radius = nearest_neighbours(Design(x), how, monitor).distance.row(k - 2).transpose();
  }
  VectorXd away(n);
  const auto from = [&](Index i) {
    away.setZero();
    for (Index c = 0; c < x.cols(); ++c) away.array() += (x.col(c).array() - x(i, c)).square();
    away = away.cwiseSqrt();
    return away.data();
  };
  return spanning_linkage(std::move(radius), alpha, from, monitor);
}

}  // namespace granary::cluster
