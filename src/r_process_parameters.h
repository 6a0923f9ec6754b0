// Priors of the parameters of Gaussian processes and chains for them, on their way between R and the core.
#pragma once

#include "process/gp_parameters.h"
#include "process/gp_sampling.h"
#include "r_glue.h"

namespace granary::process {

// list(mean, sd), of the logarithms; NULL: flat.
inline LogPrior as_prior(SEXP prior) {
  if (Rf_isNull(prior)) return {};
  const Rcpp::List list(prior);
  return {Rcpp::as<VectorXd>(list["mean"]), Rcpp::as<VectorXd>(list["sd"])};
}

// `settings`: sampler, draws, burn_in, thin, steps, chains, lower, upper, prior, threads.
inline ParameterSampleOptions as_sample_options(const Rcpp::List& settings) {
  const std::string sampler = Rcpp::as<std::string>(settings["sampler"]);
  ParameterSampleOptions options;
  options.sampler = sampler == "hmc"   ? ParameterSampler::hmc
                    : sampler == "ess" ? ParameterSampler::ess
                                       : ParameterSampler::slice;
  options.draws = settings["draws"];
  options.burn_in = settings["burn_in"];
  options.thin = settings["thin"];
  options.steps = settings["steps"];
  options.chains = settings["chains"];
  options.lower = Rcpp::as<VectorXd>(settings["lower"]);
  options.upper = Rcpp::as<VectorXd>(settings["upper"]);
  options.prior = as_prior(settings["prior"]);
  options.threads = settings["threads"];
  return options;
}

inline Rcpp::List as_list(const ParameterSample& sample, const ParameterSampleOptions& options) {
  double effective = 0;
  for (Index c = 0; c < options.chains; ++c)
    effective += effective_sample_size(sample.log_density.segment(c * options.draws, options.draws));
  return Rcpp::List::create(Rcpp::Named("theta") = sample.theta, Rcpp::Named("log_density") = sample.log_density,
                            Rcpp::Named("acceptance") = sample.acceptance, Rcpp::Named("effective_size") = effective);
}

}  // namespace granary::process
