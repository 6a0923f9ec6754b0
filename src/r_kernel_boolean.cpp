// Exports of the kernels of 0/1 attributes.
#include "kernel/boolean_margin.h"
#include "kernel/boolean_rules.h"
#include "kernel/boolean_theory.h"
#include "r_door.h"

using namespace granary;
using namespace granary::kernel;

namespace {

BitRows bits(SEXP x) { return is_sparse(x) ? BitRows(SparseMatrix(sparse(x))) : BitRows(matrix(x)); }

}  // namespace

// [[Rcpp::export(rng = false)]]
SEXP core_boolean_check(SEXP kernel) {
  return crossing([&] {
    BooleanTable(read<BooleanSpec>(kernel, "kernel"), 1);
    return R_NilValue;
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_boolean_margin(SEXP x, SEXP label, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(boolean_margin(bits(x), vector(label, "y"), read<BooleanMarginOptions>(options), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_boolean_scores(SEXP x, SEXP coefficients, SEXP kernel, SEXP z, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(
        boolean_scores(bits(x), vector(coefficients, "coefficients"), read<BooleanSpec>(kernel, "kernel"), bits(z), monitor));
  });
}

// `machine`: the rows and coefficients of a kernel machine; `x` and `label` for support and coverage.
// [[Rcpp::export(rng = false)]]
SEXP core_boolean_rules(SEXP support, SEXP coefficients, SEXP x, SEXP label, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(as_table(boolean_rules(bits(support), vector(coefficients, "coefficients"), bits(x), vector(label, "y"),
                                        read<BooleanRuleOptions>(options), monitor)));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_boolean_bounds(SEXP n, SEXP m, SEXP k_max) {
  return crossing([&] { return write_columns(boolean_bounds(number(n, "p"), number(m, "n"), count(k_max, "k_max"))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_boolean_typical(SEXP x, SEXP label) {
  return crossing([&] { return write(boolean_typical(bits(x), vector(label, "y"))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_sim_boolean(SEXP m, SEXP n, SEXP options, SEXP seed) {
  return crossing([&] {
    Rng draws = rng(seed);
    return write(sim_boolean(count(m, "n"), count(n, "p"), read<BooleanSim>(options), draws));
  });
}
