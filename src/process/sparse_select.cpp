#include "process/sparse_select.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/linalg/greedy_variance.h"
#include "core/cluster/kmeans.h"
#include "core/linalg/spd.h"
#include "process/sparse_panels.h"

namespace granary::process {

namespace {

MatrixXd take_rows(ConstMatrixRef x, const std::vector<Index>& rows) {
  MatrixXd out(static_cast<Index>(rows.size()), x.cols());
  for (std::size_t i = 0; i < rows.size(); ++i) out.row(static_cast<Index>(i)) = x.row(rows[i]);
  return out;
}

// Columns in units of their standard deviation, so that clusters do not depend on units.
MatrixXd standardised(ConstMatrixRef x, Eigen::RowVectorXd& centre, Eigen::RowVectorXd& scale) {
  centre = x.colwise().mean();
  MatrixXd out = x.rowwise() - centre;
  scale = (out.colwise().squaredNorm() / static_cast<double>(x.rows())).cwiseSqrt();
  for (Index k = 0; k < scale.size(); ++k)
    if (!(scale[k] > 0)) scale[k] = 1;
  return out * scale.cwiseInverse().asDiagonal();
}

std::vector<Index> random_rows(Index n, Index m, Rng& rng) {
  const std::vector<int> drawn = rng.sample_without_replacement(static_cast<int>(n), static_cast<int>(m));
  return std::vector<Index>(drawn.begin(), drawn.end());
}

Selection by_clusters(ConstMatrixRef x, const SelectOptions& options, Rng& rng, Monitor& monitor) {
  std::vector<Index> from(x.rows());
  if (x.rows() > options.kmeans_rows) {
    from = random_rows(x.rows(), std::max(options.kmeans_rows, 10 * options.m), rng);
  } else {
    for (Index i = 0; i < x.rows(); ++i) from[i] = i;
  }
  Eigen::RowVectorXd centre, scale;
  const MatrixXd points = standardised(take_rows(x, from), centre, scale);
  KMeansOptions settings;
  settings.k = static_cast<int>(options.m);
  settings.threads = options.threads;
  const KMeansResult clusters = kmeans(points, settings, rng, monitor);
  Selection out;
  std::vector<char> used(from.size(), 0);
  for (Index c = 0; c < clusters.centres.rows(); ++c) {
    Index best = -1;
    double least = 0;
    for (Index i = 0; i < points.rows(); ++i) {
      if (clusters.cluster[i] != c || used[i]) continue;
      const double distance = (points.row(i) - clusters.centres.row(c)).squaredNorm();
      if (best < 0 || distance < least) {
        best = i;
        least = distance;
      }
    }
    if (best < 0) continue;
    used[best] = 1;
    out.rows.push_back(from[best]);
  }
  out.inducing = (clusters.centres * scale.asDiagonal()).rowwise() + centre;
  return out;
}

std::vector<Index> by_variance(ConstMatrixRef x, const Kernel& kernel, double noise, const SelectOptions& options,
                               Monitor& monitor) {
  GreedyVarianceOptions settings;
  settings.max_picks = options.m;
  settings.noise = noise;
  settings.tol = options.tol;
  return greedy_variance(kernel, x, settings, monitor).picks;
}

// Greedy growth of the subset of regressors. The rows chosen give V = L_u^-1 K_uf one row at a time.
std::vector<Index> by_regressors(ConstMatrixRef x_in, ConstVectorRef y, const Kernel& kernel, double noise,
                                 const SelectOptions& options, Rng& rng, Monitor& monitor) {
  const MatrixXd x = x_in;
  const Index n = x.rows();
  const bool by_evidence = options.rule == InducingRule::evidence;
  const VectorXd diagonal = kernel.diagonal(x);
  MatrixXd v(options.m, n);
  Cholesky lower_b;
  VectorXd c(options.m);
  std::vector<Index> rows;
  std::vector<char> used(n, 0);
  SparseProblem layout;
  layout.x = &x;
  layout.method = SparseMethod::dtc;
  const std::vector<RowRange> ranges = row_ranges(layout);
  while (static_cast<Index>(rows.size()) < options.m) {
    monitor.progress(static_cast<double>(rows.size()) / static_cast<double>(options.m));
    const Index size = static_cast<Index>(rows.size());
    std::vector<Index> candidates;
    for (int i : rng.sample_without_replacement(static_cast<int>(n), static_cast<int>(std::min<Index>(n, options.candidates))))
      if (!used[i] && diagonal[i] - v.col(i).head(size).squaredNorm() > 1e-8 * diagonal[i]) candidates.push_back(i);
    if (candidates.empty()) {  // look once at all rows before giving up
      for (Index i = 0; i < n && candidates.empty(); ++i)
        if (!used[i] && diagonal[i] - v.col(i).head(size).squaredNorm() > 1e-8 * diagonal[i]) candidates.push_back(i);
      if (candidates.empty()) break;
    }
    const Index count = static_cast<Index>(candidates.size());
    const MatrixXd points = take_rows(x, candidates);
    MatrixXd w(size, count);
    VectorXd s(count);
    for (Index j = 0; j < count; ++j) {
      w.col(j) = v.col(candidates[j]).head(size);
      s[j] = std::sqrt(diagonal[candidates[j]] - w.col(j).squaredNorm());
    }
    const auto new_rows = [&](const RowRange& r) {  // v* for every candidate, as columns
      MatrixXd k = kernel.cross(x.middleRows(r.from, r.count), points);
      k.noalias() -= v.topRows(size).middleCols(r.from, r.count).transpose() * w;
      return MatrixXd(k * s.cwiseInverse().asDiagonal());
    };
    struct Sums {
      MatrixXd column;
      VectorXd corner, fit;
    };
    const Sums zero{MatrixXd::Zero(size, count), VectorXd::Zero(count), VectorXd::Zero(count)};
    std::vector<Sums> sums(lanes, zero);
    for_ranges(ranges.size(), options.threads, monitor, [&](Index lane, std::size_t r) {
      const MatrixXd own = new_rows(ranges[r]);
      sums[lane].column.noalias() += v.topRows(size).middleCols(ranges[r].from, ranges[r].count) * own;
      sums[lane].corner += own.colwise().squaredNorm().transpose();
      sums[lane].fit.noalias() += own.transpose() * y.segment(ranges[r].from, ranges[r].count);
    });
    Sums total = zero;
    for (const Sums& lane : sums) {
      total.column += lane.column;
      total.corner += lane.corner;
      total.fit += lane.fit;
    }
    const MatrixXd border = size > 0 ? lower_b.solve_lower(MatrixXd(total.column / noise)) : MatrixXd(0, count);
    Index best = 0;
    double most = -std::numeric_limits<double>::infinity();
    for (Index j = 0; j < count; ++j) {
      const double pivot = 1 + total.corner[j] / noise - border.col(j).squaredNorm();
      const double next = (total.fit[j] / noise - border.col(j).dot(c.head(size))) / std::sqrt(pivot);
      const double gain = 0.5 * next * next - (by_evidence ? 0.5 * std::log(pivot) : 0);
      if (gain > most) {
        most = gain;
        best = j;
        c[size] = next;
      }
    }
    const Index row = candidates[best];
    lower_b.append(total.column.col(best) / noise, 1 + total.corner[best] / noise);
    for (const RowRange& r : ranges) {
      VectorXd k = kernel.cross(x.middleRows(r.from, r.count), x.row(row));
      k.noalias() -= v.topRows(size).middleCols(r.from, r.count).transpose() * w.col(best);
      v.row(size).segment(r.from, r.count) = k.transpose() / s[best];
    }
    used[row] = 1;
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

Selection select_inducing(ConstMatrixRef x, ConstVectorRef y, const Kernel& kernel, double noise, const SelectOptions& options,
                          Rng& rng, Monitor& monitor) {
  if (options.m < 1 || options.m > x.rows())
    throw InputError(message("the number of inducing inputs must be between 1 and the number of rows, ", x.rows(), "."));
  Selection out;
  switch (options.rule) {
    case InducingRule::kmeans:
      return by_clusters(x, options, rng, monitor);
    case InducingRule::random:
      out.rows = random_rows(x.rows(), options.m, rng);
      break;
    case InducingRule::variance:
      out.rows = by_variance(x, kernel, 0, options, monitor);
      break;
    case InducingRule::information:
      out.rows = by_variance(x, kernel, noise, options, monitor);
      break;
    case InducingRule::posterior:
    case InducingRule::evidence:
      out.rows = by_regressors(x, y, kernel, noise, options, rng, monitor);
      break;
  }
  out.inducing = take_rows(x, out.rows);
  return out;
}

VectorXi balanced_blocks(ConstMatrixRef x, Index size, int threads, Rng& rng, Monitor& monitor) {
  const Index n = x.rows(), k = std::max<Index>(1, (n + size / 2) / std::max<Index>(1, size));
  Eigen::RowVectorXd centre, scale;
  KMeansOptions options;
  options.k = static_cast<int>(std::min(k, n));
  options.balanced = true;
  options.max_iter = 20;
  options.threads = threads;
  return kmeans(standardised(x, centre, scale), options, rng, monitor).cluster;
}

}  // namespace granary::process
