// The Newton direction of multi_newton.h: minimises over D_1, ..., D_K, zero off the free set,
//
//   sum_k T_k ( tr(G_k D_k) + 1/2 tr(W_k D_k W_k D_k) ) + sum_ij P(x_ij + d_ij),    G_k = S_k - W_k
//
// by block coordinate descent over the pairs, column by column, each column until it has settled: newton_direction.h says why,
// this is its form for blocks of K numbers.
#pragma once

#include <vector>

#include "graph/free_columns.h"
#include "graph/multi_problem.h"

namespace granary::graph {

class MultiDirection {
 public:
  // All arguments must outlive the object.
  MultiDirection(const MultiProblem& problem, const std::vector<MatrixXd>& w, const MultiFreeSet& free, Monitor& monitor);

  void solve_diagonal();     // every W_k diagonal: the blocks decouple
  int solve_to(double eta);  // until a full sweep moved less than `eta` of the direction; returns the number of sweeps
  double slope() const;      // tr(G D) + penalty(X + D) - penalty(X): the decrease the model promises, to first order

  const MatrixXd& values() const { return d_; }  // aligned with the columns of free.values

 private:
  double sweep(bool full);
  template <int Width>
  double sweep_panels(bool full);
  double settle_column(Index j, bool full);
  void copy_local();

  const MultiProblem& problem_;
  const std::vector<MatrixXd>& w_;
  const MultiFreeSet& free_;
  Monitor& monitor_;
  int tasks_;
  MatrixXd d_;
  BlockSolver off_, diagonal_;

  FreeColumns columns_;

  // The column being worked on: one row per entry, one column (or matrix) per task.
  std::vector<FreeColumns::Entry> local_;
  MatrixXd u_, b_, w_j_, curvature_, x_, change_;
  std::vector<MatrixXd> w_local_;
  VectorXd along_, q_, c_, z_;
};

}  // namespace granary::graph
