#include "graph/game_elimination.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/graph/elimination.h"
#include "core/base/errors.h"

namespace granary::graph {

namespace {

struct Factor {
  std::vector<int> scope;      // players; scope[k] is bit k of a table index
  std::vector<double> values;  // 2^scope
};

struct Bucket {
  int player;
  std::vector<int> scope;      // the player first
  std::vector<char> possible;  // whether any equilibrium looks like this here
};

Factor contentment(const Game& game, int i, double slack) {
  Factor factor;
  factor.scope.push_back(i);
  for (int j = 0; j < game.w.cols(); ++j) {
    if (j != i && game.w(i, j) != 0) factor.scope.push_back(j);
  }
  const std::size_t size = std::size_t{1} << factor.scope.size();
  factor.values.resize(size);
  for (std::size_t s = 0; s < size; ++s) {
    double f = -game.b[i];
    for (std::size_t k = 1; k < factor.scope.size(); ++k)
      f += s >> k & 1 ? game.w(i, factor.scope[k]) : -game.w(i, factor.scope[k]);
    factor.values[s] = (s & 1 ? f : -f) >= -slack ? 1 : 0;
  }
  return factor;
}

// Multiplies `factor` into `table` over `scope`, which contains that of the factor.
void multiply(const Factor& factor, const std::vector<int>& scope, std::vector<double>& table) {
  std::vector<int> bit(factor.scope.size());
  for (std::size_t k = 0; k < factor.scope.size(); ++k) {
    bit[k] = static_cast<int>(std::find(scope.begin(), scope.end(), factor.scope[k]) - scope.begin());
  }
  for (std::size_t s = 0; s < table.size(); ++s) {
    std::size_t at = 0;
    for (std::size_t k = 0; k < bit.size(); ++k) at |= (s >> bit[k] & 1) << k;
    table[s] *= factor.values[at];
  }
}

void list_states(const std::vector<Bucket>& buckets, int n, std::vector<Bitset>& states, Monitor& monitor) {
  states.assign(1, Bitset(n));
  for (std::size_t k = buckets.size(); k-- > 0;) {
    const Bucket& bucket = buckets[k];
    std::vector<Bitset> next;
    next.reserve(states.size());
    for (const Bitset& state : states) {
      monitor.check();
      std::size_t at = 0;
      for (std::size_t v = 1; v < bucket.scope.size(); ++v) at |= static_cast<std::size_t>(state.test(bucket.scope[v])) << v;
      for (std::size_t action = 0; action < 2; ++action) {
        if (!bucket.possible[at | action]) continue;
        next.push_back(state);
        next.back().set(bucket.player, action == 1);
      }
    }
    states.swap(next);
  }
}

}  // namespace

MixedGraph game_graph(ConstMatrixRef w) {
  const int n = static_cast<int>(w.rows());
  MixedGraph graph(n);
  for (int i = 0; i < n; ++i) {
    std::vector<int> scope(1, i);
    for (int j = 0; j < n; ++j) {
      if (j != i && w(i, j) != 0) scope.push_back(j);
    }
    for (std::size_t a = 0; a < scope.size(); ++a) {
      for (std::size_t c = 0; c < a; ++c) graph.add_undirected(scope[a], scope[c]);
    }
  }
  return graph;
}

void eliminate(const Game& game, const VectorXd& slack, const EquilibriumOptions& options, Equilibria& result, Monitor& monitor) {
  const int n = static_cast<int>(game.b.size());
  const MixedGraph graph = game_graph(game.w);
  const std::vector<int> order = elimination_order(graph, EliminationRule::min_fill, monitor);
  result.width = elimination_width(graph, order);
  if (result.width > options.max_width) {
    throw InputError(message("the game's elimination width is ", result.width, ", above the limit of ", options.max_width,
                             ": tables would have 2^", result.width + 1, " entries. Use method = \"search\" or \"gray\"."));
  }
  std::vector<Factor> factors;
  for (int i = 0; i < n; ++i) factors.push_back(contentment(game, i, slack[i]));
  std::vector<Bucket> buckets;
  double total = 1, log_scale = 0;
  for (const int player : order) {
    monitor.check();
    std::vector<int> scope(1, player);
    std::vector<Factor> mine, others;
    for (Factor& factor : factors) {
      const bool here = std::find(factor.scope.begin(), factor.scope.end(), player) != factor.scope.end();
      if (here) {
        for (const int v : factor.scope) {
          if (std::find(scope.begin(), scope.end(), v) == scope.end()) scope.push_back(v);
        }
      }
      (here ? mine : others).push_back(std::move(factor));
    }
    std::vector<double> table(std::size_t{1} << scope.size(), 1.0);
    for (const Factor& factor : mine) multiply(factor, scope, table);
    Factor message_out;
    message_out.scope.assign(scope.begin() + 1, scope.end());
    message_out.values.resize(table.size() / 2);
    double top = 0;
    for (std::size_t s = 0; s < message_out.values.size(); ++s) {
      message_out.values[s] = table[2 * s] + table[2 * s + 1];
      top = std::max(top, message_out.values[s]);
    }
    if (top > 1e150) {  // counts past any double: go on in units of a power of two
      const int exponent = std::ilogb(top);
      for (double& value : message_out.values) value = std::ldexp(value, -exponent);
      log_scale += exponent * std::log(2.0);
    }
    if (options.list) {
      Bucket bucket{player, scope, std::vector<char>(table.size())};
      for (std::size_t s = 0; s < table.size(); ++s) bucket.possible[s] = table[s] > 0;
      buckets.push_back(std::move(bucket));
    }
    if (message_out.scope.empty()) {
      total *= message_out.values[0];
      if (total > 1e150) {
        const int exponent = std::ilogb(total);
        total = std::ldexp(total, -exponent);
        log_scale += exponent * std::log(2.0);
      }
    } else {
      others.push_back(std::move(message_out));
    }
    factors = std::move(others);
  }
  result.log_count = std::log(total) + log_scale;
  result.count = log_scale == 0 ? total : std::exp(result.log_count);
  result.listed = options.list && result.count <= options.max_list;
  if (result.listed) {
    if (result.count > 0) list_states(buckets, n, result.states, monitor);
  }
}

}  // namespace granary::graph
