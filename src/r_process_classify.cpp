// Exports of the Gaussian process classifier.
#include "process/gp_classify.h"
#include "process/gp_sampling.h"
#include "r_glue.h"
#include "r_core_kernel.h"
#include "r_process_parameters.h"

using namespace granary;
using namespace granary::process;

namespace {

// `settings`: link, method, mean, learn_mean, tol, max_iter, parallel, damping, threads.
ClassifyModel as_model(const Rcpp::List& kernel, Index dimension, const Rcpp::List& settings) {
  ClassifyModel model{Kernel(as_kernel_spec(kernel), dimension)};
  model.link = Rcpp::as<std::string>(settings["link"]) == "logit" ? Link::logit : Link::probit;
  model.inference = Rcpp::as<std::string>(settings["method"]) == "laplace" ? Inference::laplace : Inference::ep;
  model.mean = settings["mean"];
  model.learn_mean = settings["learn_mean"];
  return model;
}

ClassifyOptions as_options(const Rcpp::List& settings) {
  ClassifyOptions options;
  options.tol = settings["tol"];
  options.max_iter = settings["max_iter"];
  options.parallel = settings["parallel"];
  options.damping = settings["damping"];
  return options;
}

Sampler as_sampler(const std::string& name) { return name == "ess" ? Sampler::ess : Sampler::hmc; }

}  // namespace

// [[Rcpp::export(rng = false)]]
Rcpp::List core_gp_classify_learn(const Eigen::Map<Eigen::MatrixXd> x, const Eigen::Map<Eigen::VectorXd> y,
                                  const Rcpp::List& kernel, const Rcpp::List& settings, const Eigen::Map<Eigen::MatrixXd> starts,
                                  const Eigen::Map<Eigen::VectorXd> lower, const Eigen::Map<Eigen::VectorXd> upper, SEXP prior,
                                  const Rcpp::NumericVector& seed, SEXP progress) {
  RMonitor monitor(progress);
  ClassifyLearnOptions options;
  options.lower = lower;
  options.upper = upper;
  options.prior = as_prior(prior);
  options.inner = as_options(settings);
  options.inner.tol = std::max(options.inner.tol, 1e-5);
  options.optimiser.tol = 1e-4;
  options.optimiser.value_tol = 1e-9;
  options.optimiser.max_iter = 200;
  options.threads = settings["threads"];
  const MultistartResult r =
      learn_classifier(as_model(kernel, x.cols(), settings), x, y, starts, options, make_rng(seed), monitor);
  Rcpp::NumericVector values(r.starts.size()), evaluations(r.starts.size());
  for (std::size_t s = 0; s < r.starts.size(); ++s) {
    values[s] = -r.starts[s].value;
    evaluations[s] = r.starts[s].evaluations;
  }
  const std::vector<Index> at_bound = on_bound(r.x, options.lower, options.upper);
  return Rcpp::List::create(Rcpp::Named("parameters") = r.x, Rcpp::Named("log_evidence") = -r.value,
                            Rcpp::Named("starts") = values, Rcpp::Named("evaluations") = evaluations,
                            Rcpp::Named("on_bound") = std::vector<int>(at_bound.begin(), at_bound.end()),
                            Rcpp::Named("convergence") = as_list(r.convergence));
}

