// Classes from pairs: the second method of Wu, Lin and Weng (2004), Probability estimates for multi-class classification by
// pairwise coupling, JMLR 5. The probabilities of the pairs come from decision values by core/infer/calibration.h.
#pragma once

#include "core/base/types.h"

namespace granary::kernel {

// Row i of `pairs` has P(b | a or b) for the pairs a < b of k classes, (0,1), (0,2), ..., (k-2,k-1). The probabilities p of the
// classes minimise sum_{a < b} (r_ba p_a - r_ab p_b)^2 over the simplex, a linear system (their equation 21).
MatrixXd couple_pairs(ConstMatrixRef pairs, Index classes);

}  // namespace granary::kernel
