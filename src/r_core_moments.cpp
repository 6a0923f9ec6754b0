// Moments gathered over pieces of data through the door: core/linalg/moments.h.
#include "core/linalg/moments.h"
#include "r_door.h"

using namespace granary;

// [[Rcpp::export(rng = false)]]
SEXP core_moments(SEXP x, SEXP weights) {
  return crossing([&] { return write(moments(matrix(x), Rf_isNull(weights) ? VectorXd() : VectorXd(vector(weights, "weights")))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_moments_combine(SEXP a, SEXP b) {
  return crossing([&] { return write(combine(read<Moments>(a), read<Moments>(b))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_moments_rows(SEXP of) {
  return crossing([&] { return write(rows_with_moments(read<Moments>(of))); });
}
