// Singular vectors from a few columns drawn by squared length: baselines of the low-rank methods.
//
//   linear    C = columns scaled by 1 / sqrt(c p_j), so that CC' ~ AA' without bias; H_k the leading left singular vectors of C,
//             A ~ H_k H_k'A
//   constant  of C also w rows, drawn and scaled alike: the right singular vectors of the small matrix in the place of those of
//             C, H = C Z S^-1, orthonormalised
//
// Drineas, Kannan and Mahoney (SIAM J. Comput. 2006), as restated in Drineas and Mahoney (JMLR 2005), section 2. With these
// probabilities |C|_F = |A|_F exactly and E|AA' - CC'|_F <= |A|_F^2 / sqrt(c).
#pragma once

#include <vector>

#include "core/base/fields.h"
#include "core/lowrank/matrix_source.h"
#include "core/random/rng.h"

namespace granary::kernel {

enum class SampledSvd { linear, constant };
inline Names<SampledSvd> names(SampledSvd) { return {{SampledSvd::linear, "linear"}, {SampledSvd::constant, "constant"}}; }

struct SampledSvdOptions {
  Index k = 1, c = 100, w = 100;
  SampledSvd method = SampledSvd::linear;
  int threads = 1;
};
template <class V>
void fields(V& v, SampledSvdOptions& t) {
  v("k", t.k);
  v("c", t.c);
  v("w", t.w);
  v("method", t.method);
  v("threads", t.threads);
}

struct SampledSvdResult {
  MatrixXd u;        // H_k, orthonormal
  VectorXd values;   // singular values of C, or of its sample of rows
  MatrixXd columns;  // C, scaled
  std::vector<Index> index;
  double error = 0, norm = 0;  // |A - H H'A|, |A|
};
template <class V>
void fields(V& v, SampledSvdResult& t) {
  v("u", t.u);
  v("values", t.values);
  v("columns", t.columns);
  v("index", positions(t.index));
  v("error", t.error);
  v("norm", t.norm);
}
SampledSvdResult sampled_svd(const MatrixSource& a, const SampledSvdOptions& options, Rng& rng, Monitor& monitor);

}  // namespace granary::kernel
