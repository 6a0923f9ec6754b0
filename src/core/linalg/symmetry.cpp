#include "core/linalg/symmetry.h"

#include <algorithm>
#include <cmath>

#include "core/linalg/spectral.h"

namespace granary {

// By tiles, so that the transpose stays in the cache.
Asymmetry asymmetry(ConstMatrixRef x) {
  constexpr Index tile = 32;
  const Index p = x.rows();
  Asymmetry found;
  for (Index j0 = 0; j0 < p; j0 += tile) {
    for (Index i0 = 0; i0 <= j0; i0 += tile) {
      for (Index j = j0; j < std::min(j0 + tile, p); ++j) {
        for (Index i = i0; i < std::min(i0 + tile, j + 1); ++i) {
          const double a = x(i, j), b = x(j, i);
          found.largest = std::max(found.largest, std::max(std::abs(a), std::abs(b)));
          if (std::abs(a - b) > found.gap) {
            found.gap = std::abs(a - b);
            found.row = i;
            found.column = j;
          }
        }
      }
    }
  }
  return found;
}

double semidefinite_excess(ConstMatrixRef s) {
  const double scale = s.diagonal().mean();
  if (!(scale > 0)) return 0;
  const Index steps = std::max<Index>(10, 2500000 / (s.rows() * s.rows()));
  return std::max(0.0, -smallest_ritz_value(s, steps) / scale);
}

double largest_finite(ConstVectorRef x) {
  double size = 0;
  for (Index i = 0; i < x.size(); ++i) {
    const double a = std::abs(x[i]);
    if (a > size && std::isfinite(a)) size = a;
  }
  return size;
}

}  // namespace granary
