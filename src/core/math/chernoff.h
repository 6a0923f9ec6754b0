// Chernoff's law: the place C of the maximum of W(t) - t^2, W two-sided Brownian motion. Symmetric, E C^2 = 0.26355964.
//
// f(z) = g(z) g(-z) / 2, g(t) = (2^(1/3) / 2 pi) int e^(-iut) / Ai(i 2^(-1/3) u) du (Groeneboom, PTRF 1989). log f(z) + 2 z^3/3
// is a Chebyshev
// sum on [0, 3], from 22-digit quadrature, with an error below 3e-10 and mass 1; beyond, the first term of the expansion.
#pragma once

#include "core/base/fields.h"
#include "core/base/types.h"

namespace granary {

double chernoff_pdf(double z);
double chernoff_cdf(double z);
double chernoff_quantile(double p);
double chernoff_moment(int k);  // E |C|^k, k >= 0

enum class ChernoffValue { density, probability, quantile };
inline Names<ChernoffValue> names(ChernoffValue) {
  return {{ChernoffValue::density, "density"}, {ChernoffValue::probability, "probability"},
      {ChernoffValue::quantile, "quantile"}};
}
VectorXd chernoff_values(ConstVectorRef x, ChernoffValue what);

}  // namespace granary
