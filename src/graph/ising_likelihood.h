// Sparse Ising models by penalised maximum likelihood, exactly.
//
//   minimise  F(W, b) = log Z(W, b) - <S, W> - m'b + rho sum_{i != j} |w_ij|  (+ rho |b|_1)
//
// S = X'X / T - I, m = column means of X (rows of -1, +1), W symmetric with zero diagonal; the sum counts every edge twice.
// With D = E xx' - I - S and d = E x - m the solution satisfies D_ij = -rho sign(w_ij) on edges, |D_ij| <= rho elsewhere, d = 0;
// the residual is the largest violation, in units of a moment, so that it does not depend on any scale.
//
// The dual problem is one of maximum entropy,
//
//   maximise  H(p)  over laws p of x with  |E_p x_i x_j - S_ij| <= rho,  E_p x_i = m_i   (|E_p x_i - m_i| <= rho)
//
// with the same value, so that every feasible law bounds F from below. The law of an estimate is feasible up to the residual; the
// `gap` comes from mixing it with a product law that restores the means and with the empirical law, which lies inside all bounds
// (the entropy of a mixture is at least the mixture of the entropies). The ridge has H(p) - ||E_p xx' - I - S||^2 / (4 rho) and
// no bounds.
//
// Honorio (PhD thesis, Stony Brook 2012), chapter 5; equation numbers are those of the thesis. Its Theorem 5.2 bounds the
// solution; with a subgradient g at (W, b) convexity gives F(W, b) - F* <= <g, (W, b) - (W*, b*)>, so residual and bounds
// together also prove how far F can be above its minimum, if more loosely: `theorem_bound`.
#pragma once

#include <vector>

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "core/infer/spin_states.h"

namespace granary::graph {

struct IsingData {
  MatrixXd second;  // S, zero diagonal
  VectorXd mean;    // m
  Index rows = 0;
  double entropy = 0;  // of the empirical law: log T if all rows differ
};

enum class IsingPenalty { l1, ridge };  // rho |W|_1 or rho ||W||_F^2
inline Names<IsingPenalty> names(IsingPenalty) { return {{IsingPenalty::l1, "l1"}, {IsingPenalty::ridge, "ridge"}}; }

struct IsingObjective {
  double rho = 0;
  IsingPenalty penalty = IsingPenalty::l1;
  bool field_penalty = false;
  MatrixXd mask;  // ones where an edge may be; empty: everywhere
};

struct IsingFit {
  SpinModel model;
  double loss = Convergence::unknown;           // negative mean log-likelihood (or pseudo-likelihood)
  double objective = Convergence::unknown;      // loss + penalty
  double theorem_bound = Convergence::unknown;  // on objective - minimum, from Theorem 5.2 (l1 penalty, no mask)
  Convergence convergence;
};
template <class V>
void fields(V& v, IsingFit& t) {
  fields(v, t.model);
  v("loss", any_number(t.loss));
  v("objective", any_number(t.objective));
  v("theorem_bound", any_number(t.theorem_bound));
  v("convergence", t.convergence);
}

IsingData ising_data(ConstMatrixRef x);

// Pairs i < j where the mask allows an edge.
std::vector<std::pair<int, int>> ising_pairs(Index n, const MatrixXd& mask);

double ising_penalty_value(const IsingObjective& objective, const SpinModel& model);

// The largest violation, split into couplings and fields; gradient_w = E xx' - I - S (or of another smooth loss in the same
// units).
struct IsingResidual {
  double couplings = 0, fields = 0;
  double largest() const { return couplings > fields ? couplings : fields; }
};
IsingResidual ising_residual(const IsingObjective& objective, const SpinModel& model, const MatrixXd& gradient_w,
                             const VectorXd& gradient_b);

// Theorem 5.2 and Lemma 5.3.
struct IsingBounds {
  double couplings = 0, fields = 0;    // |W*|_1, |b*|_1
  double diameter = 0, lipschitz = 0;  // D, G
};
template <class V>
void fields(V& v, IsingBounds& t) {
  v("couplings", t.couplings);
  v("fields", t.fields);
  v("D", t.diameter);
  v("G", t.lipschitz);
}
IsingBounds ising_bounds(const IsingData& data, double rho, bool field_penalty);

struct IsingLikelihoodOptions {
  double tol = 1e-6;
  int max_iter = 2000;
};
// The solution, by orthant-wise L-BFGS. `start` may be empty.
IsingFit ising_likelihood(const IsingData& data, const IsingObjective& objective, const SpinModel& start,
                          const IsingLikelihoodOptions& options, Monitor& monitor);

// A lower bound of the minimum of F by the dual, given the moments of some parameters; -infinity if there is none (rho = 0).
double ising_dual_value(const IsingData& data, const IsingObjective& objective, const SpinModel& model,
                        const SpinMoments& moments);

// Loss, residual, gap and bound of any parameters, all exact.
void certify_likelihood(const IsingData& data, const IsingObjective& objective, IsingFit& fit, Monitor& monitor);

}  // namespace granary::graph
