// How far an estimated precision matrix X is from the true one, T.
//
//   kl          1/2 (tr(X T^-1) - log det X + log det T - p), of N(0, T^-1) from N(0, X^-1)
//   frobenius   ||X - T||_F / ||T||_F
#pragma once

#include "core/base/fields.h"
#include "core/base/types.h"

namespace granary::graph {

struct PrecisionLoss {
  double kl = 0, frobenius = 0;  // kl: NaN where one of them is not positive definite
};
template <class V>
void fields(V& v, PrecisionLoss& t) {
  v("kl", t.kl);
  v("frobenius", t.frobenius);
}
PrecisionLoss precision_loss(ConstMatrixRef truth, ConstMatrixRef estimate);

}  // namespace granary::graph
