#include "process/ec_gauss.h"

#include <algorithm>

namespace granary::process {

namespace {

MixedSites::Function site_of(const EcGaussProblem& problem, Index i) {
  const double a = problem.a[i], b = problem.b[i];
  const auto& extra = problem.extra[static_cast<std::size_t>(i)];
  switch (problem.kind[static_cast<std::size_t>(i)]) {
    case EcFactorKind::probit:
      return [a](double m, double v) { return probit_moments(a, m, v); };
    case EcFactorKind::truncate:
      return [a, b](double m, double v) { return truncation_moments(a, b, m, v); };
    case EcFactorKind::spike_slab:
      return [a, b](double m, double v) { return spike_slab_moments(a, b, m, v); };
    case EcFactorKind::laplace:
      return [a](double m, double v) { return laplace_moments(a, m, v); };
    case EcFactorKind::gaussian:
      return [a, b](double m, double v) { return gaussian_moments(a, b, m, v); };
    case EcFactorKind::discrete:
      require(extra.has_value() && extra->values.size() == extra->log_w.size(), "a discrete factor needs values and their weights.");
      return [e = *extra](double m, double v) { return discrete_moments(e.values, e.log_w, m, v); };
    case EcFactorKind::generic:
      require(extra.has_value() && extra->log_density, "a factor of your own needs its function.");
      return [f = extra->log_density](double m, double v) { return general_moments(f, m, v); };
    case EcFactorKind::flat:
      break;
  }
  return [](double m, double v) { return SiteMoments{0, m, v}; };
}

void check_sizes(const EcGaussProblem& problem) {
  const std::size_t n = problem.kind.size();
  require(problem.extra.size() == n && static_cast<std::size_t>(problem.a.size()) == n &&
              static_cast<std::size_t>(problem.b.size()) == n && problem.log_concave.size() == n,
          "the parts of the factors are of different lengths.");
}

}  // namespace

EpResult ec_gauss(const EcGaussProblem& problem, const EpOptions& options, Rng& rng, Monitor& monitor) {
  check_sizes(problem);
  std::vector<MixedSites::Function> sites;
  for (std::size_t i = 0; i < problem.kind.size(); ++i) sites.push_back(site_of(problem, static_cast<Index>(i)));
  const bool log_concave = std::all_of(problem.log_concave.begin(), problem.log_concave.end(), [](char c) { return c != 0; });
  EpResult fit = expectation_propagation(problem.sigma, problem.mu, MixedSites(sites, log_concave), options, rng, monitor);
  fit.r = EpSolver(problem.sigma, fit.tau).r();
  return fit;
}

}  // namespace granary::process
