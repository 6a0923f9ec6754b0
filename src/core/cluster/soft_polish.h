// A fixed point of expectation-maximisation from a point near it. The likelihood is flat there: it says "no change" long before the parameters stand still,
// and where clusters overlap plain iterations crawl. Steps are extrapolated in the sums s that the scores follow from, F one iteration:
//
//   r = F(s) - s,  v = F(F(s)) - 2 F(s) + s,  s <- s + 2 a r + a^2 v,  a = |r| / |v|        (SQUAREM: Varadhan and Roland, Scandinavian J. Statistics 2008)
//
// and taken only where the value does not fall below that of F(s), so that the trace never falls where that of plain iterations does not.
#pragma once

#include <functional>

#include "core/cluster/linear_scores.h"

namespace granary {

struct PolishOptions {
  int max_iter = 500;  // passes over the rows
  double tol = 1e-6;   // of `step`
  VectorXd origin;     // from which the columns of the sums are measured; empty for zero
  int threads = 1;
};

// How far the iteration that made `after` of `before` went, in the units of the answer.
using SumsStep = std::function<double(const ClusterSums& before, const ClusterSums& after)>;
// Whether the sums could be those of rows, so that there are scores for them.
using SumsInside = std::function<bool(const ClusterSums&)>;

// `from` as soft_clusters() leaves it. The result is solved when `step` at it is at most `tol`, which is its residual.
SoftResult polish_soft(const DataRows& x, ConstVectorRef weights, SoftResult from, const ScoreModel& model, const SumsStep& step, const SumsInside& inside,
                       const PolishOptions& options, Monitor& monitor);

}  // namespace granary
