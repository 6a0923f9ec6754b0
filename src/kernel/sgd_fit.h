// Learning curves of gradient descent as they are asked for: a setting, by the Marchenko-Pastur law or by given eigenvalues; tables
// of rates and limits; the best rates at several times; and the course on a data set. The theory is in sgd_dynamics.h.
#pragma once

#include <vector>

#include "core/base/convergence.h"
#include "kernel/sgd_dynamics.h"
#include "kernel/sgd_optimize.h"

namespace granary::kernel {

enum class SgdMethod { online, offline };
inline Names<SgdMethod> names(SgdMethod) { return {{SgdMethod::online, "online"}, {SgdMethod::offline, "offline"}}; }

struct SgdSetting {
  double alpha = 1, eta = 1, lambda = 0, sigma2 = 0.1;
  SgdMethod method = SgdMethod::online;
  VectorXd spectrum;  // eigenvalues, each of the same weight; empty: the Marchenko-Pastur law
  int nodes = 300;    // of the quadrature for the law
  int threads = 1;
};
template <class V>
void fields(V& v, SgdSetting& t) {
  v("alpha", t.alpha);
  v("eta", t.eta);
  v("lambda", t.lambda);
  v("noise_var", t.sigma2);
  v("method", t.method);
  v("spectrum", t.spectrum);
  v("nodes", t.nodes);
  v("threads", t.threads);
}

struct SgdCurveFit {
  VectorXd test, train, bias, variance, noise, train_mean;  // at each time
  Convergence convergence;                                  // of the integral equation
};
template <class V>
void fields(V& v, SgdCurveFit& t) {
  v("test", t.test);
  v("train", t.train);
  v("bias", t.bias);
  v("variance", t.variance);
  v("noise", t.noise);
  v("train_mean", t.train_mean);
  v("convergence", t.convergence);
}
SgdCurveFit sgd_curve(const SgdSetting& setting, ConstVectorRef times, Monitor& monitor);

// Rates that matter, and errors at the end of time.
struct SgdLimits {
  double eta_c = 0, eta_min = 0, eta_x = 0, offline = 0;           // see SgdTheory; offline: the largest stable rate of that method
  double test = 0, train = 0, ridge = 0, decay = 0, decay_slow = 0;  // ridge: test error for eta -> 0
};
template <class V>
void fields(V& v, SgdLimits& t) {
  v("eta_c", t.eta_c);
  v("eta_min", t.eta_min);
  v("eta_x", t.eta_x);
  v("offline", t.offline);
  v("test", t.test);
  v("train", t.train);
  v("ridge", t.ridge);
  v("decay", t.decay);
  v("decay_slow", t.decay_slow);
}
struct SgdGrid {  // settings side by side, all of one length
  VectorXd alpha, eta, lambda, sigma2;
  VectorXd spectrum;
};
template <class V>
void fields(V& v, SgdGrid& t) {
  v("alpha", t.alpha);
  v("eta", t.eta);
  v("lambda", t.lambda);
  v("noise_var", t.sigma2);
  v("spectrum", t.spectrum);
}
std::vector<SgdLimits> sgd_limits(const SgdGrid& grid);

struct SgdOptima {
  VectorXd eta, lambda, test;
  Convergence convergence;
};
template <class V>
void fields(V& v, SgdOptima& t) {
  v("eta", t.eta);
  v("lambda", t.lambda);
  v("test", t.test);
  v("convergence", t.convergence);
}
// The best rate at each time, and with lambda negative the best penalty.
SgdOptima sgd_optima(const SgdSetting& setting, ConstVectorRef times, Monitor& monitor);

// The course on given rows, whose columns have mean zero and mean square one, with a centred response: by the eigenvalues of
// A = X'X / N and the projections of X'y / sqrt(N) on their eigenvectors. The test error is that of the mean weights on new rows
// plus the spread of each mode times their mean square along it.
struct SgdDataFit {
  VectorXd train, noise, test;  // test is empty without new rows
  VectorXd weights;             // mean of w at the last time
  VectorXd spectrum;            // N eigenvalues
  SgdLimits limits;
  Convergence convergence;
};
template <class V>
void fields(V& v, SgdDataFit& t) {
  v("train", t.train);
  v("noise", t.noise);
  v("test", t.test);
  v("weights", t.weights);
  v("spectrum", t.spectrum);
  v("limits", t.limits);
  v("convergence", t.convergence);
}
SgdDataFit sgd_on_data(ConstMatrixRef x, ConstVectorRef y, ConstMatrixRef new_x, ConstVectorRef new_y, const SgdSetting& setting,
                       ConstVectorRef times, Monitor& monitor);

// The law, or the given eigenvalues, in blocks of equal mass.
SpectrumBlocks sgd_blocks(double alpha, ConstVectorRef spectrum, int blocks);

}  // namespace granary::kernel
