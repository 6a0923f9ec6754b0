#include "graph/cg_network.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "graph/cg_regression.h"

namespace granary::graph {

StateSpace::StateSpace(std::vector<int> variables, const std::vector<int>& levels) : variables_(std::move(variables)) {
  double total = 1;
  for (int v : variables_) {
    total *= levels[v];
    if (total > 1073741824.0) {
      throw InputError(message("a table over ", variables_.size(),
                               " discrete variables would need more than 2^30 configurations. ",
                               "Use fewer discrete parents, fewer levels, or prune what the question does not need."));
    }
    levels_.push_back(levels[v]);
    strides_.push_back(size_);
    size_ *= levels[v];
  }
}

int StateSpace::position(int variable) const {
  const auto at = std::find(variables_.begin(), variables_.end(), variable);
  return at == variables_.end() ? -1 : static_cast<int>(at - variables_.begin());
}

int StateSpace::config(const std::vector<int>& state_of_variable) const {
  int config = 0;
  for (int k = 0; k < dimension(); ++k) config += strides_[k] * state_of_variable[variables_[k]];
  return config;
}

std::vector<int> StateSpace::map_to(const StateSpace& sub) const {
  std::vector<int> map(size_, 0);
  for (int k = 0; k < sub.dimension(); ++k) {
    const int at = position(sub.variables_[k]);
    for (int c = 0; c < size_; ++c) map[c] += sub.strides_[k] * state(c, at);
  }
  return map;
}

std::vector<int> CgNetwork::all_levels() const {
  std::vector<int> all(nodes());
  for (int v = 0; v < nodes(); ++v) all[v] = levels(v);
  return all;
}

MixedGraph CgNetwork::graph() const {
  MixedGraph graph(nodes());
  for (int v = 0; v < nodes(); ++v) {
    for (int u : discrete_parents[v]) graph.add_directed(u, v);
    for (int u : continuous_parents[v]) graph.add_directed(u, v);
  }
  return graph;
}

std::string CgNetwork::describe(const StateSpace& space, int config) const {
  std::string text;
  for (int k = 0; k < space.dimension(); ++k) {
    const int v = space.variables()[k];
    text += (k > 0 ? ", " : "") + names[v] + " = " + states[v][space.state(config, k)];
  }
  return text;
}

namespace {

std::string where(const CgNetwork& network, const StateSpace& space, int config) {
  return space.dimension() == 0 ? "" : " in the configuration " + network.describe(space, config);
}

void check_table(CgNetwork& network, int v) {
  const StateSpace space = network.parent_space(v);
  VectorXd& table = network.table[v];
  const int own = network.levels(v);
  if (table.size() != static_cast<Index>(own) * space.size()) {
    throw InputError(message("the probability table of \"", network.names[v], "\" must have ", own, " x ", space.size(),
                             " entries, but it has ", table.size(), "."));
  }
  for (int c = 0; c < space.size(); ++c) {
    auto column = table.segment(static_cast<Index>(c) * own, own);
    for (int s = 0; s < own; ++s) {
      if (!(column[s] >= 0)) {
        throw InputError(message("the probabilities of \"", network.names[v], "\" must not be negative or missing, but P(",
                                 network.states[v][s], ")", where(network, space, c), " is ", column[s], "."));
      }
    }
    const double sum = column.sum();
    if (!(std::abs(sum - 1) <= 1e-8)) {
      throw InputError(message("the probabilities of \"", network.names[v], "\" must sum to one", where(network, space, c),
                               ", but they sum to ", sum, "."));
    }
    column /= sum;
  }
}

void check_regression(CgNetwork& network, int v) {
  const StateSpace space = network.parent_space(v);
  const MatrixXd& r = network.regression[v];
  const Index k = static_cast<Index>(network.continuous_parents[v].size());
  if (r.rows() != k + 2 || r.cols() != space.size()) {
    throw InputError(message("the regressions of \"", network.names[v], "\" must have ", k, " coefficients for each of ",
                             space.size(), " configurations, but ", r.rows() - 2, " for ", r.cols(), " came."));
  }
  for (int c = 0; c < space.size(); ++c) {
    if (!r.col(c).allFinite()) {
      throw InputError(
          message("the regression of \"", network.names[v], "\" must be finite, but it is not", where(network, space, c), "."));
    }
    if (r(k + 1, c) < 0) {
      throw InputError(message("the variance of \"", network.names[v], "\" must not be negative, but it is ", r(k + 1, c),
                               where(network, space, c), "."));
    }
  }
}

}  // namespace

void check_network(CgNetwork& network) {
  for (int v = 0; v < network.nodes(); ++v) {
    if (network.discrete(v) && !network.continuous_parents[v].empty()) {
      throw InputError(message("a discrete node must not have a continuous parent, but \"",
                               network.names[network.continuous_parents[v][0]], "\" -> \"", network.names[v],
                               "\" is such an edge. Turn the edge round, or cut the parent into classes."));
    }
    for (int u : network.discrete_parents[v]) {
      if (!network.discrete(u)) throw InputError(message("\"", network.names[u], "\" is not discrete."));
    }
  }
  topological_order(network.graph());  // throws, naming a cycle
  for (int v = 0; v < network.nodes(); ++v) network.discrete(v) ? check_table(network, v) : check_regression(network, v);
}

VectorXd log_density(const CgNetwork& network, ConstMatrixRef rows) {
  VectorXd sum = VectorXd::Zero(rows.rows());
  std::vector<int> state(network.nodes(), 0);
  std::vector<StateSpace> space;
  for (int v = 0; v < network.nodes(); ++v) space.push_back(network.parent_space(v));
  for (Index i = 0; i < rows.rows(); ++i) {
    for (int v = 0; v < network.nodes(); ++v) {
      if (network.discrete(v)) state[v] = static_cast<int>(rows(i, v));
    }
    for (int v = 0; v < network.nodes(); ++v) {
      const int config = space[v].config(state);
      if (network.discrete(v)) {
        sum[i] += std::log(network.table[v][static_cast<Index>(config) * network.levels(v) + state[v]]);
        continue;
      }
      const auto r = network.regression[v].col(config);
      const Index k = r.size() - 2;
      double mean = r[k], scale = std::abs(rows(i, v)) + std::abs(r[k]);
      for (Index j = 0; j < k; ++j) {
        const double term = r[j] * rows(i, network.continuous_parents[v][j]);
        mean += term;
        scale += std::abs(term);
      }
      sum[i] += log_normal_or_point(rows(i, v), mean, r[k + 1], scale);
    }
  }
  return sum;
}

void check(const CgNetwork& t) {
  const std::size_t n = t.names.size();
  require(t.states.size() == n && t.discrete_parents.size() == n && t.continuous_parents.size() == n && t.table.size() == n && t.regression.size() == n,
          "the parts of the network do not fit each other.");
  for (const auto& parents : {t.discrete_parents, t.continuous_parents})
    for (const std::vector<int>& of : parents)
      for (const int v : of) require(v >= 0 && v < t.nodes(), "a parent is no node of the network.");
}

}  // namespace granary::graph
