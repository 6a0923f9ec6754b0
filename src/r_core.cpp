// What the door and the checks in R/ need of compiled code.
#include <algorithm>
#include <cmath>

#include "core/linalg/spectral.h"
#include "core/linalg/symmetry.h"
#include "r_door.h"

namespace granary {

// core_raise() is in R/shared-conditions.R. R's jump is carried through C++ as an exception, so that destructors run.
void raise(const char* kind, const std::string& text) {
  Rcpp::Shield<SEXP> first(write(kind));
  Rcpp::Shield<SEXP> second(write(text));
  Rcpp::Shield<SEXP> name(write("granary"));
  Rcpp::Shield<SEXP> space(R_FindNamespace(name));
  Rcpp::Shield<SEXP> call(Rf_lang3(Rf_install("core_raise"), first, second));
  Rcpp::Rcpp_fast_eval(call, space);
  throw std::runtime_error(text);  // not reached: core_raise() does not return
}

SEXP write_sparse(const SparseMatrix& x) {
  SparseMatrix packed = x;
  packed.makeCompressed();
  Rcpp::Shield<SEXP> type(R_do_MAKE_CLASS("dgCMatrix"));
  Rcpp::Shield<SEXP> out(R_do_new_object(type));
  const auto slot = [&](const char* name, SEXP value) {
    Rcpp::Shield<SEXP> kept(value);
    R_do_slot_assign(out, Rf_install(name), kept);
  };
  slot("i", door::integers(packed.innerIndexPtr(), packed.nonZeros()));
  slot("p", door::integers(packed.outerIndexPtr(), packed.outerSize() + 1));
  slot("x", door::doubles(packed.valuePtr(), packed.nonZeros()));
  const int size[2] = {static_cast<int>(packed.rows()), static_cast<int>(packed.cols())};
  slot("Dim", door::integers(size, 2));
  return out;
}

}  // namespace granary

using namespace granary;

// The defaults of every Options type, by the R function that has them as arguments.
// [[Rcpp::export(rng = false)]]
SEXP core_defaults() {
  return crossing([] {
    ListWriter out;
    for (const auto& [name, make] : Defaults::table()) out.add(name.c_str(), make());
    return out.list();
  });
}

// Largest |X_ij - X_ji|, where it is (counted from 1), and largest |X_ij|.
// [[Rcpp::export(rng = false)]]
SEXP core_asymmetry(SEXP x) {
  return crossing([&] {
    const Asymmetry found = asymmetry(matrix(x));
    return write(std::vector<double>{found.gap, found.row + 1.0, found.column + 1.0, found.largest});
  });
}

// How far the smallest eigenvalue is below zero, in units of the mean of the diagonal.
// [[Rcpp::export(rng = false)]]
SEXP core_semidefinite_excess(SEXP s) {
  return crossing([&] { return write(semidefinite_excess(matrix(s))); });
}

// The largest |x|, missing values and infinities aside; 0 of nothing.
// [[Rcpp::export(rng = false)]]
SEXP core_largest(SEXP x) {
  return crossing([&] {
    std::vector<double> store;
    const double* values = door::as_doubles(x, "x", store);
    return write(largest_finite(VectorView(values, Rf_xlength(x))));
  });
}
