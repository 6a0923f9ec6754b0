// A matrix as R gives it to low-rank methods: dense, a dgCMatrix, or list(rows, cols, by_rows, read) with a function that
// gives the next block of whole rows or columns; read(TRUE) begins again, and what has no numbers is the end.
#pragma once

#include "core/lowrank/matrix_source.h"
#include "r_door.h"

namespace granary {

inline std::unique_ptr<MatrixSource> matrix_source(SEXP x) {
  if (TYPEOF(x) != VECSXP) return make_source(design(x));
  const Callback<MatrixXd, bool> next(door::element(x, "read"));
  const Index rows = count(door::element(x, "rows")), cols = count(door::element(x, "cols"));
  return block_source(rows, cols, flag(door::element(x, "by_rows")), [next](bool restart) { return next(restart); });
}

}  // namespace granary
