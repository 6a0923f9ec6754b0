// The surrogates of Bayesian optimisation: Gaussian and Student-t processes with a linear mean.
//
//   f(x) = phi(x)'w + eps(x),   cov eps = s2 K(theta),   y = f + noise of variance s2 nr,   K~ = K + nr I
//
//   gp            w = b and s2 known
//   gp_normal     w ~ N(b, s2 B), s2 known
//   tp_nig        w ~ N(b, s2 B), s2 ~ inverse gamma(a, c)
//   tp_jeffreys   p(w, s2) proportional to 1 / s2
//
// With W = Phi'K~^-1 Phi + B^-1 (no B^-1 for Jeffreys) and w_n = W^-1 (Phi'K~^-1 y + B^-1 b),
//
//   q = 2c + (y - Phi w_n)'K~^-1 (y - Phi w_n) + (w_n - b)'B^-1 (w_n - b),   nu = n + 2a (Jeffreys: n - p),   s2_n = q / nu
//   f(x) | y ~ t_nu with location phi'w_n + k'K~^-1 (y - Phi w_n)
//              and squared scale s2_n [k(x, x) - k'K~^-1 k + g'W^-1 g],   g = phi - Phi'K~^-1 k
//
// and the normal law with s2 in place of s2_n for the first two. Marginally y has covariance s2 H^-1, H = K~^-1 - K~^-1 Phi W^-1
// Phi'K~^-1 (Phi absent for gp), which gives all gradients and exact leave-one-out laws in closed form: with alpha = H (y - Phi
// b)
//
//   y_i | others ~ t_(nu-1), error alpha_i / H_ii, squared scale (q - alpha_i^2 / H_ii) / ((nu - 1) H_ii).
//
// Martinez-Cantin (JMLR 2014), section 2; O'Hagan (1992) and Santner, Williams and Notz (2003), 3.3 for the formulas. The linear
// equations are those of kriging_system.h: rows are appended in O(n^2), and a query costs one triangular solve.
#pragma once

#include <functional>
#include <limits>

#include "core/base/fields.h"
#include "core/kernel/kernel.h"
#include "core/linalg/spd.h"
#include "core/base/types.h"
#include "process/kriging_system.h"

namespace granary::process {

enum class BoProcess { gp, gp_normal, tp_nig, tp_jeffreys };
inline Names<BoProcess> names(BoProcess) {
  return {{BoProcess::tp_jeffreys, "tp_jeffreys"}, {BoProcess::tp_nig, "tp_nig"}, {BoProcess::gp_normal, "gp_normal"}, {BoProcess::gp, "gp"}};
}

struct BoPrior {
  BoProcess process = BoProcess::tp_jeffreys;
  VectorXd mean;      // b, one per term of the mean
  VectorXd variance;  // the diagonal of B
  double shape = 1;   // a
  double rate = 1;    // c
  double s2 = 1;      // where it is known
};
template <class V>
void fields(V& v, BoPrior& t) {
  v("process", t.process);
  v("b", t.mean);
  v("B", t.variance);
  v("a", t.shape);
  v("c", t.rate);
  v("s2", t.s2);
}

// The terms phi(x): none, a constant, the columns listed, or what a function makes of the points.
struct BoTrend {
  bool constant = true;
  std::vector<Index> columns;
  std::function<MatrixXd(const MatrixXd&)> function;  // takes the place of the others

  MatrixXd features(ConstMatrixRef x) const;
  bool differentiable() const { return !function; }
  MatrixXd slopes(Index dimension) const;  // d phi / dx, terms x inputs; the same everywhere
};
template <class V>
void fields(V& v, BoTrend& t) {
  v("constant", t.constant);
  v("columns", positions(t.columns));
  v("features", t.function);
}

enum class BoScore { evidence, leave_one_out };
inline Names<BoScore> names(BoScore) { return {{BoScore::evidence, "evidence"}, {BoScore::leave_one_out, "loo"}}; }

struct BoPrediction {
  VectorXd location, scale;
};

class BoSurrogate {
 public:
  // `factor` belongs to the first of the rows; rows beyond it are appended. Empty: K~ is factored here.
  BoSurrogate(Kernel kernel, double noise, BoTrend trend, const BoPrior& prior, ConstMatrixRef x, ConstVectorRef y,
              Cholesky factor = {});

  Index size() const { return y_.size(); }
  const MatrixXd& x() const { return x_; }
  const VectorXd& y() const { return y_; }
  double nu() const { return nu_; }  // infinite for Gaussian processes
  double s2() const { return s2_; }  // s2_n, or the known one
  double noise() const { return noise_; }
  const VectorXd& weights() const { return system_.beta(); }
  const SystemFactor& factor() const { return system_.factor(); }
  int floored() const { return floored_; }  // rows whose pivot was raised to the noise: repeated points
  bool differentiable() const { return kernel_.differentiable_in_inputs() && trend_.differentiable(); }
  bool fell_back() const { return weak_; }  // Jeffreys with too few points: a weak proper prior took its place

  double log_evidence() const;
  double log_leave_one_out() const;
  // Of the score, in the logarithms of the kernel's parameters and, last, of the noise.
  VectorXd gradient(BoScore score) const;

  BoPrediction predict(ConstMatrixRef x) const;
  // At one point, with derivatives of location and scale.
  void predict_gradient(ConstVectorRef x, double& location, double& scale, VectorXd& d_location, VectorXd& d_scale) const;
  MatrixXd covariance(ConstMatrixRef x) const;  // joint squared scale

  void append(ConstVectorRef x, double y);

 private:
  void append_row(Index i);
  void solve();
  MatrixXd projected_inverse() const;  // H
  bool weighs_mean() const { return prior_.process != BoProcess::gp && phi_.cols() > 0; }
  bool student() const { return nu_ < std::numeric_limits<double>::infinity(); }

  Kernel kernel_;
  double noise_;
  BoTrend trend_;
  BoPrior prior_;
  MatrixXd x_, phi_;
  VectorXd y_;
  KrigingSystem system_;  // with C = K~, F = Phi, beta = w
  double q_ = 0, nu_ = 0, s2_ = 1;
  int floored_ = 0;
  bool weak_ = false;
};

}  // namespace granary::process
