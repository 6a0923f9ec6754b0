// The locally constant Gaussian graph: objective, dual, proximal operator and certificate, shared by every solver of it.
//
//   minimise  F(X) = -log det X + <S, X> + rho ||X||_1 + tau ||D x X||_1   over X > 0                                   (primal)
//   maximise  log det(S + sym Y) + p   subject to  Y = A + D'B, |A_ij| <= rho, |B_mk| <= tau, B_mk = 0 where D_mk != 0   (dual)
//
// Honorio (PhD thesis, Stony Brook 2012), chapter 2: (2.1) and (2.4). (D x X)_mk = (D X)_mk where D_mk = 0, else 0, so that no
// diagonal entry of X meets another entry. For the difference operator, row m of D is e_a - e_b for the pair (a, b) of
// neighbours, and the penalty is tau sum_(a,b) sum_{k != a,b} |X_ak - X_bk|. At the optimum <S, X> plus the penalties is p, and
// X^-1 = S + sym Y.
//
// On symmetric matrices this is total variation on a graph of its own, the `lift` below: its nodes are the pairs i < j, and {a,
// k} is joined to {b, k} for every pair (a, b) of neighbours. Hence the proximal operator over symmetric matrices,
//
//   argmin_X  1/2 ||X - V||_F^2 + t (rho ||X||_1 + tau ||D x X||_1),
//
// is one exact solution of GraphTv with lambda = t tau / 2 and l1 = t rho: symmetric, with exact zeros and exact ties. And (V -
// X) / t is the sym Y of a feasible dual point, whatever V: the certificate comes for free.
#pragma once

#include <memory>
#include <vector>

#include "core/prox/graph_tv.h"
#include "core/base/monitor.h"
#include "core/prox/rows_prox.h"
#include "core/base/fields.h"
#include "core/base/types.h"

namespace granary::graph {

struct LocalPenalty {
  double rho = 0;  // on every entry, the diagonal included
  double tau = 0;  // on every entry of D x X
};
struct LocalPenalties {  // one pair per fit
  std::vector<double> rho, tau;
};
template <class V>
void fields(V& v, LocalPenalties& t) {
  v("rho", t.rho);
  v("tau", t.tau);
}

// D as it is given: pairs of neighbours, or its rows.
enum class OperatorType { difference, laplacian, rows };
inline Names<OperatorType> names(OperatorType) {
  return {{OperatorType::difference, "difference"}, {OperatorType::laplacian, "laplacian"}, {OperatorType::rows, "rows"}};
}
struct OperatorSpec {
  OperatorType type = OperatorType::difference;
  int p = 0;
  Eigen::MatrixXi edges{0, 2};
  SparseMatrix rows;
};
template <class V>
void fields(V& v, OperatorSpec& t) {
  v("type", t.type);
  v("p", t.p);
  v("edges", positions(t.edges));
  v("rows", t.rows);
}
EdgeList edge_list(const Eigen::MatrixXi& pairs);  // two columns
Eigen::MatrixXi edge_matrix(const EdgeList& edges);

// Of a grid of `dims` cells without those where `mask` is false; the others are renumbered.
struct GridOptions {
  std::vector<int> dims;
  std::vector<char> mask;
};
template <class V>
void fields(V& v, GridOptions& t) {
  v("dims", t.dims);
  v("mask", t.mask);
}
EdgeList masked_grid_edges(const GridOptions& options);

// D, by rows. `difference` when every row is the difference of two neighbours: then exact methods apply.
class LocalOperator {
 public:
  static LocalOperator make(const OperatorSpec& spec);
  static LocalOperator differences(int p, const EdgeList& neighbours);
  static LocalOperator laplacian(int p, const EdgeList& neighbours);  // row i: degree_i X_i - sum of the neighbours' rows
  static LocalOperator rows(const SparseMatrix& d);                   // anything with p columns

  int size() const { return p_; }
  bool is_difference() const { return difference_; }
  const EdgeList& neighbours() const { return neighbours_; }
  const std::vector<std::vector<int>>& adjacent() const { return adjacent_; }  // difference only
  const RowsProx::Rows& matrix() const { return d_; }
  double frobenius() const { return d_.norm(); }

 private:
  int p_ = 0;
  bool difference_ = false;
  EdgeList neighbours_;
  std::vector<std::vector<int>> adjacent_;
  RowsProx::Rows d_;
};

double local_penalty(const MatrixXd& x, const LocalOperator& op, const LocalPenalty& penalty);

void check_local_problem(const ConstMatrixRef& s, const LocalOperator& op, const LocalPenalty& penalty);

// The proximal operator over symmetric matrices; warm from call to call.
class LocalProx {
 public:
  explicit LocalProx(const LocalOperator& op);

  // `v` symmetric. For operators other than the difference, to a gap of `gap_tol` in units of F.
  MatrixXd operator()(const MatrixXd& v, double step, const LocalPenalty& penalty, double gap_tol, Monitor& monitor);

 private:
  int p_;
  std::unique_ptr<GraphTv> tv_;
  std::unique_ptr<RowsProx> rows_;
  VectorXd in_, out_;
};

// The proximal operator column by column, for the copy of X that need not be symmetric:
//   argmin_Z  g/2 ||Z - C||_F^2 + l1 ||Z||_1 + tau ||D x Z||_1
class LocalColumnsProx {
 public:
  explicit LocalColumnsProx(const LocalOperator& op);
  MatrixXd operator()(const MatrixXd& c, double g, double l1, double tau, int threads, Monitor& monitor);

 private:
  std::vector<std::unique_ptr<GraphTv>> tv_;
  std::vector<std::unique_ptr<RowsProx>> rows_;
};

// F(X) minus the dual value at sym Y. Where S + sym Y is not positive definite its off-diagonal is shrunk, which keeps it
// feasible; NaN when even that does not help.
double local_gap(const ConstMatrixRef& s, double objective, const MatrixXd& sym_y);

// Item by item |S_nk| <= rho - tau deg(n) / 2 for all k: variable n is isolated at the optimum, whatever the others do. (Page 17
// of the thesis has it for the largest degree 2 P, and goes on to delete such variables; that is not exact, as their neighbours
// are still compared with their zeros. Difference operator only: false for the others.)
std::vector<char> isolated_variables(const ConstMatrixRef& s, const LocalOperator& op, const LocalPenalty& penalty);

// For every i < j with X_ij != 0 a label, 0 elsewhere: entries joined in the lift and equal up to `tol` share one. Labels are
// numbered 1, 2, ... by decreasing size of the block, then by its first entry in column-major order.
Eigen::MatrixXi local_blocks(const MatrixXd& x, const LocalOperator& op, double tol);

}  // namespace granary::graph
