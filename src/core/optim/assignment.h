// Linear assignment: each row i gets a column a(i) of its own so that
//
//   sum_i cost(i, a(i))
//
// is least, by shortest augmenting paths (Jonker and Volgenant, Computing 1987; Crouse, IEEE Trans. Aerosp. 2016, for rectangles). O(rows^2 columns).
// The duals u, v prove it: u_i + v_j <= cost(i, j), with equality where a(i) = j, and v_j <= 0 with v_j = 0 for columns left over.
#pragma once

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary {

struct AssignmentResult {
  VectorXi column;  // of each row; with fewer columns than rows, -1 for rows that get none
  VectorXd u, v;    // duals of rows and columns
  double objective = 0;
  Convergence convergence;  // gap: objective minus the value of the duals; residual: the largest violation of dual feasibility
};

// Costs must be finite. With more rows than columns the rows compete for the columns (u_i <= 0 then, and zero for rows left over).
AssignmentResult assign_rows(ConstMatrixRef cost, Monitor& monitor);
AssignmentResult assign_rows_most(ConstMatrixRef gain, Monitor& monitor);  // the largest sum instead; objective and duals are those of the gains

template <class V>
void fields(V& v, AssignmentResult& t) {
  v("column", positions(t.column));
  v("u", t.u);
  v("v", t.v);
  v("objective", t.objective);
  v("convergence", t.convergence);
}

}  // namespace granary
