// Maximum likelihood for influence games without a convex stand-in.
//
// A game with equilibria NE and mixture weight q gives p(x) = q / |NE| on NE and (1 - q) / (2^n - |NE|) off it (the uniform law
// when NE is empty or everything). With pi = |NE| / 2^n and pihat the share of the rows in NE the mean log-likelihood is
//
//   KL(pihat || pi) - KL(pihat || q) - n log 2      (Bernoulli divergences),   q = min(pihat, 1 - 1 / (2m))
//
// Honorio (PhD thesis, Stony Brook 2012), sections 7.3 and 7.4: Algorithm 7.1 for games of any form, and all linear games for n
// <= 4.
#pragma once

#include <cstdint>

#include "graph/game_losses.h"

namespace granary::graph {

// `log_count` = log |NE|, -infinity for none. n log 2 negated for a trivial game.
double game_log_likelihood(int n, double log_count, double share, double q);
double mixture_weight(double share, Index rows);  // q above

struct SamplePicking {
  std::vector<Index> row;         // first row showing each state, most frequent first (ties: earlier row first)
  std::vector<double> frequency;  // of those states
  Index picked = 0;               // how many of them are the equilibria
  double share = 0, q = 0, log_likelihood = 0;
  std::vector<double> path;  // log-likelihood with the k most frequent states
};
template <class V>
void fields(V& v, SamplePicking& t) {
  v("row", positions(t.row));
  v("frequency", t.frequency);
  v("picked", t.picked);
  v("share", t.share);
  v("q", t.q);
  v("log_likelihood", t.log_likelihood);
  v("path", t.path);
}
SamplePicking sample_picking(ConstMatrixRef x);

// All sets of equilibria that linear games of n <= 4 players can have, as 2^n-bit masks (state s in bit s), with one game each.
struct LinearGames {
  std::vector<std::uint32_t> sets;
  std::vector<Game> games;
};
LinearGames linear_games(int n, Monitor& monitor);

struct ExhaustiveFit {
  Game game;
  double log_likelihood = 0;
  double sets = 0;  // how many were compared
};
template <class V>
void fields(V& v, ExhaustiveFit& t) {
  fields(v, t.game);
  v("log_likelihood", t.log_likelihood);
  v("sets", t.sets);
}
ExhaustiveFit fit_exhaustive(ConstMatrixRef x, Monitor& monitor);

}  // namespace granary::graph
