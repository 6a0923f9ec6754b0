#include "cluster/center_tree.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/parallel.h"

namespace granary::cluster {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double loss(double d, CenterObjective objective) { return objective == CenterObjective::means ? d * d : d; }
double join(double a, double b, CenterObjective objective) { return objective == CenterObjective::center ? std::max(a, b) : a + b; }

// For every x: rank_x(q), the number of points at most as far as q (ties share the last rank), and for every rank t the least padded radius whose ball holds
// the first t points.
struct PaddedBalls {
  Index n;
  std::vector<int> rank;       // [x n + q]
  std::vector<double> radius;  // [x n + t - 1]

  PaddedBalls(ConstMatrixRef d, int threads, Monitor& monitor)
      : n(d.rows()), rank(static_cast<std::size_t>(n * n)), radius(static_cast<std::size_t>(n * n)) {
    parallel_for(n, threads, monitor, [&](Index x) {
      int* r = &rank[static_cast<std::size_t>(x * n)];
      const double* from_x = d.data() + x * d.outerStride();
      std::vector<int> order(static_cast<std::size_t>(n));
      std::iota(order.begin(), order.end(), 0);
      std::sort(order.begin(), order.end(), [&](int a, int b) { return from_x[a] < from_x[b] || (from_x[a] == from_x[b] && a < b); });
      for (Index s = 0; s < n;) {
        Index e = s;
        while (e < n && from_x[order[static_cast<std::size_t>(e)]] == from_x[order[static_cast<std::size_t>(s)]]) ++e;
        for (Index t = s; t < e; ++t) r[order[static_cast<std::size_t>(t)]] = static_cast<int>(e);
        s = e;
      }
      // far(p): the largest rank of a q with d(p, q) <= d(p, x). A ball of t points is padded if no far(p) of its points is beyond t. What counts is the largest so
      // far, so q is sought from the farthest on, and no longer than to that rank; once it is n no other ball but that of all points is padded.
      std::vector<char> padded(static_cast<std::size_t>(n), 0);
      padded.back() = 1;
      Index reach = 0;
      for (Index t = 0; t < n && reach < n; ++t) {
        const Index p = order[static_cast<std::size_t>(t)];
        const double* from_p = d.data() + p * d.outerStride();
        const double limit = from_p[x];
        for (Index s = n; s-- > reach;) {
          const int q = order[static_cast<std::size_t>(s)];
          if (from_p[q] > limit) continue;
          reach = r[q];
          break;
        }
        padded[static_cast<std::size_t>(t)] = r[p] == t + 1 && reach <= t + 1;
      }
      double least = infinity;  // all points together are padded, so this is overwritten at once
      for (Index t = n; t-- > 0;) {
        if (padded[static_cast<std::size_t>(t)]) least = from_x[order[static_cast<std::size_t>(t)]];
        radius[static_cast<std::size_t>(x * n + t)] = least;
      }
    });
  }
};

}  // namespace

