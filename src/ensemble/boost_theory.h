// What can be boosted, and what boosting promises.
//
// Conditions on a pool H of m x |H| answers, for P_i(l) = sum_h lambda_h 1[h(x_i) = l]; each a matrix game solved by linear programming:
//   mr       M = max_lambda min_{i, l != y_i} P_i(y_i) - P_i(l)     boostable if and only if M > 0; gamma = M / 2
//   samme    V = max_lambda min_i P_i(y_i)                          gamma = (V - 1/k) / (1 - 1/k): necessary, not sufficient
//   m1       the same, and AdaBoost.MH                              gamma = 2 V - 1: sufficient, not necessary
//   uniform  u = min_lambda max_{i, l != y_i} P_i(l)                gamma = 1 - k u: sufficient
//   baseline max_lambda min_{i, l != y_i} B(i, l) - P_i(l)          met if not negative
// Mukherjee and Schapire (NIPS 2010), by the minimax theorem from their (2).
//
// Bounds by margins: Raetsch and Warmuth (JMLR 2005).
#pragma once

#include <vector>

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "core/base/types.h"
#include "core/optim/lp.h"

namespace granary::ensemble {

struct ConditionResult {
  double value = 0, gamma = 0;
  VectorXd lambda;     // over the pool
  MatrixXd cost;       // m x k: the hardest costs, those of a wrong label over their sum
  double gap = 0;      // of the game
};
template <class V>
void fields(V& v, ConditionResult& t) {
  v("value", t.value);
  v("gamma", t.gamma);
  v("lambda", t.lambda);
  v("cost", t.cost);
  v("gap", t.gap);
}

enum class Condition { mr, samme, m1, uniform, baseline };
inline Names<Condition> names(Condition) {
  return {{Condition::mr, "mr"}, {Condition::samme, "samme"}, {Condition::m1, "m1"}, {Condition::uniform, "uniform"}, {Condition::baseline, "baseline"}};
}

// answers: m x |H| classes from 0; baseline: m x k, for Condition::baseline.
ConditionResult check_condition(Condition condition, ConstMatrixRef answers, const VectorXi& y, int k, const MatrixXd& baseline, Monitor& monitor);

struct MarginGame {
  double value = 0;      // of the answer: its smallest margin
  double upper = 0;      // no combination has more
  VectorXd alpha, d;
  Convergence convergence;
};
template <class V>
void fields(V& v, MarginGame& t) {
  v("value", t.value);
  v("upper", t.upper);
  v("alpha", t.alpha);
  v("d", t.d);
  v("convergence", t.convergence);
}
// max_alpha min_i (U alpha)_i over distributions alpha: by linear programming, or by AdaBoost*_nu until the gap is at most nu.
MarginGame margin_game(ConstMatrixRef u, bool lp, double nu, int max_iter, Monitor& monitor);

// (1 + a)/2 log((1 + a)/(1 + b)) + (1 - a)/2 log((1 - a)/(1 - b))
double binary_divergence(double a, double b);

// Log of the bound on the share of rows with margin at most theta, from edges and targets.
double margin_share_bound(ConstVectorRef edge, ConstVectorRef target, double theta);

// The margin that AdaBoost_rho reaches in the limit when all edges are at least g; with shrinkage eta (the limit eta -> 0 is g).
double limit_margin(double g, double rho, double eta);

// Rounds that do: 2 log N / nu^2 for star, log N / -log(1 - nu^2 / (2 (1 - rho^2))) for a fixed target 0 <= rho <= best - nu.
double star_rounds(double n, double nu);
double target_rounds(double n, double nu, double rho);

// One word for each, for the door. edge, other, numbers:
//   contraction  edges, steps: factor of each round | step  edges: best step of each | error  edges, steps or none: log of the bound on the training error
//   share  edges, targets, theta | limit  edges, targets, shrinkage | rounds  (N, nu) | target_rounds  (N, nu, rho)
enum class BoostBound { contraction, step, error, share, limit, rounds, target_rounds };
inline Names<BoostBound> names(BoostBound) {
  return {{BoostBound::contraction, "contraction"}, {BoostBound::step, "step"},     {BoostBound::error, "error"},
          {BoostBound::share, "share"},             {BoostBound::limit, "limit"},   {BoostBound::rounds, "rounds"},
          {BoostBound::target_rounds, "target_rounds"}};
}
VectorXd boost_bound(BoostBound what, int k, ConstVectorRef edge, ConstVectorRef other, const std::vector<double>& numbers);

}  // namespace granary::ensemble
