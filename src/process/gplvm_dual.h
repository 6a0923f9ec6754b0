// Dual probabilistic principal component analysis, and maps from similarities.
//
//   dual_pca        the GP-LVM with kernel <x, z> + white in closed form. With eigenpairs (lambda_j, u_j) of S = Y Y' / D,
//   largest first,
//                     1/beta = sum_{j>q} lambda_j / (N - q),   x = U_q diag(sqrt(lambda_j - 1/beta))
//                   (Lawrence 2005, Section 2.3 and Appendix B, whose body prints the exponent -1/2 for 1/2), and
//                     L = -(D N / 2) log 2 pi - (D / 2) (sum_{j<=q} log lambda_j + (N - q) log(1/beta)) - D N / 2
//                   From whichever of Y Y' and Y'Y is the smaller (Appendix C).
//   similarity_map  x = U_q diag(sqrt(lambda_j)) of any symmetric S: classical scaling for S = -J D2 J / 2, kernel PCA for a
//   centred kernel pca_scores      Y V_q, missing cells (NaN) filled in by the rank-q fit again and again: where a GP-LVM starts
#pragma once

#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary::process {

struct DualPca {
  MatrixXd x;                 // N x q
  VectorXd eigenvalues;       // of Y Y' / D, as many as were computed (at least q)
  double noise = 0;           // 1/beta
  double ppca_noise = 0;      // that of probabilistic PCA: mean of the D - q smallest eigenvalues of Y'Y / N; 0 for q = D
  double log_likelihood = 0;  // L
};
DualPca dual_pca(ConstMatrixRef y, Index q, Monitor& monitor);  // y centred; InputError for q at or beyond the rank of y

struct SimilarityMap {
  MatrixXd x;       // N x q
  VectorXd values;  // the q largest eigenvalues; not positive ones give columns of zeros
};
template <class V>
void fields(V& v, SimilarityMap& t) {
  v("latent", t.x);
  v("values", t.values);
}
SimilarityMap similarity_map(const MatrixXd& s, Index q, Monitor& monitor);

void centre_both(MatrixXd& s);  // J S J

MatrixXd pca_scores(ConstMatrixRef y, Index q, Monitor& monitor);

}  // namespace granary::process
