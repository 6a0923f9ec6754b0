// Numbers for the tests of core that do not depend on its generator.
#pragma once

#include <cstdint>

#include "core/base/types.h"

namespace granary {

struct Draw {  // uniform on (-1, 1)
  std::uint64_t state;
  double operator()() {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(state >> 11) / 4503599627370496.0 - 1;
  }
  MatrixXd matrix(Index n, Index p) {
    MatrixXd x(n, p);
    for (Index i = 0; i < x.size(); ++i) x.data()[i] = (*this)();
    return x;
  }
  Index below(Index k) { return static_cast<Index>(0.5 * ((*this)() + 1) * static_cast<double>(k)); }
};

}  // namespace granary
