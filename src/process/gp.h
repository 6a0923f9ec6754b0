// Exact Gaussian process regression with a linear trend (kriging).
//
//   y = F beta + z,   z ~ N(0, s2 C),   C = K(theta) + diag(nugget + noise_i),
//
// K from a kernel, F n x p (p = 0: no trend), noise known. Either s2 is profiled out (then the kernel's own variance should be
// held at one and noise be relative to s2), or s2 = 1 and the kernel's variance carries the scale.
//
//   C = L L',  F~ = L^-1 F,  beta = argmin |L^-1 (y - F beta)|,  alpha = C^-1 (y - F beta)
//   H = C^-1 - C^-1 F (F'C^-1 F)^-1 F' C^-1                                                          (alpha = H y)
//   ml    -1/2 [n log(2 pi s2) + log|C| + alpha'(y - F beta) / s2],                                  s2 = alpha'(y - F beta) / n
//   reml  -1/2 [(n - p) log(2 pi s2) + log|C| + log|F'C^-1 F| - log|F'F| + alpha'(y - F beta) / s2], s2 = ... / (n - p)
//   loo   -sum_i c_i^2, c_i = alpha_i / H_ii the leave-one-out error
//   loo_density  sum_i log N(y_i | its leave-one-out mean, s2 / H_ii),                               s2 = mean alpha_i^2 / H_ii
//
// Gradients run backwards: each criterion gives G = d criterion / dC in closed form, the kernel turns G into its parameters'
// gradient, so all parameters together cost one inverse, about 2 n^3 / 3 flops. Rasmussen and Williams (2006), 5.4; the solution
// of the linear equations is that of kriging_system.h.
#pragma once

#include <functional>

#include "core/base/fields.h"
#include "core/kernel/kernel.h"
#include "core/base/monitor.h"
#include "core/optim/multistart.h"
#include "core/linalg/spd.h"
#include "core/base/types.h"
#include "process/gp_parameters.h"
#include "process/kriging_system.h"

namespace granary::process {

struct GpModel {
  Kernel kernel;
  double nugget = 0;          // added to the diagonal
  bool learn_nugget = false;  // its logarithm is then the last parameter
  VectorXd noise = {};        // known, added to the diagonal; empty: none
  bool profile_scale = true;  // s2 in closed form, else s2 = 1

  Index n_parameters() const { return kernel.n_parameters() + (learn_nugget ? 1 : 0); }
  VectorXd parameters() const;  // logarithms
  void set_parameters(ConstVectorRef log_parameters);
};

enum class GpCriterion { ml, reml, loo, loo_density };
inline Names<GpCriterion> names(GpCriterion) {
  return {{GpCriterion::ml, "ML"}, {GpCriterion::reml, "REML"}, {GpCriterion::loo, "LOO"}, {GpCriterion::loo_density, "LOO density"}};
}

struct GpPrediction {
  VectorXd mean;
  VectorXd variance;  // of the process without noise; empty when not asked for
};
struct GpGradient {
  MatrixXd mean, variance;  // one row per point, one column per input
};
struct GpLeaveOneOut {
  VectorXd mean, variance;  // s2 / H_ii: of the observation, noise included
};

// Mean and, where asked for, variance (in units of the scale) at many points, a block at a time. `with_runs`: covariances of the
// observations with points, one column per point; `prior`: variances of points.
GpPrediction predict_in_blocks(const KrigingSystem& system, ConstMatrixRef x, ConstMatrixRef f, bool variance, int threads,
                               const std::function<MatrixXd(ConstMatrixRef)>& with_runs,
                               const std::function<VectorXd(ConstMatrixRef)>& prior, Monitor& monitor);

class GaussianProcess {
 public:
  // Throws InputError where sizes do not fit or F has not full column rank, NumericalError where C cannot be factored even with
  // the last jitter. `f` may have no columns. With a monitor, large matrices are factored in steps between which it is asked.
  GaussianProcess(GpModel model, ConstMatrixRef x, ConstVectorRef y, ConstMatrixRef f, GpCriterion criterion = GpCriterion::ml,
                  const JitterOptions& jitter = default_jitter(), Monitor* monitor = nullptr);
  static JitterOptions default_jitter() { return {1e-12, 1e-6}; }
  // A process whose factor and scale are at hand, as one that was saved: O(n^2), and value() is not known.
  static GaussianProcess restore(GpModel model, ConstMatrixRef x, ConstVectorRef y, ConstMatrixRef f, SystemFactor factor,
                                 double jitter, double scale, GpCriterion criterion = GpCriterion::ml);
  void know_inverse_diagonal(VectorXd diagonal) { inverse_diagonal_ = std::move(diagonal); }

