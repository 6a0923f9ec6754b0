// Questions asked of a network for every row of a table, each row with its own findings; NaN marks what is not known.
#pragma once

#include "graph/cg_state.h"

namespace granary::graph {

// Discrete columns hold states 0, 1, ...; findings are entered discrete ones first, each kind in the order of the nodes.
void enter_row(CgState& state, ConstVectorRef row);

// log p(row), one per row; columns of nodes that the state knows already must be NaN.
VectorXd row_log_evidence(const CgState& base, ConstMatrixRef rows, int threads, Monitor& monitor);

// What each row says about `target`, which it does not use itself. Discrete: a column per state. Continuous: mean and variance.
// InputError naming the first row of probability zero.
MatrixXd predict_rows(const CgState& base, ConstMatrixRef rows, int target, int threads, Monitor& monitor);

}  // namespace granary::graph
