#include "kernel/dependence_fit.h"

#include <cmath>

#include "core/base/errors.h"

namespace granary::kernel {

namespace {

constexpr double most_operations = 1e11;

std::vector<KernelFeatures> prepare(const std::vector<DependenceVariable>& variables, DependenceFitOptions& options,
                                    Monitor& monitor) {
  std::vector<KernelFeatures> features = affordable_features(variables, options.rank, options.threads, monitor);
  if (options.nu_rule) options.dependence.nu = choose_nu(variables, features, *options.nu_rule, options.rank, monitor);
  return features;
}

}  // namespace

std::vector<KernelFeatures> affordable_features(const std::vector<DependenceVariable>& variables,
                                                const KernelFeaturesOptions& options, int threads, Monitor& monitor) {
  if (variables.empty()) throw InputError("there are no variables.");
  const double m = static_cast<double>(variables[0].x.rows());
  const Index most = static_cast<Index>(std::sqrt(most_operations / std::max(1.0, m)));
  if (options.max_rank > 0 || most >= variables[0].x.rows()) return variable_features(variables, options, threads, monitor);
  KernelFeaturesOptions bounded = options;
  const auto refuse_beyond = [&](const std::vector<KernelFeatures>& features, Index columns, double explained) {
    for (std::size_t i = 0; i < features.size(); ++i)
      if (features[i].values.cols() >= columns && features[i].trace - features[i].residual < explained * features[i].trace)
        throw InputError(message("the kernel of variable ", i + 1, " is so narrow that ", columns, " columns leave ",
                                 features[i].residual / features[i].trace, " of its matrix out, and all of them would cost ", m,
                                 "^3 operations. Use a larger `width`, give `max_rank`, or take a sample of the rows."));
  };
  // The first columns explain most. Where a few of them explain less than half of what they must if all that can be afforded are to
  // explain the matrix, the rest cannot make up for it: said at once, not after the work.
  const Index few = std::min<Index>(most, 100);
  bounded.max_rank = few;
  refuse_beyond(variable_features(variables, bounded, threads, monitor), few, 0.5 * static_cast<double>(few) / static_cast<double>(most));
  bounded.max_rank = most;
  std::vector<KernelFeatures> features = variable_features(variables, bounded, threads, monitor);
  refuse_beyond(features, most, 1 - options.tol);
  return features;
}

DependenceFit measure_dependence(const std::vector<DependenceVariable>& variables, DependenceFitOptions options,
                                 Monitor& monitor) {
  std::vector<KernelFeatures> features = prepare(variables, options, monitor);
  const Features z = centred_values(features);
  const Dependence found = dependence(z, options.dependence, monitor);
  DependenceFit out;
  out.value = found.value;
  out.spectrum = found.spectrum;
  out.norms = found.norms;
  out.nu = options.dependence.nu;
  for (std::size_t i = 0; i < z.size(); ++i) {
    const KernelFeatures& f = features[i];
    out.witness.push_back({z[i] * found.weights[i], f.pivots, f.coefficients(found.weights[i]), f.mean.dot(found.weights[i]),
                           f.trace > 0 ? f.residual / f.trace : 0.0});
  }
  return out;
}

PermutationTest test_dependence(const std::vector<DependenceVariable>& variables, const DependenceTestOptions& options,
                                const Rng& rng, Monitor& monitor) {
  DependenceFitOptions fit = options.fit;
  const int threads = fit.threads;
  if (options.joint)
    return joint_permutation_test(kernel_matrices(variables, threads, monitor), options.n_perm, rng, threads, monitor);
  if (fit.dependence.measure == Measure::hsic && variables.size() == 2) {
    const PairInput pair = pair_input(variables, fit.rank, threads, monitor);
    if (!pair.matrices.empty())
      return permutation_test(pair.matrices[0], pair.matrices[1], options.n_perm, rng, threads, monitor);
    return permutation_test(pair.features, fit.dependence, options.n_perm, rng, threads, monitor);
  }
  std::vector<KernelFeatures> features = prepare(variables, fit, monitor);
  return permutation_test(centred_values(features), fit.dependence, options.n_perm, rng, threads, monitor);
}

GammaTest test_dependence_by_gamma(const std::vector<DependenceVariable>& variables, const DependenceFitOptions& options,
                                   Monitor& monitor) {
  const PairInput pair = pair_input(variables, options.rank, options.threads, monitor);
  return pair.matrices.empty() ? gamma_test(pair.features[0], pair.features[1])
                               : gamma_test_matrices(pair.matrices[0], pair.matrices[1]);
}

}  // namespace granary::kernel
