// Dependence of two or more variables, measured in feature spaces.
//
// K_i = H Gram_i H = Z_i Z_i' for variable i (core/kernel_features.h), m observations. With matrices T_i that say how variances
// enter, let B be the symmetric matrix with blocks
//
//   B_ij = T_i' Z_i'Z_j T_j for i != j,    B_ii = 0
//
// and lambda its eigenvalues; for two variables they are +-gamma, the singular values of B_12.
//
//   HSIC   sum gamma^2 / m^2, summed over pairs             T = I
//   COCO   max |lambda| / m                                 T = I           (Definitions 2 and 19)
//   KMI    -1/2 sum log(1 + lambda / nu)                    T = I           (Definitions 14 and 21)
//   KCC    max gamma; for more variables -1/2 log(1 + min lambda)           (section 2.4)
//   KGV    -1/2 sum log(1 + lambda)                                         (Definition 17)
//
// The generalised eigenproblems of KCC and KGV have on their right-hand side (K_i + m kappa/2 I)^2 (Bach and Jordan, JMLR 2002),
// K_i^2 + m kappa K_i (equation 6), or theta K_i^2 + nu (1 - theta) K_i (equation 27; theta = 0 is the KMI). With Z_i'Z_i = V
// Lambda V' these are
//
//   T = V Lambda^1/2 (Lambda + m kappa/2)^-1,   T = V (Lambda + m kappa)^-1/2,   T = V (theta Lambda + nu (1 - theta))^-1/2.
//
// Gretton, Herbrich, Smola, Bousquet, Schoelkopf (JMLR 6, 2005); equation numbers are theirs. What differs: COCO is the root of
// the largest EIGENVALUE of K_1 K_2 over m, not of its largest singular value, and the right-hand side of equation (24) is block
// diagonal as in (4).
#pragma once

#include <vector>

#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary::kernel {

enum class Measure { hsic, coco, kcc, kgv, kmi };
inline Names<Measure> names(Measure) {
  return {{Measure::hsic, "hsic"}, {Measure::coco, "coco"}, {Measure::kcc, "kcc"}, {Measure::kgv, "kgv"}, {Measure::kmi, "kmi"}};
}
enum class Variances { none, squared, ridge, mixed };  // T above, in the order of the formulas
inline Names<Variances> names(Variances) {
  return {{Variances::none, "none"}, {Variances::squared, "squared"}, {Variances::ridge, "ridge"}, {Variances::mixed, "mixed"}};
}

struct DependenceOptions {
  Measure measure = Measure::hsic;
  Variances variances = Variances::none;
  double kappa = 2e-2;
  double theta = 0;
  double nu = 1;
};
template <class V>
void fields(V& v, DependenceOptions& t) {
  v("measure", t.measure);
  v("variances", t.variances);
  v("kappa", t.kappa);
  v("theta", t.theta);
  v("nu", t.nu);
}

struct Dependence {
  double value = 0;  // infinite where a logarithm has no argument
  VectorXd
      spectrum;  // gamma, descending, for two variables; lambda by magnitude for more; the leading ones if there are very many
  std::vector<VectorXd> weights;  // of the leading functions in the feature spaces: function i at the data is Z_i w_i
  VectorXd norms;                 // largest eigenvalue of each K_i
};

using Features = std::vector<MatrixXd>;  // Z_i, centred, of equal numbers of rows

// T_i from Z_i'Z_i. For `squared`, directions with eigenvalues below 1e-3 m kappa / 2 are dropped, as in Bach and Jordan.
MatrixXd variance_scaling(const MatrixXd& gram, double m, const DependenceOptions& options);

// Z_i T_i: what is left is products and their spectrum, whatever the order of the rows.
Features scaled_features(const Features& z, const DependenceOptions& options);

// B of features that are scaled already.
MatrixXd dependence_blocks(const Features& scaled);

// The value from B (two variables: from B_12, the rectangular block).
double dependence_value(const MatrixXd& blocks, bool two_variables, double m, const DependenceOptions& options);

Dependence dependence(const Features& z, const DependenceOptions& options, Monitor& monitor);

double largest_eigenvalue(const MatrixXd& symmetric);

}  // namespace granary::kernel
