// The columns of a design, centred and scaled to unit second moment; those that do not vary are left out.
#pragma once

#include <vector>

#include "core/base/types.h"

namespace granary::regress {

struct ScaledDesign {
  MatrixXd x;               // only columns that vary
  VectorXd center, scale;   // of these; 0 and 1 where not asked for
  std::vector<Index> keep;  // which they are
};

// Throws InputError if no column varies. A column varies when its spread is more than rounding of its mean.
ScaledDesign scale_columns(ConstMatrixRef x, bool center, bool scale);

// Places among the columns kept, of columns of the whole design; empty: all kept. InputError names (from 1) one that was left out.
std::vector<int> kept_places(const ScaledDesign& design, const std::vector<Index>& which, Index columns);

}  // namespace granary::regress
