#include "process/gp_parameters.h"

#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/infer/mcmc.h"
#include "core/base/parallel.h"

namespace granary::process {

ParameterSample sample_parameters(const LogEvidence& log_evidence, ConstVectorRef start, const ParameterSampleOptions& options,
                                  const Rng& rng, Monitor& monitor) {
  const Index m = start.size(), draws = options.draws;
  const LogPrior& prior = options.prior;
  const bool elliptical = options.sampler == ParameterSampler::ess, hamiltonian = options.sampler == ParameterSampler::hmc;
  if (m == 0) throw InputError("there is no free parameter to draw.");
  if (elliptical && !(prior.sd.size() == m && prior.sd.allFinite()))
    throw InputError("elliptical slices need a proper prior of every parameter.");
  const auto inside = [&](const VectorXd& theta) {
    return (theta.array() >= options.lower.array()).all() && (theta.array() <= options.upper.array()).all();
  };
  const auto evidence = [&](const VectorXd& theta, VectorXd* gradient) {
    monitor.check();
    const double value = inside(theta) ? log_evidence(theta, gradient) : -std::numeric_limits<double>::infinity();
    return std::isnan(value) ? -std::numeric_limits<double>::infinity() : value;
  };
  const LogDensity density = [&](const VectorXd& theta) { return evidence(theta, nullptr) + prior.add(theta, nullptr); };
  const LogDensityGradient slope = [&](const VectorXd& theta, VectorXd& gradient) {
    gradient = VectorXd::Zero(m);
    const double value = evidence(theta, &gradient);
    return value + prior.add(theta, &gradient);
  };

  ParameterSample result{MatrixXd(draws * options.chains, m), VectorXd(draws * options.chains), VectorXd::Ones(options.chains)};
  const int total = options.burn_in + options.draws * options.thin;
  parallel_for(options.chains, options.threads, monitor, [&](Index c) {
    Rng own = rng.stream(static_cast<std::uint64_t>(c));
    VectorXd theta = start, gradient;
    if (c > 0) theta = (start + 0.3 * own.normals(m)).cwiseMax(options.lower).cwiseMin(options.upper);
    double value = density(theta);
    if (!std::isfinite(value)) {
      theta = start;
      value = density(theta);
    }
    if (hamiltonian) value = slope(theta, gradient);
    Hamiltonian engine(options.steps, 0.05);
    for (int s = 0; s < total; ++s) {
      monitor.progress((c + static_cast<double>(s) / total) / options.chains);
      if (s == options.burn_in) engine.end_warm_up();
      if (hamiltonian) {
        engine.move(slope, theta, value, gradient, own);
      } else if (elliptical) {
        VectorXd centred = theta - prior.mean;
        double level = value - prior.add(theta, nullptr);
        elliptical_slice([&](const VectorXd& at) { return evidence(at + prior.mean, nullptr); }, centred, level,
                         prior.sd.cwiseProduct(own.normals(m)), own);
        theta = centred + prior.mean;
        value = level + prior.add(theta, nullptr);
      } else {
        slice_sweep(density, theta, value, VectorXd::Ones(m), own);
      }
      const int kept = s - options.burn_in + 1;
      if (kept <= 0 || kept % options.thin != 0) continue;
      const Index row = c * draws + kept / options.thin - 1;
      result.theta.row(row) = theta.transpose();
      result.log_density[row] = value;
    }
    if (hamiltonian) result.acceptance[c] = engine.acceptance();
  });
  for (Index c = 0; c < options.chains; ++c)
    result.effective_size += effective_sample_size(result.log_density.segment(c * draws, draws));
  return result;
}

}  // namespace granary::process
