// Exports of kriging: a model crosses as the list R/kriging.R calls its core (x, y, f, kernel, nugget, noise, ..., factor).
#include "core/cluster/space_filling.h"
#include "process/kriging.h"
#include "process/kriging_blind.h"
#include "process/kriging_joint.h"
#include "r_glue.h"
#include "r_core_kernel.h"
#include "r_process_parameters.h"

using namespace granary;
using namespace granary::process;
using Rcpp::as;
using Rcpp::List;
using Rcpp::Named;

namespace {

GpCriterion criterion(const List& core) {
  const std::string method = as<std::string>(core["method"]);
  return method == "ML" ? GpCriterion::ml : method == "REML" ? GpCriterion::reml : GpCriterion::loo;
}
// The scale of a fit by leave-one-out is that of REML.
GpCriterion scale_criterion(const List& core) { return criterion(core) == GpCriterion::ml ? GpCriterion::ml : GpCriterion::reml; }

struct Core {
  Eigen::Map<Eigen::MatrixXd> x, f;
  Eigen::Map<Eigen::VectorXd> y;
  GpModel model;
  explicit Core(const List& core)
      : x(as<Eigen::Map<Eigen::MatrixXd>>(core["x"])),
        f(as<Eigen::Map<Eigen::MatrixXd>>(core["f"])),
        y(as<Eigen::Map<Eigen::VectorXd>>(core["y"])),
        model{Kernel(as_kernel_spec(core["kernel"]), x.cols())} {
    model.nugget = as<double>(core["nugget"]);
    model.learn_nugget = as<bool>(core["learn_nugget"]);
    model.noise = as<VectorXd>(core["noise"]);
    model.profile_scale = as<bool>(core["profile"]);
  }
};

GaussianProcess restored(const List& core) {
  const Core c(core);
  return GaussianProcess::restore(c.model, c.x, c.y, c.f, as<Eigen::Map<Eigen::MatrixXd>>(core["factor"]),
                                  as<double>(core["jitter"]), as<double>(core["scale"]), scale_criterion(core));
}

List as_list(const GaussianProcess& gp) {
  const GpLeaveOneOut loo = gp.leave_one_out();
  const MatrixXd root = gp.trend_precision().size() == 0 ? MatrixXd(0, 0) : MatrixXd(gp.trend_precision().reconstruct());
  return List::create(Named("factor") = MatrixXd(gp.cholesky().lower()), Named("jitter") = gp.jitter(),
                      Named("scale") = gp.scale(), Named("value") = gp.value(), Named("beta") = gp.beta(),
                      Named("alpha") = gp.alpha(), Named("fitted") = gp.fitted(), Named("precision") = root,
                      Named("loo_mean") = loo.mean, Named("loo_variance") = loo.variance);
}

std::vector<MatrixXd> matrices(const List& list) {
  std::vector<MatrixXd> result;
  for (R_xlen_t k = 0; k < list.size(); ++k) result.push_back(as<MatrixXd>(list[k]));
  return result;
}

std::vector<JointLevel> joint_levels(const List& levels) {
  std::vector<JointLevel> result;
  for (R_xlen_t t = 0; t < levels.size(); ++t) {
    const List level = levels[t];
    const MatrixXd runs = as<MatrixXd>(level["x"]);
    result.push_back({Kernel(as_kernel_spec(level["kernel"]), runs.cols()), as<double>(level["scale"]),
                      as<double>(level["nugget"]), as<double>(level["rho"]), runs, as<VectorXd>(level["y"]),
                      as<MatrixXd>(level["f"])});
  }
  return result;
}

}  // namespace

