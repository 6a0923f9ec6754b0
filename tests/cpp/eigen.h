// All of Eigen's dense algebra, for answers computed another way than the package computes them.
#pragma once

#include "core/base/types.h"

#include <Eigen/Dense>
