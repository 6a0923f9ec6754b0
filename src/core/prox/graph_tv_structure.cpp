// What GraphTv finds out about its graph: paths, trees, and sets of disjoint paths.
#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "core/base/errors.h"
#include "core/prox/graph_tv.h"
#include "core/graph/union_find.h"

namespace granary {

namespace {

constexpr int sweep_from = 2000;  // nodes from which a start by sweeps is worth its time

}  // namespace

EdgeList grid_edges(int rows, int cols, int slices) {
  if (rows < 1 || cols < 1 || slices < 1) throw InputError("a grid needs at least one cell in every direction.");
  if (static_cast<double>(rows) * cols * slices > 2e9) throw InputError("the grid has too many cells to be numbered.");
  EdgeList edges;
  for (int k = 0; k < slices; ++k) {
    for (int j = 0; j < cols; ++j) {
      for (int i = 0; i < rows; ++i) {
        const int at = i + rows * (j + cols * k);
        if (i + 1 < rows) edges.emplace_back(at, at + 1);
        if (j + 1 < cols) edges.emplace_back(at, at + rows);
        if (k + 1 < slices) edges.emplace_back(at, at + rows * cols);
      }
    }
  }
  return edges;
}

GraphTv::GraphTv(int nodes, EdgeList edges) : nodes_(nodes), edges_(std::move(edges)) {
  if (nodes < 0) throw InputError("a graph cannot have fewer than no nodes.");
  if (edges_.size() > 1000000000u) throw InputError("the graph has too many edges.");
  first_.assign(nodes + 1, 0);
  for (std::size_t e = 0; e < edges_.size(); ++e) {
    const int a = edges_[e].first, b = edges_[e].second;
    if (a < 0 || b < 0 || a >= nodes || b >= nodes) {
      throw InputError(
          message("edge ", e + 1, " joins ", a + 1, " and ", b + 1, ", but the nodes are numbered 1 to ", nodes, "."));
    }
    if (a == b) throw InputError(message("edge ", e + 1, " joins node ", a + 1, " to itself."));
    ++first_[a + 1];
    ++first_[b + 1];
  }
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  head_.resize(2 * edges_.size());
  twin_.resize(2 * edges_.size());
  arc_of_edge_.resize(edges_.size());
  std::vector<int> fill(first_.begin(), first_.end() - 1);
  for (std::size_t e = 0; e < edges_.size(); ++e) {
    const int a = edges_[e].first, b = edges_[e].second, there = fill[a]++, back = fill[b]++;
    head_[there] = b;
    head_[back] = a;
    twin_[there] = back;
    twin_[back] = there;
    arc_of_edge_[e] = there;
  }
  std::vector<int> seen(nodes, -1);
  int degree = 0;
  for (int i = 0; i < nodes; ++i) {
    degree = std::max(degree, first_[i + 1] - first_[i]);
    for (int k = first_[i]; k < first_[i + 1]; ++k) {
      if (seen[head_[k]] == i) throw InputError(message("the edge between ", i + 1, " and ", head_[k] + 1, " is given twice."));
      seen[head_[k]] = i;
    }
  }

  find_paths(degree);
  if (!paths_only_) find_forests();
}

// Walk from every end; a node not met lies on a cycle.
void GraphTv::find_paths(int degree) {
  if (degree > 2) return;
  std::vector<int> edge_of_arc(head_.size());
  for (std::size_t e = 0; e < edges_.size(); ++e) {
    edge_of_arc[arc_of_edge_[e]] = edge_of_arc[twin_[arc_of_edge_[e]]] = static_cast<int>(e);
  }
  std::vector<char> met(nodes_, 0);
  for (int i = 0; i < nodes_; ++i) {
    if (met[i] || first_[i + 1] - first_[i] == 2) continue;
    path_start_.push_back(static_cast<int>(path_order_.size()));
    for (int at = i, next = i; next >= 0; at = next) {
      met[at] = 1;
      path_order_.push_back(at);
      next = -1;
      for (int k = first_[at]; k < first_[at + 1]; ++k) {
        if (met[head_[k]]) continue;
        next = head_[k];
        path_edge_.push_back(edge_of_arc[k]);
      }
      if (next < 0) path_edge_.push_back(-1);
    }
  }
  paths_only_ = static_cast<int>(path_order_.size()) == nodes_;
  path_start_.push_back(static_cast<int>(path_order_.size()));
}

// A graph without cycles is rooted, parents before children. One with cycles is cut into sets of disjoint paths, if few do: edges
// in the order of the distance of their numbers, so that a grid falls into its columns and its rows.
void GraphTv::find_forests() {
  UnionFind pieces(nodes_);
  bool cycle = false;
  for (const auto& edge : edges_) cycle = !pieces.unite(edge.first, edge.second) || cycle;
  if (!cycle) {
    parent_arc_.assign(nodes_, -1);
    std::vector<char> met(nodes_, 0);
    root_order_.reserve(nodes_);
    for (int i = 0; i < nodes_; ++i) {
      if (met[i]) continue;
      met[i] = 1;
      std::size_t k = root_order_.size();
      for (root_order_.push_back(i); k < root_order_.size(); ++k) {
        const int at = root_order_[k];
        for (int a = first_[at]; a < first_[at + 1]; ++a) {
          if (met[head_[a]]) continue;
          met[head_[a]] = 1;
          parent_arc_[head_[a]] = twin_[a];
          root_order_.push_back(head_[a]);
        }
      }
    }
    return;
  }
  if (nodes_ < sweep_from) return;
  std::vector<int> left(edges_.size()), rest;
  std::iota(left.begin(), left.end(), 0);
  const auto apart = [&](int e) { return std::abs(edges_[e].first - edges_[e].second); };
  std::stable_sort(left.begin(), left.end(), [&](int e, int f) { return apart(e) < apart(f); });
  for (int round = 0; round < 3 && !left.empty(); ++round) {
    UnionFind joined(nodes_);
    std::vector<int> degree(nodes_, 0);
    EdgeList chosen;
    std::vector<int> number;
    rest.clear();
    for (const int e : left) {
      const int a = edges_[e].first, b = edges_[e].second;
      if (degree[a] == 2 || degree[b] == 2 || !joined.unite(a, b)) {
        rest.push_back(e);
        continue;
      }
      ++degree[a];
      ++degree[b];
      chosen.push_back(edges_[e]);
      number.push_back(e);
    }
    forests_.emplace_back(nodes_, std::move(chosen));
    forest_edges_.push_back(std::move(number));
    left.swap(rest);
  }
  if (!left.empty()) {
    forests_.clear();
    forest_edges_.clear();
  }
}

}  // namespace granary
