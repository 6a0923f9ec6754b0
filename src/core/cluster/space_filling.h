// Points that fill the unit cube, one per row.
//
//   latin_hypercube   each column has one point in each of n equal strips, at random within it; of several such designs the one
//                     with the largest smallest distance (McKay, Beckman and Conover 1979; maximin: Johnson et al. 1990)
//   sobol             the first n points of Sobol's sequence after the origin (direction numbers of Joe and Kuo 2008, by Boost);
//                     with a key, shifted at random modulo one
//   ScrambledSobol    the same sequence from the origin on, one point at a time, with a random linear scramble and a digital
//                     shift (Matousek 1998): each point is uniform, and every 2^m of them in a row keep the stratification
#pragma once

#include <cstdint>
#include <vector>

#include "core/random/rng.h"
#include "core/base/types.h"

namespace granary {

MatrixXd latin_hypercube(Index n, Index d, Rng& rng, int candidates = 1);
MatrixXd sobol(Index n, Index d);
MatrixXd sobol_shifted(Index n, Index d, Rng& rng);

// What the first 2^levels points of Sobol's sequence are made of: point i is point i - 1 xor entry [j * levels + l], with 2^l the
// largest power of two that divides i.
struct SobolNumbers {
  SobolNumbers(Index d, int levels);
  Index d;
  int levels;
  std::vector<std::uint32_t> direction;
};
class ScrambledSobol {
 public:
  ScrambledSobol(const SobolNumbers& numbers, Rng& rng);
  // The next point, d numbers in (0, 1); at most 2^levels times.
  void next(double* point);

 private:
  Index d_;
  int levels_;
  std::uint64_t index_ = 0;
  std::vector<std::uint32_t> direction_, at_;
};

// Rows of the unit cube to the box.
MatrixXd to_box(ConstMatrixRef unit, ConstVectorRef lower, ConstVectorRef upper);

}  // namespace granary
