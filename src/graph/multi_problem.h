// Gaussian graphs of several related data sets: objective, optimality, certificate and screening, shared by every solver.
//
//   minimise  f(X) = sum_k T_k ( -log det X_k + tr(S_k X_k) ) + sum_{i != j} P(x_ij) + sum_i P_d(x_ii)   over X_1, ..., X_K > 0
//   maximise  sum_k T_k ( log det V_k + p ),   V_k = S_k + A_k / T_k,   a_ij in dP(0),  a_ii in dP_d(0)                  (dual)
//
// with x_ij = (X_1,ij, ..., X_K,ij), weights T_k > 0 and P of multi_penalty.h; the sum runs over ordered pairs. Honorio (thesis
// 2012), (4.1) and (4.5), where P = rho ||.||_p and the diagonal is free; Danaher, Wang and Witten (JRSS B 2014) for the other
// two terms of P. The constant of the dual is p sum_k T_k; the printed NK of (4.5) holds for T_k = 1 only.
#pragma once

#include <vector>

#include "core/base/monitor.h"
#include "core/linalg/spd_inverse.h"
#include "core/base/types.h"
#include "graph/free_columns.h"
#include "graph/multi_penalty.h"

namespace granary::graph {

struct MultiProblem {
  std::vector<MatrixView> s;
  VectorXd weight;  // T_k
  MultiPenalty off, diagonal;

  int tasks() const { return static_cast<int>(s.size()); }
  Index variables() const { return s[0].rows(); }
  const MultiPenalty& penalty(bool on_diagonal) const { return on_diagonal ? diagonal : off; }
};

template <class V>
void fields(V& v, MultiProblem& t) {  // the penalty comes with the path
  v("s", t.s);
  v("weight", t.weight);
}

// All tasks share one pattern (upper triangle with diagonal); column e of `values` holds entry e of it for every task.
struct MultiState {
  SparseMatrix pattern;
  MatrixXd values;
  std::vector<MatrixXd> w;  // X_k^-1
  VectorXd log_det;
};

// InputError naming task and variable where the likelihood has no maximum for a reason that shows on the diagonal.
void check_problem(const MultiProblem& problem);

MultiState diagonal_state(const MultiProblem& problem, Monitor& monitor);  // the solution without edges

// sum_k T_k tr(S_k X_k) + penalty; f without its log determinants.
double linear_and_penalty(const MultiProblem& problem, const SparseMatrix& pattern, const MatrixXd& values);
double objective(const MultiProblem& problem, const MultiState& state);

SparseMatrix task_upper(const SparseMatrix& pattern, const MatrixXd& values, int task);

// Fills w and log_det from pattern and values; false when some X_k is not positive definite (w is then not touched).
bool factorise(MultiState& state, std::vector<SpdInverse>& factors, int threads, Monitor& monitor);
void invert(MultiState& state, const std::vector<SpdInverse>& factors, int threads, Monitor& monitor);

void drop_zero_blocks(MultiState& state);

// The free set: the current non-zero blocks and those that violate their optimality condition, and how far every block alone
// would move, in units without scale:  residual = sum |step_ij| sqrt(W_ii W_jj) / sum |x_ij| sqrt(W_ii W_jj)  over tasks and
// ordered pairs.
struct MultiFreeSet {
  SparseMatrix pattern;
  MatrixXd values;
  double residual = 0;
};
MultiFreeSet free_set(const MultiProblem& problem, const MultiState& state);

// f(X) minus the dual value of a feasible point: T_k (W_k - S_k) projected pair by pair onto the dual ball (by Moreau's identity,
// what the proximal operator takes away), then moved towards S where that is not positive definite. NaN when no dual point was
// found.
double duality_gap(const MultiProblem& problem, double objective, const std::vector<MatrixXd>& w);

// Variables i and j are connected when x_ij = 0 does not solve  -sum_k T_k S_k,ij x_k + P(x): by the optimality conditions the
// components of this graph are those of the union of the K solutions (Lemma 4.7 gives the sufficient half for one row).
std::vector<std::vector<int>> screen_components(const MultiProblem& problem);

// The smallest multiple of the penalty that leaves no edge.
double largest_entry_weight(const MultiProblem& problem);

}  // namespace granary::graph
