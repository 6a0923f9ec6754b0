// Leaves without cases of the target take over the labels of another leaf (Goussies, Ubalde, Mejail, JMLR 2014, Section 3.1.2).
//
//   e_ij = 1/2 (d' M_i d + d' M_j d),  d = mu_i - mu_j        between all leaves of a tree; each leaf without labels borrows from the labelled one that is
//   nearest by the shortest path. Lengths are squares, so paths prefer many short steps through dense regions.
//
//   diag       M = diag(variances of the leaf + ridge)^-1
//   full       M = (C + ridge I)^-1, C the covariance of the leaf with its off-diagonal part shrunk by n / (n + p)
//   euclidean  M = I
//
// ridge is a share of the mean variance of the columns. Printed otherwise: the paper's covariance is a double sum of cross products, which is identically 0, and
// its e_ij has Sigma in the place of the inverse, which is no Mahalanobis distance. One search by Dijkstra from all labelled leaves, O(leaves^2); of equally
// near leaves the first.
#pragma once

#include <vector>

#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary::ensemble {

enum class LeafMetric { diag, full, euclidean };
inline Names<LeafMetric> names(LeafMetric) { return {{LeafMetric::diag, "diag"}, {LeafMetric::full, "full"}, {LeafMetric::euclidean, "euclidean"}}; }

class LeafDistance {
 public:
  LeafDistance(LeafMetric metric, double ridge, Index p) : metric_(metric), ridge_(ridge), means_(p, 0) {}
  // rows: p x n, of one leaf; weights: how often each counts.
  void add(ConstMatrixRef rows, ConstVectorRef weights);
  Index size() const { return means_.cols(); }
  double operator()(Index i, Index j) const;

 private:
  LeafMetric metric_;
  double ridge_;
  MatrixXd means_;                     // p x leaves
  MatrixXd inverse_;                   // diag: p x leaves
  std::vector<MatrixXd> factors_;      // full: Cholesky factors
};

// lender[i]: the leaf that leaf i borrows from, itself where it is labelled. reach, if not null: the length of the path.
std::vector<int> nearest_labelled(const LeafDistance& distance, const std::vector<bool>& labelled, Monitor& monitor, VectorXd* reach = nullptr);

}  // namespace granary::ensemble
