// Exports of independent component analysis.
#include "kernel/ica.h"
#include "kernel/ica_start.h"
#include "r_core_kernel.h"

using namespace granary;
using namespace granary::kernel;

GRANARY_DEFAULTS(kernel_ica, KernelIcaOptions);

// [[Rcpp::export(rng = false)]]
SEXP core_ica_moments(SEXP x, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    return write(ica_by_moments(matrix(x), read<IcaMomentsOptions>(options), draws, monitor));
  });
}

// `kernels`: of one input, in the order of use.
// [[Rcpp::export(rng = false)]]
SEXP core_kernel_ica(SEXP x, SEXP kernels, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(kernel_ica(matrix(x), read<std::vector<KernelSpec>>(kernels, "kernel"), read<KernelIcaOptions>(options), rng(seed),
                            monitor));
  });
}
