// A structured learning problem as R holds it (R/structured_outputs.R) as an Output and the Space of its weights.
#pragma once

#include <memory>

#include "core/sequence/cky.h"
#include "kernel/structured_output.h"
#include "kernel/structured_space.h"
#include "r_glue.h"

namespace granary::kernel {

// `problem` must outlive both.
std::unique_ptr<Output> make_output(const Rcpp::List& problem);
std::unique_ptr<Space> make_space(const Rcpp::List& problem, const Output& output);

// Rules as whole numbers from 0 on; `second` is -1 for rules of words.
Grammar as_grammar(const Rcpp::List& grammar);

// The coded output as R shows it: whole numbers, except for custom outputs, which are R objects.
SEXP decode(const Output& output, const Label& y);

}  // namespace granary::kernel
