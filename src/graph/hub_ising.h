// Binary networks with hubs (HBN): the Ising model by penalised pseudo-likelihood.
//
//   minimise  -sum_jk t_jk (X'X)_jk + sum_i sum_j log(1 + exp(eta_ij)) + P(T),   eta_ij = t_jj + sum_{k != j} t_jk x_ik,   x in
//   {0, 1}
//
// Tan et al. (JMLR 2014), equation (12). The loss is a sum over the n rows, so the penalties grow with n. P in hub_penalty.h, the
// algorithm in hub_newton.h. For q = Inf, and where ADMM is asked for, that of hub_admm.h: its T step is smooth and unconstrained
// and is solved by L-BFGS from the last T, or by the paper's Barzilai-Borwein method (Appendix F) with the non-monotone line
// search of Raydan (1997), which the paper cites but leaves out.
//
// With p_ij = expit(eta_ij) the gradient over symmetric T is (R + R') / 2, R_jk = -(X'X)_jk + sum_i x_ik p_ij and R_jj = sum_i
// (p_ij - x_ij). Appendix F prints (X'X)_jj in the off-diagonal entries and a sum over i up to p in the objective; both are slips
// for (X'X)_jj' and n.
//
// Certificate: with intercepts t_jj that solve sum_i p_ij = sum_i x_ij exactly, pi = x + s (p - x) is dual feasible for the
// largest s <= 1 that brings -s times the gradient into the dual set of P, and the dual value is -sum_ij {pi log pi + (1 - pi)
// log(1 - pi)}.
#pragma once

#include "graph/hub_admm.h"

namespace granary::graph {

HubResult hub_ising(ConstMatrixRef x, const HubPenalty& penalty, const HubOptions& options, Monitor& monitor,
                    const HubState* start = nullptr);

// The pseudo-likelihood loss at T and, where asked for, its gradient over symmetric matrices.
double ising_loss(ConstMatrixRef x, ConstMatrixRef theta, MatrixXd* gradient = nullptr);

}  // namespace granary::graph
