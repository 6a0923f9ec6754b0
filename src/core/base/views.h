// Data in the memory of others, for fields of structs that must not copy it.
#pragma once

#include "core/base/types.h"

namespace granary {

using MatrixView = Eigen::Map<const MatrixXd>;
using VectorView = Eigen::Map<const VectorXd>;

}  // namespace granary
