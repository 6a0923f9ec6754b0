// The hub penalty: what it costs, its proximal steps, its dual set, and what its three weights allow.
//
//   P(T) = min  l1 ||Z_off||_1 + l2 ||V_off||_1 + l3 sum_j ||(V_off)_.j||_q    over  T = V + V' + Z
//
// Tan, London, Mohan, Lee, Fazel, Witten (JMLR 2014), equation (2); sums run over ordered pairs, diagonals are free. Only the sum
// of the diagonals of V + V' and Z is identified: here V has a zero diagonal and Z carries all of diag(T).
//
// P is the support function of a convex set, P(T) = max <L, T> over symmetric L with zero diagonal and (from Lemma 7)
//
//   |L_ij| <= l1,   ||soft(2 L_.j, l2)||_s <= l3 for every j,   1/s + 1/q = 1.
#pragma once

#include <utility>

#include "core/base/fields.h"
#include "core/base/types.h"

namespace granary::graph {

enum class HubNorm { l1, l2, linf };  // q
enum class HubRegime { mixed, no_hubs, hubs_only };
inline Names<HubNorm> names(HubNorm) { return {{HubNorm::l2, "l2"}, {HubNorm::l1, "l1"}, {HubNorm::linf, "linf"}}; }
inline Names<HubRegime> names(HubRegime) {
  return {{HubRegime::mixed, "mixed"}, {HubRegime::no_hubs, "no hubs possible"}, {HubRegime::hubs_only, "hubs only"}};
}

struct HubPenalty {
  double l1 = 0, l2 = 0, l3 = 0;
  HubNorm q = HubNorm::l2;

  HubPenalty scaled(double factor) const { return {factor * l1, factor * l2, factor * l3, q}; }
};

template <class V>
void fields(V& v, HubPenalty& t) {
  v("lambda1", t.l1);
  v("lambda2", t.l2);
  v("lambda3", t.l3);
  v("q", t.q);
}

// Lemmas 3 and 4, which hold for any loss on p variables. With q = 1 or l3 = 0 the penalty is an l1 penalty (Lemma 6): then
// "no_hubs" when Z is the cheaper of the two, and "hubs_only" when V is.
HubRegime hub_regime(const HubPenalty& penalty, Index p);

// The l1 penalty that P equals when V or Z cannot appear for a reason above, or when columns have one entry only (p = 2);
// negative when P is no l1 penalty.
double equivalent_l1(const HubPenalty& penalty, Index p);

// Off-diagonal parts of V and Z only.
double hub_cost(const HubPenalty& penalty, const MatrixXd& v, const MatrixXd& z);

// argmin over x of  l2 ||x||_1 + l3 ||x||_q + rho/2 ||x - c||^2
VectorXd prox_hub_column(const HubPenalty& penalty, ConstVectorRef c, double rho);

// ||soft(2 L_.j, l2)||_s over the rows other than j.
double dual_column_norm(const HubPenalty& penalty, const MatrixXd& l, Index j);

// How far L is outside the dual set: the largest of |L_ij| - l1 and (dual_column_norm - l3) / 2, at least zero.
double dual_violation(const HubPenalty& penalty, const MatrixXd& l);

// A point of the dual set near L: entries clipped to l1, then each entry times the smaller of the factors its two columns need.
MatrixXd into_dual_set(const HubPenalty& penalty, const MatrixXd& l);

// The largest t <= 1 with t L in the dual set; the diagonal of L is not looked at.
double dual_scale(const HubPenalty& penalty, const MatrixXd& l);

// T is diagonal if and only if minus the gradient at the best diagonal T, here `s`, is in the dual set. For one l2: the smallest
// l1 and the smallest l3 with which that holds.
struct HubEmpty {
  double lambda1 = 0, lambda3 = 0;
};
template <class V>
void fields(V& v, HubEmpty& t) {
  v("lambda1", t.lambda1);
  v("lambda3", t.lambda3);
}
HubEmpty smallest_empty(ConstMatrixRef s, double l2, HubNorm q);

}  // namespace granary::graph
