#include "cluster/max_cut.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/linalg/dense.h"

namespace granary::cluster {

namespace {

// What changing the side of each node gains: its uncut edges minus its cut ones.
VectorXd flip_gains(const WeightedEdges& g, const VectorXi& part) {
  VectorXd gain = VectorXd::Zero(g.nodes);
  for (Index e = 0; e < g.size(); ++e) {
    const double w = part[g.from[e]] == part[g.to[e]] ? g.weight[e] : -g.weight[e];
    gain[g.from[e]] += w;
    gain[g.to[e]] += w;
  }
  return gain;
}

void flip(const WeightedEdges& g, const Incidence& at, Index v, VectorXi& part, VectorXd& gain) {
  part[v] = 1 - part[v];
  gain[v] = -gain[v];
  at.visit(v, [&](int other, int e) { gain[other] += part[other] == part[v] ? 2 * g.weight[e] : -2 * g.weight[e]; });
}

// Tabu search: the best flip that is not forbidden, also downhill, until the best has not risen for a while.
void tabu(const WeightedEdges& g, const Incidence& at, VectorXi& part, Rng& rng, Monitor& monitor) {
  const Index n = g.nodes;
  VectorXi best = part;
  VectorXd gain = flip_gains(g, part);
  double now = cut_weight(g, part), top = now;
  const double dust = 1e-12 * g.weight.cwiseAbs().sum();
  std::vector<Index> free_at(static_cast<std::size_t>(n), 0);
  Index patience = 10 * n + 100, last = 0;
  for (Index step = 1; step - last <= patience; ++step) {
    if (step % 256 == 0) monitor.check();
    Index choice = -1;
    for (Index v = 0; v < n; ++v) {
      const bool allowed = free_at[static_cast<std::size_t>(v)] <= step || now + gain[v] > top + dust;
      if (allowed && (choice < 0 || gain[v] > gain[choice])) choice = v;
    }
    if (choice < 0) continue;
    now += gain[choice];
    flip(g, at, choice, part, gain);
    free_at[static_cast<std::size_t>(choice)] = step + 1 + n / 20 + static_cast<Index>(rng.below(10)) + 3;
    if (now > top + dust) {
      top = now;
      best = part;
      last = step;
    }
  }
  part = best;
}

// Goemans and Williamson's vectors: columns of v.
struct Vectors {
  MatrixXd v;
  double value = 0, bound = 0;
  int iterations = 0;
  bool converged = false;
};

Vectors mixing(const WeightedEdges& g, const Incidence& at, double tol, int max_iter, Rng& rng, Monitor& monitor) {
  const Index n = g.nodes, rank = static_cast<Index>(std::ceil(std::sqrt(2.0 * static_cast<double>(n)))) + 1;
  Vectors out;
  out.v.resize(rank, n);
  for (Index i = 0; i < n; ++i)
    for (Index r = 0; r < rank; ++r) out.v(r, i) = rng.normal();
  out.v.colwise().normalize();
  const double scale = std::max(g.weight.cwiseAbs().sum(), std::numeric_limits<double>::min());
  VectorXd pull(rank);
  for (; out.iterations < max_iter; ++out.iterations) {
    monitor.check();
    double rise = 0;
    for (Index i = 0; i < n; ++i) {
      pull.setZero();
      at.visit(i, [&](int j, int e) { pull += g.weight[e] * out.v.col(j); });
      const double norm = pull.norm();
      if (norm <= 1e-14 * scale) continue;
      rise += norm + pull.dot(out.v.col(i));  // of the value, doubled
      out.v.col(i) = -pull / norm;
    }
    if (rise <= tol * scale) {
      out.converged = true;
      break;
    }
  }
  for (Index e = 0; e < g.size(); ++e) out.value += g.weight[e] * (1 - out.v.col(g.from[e]).dot(out.v.col(g.to[e]))) / 2;
  // A dual point: y_i = (L V / 4)_i ' v_i, moved until diag(y) - L / 4 is positive semi-definite.
  VectorXd y = VectorXd::Zero(n);
  MatrixXd laplacian = MatrixXd::Zero(n, n);
  for (Index e = 0; e < g.size(); ++e) {
    const Index a = g.from[e], b = g.to[e];
    const double w = g.weight[e] / 4, inner = out.v.col(a).dot(out.v.col(b));
    laplacian(a, a) += w;
    laplacian(b, b) += w;
    laplacian(a, b) -= w;
    laplacian(b, a) -= w;
    y[a] += w * (1 - inner);
    y[b] += w * (1 - inner);
  }
  laplacian.diagonal() -= y;
  const SymmetricEigen eigen(laplacian, EigenParts::values);
  const double top = eigen.eigenvalues()[n - 1] + 1e-14 * static_cast<double>(n) * eigen.eigenvalues().cwiseAbs().maxCoeff();
  out.bound = y.sum() + static_cast<double>(n) * std::max(0.0, top);
  return out;
}

class Search {
 public:
  Search(const WeightedEdges& g, double max_nodes, Monitor& monitor)
      : g_(g), at_(g), left_(max_nodes), monitor_(monitor), side_(VectorXi::Constant(g.nodes, -1)), same_(VectorXd::Zero(g.nodes)), total_(VectorXd::Zero(g.nodes)) {
    VectorXd degree = VectorXd::Zero(g.nodes);
    for (Index e = 0; e < g.size(); ++e) {
      degree[g.from[e]] += std::abs(g.weight[e]);
      degree[g.to[e]] += std::abs(g.weight[e]);
      positive_ += std::max(0.0, g.weight[e]);
    }
    for (Index v = 0; v < g.nodes; ++v) order_.push_back(static_cast<int>(v));
    std::stable_sort(order_.begin(), order_.end(), [&](int u, int v) { return degree[u] > degree[v]; });
  }
  bool run(VectorXi& best, double& weight) {
    best_ = &best;
    weight_ = &weight;
    place(order_[0], 0);
    dive(1);
    return left_ > 0;
  }

