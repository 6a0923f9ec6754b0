// Mutual information of Gaussian variables that have the covariances of the cells of a table: what the kernel mutual information
// bounds.
//
//   table    -1/2 log |I - C' D_p^-1 C D_q^-1|,   P cell probabilities, p and q margins, C = P - pq'
//   grid     -1/2 sum log(1 - rho^2), rho the singular values of D_x^-1/2 K H L' D_y^-1/2, where K and L are Parzen windows on
//            every observation at the points of a grid, and D their row sums
//
// Gretton, Herbrich, Smola, Bousquet, Schoelkopf (JMLR 6, 2005), equations (18) and (20)-(23).
#pragma once

#include "core/kernel/kernel.h"
#include "core/base/types.h"

namespace granary::kernel {

// Infinite where the table determines a combination of its rows from its columns. InputError where it has no counts.
double table_information(ConstMatrixRef counts);

// A variable and its window; the grid reaches from the least to the largest observation and `margin` further.
struct GridVariable {
  VectorXd x;
  Kernel window;
  double margin = 0;
};
double grid_information(const GridVariable& x, const GridVariable& y, Index grid);

}  // namespace granary::kernel
