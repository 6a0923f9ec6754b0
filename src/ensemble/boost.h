// Boosting: weighted votes of weak answers, for any number of classes (boost_votes.cpp) and for the margin of two (boost_margin.cpp).
//
// Votes, f(i, l) = sum_t alpha_t 1[h_t(x_i) = l]. Each round the weak learner makes sum_i C(i, h(x_i)) small.
//   adaptive    w(i, l) = exp(f(i, l) - f(i, y_i)), C = w off the right label and minus the row's sum on it; gamma = - sum_i C(i, h(x_i)) / sum w,
//               alpha = 1/2 log((1 + gamma) / (1 - gamma)), or the exact minimum of W_0 + W_+ e^-a + W_- e^a.     Loss <= (k - 1) prod sqrt(1 - gamma^2)
//   fixed_edge  C = rise of the exponential loss with alpha = eta fixed, of each round its own if so given.         Loss <= (k - 1) prod phi(gamma, eta)
//   minimax01   C(i, l) = Phi_{T-r}(s_i + e_l), the exact potential of the 0-1 loss (ensemble/potential.h).        Error <= Phi_T(0)
//   m2          AdaBoost.M2, AdaBoost.MR: as adaptive, but an answer is a set of labels, whose costs add up. For answers of one label the same
//   m1, samme, mh   AdaBoost.M1, SAMME, and AdaBoost.MH with answers of one label, or (`sets`) of any
// Mukherjee and Schapire (NIPS 2010). The edge of each is the one its own condition asks to be positive.
//
// Margins, two classes, h in [-1, 1]: min_i y_i f(x_i) for f = sum alpha_t h_t / sum alpha_t, by AdaBoost towards targets rho_t,
//   alpha_t = atanh(gamma_t) - atanh(rho_t),   d_i <- d_i exp(-alpha_t y_i h_t(x_i)) / Z_t
//   adaboost 0 | rho: fixed | star: min_r gamma_r - nu | arc_gv: best margin yet | coordinate_ascent: smooth margin | marginal: bisection | two_pass: star, then rho
//   lpboost     max_alpha min_i over the answers so far by linear programming, until no answer has a larger edge
// Raetsch and Warmuth (JMLR 2005). For answers of the largest edge the smallest edge is never below, the margin never above, the best margin there is.
#pragma once

#include <algorithm>

#include "core/base/convergence.h"
#include "ensemble/weak_learner.h"

