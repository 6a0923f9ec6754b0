// What surrounds the search for a linear causal DAG: moments of incomplete or noisy data, coefficients, pruning, simulation.
#pragma once

#include <string>
#include <vector>

#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "core/random/rng.h"
#include "core/base/types.h"

namespace granary::graph {

// Second moments about the means of what was observed; NaN marks a missing value.
//   mcar       z_ij = x_ij - mean_j, 0 where missing; Z'Z/n divided by 1 - a_j on and by (1 - a_j)(1 - a_k) off the diagonal
//   (Loh,
//              Buehlmann 2014, equation 31, with the share a_j missing in column j instead of a common one)
//   pairwise   means of the products over the rows in which both were observed
enum class MissingMoments { mcar, pairwise };
inline Names<MissingMoments> names(MissingMoments) { return {{MissingMoments::mcar, "mcar"}, {MissingMoments::pairwise, "pairwise"}}; }
MatrixXd incomplete_moments(ConstMatrixRef x, bool pairwise);

struct ArcFit {
  int from, to;
  double coefficient, se;
};
template <class V>
void fields(V& v, ArcFit& t) {
  v("from", positions(t.from));
  v("to", positions(t.to));
  v("coefficient", t.coefficient);
  v("se", t.se);
}
struct DagFit {
  std::vector<ArcFit> arcs;  // by `to`, then `from`
  VectorXd residual;         // variances, divisor n
};
template <class V>
void fields(V& v, DagFit& t) {
  v("arcs", columns(t.arcs));
  v("residual", t.residual);
}
// Least squares from the covariance; standard errors for n observations (NaN where n is 0 or too small).
DagFit fit_dag(ConstMatrixRef g, const std::vector<std::vector<int>>& parents, int n);

// The second step of the paper: given the order of the DAG found, which contains the true one, superfluous parents are dropped.
//   t_test   backward, the parent with the largest p-value above alpha first
//   bic      best subset of log residual variance + log(n)/n per parent
//   lasso    the support on the lasso path that is best by the same criterion after refitting
enum class PruneRule { t_test, bic, lasso, none };
inline Names<PruneRule> names(PruneRule) {
  return {{PruneRule::t_test, "ttest"}, {PruneRule::bic, "bic"}, {PruneRule::lasso, "lasso"}, {PruneRule::none, "none"}};
}
std::vector<int> prune_parents(ConstMatrixRef g, int n, int node, const std::vector<int>& parents,
                               const std::vector<int>& required, PruneRule rule, double alpha, Monitor& monitor);

// Rows of x_j = sum_i b_ij x_i + e_j; `errors` is "normal", "uniform", "laplace" or "t" (with df > 2), each scaled to standard
// deviation sd_j.
MatrixXd simulate_sem(ConstMatrixRef b, ConstVectorRef sd, int n, const std::string& errors, double df, Rng& rng);

enum class ErrorLaw { normal, uniform, laplace, t };
inline Names<ErrorLaw> names(ErrorLaw) {
  return {{ErrorLaw::normal, "normal"}, {ErrorLaw::uniform, "uniform"}, {ErrorLaw::laplace, "laplace"}, {ErrorLaw::t, "t"}};
}
struct SimSemOptions {
  int n = 1;
  VectorXd sd;
  ErrorLaw errors = ErrorLaw::normal;
  double df = 5;
  double noise = 0;    // variance of what is added to every value
  double missing = 0;  // share of values that are made NaN
};
template <class V>
void fields(V& v, SimSemOptions& t) {
  v("n", t.n);
  v("sd", t.sd);
  v("errors", t.errors);
  v("df", t.df);
  v("noise", t.noise);
  v("missing", t.missing);
}
MatrixXd simulate_sem(ConstMatrixRef b, const SimSemOptions& options, Rng& rng);

// (I - B)^-1: entry (i, j) is the total effect of a unit intervention on i on j.
MatrixXd total_effects(ConstMatrixRef b);

}  // namespace granary::graph
