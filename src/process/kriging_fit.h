// Kriging as a user asks for it: what crosses from R, the search for the parameters, the solution at them, predictions and draws
// from a fit that was kept. The model and its symbols are those of gp.h.
#pragma once

#include <optional>
#include <vector>

#include "core/base/fields.h"
#include "core/random/rng.h"
#include "process/gp.h"
#include "process/kriging_blind.h"
#include "process/kriging_joint.h"

namespace granary::process {

// Which columns of F do not depend on those before them, as lm() keeps them, and what of y they leave unexplained.
struct TrendColumns {
  std::vector<Index> keep;
  double residual = 0;  // |y - F b|^2 over the columns kept
};
template <class V>
void fields(V& v, TrendColumns& t) {
  v("keep", positions(t.keep));
  v("residual", t.residual);
}
TrendColumns trend_columns(ConstMatrixRef f, ConstVectorRef y);

// A model and its runs. With `profile` the scale is profiled out, else the kernel's own variance carries it.
struct KrigingProblem {
  MatrixView x{nullptr, 0, 0}, f{nullptr, 0, 0};
  VectorView y{nullptr, 0};
  KernelSpec kernel;
  double nugget = 0;
  bool learn_nugget = false;
  VectorXd noise;
  bool profile = true;
  GpCriterion method = GpCriterion::ml;
  std::optional<LogPrior> prior;

  GpModel model() const;
  // The scale of a fit by leave-one-out is that of REML.
  GpCriterion scale_criterion() const { return method == GpCriterion::ml ? GpCriterion::ml : GpCriterion::reml; }
};
template <class V>
void fields(V& v, KrigingProblem& t) {
  v("x", t.x);
  v("f", t.f);
  v("y", t.y);
  v("kernel", t.kernel);
  v("nugget", t.nugget);
  v("learn_nugget", t.learn_nugget);
  v("noise", t.noise);
  v("profile", t.profile);
  v("method", t.method);
  v("prior", t.prior);
}
void check(const KrigingProblem& t);

// A fit that was kept: its factor is used where it lies, and copied only when runs are added.
struct KrigingState : KrigingProblem {
  MatrixView factor{nullptr, 0, 0};
  double jitter = 0, scale = 1;
  VectorXd inverse_diagonal;  // of C^-1

