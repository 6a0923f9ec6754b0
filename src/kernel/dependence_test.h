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

#include "core/random/rng.h"
#include "kernel/dependence.h"

namespace granary::kernel {

struct PermutationTest {
  double statistic = 0;
  double p_value = 1;
  VectorXd permuted;  // infinite where the measure was not defined
};
template <class V>
void fields(V& v, PermutationTest& t) {
  v("statistic", t.statistic);
  v("p.value", t.p_value);
  v("permuted", t.permuted);
}
PermutationTest permutation_test(const Features& z, const DependenceOptions& options, int permutations, const Rng& rng,
                                 int threads, Monitor& monitor);
// HSIC of two variables, from centred kernel matrices.
PermutationTest permutation_test(const MatrixXd& k, const MatrixXd& l, int permutations, const Rng& rng, int threads,
                                 Monitor& monitor);

// Joint independence of d variables (Pfister, Buehlmann, Schoelkopf, Peters, JRSS B 80, 2018): with kernel matrices K^1, ...,
// K^d, not centred,
//
//   dHSIC = 1/n^2 sum_ij prod_k K^k_ij + prod_k (1/n^2 sum_ij K^k_ij) - 2/n sum_i prod_k (1/n sum_j K^k_ij),
//
// the squared distance of the joint law from the product of the marginals in the tensor product of the feature spaces. For two
// variables it is HSIC; for more it also sees dependence of variables that are independent in pairs. O(d n^2) per permutation.
PermutationTest joint_permutation_test(const std::vector<MatrixXd>& k, int permutations, const Rng& rng, int threads,
                                       Monitor& monitor);

struct GammaTest {
  double statistic = 0;  // HSIC
  double mean = 0;       // over permutations
  double variance = 0;
  double shape = 0;
  double scale = 0;
  double p_value = 1;
};
template <class V>
void fields(V& v, GammaTest& t) {
  v("statistic", t.statistic);
  v("p.value", t.p_value);
  v("mean", t.mean);
  v("variance", t.variance);
  v("shape", t.shape);
  v("scale", t.scale);
}
GammaTest gamma_test(const MatrixXd& x, const MatrixXd& y);           // centred features
GammaTest gamma_test_matrices(const MatrixXd& k, const MatrixXd& l);  // centred kernel matrices

}  // namespace granary::kernel
