// Extreme learning machines: least squares on targets -1, 1, one column per class, after a Gaussian kernel or a layer of random
// units.
//
//   kernel  beta = (I/C + K)^-1 T, K_ij = exp(-gamma |x_i - x_j|^2), class argmax_c k(x)'beta_c
//   random  least squares on h units a(x'w + b), w uniform in [-1, 1], b in [0, 1] (in [-1, 1] for sine and radial units),
//           inputs brought to [-1, 1]
//
// (Huang, Zhou, Ding, Zhang, IEEE SMC B 2012; Fernandez-Delgado and others, JMLR 2014, classifiers elm_kernel_m and elm_m.) One
// eigendecomposition of K serves all C: with K = V D V', fitted values are V D (D + 1/C)^-1 V'T, and leaving row i out leaves the
// residual (t_i - f_i)/(1 - h_i), h_i the leverage. The smallest leave-one-out error rate wins, then the smallest squared error.
// Above
// `landmarks` rows K is replaced by Nystrom's K_nm K_mm^-1 K_mn with that many random rows.
#pragma once

#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "core/base/types.h"
#include "core/random/rng.h"

namespace granary::ensemble {

// Smallest and largest leave-one-out error over settings.
struct LooTable {
  MatrixXd error;   // settings of the first kind (rows) by those of the second
  MatrixXd square;  // mean squared leave-one-out residual
};
template <class V>
void fields(V& v, LooTable& t) {
  v("error", t.error);
  v("square", t.square);
}

struct KernelElmOptions {
  int classes = 2;
  VectorXd cost, gamma;  // to choose from
  int landmarks = 2000;  // used above 5000 rows
  int dense = 5000;
  int threads = 1;
};
template <class V>
void fields(V& v, KernelElmOptions& t) {
  v("classes", t.classes);
  v("cost", t.cost);
  v("gamma", t.gamma);
  v("landmarks", t.landmarks);
  v("dense", t.dense);
  v("threads", t.threads);
}

struct KernelElm {
  MatrixXd centers;  // rows the kernel is taken at
  MatrixXd beta;     // centers x classes
  double cost = 1, gamma = 1;
  MatrixXd loo;      // leave-one-out values of all rows, rows x classes
  LooTable table;    // cost x gamma
};
template <class V>
void fields(V& v, KernelElm& t) {
  v("centers", t.centers);
  v("beta", t.beta);
  v("cost", t.cost);
  v("gamma", t.gamma);
  v("loo", t.loo);
  v("table", t.table);
}
KernelElm kernel_elm(ConstMatrixRef x, const VectorXi& label, const KernelElmOptions& options, Rng& rng, Monitor& monitor);
// Rows x classes.
MatrixXd kernel_elm_values(ConstMatrixRef x, ConstMatrixRef centers, ConstMatrixRef beta, double gamma);

enum class Activation { sine, sign, sigmoid, hardlimit, triangular, radial };
inline Names<Activation> names(Activation) {
  return {{Activation::sine, "sine"},           {Activation::sign, "sign"},             {Activation::sigmoid, "sigmoid"},
          {Activation::hardlimit, "hardlimit"}, {Activation::triangular, "triangular"}, {Activation::radial, "radial"}};
}

struct ElmOptions {
  int classes = 2;
  Activation activation = Activation::sine;
  VectorXi hidden;  // numbers of units to choose from
};
template <class V>
void fields(V& v, ElmOptions& t) {
  v("classes", t.classes);
  v("activation", t.activation);
  v("hidden", t.hidden);
}

struct Elm {
  VectorXd low, high;  // ranges of the columns
  MatrixXd weight;     // columns x units
  VectorXd bias;
  MatrixXd beta;       // units x classes
  Activation activation = Activation::sine;
  int hidden = 0;
  MatrixXd loo;
  LooTable table;      // hidden x 1
};
template <class V>
void fields(V& v, Elm& t) {
  v("low", t.low);
  v("high", t.high);
  v("weight", t.weight);
  v("bias", t.bias);
  v("beta", t.beta);
  v("activation", t.activation);
  v("hidden", t.hidden);
  v("loo", any_number(t.loo));
  v("table", t.table);
}
void check(const Elm& t);
Elm elm(ConstMatrixRef x, const VectorXi& label, const ElmOptions& options, Rng& rng, Monitor& monitor);
MatrixXd elm_values(ConstMatrixRef x, const Elm& fit);

// Targets -1 and 1; error rate and mean square of leave-one-out values.
MatrixXd class_targets(const VectorXi& label, int classes);
double wrong_share(const MatrixXd& values, const VectorXi& label);

}  // namespace granary::ensemble