// Learns from each row of `starts` (logarithms): the best end, and what became of every start.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_kriging_learn(const Rcpp::List& core, const Eigen::Map<Eigen::MatrixXd> starts,
                              const Eigen::Map<Eigen::VectorXd> lower, const Eigen::Map<Eigen::VectorXd> upper, double tol,
                              int max_iter, int threads, SEXP progress) {
  RMonitor monitor(progress);
  const Core c(core);
  GpLearnOptions options;
  options.criterion = criterion(core);
  options.prior = as_prior(core["prior"]);
  options.lower = lower;
  options.upper = upper;
  options.optimiser.tol = tol;
  options.optimiser.max_iter = max_iter;
  // A near-singular covariance leaves noise of about 1e-10 in the likelihood: finer steps only follow it.
  options.optimiser.value_tol = 1e-10;
  options.optimiser.max_evaluations_per_line = 12;
  options.threads = threads;
  const MultistartResult best = learn_gp(c.model, c.x, c.y, c.f, starts, options, monitor);
  const Index count = static_cast<Index>(best.starts.size());
  MatrixXd to(count, starts.cols());
  VectorXd value(count);
  Rcpp::LogicalVector converged(count);
  Rcpp::IntegerVector evaluations(count);
  for (Index s = 0; s < count; ++s) {
    to.row(s) = best.starts[s].to.transpose();
    value[s] = -best.starts[s].value;
    converged[s] = best.starts[s].converged;
    evaluations[s] = best.starts[s].evaluations;
  }
  return List::create(Named("parameters") = best.x, Named("value") = -best.value, Named("to") = to, Named("values") = value,
                      Named("converged") = converged, Named("evaluations") = evaluations,
                      Named("convergence") = as_list(best.convergence));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_kriging_objective(const Rcpp::List& core, const Eigen::Map<Eigen::VectorXd> log_parameters) {
  const Core c(core);
  GpLearnOptions options;
  options.criterion = criterion(core);
  options.prior = as_prior(core["prior"]);
  VectorXd gradient = VectorXd::Zero(log_parameters.size());
  const double value = gp_objective(c.model, c.x, c.y, c.f, log_parameters, options, &gradient);
  return List::create(Named("value") = value, Named("gradient") = gradient);
}

// Posterior of the parameters with trend and, where it is profiled out, scale integrated over flat priors of beta and log s2: that
// likelihood is the restricted one.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_kriging_sample(const Rcpp::List& core, const Eigen::Map<Eigen::VectorXd> start, const Rcpp::List& settings,
                               const Rcpp::NumericVector& seed, SEXP progress) {
  RMonitor monitor(progress);
  const Core c(core);
  const ParameterSampleOptions options = as_sample_options(settings);
  GpLearnOptions likelihood;
  likelihood.criterion = GpCriterion::reml;
  const LogEvidence log_evidence = [&](const VectorXd& theta, VectorXd* gradient) {
    return gp_objective(c.model, c.x, c.y, c.f, theta, likelihood, gradient, &monitor);
  };
  return as_list(sample_parameters(log_evidence, start, options, make_rng(seed), monitor), options);
}

// [[Rcpp::export(rng = false)]]
Eigen::VectorXd core_kriging_surface(const Rcpp::List& core, const Eigen::Map<Eigen::MatrixXd> log_parameters, int threads,
                                     SEXP progress) {
  RMonitor monitor(progress);
  const Core c(core);
  GpLearnOptions options;
  options.criterion = criterion(core);
  options.threads = threads;
  return kriging_surface(c.model, c.x, c.y, c.f, log_parameters, options, monitor);
}

// At the parameters of `core`.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_kriging_fit(const Rcpp::List& core) {
  RMonitor monitor(R_NilValue);
  const Core c(core);
  return as_list(GaussianProcess(c.model, c.x, c.y, c.f, scale_criterion(core), GaussianProcess::default_jitter(), &monitor));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_kriging_append(const Rcpp::List& core, const Eigen::Map<Eigen::MatrixXd> x, const Eigen::Map<Eigen::VectorXd> y,
                               const Eigen::Map<Eigen::MatrixXd> f, const Eigen::Map<Eigen::VectorXd> noise) {
  GaussianProcess gp = restored(core);
  for (Index i = 0; i < y.size(); ++i)
    gp.append(x.row(i).transpose(), y[i], f.row(i).transpose(), noise.size() > 0 ? noise[i] : 0);
  return as_list(gp);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_kriging_predict(const Rcpp::List& core, const Eigen::Map<Eigen::MatrixXd> x, const Eigen::Map<Eigen::MatrixXd> f,
                                const Rcpp::List& df, bool reinterpolated, bool variance, bool covariance, bool gradient,
                                int threads, SEXP progress) {
  RMonitor monitor(progress);
  const GaussianProcess fitted = restored(core);
  const GaussianProcess gp = reinterpolated ? reinterpolate(fitted) : fitted;
  const GpPrediction at = gp.predict(x, f, variance, threads, monitor);
  List result = List::create(Named("mean") = at.mean, Named("scale") = gp.scale());
  if (variance) result["variance"] = at.variance;
  if (covariance) result["covariance"] = gp.covariance(x, f);
  if (gradient) {
    const GpGradient slope = kriging_gradient(gp, x, f, matrices(df), threads, monitor);
    result["mean_gradient"] = slope.mean;
    result["variance_gradient"] = slope.variance;
  }
  return result;
}

// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd core_kriging_draws(const Rcpp::List& core, const Eigen::Map<Eigen::MatrixXd> x,
                                   const Eigen::Map<Eigen::MatrixXd> f, const Eigen::Map<Eigen::VectorXd> noise, bool conditional,
                                   int count, const Rcpp::NumericVector& seed, SEXP progress) {
  RMonitor monitor(progress);
  Rng rng = make_rng(seed);
  const GaussianProcess gp = restored(core);
  if (conditional) return conditional_draws(gp, x, f, noise, count, rng, monitor);
  return prior_draws(gp, x, noise, count, rng, monitor);
}

