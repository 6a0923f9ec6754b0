#include "core/cluster/principal_plane.h"

#include <algorithm>

#include "core/base/errors.h"
#include "core/linalg/spectral.h"

namespace granary {

PrincipalPlane principal_plane(const Design& x, ConstMatrixRef centres, Monitor& monitor) {
  const Index n = x.rows(), d = x.cols();
  if (centres.cols() != d) throw InputError(message("the centres have ", centres.cols(), " columns, the data ", d, "."));
  VectorXd mean(d), ones = VectorXd::Ones(n);
  x.transposed_times(ones, mean);
  mean /= static_cast<double>(n);
  // The rows minus their mean, as products only: a sparse matrix stays sparse.
  MatrixOperator centred;
  centred.rows = n;
  centred.cols = d;
  centred.apply = [&](ConstVectorRef u, VectorRef y) {
    x.times(u, y);
    y.array() -= mean.dot(u);
  };
  centred.transposed = [&](ConstVectorRef r, VectorRef y) {
    x.transposed_times(r, y);
    y -= r.sum() * mean;
  };
  const double total = std::max(x.mean_square() * static_cast<double>(n) * static_cast<double>(d) - static_cast<double>(n) * mean.squaredNorm(), 0.0);
  const Index k = std::min<Index>(2, std::min(n, d));
  PrincipalPlane out{MatrixXd::Zero(n, 2), MatrixXd::Zero(centres.rows(), 2), VectorXd::Zero(2)};
  if (!(total > 1e-14 * static_cast<double>(n) * mean.squaredNorm())) return out;  // all rows are equal
  EigenOptions options;
  options.tol = 1e-6;  // a picture
  const TruncatedSvd svd = truncated_svd(centred, k, options, monitor);
  for (Index c = 0; c < k; ++c) {
    out.rows.col(c) = svd.u.col(c) * svd.values[c];
    out.centres.col(c) = (centres.rowwise() - mean.transpose()) * svd.v.col(c);
    out.share[c] = svd.values[c] * svd.values[c] / total;
  }
  return out;
}

}  // namespace granary
