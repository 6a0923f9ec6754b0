// One half of an alternating sweep: the ridge regressions of all rows on the factors of the columns, or the other way round.
//
//   U_i = (sum_j w_ij V_j V_j' + lambda/2 I)^-1 sum_j w_ij X_ij V_j
#pragma once

#include "regress/completion_cells.h"

namespace granary::regress {

// `list` by row and `other` = V gives U in `out`, or by column the reverse. Returns the part of the objective that `out` decides:
// sum_S w (X - U'V)^2 + lambda/2 ||U||^2 - sum_S w X^2, at its minimum over U.
double half_sweep(const CellList& list, const MatrixXd& other, double lambda, MatrixXd& out, int threads, Monitor& monitor);

}  // namespace granary::regress
