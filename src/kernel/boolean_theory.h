// What Khardon and Servedio (JMLR 2005) prove about maximum margins with kernels of conjunctions: calculators of their bounds,
// data from their laws, and whether a sample is one of those their proofs speak of. Logarithms of numbers of conjunctions
// throughout.
//
// With n attributes, m rows, rho_k(u) = sum_{i=1}^k C(u, i), u1 = .99 n^(2/3), u2 = 1.01 n^(2/3), u3 = 1.01 n^(1/3):
//
//   margin      M = {rho(u1) - m rho(u3)} / 2 sqrt(m rho(u2))          bounds the margin, and theta, from below (lemmas 11, 12)
//   overfit (3) rho(u1) > 2 m sqrt(rho(u3) rho(u2)) + m rho(u3)          then every new positive row is called negative
//   polynomial  the same with u^k for rho(u):  (u1^k - m u3^k) / 2 m u2^(k / 2) > m u3^(k / 2)
//   uniform     sqrt(rho(.49 n)) > 3 m {sqrt(rho(.26 n)) + sqrt(rho(.49 n - B))},  B = sqrt(n / log2 m) / 66      (10)
//
// In (3) the second term is printed under the root; lemma 13 gives it as here.
#pragma once

#include <vector>

#include "core/base/types.h"
#include "core/kernel/kernel_boolean.h"
#include "core/random/rng.h"

namespace granary::kernel {

struct BooleanBound {
  int k = 0;
  double log_margin = 0;  // log M, -infinity where M is not above zero
  bool overfits = false;  // (3)
  bool polynomial = false, uniform = false;
};
template <class V>
void fields(V& v, BooleanBound& t) {
  v("k", t.k);
  v("log_margin", t.log_margin);
  v("overfits", t.overfits);
  v("polynomial", t.polynomial);
  v("uniform", t.uniform);
}
std::vector<BooleanBound> boolean_bounds(double n, double m, int k_max);

enum class BooleanLaw { sparse, sparse_target, uniform };  // D, that of result 2, and the uniform one
inline Names<BooleanLaw> names(BooleanLaw) {
  return {{BooleanLaw::sparse, "D"}, {BooleanLaw::sparse_target, "result2"}, {BooleanLaw::uniform, "uniform"}};
}
struct BooleanSim {
  BooleanLaw law = BooleanLaw::sparse;
  int terms = 2, term_length = 16;  // of the target, a disjunction of conjunctions of attributes of their own; 0 terms: x_1
};
template <class V>
void fields(V& v, BooleanSim& t) {
  v("law", t.law);
  v("terms", t.terms);
  v("term_length", t.term_length);
}
struct BooleanSample {
  MatrixXd x;
  VectorXd y;  // 0 or 1
};
template <class V>
void fields(V& v, BooleanSample& t) {
  v("x", t.x);
  v("y", t.y);
}
BooleanSample sim_boolean(Index m, Index n, const BooleanSim& options, Rng& rng);

// Whether a sample is typical in the sense of the proofs.
struct BooleanTypical {
  bool zero_row = false;             // the zero vector is there
  bool sizes_sparse = false;         // all other rows have .99 to 1.01 n^(2/3) ones
  bool overlaps_sparse = false;      // positive and negative rows share at most 1.01 n^(1/3)
  bool sizes_uniform = false;        // all rows have .49 n to .51 n ones
  bool overlaps_uniform = false;     // positive and negative rows share at most .26 n
  double skew = 0, needed_skew = 0;  // u_1 - v_1, the largest sizes of positive and negative rows, and B
};
template <class V>
void fields(V& v, BooleanTypical& t) {
  v("zero_row", t.zero_row);
  v("sizes_sparse", t.sizes_sparse);
  v("overlaps_sparse", t.overlaps_sparse);
  v("sizes_uniform", t.sizes_uniform);
  v("overlaps_uniform", t.overlaps_uniform);
  v("skew", t.skew);
  v("needed_skew", t.needed_skew);
}
BooleanTypical boolean_typical(const BitRows& x, ConstVectorRef label);

}  // namespace granary::kernel
