#include "ensemble/transfer_tools.h"

#include <algorithm>
#include <cmath>

#include "core/math/saddle_point.h"

namespace granary::ensemble {
namespace {

// Mean over `to` equal stretches of 0 .. from, as a matrix to x from.
MatrixXd averaging(Index from, Index to) {
  MatrixXd out = MatrixXd::Zero(to, from);
  const double step = static_cast<double>(from) / static_cast<double>(to);
  for (Index a = 0; a < to; ++a) {
    const double low = step * static_cast<double>(a), high = step * static_cast<double>(a + 1);
    for (auto i = static_cast<Index>(low); i < from && static_cast<double>(i) < high; ++i)
      out(a, i) = std::max(0.0, std::min(high, i + 1.0) - std::max(low, static_cast<double>(i))) / step;
  }
  return out;
}

}  // namespace

MatrixXd motion_history(ConstMatrixRef video, const MotionOptions& options) {
  const MatrixXd rows = averaging(options.height, options.rows), columns = averaging(options.width, options.columns);
  MatrixXd history = MatrixXd::Zero(options.height, options.width), out(video.cols(), options.rows * options.columns);
  for (Index t = 0; t < video.cols(); ++t) {
    for (Index i = 0; t > 0 && i < video.rows(); ++i) {
      double& h = history.data()[i];
      h = std::abs(video(i, t) - video(i, t - 1)) >= options.xi ? options.tau : std::max(0.0, h - 1);
    }
    const MatrixXd small = rows * history * columns.transpose();
    out.row(t) = Eigen::Map<const Eigen::RowVectorXd>(small.data(), small.size());
  }
  return out;
}

EntropyBounds entropy_bounds(ConstVectorRef p, int draws) {
  EntropyBounds out;
  const double k = draws;
  double lost = 0, met = 0;
  for (Index y = 0; y < p.size(); ++y) {
    if (p[y] <= 0) continue;
    const double q = std::max(0.0, 1 - p[y]);
    out.entropy -= p[y] * std::log(p[y]);
    lost += p[y] * std::log1p(q / (k * p[y]));
    met += q > 0 ? -std::expm1(k * std::log1p(-p[y])) : 1;
    if (q == 0) continue;
    for (int j = 1; j < draws; ++j) out.expected -= std::exp(log_binomial_pmf(j, k, p[y], q)) * (j / k) * std::log(j / k);
  }
  out.lower = out.entropy - lost;
  out.upper = out.entropy;
  out.corrected = out.expected + 0.5 * (met - 1) / k;
  return out;
}

}  // namespace granary::ensemble
