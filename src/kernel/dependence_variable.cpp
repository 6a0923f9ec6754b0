#include "kernel/dependence_variable.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "kernel/dependence_fit.h"

namespace granary::kernel {

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

MatrixXd kernel_matrix(const DependenceVariable& variable) {
  return variable.kernel ? variable.kernel->cross(variable.x, variable.x) : variable.x;
}

std::vector<MatrixXd> kernel_matrices(const std::vector<DependenceVariable>& variables, int threads, Monitor& monitor) {
  std::vector<MatrixXd> result(variables.size());
  parallel_for(static_cast<Index>(variables.size()), threads, monitor,
               [&](Index i) { result[static_cast<std::size_t>(i)] = kernel_matrix(variables[static_cast<std::size_t>(i)]); });
  return result;
}

void centre(MatrixXd& gram) {
  const VectorXd mean = gram.rowwise().mean();
  gram.rowwise() -= (mean.array() - mean.mean()).matrix().transpose();
  gram.colwise() -= mean;
}

PairInput pair_input(const std::vector<DependenceVariable>& variables, const KernelFeaturesOptions& options, int threads,
                     Monitor& monitor) {
  const Index m = variables[0].x.rows();
  KernelFeaturesOptions quick = options;
  if (options.max_rank == 0 && m <= largest_gram) quick.max_rank = std::max<Index>(32, m / 10);
  std::vector<KernelFeatures> features = affordable_features(variables, quick, threads, monitor);
  PairInput result;
  const bool reached = std::all_of(features.begin(), features.end(), [&](const KernelFeatures& f) {
    return f.values.cols() < quick.max_rank || f.residual <= options.tol * f.trace;
  });
  if (quick.max_rank == options.max_rank || reached) {
    result.features = centred_values(features);
  } else {
    result.matrices = kernel_matrices(variables, threads, monitor);
    for (MatrixXd& k : result.matrices) centre(k);
  }
  return result;
}

double median_distance(ConstMatrixRef x) {
  const Index n = x.rows();
  if (n < 2) return 0;
  std::vector<double> distance(static_cast<std::size_t>(n * (n - 1) / 2));
  const MatrixXd columns = x.transpose();
  std::size_t at = 0;
  for (Index i = 0; i < n; ++i) {
    for (Index j = i + 1; j < n; ++j) distance[at++] = (columns.col(i) - columns.col(j)).squaredNorm();
  }
  const auto middle = distance.begin() + static_cast<std::ptrdiff_t>(distance.size() / 2);
  std::nth_element(distance.begin(), middle, distance.end());
  const double upper = std::sqrt(*middle);
  return distance.size() % 2 == 1 ? upper : 0.5 * (upper + std::sqrt(*std::max_element(distance.begin(), middle)));
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

}  // namespace granary::kernel