 private:
  // same_[v]: weight of the edges of a free v to placed nodes of side 0; total_[v]: to all placed ones.
  void place(int v, int s) {
    side_[v] = s;
    cut_ += s == 0 ? total_[v] - same_[v] : same_[v];
    at_.visit(v, [&](int other, int e) {
      if (side_[other] < 0) {
        total_[other] += g_.weight[e];
        if (s == 0) same_[other] += g_.weight[e];
        positive_ -= std::max(0.0, g_.weight[e]);  // edges between free nodes are left
      }
    });
  }
  void lift(int v) {
    const int s = side_[v];
    side_[v] = -1;
    at_.visit(v, [&](int other, int e) {
      if (side_[other] < 0) {
        total_[other] -= g_.weight[e];
        if (s == 0) same_[other] -= g_.weight[e];
        positive_ += std::max(0.0, g_.weight[e]);
      }
    });
    cut_ -= s == 0 ? total_[v] - same_[v] : same_[v];
  }
  void dive(std::size_t depth) {
    if (left_ <= 0) return;
    left_ -= 1;
    monitor_.check();
    double bound = cut_ + positive_;
    for (std::size_t i = depth; i < order_.size(); ++i) bound += std::max(same_[order_[i]], total_[order_[i]] - same_[order_[i]]);
    if (bound <= *weight_ + 1e-13 * std::abs(*weight_)) return;
    if (depth == order_.size()) {
      const double exact = cut_weight(g_, side_);
      if (exact > *weight_) {
        *weight_ = exact;
        *best_ = side_;
      }
      return;
    }
    const int v = order_[depth], first = same_[v] > total_[v] - same_[v] ? 1 : 0;
    for (const int s : {first, 1 - first}) {
      place(v, s);
      dive(depth + 1);
      lift(v);
    }
  }