  GaussianProcess process() const;
};
template <class V>
void fields(V& v, KrigingState& t) {
  fields(v, static_cast<KrigingProblem&>(t));
  v("factor", t.factor);
  v("jitter", t.jitter);
  v("scale", t.scale);
  v("inverse_diagonal", t.inverse_diagonal);
}
void check(const KrigingState& t);

// The model at its parameters: all that the fit shows of it.
struct KrigingSolution {
  MatrixXd factor;  // L
  double jitter = 0, scale = 1, value = 0;
  VectorXd beta, alpha, fitted, inverse_diagonal;
  MatrixXd trend_covariance;  // (F'C^-1 F)^-1, to be multiplied by the scale
  VectorXd loo_mean, loo_variance;
};
template <class V>
void fields(V& v, KrigingSolution& t) {
  v("factor", t.factor);
  v("jitter", t.jitter);
  v("scale", t.scale);
  v("value", t.value);
  v("beta", t.beta);
  v("alpha", t.alpha);
  v("fitted", t.fitted);
  v("inverse_diagonal", t.inverse_diagonal);
  v("trend_covariance", t.trend_covariance);
  v("loo_mean", t.loo_mean);
  v("loo_variance", t.loo_variance);
}
KrigingSolution kriging_solution(const GaussianProcess& gp);
KrigingSolution kriging_solve(const KrigingProblem& problem, Monitor& monitor);

// Bounds and starts are logarithms in the order of the model's parameters. The first start is `start`, the others a Latin
// hypercube between `spread_low` and `spread_high`.
struct KrigingSearch {
  VectorXd start, lower, upper, spread_low, spread_high;
  int n_starts = 10;
  int max_iter = 500;
  double tol = 1e-6;
  int threads = 1;
};
template <class V>
void fields(V& v, KrigingSearch& t) {
  v("start", t.start);
  v("lower", any_number(t.lower));
  v("upper", any_number(t.upper));
  v("spread_low", t.spread_low);
  v("spread_high", t.spread_high);
  v("n_starts", t.n_starts);
  v("max_iter", t.max_iter);
  v("tol", t.tol);
  v("threads", t.threads);
}
MatrixXd kriging_starts(const KrigingSearch& search, Rng& rng);

struct KrigingFit {
  VectorXd parameters;
  double value = 0;
  MatrixXd to;  // the end of every start, and what became of it
  VectorXd values;
  std::vector<char> converged;
  std::vector<int> evaluations;
  KrigingSolution solution;
  Convergence convergence;
};
template <class V>
void fields(V& v, KrigingFit& t) {
  v("parameters", t.parameters);
  v("value", t.value);
  v("to", t.to);
  v("values", t.values);
  v("converged", t.converged);
  v("evaluations", t.evaluations);
  v("solution", t.solution);
  v("convergence", t.convergence);
}
// A search that rounding of a near-singular covariance ended is counted as done: finer steps would only follow the rounding.
KrigingFit kriging_fit(const KrigingProblem& problem, const KrigingSearch& search, Rng& rng, Monitor& monitor);

struct KrigingObjective {
  double value = 0;
  VectorXd gradient;
};
template <class V>
void fields(V& v, KrigingObjective& t) {
  v("value", t.value);
  v("gradient", t.gradient);
}
KrigingObjective kriging_objective(const KrigingProblem& problem, ConstVectorRef log_parameters);

// Posterior of the parameters with trend and, where it is profiled out, scale integrated over flat priors of beta and log s2: that
// likelihood is the restricted one.
ParameterSample kriging_parameter_sample(const KrigingProblem& problem, ConstVectorRef start, const ParameterSampleOptions& options,
                                         const Rng& rng, Monitor& monitor);

struct KrigingPoints {
  MatrixView x{nullptr, 0, 0}, f{nullptr, 0, 0};
  std::vector<MatrixXd> slopes;  // derivative of f in each input; none for a constant trend
  VectorXd noise;                // of draws
};
template <class V>
void fields(V& v, KrigingPoints& t) {
  v("x", t.x);
  v("f", t.f);
  v("slopes", t.slopes);
  v("noise", t.noise);
}
struct KrigingPredictOptions {
  bool reinterpolate = false, variance = false, covariance = false, gradient = false;
  int threads = 1;
};
template <class V>
void fields(V& v, KrigingPredictOptions& t) {
  v("reinterpolate", t.reinterpolate);
  v("variance", t.variance);
  v("covariance", t.covariance);
  v("gradient", t.gradient);
  v("threads", t.threads);
}
struct KrigingPrediction {
  VectorXd mean;
  double scale = 1;
  std::optional<VectorXd> variance;
  std::optional<MatrixXd> covariance, mean_gradient, variance_gradient;
};
template <class V>
void fields(V& v, KrigingPrediction& t) {
  v("mean", t.mean);
  v("scale", t.scale);
  v("variance", t.variance);
  v("covariance", t.covariance);
  v("mean_gradient", t.mean_gradient);
  v("variance_gradient", t.variance_gradient);
}
KrigingPrediction kriging_predict(const KrigingState& state, const KrigingPoints& at, const KrigingPredictOptions& options,
                                  Monitor& monitor);

struct KrigingDrawOptions {
  bool conditional = true;
  int count = 1;
};
template <class V>
void fields(V& v, KrigingDrawOptions& t) {
  v("conditional", t.conditional);
  v("count", t.count);
}
MatrixXd kriging_draws(const KrigingState& state, const KrigingPoints& at, const KrigingDrawOptions& options, Rng& rng,
                       Monitor& monitor);

struct KrigingRows {
  MatrixView x{nullptr, 0, 0}, f{nullptr, 0, 0};
  VectorView y{nullptr, 0};
  VectorXd noise;
};
template <class V>
void fields(V& v, KrigingRows& t) {
  v("x", t.x);
  v("f", t.f);
  v("y", t.y);
  v("noise", t.noise);
}
KrigingSolution kriging_append(const KrigingState& state, const KrigingRows& rows);

// The effects that join a trend, from a fit with its starting trend. `half`: one unit of each coded input in the units of the fit.
struct BlindSearch {
  Eigen::MatrixXi factors;  // of each effect chosen: input, degree, second input, its degree, from 1; 0: there is no second
  MatrixXd polynomials;
  VectorXd cvpe, variances;
};
template <class V>
void fields(V& v, BlindSearch& t) {
  v("factors", t.factors);
  v("polynomials", t.polynomials);
  v("cvpe", t.cvpe);
  v("variances", t.variances);
}
struct BlindOptions {
  int degree = 2;
  int max_terms = -1;  // negative: as many as there are
  VectorXd half;
};
template <class V>
void fields(V& v, BlindOptions& t) {
  v("degree", t.degree);
  v("max_terms", t.max_terms);
  v("half", t.half);
}
BlindSearch blind_search(const KrigingState& state, ConstMatrixRef z, const BlindOptions& options, Monitor& monitor);

struct LevelData {
  MatrixView x{nullptr, 0, 0}, f{nullptr, 0, 0};
  VectorView y{nullptr, 0};
  KernelSpec kernel;
  double scale = 1, nugget = 0, rho = 1;

  JointLevel level() const;
};
template <class V>
void fields(V& v, LevelData& t) {
  v("x", t.x);
  v("f", t.f);
  v("y", t.y);
  v("kernel", t.kernel);
  v("scale", t.scale);
  v("nugget", t.nugget);
  v("rho", t.rho);
}
KrigingPrediction joint_predict(const std::vector<LevelData>& levels, const KrigingPoints& at, const KrigingPredictOptions& options,
                                Monitor& monitor);
MatrixXd joint_draws(const std::vector<LevelData>& levels, const KrigingPoints& at, int count, Rng& rng, Monitor& monitor);

}  // namespace granary::process
