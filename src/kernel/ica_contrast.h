// Dependence among the columns of Y = S W' as a function of the rotation W, with its gradient: what kernel ICA minimises.
//
// f depends on Y through features Z_i = K(y_i, y_P) L^-T with P and L L' = K_PP from the incomplete Cholesky
// (core/kernel_features.h). For the pivots found, the derivative is worked out backwards: f -> blocks B (dependence.h) -> Z_i ->
// K(y_i, y_P), K_PP -> y_i. One gradient costs some four values, where differences over all pairs of components (section 4.3 of
// Gretton et al.) would cost n (n - 1) of them.
//
//   dB_ij = t_i (dZ_i'Z_j + Z_i'dZ_j) t_j + ...,  where t, for KCC and KGV, is a function of Z_i'Z_i
//
// KCC and KGV are those of Bach and Jordan (form `squared`), without dropping small eigenvalues, so that the function is smooth.
#pragma once

#include "core/kernel/kernel.h"
#include "core/kernel/kernel_features.h"
#include "core/base/monitor.h"
#include "kernel/dependence.h"
#include "kernel/dependence_variable.h"

namespace granary::kernel {

class IcaContrast {
 public:
  IcaContrast(const Kernel& kernel, const DependenceOptions& options, const KernelFeaturesOptions& rank, int threads)
      : kernel_(kernel), options_(options), rank_(rank), threads_(threads) {}

  double value(const MatrixXd& y, Monitor& monitor) const;                             // infinite where it is not defined
  double value_and_gradient(const MatrixXd& y, MatrixXd& dy, Monitor& monitor) const;  // dy as large as y

  // Fixes nu at the components y; returns whether the kernel mutual information is defined there. A value is used as it is.
  void set_nu(double nu) { options_.nu = nu; }
  double nu_at(const MatrixXd& y, NuRule rule, Monitor& monitor) const;
  double nu() const { return options_.nu; }
  bool has_gradient() const { return kernel_.differentiable_in_inputs(); }

 private:
  struct State;
  State forward(const MatrixXd& y, Monitor& monitor) const;
  double value_of(const State& state) const;
  MatrixXd block_gradient(const State& state) const;  // df/dB

  Kernel kernel_;
  DependenceOptions options_;
  KernelFeaturesOptions rank_;
  int threads_;
};

}  // namespace granary::kernel