  const WeightedEdges& g_;
  Incidence at_;
  double left_;
  Monitor& monitor_;
  VectorXi side_;
  VectorXd same_, total_;
  std::vector<int> order_;
  double cut_ = 0, positive_ = 0;
  VectorXi* best_ = nullptr;
  double* weight_ = nullptr;
};

}  // namespace

CutImprovement improve_cut(const WeightedEdges& g, const VectorXi& part, Monitor& monitor) {
  const Index n = g.nodes;
  CutImprovement out;
  const Incidence at(g);
  const double dust = 1e-12 * g.weight.cwiseAbs().sum();
  const VectorXd start = flip_gains(g, part);
  // The gain of flipping the nodes of A, one after the other in the given order; the best beginning is kept.
  const auto sweep = [&](const std::vector<Index>& order) {
    VectorXi now = part;
    VectorXd gain = start;
    double sum = 0, most = dust;
    Index best = -1;
    for (std::size_t i = 0; i < order.size(); ++i) {
      sum += gain[order[i]];
      flip(g, at, order[i], now, gain);
      if (sum > most) {
        most = sum;
        best = static_cast<Index>(i);
      }
    }
    if (best >= 0 && most > out.gain) {
      out.gain = most;
      out.flip.assign(static_cast<std::size_t>(n), 0);
      for (Index i = 0; i <= best; ++i) out.flip[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])] = 1;
    }
  };
  if (n <= 22) {  // all sets without node 0 (a set and its complement are the same), by Gray code
    VectorXi now = part;
    VectorXd gain = start;
    double sum = 0, most = dust;
    std::uint32_t at_best = 0;
    const std::uint32_t sets = std::uint32_t{1} << (n - 1);
    for (std::uint32_t code = 1; code < sets; ++code) {
      if ((code & 8191u) == 0) monitor.check();
      Index v = 1;
      for (std::uint32_t c = code; (c & 1u) == 0; c >>= 1) ++v;
      sum += gain[v];
      flip(g, at, v, now, gain);
      if (sum > most) {
        most = sum;
        at_best = code ^ (code >> 1);
      }
    }
    if (at_best != 0) {
      out.gain = most;
      out.flip.assign(static_cast<std::size_t>(n), 0);
      for (Index v = 1; v < n; ++v) out.flip[static_cast<std::size_t>(v)] = (at_best >> (v - 1)) & 1u;
    }
  } else {
    MatrixXd capacity = MatrixXd::Zero(n, n), demand = MatrixXd::Zero(n, n);
    for (Index e = 0; e < g.size(); ++e) {
      // A negative weight counts on the other side.
      const bool cut = part[g.from[e]] != part[g.to[e]];
      MatrixXd& target = cut == (g.weight[e] > 0) ? capacity : demand;
      const double w = std::abs(g.weight[e]);
      const Index a = g.from[e], b = g.to[e];
      target(a, a) += w;
      target(b, b) += w;
      target(a, b) -= w;
      target(b, a) -= w;
    }
    const double ridge = 1e-6 * (1e-300 + demand.diagonal().sum() / static_cast<double>(n) + capacity.diagonal().sum() / static_cast<double>(n));
    demand.diagonal().array() += ridge;
    const Llt factor(demand);
    if (factor.info() == Eigen::Success) {
      MatrixXd reduced = capacity;  // M^-1 L_cap M^-T
      factor.matrixL().solveInPlace(reduced);
      reduced = MatrixXd(reduced.transpose());
      factor.matrixL().solveInPlace(reduced);
      reduced = (reduced + reduced.transpose()).eval() / 2;
      const SymmetricEigen eigen(reduced);
      for (Index k = 0; k < std::min<Index>(6, n); ++k) {
        monitor.check();
        VectorXd vector = eigen.eigenvectors().col(k);
        factor.matrixU().solveInPlace(vector);
        std::vector<Index> order(static_cast<std::size_t>(n));
        for (Index i = 0; i < n; ++i) order[static_cast<std::size_t>(i)] = i;
        std::sort(order.begin(), order.end(), [&](Index a, Index b) { return vector[a] < vector[b] || (vector[a] == vector[b] && a < b); });
        sweep(order);
        std::reverse(order.begin(), order.end());
        sweep(order);
      }
    }
  }
  return out;
}

