// Points that fill the unit cube, one per row.
//
//   latin_hypercube   each column has one point in each of n equal strips, at random within it; of several such designs the one
//                     with the largest smallest distance (McKay, Beckman and Conover 1979; maximin: Johnson et al. 1990)
//   sobol             the first n points of Sobol's sequence after the origin (direction numbers of Joe and Kuo 2008, by Boost);
//                     with a key, shifted at random modulo one
#pragma once

#include <cstdint>

#include "rng.h"
#include "types.h"

namespace granary {

MatrixXd latin_hypercube(Index n, Index d, Rng& rng, int candidates = 1);
MatrixXd sobol(Index n, Index d);
MatrixXd sobol_shifted(Index n, Index d, Rng& rng);

// Rows of the unit cube to the box.
MatrixXd to_box(ConstMatrixRef unit, ConstVectorRef lower, ConstVectorRef upper);

}  // namespace granary
