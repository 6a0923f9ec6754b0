#include "graph/game_equilibria.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/graph/elimination.h"
#include "core/base/errors.h"
#include "core/graph/graph.h"
#include "core/base/parallel.h"
#include "core/random/rng.h"
#include "graph/game_elimination.h"

namespace granary::graph {

namespace {

VectorXd slack_of(const Game& game, const EquilibriumOptions& options) {
  return (options.tie_tol * (game.w.cwiseAbs().rowwise().sum() + game.b.cwiseAbs())).array() + options.epsilon;
}

VectorXd payoffs_at(const Game& game, std::uint64_t mask) {
  VectorXd x(game.b.size());
  for (Index i = 0; i < x.size(); ++i) x[i] = mask >> i & 1 ? 1 : -1;
  return game.w * x - game.b;
}

Bitset from_mask(std::uint64_t mask, int n) {
  Bitset set(n);
  for (int i = 0; i < n; ++i) set.set(i, mask >> i & 1);
  return set;
}

void gray(const Game& game, const EquilibriumOptions& options, Equilibria& result, Monitor& monitor) {
  const int n = static_cast<int>(game.b.size());
  const VectorXd slack = slack_of(game, options);
  const int low = std::min(n, 14);
  const Index blocks = Index{1} << (n - low);
  std::vector<std::vector<std::uint64_t>> found(blocks);
  std::vector<double> count(blocks, 0);
  const MatrixXd twice = 2 * game.w;
  parallel_for(blocks, options.threads, monitor, [&](Index block) {
    std::uint64_t mask = static_cast<std::uint64_t>(block) << low;
    VectorXd f = payoffs_at(game, mask);
    // The walk compares in units where a discontent player shows as x_i f_i + slack_i < 0; rounding within a block of 2^14 flips
    // stays below 2^14 * 2^-53 of the row scale, far under any useful tie tolerance.
    int suspect = 0;  // who was discontent last is likely to be so again
    double here = 0;
    const auto discontent = [&](int i) { return mask >> i & 1 ? f[i] < -slack[i] : f[i] > slack[i]; };
    for (std::uint64_t step = 1;; ++step) {
      bool stable = !discontent(suspect);
      for (int i = 0; stable && i < n; ++i) {
        if (discontent(i)) {
          suspect = i;
          stable = false;
        }
      }
      if (stable) {
        ++here;
        if (options.list && here <= options.max_list) found[block].push_back(mask);
      }
      if (step >> low) break;
      const int flip = __builtin_ctzll(step);
      mask ^= std::uint64_t{1} << flip;
      if (mask >> flip & 1) {
        f += twice.col(flip);
      } else {
        f -= twice.col(flip);
      }
    }
    count[block] = here;
  });
  for (const double here : count) result.count += here;
  result.listed = options.list && result.count <= options.max_list;
  if (result.listed) {
    for (auto& part : found) {
      for (const std::uint64_t mask : part) result.states.push_back(from_mask(mask, n));
    }
  }
}

// Depth first: `low` and `high` bound f_i over what the players still free may do.
class Search {
 public:
  Search(const Game& game, const EquilibriumOptions& options, Equilibria& result, Monitor& monitor)
      : game_(game), options_(options), result_(result), monitor_(monitor), slack_(slack_of(game, options)) {
    const int n = static_cast<int>(game.b.size());
    order_.resize(n);
    VectorXd degree(n);
    for (int i = 0; i < n; ++i) {
      order_[i] = i;
      degree[i] = static_cast<double>((game.w.row(i).array() != 0).count() + (game.w.col(i).array() != 0).count());
    }
    std::stable_sort(order_.begin(), order_.end(), [&](int a, int b) { return degree[a] > degree[b]; });
    reach_ = game.w.cwiseAbs().rowwise().sum();
    low_ = -game.b - reach_;
    high_ = -game.b + reach_;
    x_ = VectorXd::Zero(n);
  }

  void run() {
    result_.listed = options_.list;
    descend(0);
    if (!result_.listed) result_.states.clear();
  }

