// Which inputs should carry a sparse Gaussian process: the choices of Section 9.
//
//   random       rows drawn without replacement
//   kmeans       centres of clusters, and the row nearest to each
//   variance     the row with the largest conditional variance k_ii - q_ii, again and again: pivoted Cholesky of K
//   information  the same given noisy values at the rows chosen: largest information gain (Lawrence, Seeger, Herbrich, NIPS 2003)
//   posterior    of `candidates` random rows the one that raises the log posterior of the subset of regressors most (Smola and
//                Bartlett, NIPS 2001; 59 candidates hold one of the best 5% with probability 0.95)
//   evidence     the same by the log evidence
//
// Greedy rules cost O(n m^2), the last two times the number of candidates, and O(n m) memory.
#pragma once

#include <vector>

#include "core/base/fields.h"
#include "core/kernel/kernel.h"
#include "core/base/monitor.h"
#include "core/random/rng.h"
#include "core/base/types.h"

namespace granary::process {

enum class InducingRule { random, kmeans, variance, information, posterior, evidence };
inline Names<InducingRule> names(InducingRule) {
  return {{InducingRule::kmeans, "kmeans"},      {InducingRule::variance, "pivchol"},    {InducingRule::random, "random"},
          {InducingRule::information, "info"}, {InducingRule::posterior, "posterior"}, {InducingRule::evidence, "evidence"}};
}

struct SelectOptions {
  InducingRule rule = InducingRule::kmeans;
  Index m = 100;
  int candidates = 59;
  double tol = 1e-10;         // variance: stop once tr(K_ff - Q_ff) is below this share of tr K_ff
  Index kmeans_rows = 20000;  // k-means looks at so many random rows
  int threads = 1;
};

struct Selection {
  MatrixXd inducing;        // may have fewer than m rows, where more would add nothing
  std::vector<Index> rows;  // of x, in the order chosen
};

// `y` is the response less its trend, used by posterior and evidence.
Selection select_inducing(ConstMatrixRef x, ConstVectorRef y, const Kernel& kernel, double noise, const SelectOptions& options,
                          Rng& rng, Monitor& monitor);

// Blocks for PITC: about n / size clusters of equal size. The cluster of each row.
VectorXi balanced_blocks(ConstMatrixRef x, Index size, int threads, Rng& rng, Monitor& monitor);

}  // namespace granary::process
