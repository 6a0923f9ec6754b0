// A structured learning problem as R holds it (R/kernel-structured_outputs.R) as an Output and the Space of its weights.
#pragma once

#include "kernel/structured_problem.h"
#include "r_door.h"

namespace granary::door {

inline void convert(const Source& s, kernel::InputFeatures& t) {
  if (is_sparse(s.value)) {
    t = kernel::InputFeatures::sparse(sparse(s.value, s.name));
  } else {
    t = kernel::InputFeatures::dense(matrix(s.value, s.name));
  }
}

}  // namespace granary::door

namespace granary::kernel {

// `problem` must outlive it.
StructuredProblem read_problem(SEXP problem);

// Coded outputs as R shows them: whole numbers, except for custom outputs, which are R objects.
SEXP write_outputs(const Output& output, const std::vector<Label>& labels);

}  // namespace granary::kernel
