// The node-selecting Gaussian graph: objective, dual, certificate and screening, shared by every solver of it.
//
//   minimise  F(X) = -log det X + <S, X> + rho sum_ij |X_ij| + tau sum_n ||X_{n,-n}||_q   over X > 0, q in {2, inf}     (primal)
//   maximise  log det(S + sym Y) + p   subject to  Y = A + B, |A_ij| <= rho, B_nn = 0, ||B_{n,-n}||_{q'} <= tau       (dual)
//
// Honorio (PhD thesis, Stony Brook 2012), chapter 3: (3.1), (3.2) and (3.5); q' is the dual norm (2 -> 2, inf -> 1) and sym Y =
// (Y + Y') / 2. rho charges the diagonal, the row norms do not see it, and every off-diagonal entry sits in two rows. At the
// optimum X^-1 = S + sym Y, so that (X^-1)_nn = S_nn + rho.
//
// With S_nn > 0 the optimum exists even at rho = 0, as long as tau > 0: were it not to, some diagonal matrix other than zero
// would lie in the null space of S. (So rho > 0 or S > 0, as often asked for, is more than is needed.)
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "core/base/fields.h"
#include "core/base/types.h"

namespace granary::graph {

enum class RowNorm { l2, linf };
inline Names<RowNorm> names(RowNorm) { return {{RowNorm::l2, "l2"}, {RowNorm::linf, "linf"}}; }

struct NodesPenalty {
  double rho = 0;  // on every entry, the diagonal included
  double tau = 0;  // on the norm of every row without its diagonal
  RowNorm norm = RowNorm::l2;
};
template <class V>
void fields(V& v, NodesPenalty& t) {
  v("rho", t.rho);
  v("tau", t.tau);
  v("norm", t.norm);
}

double row_norm(ConstVectorRef v, RowNorm norm);   // ||v||_q
double dual_norm(ConstVectorRef v, RowNorm norm);  // ||v||_q'

VectorXd row_norms(const MatrixXd& x, RowNorm norm);                   // ||X_{n,-n}||_q of a symmetric matrix
double nodes_penalty(const MatrixXd& x, const NodesPenalty& penalty);  // rho ||X||_1 + tau sum_n ||X_{n,-n}||_q

// -log det x; infinite when x is not positive definite.
double minus_log_det(const MatrixXd& x);

// Throws InputError naming the variable when a diagonal entry of X has no bound, NumericalError when nothing is penalised and S
// is singular.
void check_nodes_problem(const ConstMatrixRef& s, const NodesPenalty& penalty);

// A dual point sym Y close to X^-1 - S, for an X that no solver has handed a multiplier for: the least-squares fit of the
// dual set to it by accelerated projected gradients on the row part B, the entrywise part being a clip.
MatrixXd nearest_dual(const ConstMatrixRef& s, const MatrixXd& inverse, const NodesPenalty& penalty);

// F(X) minus the dual value at sym Y. Where S + sym Y is not positive definite, its off-diagonal is shrunk until it is, which
// keeps it feasible. Never negative but for rounding; NaN when even S + rho I is singular.
double nodes_gap(const ConstMatrixRef& s, double objective, const MatrixXd& sym_y);

// ---- screening: exact, from S alone --------------------------------------------------------------------------------------
//
// With T = soft(S, rho) off the diagonal, and some set R of nodes already known to be isolated, a set A of further nodes is
// isolated at the optimum if, for every n in A,
//
//   || (T_nj for j not in A, T_nj / 2 for j in A) ||_{q'} <= tau / 2,     j outside R.
//
// Charge an edge that leaves A to the row of its end in A, and one inside A to both ends alike; then X_A = diag(1 / (S_nn + rho))
// beside the solution of the same problem on the remaining nodes satisfies all optimality conditions. With A = {n} this is
// ||T_n||_{q'} <= tau / 2, which fires wherever Lemma 3.5 does; with A = everything it is tau >= max_n ||T_n||_{q'}, which
// empties the graph. The union of two such sets is one, so there is a largest: start with all nodes, strike out those that fail
// (which raises the norms of the others) until none does. Then the same on the nodes left, until nothing changes.
enum class ScreenRule { none, lemma, row, set };  // what isolated a node: Lemma 3.5, the rule for one row, the rule for sets

inline Names<ScreenRule> names(ScreenRule) {
  return {{ScreenRule::none, "none"}, {ScreenRule::lemma, "lemma"}, {ScreenRule::row, "row"}, {ScreenRule::set, "set"}};
}

struct NodesScreening {
  std::vector<ScreenRule> rule;              // per node
  std::vector<std::vector<int>> components;  // of {|S_ij| > rho} among the nodes left; isolated nodes are components of their own
};
NodesScreening screen_nodes(const ConstMatrixRef& s, const NodesPenalty& penalty, bool screen = true);

// max_n ||soft(S_{n,-n}, rho)||_q': from this tau on the graph is empty.
double largest_tau(const ConstMatrixRef& s, double rho, RowNorm norm);

// The smallest rho that certainly empties the graph when tau is a function of it: tau(rho) reaches largest_tau(). By bisection;
// above the largest covariance there is nothing left to norm. A tau that empties the graph by itself at any rho leaves a hundredth of
// the largest covariance: any path will do then.
double largest_rho(const ConstMatrixRef& s, RowNorm norm, const std::function<double(double)>& tau);

// 1 / (|S|_2 + p rho + p^(1/q') tau) <= eigenvalues of X <= p / rho.
std::pair<double, double> nodes_bounds(double spectral_norm, Index p, const NodesPenalty& penalty);

}  // namespace granary::graph