MergeTree closure_tree(ConstMatrixRef d, int threads, Monitor& monitor) {
  const Index n = d.rows();
  const PaddedBalls balls(d, threads, monitor);
  MergeTree tree;
  tree.leaves = n;

  // Slot a holds a cluster: its points, its node, and reach[a n + x], the largest rank_x of its points.
  std::vector<std::vector<int>> points(static_cast<std::size_t>(n));
  std::vector<int> node(static_cast<std::size_t>(n)), active(static_cast<std::size_t>(n)), nearest(static_cast<std::size_t>(n), -1);
  std::vector<int> reach(static_cast<std::size_t>(n * n));
  for (Index a = 0; a < n; ++a) {
    points[static_cast<std::size_t>(a)] = {static_cast<int>(a)};
    node[static_cast<std::size_t>(a)] = active[static_cast<std::size_t>(a)] = static_cast<int>(a);
    for (Index x = 0; x < n; ++x) reach[static_cast<std::size_t>(a * n + x)] = balls.rank[static_cast<std::size_t>(x * n + a)];
  }
  const auto closure = [&](Index a, Index b) {
    double least = infinity;
    const int *ra = &reach[static_cast<std::size_t>(a * n)], *rb = &reach[static_cast<std::size_t>(b * n)];
    for (const Index side : {a, b})
      for (const int x : points[static_cast<std::size_t>(side)])
        least = std::min(least, balls.radius[static_cast<std::size_t>(x * n + std::max(ra[x], rb[x]) - 1)]);
    return least;
  };
  MatrixXd distance(n, n);
  parallel_for(n, threads, monitor, [&](Index a) {
    for (Index b = 0; b < a; ++b) distance(b, a) = closure(a, b);
  });
  for (Index a = 0; a < n; ++a) {
    distance(a, a) = infinity;
    for (Index b = 0; b < a; ++b) distance(a, b) = distance(b, a);
  }
  const auto look = [&](int a) {  // the nearest of the clusters that are left, the first of equals
    int best = -1;
    for (const int b : active)
      if (b != a && (best < 0 || distance(b, a) < distance(best, a))) best = b;
    nearest[static_cast<std::size_t>(a)] = best;
  };
  for (const int a : active) look(a);

  while (active.size() > 1) {
    monitor.progress(1 - static_cast<double>(active.size()) / static_cast<double>(n));
    int a = active[0];
    for (const int c : active)
      if (distance(nearest[static_cast<std::size_t>(c)], c) < distance(nearest[static_cast<std::size_t>(a)], a)) a = c;
    int b = nearest[static_cast<std::size_t>(a)];
    if (b < a) std::swap(a, b);
    const auto slot = static_cast<std::size_t>(a), gone = static_cast<std::size_t>(b);
    tree.join(node[slot], node[gone], distance(b, a));
    node[slot] = static_cast<int>(tree.nodes() - 1);
    points[slot].insert(points[slot].end(), points[gone].begin(), points[gone].end());
    const int* other = &reach[gone * static_cast<std::size_t>(n)];
    int* own = &reach[slot * static_cast<std::size_t>(n)];
    for (Index x = 0; x < n; ++x) own[x] = std::max(own[x], other[x]);
    active.erase(std::find(active.begin(), active.end(), b));
    for (const int c : active)
      if (c != a) distance(c, a) = distance(a, c) = closure(a, c);
    look(a);
    for (const int c : active) {
      if (c == a) continue;
      int& best = nearest[static_cast<std::size_t>(c)];
      if (best == a || best == b) look(c);
      else if (distance(a, c) < distance(best, c) || (distance(a, c) == distance(best, c) && a < best)) best = a;
    }
  }
  return tree;
}

MergeTree single_tree(ConstMatrixRef d, Monitor& monitor) {
  const Index n = d.rows();
  struct Edge {
    double length;
    int from, to;
  };
  // Prim's spanning tree, its edges in the order of their lengths.
  std::vector<Edge> edges;
  std::vector<double> gap(static_cast<std::size_t>(n), infinity);
  std::vector<int> parent(static_cast<std::size_t>(n), 0);
  std::vector<char> in(static_cast<std::size_t>(n), 0);
  Index last = 0;
  in[0] = 1;
  for (Index step = 1; step < n; ++step) {
    monitor.check();
    Index next = -1;
    for (Index q = 0; q < n; ++q) {
      const auto at = static_cast<std::size_t>(q);
      if (in[at]) continue;
      if (d(q, last) < gap[at]) {
        gap[at] = d(q, last);
        parent[at] = static_cast<int>(last);
      }
      if (next < 0 || gap[at] < gap[static_cast<std::size_t>(next)]) next = q;
    }
    in[static_cast<std::size_t>(next)] = 1;
    edges.push_back({gap[static_cast<std::size_t>(next)], parent[static_cast<std::size_t>(next)], static_cast<int>(next)});
    last = next;
  }
  std::stable_sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.length < b.length; });

  MergeTree tree;
  tree.leaves = n;
  std::vector<int> above(static_cast<std::size_t>(2 * n));  // towards the root, with shortcuts
  std::iota(above.begin(), above.end(), 0);
  const auto root = [&](int v) {
    while (above[static_cast<std::size_t>(v)] != v) v = above[static_cast<std::size_t>(v)] = above[static_cast<std::size_t>(above[static_cast<std::size_t>(v)])];
    return v;
  };
  for (const Edge& e : edges) {
    const int a = root(e.from), b = root(e.to);
    tree.join(a, b, e.length);
    above[static_cast<std::size_t>(a)] = above[static_cast<std::size_t>(b)] = static_cast<int>(tree.nodes() - 1);
  }
  return tree;
}

