// Rademacher complexities of classes of matrices on a given set of cells, by Monte Carlo: no unspecified constants.
//
//   {||W||_tr <= t}                    (t / N) E ||Gamma||_sp,  Gamma_ij a sum of h_ij signs, h_ij how often the cell was seen
//   {||W||_tr <= t, |W_ij| <= b}       (1 / N) E ||Gamma||_*,   the dual norm of Lemma 12
//   loss bounded by b_l, l-Lipschitz   min over p of (b_l / N) sum_{h > p} E|sum of h signs| + (l t / N) E ||Z_p||_sp,
//                                      Z_p the part of Gamma on cells with h <= p; p = 0 leaves nothing to Z   (proof of Theorem
//                                      2)
#pragma once

#include "core/random/rng.h"
#include "regress/completion_bounded.h"

namespace granary::regress {

double mean_absolute_sum(double h);  // E |sum of h random signs|

struct SignNormOptions {
  std::vector<double> thresholds;
  double t = 1, b = 0;  // radii; with b > 0 the dual norm of Lemma 12, else spectral norms
  int draws = 100;
  int threads = 1;
};
template <class V>
void fields(V& v, SignNormOptions& t) {
  v("thresholds", t.thresholds);
  v("t", t.t);
  v("b", t.b);
  v("draws", t.draws);
  v("threads", t.threads);
}
MatrixXd sign_norms(const ObservedCells& counts, const SignNormOptions& options, const Rng& rng, Monitor& monitor);

// One column per threshold (the cells with h <= threshold take part), one row per draw: ||Z_p||_sp. Draw k comes from stream k,
// and signs are the same for all thresholds.
MatrixXd sign_norms(const ObservedCells& counts, const std::vector<double>& thresholds, int draws, const Rng& rng, int threads,
                    Monitor& monitor);
// ||Gamma||_* per draw; dense.
VectorXd sign_dual_norms(const ObservedCells& counts, double t, double b, int draws, const Rng& rng, int threads,
                         Monitor& monitor);

}  // namespace granary::regress
