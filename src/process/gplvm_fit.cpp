#include "process/gplvm_fit.h"

#include <algorithm>
#include <cmath>

#include "core/linalg/dense.h"
#include "process/isomap.h"

namespace granary::process {

NoisyTargets GplvmData::targets() const {
  NoisyTargets out;
  out.y = y;
  if (noise.size() > 0) out.noise = noise;
  return out;
}

GplvmStart gplvm_start(ConstMatrixRef y, const GplvmStartOptions& options, Rng& rng, Monitor& monitor) {
  const Index n = y.rows(), q = options.q;
  const auto normals = [&](Index columns) {
    const VectorXd drawn = rng.normals(n * columns);
    return MatrixXd(Eigen::Map<const MatrixXd>(drawn.data(), n, columns));
  };
  GplvmStart out;
  if (options.init == GplvmInit::random) {
    out.latent = normals(q);
    return out;
  }
  if (options.init == GplvmInit::isomap) {
    const IsomapResult map = isomap(y, q, std::min<int>(options.neighbors, static_cast<int>(n) - 1), options.threads, monitor);
    out.latent = map.x;
    out.neighbors = map.neighbours;
  } else {
    const Index known = std::min({q, n, y.cols()});
    out.latent.resize(n, q);
    out.latent.leftCols(known) = pca_scores(y, known, monitor);
    if (known < q) out.latent.rightCols(q - known) = 0.01 * normals(q - known);
  }
  out.latent /= std::sqrt(out.latent.array().square().mean());
  return out;
}

MatrixXd principal_turn(ConstMatrixRef x) {
  const Index q = x.cols();
  if (x.rows() < q) return MatrixXd::Identity(q, q);
  MatrixXd centred = x;
  centred.rowwise() -= x.colwise().mean().eval();
  MatrixXd turn = Svd(centred, SvdParts::thin).matrixV();
  const MatrixXd turned = x * turn;
  for (Index j = 0; j < q; ++j) {
    Index top = 0;
    turned.col(j).cwiseAbs().maxCoeff(&top);
    if (turned(top, j) < 0) turn.col(j) *= -1;
  }
  return turn;
}

GplvmResult gplvm_fit(const GplvmData& data, ConstMatrixRef start, const GplvmOptions& options, Monitor& monitor) {
  const Kernel kernel(data.kernel, start.cols());
  GplvmResult fit = options.method == GplvmMethod::sparse ? gplvm_sparse(data.targets(), start, kernel, options, monitor)
                                                          : gplvm_full(data.targets(), start, kernel, options, monitor);
  if (options.turn) fit.latent = (fit.latent * principal_turn(fit.latent)).eval();
  return fit;
}

GplvmModel GplvmState::model() const {
  NoisyTargets targets;
  targets.y = y;
  if (noise.size() > 0) targets.noise = noise;
  return {Kernel(kernel, latent.cols()), latent, targets, 0, bernoulli ? OutputNoise::bernoulli : OutputNoise::gaussian, offset, prior};
}

void check(const GplvmState& t) {
  require(t.latent.rows() == t.y.rows(), "`latent` has not one row per row of the data.");
  require(t.noise.size() == 0 || (t.noise.rows() == t.y.rows() && t.noise.cols() == t.y.cols()), "`noise` has not one entry per cell.");
  require(!t.bernoulli || t.offset.size() == t.y.cols(), "`offset` has not one entry per column.");
}

GplvmPrediction gplvm_predict(const GplvmState& state, ConstMatrixRef x, bool with_noise, Monitor& monitor) {
  require(x.cols() == state.latent.cols(), "the points do not have the dimensions of the map.");
  GplvmPrediction out;
  GplvmPosterior(state.model()).predict(x, with_noise, out.mean, out.variance, monitor);
  return out;
}

std::vector<MatrixXd> gplvm_draws(const GplvmState& state, ConstMatrixRef x, int count, Rng& rng, Monitor& monitor) {
  require(x.cols() == state.latent.cols(), "the points do not have the dimensions of the map.");
  std::vector<MatrixXd> out = GplvmPosterior(state.model()).draws(x, count, rng, monitor);
  if (!state.bernoulli) return out;
  for (MatrixXd& one : out)
    for (Index i = 0; i < one.cols(); ++i)
      for (Index r = 0; r < one.rows(); ++r) one(r, i) = one(r, i) + state.offset[i] + rng.normal() > 0 ? 1 : 0;
  return out;
}

DualPcaFit dual_pca_fit(ConstMatrixRef y, Index q, Monitor& monitor) {
  DualPcaFit out;
  out.fit = dual_pca(y, q, monitor);
  const MatrixXd& x = out.fit.x;
  const Llt factor(x.transpose() * x);
  if (factor.info() != Eigen::Success) throw NumericalError("The map has a dimension of size zero: use fewer.");
  const MatrixXd lower = factor.matrixL().toDenseMatrix();
  out.root = lower.transpose();
  out.stand_in = x.transpose() * y;
  lower.triangularView<Eigen::Lower>().solveInPlace(out.stand_in);
  return out;
}

DimensionKl dimension_kl(ConstMatrixRef s, const DimensionKlOptions& options) {
  const double top = s.cwiseAbs().maxCoeff();
  const VectorXd all = SymmetricEigen(s / top, EigenParts::values).eigenvalues().reverse();
  DimensionKl out;
  out.largest = top * all[0];
  out.smallest = top * all[all.size() - 1];
  const double tol = 1e-10 * all.cwiseAbs().maxCoeff(), more = options.ridge * all.mean();
  std::vector<double> lambda;
  for (Index i = 0; i < all.size(); ++i)
    if (all[i] + more > tol) lambda.push_back(all[i] + more);
  out.positive = static_cast<int>(lambda.size());
  out.zero = static_cast<int>(all.size()) - out.positive;
  if (options.reverse) std::reverse(lambda.begin(), lambda.end());
  const Eigen::Map<const VectorXd> values(lambda.data(), out.positive);
  for (const int k : options.q)
    if (k < out.positive) out.q.push_back(k);
  const Index count = static_cast<Index>(out.q.size());
  out.kl.resize(count);
  out.noise.resize(count);
  out.share.resize(count);
  for (Index i = 0; i < count; ++i) {
    const Index k = out.q[static_cast<std::size_t>(i)], rest = out.positive - k;
    Eigen::ArrayXd left = values.tail(rest);
    if (options.reverse) left = left.inverse().eval();
    const double average = left.mean();
    out.kl[i] = std::max(0.0, 0.5 * static_cast<double>(rest) * (std::log(average) - left.log().mean()));
    out.noise[i] = top * (options.reverse ? 1 / average : average);
    out.share[i] = values.head(k).sum() / values.sum();
  }
  return out;
}

}  // namespace granary::process
