// Gaussian graphs with hubs (HGL) and covariance graphs with hubs (HCG), with certificates.
//
//   HGL  minimise  -log det T + tr(S T) + P(T)              over T > 0
//   HCG  minimise  1/2 ||Sigma - S||_F^2 + P(Sigma)         over Sigma >= eps I
//
// Tan, London, Mohan, Lee, Fazel, Witten (JMLR 2014), equation (6) and Section 4.1; P in hub_penalty.h, the algorithms in
// hub_newton.h and, for q = Inf and where the constraint of HCG binds, hub_admm.h. With L in the dual set of P the dual values
// are  log det(S + L) + p  and, with m the eigenvalues of S - L, 1/2
// ||S||^2 - 1/2 sum max(m, eps)^2 + eps sum max(eps - m, 0).
//
// Theorem 1: the solution is block diagonal over the connected components of {|S_ij| > min(l1, l2 / 2)}, for both losses: across
// blocks minus the gradient is S_ij, which then costs no column anything. Within a component of m variables where hub_regime()
// excludes hubs, HGL is the graphical lasso with l1 and is solved by QUIC.
//
// In Section 4.1 the paper prints the Sigma step as (S + rho Sigma~ - rho W)^+ / (1 + rho), projecting before it divides, which
// would let eigenvalues go down to eps / (1 + rho); here the projection comes last, which is the minimiser over {Sigma >= eps I}.
#pragma once

#include <vector>

#include "graph/hub_admm.h"

namespace granary::graph {

HubResult hub_precision(ConstMatrixRef s, const HubPenalty& penalty, const HubOptions& options, Monitor& monitor,
                        const HubState* start = nullptr);
HubResult hub_covariance(ConstMatrixRef s, const HubPenalty& penalty, const HubOptions& options, Monitor& monitor,
                         const HubState* start = nullptr);

// The duality gap of HGL at any V and Z (V with zero diagonal), whoever computed them; also fills loss, objective and violation.
HubResult certify_precision(ConstMatrixRef s, const HubPenalty& penalty, ConstMatrixRef v, ConstMatrixRef z);

}  // namespace granary::graph
