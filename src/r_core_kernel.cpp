// Exports of the kernel language.
#include "r_core_kernel.h"

using namespace granary;

// `z` without rows: of x with itself.
// [[Rcpp::export(rng = false)]]
SEXP core_kernel_matrix(SEXP kernel, SEXP x, SEXP z) {
  return crossing([&] {
    const MatrixView points = matrix(x), others = matrix(z, "z");
    const Kernel k(read<KernelSpec>(kernel, "kernel"), points.cols());
    return write(others.rows() == 0 ? k.matrix(points) : k.cross(points, others));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_kernel_parameters(SEXP kernel, SEXP dimension) {
  return crossing([&] {
    const Kernel k(read<KernelSpec>(kernel, "kernel"), count(dimension));
    return write_list("log_parameters", k.parameters(), "names", k.parameter_names(), "stationary", k.stationary(), "differentiable",
                      k.differentiable_in_inputs());
  });
}
