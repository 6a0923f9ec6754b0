#include "kernel/ica_start.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/errors.h"
#include "core/linalg/joint_diagonal.h"
#include "core/linalg/dense.h"

namespace granary::kernel {

Whitening whiten(ConstMatrixRef x, Index components, double tol) {
  const Index m = x.rows(), p = x.cols();
  if (m < 2) throw InputError("independent components need at least two observations.");
  Whitening result;
  result.mean = x.colwise().mean();
  MatrixXd centred = x.rowwise() - result.mean.transpose();
  const VectorXd size = centred.cwiseAbs().colwise().maxCoeff();
  const VectorXd level = x.cwiseAbs().colwise().maxCoeff();
  VectorXd unit(p);
  for (Index j = 0; j < p; ++j) {
    const bool varies = size[j] > 1e-14 * level[j];  // else the differences are rounding
    unit[j] = varies ? size[j] : 1;
    centred.col(j) /= unit[j];
    if (!varies) centred.col(j).setZero();
    const double sd = std::sqrt(centred.col(j).squaredNorm() / static_cast<double>(m));
    if (sd > 0) {
      centred.col(j) /= sd;
      unit[j] *= sd;
    }
  }
  const SymmetricEigen solver(MatrixXd(centred.transpose() * centred / static_cast<double>(m)));
  const VectorXd& lambda = solver.eigenvalues();
  Index kept = 0;
  while (kept < std::min(p, components) && lambda[p - 1 - kept] > tol * lambda[p - 1] && lambda[p - 1] > 0) ++kept;
  if (kept == 0) throw InputError("No column of `x` varies: there is nothing to separate.");
  const MatrixXd vectors = solver.eigenvectors().rightCols(kept).rowwise().reverse();
  const VectorXd sd = lambda.tail(kept).reverse().cwiseSqrt();
  const MatrixXd scaled = sd.cwiseInverse().asDiagonal() * vectors.transpose();
  result.z = centred * scaled.transpose();
  result.whitener = scaled * unit.cwiseInverse().asDiagonal();
  result.colourer = unit.asDiagonal() * vectors * sd.asDiagonal();
  return result;
}

IcaRotation jade(const MatrixXd& z, int max_sweeps, Monitor& monitor) {
  const Index m = z.rows(), n = z.cols();
  const Stopwatch clock;
  std::vector<MatrixXd> cumulants;
  const double m_ = static_cast<double>(m);
  // cum(z_p, z_q, ., .) = E z_p z_q z z' - d_pq I - e_p e_q' - e_q e_p'; off-diagonal pairs stand for two.
  for (Index p = 0; p < n; ++p) {
    for (Index q = 0; q <= p; ++q) {
      monitor.check();
      const VectorXd weight = z.col(p).cwiseProduct(z.col(q)) / m_;
      MatrixXd c = z.transpose() * weight.asDiagonal() * z;
      if (p == q) c.diagonal().array() -= 1;
      c(p, q) -= 1;
      c(q, p) -= 1;
      cumulants.push_back(p == q ? c : MatrixXd(std::sqrt(2.0) * c));
    }
  }
  JointDiagonalOptions options;
  options.max_sweeps = max_sweeps;
  options.tol = 1e-8 / std::sqrt(m_);  // far below the sampling error of an angle
  const JointDiagonal found = joint_diagonal(std::move(cumulants), options, monitor);
  IcaRotation result;
  result.w = found.rotation.transpose();
  result.convergence = found.convergence;
  result.convergence.seconds = clock.seconds();
  return result;
}

MatrixXd nearest_orthogonal(const MatrixXd& w) {
  const Svd svd(w, SvdParts::full);
  return svd.matrixU() * svd.matrixV().transpose();
}

MatrixXd random_rotation(Index n, Rng& rng) {
  MatrixXd g(n, n);
  for (Index j = 0; j < n; ++j) g.col(j) = rng.normals(n);
  const Qr qr(g);
  MatrixXd q = qr.full_q();
  for (Index j = 0; j < n; ++j) {
    if (qr.matrixQR()(j, j) < 0) q.col(j) = -q.col(j);
  }
  return q;
}

IcaRotation fast_ica(const MatrixXd& z, const MatrixXd& start, const FastIcaOptions& options, Monitor& monitor) {
  const double m = static_cast<double>(z.rows());
  const Stopwatch clock;
  IcaRotation result;
  result.w = nearest_orthogonal(start);
  double change = 1;
  int iteration = 0;
  for (; iteration < options.max_iter && change > options.tol; ++iteration) {
    monitor.check();
    const MatrixXd s = z * result.w.transpose();
    MatrixXd g;
    VectorXd slope;
    if (options.contrast == Contrast::tanh) {
      g = s.array().tanh();
      slope = (1 - g.array().square()).colwise().mean();
    } else {
      g = s.array().cube();
      slope = 3 * s.array().square().colwise().mean();
    }
    const MatrixXd next = nearest_orthogonal(g.transpose() * z / m - slope.asDiagonal() * result.w);
    change = 1 - (next * result.w.transpose()).diagonal().cwiseAbs().minCoeff();
    result.w = next;
  }
  result.convergence.converged = change <= options.tol;
  result.convergence.iterations = iteration;
  result.convergence.residual = change;
  result.convergence.seconds = clock.seconds();
  return result;
}

MatrixXd order_components(const MatrixXd& w, const Whitening& white) {
  const MatrixXd mixing = white.colourer * w.transpose();
  const VectorXd share = mixing.colwise().squaredNorm();
  std::vector<Index> order(w.rows());
  std::iota(order.begin(), order.end(), Index(0));
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return share[a] > share[b]; });
  MatrixXd result(w.rows(), w.cols());
  for (Index k = 0; k < w.rows(); ++k) {
    Index at;
    mixing.col(order[k]).cwiseAbs().maxCoeff(&at);
    result.row(k) = mixing(at, order[k]) < 0 ? Eigen::RowVectorXd(-w.row(order[k])) : Eigen::RowVectorXd(w.row(order[k]));
  }
  return result;
}

IcaRotation ica_rotation(const MatrixXd& z, const IcaMomentsOptions& options, Rng& rng, Monitor& monitor) {
  if (options.method == IcaStart::jade) return jade(z, options.max_iter, monitor);
  const MatrixXd w = random_rotation(z.cols(), rng);
  if (options.method == IcaStart::random) return IcaRotation{w, Convergence()};
  FastIcaOptions fast;
  fast.contrast = options.contrast;
  fast.tol = options.tol;
  fast.max_iter = options.max_iter;
  return fast_ica(z, w, fast, monitor);
}

IcaComponents ica_components(const IcaRotation& rotation, const Whitening& white) {
  IcaComponents out;
  out.rotation = order_components(rotation.w, white);
  out.w = out.rotation * white.whitener;
  out.a = white.colourer * out.rotation.transpose();
  out.s = white.z * out.rotation.transpose();
  out.mean = white.mean;
  out.whitener = white.whitener;
  out.convergence = rotation.convergence;
  return out;
}

IcaComponents ica_by_moments(ConstMatrixRef x, const IcaMomentsOptions& options, Rng& rng, Monitor& monitor) {
  const Whitening white = whiten(x, options.k);
  return ica_components(ica_rotation(white.z, options, rng, monitor), white);
}

}  // namespace granary::kernel