 private:
  bool possible(int i) const {
    // Twice the slack: the bounds carry rounding, the last word is with the test at the leaf.
    const double room = 2 * slack_[i] + 1e-12 * (reach_[i] + std::abs(game_.b[i]));
    if (x_[i] > 0) return high_[i] >= -room;
    if (x_[i] < 0) return low_[i] <= room;
    return true;
  }

  void descend(std::size_t depth) {
    if (static_cast<double>(++nodes_) > options_.max_nodes) refuse(message("stopped after ", options_.max_nodes, " nodes"));
    if (nodes_ == probe_after && options_.max_nodes > 2.0 * probe_after) refuse_hopeless();
    if (nodes_ % 4096 == 0) monitor_.check();
    if (depth == order_.size()) {
      const VectorXd f = game_.w * x_ - game_.b;
      for (Index i = 0; i < f.size(); ++i) {
        if (x_[i] * f[i] < -slack_[i]) return;
      }
      ++result_.count;
      if (result_.count > options_.max_list) result_.listed = false;
      if (result_.listed) {
        Bitset state(static_cast<int>(x_.size()));
        for (int i = 0; i < state.size(); ++i) state.set(i, x_[i] > 0);
        result_.states.push_back(state);
      }
      return;
    }
    const int k = order_[depth];
    for (const double action : {-1.0, 1.0}) {
      const VectorXd low = low_, high = high_;
      if (assign(k, action)) descend(depth + 1);
      low_ = low;
      high_ = high;
      x_[k] = 0;
    }
  }

  // Player k takes an action; false where somebody assigned cannot be content any more.
  bool assign(int k, double action) {
    x_[k] = action;
    bool alive = true;
    for (Index i = 0; i < x_.size(); ++i) {
      const double w = game_.w(i, k);
      if (w == 0) continue;
      low_[i] += std::abs(w) + w * action;
      high_[i] -= std::abs(w) - w * action;
      alive = alive && possible(static_cast<int>(i));
    }
    return alive && possible(k);
  }

  // Knuth (1975): a random way down, each node counted as often as the branchings above it allow, has the size of the tree as its
  // mean. A search that would end well beyond its limit ends here, after a second and not after minutes.
  void refuse_hopeless() {
    const VectorXd low = low_, high = high_, x = x_;
    Rng rng(1);
    double total = 0;
    int large = 0;
    constexpr int dives = 2000;
    for (int dive = 0; dive < dives; ++dive) {
      low_ = -game_.b - reach_;
      high_ = -game_.b + reach_;
      x_.setZero();
      double weight = 1, nodes = 1;
      for (const int k : order_) {
        const VectorXd below = low_, above = high_;
        bool alive[2];
        for (int side = 0; side < 2; ++side) {
          alive[side] = assign(k, side == 0 ? -1 : 1);
          low_ = below;
          high_ = above;
          x_[k] = 0;
        }
        const int branches = alive[0] + alive[1];
        if (branches == 0) break;
        weight *= branches;
        nodes += weight;
        assign(k, branches == 2 ? (rng.uniform() < 0.5 ? -1 : 1) : (alive[0] ? -1 : 1));
      }
      total += nodes;
      large += nodes > options_.max_nodes;
    }
    low_ = low;
    high_ = high;
    x_ = x;
    // Several dives must agree, since one lucky dive can make the mean of a small tree large.
    if (total / dives > 2 * options_.max_nodes && large >= 10) {
      refuse(message("would take about ", total / dives, " nodes, and `max_nodes` is ", options_.max_nodes));
    }
  }

  [[noreturn]] void refuse(const std::string& why) const {
    throw NumericalError(message(
        "the search for equilibria of ", x_.size(), " players ", why, ", with ", result_.count,
        " equilibria found so far. The game is too dense to enumerate: raise `max_nodes`, "
        "make the game sparser (a larger lambda), or use what needs no enumeration: game_equilibria(what = \"test\"), predict(), influence()."));
  }

  static constexpr std::uint64_t probe_after = 500000;

