// Linear influence games and their pure-strategy Nash equilibria.
//
//   player i chooses x_i in {-1, +1};   f_i(x) = sum_{j != i} w_ij x_j - b_i;   x is an equilibrium iff x_i f_i(x) >= 0 for all i
//
// Indifferent players (f_i = 0) are content with either action. Honorio (PhD thesis, Stony Brook 2012), section 7.2. Three ways
// to find the equilibria, which is NP-hard in general:
//   gray         all 2^n joint actions, one flip at a time, blocks started afresh so that rounding cannot pile up: n <= 26
//   elimination  variable elimination on the graph that joins each player with those who influence it: O(n 2^width), any n
//   search       depth first, pruned where an assigned player cannot be content any more; stops at a limit of nodes
#pragma once

#include <vector>

#include "core/graph/bitset.h"
#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary::graph {

struct Game {
  MatrixXd w;  // zero diagonal; row i holds what moves player i
  VectorXd b;  // thresholds
};
template <class V>
void fields(V& v, Game& t) {
  v("W", t.w);
  v("b", t.b);
}
void check(const Game& game);  // require_game(), for games that come from R

enum class EquilibriumMethod { automatic, gray, elimination, search };
inline Names<EquilibriumMethod> names(EquilibriumMethod) {
  return {{EquilibriumMethod::automatic, "auto"},
          {EquilibriumMethod::gray, "gray"},
          {EquilibriumMethod::elimination, "elimination"},
          {EquilibriumMethod::search, "search"}};
}

struct EquilibriumOptions {
  EquilibriumMethod method = EquilibriumMethod::automatic;
  double tie_tol = 1e-9;  // |f_i| below this share of |w_i|_1 + |b_i| is a tie
  double epsilon = 0;     // also x_i f_i >= -epsilon: approximate equilibria
  bool list = true;
  double max_list = 1e6;   // more equilibria than this are counted, not listed
  double max_nodes = 1e8;  // of a search
  int max_gray = 26, max_width = 20;
  int threads = 1;
};
template <class V>
void fields(V& v, EquilibriumOptions& t) {
  v("method", t.method);
  v("tie_tol", t.tie_tol);
  v("epsilon", t.epsilon);
  v("list", t.list);
  v("max_list", t.max_list);
  v("max_nodes", t.max_nodes);
  v("max_n", t.max_gray);
  v("threads", t.threads);
}

struct Equilibria {
  EquilibriumMethod method = EquilibriumMethod::gray;  // what was used
  double count = 0;                                    // exact up to 2^53
  double log_count = 0;                                // -infinity for none
  std::vector<Bitset> states;                          // increasing; bit i set: x_i = +1. Empty when not listed
  bool listed = false;
  double ties = Convergence::unknown;  // indifferent players summed over the listed equilibria
  int width = -1;                      // of the elimination order, where one was made
  double seconds = 0;
};
MatrixXd state_rows(const Equilibria& found, Index players);  // one row of -1, +1 per state

void require_game(ConstMatrixRef w, ConstVectorRef b);

Equilibria find_equilibria(const Game& game, const EquilibriumOptions& options, Monitor& monitor);

// The width of elimination: exact counting costs about n 2^width.
int game_width(const Game& game, Monitor& monitor);

// Which rows of x (-1, +1) are equilibria.
std::vector<char> equilibrium_rows(const Game& game, ConstMatrixRef x, double tie_tol, double epsilon);

// f_i(x) for every row and player.
MatrixXd game_payoffs(const Game& game, ConstMatrixRef x);

}  // namespace granary::graph
