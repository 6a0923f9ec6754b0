#include "process/gp_classify_fit.h"

#include <cmath>
#include <limits>

namespace granary::process {

ClassifyOptions ClassifySettings::options() const { return {tol, max_iter, parallel, damping, false}; }

ClassifyModel ClassifyProblem::model() const {
  ClassifyModel out{Kernel(kernel, x.cols())};
  out.link = settings.link;
  out.inference = settings.method;
  out.mean = settings.mean;
  out.learn_mean = settings.learn_mean;
  return out;
}

namespace {

MatrixXd spread_starts(const ClassifySearch& search, Rng& rng) {
  const Index d = search.start.size();
  MatrixXd starts = search.start.transpose().replicate(search.n_starts, 1);
  for (Index s = 1; s < starts.rows(); ++s)
    for (Index j = 0; j < d; ++j) starts(s, j) += rng.uniform(-2, 2);
  for (Index s = 0; s < starts.rows(); ++s)
    starts.row(s) = starts.row(s).cwiseMax(search.lower.transpose()).cwiseMin(search.upper.transpose());
  return starts;
}

}  // namespace

ClassifyFit gp_classify_fit(const ClassifyProblem& problem, const ClassifySearch& search, const Rng& rng, Monitor& monitor) {
  ClassifyModel model = problem.model();
  ClassifyFit out;
  if (search.start.size() > 0) {
    ClassifyLearnOptions options;
    options.lower = search.lower;
    options.upper = search.upper;
    options.prior = search.prior.value_or(LogPrior());
    options.inner = problem.settings.options();
    options.inner.tol = std::max(options.inner.tol, 1e-5);  // the evidence is then good to its square
    options.optimiser.tol = 1e-4;
    options.optimiser.value_tol = 1e-9;
    options.optimiser.max_iter = 200;
    options.threads = problem.settings.threads;
    Rng spread = rng.stream(1);
    const MultistartResult found =
        learn_classifier(model, problem.x, problem.y, spread_starts(search, spread), options, rng.stream(2), monitor);
    out.parameters = found.x;
    out.search = found.convergence;
    out.starts.resize(static_cast<Index>(found.starts.size()));
    for (Index s = 0; s < out.starts.size(); ++s) out.starts[s] = -found.starts[s].value;
    for (const Index j : on_bound(found.x, options.lower, options.upper))
      (found.x[j] - options.lower[j] < options.upper[j] - found.x[j] ? out.on_lower : out.on_upper).push_back(j);
    model.set_parameters(found.x);
  }
  Rng sites = rng.stream(3);
  out.posterior = latent_posterior(model, problem.x, problem.y, problem.settings.options(), sites, monitor);
  return out;
}

ParameterSample classify_parameter_sample(const ClassifyProblem& problem, ConstVectorRef start, const ParameterSampleOptions& options,
                                          const Rng& rng, Monitor& monitor) {
  const ClassifyModel model = problem.model();
  const ClassifyOptions plain = problem.settings.options();
  const Rng sites = rng.stream(1u << 31);
  const LogEvidence log_evidence = [&](const VectorXd& theta, VectorXd* gradient) {
    ClassifyModel at = model;
    at.set_parameters(theta);
    ClassifyOptions inner = plain;
    inner.with_gradient = gradient != nullptr;
    Rng own = sites;  // the same order of the sites everywhere: the density is one function
    try {
      const LatentPosterior found = latent_posterior(at, problem.x, problem.y, inner, own, monitor);
      if (gradient != nullptr) *gradient = found.gradient;
      return found.log_evidence;
    } catch (const NumericalError&) {
      return -std::numeric_limits<double>::infinity();
    }
  };
  return sample_parameters(log_evidence, start, options, rng, monitor);
}

}  // namespace granary::process
