#include "cluster/multiway_cut.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "cluster/multiway_relaxation.h"
#include "core/base/errors.h"
#include "core/graph/flow_network.h"

namespace granary::cluster {

std::vector<char> minimum_cut(const WeightedEdges& g, const std::vector<Index>& sources, const std::vector<Index>& sinks, double& weight, Monitor& monitor) {
  const Incidence at(g);
  const double total = g.total() + 1;
  FlowNetwork network;
  network.first = at.first;
  network.head = at.other;
  network.residual.resize(at.other.size());
  network.twin.resize(at.other.size());
  network.excess.assign(static_cast<std::size_t>(g.nodes), 0);
  std::vector<int> seen(static_cast<std::size_t>(g.size()), -1);  // of an edge's two arcs the one met first
  for (std::size_t arc = 0; arc < at.edge.size(); ++arc) {
    const auto e = static_cast<std::size_t>(at.edge[arc]);
    network.residual[arc] = g.weight[at.edge[arc]];
    if (seen[e] < 0) {
      seen[e] = static_cast<int>(arc);
    } else {
      network.twin[arc] = seen[e];
      network.twin[static_cast<std::size_t>(seen[e])] = static_cast<int>(arc);
    }
  }
  for (const Index s : sources) network.excess[static_cast<std::size_t>(s)] = total;
  for (const Index t : sinks) network.excess[static_cast<std::size_t>(t)] = -total * static_cast<double>(sources.size() + 1);
  network.solve(1e-13 * total, monitor);
  std::vector<char> side(static_cast<std::size_t>(g.nodes));
  VectorXi part(g.nodes);
  for (Index v = 0; v < g.nodes; ++v) {
    side[static_cast<std::size_t>(v)] = network.depth[static_cast<std::size_t>(v)] < 0;
    part[v] = side[static_cast<std::size_t>(v)];
  }
  weight = cut_weight(g, part);
  return side;
}

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Nodes move to the part that saves most, until no single move does. `fixed` nodes stay.
void move_nodes(const WeightedEdges& g, const Incidence& at, const std::vector<char>& fixed, Index k, VectorXi& part) {
  VectorXd pull(k);
  const double dust = 1e-12 * g.total();
  for (bool moved = true; moved;) {
    moved = false;
    for (Index v = 0; v < g.nodes; ++v) {
      if (fixed[static_cast<std::size_t>(v)]) continue;
      pull.setZero();
      at.visit(v, [&](int other, int e) { pull[part[other]] += g.weight[e]; });
      Index best = 0;
      if (pull.maxCoeff(&best) > pull[part[v]] + dust) {
        part[v] = static_cast<int>(best);
        moved = true;
      }
    }
  }
}

// Kleinberg and Tardos. Thresholds are drawn below the largest position still free, since higher ones change nothing.
VectorXi round_positions(const MatrixXd& position, Rng& rng) {
  const Index n = position.rows(), k = position.cols();
  VectorXi part = VectorXi::Constant(n, -1);
  Index open = n;
  while (open > 0) {
    double top = 0;
    for (Index v = 0; v < n; ++v)
      if (part[v] < 0) top = std::max(top, position.row(v).maxCoeff());
    const double r = top * rng.uniform();
    const auto i = static_cast<int>(rng.below(static_cast<std::uint64_t>(k)));
    for (Index v = 0; v < n; ++v)
      if (part[v] < 0 && position(v, i) >= r && position(v, i) > 0) {
        part[v] = i;
        --open;
      }
  }
  return part;
}

class Search {
 public:
  Search(const WeightedEdges& g, const std::vector<Index>& terminals, double max_nodes, Monitor& monitor)
      : g_(g), at_(g), k_(static_cast<int>(terminals.size())), left_(max_nodes), monitor_(monitor), part_(VectorXi::Constant(g.nodes, -1)), pull_(MatrixXd::Zero(k_, g.nodes)) {
    for (int t = 0; t < k_; ++t) place(static_cast<int>(terminals[static_cast<std::size_t>(t)]), t);
    VectorXd degree = VectorXd::Zero(g.nodes);
    for (Index e = 0; e < g.size(); ++e) {
      degree[g.from[e]] += g.weight[e];
      degree[g.to[e]] += g.weight[e];
    }
    for (Index v = 0; v < g.nodes; ++v)
      if (part_[v] < 0) order_.push_back(static_cast<int>(v));
    std::stable_sort(order_.begin(), order_.end(), [&](int u, int v) { return degree[u] > degree[v]; });
  }
  bool run(VectorXi& best, double& weight) {  // true: proven
    best_ = &best;
    weight_ = &weight;
    dive(0);
    return left_ > 0;
  }

