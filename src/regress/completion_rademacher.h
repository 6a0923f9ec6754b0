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

// One column per threshold (the cells with h <= threshold take part), one row per draw: ||Z_p||_sp. Draw k comes from stream k,
// and signs are the same for all thresholds.
MatrixXd sign_norms(const ObservedCells& counts, const std::vector<double>& thresholds, int draws, const Rng& rng, int threads,
                    Monitor& monitor);
// ||Gamma||_* per draw; dense.
VectorXd sign_dual_norms(const ObservedCells& counts, double t, double b, int draws, const Rng& rng, int threads,
                         Monitor& monitor);

}  // namespace granary::regress
