// How far estimated labels are from the true ones: Yamazaki (JMLR 2014). For a mixture p(x, y | w) that is regular at w, with the score
// s_k(x) = d/dw log p(x, k | w), the memberships r_k(x) and sbar = sum_k r_k s_k,
//
//   I_X = E sbar sbar'      I_Y|X = E sum_k r_k (s_k - sbar)(s_k - sbar)'      I_XY = I_X + I_Y|X
//
// and lambda_i >= 1 the eigenvalues of I_XY I_X^-1, the expected Kullback-Leibler divergence per row between the true law of the labels and
// its estimate is c / n + o(1 / n), with (Tables 2 and 3)
//
//   maximum likelihood, every type     c = 1/2 sum_i (lambda_i - 1)
//   Bayes, all labels (type I)         c = 1/2 sum_i log lambda_i
//   Bayes, a share alpha of them (II', or alpha n future ones, III')   c = 1/(2 alpha) sum_i log(1 + alpha (lambda_i - 1))
//
// The expectation is a weighted sum over points: the data, draws, quadrature nodes, or all cells.
#pragma once

#include <string>
#include <vector>

#include "core/base/monitor.h"
#include "core/infer/emission_gaussian.h"
#include "core/random/rng.h"
#include "latent/em_fit.h"

namespace granary::latent {

enum class LabelLaw { gaussian, poisson, exponential, categorical };
inline Names<LabelLaw> names(LabelLaw) {
  return {{LabelLaw::gaussian, "gaussian"}, {LabelLaw::poisson, "poisson"}, {LabelLaw::exponential, "exponential"}, {LabelLaw::categorical, "categorical"}};
}

struct LabelModel {
  LabelLaw family = LabelLaw::gaussian;
  CovarianceKind covariance = CovarianceKind::full;
  EmParameters parameters;
  std::vector<int> levels;  // categorical
  bool share_known = false, means_known = false, covariance_known = false;
};
template <class V>
void fields(V& v, LabelModel& t) {
  v("family", t.family);
  v("covariance", t.covariance);
  v("parameters", t.parameters);
  v("levels", t.levels);
  v("share_known", t.share_known);
  v("means_known", t.means_known);
  v("covariance_known", t.covariance_known);
}

// Points with the weights of an expectation.
struct LabelPoints {
  MatrixXd x;
  VectorXd weight;  // of sum 1
};
LabelPoints quadrature_points(const LabelModel& model, int nodes = 240);  // Gaussian, one or two columns: in each component
LabelPoints all_cells(const LabelModel& model);                              // categorical
LabelPoints drawn_points(const LabelModel& model, Index n, Rng& rng, Monitor& monitor);

enum class LabelEngine { empirical, monte_carlo, quadrature, exact };
inline Names<LabelEngine> names(LabelEngine) {
  return {{LabelEngine::empirical, "empirical"},
          {LabelEngine::monte_carlo, "monte_carlo"},
          {LabelEngine::quadrature, "quadrature"},
          {LabelEngine::exact, "exact"}};
}
struct LabelOptions {
  LabelEngine engine = LabelEngine::empirical;
  Index n_draws = 100000;
  int nodes = 240;
};
template <class V>
void fields(V& v, LabelOptions& t) {
  v("engine", t.engine);
  v("n_draws", t.n_draws);
  v("nodes", t.nodes);
}

struct LabelFisher {
  MatrixXd observed;   // I_X
  MatrixXd hidden;     // I_Y|X
  VectorXd lambda;     // falling
  MatrixXd vectors;    // directions of the parameters, v' I_X v = 1
  double rcond = 0;    // of I_X scaled to ones on its diagonal
  VectorXd null;       // the direction of its least eigenvalue
  double entropy = 0;  // mean of -sum_k r_k log r_k
  double uncertainty = 0;  // mean of 1 - max_k r_k
};
template <class V>
void fields(V& v, LabelFisher& t) {
  v("observed", t.observed);
  v("hidden", t.hidden);
  v("lambda", t.lambda);
  v("vectors", t.vectors);
  v("rcond", t.rcond);
  v("null", t.null);
  v("entropy", t.entropy);
  v("uncertainty", t.uncertainty);
}
Index label_parameters(const LabelModel& model);
// x, weights: for the engine "empirical".
LabelFisher label_fisher(const LabelModel& model, ConstMatrixRef x, ConstVectorRef weights, const LabelOptions& options, Rng& rng, Monitor& monitor);

// p(y = k | x) of every row under the model itself.
MatrixXd label_memberships(const LabelModel& model, ConstMatrixRef x);

// The same from scores computed elsewhere: one m x d matrix per label, log joint probabilities m x K, weights of the m points.
struct GivenScores {
  std::vector<MatrixXd> score;
  MatrixXd log_joint;
  VectorXd weight;
};
template <class V>
void fields(V& v, GivenScores& t) {
  v("score", t.score);
  v("log_joint", t.log_joint);
  v("weight", t.weight);
}
LabelFisher label_fisher_given(const GivenScores& given, Monitor& monitor);

double label_coefficient(ConstVectorRef lambda, bool bayes, double alpha);

// n D(n) of Bayes, type I, exactly: two known laws of a binary x, P(x = 1 | y = 1) = p1, P(x = 1 | y = 0) = p0, unknown share a with a Beta(b1, b2) prior.
double binary_label_error(int n, double a, double p1, double p0, double b1, double b2);

// The error of maximum likelihood by simulation: n D(n) of `reps` data sets of n rows, each fitted by EM from the true parameters.
struct LabelSimulation {
  VectorXd error;  // sum over rows of KL(true || fitted) of every data set
  int failed = 0;  // fits that did not converge
};
template <class V>
void fields(V& v, LabelSimulation& t) {
  v("error", t.error);
  v("failed", t.failed);
}
LabelSimulation label_simulate(const LabelModel& model, Index n, int reps, int threads, Rng& rng, Monitor& monitor);

}  // namespace granary::latent