 private:
  void place(int v, int t) {
    part_[v] = t;
    at_.visit(v, [&](int other, int e) {
      if (part_[other] >= 0) cut_ += part_[other] != t ? g_.weight[e] : 0;
      pull_(t, other) += g_.weight[e];
    });
  }
  void lift(int v) {
    const int t = part_[v];
    at_.visit(v, [&](int other, int e) {
      if (part_[other] >= 0) cut_ -= part_[other] != t ? g_.weight[e] : 0;
      pull_(t, other) -= g_.weight[e];
    });
    part_[v] = -1;
  }
  // A free node pays at least for the edges to placed ones that its best part leaves cut.
  double bound(std::size_t depth) const {
    double total = cut_;
    for (std::size_t i = depth; i < order_.size(); ++i) total += pull_.col(order_[i]).sum() - pull_.col(order_[i]).maxCoeff();
    return total;
  }
  void dive(std::size_t depth) {
    if (left_ <= 0) return;
    left_ -= 1;
    monitor_.check();
    if (bound(depth) >= *weight_ * (1 - 1e-13)) return;
    if (depth == order_.size()) {
      *weight_ = cut_weight(g_, part_);
      *best_ = part_;
      return;
    }
    const int v = order_[depth];
    std::vector<int> parts(static_cast<std::size_t>(k_));
    std::iota(parts.begin(), parts.end(), 0);
    const VectorXd pull = pull_.col(v);
    std::stable_sort(parts.begin(), parts.end(), [&](int a, int b) { return pull[a] > pull[b]; });
    for (const int t : parts) {
      place(v, t);
      dive(depth + 1);
      lift(v);
    }
  }

  const WeightedEdges& g_;
  Incidence at_;
  int k_;
  double left_;
  Monitor& monitor_;
  VectorXi part_;
  MatrixXd pull_;  // part x node: weight of the edges to placed nodes of the part
  std::vector<int> order_;
  double cut_ = 0;
  VectorXi* best_ = nullptr;
  double* weight_ = nullptr;
};

VectorXi isolating_cuts(const WeightedEdges& g, const std::vector<Index>& terminals, double& lower, Monitor& monitor) {
  const auto k = terminals.size();
  std::vector<std::vector<char>> side(k);
  std::vector<double> weight(k);
  for (std::size_t t = 0; t < k; ++t) {
    std::vector<Index> others;
    for (std::size_t s = 0; s < k; ++s)
      if (s != t) others.push_back(terminals[s]);
    side[t] = minimum_cut(g, {terminals[t]}, others, weight[t], monitor);
  }
  lower = std::accumulate(weight.begin(), weight.end(), 0.0) / 2;  // every multiway cut isolates each terminal, and an edge lies in two such cuts
  const auto heaviest = static_cast<int>(std::max_element(weight.begin(), weight.end()) - weight.begin());
  VectorXi part = VectorXi::Constant(g.nodes, heaviest);
  for (std::size_t t = 0; t < k; ++t) {
    if (static_cast<int>(t) == heaviest) continue;
    for (Index v = 0; v < g.nodes; ++v)
      if (side[t][static_cast<std::size_t>(v)] && part[v] == heaviest && static_cast<std::size_t>(v) != static_cast<std::size_t>(terminals[static_cast<std::size_t>(heaviest)]))
        part[v] = static_cast<int>(t);
  }
  for (std::size_t t = 0; t < k; ++t) part[terminals[t]] = static_cast<int>(t);
  return part;
}

}  // namespace

