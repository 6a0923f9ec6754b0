// Eigen's sparse Cholesky factorisations, behind granary's Eigen.
#pragma once

#include "core/base/types.h"

#include <Eigen/SparseCholesky>