TreePrunings::TreePrunings(ConstMatrixRef d, const MergeTree& tree, CenterObjective objective, Index k_max, Monitor& monitor)
    : tree_(tree), k_max_(std::min(k_max, tree.leaves)) {
  const Index n = tree.leaves;
  const auto nodes = static_cast<std::size_t>(tree.nodes());
  medoid_.resize(nodes);
  best_.resize(nodes);
  split_.resize(nodes);
  std::vector<std::vector<int>> points(nodes);
  std::vector<double> as_center(static_cast<std::size_t>(n), 0);  // cost of the node of x with x as its centre
  for (Index x = 0; x < n; ++x) {
    const auto at = static_cast<std::size_t>(x);
    medoid_[at] = static_cast<int>(x);
    points[at] = {static_cast<int>(x)};
    best_[at] = {0};
    split_[at] = {0};
  }
  for (std::size_t m = 0; m < tree.left.size(); ++m) {
    monitor.check();
    const std::size_t at = static_cast<std::size_t>(n) + m, a = static_cast<std::size_t>(tree.left[m]), b = static_cast<std::size_t>(tree.right[m]);
    for (const int x : points[a])
      for (const int p : points[b]) {
        const double cost = loss(d(p, x), objective);
        as_center[static_cast<std::size_t>(x)] = join(as_center[static_cast<std::size_t>(x)], cost, objective);
        as_center[static_cast<std::size_t>(p)] = join(as_center[static_cast<std::size_t>(p)], cost, objective);
      }
    points[at] = std::move(points[a]);
    points[at].insert(points[at].end(), points[b].begin(), points[b].end());
    points[b].clear();
    int medoid = points[at][0];
    for (const int x : points[at])
      if (as_center[static_cast<std::size_t>(x)] < as_center[static_cast<std::size_t>(medoid)] ||
          (as_center[static_cast<std::size_t>(x)] == as_center[static_cast<std::size_t>(medoid)] && x < medoid))
        medoid = x;
    medoid_[at] = medoid;

    const std::size_t most = std::min(points[at].size(), static_cast<std::size_t>(k_max_));
    best_[at].assign(most, infinity);
    split_[at].assign(most, 0);
    best_[at][0] = as_center[static_cast<std::size_t>(medoid)];
    for (std::size_t ja = 1; ja <= best_[a].size(); ++ja)
      for (std::size_t jb = 1; jb <= best_[b].size() && ja + jb <= most; ++jb) {
        const double cost = join(best_[a][ja - 1], best_[b][jb - 1], objective);
        if (split_[at][ja + jb - 1] == 0 || cost < best_[at][ja + jb - 1]) {
          best_[at][ja + jb - 1] = cost;
          split_[at][ja + jb - 1] = static_cast<int>(ja);
        }
      }
  }
}

void TreePrunings::cut(Index k, VectorXi& label, VectorXi& medoid) const {
  const Index n = tree_.leaves;
  std::vector<std::pair<int, int>> stack{{static_cast<int>(tree_.nodes() - 1), static_cast<int>(k)}};
  VectorXi part = VectorXi::Constant(n, -1);
  std::vector<int> centre;
  while (!stack.empty()) {
    const auto [node, parts] = stack.back();
    stack.pop_back();
    const int to_left = split_[static_cast<std::size_t>(node)][static_cast<std::size_t>(parts - 1)];
    if (parts > 1) {
      const auto m = static_cast<std::size_t>(node - n);
      stack.push_back({tree_.left[m], to_left});
      stack.push_back({tree_.right[m], parts - to_left});
      continue;
    }
    std::vector<int> inner{node};
    while (!inner.empty()) {
      const int v = inner.back();
      inner.pop_back();
      if (v < n) {
        part[v] = static_cast<int>(centre.size());
      } else {
        inner.push_back(tree_.left[static_cast<std::size_t>(v - n)]);
        inner.push_back(tree_.right[static_cast<std::size_t>(v - n)]);
      }
    }
    centre.push_back(medoid_[static_cast<std::size_t>(node)]);
  }
  std::vector<int> number(centre.size(), -1);
  label.resize(n);
  medoid.resize(k);
  int next = 0;
  for (Index i = 0; i < n; ++i) {
    int& h = number[static_cast<std::size_t>(part[i])];
    if (h < 0) {
      h = next++;
      medoid[h] = centre[static_cast<std::size_t>(part[i])];
    }
    label[i] = h;
  }
}

