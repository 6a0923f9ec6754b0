// What every r_<family>.cpp needs: R's interrupts and progress bar behind a Monitor, and Convergence as a list.
#pragma once

#include <RcppEigen.h>

#include "core/convergence.h"
#include "core/monitor.h"
#include "core/rng.h"

namespace granary {

// `progress` is NULL or an R function of the share done; both it and the interrupt check run on R's thread only (see Monitor).
class RMonitor : public Monitor {
 public:
  explicit RMonitor(SEXP progress) : progress_(progress) {}

 protected:
  bool poll() override {
    return R_ToplevelExec([](void*) { R_CheckUserInterrupt(); }, nullptr) == FALSE;
  }
  void show(double share) override {
    if (Rf_isNull(progress_)) return;
    const Rcpp::Function report(progress_);
    report(share);
  }

 private:
  SEXP progress_;  // an argument of the exported function, so R keeps it alive
};

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
