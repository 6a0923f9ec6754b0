// Gaussian process regression through m inducing inputs: evidence, gradient and the statistics that predictions need.
//
//   y = F b + f(x) + e,  e ~ N(0, s2),  Q_ab = K_au K_uu^-1 K_ub,
//   y ~ N(F b, C),  C = Q_ff + Lambda,
//   Lambda = s2 I (SoR, DTC, Nystrom and the variational bound), diag(K_ff - Q_ff) + s2 I (FITC), blockdiag(K_ff - Q_ff) + s2 I
//   (PITC)
//
// Quinonero-Candela and Rasmussen (JMLR 6, 2005), equations (16), (20), (24), (30); vfe: log q(DTC) - tr(K_ff - Q_ff) / (2 s2)
// (Titsias, AISTATS 2009). An exact Gaussian process is PITC with one block and no inducing input.
//
// With L_u L_u' = K_uu and V = L_u^-1 K_uf everything is said by sums over the rows,
//
//   B = I + V Lambda^-1 V' = L_B L_B',  H = V Lambda^-1 [y F],  R = [y F]' Lambda^-1 [y F],  log|Lambda|,
//
// which are gathered in panels of rows: O(n m^2) time, and memory O(m^2 + m panel) beyond a cache of V, O(n m), that is left out
// where it would be too large. New rows are added the same way, O(m^2) each.
//
// Gradient, by reverse differentiation: alpha = C^-1 (y - F b), beta = L_B^-T L_B^-1 H (1, -b), M = L_B^-1 V,
// G = (alpha alpha' - C^-1) / 2, and g = dlog q / d(K_ff - Q_ff), the part of G inside the blocks:
//
//   dlog q/dK_uf = L_u^-T (beta alpha' - L_B^-T M Lambda^-1 - 2 V g),      dlog q/dK_ff = g,
//   dlog q/dK_uu = -1/2 L_u^-T (beta beta' - I + B^-1 - 2 V g V') L_u^-1,  dlog q/ds2 = tr G.
//
// Rows are shared out among a fixed number of lanes, so that sums do not depend on the number of threads.
#pragma once

#include <vector>

#include "core/base/fields.h"
#include "core/kernel/kernel.h"
#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary::process {

enum class SparseMethod { sor, dtc, fitc, pitc, vfe, nystrom, exact };
// fic differs from fitc in joint predictions only; sod, the subset of data, is an exact process on some rows.
inline Names<SparseMethod> names(SparseMethod) {
  return {{SparseMethod::fitc, "fitc"}, {SparseMethod::pitc, "pitc"}, {SparseMethod::dtc, "dtc"},
          {SparseMethod::sor, "sor"},   {SparseMethod::vfe, "vfe"},   {SparseMethod::nystrom, "nystrom"},
          {SparseMethod::exact, "exact"}, {SparseMethod::fitc, "fic"}, {SparseMethod::exact, "sod"}};
}

struct SparseProblem {
  const MatrixXd* x = nullptr;        // rows in the order of the blocks
  const MatrixXd* targets = nullptr;  // [y F], as many rows
  SparseMethod method = SparseMethod::fitc;
  std::vector<Index> blocks;  // PITC: first row of each block, and n at the end
  int threads = 1;
  double cache_bytes = 6e8;  // V is kept between the two passes of a gradient when it is smaller
};

// Added to the diagonal of K_uu: first, 10 first, ... last, times its mean, until it factors.
struct SparseJitter {
  double first = 1e-12;
  double last = 1e-4;
};

struct SparseState {
  SparseMethod method = SparseMethod::fitc;
  double noise = 0;   // s2
  MatrixXd inducing;  // X_u; the rows themselves when exact
  double jitter = 0;  // relative to the mean of diag(K_uu)
  MatrixXd lower_u;   // L_u; when exact, L with L L' = K + s2 I
  MatrixXd b;         // B, lower triangle
  MatrixXd h;         // H
  MatrixXd gram;      // R
  double log_lambda = 0;
  Index n = 0;
  double gap = 0, max_gap = 0, prior = 0;  // sum and largest of k_ii - q_ii, sum of k_ii
  // what follows from the above
  MatrixXd lower_b;      // L_B
  MatrixXd c;            // L_B^-1 H
  VectorXd trend;        // b, by generalised least squares
  MatrixXd trend_lower;  // of F' C^-1 F
  double log_evidence = 0;
};
template <class V>
void fields(V& v, SparseState& t) {
  v("method", t.method);
  v("noise", t.noise);
  v("inducing", t.inducing);
  v("jitter", t.jitter);
  v("lower_u", t.lower_u);
  v("b", t.b);
  v("h", t.h);
  v("gram", t.gram);
  v("log_lambda", t.log_lambda);
  v("n", t.n);
  v("gap", t.gap);
  v("max_gap", t.max_gap);
  v("prior", t.prior);
  v("lower_b", t.lower_b);
  v("c", t.c);
  v("trend", t.trend);
  v("trend_lower", t.trend_lower);
  v("log_evidence", any_number(t.log_evidence));
}
void check(const SparseState& t);

struct SparseGradient {
  VectorXd parameters;  // in the logarithms of the kernel's
  double log_noise = 0;
  MatrixXd inducing;  // dlog q / dX_u, where asked for
};

// `gradient` may be null; its `inducing` is filled when `with_inputs`. For method exact, `inducing` is ignored.
SparseState sparse_state(const SparseProblem& problem, const Kernel& kernel, double noise, const MatrixXd& inducing,
                         const SparseJitter& jitter, Monitor& monitor, SparseGradient* gradient = nullptr,
                         bool with_inputs = false);

// Adds the rows of `problem` to a state made by the same kernel; not for method exact.
void sparse_add_rows(SparseState& state, const SparseProblem& problem, const Kernel& kernel, Monitor& monitor);

// Factor of K_uu with the least jitter of the ladder that works; `used` says which.
MatrixXd factor_with_jitter(const MatrixXd& k, const SparseJitter& jitter, double& used);

// L^-1, for products with many columns.
MatrixXd lower_inverse(const MatrixXd& lower);

}  // namespace granary::process
