// What the algorithms of the relevance vector machine share: scaled data, the columns in use, and what follows from them.
#pragma once

#include <cmath>
#include <vector>

#include "core/base/monitor.h"
#include "core/base/types.h"
#include "process/rvm.h"

namespace granary::process {

// Columns of unit mean square, y likewise.
struct RvmScaled {
  MatrixXd phi;
  VectorXd y, column_scale;
  double y_scale = 1;
  RvmScaled(ConstMatrixRef phi_in, ConstVectorRef y_in) : phi(phi_in), y(y_in), column_scale(phi_in.cols()) {
    const double n = static_cast<double>(y.size());
    for (Index k = 0; k < phi.cols(); ++k) {
      const double size = std::sqrt(phi.col(k).squaredNorm() / n);
      column_scale[k] = size > 0 ? size : 1;
      phi.col(k) /= column_scale[k];
    }
    const double size = std::sqrt(y.squaredNorm() / n);
    if (size > 0) y_scale = size;
    y /= y_scale;
  }
};

// The columns in use and what follows from them.
struct RvmModel {
  std::vector<Index> active;
  VectorXd alpha, mean;
  MatrixXd covariance;
  double noise = 0.1, evidence = 0;

  Index size() const { return static_cast<Index>(active.size()); }
};

inline VectorXd gammas(const RvmModel& model) { return (1 - model.alpha.array() * model.covariance.diagonal().array()).max(0.0); }

// S, mu and the evidence from scratch. `gram` is Phi_A' Phi_A, `projection` Phi_A' y.
void refresh(RvmModel& model, const MatrixXd& gram, const VectorXd& projection, const RvmScaled& data);
void refresh(RvmModel& model, const RvmScaled& data);  // ... which are made here

// |y - Phi mu|^2 / (n - sum gamma)
double residual_noise(const RvmModel& model, const RvmScaled& data);

// The largest | a_k mu_k^2 - gamma_k |: zero where the evidence is stationary in the precisions.
double rvm_residual(const RvmModel& model);

// Whether evidence `is` is no less than `was`, up to rounding.
inline bool no_less(double is, double was) { return is >= was - 1e-10 * (1 + std::abs(was)); }

// All columns with the same precision a, and s2 where it is learnt, at the largest evidence: with Phi = U diag(d) V' that is a function
// of two numbers, C = s2 I + U diag(d^2 / a) U'.
RvmModel equal_precisions(const RvmScaled& data, const RvmOptions& options, double noise, Monitor& monitor);

RvmModel rvm_fast(const RvmScaled& data, const RvmOptions& options, double noise, Monitor& monitor, std::vector<double>& trace,
                  Convergence& convergence);

// From `model`: columns, precisions, noise.
RvmModel rvm_fixed_point(const RvmScaled& data, const RvmOptions& options, RvmModel model, Monitor& monitor, std::vector<double>& trace,
                         Convergence& convergence, double gain = 1e-7, int patience = 20);

// From `model`, by an active set: see rvm_active.cpp.
RvmModel rvm_active(const RvmScaled& data, const RvmOptions& options, RvmModel model, Monitor& monitor, std::vector<double>& trace,
                    Convergence& convergence);

}  // namespace granary::process
