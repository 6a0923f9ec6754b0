// Exports of kernels learnt by boosting.
#include "ensemble/boost_kernels.h"
#include "r_door.h"

using namespace granary;
using namespace granary::ensemble;

GRANARY_DEFAULTS(boost_kernels, KernelBoostOptions);

// `kernels` side by side; y: -1 and 1.
// [[Rcpp::export(rng = false)]]
SEXP core_boost_kernels(SEXP kernels, SEXP y, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(boost_kernels(matrix(kernels), vector(y, "y"), read<KernelBoostOptions>(options), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_smallest_share(SEXP k) {
  return crossing([&] { return write(smallest_share(matrix(k))); });
}
