// A variable as the measures of dependence see it: observations and a kernel, or a kernel matrix; and the scale nu of the kernel
// mutual information.
#pragma once

#include <memory>
#include <vector>

#include "core/kernel/kernel.h"
#include "core/kernel/kernel_features.h"
#include "core/base/monitor.h"
#include "core/base/types.h"
#include "kernel/dependence.h"

namespace granary::kernel {

struct DependenceVariable {
  MatrixXd x;  // observations in rows; the kernel matrix itself where there is no kernel
  std::unique_ptr<Kernel> kernel;
  std::unique_ptr<Kernel> window;  // Parzen window whose convolution with itself is the kernel, where the kernel is one
};

std::vector<KernelFeatures> variable_features(const std::vector<DependenceVariable>& variables,
                                              const KernelFeaturesOptions& options, int threads, Monitor& monitor);
Features centred_values(std::vector<KernelFeatures>& features);  // moved out of them

constexpr Index largest_gram = 4000;  // observations up to which kernel matrices are formed where that pays: 128 MB each

MatrixXd kernel_matrix(const DependenceVariable& variable);
std::vector<MatrixXd> kernel_matrices(const std::vector<DependenceVariable>& variables, int threads, Monitor& monitor);
void centre(MatrixXd& gram);  // H K H for symmetric K

// Two variables as features or, where a rank of a tenth of the observations does not reach the tolerance and no rank was asked
// for, as centred kernel matrices, which then are cheaper than the factorisation and exact.
struct PairInput {
  Features features;
  std::vector<MatrixXd> matrices;  // empty where the features are to be used
};
PairInput pair_input(const std::vector<DependenceVariable>& variables, const KernelFeaturesOptions& options, int threads,
                     Monitor& monitor);

// The median distance between two rows of x, 0 where there is one.
double median_distance(ConstMatrixRef x);

// nu of equation (31), the smallest over variables and observations of
//   parzen   sum_i kappa(x_i - x_j), the unnormalised density estimate
//   gram     sum_i k(x_i, x_j), where the window of the kernel is not known
// or safe: 1.01 times the largest eigenvalue of a centred kernel matrix, so that condition (28) holds.
enum class NuRule { parzen, gram, safe };
inline Names<NuRule> names(NuRule) { return {{NuRule::parzen, "parzen"}, {NuRule::gram, "gram"}, {NuRule::safe, "safe"}}; }
double choose_nu(const std::vector<DependenceVariable>& variables, const std::vector<KernelFeatures>& features, NuRule rule,
                 const KernelFeaturesOptions& options, Monitor& monitor);

}  // namespace granary::kernel