MaxCutResult max_cut(const WeightedEdges& g, const MaxCutOptions& options, Rng& rng, Monitor& monitor) {
  const Stopwatch watch;
  const Index n = g.nodes;
  if (n < 1) throw InputError("the graph has no nodes.");
  if (options.start.size() != 0 && options.start.size() != n) throw InputError(message("there are ", options.start.size(), " sides to start from for ", n, " nodes."));
  const Incidence at(g);
  MaxCutResult out;
  out.part = VectorXi::Zero(n);
  out.upper_bound = g.size() > 0 ? g.weight.cwiseMax(0).sum() : 0;
  const auto offer = [&](const VectorXi& part) {
    const double weight = cut_weight(g, part);
    if (!(weight > out.objective)) return;
    out.objective = weight;
    out.part = part;
  };
  if (options.start.size() == n) offer(options.start);
  MaxCutMethod method = options.method;
  const bool automatic = method == MaxCutMethod::automatic;
  if (automatic) method = n <= 24 ? MaxCutMethod::exact : MaxCutMethod::relaxation;
  Convergence& c = out.convergence;
  const auto climb = [&](VectorXi part) {
    tabu(g, at, part, rng, monitor);
    offer(part);
  };
  for (int s = 0; s < options.n_starts && g.size() > 0; ++s) {
    VectorXi part(n);
    for (Index v = 0; v < n; ++v) part[v] = static_cast<int>(rng.below(2));
    climb(part);
  }
  if (method == MaxCutMethod::relaxation && g.size() > 0) {
    const Vectors vectors = mixing(g, at, options.tol, options.max_iter, rng, monitor);
    out.relaxation = vectors.value;
    out.upper_bound = std::min(out.upper_bound, vectors.bound);
    c.iterations = vectors.iterations;
    VectorXi part(n);
    VectorXd normal(vectors.v.rows());
    for (int r = 0; r < options.n_rep; ++r) {
      monitor.check();
      for (Index i = 0; i < normal.size(); ++i) normal[i] = rng.normal();
      const VectorXd sign = vectors.v.transpose() * normal;
      for (Index v = 0; v < n; ++v) part[v] = sign[v] > 0;
      VectorXd gain = flip_gains(g, part);
      for (Index best = 0; gain.maxCoeff(&best) > 1e-12 * gain.cwiseAbs().maxCoeff() && gain[best] > 0;) flip(g, at, best, part, gain);
      offer(part);
    }
    climb(out.part);
  }
  if ((method == MaxCutMethod::improve || automatic) && g.size() > 0) {
    for (int round = 0; round < 100; ++round) {
      const CutImprovement step = improve_cut(g, out.part, monitor);
      if (step.flip.empty()) break;
      VectorXi part = out.part;
      for (Index v = 0; v < n; ++v)
        if (step.flip[static_cast<std::size_t>(v)]) part[v] = 1 - part[v];
      const double before = out.objective;
      climb(part);
      if (!(out.objective > before)) offer(part);
      if (!(out.objective > before)) break;
      ++c.iterations;
    }
    if (n <= 22) out.upper_bound = out.objective;  // no set of nodes gains: all cuts have been looked at
  }
  if (method == MaxCutMethod::exact && g.size() > 0) {
    Search search(g, options.max_nodes, monitor);
    if (search.run(out.part, out.objective)) out.upper_bound = out.objective;
    else c.message = message("the search stopped after ", options.max_nodes, " nodes");
  }
  if (out.part[0] == 1) out.part = 1 - out.part.array();
  const double gap = std::max(0.0, out.upper_bound - out.objective);
  out.optimal = gap <= 1e-9 * std::max(out.objective, out.upper_bound);
  c.gap = out.objective > 0 ? gap / out.objective : gap;
  c.converged = out.optimal;  // proven
  c.reason = out.optimal ? Stop::solved : c.message.empty() ? Stop::approximate : Stop::iterations;
  c.seconds = watch.seconds();
  return out;
}

}  // namespace granary::cluster
