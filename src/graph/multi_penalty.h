// The penalty of one pair of variables over K tasks, and the small problems it leads to.
//
//   P(x) = l1 ||x||_1 + l2 N(x),   N(x) = ||x||_2,  ||x||_inf  or  sum_{k<l} |x_k - x_l| (fused),   x in R^K
//
// Every solver of the multi-task problem (multi_problem.h) comes down to
//
//   minimise  1/2 x' Diag(q) x - c'x + P(x)                                                          (4.11)
//
// which is solved exactly: for N = l2 it is a separable trust region problem (Theorem 4.24), for N = linf a continuous quadratic
// knapsack (Theorem 4.18), and for the fused norm a parametric cut of the complete graph. With l1 > 0 the first two apply to
// the soft-thresholded c, because the sign of x_k is that of c_k.
//
// Honorio (thesis 2012), chapter 4, whose equation numbers are used; Honorio and Samaras (ICML 2010) for linf; Danaher, Wang and
// Witten (JRSS B 2014) for the fused norm.
//
// The thesis solves (4.21) by ten Newton steps from lambda = 0, which creep when ||c|| is much larger than rho. Here Newton's
// method runs on 1/||r(lambda)|| - 1/rho, which is concave and nearly linear, and starts at the solution for the largest q.
#pragma once

#include <vector>

#include "core/base/fields.h"
#include "core/base/types.h"

namespace granary::graph {

enum class MultiNorm { l2, linf, fused };
inline Names<MultiNorm> names(MultiNorm) { return {{MultiNorm::l2, "l2"}, {MultiNorm::linf, "linf"}, {MultiNorm::fused, "fused"}}; }

struct MultiPenalty {
  MultiNorm norm = MultiNorm::l2;
  double l1 = 0, l2 = 0;
  bool none() const { return l1 == 0 && l2 == 0; }
  MultiPenalty scaled(double factor) const { return {norm, l1 * factor, l2 * factor}; }
};

template <class V>
void fields(V& v, MultiPenalty& t) {
  v("norm", t.norm);
  v("lambda1", t.l1);
  v("lambda", t.l2);
}

double penalty_value(const MultiPenalty& penalty, const double* x, int tasks);

// (4.11) for one pair.
struct MultiBlock {
  std::vector<double> q, c;
  MultiPenalty penalty;
};
template <class V>
void fields(V& v, MultiBlock& t) {
  v("q", t.q);
  v("c", t.c);
  v("penalty", t.penalty);
}
std::vector<double> solve_block(const MultiBlock& block);

class BlockSolver {  // keeps its scratch space: one per thread
 public:
  BlockSolver(const MultiPenalty& penalty, int tasks);

  bool is_zero(const double* c);  // whether x = 0 is the solution, which does not depend on q
  void solve(const double* q, const double* c, double* x);

  // The smallest multiple t of the penalty at which x = 0 solves: with N alone the dual norm of c.
  double entry_weight(const double* c);

 private:
  void solve_l2(const double* q, double* x);
  void solve_linf(const double* q, double* x);
  void solve_fused(const double* q, const double* c, double* x, int begin, int end, double shift);
  double largest_cut_excess(double t);

  MultiPenalty penalty_;
  int tasks_;
  std::vector<double> shrunk_, key_;
  std::vector<int> order_;
};

// x_k = sign(c_k) min(|c_k| / q_k, nu) with sum_k (|c_k| - q_k nu)_+ = rho; zero when ||c||_1 <= rho. By sorting up to
// `sort_up_to` entries, beyond by splitting at medians (Kiwiel 2007), which is linear in the number of entries.
VectorXd knapsack_prox(const ConstVectorRef& q, const ConstVectorRef& c, double rho, int sort_up_to = 50);

// x = lambda c / (1 + lambda q) with ||c / (1 + lambda q)|| = rho; zero when ||c|| <= rho.
VectorXd trust_region_prox(const ConstVectorRef& q, const ConstVectorRef& c, double rho);

// The step for a penalised diagonal (Section 4.8):
//   maximise  sum_k q_k log(z_k - b_k) - c'z - rho ||z||_p,    z_k = b_k + q_k / (c_k + r_k),  r >= 0,  ||r||_p' = rho
struct DiagonalStep {
  VectorXd z, r;
};
template <class V>
void fields(V& v, DiagonalStep& t) {
  v("z", t.z);
  v("r", t.r);
}
struct DiagonalBlock {
  VectorXd q, c, b;
  MultiNorm norm = MultiNorm::l2;
  double rho = 0;
};
template <class V>
void fields(V& v, DiagonalBlock& t) {
  v("q", t.q);
  v("c", t.c);
  v("b", t.b);
  v("norm", t.norm);
  v("rho", t.rho);
}
DiagonalStep solve_diagonal(const DiagonalBlock& block);
DiagonalStep log_knapsack(const ConstVectorRef& q, const ConstVectorRef& c, const ConstVectorRef& b, double rho);      // p = Inf
DiagonalStep log_trust_region(const ConstVectorRef& q, const ConstVectorRef& c, const ConstVectorRef& b, double rho);  // p = 2

}  // namespace granary::graph
