#pragma once

#include <optional>

#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary {

// The largest |eigenvalue| of a symmetric matrix to six digits, from above: a bound made with it stays one.
double spectral_norm_above(const ConstMatrixRef& a, Monitor& monitor);

// The smallest and the largest eigenvalue of a symmetric matrix.
struct EigenvalueRange {
  double smallest = 0, largest = 0;
};
template <class V>
void fields(V& v, EigenvalueRange& t) {
  v("smallest", t.smallest);
  v("largest", t.largest);
}
EigenvalueRange eigenvalue_range(const ConstMatrixRef& a);

// A^-1 of a positive definite matrix; nothing where it is not.
std::optional<MatrixXd> definite_inverse(const ConstMatrixRef& a);

}  // namespace granary
