// What exports that do not yet go through the door need.
#pragma once

#include <Rcpp.h>

#include "r_door.h"

#include <RcppEigen.h>

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "core/random/rng.h"

namespace granary {

// From core_seed(): two 31-bit integers drawn from R's stream.
inline Rng make_rng(const Rcpp::NumericVector& seed) {
  return Rng((static_cast<std::uint64_t>(seed[0]) << 32) ^ static_cast<std::uint64_t>(seed[1]));
}

inline Rcpp::List as_list(const Convergence& c) {
  return Rcpp::List::create(Rcpp::Named("converged") = c.converged, Rcpp::Named("iterations") = c.iterations,
                            Rcpp::Named("gap") = c.gap, Rcpp::Named("residual") = c.residual,
                            Rcpp::Named("seconds") = c.seconds, Rcpp::Named("message") = c.message);
}

}  // namespace granary
