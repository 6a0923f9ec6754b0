#include "graph/cg_state.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/math/logspace.h"
#include "graph/cg_regression.h"

namespace granary::graph {

namespace {

constexpr double none = -std::numeric_limits<double>::infinity();

std::shared_ptr<CgCompiled> compile(CgNetwork network, std::vector<int> order, double max_states) {
  auto result = std::make_shared<CgCompiled>();
  check_network(network);
  CgCompiled& c = *result;
  c.tree = build_tree(network, TreeKind::semi_elimination, std::move(order));
  if (c.tree.largest > max_states) {
    throw InputError(message("exact inference in this network needs a table of ", c.tree.largest,
                             " configurations, more than the limit of ", max_states,
                             ". Raise `max_states`, or keep only what the question needs with cg_prune()."));
  }
  const std::vector<int> levels = network.all_levels();
  const std::vector<CgCluster>& clusters = c.tree.clusters;
  const int count = c.tree.continuous;
  c.cluster_of.assign(network.nodes(), -1);
  c.below.resize(network.nodes());
  for (int i = 0; i < count; ++i) {
    const CgCluster& cluster = clusters[i];
    c.space.emplace_back(cluster.discrete, levels);
    c.cluster_of[cluster.variable] = i;
    for (std::size_t k = 0; k < cluster.continuous.size(); ++k) {
      if (cluster.continuous[k] == cluster.variable)
        c.self.push_back(static_cast<int>(k));
      else
        c.below[cluster.continuous[k]].push_back(i);
    }
  }
  c.up.resize(count);
  c.config_in.resize(count);
  for (int i = 0; i < count; ++i) {
    if (clusters[i].parent < 0) continue;
    const CgCluster& next = clusters[clusters[i].parent];
    c.config_in[i] = StateSpace(next.discrete, levels).map_to(c.space[i]);
    if (next.continuous.empty()) continue;
    for (int v : clusters[i].continuous) {
      const auto at = std::lower_bound(next.continuous.begin(), next.continuous.end(), v);
      const bool there = at != next.continuous.end() && *at == v && v != clusters[i].variable;
      c.up[i].push_back(there ? static_cast<int>(at - next.continuous.begin()) : -1);
    }
  }
  std::vector<StateSpace> spaces;
  std::vector<int> parent;
  for (std::size_t i = count; i < clusters.size(); ++i) {
    spaces.emplace_back(clusters[i].discrete, levels);
    parent.push_back(clusters[i].parent < 0 ? -1 : clusters[i].parent - count);
  }
  c.forest = DiscreteForest(std::move(spaces), std::move(parent), levels);
  c.network = std::move(network);
  return result;
}

// A regression waiting in the postbag of a cluster, for every configuration: coefficients over the members, intercept, variance.
struct Posted {
  int head;
  MatrixXd terms;
};

}  // namespace

int CgCompiled::top(int i) const {
  while (!at_boundary(i)) i = tree.clusters[i].parent;
  return i;
}

std::vector<int> CgCompiled::configs_from_top(int i) const {
  std::vector<int> path;
  while (!at_boundary(i)) {
    path.push_back(i);
    i = tree.clusters[i].parent;
  }
  std::vector<int> map(space[i].size());
  for (int c = 0; c < space[i].size(); ++c) map[c] = c;
  for (auto step = path.rbegin(); step != path.rend(); ++step) {
    for (int& c : map) c = config_in[*step][c];
  }
  return map;
}

CgState::CgState(CgNetwork network, std::vector<int> order, double max_states) {
  const std::shared_ptr<CgCompiled> compiled = compile(std::move(network), std::move(order), max_states);
  compiled_ = compiled;
  active_.assign(compiled->continuous(), 1);
  value_ = VectorXd::Constant(compiled->network.nodes(), std::numeric_limits<double>::quiet_NaN());
  initialise();
  // Root mean squares, for telling whether a value met a deterministic relation up to rounding.
  const CgNetwork& net = compiled->network;
  bool certain = false;
  for (int v = 0; v < net.nodes(); ++v) certain |= !net.discrete(v) && net.regression[v].bottomRows<1>().minCoeff() <= 0;
  if (!certain) return;
  const DiscreteForest::Tables prior = belief();
  compiled->scale.assign(compiled->network.nodes(), 0);
  for (int i = 0; i < compiled->continuous(); ++i) {
    const int v = compiled->tree.clusters[i].variable;
    const CgMixture law = mixture({v}, prior);
    for (Index k = 0; k < law.weight.size(); ++k) {
      compiled->scale[v] += law.weight[k] * (law.mean(k, 0) * law.mean(k, 0) + law.covariance[k](0, 0));
    }
    compiled->scale[v] = std::sqrt(compiled->scale[v]);
  }
}

// Algorithms 5.1 and 5.2. A regression goes first to the cluster of whichever of its head and tail is eliminated first.
void CgState::initialise() {
  const CgCompiled& c = *compiled_;
  const CgNetwork& network = c.network;
  const int count = c.continuous();
  tables_ = c.forest.unit();
  for (int v = 0; v < network.nodes(); ++v) {
    if (!network.discrete(v)) continue;
    std::vector<int> family = {v};
    family.insert(family.end(), network.discrete_parents[v].begin(), network.discrete_parents[v].end());
    const int home = c.forest.holder(family);
    const std::vector<int> map = c.forest.space(home).map_to(StateSpace(family, network.all_levels()));
    for (Index k = 0; k < tables_[home].size(); ++k) tables_[home][k] += std::log(network.table[v][map[k]]);
  }

  const auto blank = [&](int i) {
    return MatrixXd(MatrixXd::Zero(static_cast<Index>(c.tree.clusters[i].continuous.size()) + 2, c.space[i].size()));
  };
  const std::vector<int> sequence = topological_order(network.graph());
  std::vector<int> rank(network.nodes());
  for (std::size_t k = 0; k < sequence.size(); ++k) rank[sequence[k]] = static_cast<int>(k);
  std::vector<std::vector<Posted>> postbag(count);
  lp_.assign(count, MatrixXd());
  const auto deliver = [&](int i, int head, MatrixXd terms) {
    if (c.tree.clusters[i].variable == head)
      lp_[i] = std::move(terms);
    else
      postbag[i].push_back({head, std::move(terms)});
  };
  for (int v = 0; v < network.nodes(); ++v) {
    if (network.discrete(v)) continue;
    int home = c.cluster_of[v];
    for (int u : network.continuous_parents[v]) home = std::min(home, c.cluster_of[u]);
    const std::vector<int>& members = c.tree.clusters[home].continuous;
    const std::vector<int> map = c.space[home].map_to(network.parent_space(v));
    MatrixXd terms = blank(home);
    const MatrixXd& r = network.regression[v];
    const Index k = r.rows() - 2, m = terms.rows() - 2;
    for (int config = 0; config < c.space[home].size(); ++config) {
      for (Index j = 0; j < k; ++j) {
        const auto at = std::lower_bound(members.begin(), members.end(), network.continuous_parents[v][j]);
        terms(at - members.begin(), config) = r(j, map[config]);
      }
      terms(m, config) = r(k, map[config]);
      terms(m + 1, config) = r(k + 1, map[config]);
    }
    deliver(home, v, std::move(terms));
  }

  for (int i = 0; i < count; ++i) {
    const std::vector<int>& members = c.tree.clusters[i].continuous;
    const Index m = static_cast<Index>(members.size());
    const int e = c.self[i];
    MatrixXd& lp = lp_[i];
    std::stable_sort(postbag[i].begin(), postbag[i].end(),
                     [&](const Posted& a, const Posted& b) { return rank[a.head] < rank[b.head]; });
    for (Posted& r : postbag[i]) {
      const Index head = std::lower_bound(members.begin(), members.end(), r.head) - members.begin();
      for (int config = 0; config < c.space[i].size(); ++config) {
        auto z = r.terms.col(config);
        auto y = lp.col(config);
        const double b = z[e];
        if (b == 0) continue;
        const Exchange weights = exchange_weights(b, y[m + 1], z[m + 1]);
        const double spread = z[m + 1] + b * b * y[m + 1];
        z[e] = 0;
        for (Index k = 0; k <= m; ++k) {
          const double a = z[k], old = y[k];
          z[k] = add_product(a, b, old);
          y[k] = add_product(weights.w * old, -weights.g, a);
        }
        y[e] = 0;
        y[head] = weights.g;
        y[m + 1] *= weights.w;
        z[m + 1] = spread;
      }
      if (c.at_boundary(i))
        throw NumericalError("a regression reached the boundary of its tree. This is a defect: please report it.");
      const int next = c.tree.clusters[i].parent;
      MatrixXd terms = blank(next);
      for (int config = 0; config < c.space[next].size(); ++config) {
        const auto from = r.terms.col(c.config_in[i][config]);
        for (Index k = 0; k < m; ++k) {
          if (c.up[i][k] >= 0) terms(c.up[i][k], config) = from[k];
        }
        terms(terms.rows() - 2, config) = from[m];
        terms(terms.rows() - 1, config) = from[m + 1];
      }
      deliver(next, r.head, std::move(terms));
    }
    postbag[i].clear();
  }
}

DiscreteForest::Tables CgState::belief() const {
  DiscreteForest::Tables tables = tables_;
  const double total = compiled_->forest.calibrate(tables);
  if (total + constant_ == none) {
    throw InputError(
        "the findings have probability zero together, so nothing can be said given them. Check them, or retract one.");
  }
  for (VectorXd& table : tables) table.array() -= total;
  return tables;
}

double CgState::log_evidence() const { return constant_ + compiled_->forest.collect(tables_); }

void CgState::observe_states(int v, ConstVectorRef log_likelihood) {
  const int home = compiled_->forest.holder({v});
  restrict_table(tables_[home], compiled_->forest.space(home), v, log_likelihood);
}

void CgState::substitute(int cluster, int v, double y) {
  const std::vector<int>& members = compiled_->tree.clusters[cluster].continuous;
  const Index at = std::lower_bound(members.begin(), members.end(), v) - members.begin(), m = static_cast<Index>(members.size());
  MatrixXd& lp = lp_[cluster];
  for (Index config = 0; config < lp.cols(); ++config) {
    lp(m, config) += lp(at, config) * y;
    lp(at, config) = 0;
  }
}

// Algorithm 5.3: PUSH.
void CgState::observe_value(int v, double y) {
  const CgCompiled& c = *compiled_;
  int i = c.cluster_of[v];
  for (int k : c.below[v]) {
    if (active_[k]) substitute(k, v, y);
  }
  MatrixXd message = lp_[i];
  active_[i] = 0;
  value_[v] = y;
  while (!c.at_boundary(i)) {
    const int next = c.tree.clusters[i].parent, e = c.self[next];
    const Index from_m = static_cast<Index>(c.tree.clusters[i].continuous.size());
    const Index m = static_cast<Index>(c.tree.clusters[next].continuous.size());
    MatrixXd moved = MatrixXd::Zero(m + 2, c.space[next].size());
    for (int config = 0; config < c.space[next].size(); ++config) {
      const auto from = message.col(c.config_in[i][config]);
      auto z = moved.col(config);
      for (Index k = 0; k < from_m; ++k) {
        if (c.up[i][k] >= 0) z[c.up[i][k]] = from[k];
      }
      z[m] = from[from_m];
      z[m + 1] = from[from_m + 1];
      const double b = z[e];
      if (!active_[next] || b == 0) continue;
      auto lp = lp_[next].col(config);
      const Exchange weights = exchange_weights(b, lp[m + 1], z[m + 1]);
      const double spread = z[m + 1] + b * b * lp[m + 1];
      z[e] = 0;
      for (Index k = 0; k <= m; ++k) {
        const double a = z[k], old = lp[k];
        z[k] = add_product(a, b, old);
        lp[k] = add_product(weights.w * old, -weights.g, a);
      }
      lp[e] = 0;
      lp[m] += weights.g * y;
      lp[m + 1] *= weights.w;
      z[m + 1] = spread;
    }
    message = std::move(moved);
    i = next;
  }
  // The message is now N(mean, variance) for each configuration at the boundary.
  const Index m = message.rows() - 2;
  const double scale = std::max(std::abs(y), c.scale.empty() ? 0.0 : c.scale[v]);
  const int home = c.tree.clusters[i].parent - c.continuous();
  const bool alone = c.tree.clusters[i].parent < 0;
  VectorXd weight(message.cols());
  bool certain = false, spread = false;
  for (Index config = 0; config < message.cols(); ++config) {
    weight[config] = log_normal_or_point(y, message(m, config), message(m + 1, config), scale);
  }
  if ((message.row(m + 1).array() <= 0).any()) {
    VectorXd possible = VectorXd::Zero(message.cols());
    if (!alone) {
      DiscreteForest::Tables belief = tables_;
      c.forest.calibrate(belief);
      possible.setConstant(none);
      for (Index k = 0; k < belief[home].size(); ++k) {
        double& p = possible[c.config_in[i][k]];
        p = std::max(p, belief[home][k]);
      }
    }
    for (Index config = 0; config < message.cols(); ++config) {
      if (possible[config] == none || weight[config] == none) continue;
      (message(m + 1, config) > 0 ? spread : certain) = true;
    }
    if (certain && spread) {
      mixed_certain_.push_back(v);
      for (Index config = 0; config < message.cols(); ++config) {
        if (message(m + 1, config) > 0) weight[config] = none;
      }
    }
  }
  if (alone) {
    constant_ += weight[0];
  } else {
    for (Index k = 0; k < tables_[home].size(); ++k) tables_[home][k] += weight[c.config_in[i][k]];
  }
}

VectorXd CgState::probabilities(const std::vector<int>& variables, const DiscreteForest::Tables& belief) const {
  const StateSpace space(variables, compiled_->network.all_levels());
  if (variables.empty()) return VectorXd::Ones(1);
  const int home = compiled_->forest.holder(variables);
  if (home < 0) return softmax(compiled_->forest.marginal(tables_, space));
  const std::vector<int> map = compiled_->forest.space(home).map_to(space);
  VectorXd p = VectorXd::Zero(space.size());
  for (Index c = 0; c < belief[home].size(); ++c) p[map[c]] += std::exp(belief[home][c]);
  return p / p.sum();
}

// Algorithm 5.4, for several variables at once. Along the way to the boundary a variable becomes a linear form in independent
// standard normals, one per cluster passed, so that covariances are sums of products: what is kept of each EXCHANGE is its first
// half.
CgMixture CgState::mixture(const std::vector<int>& variables, const DiscreteForest::Tables& belief,
                           const std::vector<int>& beside) const {
  const CgCompiled& c = *compiled_;
  CgMixture result;
  std::vector<int> deciding = beside;
  for (int v : variables) {
    const std::vector<int>& there = c.space[c.top(c.cluster_of[v])].variables();
    deciding.insert(deciding.end(), there.begin(), there.end());
  }
  std::sort(deciding.begin(), deciding.end());
  deciding.erase(std::unique(deciding.begin(), deciding.end()), deciding.end());
  result.components = StateSpace(deciding, c.network.all_levels());
  const VectorXd weight = probabilities(deciding, belief);
  for (int k = 0; k < result.components.size(); ++k) {
    if (weight[k] > 0) result.config.push_back(k);
  }
  const Index size = static_cast<Index>(result.config.size()), q = static_cast<Index>(variables.size());
  result.weight.resize(size);
  result.mean.resize(size, q);
  std::vector<std::vector<std::vector<int>>> configs(q);  // variable, cluster on its path: component -> configuration there
  std::vector<std::vector<int>> path(q);
  for (Index j = 0; j < q; ++j) {
    int i = c.cluster_of[variables[j]];
    const std::vector<int> to_top = result.components.map_to(c.space[c.top(i)]);
    for (;; i = c.tree.clusters[i].parent) {
      path[j].push_back(i);
      std::vector<int> map = c.configs_from_top(i), own(size);
      for (Index k = 0; k < size; ++k) own[k] = map[to_top[result.config[k]]];
      configs[j].push_back(std::move(own));
      if (c.at_boundary(i)) break;
    }
  }
  std::vector<int> passed;  // the clusters on any of the paths
  for (const std::vector<int>& one : path) passed.insert(passed.end(), one.begin(), one.end());
  std::sort(passed.begin(), passed.end());
  passed.erase(std::unique(passed.begin(), passed.end()), passed.end());
  VectorXd loading = VectorXd::Zero(c.network.nodes());
  MatrixXd shock = MatrixXd::Zero(static_cast<Index>(passed.size()), q);
  for (Index k = 0; k < size; ++k) {
    result.weight[k] = weight[result.config[k]];
    for (Index j = 0; j < q; ++j) {
      double mean = 0;
      loading[variables[j]] = 1;
      for (std::size_t step = 0; step < path[j].size(); ++step) {
        const int i = path[j][step];
        const std::vector<int>& members = c.tree.clusters[i].continuous;
        const double g = loading[c.tree.clusters[i].variable];
        loading[c.tree.clusters[i].variable] = 0;
        double& own = shock(std::lower_bound(passed.begin(), passed.end(), i) - passed.begin(), j);
        own = 0;
        if (g == 0) continue;
        if (!active_[i]) {
          mean += g * value_[c.tree.clusters[i].variable];
          continue;
        }
        const auto lp = lp_[i].col(configs[j][step][k]);
        const Index m = static_cast<Index>(members.size());
        for (Index t = 0; t < m; ++t) {
          if (lp[t] != 0) loading[members[t]] = add_product(loading[members[t]], g, lp[t]);
        }
        mean += g * lp[m];
        own = g * std::sqrt(lp[m + 1]);
      }
      result.mean(k, j) = mean;
    }
    result.covariance.push_back(shock.transpose() * shock);
  }
  return result;
}

MatrixXd CgState::simulate(int n, Rng& rng, Monitor& monitor) const {
  const CgCompiled& c = *compiled_;
  belief();  // throws for impossible findings
  const DiscreteSampler sampler(c.forest, tables_);
  std::vector<int> state(c.network.nodes(), 0);
  MatrixXd rows(n, c.network.nodes());
  for (int r = 0; r < n; ++r) {
    if (r % 256 == 0) monitor.progress(static_cast<double>(r) / n);
    sampler.draw(state, rng);
    for (int v = 0; v < c.network.nodes(); ++v) {
      if (c.network.discrete(v)) rows(r, v) = state[v];
    }
    for (int i = c.continuous() - 1; i >= 0; --i) {
      const CgCluster& cluster = c.tree.clusters[i];
      if (!active_[i]) {
        rows(r, cluster.variable) = value_[cluster.variable];
        continue;
      }
      const auto lp = lp_[i].col(c.space[i].config(state));
      const Index m = static_cast<Index>(cluster.continuous.size());
      double mean = lp[m];
      for (Index k = 0; k < m; ++k) {
        if (lp[k] != 0) mean += lp[k] * rows(r, cluster.continuous[k]);
      }
      rows(r, cluster.variable) = lp[m + 1] > 0 ? mean + std::sqrt(lp[m + 1]) * rng.normal() : mean;
    }
  }
  return rows;
}

}  // namespace granary::graph
