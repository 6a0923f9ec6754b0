// Where EM begins for a discrete variable that was never seen, or seldom.
//
// A class without a single observation is identified only through the other columns, and from a start in which all classes are
// alike EM never leaves. So the rows are split by k-means on the columns that were observed (standardised numbers, indicators of
// states; a missing cell at its mean), k the number of states, and the split stands for the observations in the first M-step only.
// Where few rows are labelled (most are not, and some state has fewer than three), the parts of the split are matched with the
// states so that most labels agree, and stand for the missing ones.
#pragma once

#include "core/base/monitor.h"
#include "core/base/types.h"
#include "graph/cg_network.h"

namespace granary::graph {

// The rows (standardised, states from 0, NaN where missing) with the columns of such variables filled in. The same on every run.
MatrixXd fill_latent(const CgNetwork& network, ConstMatrixRef rows, Monitor& monitor);

}  // namespace granary::graph
