#include "core/lowrank/sketch.h"

#include <algorithm>
#include <cmath>

#include "core/linalg/dense.h"
#include "core/linalg/spectral.h"

namespace granary {

namespace {

MatrixXd orthonormal(const MatrixXd& y) { return Qr(y).thin_q(); }

// U S V' = Q (Q'A) cut to k, from B = A'Q: the eigenvectors of the small B'B would lose half the digits, so B = P R first.
PartialSvd from_basis(const MatrixXd& q, const MatrixXd& b, Index k) {
  const Qr factor(b);
  const Svd small(factor.r(), SvdParts::thin);  // B = P R, R = W S Z'; A ~ Q B' = (Q Z) S (P W)'
  PartialSvd out;
  out.values = small.singularValues().head(k);
  out.v = factor.thin_q() * small.matrixU().leftCols(k);
  out.u = q * small.matrixV().leftCols(k);
  fix_signs(out.v, out.u);
  return out;
}

}  // namespace

PartialSvd sketched_svd(const MatrixSource& a, Index k, const SketchOptions& options, Rng& rng, const Work& work) {
  const Index least = std::min(a.rows(), a.cols()), width = std::min(least, k + std::max<Index>(0, options.oversample));
  MatrixXd omega(a.cols(), width);
  for (Index j = 0; j < width; ++j)
    for (Index i = 0; i < a.cols(); ++i) omega(i, j) = rng.normal();
  MatrixXd q = orthonormal(a.times(omega, work));
  for (int round = 0; round < options.power; ++round) q = orthonormal(a.times(orthonormal(a.transposed_times(q, work)), work));
  return from_basis(q, a.transposed_times(q, work), k);
}

PartialSvd exact_svd(const MatrixSource& a, Index k, const Work& work) {
  const Index least = std::min(a.rows(), a.cols());
  PartialSvd out;
  if (least <= 1000 || 3 * k >= least) {  // the smaller side in full: a few products at most, and nothing that might not converge
    const bool wide = a.cols() > a.rows();
    const MatrixXd identity = MatrixXd::Identity(least, least);
    out = from_basis(identity, wide ? a.transposed_times(identity, work) : a.times(identity, work), k);
    if (!wide) std::swap(out.u, out.v);
    fix_signs(out.v, out.u);
  } else {
    MatrixOperator products;
    products.rows = a.rows();
    products.cols = a.cols();
    products.apply = [&](ConstVectorRef x, VectorRef y) { y = a.times(x, work); };
    products.transposed = [&](ConstVectorRef x, VectorRef y) { y = a.transposed_times(x, work); };
    TruncatedSvd found = truncated_svd(products, k, EigenOptions(), work.monitor);
    out.u = std::move(found.u);
    out.values = std::move(found.values);
    out.v = std::move(found.v);
  }
  out.exact = true;
  return out;
}

MatrixXd RangeBasis::pseudo_inverse() const {
  if (rank() == 0) return MatrixXd::Zero(t.cols(), 0);
  const Svd svd(t, SvdParts::thin);  // t has full row rank
  const VectorXd inverse = svd.singularValues().cwiseInverse();
  return svd.matrixV() * inverse.asDiagonal() * svd.matrixU().transpose();
}

RangeBasis range_basis(ConstMatrixRef c, double tol) {
  RangeBasis out;
  const Index most = std::min(c.rows(), c.cols());
  const double size = c.size() > 0 ? c.cwiseAbs().maxCoeff() : 0;
  if (!(size > 0)) {
    out.q = MatrixXd::Zero(c.rows(), 0);
    out.t = MatrixXd::Zero(0, c.cols());
    return out;
  }
  const PivotedQr qr(c);
  const double first = std::abs(qr.matrixQR()(0, 0));
  Index rank = 0;
  while (rank < most && std::abs(qr.matrixQR()(rank, rank)) > tol * first) ++rank;
  out.q = qr.thin_q(rank);
  out.t = out.q.transpose() * c;
  return out;
}

}  // namespace granary
