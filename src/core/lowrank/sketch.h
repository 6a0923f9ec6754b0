// Leading singular triplets of a matrix that is asked for products only, and bases with their rank.
//
//   sketched_svd    Gaussian sketch of width k + oversample with power iterations (Halko, Martinsson and Tropp, SIAM Review
//                   2011, algorithms 4.4 and 5.1), in products with whole blocks; U S V' = U U'A exactly
//   exact_svd       the dense SVD of a small matrix, Lanczos of a large one
//   range_basis     orthonormal columns that span those of C, C = Q T, by pivoted QR: as many as C has rank
#pragma once

#include "core/lowrank/matrix_source.h"
#include "core/random/rng.h"

namespace granary {

struct PartialSvd {
  MatrixXd u;       // rows x k
  VectorXd values;  // descending
  MatrixXd v;       // cols x k
  bool exact = false;
};

struct SketchOptions {
  Index oversample = 10;
  int power = 1;  // iterations
};

PartialSvd sketched_svd(const MatrixSource& a, Index k, const SketchOptions& options, Rng& rng, const Work& work);
PartialSvd exact_svd(const MatrixSource& a, Index k, const Work& work);

struct RangeBasis {
  MatrixXd q;  // n x rank
  MatrixXd t;  // rank x c, q t = C
  Index rank() const { return q.cols(); }
  MatrixXd pseudo_inverse() const;  // T^+, c x rank; C^+ = T^+ Q'
};
// Columns whose part outside the others is below tol times the largest column count as dependent.
RangeBasis range_basis(ConstMatrixRef c, double tol = 1e-12);

}  // namespace granary