// [[Rcpp::export(rng = false)]]
double core_kriging_imse(const Rcpp::List& core, double variance, const Eigen::Map<Eigen::VectorXd> lengthscales,
                         const Eigen::Map<Eigen::VectorXd> lower, const Eigen::Map<Eigen::VectorXd> upper) {
  return imse_constant(restored(core), variance, lengthscales, lower, upper);
}

// [[Rcpp::export(rng = false)]]
Eigen::VectorXd core_kriging_weights(const Rcpp::List& core, const Eigen::Map<Eigen::MatrixXd> x,
                                     const Eigen::Map<Eigen::MatrixXd> f, int threads, SEXP progress) {
  RMonitor monitor(progress);
  return largest_weights(restored(core), x, f, threads, monitor);
}

// Candidates at points coded to [-1, 1]: their columns, factors and polynomials.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_blind_effects(const Eigen::Map<Eigen::MatrixXd> z, int degree) {
  const BlindEffects effects = blind_effects(z.cols(), degree);
  const Index count = static_cast<Index>(effects.term.size());
  Eigen::MatrixXi factors(count, 4);
  for (Index c = 0; c < count; ++c) {
    factors.row(c) << static_cast<int>(effects.term[c].first + 1), static_cast<int>(effects.term[c].second + 1),
        static_cast<int>(effects.with[c].first + 1), static_cast<int>(effects.with[c].second + 1);
  }
  return List::create(Named("columns") = effect_columns(effects, z), Named("factors") = factors,
                      Named("polynomials") = effects.polynomials);
}

// `z`: the inputs coded to [-1, 1]; `half`: one unit of each of them in the units of the core.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_blind_forward(const Rcpp::List& core, const Eigen::Map<Eigen::MatrixXd> z, int degree,
                              const Eigen::Map<Eigen::VectorXd> half, int max_terms, SEXP progress) {
  RMonitor monitor(progress);
  const GaussianProcess gp = restored(core);
  const BlindEffects effects = blind_effects(z.cols(), degree);
  const Index d = z.cols();
  std::vector<std::function<double(double)>> correlation;
  for (Index j = 0; j < d; ++j) {
    correlation.push_back([&gp, &half, d, j](double lag) {
      MatrixXd a = MatrixXd::Zero(1, d), b = a;
      b(0, j) = lag * half[j];
      const Kernel& kernel = gp.model().kernel;
      return kernel.cross(a, b)(0, 0) / kernel.diagonal(a, false)[0];
    });
  }
  const VectorXd variances = effect_variances(effects, correlation);
  const BlindPath path = blind_forward(gp, effect_columns(effects, z), variances, max_terms, monitor);
  Rcpp::IntegerVector chosen(path.chosen.begin(), path.chosen.end());
  return List::create(Named("chosen") = Rcpp::IntegerVector(chosen + 1), Named("cvpe") = path.cvpe,
                      Named("variances") = variances);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_kriging_joint(const Rcpp::List& levels, const Eigen::Map<Eigen::MatrixXd> x, const Eigen::Map<Eigen::MatrixXd> f,
                              const Rcpp::List& df, bool variance, bool covariance, bool gradient, int threads, SEXP progress) {
  RMonitor monitor(progress);
  const JointKriging joint(joint_levels(levels), monitor);
  const GpPrediction at = joint.predict(x, f, variance, threads, monitor);
  List result = List::create(Named("mean") = at.mean, Named("variance") = at.variance);
  if (covariance) result["covariance"] = joint.covariance(x, f);
  if (gradient) {
    const GpGradient slope = joint.gradient(x, f, matrices(df));
    result["mean_gradient"] = slope.mean;
    result["variance_gradient"] = slope.variance;
  }
  return result;
}

// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd core_kriging_joint_draws(const Rcpp::List& levels, const Eigen::Map<Eigen::MatrixXd> x,
                                         const Eigen::Map<Eigen::MatrixXd> f, int count, const Rcpp::NumericVector& seed,
                                         SEXP progress) {
  RMonitor monitor(progress);
  Rng rng = make_rng(seed);
  const JointKriging joint(joint_levels(levels), monitor);
  const GpPrediction at = joint.predict(x, f, false, 1, monitor);
  return gaussian_draws(at.mean, joint.covariance(x, f), joint.prior_variance(x), count, rng, monitor);
}

// Points of the unit cube: a Latin hypercube where there is a seed, else Sobol's.
// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd core_unit_design(int n, int d, const Rcpp::NumericVector& seed) {
  if (seed.size() == 0) return sobol(n, d);
  Rng rng = make_rng(seed);
  return latin_hypercube(n, d, rng, 10);
}
