// Learning a linear influence game from observed joint actions by convex losses.
//
//   minimise  (1/m) sum_l loss(z_l) + rho sum_{i != j} |w_ij|     (or rho ||W||_F^2),   z_li = x_li f_i(x_l) = x_li (w_i'x_l -
//   b_i)
//
//   simultaneous logistic   log(1 + sum_i exp(-z_i))          independent logistic   sum_i log(1 + exp(-z_i))
//   simultaneous hinge      max(0, max_i (1 - z_i))           independent hinge      sum_i max(0, 1 - z_i)
//
// Honorio (PhD thesis, Stony Brook 2012), section 7.6. All four are limits of mu log(1 + sum exp((c - z) / mu)): mu = 1, c = 0
// the logistic ones, mu -> 0, c = 1 the hinges. With weights a_li >= 0 (sum_i a_li <= 1, or each a_li <= 1) the dual is
//
//   maximise (1/m) sum_l (entropy of a_l, or sum_i a_li)  subject to  sum_l a_li x_li = 0,  |(1/m) sum_l a_li x_li x_lj| <= rho,
//
// (the player's index is lost in the printed dual); a fit's own weights, balanced and shrunk, are such a point: the duality gap.
//
// A player who never changes has no finite threshold: its term vanishes in the limit. Such players are left out of the loss and
// keep w_i = 0, b_i = -x_i.
#pragma once

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "core/random/rng.h"
#include "graph/game_equilibria.h"

namespace granary::graph {

enum class GameLoss { simultaneous_logistic, independent_logistic, simultaneous_hinge, independent_hinge };
inline Names<GameLoss> names(GameLoss) {
  return {{GameLoss::simultaneous_logistic, "sl"},
          {GameLoss::independent_logistic, "il"},
          {GameLoss::simultaneous_hinge, "ss"},
          {GameLoss::independent_hinge, "is"}};
}

struct GameFitOptions {
  GameLoss loss = GameLoss::simultaneous_logistic;
  double rho = 0.02;
  bool ridge = false;
  MatrixXd mask;            // ones where w_ij may differ from zero; empty: everywhere off the diagonal
  double tol = 1e-7;        // gap relative to the loss at zero weights
  double hinge_tol = 1e-3;  // the same, for hinge losses too large for a linear program
  int max_iter = 5000;
  double max_program = 1600;  // coefficients of one linear or quadratic program; beyond, the hinge is smoothed
};
template <class V>
void fields(V& v, GameFitOptions& t) {
  v("loss", t.loss);
  v("lambda", t.rho);
  v("ridge", t.ridge);
  v("mask", t.mask);
  v("tol", t.tol);
  v("hinge_tol", t.hinge_tol);
  v("max_iter", t.max_iter);
  v("max_program", t.max_program);
}

struct GameFit {
  Game game;
  double loss = 0, objective = 0;
  bool program = false;     // whether linear or quadratic programs gave the answer
  Convergence convergence;  // gap: duality gap; residual: gap relative to the loss at zero weights
};
template <class V>
void fields(V& v, GameFit& t) {
  fields(v, t.game);
  v("loss", t.loss);
  v("objective", t.objective);
  v("program", t.program);
  v("convergence", t.convergence);
}

GameFit fit_game(ConstMatrixRef x, const GameFitOptions& options, Monitor& monitor);

// The (unpenalised) loss of a game.
double game_loss(ConstMatrixRef x, const Game& game, GameLoss loss);

// Sigmoidal stand-ins for the likelihood, section 7.5: H(z) = (1 + tanh(z / beta - atanh(1 - 2 alpha^(1/n)))) / 2 for 1[z >= 0].
//   s2: maximise mean_l prod_i H(z_li) - rho |W|_1;   s1: the log-likelihood with both proportions smoothed, n <= 15.
// Not convex: the best of several starts.
struct SigmoidOptions {
  bool likelihood = false;  // s1
  double rho = 0.01, alpha = 0.1, beta = 0.001;
  int starts = 5, max_iter = 500;
};
template <class V>
void fields(V& v, SigmoidOptions& t) {
  v("likelihood", t.likelihood);
  v("lambda", t.rho);
  v("alpha", t.alpha);
  v("beta", t.beta);
  v("n_starts", t.starts);
  v("max_iter", t.max_iter);
}
GameFit fit_sigmoid(ConstMatrixRef x, const SigmoidOptions& options, Rng& rng, Monitor& monitor);

}  // namespace granary::graph
