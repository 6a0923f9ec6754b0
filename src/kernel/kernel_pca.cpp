#include "kernel/kernel_pca.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/linalg/dense.h"
#include "core/linalg/spectral.h"
#include "core/math/quadrature.h"

namespace granary::kernel {

PcaResult kernel_pca(ConstMatrixRef z, Index k, Embedding type) {
  PcaResult out;
  const Index n = z.rows();
  MatrixXd y;
  if (type == Embedding::covariance) {
    out.mean = z.colwise().mean().transpose();
    y = z.rowwise() - out.mean.transpose();
  } else {
    out.mean = z.colwise().sum().transpose();
    const VectorXd degree = z * out.mean;
    Index at = 0;
    if (!(degree.minCoeff(&at) > 0))
      throw InputError(
          message("row ", at + 1, " has the degree ", degree[at], ": a spectral embedding needs a kernel with positive sums."));
    y = degree.cwiseSqrt().cwiseInverse().asDiagonal() * z;
  }
  const Qr qr(y);
  const Svd svd(qr.r(), SvdParts::thin);
  const double scale = type == Embedding::covariance ? 1 / std::sqrt(static_cast<double>(std::max<Index>(1, n - 1))) : 1;
  out.total = (svd.singularValues() * scale).squaredNorm();
  const double least = svd.singularValues().size() > 0 ? 1e-10 * svd.singularValues()[0] : 0;
  Index rank = 0;
  while (rank < svd.singularValues().size() && rank < k && svd.singularValues()[rank] > least) ++rank;
  out.values = (svd.singularValues().head(rank) * scale).cwiseAbs2();
  MatrixXd v = svd.matrixV().leftCols(rank), u = qr.thin_q() * svd.matrixU().leftCols(rank);
  fix_signs(u, v);
  const VectorXd s = svd.singularValues().head(rank);
  if (type == Embedding::covariance) {
    out.scores = u * s.asDiagonal();
    out.rotation = v;
  } else {
    out.scores = u;
    out.rotation = v * s.cwiseInverse().asDiagonal();
  }
  return out;
}

MatrixXd pca_scores(ConstMatrixRef z, ConstMatrixRef rotation, ConstVectorRef mean, Embedding type) {
  if (type == Embedding::covariance) return (z.rowwise() - mean.transpose()) * rotation;
  const VectorXd degree = z * mean;
  Index at = 0;
  if (degree.size() > 0 && !(degree.minCoeff(&at) > 0))
    throw InputError(message("new row ", at + 1, " is not similar to any row of the fit: its degree is ", degree[at], "."));
  return degree.cwiseSqrt().cwiseInverse().asDiagonal() * (z * rotation);
}

namespace {

KernelEigenfunctions from_nodes(const Kernel& kernel, ConstMatrixRef nodes, const VectorXd& weights, Index k, int threads,
                                Monitor& monitor) {
  KernelEigenfunctions out;
  const VectorXd root = weights.cwiseSqrt();
  const MatrixXd gram = kernel.cross(nodes, nodes, threads, monitor);
  out.trace = weights.dot(gram.diagonal());
  const SymmetricEigen eigen(root.asDiagonal() * gram * root.asDiagonal());
  const Index n = nodes.rows();
  const VectorXd values = eigen.eigenvalues().reverse();
  Index rank = 0;
  while (rank < std::min(k, n) && values[rank] > 1e-13 * values[0]) ++rank;
  out.values = values.head(rank);
  out.at_nodes = root.cwiseInverse().asDiagonal() * eigen.eigenvectors().rightCols(rank).rowwise().reverse();
  fix_signs(out.at_nodes);
  out.coefficients = weights.asDiagonal() * out.at_nodes * out.values.cwiseInverse().asDiagonal();
  out.weights = weights;
  return out;
}

}  // namespace

KernelEigenfunctions kernel_eigenfunctions(const Kernel& kernel, double a, double b, int n, Index k, int threads,
                                           Monitor& monitor) {
  const Quadrature rule = gauss_legendre(n);
  const VectorXd nodes = (a + (b - a) * rule.nodes.array()).matrix();
  KernelEigenfunctions out = from_nodes(kernel, nodes, (b - a) * rule.weights, k, threads, monitor);
  out.nodes = nodes;
  return out;
}

KernelEigenfunctions kernel_eigenfunctions(const Kernel& kernel, ConstMatrixRef x, Index k, int threads, Monitor& monitor) {
  return from_nodes(kernel, x, VectorXd::Constant(x.rows(), 1.0 / static_cast<double>(x.rows())), k, threads, monitor);
}

}  // namespace granary::kernel
