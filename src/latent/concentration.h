// The concentration alpha of Dirichlet processes given how many blocks n_m rows have fallen into, alpha ~ gamma(a, rate b):
//
//   p(alpha | n, k) ~ alpha^(a-1) exp(-b alpha) prod_m alpha^(k_m) Gamma(alpha) / Gamma(alpha + n_m)
//
// One partition: West (1992). Several (documents): Daume and Marcu (JMLR 2005), section 3.4. With x_m ~ Beta(alpha + 1, n_m) and bh = b - sum log x_m, alpha is
// gamma(ah + s, bh), ah = a - M + sum k_m, where s has weight Gamma(ah + s) e_{M-s}(n bh), e the elementary symmetric polynomials: drawn exactly here by a
// dynamic programme in logs, where the paper runs an inner Gibbs sampler. The paper's ah has one more -1, which contradicts West's formula at M = 1.
#pragma once

#include "core/random/rng.h"

namespace granary::latent {

double draw_concentration(double alpha, ConstVectorRef n, ConstVectorRef k, double shape, double rate, Rng& rng);

// A chain of such draws, after a hundred that are left out.
VectorXd concentration_draws(ConstVectorRef n, ConstVectorRef k, double shape, double rate, Index draws, Rng& rng);

// log p(alpha | n, k) up to a constant.
VectorXd concentration_log_density(ConstVectorRef alpha, ConstVectorRef n, ConstVectorRef k, double shape, double rate);

}  // namespace granary::latent
