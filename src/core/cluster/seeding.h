// Rows to start clusters from, far apart: after the first, rows are drawn with probability proportional to w_i D_i, D_i the divergence of row i from
// the nearest row drawn so far.
//
//   k-means++ (Arthur and Vassilvitskii, SODA 2007)      one row per round; with `candidates` > 1 the best of so many draws (greedy)
//   k-means#  (Ailon, Jaiswal, Monteleoni, NIPS 2009)    `per_round` independent rows per round, D updated after each round
#pragma once

#include <functional>
#include <vector>

#include "core/base/monitor.h"
#include "core/base/types.h"
#include "core/random/rng.h"

namespace granary {

struct SeedOptions {
  Index rounds = 1;      // k
  Index per_round = 1;   // rows per round
  Index candidates = 1;  // greedy: draws per row, of which the best is kept
};

struct Seeds {
  std::vector<Index> rows;  // distinct; fewer than asked for where all rows coincide with one of them
  VectorXd divergence;      // of every row from the nearest seed
  VectorXd nearest;         // which seed that is (a whole number), ties to the first
  double cost = 0;          // sum_i w_i D_i
};

// divergence(i) gives the divergences of all rows from row i, not negative. weights: one per row, or empty.
Seeds spread_seeds(Index n, ConstVectorRef weights, const SeedOptions& options, const std::function<VectorXd(Index)>& divergence, Rng& rng, Monitor& monitor);

// The same with squared distances of dense rows, taken by differences and without a copy.
Seeds spread_seeds(ConstMatrixRef x, ConstVectorRef weights, const SeedOptions& options, int threads, Rng& rng, Monitor& monitor);

// Of `repeats` independent runs the one of least cost, run r on the stream r of `rng`.
Seeds best_seeds(ConstMatrixRef x, ConstVectorRef weights, const SeedOptions& options, int repeats, int threads, const Rng& rng, Monitor& monitor);

// An index with probability proportional to the entries, not negative and not all zero; never one of probability zero.
Index draw_index(ConstVectorRef mass, double uniform);

}  // namespace granary
