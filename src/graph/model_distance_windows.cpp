#include "graph/model_distance_windows.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/cluster/kmeans.h"
#include "core/linalg/spectral.h"
#include "graph/glasso.h"
#include "core/linalg/dense.h"

namespace granary::graph {

namespace {

VectorXd half_vector(const MatrixXd& m) {
  const Index p = m.rows();
  VectorXd out(p * (p + 1) / 2);
  Index k = 0;
  for (Index j = 0; j < p; ++j) {
    for (Index i = 0; i <= j; ++i) out[k++] = i == j ? m(i, j) : std::sqrt(2.0) * m(i, j);
  }
  return out;
}

MatrixXd regularised_inverse(const MatrixXd& s, double rho) {
  MatrixXd a = s;
  a.diagonal().array() += rho;
  const Llt llt(a);
  const MatrixXd lower = llt.matrixL();
  if (llt.info() != Eigen::Success || !(lower.diagonal().array().square().minCoeff() > 1e-14 * a.diagonal().maxCoeff())) {
    throw InputError("The covariance of a window is singular: use rho > 0 or longer windows.");
  }
  const MatrixXd inverse = llt.solve(MatrixXd::Identity(a.rows(), a.cols()));
  return (inverse + inverse.transpose()) / 2;
}

// Mean and centred cross-products of the rows in the window.
struct Moments {
  VectorXd mean;
  MatrixXd cross;
  double n = 0;

