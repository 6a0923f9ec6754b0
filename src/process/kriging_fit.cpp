#include "process/kriging_fit.h"

#include <cmath>

#include "core/cluster/space_filling.h"
#include "process/kriging.h"

namespace granary::process {

TrendColumns trend_columns(ConstMatrixRef f, ConstVectorRef y) {
  constexpr double tol = 1e-9;  // of what a column leaves of itself, after the others
  require(f.rows() == y.size(), "the trend and the responses have different numbers of rows.");
  MatrixXd basis(f.rows(), f.cols());
  TrendColumns result;
  const auto clean = [&](VectorXd& v) {  // twice, so that rounding of the first pass goes too
    const auto used = basis.leftCols(static_cast<Index>(result.keep.size()));
    for (int pass = 0; pass < 2; ++pass) v -= used * (used.transpose() * v).eval();
  };
  for (Index j = 0; j < f.cols(); ++j) {
    const double size = f.col(j).norm();
    if (!(size > 0)) continue;
    VectorXd column = f.col(j) / size;
    clean(column);
    const double left = column.norm();
    if (left <= tol) continue;
    basis.col(static_cast<Index>(result.keep.size())) = column / left;
    result.keep.push_back(j);
  }
  VectorXd rest = y;
  clean(rest);
  result.residual = rest.squaredNorm();
  return result;
}

void check(const KrigingProblem& t) {
  const Index n = t.y.size();
  require(t.x.rows() == n && t.f.rows() == n, "the numbers of rows of `x`, `y` and the trend differ.");
  require(t.noise.size() == 0 || t.noise.size() == n, "`noise` has not one entry per run.");
  require(t.nugget >= 0, "`nugget` is negative.");
}

void check(const KrigingState& t) {
  check(static_cast<const KrigingProblem&>(t));
  const Index n = t.y.size();
  require(t.factor.rows() == n && t.factor.cols() == n, "`factor` does not fit the number of runs.");
  require(t.inverse_diagonal.size() == n, "`inverse_diagonal` has not one entry per run.");
  require(t.scale >= 0 && t.jitter >= 0, "`scale` or `jitter` is negative.");
}

GpModel KrigingProblem::model() const {
  GpModel out{Kernel(kernel, x.cols())};
  out.nugget = nugget;
  out.learn_nugget = learn_nugget;
  out.noise = noise;
  out.profile_scale = profile;
  return out;
}

GaussianProcess KrigingState::process() const {
  GaussianProcess gp =
      GaussianProcess::restore(model(), x, y, f, SystemFactor::borrowed(factor), jitter, scale, scale_criterion());
  gp.know_inverse_diagonal(inverse_diagonal);
  return gp;
}

namespace {

// All but the factor.
KrigingSolution solution_parts(const GaussianProcess& gp) {
  KrigingSolution out;
  out.jitter = gp.jitter();
  out.scale = gp.scale();
  out.value = gp.value();
  out.beta = gp.beta();
  out.alpha = gp.alpha();
  out.fitted = gp.fitted();
  out.inverse_diagonal = gp.inverse_diagonal();
  const Index p = gp.beta().size();
  out.trend_covariance = p == 0 ? MatrixXd(0, 0) : gp.trend_precision().solve(MatrixXd::Identity(p, p));
  const GpLeaveOneOut loo = gp.leave_one_out();
  out.loo_mean = loo.mean;
  out.loo_variance = loo.variance;
  return out;
}

}  // namespace

KrigingSolution kriging_solution(const GaussianProcess& gp) {
  KrigingSolution out = solution_parts(gp);
  out.factor = gp.cholesky().lower();
  return out;
}

KrigingSolution kriging_solve(const KrigingProblem& problem, Monitor& monitor) {
  return kriging_solution(GaussianProcess(problem.model(), problem.x, problem.y, problem.f, problem.scale_criterion(),
                                          GaussianProcess::default_jitter(), &monitor));
}

MatrixXd kriging_starts(const KrigingSearch& search, Rng& rng) {
  const Index m = search.start.size();
  MatrixXd starts(search.n_starts, m);
  starts.row(0) = search.start.transpose();
  if (search.n_starts > 1)
    starts.bottomRows(search.n_starts - 1) =
        to_box(latin_hypercube(search.n_starts - 1, m, rng, 10), search.spread_low, search.spread_high);
  return starts;
}

KrigingFit kriging_fit(const KrigingProblem& problem, const KrigingSearch& search, Rng& rng, Monitor& monitor) {
  GpLearnOptions options;
  options.criterion = problem.method;
  options.prior = problem.prior.value_or(LogPrior());
  options.lower = search.lower;
  options.upper = search.upper;
  options.optimiser.tol = search.tol;
  options.optimiser.max_iter = search.max_iter;
  // A near-singular covariance leaves noise of about 1e-10 in the likelihood: finer steps only follow it.
  options.optimiser.value_tol = 1e-10;
  options.optimiser.max_evaluations_per_line = 12;
  options.threads = search.threads;
  options.progress = true;
  GpModel model = problem.model();
  const MultistartResult best =
      learn_gp(model, problem.x, problem.y, problem.f, kriging_starts(search, rng), options, monitor);
  KrigingFit out;
  out.parameters = best.x;
  out.value = -best.value;
  const Index count = static_cast<Index>(best.starts.size());
  out.to.resize(count, best.x.size());
  out.values.resize(count);
  for (Index s = 0; s < count; ++s) {
    out.to.row(s) = best.starts[s].to.transpose();
    out.values[s] = -best.starts[s].value;
    out.converged.push_back(best.starts[s].converged);
    out.evaluations.push_back(best.starts[s].evaluations);
  }
  model.set_parameters(best.x);
  model.learn_nugget = false;
  out.solution = kriging_solution(GaussianProcess(model, problem.x, problem.y, problem.f, problem.scale_criterion(),
                                                  GaussianProcess::default_jitter(), &monitor));
  out.convergence = best.convergence;
  Convergence& end = out.convergence;
  const auto root = out.solution.factor.diagonal();
  const bool singular = out.solution.jitter > 0 || root.minCoeff() < 1e-5 * root.maxCoeff();
  if (!end.converged && end.reason == Stop::stalled && (singular || end.residual < 1e-3)) {
    end.converged = true;
    end.reason = Stop::solved;
    end.message = "as far as rounding errors of the criterion allow";
  }
  return out;
}

KrigingObjective kriging_objective(const KrigingProblem& problem, ConstVectorRef log_parameters) {
  GpLearnOptions options;
  options.criterion = problem.method;
  options.prior = problem.prior.value_or(LogPrior());
  KrigingObjective out{0, VectorXd::Zero(log_parameters.size())};
  out.value = gp_objective(problem.model(), problem.x, problem.y, problem.f, log_parameters, options, &out.gradient);
  return out;
}

ParameterSample kriging_parameter_sample(const KrigingProblem& problem, ConstVectorRef start, const ParameterSampleOptions& options,
                                         const Rng& rng, Monitor& monitor) {
  const GpModel model = problem.model();
  GpLearnOptions likelihood;
  likelihood.criterion = GpCriterion::reml;
  const LogEvidence log_evidence = [&](const VectorXd& theta, VectorXd* gradient) {
    return gp_objective(model, problem.x, problem.y, problem.f, theta, likelihood, gradient, &monitor);
  };
  return sample_parameters(log_evidence, start, options, rng, monitor);
}

KrigingPrediction kriging_predict(const KrigingState& state, const KrigingPoints& at, const KrigingPredictOptions& options,
                                  Monitor& monitor) {
  const GaussianProcess fitted = state.process();
  const GaussianProcess gp = options.reinterpolate ? reinterpolate(fitted) : fitted;
  GpPrediction plain = gp.predict(at.x, at.f, options.variance, options.threads, monitor);
  KrigingPrediction out;
  out.mean = std::move(plain.mean);
  out.scale = gp.scale();
  if (options.variance) out.variance = std::move(plain.variance);
  if (options.covariance) out.covariance = gp.covariance(at.x, at.f);
  if (options.gradient) {
    GpGradient slope = kriging_gradient(gp, at.x, at.f, at.slopes, options.threads, monitor);
    out.mean_gradient = std::move(slope.mean);
    out.variance_gradient = std::move(slope.variance);
  }
  return out;
}

MatrixXd kriging_draws(const KrigingState& state, const KrigingPoints& at, const KrigingDrawOptions& options, Rng& rng,
                       Monitor& monitor) {
  const GaussianProcess gp = state.process();
  if (options.conditional) return conditional_draws(gp, at.x, at.f, at.noise, options.count, rng, monitor);
  return prior_draws(gp, at.x, at.noise, options.count, rng, monitor);
}

KrigingSolution kriging_append(const KrigingState& state, const KrigingRows& rows) {
  GaussianProcess gp = state.process();
  gp.append_rows(rows.x, rows.y, rows.f, rows.noise);
  KrigingSolution out = solution_parts(gp);
  out.factor = gp.take_factor();
  return out;
}

BlindSearch blind_search(const KrigingState& state, ConstMatrixRef z, const BlindOptions& options, Monitor& monitor) {
  const GaussianProcess gp = state.process();
  const Index d = z.cols(), n = gp.size();
  const BlindEffects effects = blind_effects(d, options.degree);
  const Kernel& kernel = gp.model().kernel;
  std::vector<std::function<double(double)>> correlation;
  for (Index j = 0; j < d; ++j) {
    correlation.push_back([&kernel, &options, d, j](double lag) {
      MatrixXd a = MatrixXd::Zero(1, d), b = a;
      b(0, j) = lag * options.half[j];
      return kernel.cross(a, b)(0, 0) / kernel.diagonal(a, false)[0];
    });
  }
  BlindSearch out;
  out.polynomials = effects.polynomials;
  out.variances = effect_variances(effects, correlation);
  const Index all = std::min<Index>(n - 2, static_cast<Index>(effects.term.size()));
  const Index steps = options.max_terms < 0 ? all : std::min<Index>(all, options.max_terms);
  const BlindPath path = blind_forward(gp, effect_columns(effects, z), out.variances, steps, monitor);
  out.cvpe = path.cvpe;
  out.factors.resize(static_cast<Index>(path.chosen.size()), 4);
  for (std::size_t s = 0; s < path.chosen.size(); ++s) {
    const auto& [input, degree] = effects.term[path.chosen[s]];
    const auto& [second, its_degree] = effects.with[path.chosen[s]];
    out.factors.row(static_cast<Index>(s)) << static_cast<int>(input + 1), static_cast<int>(degree + 1), static_cast<int>(second + 1),
        static_cast<int>(its_degree + 1);
  }
  return out;
}

JointLevel LevelData::level() const { return {Kernel(kernel, x.cols()), scale, nugget, rho, x, y, f}; }

namespace {

JointKriging joint_of(const std::vector<LevelData>& levels, Monitor& monitor) {
  std::vector<JointLevel> out;
  for (const LevelData& one : levels) out.push_back(one.level());
  return JointKriging(std::move(out), monitor);
}

}  // namespace

KrigingPrediction joint_predict(const std::vector<LevelData>& levels, const KrigingPoints& at, const KrigingPredictOptions& options,
                                Monitor& monitor) {
  const JointKriging joint = joint_of(levels, monitor);
  GpPrediction plain = joint.predict(at.x, at.f, options.variance, options.threads, monitor);
  KrigingPrediction out;
  out.mean = std::move(plain.mean);
  if (options.variance) out.variance = std::move(plain.variance);
  if (options.covariance) out.covariance = joint.covariance(at.x, at.f);
  if (options.gradient) {
    GpGradient slope = joint.gradient(at.x, at.f, at.slopes);
    out.mean_gradient = std::move(slope.mean);
    out.variance_gradient = std::move(slope.variance);
  }
  return out;
}

MatrixXd joint_draws(const std::vector<LevelData>& levels, const KrigingPoints& at, int count, Rng& rng, Monitor& monitor) {
  const JointKriging joint = joint_of(levels, monitor);
  const VectorXd mean = joint.predict(at.x, at.f, false, 1, monitor).mean;
  return gaussian_draws(mean, joint.covariance(at.x, at.f), joint.prior_variance(at.x), count, rng, monitor);
}

}  // namespace granary::process
