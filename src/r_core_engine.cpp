// The choice between the engines of dense algebra.
#include "core/linalg/engine.h"
#include "r_door.h"

using namespace granary;

extern const DenseEngine r_blas_engine;  // r_core_blas.cpp

// Called when the package is loaded.
// [[Rcpp::export(rng = false)]]
SEXP core_offer_blas() {
  return crossing([] {
    offer_engine(&r_blas_engine);
    return R_NilValue;
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_use_engine(SEXP name) {
  return crossing([&] {
    use_engine(text(name, "granary.blas"));
    return R_NilValue;
  });
}

// The engine in use, and those there are.
// [[Rcpp::export(rng = false)]]
SEXP core_engines() {
  return crossing([] { return write_list("engine", std::string(engine().name), "available", engine_names()); });
}
