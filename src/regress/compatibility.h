// The compatibility constant of a set of columns.
//
//   phi^2(S, A) = min { |A| t'St / |t_A|_1^2 : |t_Ac|_1 <= L |t_A|_1 }
//
// Buehlmann, van de Geer; Javanmard, Montanari (JMLR 15, 2014), Definition 3. Given the signs of t_A the problem scaled to
// |t_A|_1 = 1 is a convex quadratic program, so 2^(|A| - 1) of them give the exact value.
#pragma once

#include <vector>

#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary::regress {

struct Compatibility {
  double value = 0;  // phi^2
  VectorXd t;        // where it is attained, |t_A|_1 = 1
};
template <class V>
void fields(V& v, Compatibility& t) {
  v("value", t.value);
  v("t", t.t);
}

Compatibility compatibility(ConstMatrixRef s, const std::vector<int>& set, double cone, int threads, Monitor& monitor);

}  // namespace granary::regress
