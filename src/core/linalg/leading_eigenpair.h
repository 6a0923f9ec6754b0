// The algebraically largest eigenpair of a symmetric operator, from a start that is close to it.
//
// Lanczos with full reorthogonalisation, restarted with its best Ritz vectors: in an outer loop whose operator changes a little
// from one round to the next, a handful of products per round are enough. `top_eigenpairs` (spectral.h) has no use for a start;
// this has.
#pragma once

#include "core/base/monitor.h"
#include "core/linalg/spd.h"
#include "core/base/types.h"

namespace granary {

struct LeadingEigenOptions {
  double tol = 1e-10;      // on ||A v - lambda v|| / max |Ritz value|
  int max_products = 500;  // the best vector so far is returned when they are used up
  int subspace = 16;
};
struct LeadingEigenpair {
  double value = 0;
  VectorXd vector;      // of unit length, on the side of the start
  double residual = 0;  // as in tol
  int products = 0;
};
// A start that is exactly an eigenvector is returned as it is, whether its eigenvalue is the largest or not.
LeadingEigenpair leading_eigenpair(const LinearOperator& apply, ConstVectorRef start, const LeadingEigenOptions& options,
                                   Monitor& monitor);

}  // namespace granary
