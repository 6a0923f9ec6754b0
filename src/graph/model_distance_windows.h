// A multivariate series as one precision (or covariance) matrix per window.
//
//   S_w = covariance of rows start_w .. start_w + width - 1 (divisor width - 1)
//   covariance S_w,   Tikhonov (S_w + rho I)^-1,   graphical lasso with penalty rho, diagonal included
//   features: upper triangle with diagonal, off-diagonal entries times sqrt(2), so that Euclidean distances are Frobenius
//   distances
//
// S_w slides: a row in or out costs O(N^2). Where few rows change between windows (less than N / 12), so does the Tikhonov
// inverse, by (W + u u')^-1 = W^-1 - W^-1 u (1 + u'W^-1 u)^-1 u'W^-1 (appendix B of the thesis prints it without the inverse in
// the middle). Both are computed afresh every 32 windows, so that rounding cannot pile up.
#pragma once

#include <vector>

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "core/base/types.h"
#include "core/random/rng.h"

namespace granary::graph {

enum class WindowEstimate { covariance, tikhonov, lasso };

inline Names<WindowEstimate> names(WindowEstimate) {
  return {{WindowEstimate::tikhonov, "tikhonov"}, {WindowEstimate::covariance, "covariance"}, {WindowEstimate::lasso, "l1"}};
}

struct WindowOptions {
  Index width = 2, step = 1;
  WindowEstimate estimate = WindowEstimate::tikhonov;
  double rho = 0.1;
  double tol = 1e-6;
  int max_iter = 1000;
};
template <class V>
void fields(V& v, WindowOptions& t) {
  v("width", t.width);
  v("step", t.step);
  v("estimate", t.estimate);
  v("rho", t.rho);
  v("tol", t.tol);
  v("max_iter", t.max_iter);
}
struct WindowResult {
  std::vector<Index> starts;  // first row of every window
  std::vector<MatrixXd> matrices;
  MatrixXd features;        // one row per window
  Convergence convergence;  // of the graphical lassos: residual is the largest violation, gap the largest
  int updates = 0;          // windows whose inverse was updated, not computed afresh
};
template <class V>
void fields(V& v, WindowResult& t) {
  v("starts", positions(t.starts));
  v("matrices", t.matrices);
  v("features", t.features);
  v("updates", t.updates);
  v("convergence", t.convergence);
}
// Windows that start every `step` rows from the first.
WindowResult window_models(ConstMatrixRef x, const WindowOptions& options, Monitor& monitor);
std::vector<WindowResult> window_models(const std::vector<MatrixView>& series, const WindowOptions& options, Monitor& monitor);

// Windows grouped by k-means on the main components of their features.
struct WindowClusterOptions {
  int k = 3;
  Index components = 3;
  int n_starts = 10;
};
template <class V>
void fields(V& v, WindowClusterOptions& t) {
  v("k", t.k);
  v("components", t.components);
  v("n_starts", t.n_starts);
}
struct WindowClusters {
  std::vector<int> cluster;  // numbered as they first appear
  MatrixXd scores, centers;
  double explained = 0;  // share of the variance in these components
};
template <class V>
void fields(V& v, WindowClusters& t) {
  v("cluster", positions(t.cluster));
  v("scores", t.scores);
  v("centers", t.centers);
  v("explained", t.explained);
}
WindowClusters cluster_windows(ConstMatrixRef features, const WindowClusterOptions& options, Rng& rng, Monitor& monitor);

enum class MatrixMetric { frobenius, log_euclidean, riemann };
inline Names<MatrixMetric> names(MatrixMetric) {
  return {{MatrixMetric::frobenius, "frobenius"}, {MatrixMetric::log_euclidean, "logeuclid"}, {MatrixMetric::riemann, "riemann"}};
}
struct MetricOptions {
  MatrixMetric metric = MatrixMetric::frobenius;
  int threads = 1;
};
template <class V>
void fields(V& v, MetricOptions& t) {
  v("metric", t.metric);
  v("threads", t.threads);
}
// Distances between positive definite matrices: ||A - B||_F, ||log A - log B||_F, ||log(A^-1/2 B A^-1/2)||_F.
MatrixXd matrix_distances(const std::vector<MatrixXd>& matrices, const MetricOptions& options, Monitor& monitor);

}  // namespace granary::graph
