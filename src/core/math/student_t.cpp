#include "core/math/student_t.h"

#include <algorithm>
#include <cmath>

#include "core/math/special.h"

namespace granary {

double student_t_cdf(double t, double df) {
  if (std::isinf(df)) return normal_cdf(t);
  const double tail = std::isinf(t) ? 0 : 0.5 * beta_p(df / 2, 0.5, df / (df + t * t));
  return t > 0 ? 1 - tail : tail;
}

double student_t_quantile(double p, double df) {
  if (std::isinf(df)) return normal_quantile(p);
  const double b = beta_p_inverse(df / 2, 0.5, 2 * std::min(p, 1 - p)), t = std::sqrt(df * (1 / b - 1));
  return p < 0.5 ? -t : t;
}

}  // namespace granary
