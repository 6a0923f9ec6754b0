// The Marchenko-Pastur law: eigenvalues a of A = (1/N) sum_mu x_mu x_mu' for p = alpha N isotropic inputs, N -> infinity.
//
//   density  sqrt((a_+ - a)(a - a_-)) / (2 pi a)  on  a_- <= a <= a_+,  a_+- = (1 +- sqrt(alpha))^2,
//   and an atom of mass max(0, 1 - alpha) at zero. The mean is alpha, the second moment alpha + alpha^2.
#pragma once

#include <vector>

#include "core/math/quadrature.h"
#include "core/base/types.h"

namespace granary {

class MarchenkoPastur {
 public:
  explicit MarchenkoPastur(double alpha);  // alpha > 0

  double alpha() const { return alpha_; }
  double lower() const { return lower_; }  // of the continuous part
  double upper() const { return upper_; }
  double atom() const { return alpha_ < 1 ? 1 - alpha_ : 0; }

  // Integrals against the law in closed form, at l > -lower(). None subtracts nearly equal numbers for l >= 0.
  double mean_shrinkage(double l) const;     // of a / (a + l), = 1 - l g(l) with g the integral of 1 / (a + l)
  double mean_curvature(double l) const;     // of a^2 / (a + l)
  double mean_variance(double l) const;      // of a / (a + l)^2; infinite at alpha = 1, l = 0
  double mean_squared_bias(double l) const;  // of l^2 / (a + l)^2

  // `n` nodes for the continuous part (midpoint rule in theta, sqrt(a) = mid + half cos theta: the integrand stays smooth at
  // alpha = 1, where the density grows as a^-1/2), ascending, and the atom as one more node in front where there is one. The
  // weights sum to one.
  Quadrature quadrature(int n) const;

  // Mass of (a(phi), upper()] with a(phi) = 1 + alpha + 2 sqrt(alpha) cos(phi), 0 <= phi <= pi, and the integral of a over it.
  double upper_mass(double phi) const;
  double upper_mean(double phi) const;

 private:
  double root(double l) const;  // sqrt((l + lower)(l + upper))
  double alpha_, lower_, upper_;
};

// The law cut into blocks of equal mass, from the smallest eigenvalues to the largest.
struct SpectrumBlocks {
  VectorXd mean, lower, upper;  // the mean of the means is alpha
};
template <class V>
void fields(V& v, SpectrumBlocks& t) {
  v("mean", t.mean);
  v("lower", t.lower);
  v("upper", t.upper);
}
SpectrumBlocks spectrum_blocks(const MarchenkoPastur& law, int blocks);
SpectrumBlocks spectrum_blocks(ConstVectorRef eigenvalues, int blocks);  // the same for any spectrum; `blocks` at most its length

}  // namespace granary
