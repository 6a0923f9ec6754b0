#include "core/prox/graph_tv.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/errors.h"
#include "core/prox/proximal.h"

namespace granary {

namespace {

constexpr int sweeps = 15;

}  // namespace

void GraphTv::check_input(ConstVectorRef y, ConstVectorRef lambda, ConstVectorRef threshold, ConstVectorRef weights) const {
  const Index edges = static_cast<Index>(edges_.size());
  if (y.size() != nodes_) throw InputError(message("y has ", y.size(), " entries, but the graph has ", nodes_, " nodes."));
  if (lambda.size() != 1 && lambda.size() != edges) {
    throw InputError(message("lambda must have one entry, or one per edge (", edges, "), but has ", lambda.size(), "."));
  }
  if (!y.allFinite()) throw InputError("y holds a value that is missing or not finite.");
  if (!lambda.allFinite() || (lambda.array() < 0).any()) throw InputError("lambda must be finite and not negative.");
  if (threshold.size() != 0) {
    if (threshold.size() != nodes_)
      throw InputError(message("there are ", threshold.size(), " thresholds for ", nodes_, " nodes."));
    if (!threshold.allFinite() || (threshold.array() < 0).any()) throw InputError("thresholds must be finite and not negative.");
  }
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

void GraphTv::prepare(ConstVectorRef y, ConstVectorRef lambda, ConstVectorRef weights, Monitor& monitor) {
  if (weights.size() == 0) {
    weight_.setOnes(nodes_);
  } else {
    weight_ = weights;
  }
  const std::size_t edges = edges_.size();
  if (!warm_ && !forests_.empty()) sweep(y, lambda, monitor);
  const bool reuse = start_.size() == static_cast<Index>(edges) || (warm_ && residual_.size() == head_.size());
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

// The part of the network within a group, on numbers of its own: close in memory, and without arcs that lead out. Afterwards
// depth_ says of every node whether it can still reach a taker.
void GraphTv::maximum_flow(const Group& group, Monitor& monitor) {
  if (!root_order_.empty() && group.stage != 3) return forest_flow(group);
  const int size = group.end - group.begin;
  net_.clear();
  net_.excess.resize(size);
  for (int k = 0; k < size; ++k) place_[order_[group.begin + k]] = k;
  for (int k = 0; k < size; ++k) {
    const int i = order_[group.begin + k];
    net_.excess[k] = excess_[i];
    for (int a = first_[i]; a < first_[i + 1]; ++a) {
      const int j = head_[a];
      if (label_[j] != label_[i]) continue;
      local_arc_[a] = static_cast<int>(net_.head.size());
      net_.head.push_back(place_[j]);
      net_.residual.push_back(residual_[a]);
      net_.twin.push_back(-1);
      if (place_[j] < k) {
        net_.twin.back() = local_arc_[twin_[a]];
        net_.twin[net_.twin.back()] = local_arc_[a];
      }
    }
    net_.first.push_back(static_cast<int>(net_.head.size()));
  }
  net_.solve(tiny_, monitor);
  int local = 0;
  for (int k = 0; k < size; ++k) {
    const int i = order_[group.begin + k];
    mass_[i] += net_.excess[k] - excess_[i];
    excess_[i] = net_.excess[k];
    depth_[i] = net_.depth[k];
    for (int a = first_[i]; a < first_[i + 1]; ++a) {
      if (label_[head_[a]] == label_[i]) residual_[a] = net_.residual[local++];
    }
  }
}

// Without cycles one pass from the leaves to the roots does: every node settles with its parent as far as their edge allows.
void GraphTv::forest_flow(const Group& group) {
  const auto parent = [&](int i) {
    const int a = parent_arc_[i];
    return a >= 0 && label_[head_[a]] == label_[i] ? a : -1;
  };
  for (int k = group.end - 1; k >= group.begin; --k) {
    const int i = order_[k], a = parent(i);
    if (a < 0 || excess_[i] == 0) continue;
    const double amount = std::min(std::max(excess_[i], -residual_[twin_[a]]), residual_[a]);
    residual_[a] -= amount;
    residual_[twin_[a]] += amount;
    excess_[i] -= amount;
    mass_[i] -= amount;
    excess_[head_[a]] += amount;
    mass_[head_[a]] += amount;
  }
  for (int k = group.begin; k < group.end; ++k) depth_[order_[k]] = excess_[order_[k]] < -tiny_ ? 0 : -1;
  for (int k = group.end - 1; k >= group.begin; --k) {
    const int i = order_[k], a = parent(i);
    if (a >= 0 && depth_[i] == 0 && residual_[twin_[a]] > tiny_) depth_[head_[a]] = 0;
  }
  for (int k = group.begin; k < group.end; ++k) {
    const int i = order_[k], a = parent(i);
    if (a >= 0 && depth_[head_[a]] == 0 && residual_[a] > tiny_) depth_[i] = 0;
  }
}

// A flow to start from: the dual solved for one set of paths at a time, each exactly, with Nesterov's momentum where there are
// two (Chambolle, Tan and Vaiter, 2017).
void GraphTv::sweep(ConstVectorRef y, ConstVectorRef lambda, Monitor& monitor) {
  const std::size_t count = forests_.size();
  std::vector<VectorXd> out(count, VectorXd::Zero(nodes_)), bound(count, VectorXd::Zero(nodes_)), weight(count);
  for (std::size_t k = 0; k < count; ++k) {  // all in the order of the paths
    const GraphTv& forest = forests_[k];
    weight[k].resize(nodes_);
    for (int i = 0; i < nodes_; ++i) {
      const int edge = forest.path_edge_[i];
      if (edge >= 0) bound[k][i] = lambda.size() == 1 ? lambda[0] : lambda[forest_edges_[k][edge]];
      weight[k][i] = weight_[forest.path_order_[i]];
    }
  }
  VectorXd sum = VectorXd::Zero(nodes_), rest(nodes_), now(nodes_), before;  // out: what a set of paths takes from y
  double momentum = 1;
  for (int round = 0; round < sweeps; ++round) {
    for (std::size_t k = 0; k < count; ++k) {
      monitor.check();
      const std::vector<int>&order = forests_[k].path_order_, &start = forests_[k].path_start_;
      for (int i = 0; i < nodes_; ++i) rest[i] = y[order[i]] - sum[order[i]] + out[k][i];
      for (std::size_t path = 0; path + 1 < start.size(); ++path) {
        const int from = start[path], size = start[path + 1] - from;
        now.segment(from, size) =
            rest.segment(from, size) -
            prox_total_variation(rest.segment(from, size), bound[k].segment(from, size - 1), weight[k].segment(from, size));
      }
      if (count == 2 && k == 1 && round + 1 < sweeps) {
        const double grown = 0.5 * (1 + std::sqrt(1 + 4 * momentum * momentum));
        rest = now;
        if (round > 0) rest += (momentum - 1) / grown * (now - before);
        before.swap(now);
        now = rest;
        momentum = grown;
      }
      for (int i = 0; i < nodes_; ++i) sum[order[i]] += now[i] - out[k][i];
      out[k] = now;
    }
  }
  start_.resize(static_cast<Index>(edges_.size()));
  for (std::size_t k = 0; k < count; ++k) {
    const GraphTv& forest = forests_[k];
    double carried = 0;
    for (int i = 0; i < nodes_; ++i) {
      const int edge = forest.path_edge_[i];
      carried += weight[k][i] * out[k][i];
      if (edge >= 0) start_[forest_edges_[k][edge]] = forest.edges_[edge].first == forest.path_order_[i] ? carried : -carried;
      if (edge < 0) carried = 0;
    }
  }
}

void GraphTv::bisect(ConstVectorRef threshold, Monitor& monitor) {
  label_.assign(nodes_, 0);
  order_ = root_order_;
  if (order_.empty()) {
    order_.resize(nodes_);
    std::iota(order_.begin(), order_.end(), 0);
  }
  depth_.assign(nodes_, -1);
  place_.resize(nodes_);
  local_arc_.resize(head_.size());
  x_.setZero(nodes_);
  excess_.resize(nodes_);
  spare_.clear();
  labels_ = 1;
  stack_.clear();
  part(0, nodes_, threshold.size() > 0 ? 0 : 2);
  while (!stack_.empty()) {
    const Group group = stack_.back();
    stack_.pop_back();
    double level = 0;
    if (group.stage == 2) {
      double mass = 0, weight = 0;
      for (int k = group.begin; k < group.end; ++k) {
        mass += mass_[order_[k]];
        weight += weight_[order_[k]];
      }
      level = mass / weight;
      for (int k = group.begin; k < group.end; ++k) excess_[order_[k]] = mass_[order_[k]] - weight_[order_[k]] * level;
    } else {
      const double side = group.stage == 1 ? 1 : -1;
      for (int k = group.begin; k < group.end; ++k) excess_[order_[k]] = mass_[order_[k]] + side * threshold[order_[k]];
    }
    maximum_flow(group, monitor);
    if (group.stage == 3) continue;
    // What still reaches a taker is below the level, the rest at it or above.
    spare_.clear();
    int split = group.begin;
    for (int k = group.begin; k < group.end; ++k) {
      const int i = order_[k];
      if (depth_[i] < 0) {
        order_[split++] = i;
      } else {
        spare_.push_back(i);
      }
    }
    std::copy(spare_.begin(), spare_.end(), order_.begin() + split);
    if (group.stage == 2 && (split == group.begin || split == group.end)) {
      // Nothing below the mean, but for rounding: all of it is at the mean.
      for (int k = group.begin; k < group.end; ++k) x_[order_[k]] = level;
      continue;
    }
    if (group.stage == 0) {  // positive ones first; in them the threshold is a constant pull
      for (int k = group.begin; k < split; ++k) mass_[order_[k]] -= threshold[order_[k]];
    } else if (group.stage == 1) {
      for (int k = split; k < group.end; ++k) mass_[order_[k]] += threshold[order_[k]];
    }
    // Between the thresholds x_ is zero, as it stands, but what got stuck beyond them is still to be shared.
    part(group.begin, split, group.stage == 1 ? 3 : 2);
    part(split, group.end, group.stage == 0 ? 1 : 2);
  }
}

// Puts the connected pieces of a set on the stack, each under a label of its own.
void GraphTv::part(int begin, int end, int stage) {
  if (begin == end) return;
  const int whole = labels_++;
  for (int k = begin; k < end; ++k) label_[order_[k]] = whole;
  if (!root_order_.empty()) {  // parents have to stay before children
    stack_.push_back({begin, end, stage});
    return;
  }
  spare_.clear();
  for (int k = begin; k < end; ++k) {
    if (label_[order_[k]] != whole) continue;
    const int piece = labels_++, from = static_cast<int>(spare_.size());
    label_[order_[k]] = piece;
    spare_.push_back(order_[k]);
    for (std::size_t q = from; q < spare_.size(); ++q) {
      for (int a = first_[spare_[q]]; a < first_[spare_[q] + 1]; ++a) {
        if (label_[head_[a]] != whole) continue;
        label_[head_[a]] = piece;
        spare_.push_back(head_[a]);
      }
    }
    const int to = static_cast<int>(spare_.size());
    if (to - from == 1 && stage == 2) {
      x_[spare_[from]] = mass_[spare_[from]] / weight_[spare_[from]];
    } else {
      stack_.push_back({begin + from, begin + to, stage});
    }
  }
  std::copy(spare_.begin(), spare_.end(), order_.begin() + begin);
}

void GraphTv::run(ConstVectorRef y, ConstVectorRef lambda, ConstVectorRef threshold, ConstVectorRef weights, Monitor& monitor) {
  check_input(y, lambda, threshold, weights);
  if (paths_only_ && threshold.size() == 0) return solve_paths(y, lambda, 0, weights);
  prepare(y, lambda, weights, monitor);
  bisect(threshold, monitor);
  warm_ = true;
}

VectorXd GraphTv::uniform(double l1, ConstVectorRef weights) const {
  if (!(l1 >= 0) || !std::isfinite(l1)) throw InputError(message("l1 must be a number not below zero, got ", l1, "."));
  if (l1 == 0) return VectorXd();
  return weights.size() == nodes_ ? VectorXd(l1 * weights) : VectorXd::Constant(nodes_, l1);
}

void GraphTv::solve(ConstVectorRef y, double lambda, double l1, Monitor& monitor, VectorRef x) {
  const VectorXd edge = VectorXd::Constant(1, lambda), none;
  const VectorXd threshold = uniform(l1, none);
  if (paths_only_) {
    check_input(y, edge, none, none);
    solve_paths(y, edge, l1, none);
  } else {
    run(y, edge, threshold, none, monitor);
  }
  x = x_;
}

GraphTvResult GraphTv::solve(ConstVectorRef y, ConstVectorRef lambda, double l1, Monitor& monitor, ConstVectorRef weights) {
  const VectorXd threshold = uniform(l1, weights);
  if (paths_only_) {
    check_input(y, lambda, VectorXd(), weights);
    solve_paths(y, lambda, l1, weights);
  } else {
    run(y, lambda, threshold, weights, monitor);
  }
  return certify(y, lambda, threshold, weights);
}

GraphTvResult GraphTv::solve_thresholded(ConstVectorRef y, ConstVectorRef lambda, ConstVectorRef threshold, Monitor& monitor,
                                         ConstVectorRef weights) {
  run(y, lambda, threshold, weights, monitor);
  return certify(y, lambda, threshold, weights);
}

GraphTvResult GraphTv::certify(ConstVectorRef y, ConstVectorRef lambda, ConstVectorRef threshold, ConstVectorRef weights) const {
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
  // Primal minus dual, node by node so that large common offsets cancel first: with s = soft(r, t) / w,
  // w/2 (x - y)^2 + t |x| - w/2 (y^2 - s^2) = w/2 (x^2 + s^2) - w x y + t |x|.
  double value = variation, gap = variation;
  for (int i = 0; i < nodes_; ++i) {
    const double t = threshold.size() == 0 ? 0.0 : threshold[i], s = soft_threshold(mass[i], t) / w[i], x = out.x[i];
    value += w[i] * 0.5 * (x - y[i]) * (x - y[i]) + t * std::abs(x);
    gap += w[i] * (0.5 * (x - s) * (x - s) + x * (s - y[i])) + t * std::abs(x);
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
