#include "dependence_variable.h"

#include <algorithm>
#include <limits>

#include "core/errors.h"
#include "core/parallel.h"

namespace granary::kernels {

std::vector<KernelFeatures> variable_features(const std::vector<DependenceVariable>& variables,
                                              const KernelFeaturesOptions& options, int threads, Monitor& monitor) {
  std::vector<KernelFeatures> result(variables.size());
  parallel_for(static_cast<Index>(variables.size()), threads, monitor, [&](Index i) {
    const DependenceVariable& v = variables[static_cast<std::size_t>(i)];
    result[static_cast<std::size_t>(i)] =
        v.kernel ? kernel_features(*v.kernel, v.x, options, monitor) : kernel_features(v.x, options, monitor);
  });
  return result;
}

Features centred_values(std::vector<KernelFeatures>& features) {
  Features z;
  for (KernelFeatures& f : features) z.push_back(std::move(f.values));
  return z;
}

double choose_nu(const std::vector<DependenceVariable>& variables, const std::vector<KernelFeatures>& features, NuRule rule,
                 const KernelFeaturesOptions& options, Monitor& monitor) {
  if (rule == NuRule::safe) {
    double largest = 0;
    for (const KernelFeatures& f : features) largest = std::max(largest, largest_eigenvalue(f.values.transpose() * f.values));
    return largest > 0 ? 1.01 * largest : 1;
  }
  double smallest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const DependenceVariable& v = variables[i];
    double sum;
    if (rule == NuRule::parzen) {
      if (!v.window) throw InputError("the kernel of a variable is not the convolution of a known Parzen window with itself.");
      sum = smallest_row_sum(kernel_features(*v.window, v.x, options, monitor), *v.window, v.x, monitor);
    } else if (v.kernel) {
      sum = smallest_row_sum(features[i], *v.kernel, v.x, monitor);
    } else {
      sum = v.x.colwise().sum().minCoeff();
    }
    smallest = std::min(smallest, sum);
  }
  if (!(smallest > 0))
    throw InputError(
        "a row of a kernel matrix has a sum that is not positive: nu needs a kernel that is a density, or nu = \"safe\".");
  return smallest;
}

}  // namespace granary::kernels
