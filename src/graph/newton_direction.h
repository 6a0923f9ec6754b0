// The Newton direction of QUIC: minimises the quadratic model over the free set.
//
//   q(D) = tr(G D) + 1/2 tr(W D W D) + sum_ij Lambda_ij |X_ij + D_ij|,    G = S - W,   D_ij = 0 off the free set
//
// Hsieh et al. (JMLR 2014), Section 3.1, by coordinate descent (16). Two things are arranged differently from the printed
// algorithm:
//
// - U = D W is never stored. Columns are visited in order, and for a few of them at a time the needed columns of U are formed
//   from the sparse D: the same arithmetic, but W is read along its columns and memory is saved.
// - Once the gradient of the entries of one column is known, changing one of them changes the others by
//   W_ki W_jj + W_kj W_ij, which needs no product of length p. So a column is worked on until it has settled before the next one
//   has its turn. Where W is ill conditioned the entries of one column are what coordinate descent struggles with, and this saves
//   most sweeps.
#pragma once

#include <vector>

#include "graph/free_columns.h"
#include "graph/glasso_problem.h"

namespace granary::graph {

class NewtonDirection {
 public:
  // `x` has the free set as its pattern (upper triangle, explicit zeros where X is zero). All arguments must outlive the object.
  NewtonDirection(const ConstMatrixRef& s, const Penalty& lambda, const MatrixXd& w, const SparseMatrix& x, Monitor& monitor);

  // With X, hence W, diagonal the coordinates decouple: one exact update each (Section 3.4).
  void solve_diagonal();

  // The paper's sweeps: every coordinate once, column by column.
  void solve_sweeps(int sweeps);

  // Until the last sweep over the whole free set moved less than `eta` of the direction; returns the number of sweeps.
  int solve_to(double eta);

  const VectorXd& values() const { return d_; }  // aligned with the entries of x
  double trace_gradient() const;                 // tr(G D)
  double penalty_change() const;                 // h(X + D) - h(X)

 private:
  struct Visit {
    bool full = true;     // the whole free set, or its entries with X_ij + D_ij != 0 only
    bool column = false;  // all entries of a column, or those up to the diagonal (then each is visited once per sweep)
    int passes = 1;       // over the entries of a column
  };
  double sweep(const Visit& visit);  // returns sum |change|
  template <int Width>
  double sweep_panels(const Visit& visit);
  void copy_local();
  double settle_column(Index j, const Visit& visit);

  double value(Index k) const { return x_.valuePtr()[k]; }

  const ConstMatrixRef& s_;
  const Penalty& lambda_;
  const MatrixXd& w_;
  const SparseMatrix& x_;
  Monitor& monitor_;
  VectorXd d_;

  FreeColumns columns_;

  // The column being worked on.
  struct Local {
    int row, at;
    double a, threshold, c, change;  // curvature, Lambda_ij, X_ij + D_ij, how far D_ij has moved
  };
  std::vector<Local> local_;
  VectorXd u_, b_, w_j_;
  MatrixXd w_local_;
};

}  // namespace granary::graph
