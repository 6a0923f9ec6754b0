// What a network class can express: shattered sets with their parameters, the VC dimension of tiny networks, and bounds on the
// dimension that any linear arrangement of a matrix of signs needs.
//
// Theorem 17: with f_i(a) = +-1 and log2 p_ia = -1 or -1 - L_i, q the other way round, log2(p/q) = f_i(a) L_i, while
// |log2((1 - p)/(1 - q))| < 1. If L_i exceeds the other terms, sign log P/Q (x) = f_i(a) at the last i with x_i = 1.
//   paper   L_i = n 2^{t-1} at place t of the order: true at every x but zero (a decision list)
//   small   L_i = n + sum of L over the parents of i: enough on the shattered set, where only the parents of i can be one
// Parameters are kept as log2, as p underflows at n = 8 already.
//
// Theorem 22 (logistic autoregressive network without bias): w_ic in {0, logit(2^{-1 - L_i})} shatters the points with ones at c
// < i and i. The proof prints parameters that no such network has (at the zero pattern p = 1/2 always); the weights are right.
// There the node c itself sees zeros only, so that L_i = n will do.
#pragma once

#include <vector>

#include "core/base/monitor.h"
#include "core/random/rng.h"
#include "core/base/types.h"
#include "graph/bn_kernel.h"

namespace granary::graph {

struct Shattering {
  MatrixXd points;                       // one row per point, columns by node
  VectorXd odds;                         // log2 P/Q at the points
  std::vector<VectorXd> log2_p, log2_q;  // per node and pattern (tables), or row i of the weights (logistic)
  int wrong = 0;                         // points whose sign is not the label
  VectorXd constants;                    // L_i, for tables
};
template <class V>
void fields(V& v, Shattering& t) {
  v("points", t.points);
  v("odds", t.odds);
  v("p", t.log2_p);
  v("q", t.log2_q);
  v("wrong", t.wrong);
  v("constants", t.constants);
}

enum class ShatterType { tables, logistic, naive };
inline Names<ShatterType> names(ShatterType) {
  return {{ShatterType::tables, "unconstrained"}, {ShatterType::logistic, "logistic"}, {ShatterType::naive, "naive"}};
}
Shattering shatter(const BnStructure& structure, ShatterType type, const std::vector<int>& labels, bool paper);
// How many of the 2^points dichotomies fail.
double shatter_failures(const BnStructure& structure, ShatterType type, int points, bool paper, Monitor& monitor);
VectorXd shatter_constants(const BnStructure& structure, bool paper);
Shattering shatter_tables(const BnStructure& structure, const std::vector<int>& labels, const VectorXd& constants);
Shattering shatter_logistic(int nodes, const std::vector<int>& labels, bool paper);
// e_1 .. e_n and the vector of ones, by naive Bayes; n >= 2.
Shattering shatter_naive(int nodes, const std::vector<int>& labels);
// log2 P/Q at any x for the tables of `shattering`.
double table_odds(const BnStructure& structure, const Shattering& shattering, const int* x);

// Lemma 13: x log(p/q) + (1 - x) log((1 - p)/(1 - q)) = w (x - b), b in (0, 1); p = q gives w = 0 and b = 1/2.
struct HalfSpace {
  double w, b;
};
HalfSpace to_half_space(double p, double q);
struct BernoulliPair {
  double p, q;
};
BernoulliPair from_half_space(double w, double b);
MatrixXd half_space_rows(ConstVectorRef first, ConstVectorRef second, bool forward);  // the same for many, one row each

// All concepts sign(log P/Q) of a binary network, and the VC dimension of their class. A table row contributes (log (1-p)/(1-q),
// log p/q), which is (0, 0) or has opposite strict signs; which of them holds for each row is found by branching over linear
// programs.
struct ConceptClass {
  int points = 0;
  std::vector<std::uint32_t> concepts;  // bit x set where x is labelled +1; x has x_j = bit j
  int vc = 0;
  std::vector<int> witness;  // points of a shattered set of size vc
  double programs = 0;       // linear programs solved
};
template <class V>
void fields(V& v, ConceptClass& t) {
  std::vector<double> concepts(t.concepts.begin(), t.concepts.end());
  v("points", t.points);
  v("concepts", concepts);
  v("vc", t.vc);
  v("witness", positions(t.witness));
  v("programs", t.programs);
}
ConceptClass enumerate_concepts(const BnStructure& structure, Monitor& monitor);  // at most 4 nodes

struct SignRankOptions {
  int max_dimension = 0;  // 0: up to the rank
  int restarts = 5;
  int max_iter = 300;
};
template <class V>
void fields(V& v, SignRankOptions& t) {
  v("max_dimension", t.max_dimension);
  v("restarts", t.restarts);
  v("max_iter", t.max_iter);
}
struct SignRankBounds {
  double forster = 0;  // sqrt(rows cols) / ||M||_2
  double norm = 0;
  int vc = 0;               // shattered columns by rows or rows by columns, whichever is more
  bool vc_complete = true;  // the search for it was not cut short
  int rank = 0;
  int upper = 0;         // the smallest dimension for which a factorisation was found, at most the rank
  MatrixXd left, right;  // signs of left right' are M
};
template <class V>
void fields(V& v, SignRankBounds& t) {
  v("forster", t.forster);
  v("norm", t.norm);
  v("vc", t.vc);
  v("vc_complete", t.vc_complete);
  v("rank", t.rank);
  v("upper", t.upper);
  v("left", t.left);
  v("right", t.right);
}
SignRankBounds sign_rank_bounds(ConstMatrixRef signs, const SignRankOptions& options, Rng& rng, Monitor& monitor);

}  // namespace granary::graph
