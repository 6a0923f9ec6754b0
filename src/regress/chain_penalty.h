// Differences of order k along a chain of p coefficients at positions t_1 < ... < t_p, and the polynomials they do not see:
//
//   D^(1) = first differences,   D^(j + 1) = D^(1) diag(j / (t_(j + i) - t_i)) D^(j)
//
// Tibshirani (Annals of Statistics 2014), equation 13. Without positions they are 1, ..., p.
#pragma once

#include "core/base/fields.h"
#include "core/base/types.h"

namespace granary::regress {

struct ChainOptions {
  int p = 2;
  int order = 2;
};
template <class V>
void fields(V& v, ChainOptions& t) {
  v("p", t.p);
  v("order", t.order);
}

struct ChainPenalty {
  SparseMatrix matrix;  // (p - order) x p
  MatrixXd null;        // p x order, orthonormal: polynomials in t of degree below order
};
template <class V>
void fields(V& v, ChainPenalty& t) {
  v("matrix", t.matrix);
  v("null", t.null);
}

ChainPenalty chain_penalty(ConstVectorRef position, const ChainOptions& options);

}  // namespace granary::regress