// Posterior of the parameters, by the evidence of EP or of Laplace's method.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_gp_classify_sample(const Eigen::Map<Eigen::MatrixXd> x, const Eigen::Map<Eigen::VectorXd> y,
                                   const Rcpp::List& kernel, const Rcpp::List& settings, const Eigen::Map<Eigen::VectorXd> start,
                                   const Rcpp::List& sampling, const Rcpp::NumericVector& seed, SEXP progress) {
  RMonitor monitor(progress);
  const ClassifyModel model = as_model(kernel, x.cols(), settings);
  const ParameterSampleOptions options = as_sample_options(sampling);
  const ClassifyOptions plain = as_options(settings);
  const Rng rng = make_rng(seed), sites = rng.stream(1u << 31);
  const LogEvidence log_evidence = [&](const VectorXd& theta, VectorXd* gradient) {
    ClassifyModel at = model;
    at.set_parameters(theta);
    ClassifyOptions inner = plain;
    inner.with_gradient = gradient != nullptr;
    Rng own = sites;  // the same order of the sites everywhere: the density is one function
    try {
      const LatentPosterior found = latent_posterior(at, x, y, inner, own, monitor);
      if (gradient != nullptr) *gradient = found.gradient;
      return found.log_evidence;
    } catch (const NumericalError&) {
      return -std::numeric_limits<double>::infinity();
    }
  };
  return as_list(sample_parameters(log_evidence, start, options, rng, monitor), options);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_gp_classify_posterior(const Eigen::Map<Eigen::MatrixXd> x, const Eigen::Map<Eigen::VectorXd> y,
                                      const Rcpp::List& kernel, const Rcpp::List& settings, bool gradient,
                                      const Rcpp::NumericVector& seed, SEXP progress) {
  RMonitor monitor(progress);
  Rng rng = make_rng(seed);
  ClassifyOptions options = as_options(settings);
  options.with_gradient = gradient;
  const LatentPosterior p = latent_posterior(as_model(kernel, x.cols(), settings), x, y, options, rng, monitor);
  return Rcpp::List::create(Rcpp::Named("tau") = p.tau, Rcpp::Named("nu") = p.nu, Rcpp::Named("weight") = p.weight,
                            Rcpp::Named("mean") = p.mean, Rcpp::Named("variance") = p.variance, Rcpp::Named("loo") = p.loo,
                            Rcpp::Named("log_evidence") = p.log_evidence, Rcpp::Named("log_determinant") = p.log_determinant,
                            Rcpp::Named("gradient") = p.gradient, Rcpp::Named("convergence") = as_list(p.convergence));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_gp_classify_predict(const Eigen::Map<Eigen::MatrixXd> x, const Eigen::Map<Eigen::VectorXd> tau,
                                    const Eigen::Map<Eigen::VectorXd> weight, const Rcpp::List& kernel,
                                    const Rcpp::List& settings, const Eigen::Map<Eigen::MatrixXd> at, bool sd, bool gradient,
                                    bool covariance, SEXP progress) {
  RMonitor monitor(progress);
  PredictOptions options;
  options.sd = sd;
  options.gradient = gradient;
  options.covariance = covariance;
  options.threads = settings["threads"];
  const ClassifyPrediction p = predict_class(as_model(kernel, x.cols(), settings), x, tau, weight, at, options, monitor);
  return Rcpp::List::create(Rcpp::Named("mean") = p.mean, Rcpp::Named("variance") = p.variance,
                            Rcpp::Named("log_positive") = p.log_positive, Rcpp::Named("log_negative") = p.log_negative,
                            Rcpp::Named("probability_sd") = p.probability_sd, Rcpp::Named("mean_gradient") = p.mean_gradient,
                            Rcpp::Named("probability_gradient") = p.probability_gradient,
                            Rcpp::Named("covariance") = p.covariance);
}

// [[Rcpp::export(rng = false)]]
double core_gp_lower_bound(const Eigen::Map<Eigen::VectorXd> y, const Rcpp::List& posterior, const Rcpp::List& kernel,
                           int dimension, const Rcpp::List& settings, int nodes, const Eigen::Map<Eigen::VectorXd> more_y,
                           const Eigen::Map<Eigen::VectorXd> more_mean, const Eigen::Map<Eigen::VectorXd> more_variance) {
  LatentPosterior p;
  p.tau = Rcpp::as<VectorXd>(posterior["tau"]);
  p.weight = Rcpp::as<VectorXd>(posterior["weight"]);
  p.mean = Rcpp::as<VectorXd>(posterior["mean"]);
  p.variance = Rcpp::as<VectorXd>(posterior["variance"]);
  p.log_determinant = posterior["log_determinant"];
  return evidence_lower_bound(as_model(kernel, dimension, settings), y, p, nodes, more_y, more_mean, more_variance);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_gp_sample(const Eigen::Map<Eigen::MatrixXd> x, const Eigen::Map<Eigen::VectorXd> y, const Rcpp::List& kernel,
                          const Rcpp::List& settings, const std::string& sampler, int draws, int burn_in, int thin, int steps,
                          int chains, const Rcpp::NumericVector& seed, SEXP progress) {
  RMonitor monitor(progress);
  SampleOptions options;
  options.sampler = as_sampler(sampler);
  options.draws = draws;
  options.burn_in = burn_in;
  options.thin = thin;
  options.steps = steps;
  options.chains = chains;
  options.threads = settings["threads"];
  const SampleResult r = sample_posterior(as_model(kernel, x.cols(), settings), x, y, options, make_rng(seed), monitor);
  double effective = 0;
  for (int c = 0; c < chains; ++c) effective += effective_sample_size(r.log_joint.segment(static_cast<Index>(c) * draws, draws));
  return Rcpp::List::create(Rcpp::Named("f") = r.f, Rcpp::Named("weight") = r.weight, Rcpp::Named("log_joint") = r.log_joint,
                            Rcpp::Named("acceptance") = r.acceptance, Rcpp::Named("step_size") = r.step_size,
                            Rcpp::Named("jitter") = r.jitter, Rcpp::Named("effective_size") = effective);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_gp_sample_predict(const Eigen::Map<Eigen::MatrixXd> x, const Eigen::Map<Eigen::MatrixXd> weight, double jitter,
                                  const Rcpp::List& kernel, const Rcpp::List& settings, const Eigen::Map<Eigen::MatrixXd> at,
                                  SEXP progress) {
  RMonitor monitor(progress);
  const SamplePrediction p = predict_sample(as_model(kernel, x.cols(), settings), x, weight, jitter, at, monitor);
  return Rcpp::List::create(Rcpp::Named("probability") = p.probability, Rcpp::Named("mean") = p.mean,
                            Rcpp::Named("variance") = p.variance, Rcpp::Named("monte_carlo_se") = p.monte_carlo_se);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_gp_ais(const Eigen::Map<Eigen::MatrixXd> x, const Eigen::Map<Eigen::VectorXd> y, const Rcpp::List& kernel,
                       const Rcpp::List& settings, const std::string& sampler, int temperatures, int runs, int steps,
                       const Rcpp::NumericVector& seed, SEXP progress) {
  RMonitor monitor(progress);
  AisOptions options;
  options.sampler = as_sampler(sampler);
  options.temperatures = temperatures;
  options.runs = runs;
  options.steps = steps;
  options.threads = settings["threads"];
  const AisResult r = annealed_evidence(as_model(kernel, x.cols(), settings), x, y, options, make_rng(seed), monitor);
  return Rcpp::List::create(Rcpp::Named("log_evidence") = r.log_evidence, Rcpp::Named("log_weights") = r.log_weights,
                            Rcpp::Named("effective_size") = r.effective_size);
}

// Expectation propagation for N(0, covariance) cut to the positive orthant.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_orthant_ep(const Eigen::Map<Eigen::MatrixXd> covariance, const Rcpp::NumericVector& seed, SEXP progress) {
  RMonitor monitor(progress);
  Rng rng = make_rng(seed);
  const Index n = covariance.rows();
  EpOptions options;
  options.parallel = true;
  options.full_covariance = false;
  const TruncationSites sites(VectorXd::Zero(n), VectorXd::Constant(n, std::numeric_limits<double>::infinity()));
  const EpResult r = expectation_propagation(covariance, VectorXd::Zero(n), sites, options, rng, monitor);
  return Rcpp::List::create(Rcpp::Named("mean") = r.mean, Rcpp::Named("variance") = r.variance, Rcpp::Named("log_z") = r.log_z,
                            Rcpp::Named("convergence") = as_list(r.convergence));
}
