// What the glue of the online classifiers shares: data by rows, and states that have not begun.
#pragma once

#include "kernel/online.h"
#include "kernel/sparse_rows.h"
#include "r_door.h"

namespace granary {

// A dense matrix or a dgCMatrix by rows.
inline kernel::SparseRows rows_of(SEXP x) {
  return is_sparse(x) ? kernel::SparseRows(sparse(x)) : kernel::SparseRows(ConstMatrixRef(matrix(x)));
}
inline kernel::SparseRows binary_rows(SEXP x) {
  kernel::SparseRows rows = rows_of(x);
  rows.require_binary();
  return rows;
}

// NULL before the first example.
template <class State>
State state_or_empty(SEXP state) {
  return is_null(state) ? State() : read_state<State>(state);
}

// body(rows) with rows of either kind.
template <class Body>
SEXP with_rows(SEXP x, const Body& body) {
  if (is_sparse(x)) return body(rows_of(x));
  return body(ConstMatrixRef(matrix(x)));
}

}  // namespace granary
