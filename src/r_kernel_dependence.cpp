// Exports of the measures of dependence and their tests.
#include "core/kernel/kernel_features.h"
#include "kernel/dependence_fit.h"
#include "kernel/gaussian_information.h"
#include "r_core_kernel.h"

using namespace granary;
using namespace granary::kernel;

namespace granary::door {

// list(x =, kernel = NULL for a kernel matrix, window = NULL where there is none).
inline void convert(const Source& s, DependenceVariable& t) {
  std::optional<KernelSpec> kernel, window;
  const auto part = [&](const char* name) {
    SEXP value = element(s.value, name);
    return Source{value == nullptr ? R_NilValue : value, name, s.state};
  };
  convert(part("x"), t.x);
  convert(part("kernel"), kernel);
  convert(part("window"), window);
  if (kernel) t.kernel = std::make_unique<Kernel>(*kernel, t.x.cols());
  if (window) t.window = std::make_unique<Kernel>(*window, t.x.cols());
}

}  // namespace granary::door

// [[Rcpp::export(rng = false)]]
SEXP core_dependence(SEXP variables, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(measure_dependence(read<std::vector<DependenceVariable>>(variables, "variables"),
                                    read<DependenceFitOptions>(options), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_permutation_test(SEXP variables, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(test_dependence(read<std::vector<DependenceVariable>>(variables, "variables"),
                                 read<DependenceTestOptions>(options), rng(seed), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_gamma_test(SEXP variables, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(test_dependence_by_gamma(read<std::vector<DependenceVariable>>(variables, "variables"),
                                          read<DependenceFitOptions>(options), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_median_distance(SEXP x) {
  return crossing([&] { return write(median_distance(matrix(x))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_incomplete_cholesky(SEXP variable, SEXP options, SEXP centred, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    KernelFeaturesOptions wanted = read<KernelFeaturesOptions>(options);
    wanted.centred = flag(centred);
    return write(affordable_features(read<std::vector<DependenceVariable>>(variable, "x"), wanted, 1, monitor)[0]);
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_table_information(SEXP counts) {
  return crossing([&] { return write(table_information(matrix(counts, "table"))); });
}

// `margins` are in the units of x and y.
// [[Rcpp::export(rng = false)]]
SEXP core_grid_information(SEXP x, SEXP y, SEXP windows, SEXP margins, SEXP grid) {
  return crossing([&] {
    const std::vector<KernelSpec> window = read<std::vector<KernelSpec>>(windows, "windows");
    const VectorView margin = vector(margins);
    return write(grid_information({vector(x), Kernel(window.at(0), 1), margin[0]}, {vector(y), Kernel(window.at(1), 1), margin[1]},
                                  count(grid)));
  });
}
