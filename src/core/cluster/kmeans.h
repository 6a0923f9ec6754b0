// k-means: k centres c_j and an assignment a(i) of the rows of x that minimise
//
//   sum_i |x_i - c_a(i)|^2
//
// by Lloyd's iterations (IEEE Trans. Inf. Theory 1982; core/cluster/linear_scores.h) from k-means++ seeds (core/cluster/seeding.h). A cluster that
// runs empty takes the row that is farthest from its centre. With `balanced` every cluster has floor(n/k) or ceil(n/k) rows: rows
// are then placed in the order of what a second choice would cost them, each with the nearest centre that has room; the
// objective need not fall in every iteration, and the best assignment met is returned.
#pragma once

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "core/base/types.h"
#include "core/cluster/linear_scores.h"
#include "core/random/rng.h"

namespace granary {

struct KMeansOptions {
  int k = 1;
  int n_starts = 1;    // the best of so many runs
  int max_iter = 100;  // iterations of Lloyd
  double tol = 1e-6;   // stop when the objective falls by less than this share of itself
  bool balanced = false;
  int threads = 1;
};

struct KMeansResult {
  MatrixXd centres;  // k x columns of x
  VectorXi cluster;  // 0 .. k - 1, one per row
  VectorXi sizes;
  double objective = 0;
  Convergence convergence;
};

// InputError unless 1 <= k <= rows.
KMeansResult kmeans(ConstMatrixRef x, const KMeansOptions& options, Rng& rng, Monitor& monitor);

// From given centres (k x columns), with case weights (or none).
KMeansResult kmeans_from(ConstMatrixRef x, ConstVectorRef weights, const MatrixXd& centres, const KMeansOptions& options, Monitor& monitor);

// The scores of squared distances: s = x'c - |c|^2 / 2 = |x|^2 / 2 - |x - c|^2 / 2, with c the means.
void mean_scores(const ClusterSums& sums, LinearScores& scores);
LinearScores centre_scores(const MatrixXd& centres);

}  // namespace granary