  const GpModel& model() const { return model_; }
  const MatrixXd& inputs() const { return x_; }
  const VectorXd& responses() const { return y_; }
  const MatrixXd& trend() const { return f_; }  // F
  Index size() const { return y_.size(); }
  double scale() const { return scale_; }  // s2
  double jitter() const { return jitter_; }
  const VectorXd& beta() const { return system_.beta(); }
  const VectorXd& alpha() const { return system_.alpha(); }
  const SystemFactor& cholesky() const { return system_.factor(); }        // of C
  MatrixXd take_factor() { return system_.take_factor(); }                 // L; the process is used up
  const MatrixXd& trend_root() const { return system_.trend_root(); }      // L^-1 F
  const Cholesky& trend_precision() const { return system_.precision(); }  // of F'C^-1 F
  VectorXd fitted() const;  // the mean at the observed inputs, without a new matrix of kernel values

  double value() const { return value_; }               // of the criterion
  VectorXd gradient(Monitor* monitor = nullptr) const;  // in the logarithms of the parameters
  GpLeaveOneOut leave_one_out() const;
  VectorXd inverse_diagonal() const;  // of C^-1: O(n^3), unless it is known, as after append()

  GpPrediction predict(ConstMatrixRef x, ConstMatrixRef f, bool variance, int threads, Monitor& monitor) const;
  MatrixXd covariance(ConstMatrixRef x, ConstMatrixRef f) const;  // joint, of the process without noise
  // df[k]: derivative of the rows of f in input k. Empty for a constant trend.
  GpGradient predict_gradient(ConstMatrixRef x, ConstMatrixRef f, const std::vector<MatrixXd>& df) const;
  // The weights c(x) of mean(x) = c(x)'y, one row per point.
  MatrixXd weights(ConstMatrixRef x, ConstMatrixRef f) const;

  // One more observation, parameters as they are, O(n^2). `noise`: its known noise, where the model has one.
  void append(ConstVectorRef x, double y, ConstVectorRef f, double noise = 0);
  void append_rows(ConstMatrixRef x, ConstVectorRef y, ConstMatrixRef f, ConstVectorRef noise);  // no noise: none is known

 private:
  struct Saved {};
  GaussianProcess(GpModel model, ConstMatrixRef x, ConstVectorRef y, ConstMatrixRef f, GpCriterion criterion, Saved)
      : model_(std::move(model)), x_(x), f_(f), y_(y), criterion_(criterion) {
    check_sizes();
  }
  void check_sizes() const;
  void append_row(ConstVectorRef x, double y, ConstVectorRef f, double noise, Index more);  // as far as its place goes
  void solve();                              // beta and alpha
  void evaluate();                           // the scale and the criterion
  MatrixXd inverse(Monitor* monitor) const;  // C^-1, all of it
  VectorXd projected_diagonal() const;       // of H

  GpModel model_;
  MatrixXd x_, f_;
  VectorXd y_;
  GpCriterion criterion_ = GpCriterion::ml;
  KrigingSystem system_;
  VectorXd inverse_diagonal_;  // empty: not known
  double scale_ = 1, value_ = 0, jitter_ = 0;
};

struct GpLearnOptions {
  GpCriterion criterion = GpCriterion::ml;
  VectorXd lower, upper;          // of the logarithms; empty: none
  LogPrior prior;                 // of the logarithms, making it a posterior mode
  LbfgsOptions optimiser;
  int threads = 1;
  bool progress = false;  // whether the evaluations move the bar: not where this is a part of something larger
};
// The criterion plus the log prior at the given parameters, and its gradient where not null. -infinity where C cannot be
// factored.
double gp_objective(const GpModel& model, ConstMatrixRef x, ConstVectorRef y, ConstMatrixRef f, ConstVectorRef log_parameters,
                    const GpLearnOptions& options, VectorXd* gradient, Monitor* monitor = nullptr);

// Maximises it from each row of `starts` (logarithms); the values of the result are those of minus the objective.
MultistartResult learn_gp(const GpModel& model, ConstMatrixRef x, ConstVectorRef y, ConstMatrixRef f, ConstMatrixRef starts,
                          const GpLearnOptions& options, Monitor& monitor);

}  // namespace granary::process
