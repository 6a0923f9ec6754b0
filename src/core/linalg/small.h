// Factorisations of matrices of fixed size (2 x 2, 3 x 3), which cost little to compile, and the rare LDL'.
#pragma once

#include "core/base/types.h"

#include <Eigen/Cholesky>
#include <Eigen/LU>
