// Classifiers to compare with, and the probabilistic neural network: all keep the training rows or a few moments of them.
//
//   pnn                 score of class c: mean over its rows of exp(-|x - x_i|^2 / (2 s^2)); s by leaving one out
//   knn                 majority of the k nearest rows, ties by the nearest; k by leaving one out
//   naive_bayes         normal densities with the classes' shares
//   kernel_naive_bayes  Gaussian kernel densities, bandwidth 0.9 min(sd, IQR / 1.34) n^-1/5 times `adjust`
//   direct_perceptron   nearest class mean in the space of the kernel exp(-g |x - z|^2): f_c(x) = mean_i k(x, x_i) - mean_ij
//                       k(x_i, x_j) / 2, for
//                       two classes a kernel perceptron with weights +-1 / n_c and the bias midway; g by leaving one out
//   majority            the classes' shares
//   nets                mean of the probabilities of small nets, one tanh layer each, with weight decay
#pragma once

#include <vector>

#include "core/base/convergence.h"
#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "core/base/types.h"
#include "core/random/rng.h"

namespace granary::ensemble {

enum class PlainMethod { pnn, knn, naive_bayes, kernel_naive_bayes, direct_perceptron, majority, nets };
inline Names<PlainMethod> names(PlainMethod) {
  return {{PlainMethod::pnn, "pnn"},
          {PlainMethod::knn, "knn"},
          {PlainMethod::naive_bayes, "naive_bayes"},
          {PlainMethod::kernel_naive_bayes, "kernel_naive_bayes"},
          {PlainMethod::direct_perceptron, "direct_perceptron"},
          {PlainMethod::majority, "majority"},
          {PlainMethod::nets, "nets"}};
}

struct PlainOptions {
  PlainMethod method = PlainMethod::majority;
  int classes = 2;
  VectorXd values;    // to choose from: s, k or g; the factor `adjust`; the decay of nets
  int hidden = 3;     // units of a net
  int n_nets = 5;
  int max_iter = 200;
  int threads = 1;
};
template <class V>
void fields(V& v, PlainOptions& t) {
  v("method", t.method);
  v("classes", t.classes);
  v("values", t.values);
  v("hidden", t.hidden);
  v("n_nets", t.n_nets);
  v("max_iter", t.max_iter);
  v("threads", t.threads);
}

struct PlainFit {
  PlainMethod method = PlainMethod::majority;
  int classes = 2;
  MatrixXd x;       // training rows, where they are needed
  VectorXi label;
  double chosen = 0;
  VectorXd values, loo_error;  // by value
  VectorXd prior;
  MatrixXd mean, sd;  // classes x columns; for kernels the bandwidths are in sd
  VectorXd offset;    // mean_ij k / 2 of the classes
  std::vector<VectorXd> nets;
  int hidden = 0;
  VectorXd center, scale;  // of the columns, for nets
};
template <class V>
void fields(V& v, PlainFit& t) {
  v("method", t.method);
  v("classes", t.classes);
  v("x", t.x);
  v("label", positions(t.label));
  v("chosen", t.chosen);
  v("values", t.values);
  v("loo_error", any_number(t.loo_error));
  v("prior", t.prior);
  v("mean", t.mean);
  v("sd", t.sd);
  v("offset", t.offset);
  v("nets", t.nets);
  v("hidden", t.hidden);
  v("center", t.center);
  v("scale", t.scale);
}
void check(const PlainFit& t);

PlainFit plain_classifier(ConstMatrixRef x, const VectorXi& label, const PlainOptions& options, Rng& rng, Monitor& monitor);
// Shares of the classes, rows x classes: posterior probabilities under the method's own model.
MatrixXd plain_probabilities(ConstMatrixRef x, const PlainFit& fit, int threads, Monitor& monitor);

}  // namespace granary::ensemble
