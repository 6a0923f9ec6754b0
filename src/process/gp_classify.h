// Binary classification with a Gaussian process: y_i = +-1 with p(y_i | f_i) = Phi(y_i f_i) or logistic, f ~ N(mean, K(theta)).
//
// Expectation propagation and Laplace's method both end in N(f | m, A) with A = (K^-1 + diag(tau))^-1 and m = mean + K weight, so
// predictions are the same formulas for both: with R = (K + diag(tau)^-1)^-1
//
//   f* ~ N(mean + k*'weight, k** - k*'R k*),   p* = E p(y = 1 | f*)
//
// The log evidence is maximised over theta (and the mean) with reverse gradients (ML-II): for G = d log evidence / dK
//
//   EP       G = 1/2 (weight weight' - R)                               sites fixed, as they are at a fixed point
//   Laplace  G = 1/2 (weight weight' - R) + 1/2 (u g' + g u'),  u = (I - R K) s,  s_i = -1/2 A_ii dW_i / df_i
//
// (the printed equation 45 lacks a logarithm and a trace), and the derivative in the mean is 1'weight (+ 1'u). Lower bound:
// equation 35c, K^-1 gone by tr(K^-1 A) = n - sum tau_i A_ii and log|K^-1 A| = -log|B|.
//
// Kuss and Rasmussen (JMLR 2005).
#pragma once

#include "core/infer/ep.h"
#include "core/kernel/kernel.h"
#include "core/optim/multistart.h"
#include "process/gp_classify_likelihood.h"
#include "process/gp_parameters.h"

namespace granary::process {

enum class Inference { ep, laplace };
inline Names<Inference> names(Inference) { return {{Inference::ep, "ep"}, {Inference::laplace, "laplace"}}; }

struct ClassifyModel {
  Kernel kernel;
  Link link = Link::probit;
  Inference inference = Inference::ep;
  double mean = 0;
  bool learn_mean = false;  // the mean is then the last parameter

  Index n_parameters() const { return kernel.n_parameters() + (learn_mean ? 1 : 0); }
  VectorXd parameters() const;  // logarithms, the mean as it is
  void set_parameters(ConstVectorRef parameters);
};

struct ClassifyOptions {
  double tol = 1e-6;     // EP: moments, in standard deviations; Laplace: its square on psi
  int max_iter = 100;    // sweeps or Newton steps
  bool parallel = true;  // sweeps of EP
  double damping = 0;    // of EP; 0: its default
  bool with_gradient = false;
};

struct LatentPosterior {
  VectorXd tau, nu;                              // site precisions (W of Laplace) and shifts
  VectorXd weight;                               // K^-1 (m - mean)
  VectorXd mean, variance;                       // m and diag A
  VectorXd loo;                                  // log p(y_i | the other labels), from the cavities
  double log_evidence = 0, log_determinant = 0;  // the latter: log|B|
  VectorXd gradient;                             // of the log evidence, where asked for
  Convergence convergence;
};
template <class V>
void fields(V& v, LatentPosterior& t) {
  v("tau", t.tau);
  v("nu", t.nu);
  v("weight", t.weight);
  v("mean", t.mean);
  v("variance", t.variance);
  v("loo", t.loo);
  v("log_evidence", t.log_evidence);
  v("log_determinant", t.log_determinant);
  v("gradient", t.gradient);
  v("convergence", t.convergence);
}

// `start` may be empty: site parameters or weights of a similar problem.
LatentPosterior latent_posterior(const ClassifyModel& model, ConstMatrixRef x, ConstVectorRef y, const ClassifyOptions& options,
                                 Rng& rng, Monitor& monitor, const LatentPosterior* start = nullptr);

struct ClassifyLearnOptions {
  VectorXd lower, upper;  // of the parameters
  LogPrior prior;         // of the same
  ClassifyOptions inner;
  LbfgsOptions optimiser;
  int threads = 1;
};
// ML-II from each row of `starts`; values are minus log evidences. Sites are warm-started along each search.
MultistartResult learn_classifier(const ClassifyModel& model, ConstMatrixRef x, ConstVectorRef y, ConstMatrixRef starts,
                                  const ClassifyLearnOptions& options, const Rng& rng, Monitor& monitor);

struct ClassifyPrediction {
  VectorXd mean, variance;                       // of f*
  VectorXd log_positive, log_negative;           // of p(y* = +1), p(y* = -1)
  VectorXd probability_sd;                       // of p(y = 1 | f*) under the posterior of f*, where asked for
  MatrixXd mean_gradient, probability_gradient;  // in the inputs, one row per point, where asked for
  MatrixXd covariance;                           // joint, of f*, where asked for
};
template <class V>
void fields(V& v, ClassifyPrediction& t) {
  v("mean", t.mean);
  v("variance", t.variance);
  v("log_positive", t.log_positive);
  v("log_negative", t.log_negative);
  v("probability_sd", t.probability_sd);
  v("mean_gradient", t.mean_gradient);
  v("probability_gradient", t.probability_gradient);
  v("covariance", t.covariance);
}
struct PredictOptions {
  bool sd = false, gradient = false, covariance = false;
  int threads = 1;
};
template <class V>
void fields(V& v, PredictOptions& t) {
  v("sd", t.sd);
  v("gradient", t.gradient);
  v("covariance", t.covariance);
  v("threads", t.threads);
}
ClassifyPrediction predict_class(const ClassifyModel& model, ConstMatrixRef x, ConstVectorRef tau, ConstVectorRef weight,
                                 ConstMatrixRef at, const PredictOptions& options, Monitor& monitor);

// Equation 35c for the approximation with these sites, plus the expected log likelihood of further points where there are any.
double evidence_lower_bound(const ClassifyModel& model, ConstVectorRef y, const LatentPosterior& posterior, int nodes,
                            ConstVectorRef more_y, ConstVectorRef more_mean, ConstVectorRef more_variance);

}  // namespace granary::process
