// Sparsity of the entries and of any linear combinations of them:
//
//   prox(v) = argmin_x 1/2 ||x - v||^2 + l1 ||x||_1 + lambda ||K x||_1,   K sparse
//
// Through its dual: with |b_m| <= 1 and x(b) = soft(v - lambda K'b, l1), minimise 1/2 ||x(b)||^2 over b by accelerated projected
// gradients from the b of the last call. For differences along the edges of a graph use GraphTv (graph_tv.h), which is exact.
//
// Whatever b, (v - x(b)) = s + lambda K'b with |s| <= l1, so v - x is a subgradient bound of the penalty: a certificate built
// from it holds even where the iteration stopped early.
#pragma once

#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary {

class RowsProx {
 public:
  using Rows = Eigen::SparseMatrix<double, Eigen::RowMajor>;

  explicit RowsProx(Rows k);  // one row per combination

  const Rows& rows() const { return k_; }

  // Stops when the duality gap of the prox is at most `gap_tol`, or after `max_iter` steps; returns the gap reached.
  double solve(ConstVectorRef v, double lambda, double l1, double gap_tol, int max_iter, Monitor& monitor, VectorRef x);

  void forget() { dual_.setZero(); }

 private:
  Rows k_, k_transposed_;
  double curvature_;  // at least ||K||_2^2
  VectorXd dual_;     // b
};

}  // namespace granary