  void fresh(ConstMatrixRef rows) {
    n = static_cast<double>(rows.rows());
    mean = rows.colwise().mean().transpose();
    const MatrixXd centred = rows.rowwise() - mean.transpose();
    cross.noalias() = centred.transpose() * centred;
  }
  // Welford's steps. Each returns u with cross changed by +-u u'.
  VectorXd add(const VectorXd& x) {
    const VectorXd d = x - mean;
    const VectorXd u = d * std::sqrt(n / (n + 1));
    n += 1;
    mean += d / n;
    cross.noalias() += u * u.transpose();
    return u;
  }
  VectorXd remove(const VectorXd& x) {
    const VectorXd d = x - mean;
    const VectorXd u = d * std::sqrt(n / (n - 1));
    n -= 1;
    mean -= d / n;
    cross.noalias() -= u * u.transpose();
    return u;
  }
};

void rank_one(MatrixXd& inverse, const VectorXd& u, double sign) {  // inverse of (A + sign u u')
  const VectorXd v = inverse * u;
  inverse.noalias() -= (sign / (1 + sign * u.dot(v))) * v * v.transpose();
}

}  // namespace

WindowResult window_models(ConstMatrixRef x, const WindowOptions& options, Monitor& monitor) {
  const Stopwatch clock;
  const Index p = x.cols(), width = options.width;
  if (width < 2 || width > x.rows() || options.step < 1) throw InputError("a window must have at least two rows and fit into the series.");
  std::vector<Index> starts;
  for (Index first = 0; first + width <= x.rows(); first += options.step) starts.push_back(first);
  const double divisor = static_cast<double>(width - 1);
  WindowResult out;
  out.features.resize(static_cast<Index>(starts.size()), p * (p + 1) / 2);
  out.convergence.converged = true;
  GlassoOptions glasso_options;
  glasso_options.tol = options.tol;
  glasso_options.max_iter = options.max_iter;
  GlassoState warm;
  Moments moments;
  MatrixXd inverse;
  for (std::size_t w = 0; w < starts.size(); ++w) {
    monitor.progress(static_cast<double>(w) / static_cast<double>(starts.size()));
    const Index start = starts[w], moved = w == 0 ? width : start - starts[w - 1];
    const bool slide = w % 32 != 0 && moved >= 0 && moved < width / 2;
    const bool update = slide && options.estimate == WindowEstimate::tikhonov && 12 * moved < p && inverse.size() > 0;
    if (slide) {
      // First in, then out: the window never holds fewer than `width` rows on the way.
      for (Index k = 0; k < moved; ++k) {
        const VectorXd in = moments.add(x.row(starts[w - 1] + width + k).transpose());
        if (update) rank_one(inverse, in / std::sqrt(divisor), 1);
      }
      for (Index k = 0; k < moved; ++k) {
        const VectorXd gone = moments.remove(x.row(starts[w - 1] + k).transpose());
        if (update) rank_one(inverse, gone / std::sqrt(divisor), -1);
      }
    } else {
      moments.fresh(x.middleRows(start, width));
    }
    MatrixXd s = moments.cross / divisor;
    s = (s + s.transpose()) / 2;
    MatrixXd estimate;
    if (options.estimate == WindowEstimate::covariance) {
      estimate = s;
    } else if (options.estimate == WindowEstimate::tikhonov) {
      if (update) {
        ++out.updates;
      } else {
        inverse = regularised_inverse(s, options.rho);
      }
      estimate = (inverse + inverse.transpose()) / 2;
    } else {
      const Penalty penalty = Penalty::scalar(options.rho);
      GlassoResult fit = glasso(s, penalty, glasso_options, monitor, w > 0 ? &warm : nullptr);
      const MatrixXd upper = fit.state.upper;
      estimate = upper.triangularView<Eigen::Upper>();
      estimate += MatrixXd(upper.triangularView<Eigen::StrictlyUpper>()).transpose();
      out.convergence.converged = out.convergence.converged && fit.convergence.converged;
      out.convergence.iterations += fit.convergence.iterations;
      out.convergence.gap = w == 0 ? fit.convergence.gap : std::max(out.convergence.gap, fit.convergence.gap);
      warm = std::move(fit.state);
    }
    out.features.row(static_cast<Index>(w)) = half_vector(estimate).transpose();
    out.matrices.push_back(std::move(estimate));
  }
  out.starts = std::move(starts);
  out.convergence.seconds = clock.seconds();
  return out;
}

std::vector<WindowResult> window_models(const std::vector<MatrixView>& series, const WindowOptions& options, Monitor& monitor) {
  std::vector<WindowResult> out;
  for (const MatrixView& x : series) {
    out.push_back(window_models(x, options, monitor));
    monitor.progress(static_cast<double>(out.size()) / static_cast<double>(series.size()));
  }
  return out;
}

WindowClusters cluster_windows(ConstMatrixRef features, const WindowClusterOptions& options, Rng& rng, Monitor& monitor) {
  const MatrixXd centred = features.rowwise() - features.colwise().mean();
  Svd svd(centred, SvdParts::thin);
  const Index kept = std::min(options.components, svd.singularValues().size());
  const VectorXd variance = svd.singularValues().cwiseAbs2();
  WindowClusters out;
  MatrixXd u = svd.matrixU().leftCols(kept), v = svd.matrixV().leftCols(kept);
  fix_signs(v, u);
  out.scores = u * svd.singularValues().head(kept).asDiagonal();
  out.explained = variance.head(kept).sum() / std::max(variance.sum(), std::numeric_limits<double>::min());
  KMeansOptions how;
  how.k = options.k;
  how.n_starts = options.n_starts;
  const KMeansResult groups = kmeans(out.scores, how, rng, monitor);
  std::vector<int> number(static_cast<std::size_t>(options.k), -1);
  out.centers.resize(options.k, kept);
  int seen = 0;
  for (Index i = 0; i < groups.cluster.size(); ++i) {
    int& own = number[groups.cluster[i]];
    if (own < 0) {
      own = seen++;
      out.centers.row(own) = groups.centres.row(groups.cluster[i]);
    }
    out.cluster.push_back(own);
  }
  return out;
}

MatrixXd matrix_distances(const std::vector<MatrixXd>& matrices, const MetricOptions& options, Monitor& monitor) {
  const MatrixMetric metric = options.metric;
  const int threads = options.threads;
  const Index n = static_cast<Index>(matrices.size());
  const auto require_positive = [](const VectorXd& values) {
    if (!(values.minCoeff() > 0)) {
      throw InputError(message("This metric needs positive definite matrices, but an eigenvalue is ", values.minCoeff(),
                               ". Use metric = \"frobenius\" or rho > 0."));
    }
  };
  // Per matrix: itself, its logarithm, or its inverse square root.
  std::vector<MatrixXd> prepared(n);
  parallel_for(n, threads, monitor, [&](Index k) {
    if (metric == MatrixMetric::frobenius) {
      prepared[k] = matrices[k];
      return;
    }
    const SymmetricEigen eigen(matrices[k]);
    const VectorXd values = eigen.eigenvalues();
    require_positive(values);
    const VectorXd mapped = metric == MatrixMetric::riemann ? VectorXd(values.array().rsqrt()) : VectorXd(values.array().log());
    prepared[k] = eigen.eigenvectors() * mapped.asDiagonal() * eigen.eigenvectors().transpose();
  });
  MatrixXd out = MatrixXd::Zero(n, n);
  parallel_for(n, threads, monitor, [&](Index i) {
    for (Index j = 0; j < i; ++j) {
      if (metric != MatrixMetric::riemann) {
        out(i, j) = (prepared[i] - prepared[j]).norm();
        continue;
      }
      const MatrixXd inner = prepared[i] * matrices[j] * prepared[i];
      const VectorXd values = SymmetricEigen(inner, EigenParts::values).eigenvalues();
      require_positive(values);
      out(i, j) = values.array().log().matrix().norm();
    }
    monitor.check();
  });
  out.triangularView<Eigen::StrictlyUpper>() = out.transpose();
  return out;
}

}  // namespace granary::graph
