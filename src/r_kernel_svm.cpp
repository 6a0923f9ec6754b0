// Exports of the support vector machines.
#include "core/infer/calibration.h"
#include "kernel/svm.h"
#include "kernel/svm_probability.h"
#include "r_core_kernel_rows.h"

using namespace granary;
using namespace granary::kernel;

GRANARY_DEFAULTS(svm, SvmOptions);

namespace {

SvmData svm_data(SEXP x, SEXP kernel) {  // kernel = NULL: x is the kernel matrix
  if (is_null(kernel)) return SvmData(matrix(x));
  const KernelSpec spec = read<KernelSpec>(kernel, "kernel");
  return is_sparse(x) ? SvmData(spec, SparseMatrix(sparse(x))) : SvmData(spec, matrix(x));
}

}  // namespace

// A list of tasks, each solved at all points: list(list(solution, ...), ...).
// [[Rcpp::export(rng = false)]]
SEXP core_svm_fit(SEXP x, SEXP kernel, SEXP tasks, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(solve_svm(svm_data(x, kernel), read<std::vector<SvmTask>>(tasks, "tasks"), read<SvmOptions>(options), monitor));
  });
}

// The raw programme: 1/2 b'Kb - linear'b between the bounds, with this sum.
// [[Rcpp::export(rng = false)]]
SEXP core_svm_qp(SEXP k, SEXP sheet, SEXP sum, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(solve_box_qp(matrix(k), read<SmoSheet>(sheet, "sheet"), number(sum), read<SmoOptions>(options), monitor));
  });
}

// Decision values without offsets: a row for each row of z, a column for each machine.
// [[Rcpp::export(rng = false)]]
SEXP core_svm_decision(SEXP support, SEXP kernel, SEXP coefficients, SEXP z, SEXP threads, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const KernelRows rows = make_kernel_rows(support, kernel);
    const MatrixView c = matrix(coefficients, "coefficients");
    return write(is_sparse(z) ? decision_values(rows, c, SparseMatrix(sparse(z)), count(threads), monitor)
                              : decision_values(rows, c, matrix(z), count(threads), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_svm_platt(SEXP decision, SEXP label, SEXP weight) {
  return crossing([&] { return write(fit_sigmoid(vector(decision), vector(label), vector(weight))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_svm_isotonic(SEXP decision, SEXP label, SEXP weight) {
  return crossing([&] { return write(fit_isotonic(vector(decision), vector(label), vector(weight))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_svm_couple(SEXP pairs, SEXP classes) {
  return crossing([&] { return write(couple_pairs(matrix(pairs), count(classes))); });
}

// Whether the kernel matrix has a direction of clearly negative curvature among those of zero sum.
// [[Rcpp::export(rng = false)]]
SEXP core_svm_indefinite(SEXP x, SEXP kernel, SEXP rows) {
  return crossing([&] { return write(svm_data(x, kernel).indefinite(places(rows))); });
}