namespace granary::ensemble {

enum class BoostMethod { adaptive, m2, fixed_edge, minimax01, m1, samme, mh, star, adaboost, rho, arc_gv, marginal, coordinate_ascent, two_pass, lpboost };
inline Names<BoostMethod> names(BoostMethod) {
  return {{BoostMethod::adaptive, "adaptive"}, {BoostMethod::m2, "m2"}, {BoostMethod::fixed_edge, "fixed_edge"}, {BoostMethod::minimax01, "minimax01"}, {BoostMethod::m1, "m1"},
          {BoostMethod::samme, "samme"},       {BoostMethod::mh, "mh"},                 {BoostMethod::star, "star"},           {BoostMethod::adaboost, "adaboost"},
          {BoostMethod::rho, "rho"},           {BoostMethod::arc_gv, "arc_gv"},         {BoostMethod::marginal, "marginal"},
          {BoostMethod::coordinate_ascent, "coordinate_ascent"},                        {BoostMethod::two_pass, "two_pass"},   {BoostMethod::lpboost, "lpboost"}};
}
inline bool by_margin(BoostMethod m) { return m >= BoostMethod::star; }

enum class BoostStep { paper, exact };
inline Names<BoostStep> names(BoostStep) { return {{BoostStep::paper, "paper"}, {BoostStep::exact, "exact"}}; }

// Of a pool: the largest edge, the smallest that is still at least the best margin of the pool, or a random one of those.
enum class BoostSelection { best, worst, random };
inline Names<BoostSelection> names(BoostSelection) { return {{BoostSelection::best, "best"}, {BoostSelection::worst, "worst"}, {BoostSelection::random, "random"}}; }

enum class BoostEnd { rounds, no_edge, perfect, gap, settled, repeated };
inline Names<BoostEnd> names(BoostEnd) {
  return {{BoostEnd::rounds, "rounds"}, {BoostEnd::no_edge, "no_edge"}, {BoostEnd::perfect, "perfect"},
          {BoostEnd::gap, "gap"},       {BoostEnd::settled, "settled"}, {BoostEnd::repeated, "repeated"}};
}

struct BoostOptions {
  VectorXi levels;  // of the columns (core/tree/tree_columns.h)
  int classes = 2;
  BoostMethod method = BoostMethod::adaptive;
  BoostStep step = BoostStep::paper;
  LearnerKind learner = LearnerKind::tree;
  int n_rounds = 500;
  int max_leaves = 5;
  int min_leaf = 1;
  double shrinkage = 1;
  std::vector<double> edge{0.1};  // fixed_edge, minimax01: gamma of the baseline; one, or for fixed_edge one per round
  std::vector<double> eta;        // fixed_edge: the same; empty for the best of the edge
  bool sets = false;              // mh: answers of several labels
  int n_draws = 0;                // minimax01: potentials by so many random votes; 0: exactly
  double rho = 0;     // rho: the target
  double nu = 0;      // margins: the precision; 0 for sqrt(2 log N / T)
  double tol = 0;     // margins: stop at a gap below; 0 for none, lpboost 1e-9
  bool line_search = false;
  BoostSelection selection = BoostSelection::best;
  int threads = 1;
};
template <class V>
void fields(V& v, BoostOptions& t) {
  v("levels", t.levels);
  v("classes", t.classes);
  v("method", t.method);
  v("step", t.step);
  v("learner", t.learner);
  v("n_rounds", t.n_rounds);
  v("max_leaves", t.max_leaves);
  v("min_leaf", t.min_leaf);
  v("shrinkage", t.shrinkage);
  v("edge", t.edge);
  v("eta", t.eta);
  v("sets", t.sets);
  v("n_draws", t.n_draws);
  v("rho", t.rho);
  v("nu", t.nu);
  v("tol", t.tol);
  v("line_search", t.line_search);
  v("selection", t.selection);
  v("threads", t.threads);
}

struct BoostResult {
  Trees trees;
  std::vector<int> picks;       // which tree, member of the pool or custom answer stands at each round
  std::vector<double> alpha;
  // by round
  std::vector<double> edge, loss, bound, error;  // loss and bound as logarithms (margins: bound on the share of rows without positive margin)
  std::vector<double> target, margin, upper;     // margins: rho_t, the smallest margin, and the smallest edge yet
  VectorXd importance;          // trees: what the splits of a column save, over rounds, as a share of all
  MatrixXd score;               // rows x classes: votes over their sum
  VectorXd weights;             // of the rows, after the last round
  VectorXd best_weights;        // margins: those of the smallest edge (inside the core only)
  VectorXd margins;             // of the rows: right label's share less the best other's
  double lower = Convergence::unknown, upper_bound = Convergence::unknown;  // margins: the certificate
  bool exact = false;           // every answer had the largest edge: the upper bound holds
  double nu = 0;                // as used
  int below = 0;                // fixed_edge, minimax01: rounds whose edge was below the one asked for
  std::vector<double> run_rho, run_lower, run_upper;  // marginal, two_pass: the runs
  std::vector<int> run_rounds;
  BoostEnd end = BoostEnd::rounds;
  Convergence convergence;
};
template <class V>
void fields(V& v, BoostResult& t) {
  v("trees", t.trees);
  v("picks", positions(t.picks));
  v("alpha", t.alpha);
  v("edge", t.edge);
  v("loss", t.loss);
  v("bound", t.bound);
  v("error", t.error);
  v("target", t.target);
  v("margin", t.margin);
  v("upper", t.upper);
  v("importance", t.importance);
  v("score", t.score);
  v("weights", t.weights);
  v("margins", t.margins);
  v("lower", t.lower);
  v("upper_bound", t.upper_bound);
  v("exact", t.exact);
  v("nu", t.nu);
  v("below", t.below);
  v("run_rho", t.run_rho);
  v("run_lower", t.run_lower);
  v("run_upper", t.run_upper);
  v("run_rounds", t.run_rounds);
  v("end", t.end);
  v("convergence", t.convergence);
}

// y: classes from 0. weights: of the rows, empty for equal. For a pool x holds its answers: classes from 0, or numbers in [-1, 1] (towards class 1) where boosting
// is by margins. answer: for custom learners.
BoostResult boost(const Design& x, ConstVectorRef y, ConstVectorRef weights, const BoostOptions& options, const CustomAnswer& answer, Rng& rng, Monitor& monitor);

// The two halves.
BoostResult boost_votes(const Design& x, ConstVectorRef y, ConstVectorRef weights, const BoostOptions& options, const CustomAnswer& answer, Rng& rng, Monitor& monitor);
BoostResult boost_margin(const Design& x, ConstVectorRef y, ConstVectorRef weights, const BoostOptions& options, const CustomAnswer& answer, Rng& rng, Monitor& monitor);

// What both end with: importance of the columns, by the gains of the trees relative to the costs of their rounds.
VectorXd vote_importance(const Trees& trees, const std::vector<double>& alpha, const std::vector<double>& scales);

// Of equal votes the first class wins.
inline Index first_largest(const double* votes, Index k) { return std::max_element(votes, votes + k) - votes; }

// Trees that part all rows alike and answer alike are kept once: `picks` says which stands at each round.
void merge_trees(BoostResult& out);

// The rounds of a boosted machine of trees.
struct BoostRounds {
  VectorXd alpha;
  std::vector<int> picks;  // tree of each round
};
template <class V>
void fields(V& v, BoostRounds& t) {
  v("alpha", t.alpha);
  v("picks", positions(t.picks));
}

// Shares of the votes, rows x classes, after the rounds given; and the class of every row after each of the first `last` rounds
// (from 0, rows x rounds).
MatrixXd boost_score(const Design& x, const Trees& trees, const BoostRounds& rounds, int last, int threads, Monitor& monitor);
Eigen::MatrixXi boost_staged(const Design& x, const Trees& trees, const BoostRounds& rounds, int last, int threads, Monitor& monitor);
// The same from answers, rows x rounds: classes from 0, or numbers in [-1, 1] where `real`.
MatrixXd answer_score(ConstMatrixRef answers, ConstVectorRef alpha, int classes, bool real, int last);
Eigen::MatrixXi answer_staged(ConstMatrixRef answers, ConstVectorRef alpha, int classes, bool real, int last);

}  // namespace granary::ensemble
