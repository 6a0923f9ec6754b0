#include "graph_tv.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "errors.h"
#include "proximal.h"

namespace granary {

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

  // Paths: walk from every end; a node not met lies on a cycle.
  if (degree > 2) return;
  std::vector<int> edge_of_arc(head_.size());
  for (std::size_t e = 0; e < edges_.size(); ++e) {
    edge_of_arc[arc_of_edge_[e]] = edge_of_arc[twin_[arc_of_edge_[e]]] = static_cast<int>(e);
  }
  std::vector<char> met(nodes, 0);
  for (int i = 0; i < nodes; ++i) {
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
  paths_only_ = static_cast<int>(path_order_.size()) == nodes;
  path_start_.push_back(static_cast<int>(path_order_.size()));
}

void GraphTv::check_input(ConstVectorRef y, ConstVectorRef lambda, double l1, ConstVectorRef weights) const {
  const Index edges = static_cast<Index>(edges_.size());
  if (y.size() != nodes_) throw InputError(message("y has ", y.size(), " entries, but the graph has ", nodes_, " nodes."));
  if (lambda.size() != 1 && lambda.size() != edges) {
    throw InputError(message("lambda must have one entry, or one per edge (", edges, "), but has ", lambda.size(), "."));
  }
  if (!y.allFinite()) throw InputError("y holds a value that is missing or not finite.");
  if (!lambda.allFinite() || (lambda.array() < 0).any()) throw InputError("lambda must be finite and not negative.");
  if (!(l1 >= 0) || !std::isfinite(l1)) throw InputError(message("l1 must be a number not below zero, got ", l1, "."));
  if (weights.size() != 0) {
    if (weights.size() != nodes_) throw InputError(message("there are ", weights.size(), " weights for ", nodes_, " nodes."));
    if (!weights.allFinite() || !(weights.array() > 0).all()) throw InputError("weights must be positive and finite.");
  }
}

VectorXd GraphTv::flow() const {
  VectorXd f(edges_.size());
  for (std::size_t e = 0; e < edges_.size(); ++e) {
    const int arc = arc_of_edge_[e];
    f[e] = residual_.empty() ? 0.0 : 0.5 * (residual_[twin_[arc]] - residual_[arc]);
  }
  return f;
}

void GraphTv::solve_paths(ConstVectorRef y, ConstVectorRef lambda, double l1, ConstVectorRef weights) {
  residual_.resize(head_.size());
  x_.resize(nodes_);
  label_.resize(nodes_);
  std::vector<double> values, steps, w;
  for (std::size_t k = 0; k + 1 < path_start_.size(); ++k) {
    const int begin = path_start_[k], n = path_start_[k + 1] - begin;
    values.resize(n);
    w.assign(n, 1.0);
    steps.resize(n);
    for (int i = 0; i < n; ++i) {
      const int node = path_order_[begin + i], edge = path_edge_[begin + i];
      values[i] = y[node];
      if (weights.size() != 0) w[i] = weights[node];
      steps[i] = edge < 0 ? 0.0 : lambda.size() == 1 ? lambda[0] : lambda[edge];
    }
    const Eigen::Map<const VectorXd> v(values.data(), n), l(steps.data(), n - 1), u(w.data(), n);
    const VectorXd fit = weights.size() == 0 ? prox_total_variation(v, l) : prox_total_variation(v, l, u);
    double carried = 0;  // what the first i nodes pass on
    for (int i = 0; i < n; ++i) {
      const int node = path_order_[begin + i], edge = path_edge_[begin + i];
      label_[node] = i > 0 && fit[i] == fit[i - 1] ? label_[path_order_[begin + i - 1]] : begin + i;
      x_[node] = soft_threshold(fit[i], l1);
      carried += w[i] * (values[i] - fit[i]);
      if (edge < 0) continue;
      const double bounded = std::min(std::max(carried, -steps[i]), steps[i]);
      const int arc = edges_[edge].first == node ? arc_of_edge_[edge] : twin_[arc_of_edge_[edge]];
      residual_[arc] = steps[i] - bounded;
      residual_[twin_[arc]] = steps[i] + bounded;
    }
  }
}

void GraphTv::prepare(ConstVectorRef y, ConstVectorRef lambda, ConstVectorRef weights) {
  if (weights.size() == 0) {
    weight_.setOnes(nodes_);
  } else {
    weight_ = weights;
  }
  const std::size_t edges = edges_.size();
  const bool reuse = warm_ && (start_.size() == static_cast<Index>(edges) || residual_.size() == head_.size());
  if (reuse && start_.size() != static_cast<Index>(edges)) {
    // The flow of a scaled problem is the scaled flow, and lambda is what is at hand to tell the scale.
    start_.resize(edges);
    for (std::size_t e = 0; e < edges; ++e) {
      const double now = lambda.size() == 1 ? lambda[0] : lambda[e], old = lambda_[e];
      const int arc = arc_of_edge_[e];
      start_[e] = old > 0 ? 0.5 * (residual_[twin_[arc]] - residual_[arc]) * (now / old) : 0.0;
    }
  }
  residual_.resize(head_.size());
  lambda_.resize(edges);
  mass_ = weight_.cwiseProduct(y);
  double size = mass_.size() > 0 ? mass_.cwiseAbs().maxCoeff() : 0;
  for (std::size_t e = 0; e < edges; ++e) {
    const double bound = lambda.size() == 1 ? lambda[0] : lambda[e];
    lambda_[e] = bound;
    const double f = reuse ? std::min(std::max(start_[e], -bound), bound) : 0.0;
    const int arc = arc_of_edge_[e];
    residual_[arc] = bound - f;
    residual_[twin_[arc]] = bound + f;
    mass_[edges_[e].first] -= f;
    mass_[edges_[e].second] += f;
  }
  start_.resize(0);
  size = std::max(size, mass_.size() > 0 ? mass_.cwiseAbs().maxCoeff() : 0);
  tiny_ = 1e-14 * size;
}

// Layers by distance to the nearest node that can take something; false when none of them is within reach of a giver. Depth -1:
// no taker can be reached. Measured from the takers, a path down the layers meets a dead end only where an arc has been filled
// since.
bool GraphTv::layers(const Group& group) {
  queue_.clear();
  for (int k = group.begin; k < group.end; ++k) {
    const int i = order_[k];
    arc_[i] = first_[i];
    if (excess_[i] < -tiny_) {
      depth_[i] = 0;
      queue_.push_back(i);
    } else {
      depth_[i] = -1;
    }
  }
  bool reached = false;
  for (std::size_t k = 0; k < queue_.size(); ++k) {
    const int i = queue_[k];
    for (int a = first_[i]; a < first_[i + 1]; ++a) {
      const int j = head_[a];
      if (depth_[j] >= 0 || label_[j] != label_[i] || residual_[twin_[a]] <= tiny_) continue;
      depth_[j] = depth_[i] + 1;
      queue_.push_back(j);
      reached = reached || excess_[j] > tiny_;
    }
  }
  return reached;
}

// Sends what `from` has to give down the layers until it has nothing left or no taker can be reached.
void GraphTv::drain(int from) {
  path_.clear();
  int at = from;
  while (excess_[from] > tiny_) {
    if (at != from && excess_[at] < -tiny_) {
      double amount = std::min(excess_[from], -excess_[at]);
      for (const int a : path_) amount = std::min(amount, residual_[a]);
      std::size_t kept = path_.size();
      for (std::size_t k = path_.size(); k-- > 0;) {
        const int a = path_[k];
        residual_[a] -= amount;
        residual_[twin_[a]] += amount;
        if (residual_[a] <= tiny_) kept = k;
      }
      excess_[from] -= amount;
      mass_[from] -= amount;
      excess_[at] += amount;
      mass_[at] += amount;
      if (kept < path_.size()) {  // go on from before the first arc that is full
        at = head_[twin_[path_[kept]]];
        path_.resize(kept);
      }
      continue;
    }
    int& a = arc_[at];
    for (; a < first_[at + 1]; ++a) {
      const int j = head_[a];
      if (residual_[a] > tiny_ && label_[j] == label_[at] && depth_[j] == depth_[at] - 1 && depth_[j] >= 0) break;
    }
    if (a < first_[at + 1]) {
      path_.push_back(a);
      at = head_[a];
    } else if (path_.empty()) {
      return;
    } else {
      at = head_[twin_[path_.back()]];
      path_.pop_back();
      ++arc_[at];
    }
  }
}

void GraphTv::maximum_flow(const Group& group, Monitor& monitor) {
  while (layers(group)) {
    monitor.check();
    for (int k = group.begin; k < group.end; ++k) {
      const int i = order_[k];
      if (excess_[i] > tiny_ && depth_[i] > 0) drain(i);
    }
  }
}

void GraphTv::bisect(double l1, Monitor& monitor) {
  label_.assign(nodes_, 0);
  order_.resize(nodes_);
  std::iota(order_.begin(), order_.end(), 0);
  depth_.assign(nodes_, -1);
  arc_.resize(nodes_);
  x_.setZero(nodes_);
  excess_.resize(nodes_);
  spare_.clear();
  int labels = 1;
  std::vector<Group> stack;
  if (nodes_ > 0) stack.push_back({0, nodes_, l1 > 0 ? 0 : 2});
  while (!stack.empty()) {
    const Group group = stack.back();
    stack.pop_back();
    double level = group.stage == 0 ? l1 : -l1;
    if (group.stage == 2) {
      double mass = 0, weight = 0;
      for (int k = group.begin; k < group.end; ++k) {
        mass += mass_[order_[k]];
        weight += weight_[order_[k]];
      }
      level = mass / weight;
    }
    for (int k = group.begin; k < group.end; ++k) excess_[order_[k]] = mass_[order_[k]] - weight_[order_[k]] * level;
    if (group.end - group.begin > 1) {
      maximum_flow(group, monitor);
    } else {
      layers(group);
    }
    // What still reaches a taker is below the level, the rest at it or above.
    spare_.clear();
    int fill = group.begin;
    for (int k = group.begin; k < group.end; ++k) {
      const int i = order_[k];
      if (depth_[i] < 0) {
        order_[fill++] = i;
      } else {
        spare_.push_back(i);
      }
    }
    std::copy(spare_.begin(), spare_.end(), order_.begin() + fill);
    const int split = fill;
    if (group.stage == 2 && (split == group.begin || split == group.end)) {
      // Nothing below the mean, but for rounding: all of it is at the mean.
      for (int k = group.begin; k < group.end; ++k) x_[order_[k]] = level;
      continue;
    }
    if (split > group.begin && split < group.end) {
      for (int k = group.begin; k < split; ++k) label_[order_[k]] = labels;
      ++labels;
    }
    if (split > group.begin) {
      if (group.stage == 1) {  // between -l1 and l1
        for (int k = group.begin; k < split; ++k) x_[order_[k]] = 0;
      } else {
        stack.push_back({group.begin, split, 2});
      }
    }
    if (split < group.end) stack.push_back({split, group.end, group.stage == 0 ? 1 : 2});
  }
  if (l1 > 0) {
    for (int i = 0; i < nodes_; ++i) x_[i] = soft_threshold(x_[i], l1);
  }
}

void GraphTv::run(ConstVectorRef y, ConstVectorRef lambda, double l1, ConstVectorRef weights, Monitor& monitor) {
  check_input(y, lambda, l1, weights);
  if (paths_only_) {
    solve_paths(y, lambda, l1, weights);
  } else {
    prepare(y, lambda, weights);
    bisect(l1, monitor);
    warm_ = true;
  }
}

void GraphTv::solve(ConstVectorRef y, double lambda, double l1, Monitor& monitor, VectorRef x) {
  run(y, VectorXd::Constant(1, lambda), l1, VectorXd(), monitor);
  x = x_;
}

GraphTvResult GraphTv::solve(ConstVectorRef y, ConstVectorRef lambda, double l1, Monitor& monitor, ConstVectorRef weights) {
  run(y, lambda, l1, weights, monitor);
  GraphTvResult out;
  out.x = x_;
  const VectorXd f = flow();
  VectorXd w = VectorXd::Ones(nodes_);
  if (weights.size() != 0) w = weights;
  VectorXd mass = w.cwiseProduct(y);
  double variation = 0;
  for (std::size_t e = 0; e < edges_.size(); ++e) {
    const int a = edges_[e].first, b = edges_[e].second;
    mass[a] -= f[e];
    mass[b] += f[e];
    variation += (lambda.size() == 1 ? lambda[0] : lambda[e]) * std::abs(out.x[a] - out.x[b]);
  }
  // Primal minus dual, node by node so that large common offsets cancel first: with s = soft(r / w, l1),
  // w/2 (x - y)^2 + l1 w |x| - w/2 (y^2 - s^2) = w/2 (x^2 + s^2) - w x y + l1 w |x|.
  double value = variation, gap = variation;
  for (int i = 0; i < nodes_; ++i) {
    const double s = soft_threshold(mass[i] / w[i], l1), x = out.x[i];
    value += w[i] * (0.5 * (x - y[i]) * (x - y[i]) + l1 * std::abs(x));
    gap += w[i] * (0.5 * (x - s) * (x - s) + x * (s - y[i]) + l1 * std::abs(x));
  }
  out.objective = value;
  out.gap = gap;

  // Blocks: joined nodes of one value.
  out.block.assign(nodes_, -1);
  std::vector<int> queue;
  int next = 0;
  for (int i = 0; i < nodes_; ++i) {
    if (out.block[i] >= 0) continue;
    out.block[i] = next;
    queue.assign(1, i);
    while (!queue.empty()) {
      const int at = queue.back();
      queue.pop_back();
      for (int a = first_[at]; a < first_[at + 1]; ++a) {
        const int j = head_[a];
        if (out.block[j] >= 0 || out.x[j] != out.x[at]) continue;
        out.block[j] = next;
        queue.push_back(j);
      }
    }
    ++next;
  }
  return out;
}

}  // namespace granary