  const Game& game_;
  const EquilibriumOptions& options_;
  Equilibria& result_;
  Monitor& monitor_;
  VectorXd slack_, reach_, low_, high_, x_;
  std::vector<int> order_;
  std::uint64_t nodes_ = 0;
};

}  // namespace

void require_game(ConstMatrixRef w, ConstVectorRef b) {
  if (w.rows() != w.cols() || w.rows() != b.size() || w.rows() == 0) {
    throw InputError(message("the weights must be a square matrix with one row per threshold: got ", w.rows(), " x ", w.cols(),
                             " and ", b.size(), " thresholds."));
  }
  if (!w.allFinite() || !b.allFinite()) throw InputError("weights and thresholds must be finite.");
  if (w.diagonal().cwiseAbs().maxCoeff() != 0)
    throw InputError("weights must have a zero diagonal: players do not influence themselves.");
}

MatrixXd game_payoffs(const Game& game, ConstMatrixRef x) {
  MatrixXd f = x * game.w.transpose();
  f.rowwise() -= game.b.transpose();
  return f;
}

std::vector<char> equilibrium_rows(const Game& game, ConstMatrixRef x, double tie_tol, double epsilon) {
  EquilibriumOptions options;
  options.tie_tol = tie_tol;
  options.epsilon = epsilon;
  const VectorXd slack = slack_of(game, options);
  const MatrixXd z = game_payoffs(game, x).cwiseProduct(x);
  std::vector<char> stable(x.rows(), 1);
  for (Index i = 0; i < x.cols(); ++i) {
    for (Index t = 0; t < x.rows(); ++t) {
      if (z(t, i) < -slack[i]) stable[t] = 0;
    }
  }
  return stable;
}

int game_width(const Game& game, Monitor& monitor) {
  const MixedGraph graph = game_graph(game.w);
  return elimination_width(graph, elimination_order(graph, EliminationRule::min_fill, monitor));
}

Equilibria find_equilibria(const Game& game, const EquilibriumOptions& options, Monitor& monitor) {
  require_game(game.w, game.b);
  const Stopwatch watch;
  const int n = static_cast<int>(game.b.size());
  Equilibria result;
  result.method = options.method;
  if (options.method == EquilibriumMethod::automatic) {
    // A table entry of elimination costs about what four flips do.
    result.width = game_width(game, monitor);
    const double gray_cost = n <= options.max_gray ? n : std::numeric_limits<double>::infinity();
    const double width_cost =
        result.width <= options.max_width ? result.width + 3 + std::log2(n) : std::numeric_limits<double>::infinity();
    result.method = std::isinf(gray_cost) && std::isinf(width_cost) ? EquilibriumMethod::search
                    : width_cost < gray_cost                        ? EquilibriumMethod::elimination
                                                                    : EquilibriumMethod::gray;
  }
  if (result.method == EquilibriumMethod::gray) {
    if (n > options.max_gray) {
      throw InputError(message("enumerating all joint actions stops at ", options.max_gray, " players, not ", n,
                               ". Use method = \"elimination\" for a sparse game or \"search\" otherwise."));
    }
    gray(game, options, result, monitor);
    result.log_count = std::log(result.count);
  } else if (result.method == EquilibriumMethod::elimination) {
    eliminate(game, slack_of(game, options), options, result, monitor);
  } else {
    Search(game, options, result, monitor).run();
    result.log_count = std::log(result.count);
  }
  if (result.listed) {
    std::sort(result.states.begin(), result.states.end());
    const VectorXd scale = game.w.cwiseAbs().rowwise().sum() + game.b.cwiseAbs();
    result.ties = 0;
    VectorXd x(n);
    for (const Bitset& state : result.states) {
      for (int i = 0; i < n; ++i) x[i] = state.test(i) ? 1 : -1;
      const VectorXd f = game.w * x - game.b;
      result.ties += static_cast<double>((f.array().abs() <= options.tie_tol * scale.array()).count());
    }
  }
  result.seconds = watch.seconds();
  return result;
}

void check(const Game& game) { require_game(game.w, game.b); }

MatrixXd state_rows(const Equilibria& found, Index players) {
  MatrixXd rows(static_cast<Index>(found.states.size()), players);
  for (Index s = 0; s < rows.rows(); ++s)
    for (Index i = 0; i < players; ++i) rows(s, i) = found.states[static_cast<std::size_t>(s)].test(static_cast<int>(i)) ? 1 : -1;
  return rows;
}

}  // namespace granary::graph