double center_cost(ConstMatrixRef d, const VectorXi& label, const VectorXi& medoid, CenterObjective objective) {
  double total = 0;
  for (Index i = 0; i < label.size(); ++i) total = join(total, loss(d(i, medoid[label[i]]), objective), objective);
  return total;
}

VectorXi best_medoids(ConstMatrixRef d, const VectorXi& label, Index k, CenterObjective objective) {
  VectorXi medoid = VectorXi::Constant(k, -1);
  VectorXd least = VectorXd::Constant(k, infinity);
  for (Index x = 0; x < label.size(); ++x) {
    double cost = 0;
    for (Index p = 0; p < label.size(); ++p)
      if (label[p] == label[x]) cost = join(cost, loss(d(p, x), objective), objective);
    if (cost < least[label[x]]) {
      least[label[x]] = cost;
      medoid[label[x]] = static_cast<int>(x);
    }
  }
  return medoid;
}

namespace {

void to_nearest(ConstMatrixRef d, const VectorXi& medoid, VectorXi& label) {
  for (Index p = 0; p < label.size(); ++p)
    for (Index h = 0; h < medoid.size(); ++h)
      if (d(p, medoid[h]) < d(p, medoid[label[p]])) label[p] = static_cast<int>(h);
  for (Index h = 0; h < medoid.size(); ++h) label[medoid[h]] = static_cast<int>(h);  // of points that coincide with a centre the centre itself is sure
}

// The swap of a centre with another point that lowers the sum most; false if none does.
bool best_swap(ConstMatrixRef d, CenterObjective objective, double dust, VectorXi& medoid, Monitor& monitor) {
  const Index n = d.rows(), k = medoid.size();
  VectorXd first(n), second(n);  // losses to the nearest and the second nearest centre
  VectorXi own(n);
  VectorXd removal = VectorXd::Zero(k);  // what leaving out a centre costs
  std::vector<char> chosen(static_cast<std::size_t>(n), 0);
  for (Index h = 0; h < k; ++h) chosen[static_cast<std::size_t>(medoid[h])] = 1;
  for (Index p = 0; p < n; ++p) {
    first[p] = second[p] = infinity;
    for (Index h = 0; h < k; ++h) {
      const double here = loss(d(p, medoid[h]), objective);
      if (here < first[p]) {
        second[p] = first[p];
        first[p] = here;
        own[p] = static_cast<int>(h);
      } else {
        second[p] = std::min(second[p], here);
      }
    }
    removal[own[p]] += second[p] - first[p];
  }
  double most = dust;
  Index out = -1, in = -1;
  VectorXd change(k);
  for (Index x = 0; x < n; ++x) {
    if (chosen[static_cast<std::size_t>(x)]) continue;
    if (x % 64 == 0) monitor.check();
    change = removal;
    double all = 0;
    for (Index p = 0; p < n; ++p) {
      const double here = loss(d(p, x), objective);
      if (here < first[p]) {
        all += here - first[p];
        change[own[p]] += first[p] - second[p];
      } else if (here < second[p]) {
        change[own[p]] += here - second[p];
      }
    }
    Index h = 0;
    const double gain = -(change.minCoeff(&h) + all);
    if (gain > most) {
      most = gain;
      out = h;
      in = x;
    }
  }
  if (in < 0) return false;
  medoid[out] = static_cast<int>(in);
  return true;
}

}  // namespace

bool polish_medoids(ConstMatrixRef d, CenterObjective objective, VectorXi& label, VectorXi& medoid, Monitor& monitor) {
  const Index k = medoid.size();
  double cost = center_cost(d, label, medoid, objective);
  bool changed = false;
  while (true) {
    monitor.check();
    VectorXi next = label, centres = medoid;
    to_nearest(d, centres, next);
    centres = best_medoids(d, next, k, objective);
    double now = center_cost(d, next, centres, objective);
    const double dust = 1e-12 * cost;
    if (!(now < cost - dust)) {
      centres = medoid;
      if (objective == CenterObjective::center || k == d.rows() || k == 1 || !best_swap(d, objective, dust, centres, monitor)) break;
      to_nearest(d, centres, next);
      now = center_cost(d, next, centres, objective);
      if (!(now < cost - dust)) break;
    }
    label = next;
    medoid = centres;
    cost = now;
    changed = true;
  }
  return changed;
}

}  // namespace granary::cluster
