#include "process/gplvm_dual.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/linalg/spectral.h"

namespace granary::process {

namespace {
constexpr double log_two_pi = 1.8378770664093454836;
constexpr Index dense_up_to = 500;  // all eigenvalues below this size, the leading ones above it
}  // namespace

DualPca dual_pca(ConstMatrixRef y, Index q, Monitor& monitor) {
  const Index n = y.rows(), d = y.cols(), small = std::min(n, d);
  if (q < 1 || q > small) throw InputError(message("q must be between 1 and ", small, " for these data, not ", q, "."));
  const double scale = static_cast<double>(d), total = y.squaredNorm() / scale;
  MatrixXd gram = MatrixXd::Zero(small, small);
  if (n > d)
    gram.selfadjointView<Eigen::Lower>().rankUpdate(y.transpose(), 1 / scale);
  else
    gram.selfadjointView<Eigen::Lower>().rankUpdate(y, 1 / scale);
  gram.triangularView<Eigen::StrictlyUpper>() = gram.transpose();
  const EigenPairs top = top_eigenpairs(gram, small <= dense_up_to ? small : q, Which::largest, EigenOptions(), monitor);

  DualPca result;
  result.eigenvalues = top.values.cwiseMax(0);
  const VectorXd kept = result.eigenvalues.head(q);
  const double left = total - kept.sum();
  if (!(left > 1e-12 * total) || !(kept[q - 1] > 0) || q >= n)
    throw InputError(message("the data have rank ", (result.eigenvalues.array() > 1e-12 * total).count(), ", so that q = ", q,
                             " leaves no noise and the likelihood has no maximum; use a smaller q."));
  result.noise = left / static_cast<double>(n - q);
  if (q < d) result.ppca_noise = left * scale / (static_cast<double>(n) * static_cast<double>(d - q));
  MatrixXd u = top.vectors.leftCols(q);
  if (n > d) {
    u = y * u;
    for (Index j = 0; j < q; ++j) u.col(j) /= std::sqrt(scale * kept[j]);
    fix_signs(u);
  }
  result.x = u * (kept.array() - result.noise).max(0).sqrt().matrix().asDiagonal();
  const double size = static_cast<double>(n), rest = static_cast<double>(n - q);
  result.log_likelihood = -0.5 * scale * (size * (log_two_pi + 1) + kept.array().log().sum() + rest * std::log(result.noise));
  return result;
}

SimilarityMap similarity_map(const MatrixXd& s, Index q, Monitor& monitor) {
  if (q < 1 || q > s.rows()) throw InputError(message("q must be between 1 and ", s.rows(), ", not ", q, "."));
  const EigenPairs top = top_eigenpairs(s, q, Which::largest, EigenOptions(), monitor);
  return {top.vectors * top.values.cwiseMax(0).cwiseSqrt().asDiagonal(), top.values};
}

void centre_both(MatrixXd& s) {
  const VectorXd rows = s.rowwise().mean();
  const double all = rows.mean();
  const Eigen::RowVectorXd columns = s.colwise().mean();
  for (Index j = 0; j < s.cols(); ++j) s.col(j).array() -= rows.array() + (columns[j] - all);
}

MatrixXd pca_scores(ConstMatrixRef y, Index q, Monitor& monitor) {
  constexpr int rounds = 50;
  if (q < 1 || q > std::min(y.rows(), y.cols()))
    throw InputError(message("there are ", std::min(y.rows(), y.cols()), " principal components, not ", q, "."));
  const bool holes = !(y.array() == y.array()).all();
  MatrixXd filled = holes ? MatrixXd((y.array() == y.array()).select(y, 0.0)) : MatrixXd(y);
  TruncatedSvd svd = truncated_svd(filled, q, EigenOptions(), monitor);
  for (int round = 0; holes && round < rounds; ++round) {
    const MatrixXd low = svd.u * svd.values.asDiagonal() * svd.v.transpose();
    const MatrixXd next = (y.array() == y.array()).select(y, low);
    const double change = (next - filled).norm();
    filled = next;
    svd = truncated_svd(filled, q, EigenOptions(), monitor);
    if (change <= 1e-4 * filled.norm()) break;
  }
  return svd.u * svd.values.asDiagonal();
}

}  // namespace granary::process