MultiwayResult multiway_cut(const WeightedEdges& given, const std::vector<Index>& terminals, const MultiwayOptions& options, Rng& rng, Monitor& monitor) {
  const Stopwatch watch;
  // Weights of the order of 1, by a power of two, which changes no digit: tolerances below are then relative.
  int power = 0;
  WeightedEdges g = given;
  if (g.size() > 0 && g.weight.maxCoeff() > 0) {
    power = std::ilogb(g.weight.maxCoeff());
    g.weight *= std::ldexp(1.0, -power);
  }
  const auto k = static_cast<Index>(terminals.size());
  std::vector<char> fixed(static_cast<std::size_t>(g.nodes), 0);
  for (const Index t : terminals) {
    if (t < 0 || t >= g.nodes || fixed[static_cast<std::size_t>(t)]) throw InputError("the terminals must be different nodes of the graph.");
    fixed[static_cast<std::size_t>(t)] = 1;
  }
  if (k < 2) throw InputError("there must be at least two terminals.");
  if (g.size() > 0 && !(g.weight.minCoeff() > 0)) throw InputError("the weights of a multiway cut must not be negative.");
  const Incidence at(g);
  MultiwayResult out;
  out.objective = infinity;
  const auto offer = [&](VectorXi part) {
    move_nodes(g, at, fixed, k, part);
    const double weight = cut_weight(g, part);
    if (weight < out.objective) {
      out.objective = weight;
      out.part = std::move(part);
    }
  };
  double isolated = 0;
  if (k == 2) {  // one flow, and nothing to improve
    const std::vector<char> side = minimum_cut(g, {terminals[0]}, {terminals[1]}, out.objective, monitor);
    out.part.resize(g.nodes);
    for (Index v = 0; v < g.nodes; ++v) out.part[v] = side[static_cast<std::size_t>(v)] ? 0 : 1;
  } else {
    offer(isolating_cuts(g, terminals, isolated, monitor));
  }
  out.lower_bound = isolated;
  Convergence& c = out.convergence;
  if (k == 2) {
    out.lower_bound = out.objective;
    out.integral = true;
    if (options.method == MultiwayMethod::relaxation) {
      out.relaxation = out.objective;
      out.position = MatrixXd::Zero(g.nodes, k);
      for (Index v = 0; v < g.nodes; ++v) out.position(v, out.part[v]) = 1;
    }
  } else if (options.method == MultiwayMethod::relaxation) {
    const MultiwayRelaxation relaxed = relax_multiway(g, terminals, options.tol, options.max_iter, monitor);
    out.position = relaxed.position;
    out.relaxation = relaxed.value;
    out.lower_bound = std::max(out.lower_bound, relaxed.bound);
    c.iterations = relaxed.convergence.iterations;
    c.message = relaxed.convergence.message;
    const double near = relaxed.vertex ? 1e-7 : 1e-3;  // positions of the first-order method are less exact; the weights decide below
    out.integral = ((relaxed.position.array() < near) || (relaxed.position.array() > 1 - near)).all();
    VectorXi rounded(g.nodes);
    for (Index v = 0; v < g.nodes; ++v) {
      Index best = 0;
      relaxed.position.row(v).maxCoeff(&best);
      rounded[v] = static_cast<int>(best);
    }
    offer(rounded);
    for (int r = 0; r < options.n_rep; ++r) {
      monitor.check();
      offer(round_positions(relaxed.position, rng));
    }
  } else if (options.method == MultiwayMethod::exact) {
    Search search(g, terminals, options.max_nodes, monitor);
    if (search.run(out.part, out.objective)) out.lower_bound = out.objective;
    else c.message = message("the search stopped after ", options.max_nodes, " nodes");
  }
  if (out.lower_bound > out.objective * (1 + 1e-7)) out.lower_bound = isolated;  // no bound: the relaxation went wrong
  for (double* value : {&out.objective, &out.lower_bound, &out.relaxation}) *value = std::ldexp(*value, power);
  // Sums of the same weights in another order differ by rounding.
  const double gap = out.objective - out.lower_bound;
  out.optimal = gap <= std::max(1e-9, options.method == MultiwayMethod::relaxation ? options.tol : 0) * out.objective;
  out.integral = out.integral && out.optimal && options.method == MultiwayMethod::relaxation;
  c.gap = out.objective > 0 ? std::max(0.0, gap) / out.objective : 0;
  c.converged = out.optimal;  // proven
  c.reason = out.optimal ? Stop::solved : c.message.empty() ? Stop::approximate : Stop::iterations;
  c.seconds = watch.seconds();
  return out;
}

}  // namespace granary::cluster
