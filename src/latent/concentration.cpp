#include "latent/concentration.h"

#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/math/logspace.h"
#include "core/math/rising.h"
#include "core/math/special.h"

namespace granary::latent {

double draw_concentration(double alpha, ConstVectorRef n, ConstVectorRef k, double shape, double rate, Rng& rng) {
  double bh = rate, ah = shape;
  VectorXd used(n.size());
  Index m = 0;
  for (Index i = 0; i < n.size(); ++i) {
    if (n[i] < 1) continue;
    // log of a beta draw from two gammas, safe when alpha is tiny or n large
    const double u = rng.log_gamma_draw(alpha + 1), v = rng.log_gamma_draw(n[i]);
    bh -= u - log_sum_exp(u, v);
    ah += k[i] - 1;
    used[m++] = n[i];
  }
  if (m == 0) return rng.gamma(shape, 1 / rate);
  // log e_j(n_1 bh, ..., n_M bh)
  VectorXd e = VectorXd::Constant(m + 1, -std::numeric_limits<double>::infinity());
  e[0] = 0;
  for (Index i = 0; i < m; ++i)
    for (Index j = i + 1; j >= 1; --j) e[j] = log_sum_exp(e[j], e[j - 1] + std::log(used[i] * bh));
  VectorXd weight(m + 1);
  for (Index s = 0; s <= m; ++s) {
    const double a = ah + static_cast<double>(s);
    weight[s] = a > 0 ? log_gamma(a) + e[m - s] : -std::numeric_limits<double>::infinity();
  }
  const int s = rng.categorical_log(weight);
  return std::max(rng.gamma(ah + s, 1 / bh), 1e-300);
}

VectorXd concentration_draws(ConstVectorRef n, ConstVectorRef k, double shape, double rate, Index draws, Rng& rng) {
  if (n.size() != k.size()) throw InputError("`n` and `k` must have the same length.");
  for (Index i = 0; i < n.size(); ++i)
    if (!(k[i] >= 1 && k[i] <= n[i]))
      throw InputError(message("the number of blocks must be between 1 and the number of rows, but partition ", i + 1, " has ", k[i], " of ", n[i], " rows."));
  VectorXd out(draws);
  double alpha = shape / rate;
  for (Index d = -100; d < draws; ++d) {
    alpha = draw_concentration(alpha, n, k, shape, rate, rng);
    if (d >= 0) out[d] = alpha;
  }
  return out;
}

VectorXd concentration_log_density(ConstVectorRef alpha, ConstVectorRef n, ConstVectorRef k, double shape, double rate) {
  VectorXd out(alpha.size());
  for (Index i = 0; i < alpha.size(); ++i) {
    out[i] = (shape - 1) * std::log(alpha[i]) - rate * alpha[i];
    for (Index m = 0; m < n.size(); ++m) out[i] += k[m] * std::log(alpha[i]) - log_rising(alpha[i], n[m]);
  }
  return out;
}

}  // namespace granary::latent
