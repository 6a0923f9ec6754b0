// Tests of independence with the measures of dependence.h.
//
// Permutation: under independence every order of the rows of a variable against the others is equally likely. Centring,
// incomplete Cholesky and the scaling by variances of a variable do not depend on that order, so they are done once and only
// products are formed again: O(m d^2) each, or O(m^2 / 2) from the centred matrices where the rank d is high (HSIC). With more
// than two variables all but the first are permuted, each by itself.
//   p = (1 + #{permuted >= observed}) / (1 + permutations)
//
// Gamma (HSIC of two variables): the law of tr(K P L P') over permutations P is replaced by the gamma law with the same mean and
// variance. Both are exact (Kazi-Aoual, Hitier, Sabatier, Lebreton, Comp. Stat. Data Anal. 20, 1995), where Gretton et al. (NIPS
// 2007) have approximations of them.
#pragma once

#include "core/rng.h"
#include "dependence.h"

namespace granary::kernels {

struct PermutationTest {
  double statistic = 0;
  double p_value = 1;
  VectorXd permuted;
};
PermutationTest permutation_test(const Features& z, const DependenceOptions& options, int permutations, const Rng& rng,
                                 int threads, Monitor& monitor);

struct GammaTest {
  double statistic = 0;  // HSIC
  double mean = 0;       // over permutations
  double variance = 0;
  double shape = 0;
  double scale = 0;
  double p_value = 1;
};
GammaTest gamma_test(const MatrixXd& x, const MatrixXd& y);  // centred features

}  // namespace granary::kernels
