#include "regress/feature_score.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/errors.h"
#include "core/cluster/kmeans.h"
#include "core/linalg/dense.h"
#include "regress/q_alpha.h"

namespace granary::regress {
namespace {

// In units of the largest value: no score minds the unit, and squares of tiny numbers vanish.
VectorXd scaled(ConstVectorRef column) { return column / std::max(column.cwiseAbs().maxCoeff(), std::numeric_limits<double>::min()); }

double moment_score(const VectorXd& x, const std::vector<int>& labels, int classes, FeatureScore type) {
  VectorXd size = VectorXd::Zero(classes), mean = VectorXd::Zero(classes), spread = VectorXd::Zero(classes);
  for (Index i = 0; i < x.size(); ++i) {
    size[labels[i]] += 1;
    mean[labels[i]] += x[i];
  }
  mean.array() /= size.array();
  for (Index i = 0; i < x.size(); ++i) spread[labels[i]] += std::pow(x[i] - mean[labels[i]], 2);
  const double between = (size.array() * (mean.array() - x.mean()).square()).sum(), within = spread.sum();
  if (type == FeatureScore::pearson) return std::sqrt(between / (between + within));
  const VectorXd deviation = (spread.array() / (size.array() - 1).max(1)).sqrt();
  if (type == FeatureScore::fisher) {
    if (classes != 2) return between / within;
    return std::pow(mean[0] - mean[1], 2) / (deviation[0] * deviation[0] + deviation[1] * deviation[1]);
  }
  double best = std::numeric_limits<double>::quiet_NaN();
  for (int g = 0; g < classes; ++g)
    for (int h = g + 1; h < classes; ++h) {
      const double ratio = std::abs(mean[g] - mean[h]) / (deviation[g] + deviation[h]);
      if (!std::isnan(ratio) && !(ratio <= best)) best = ratio;
    }
  return best;
}

double ks_score(ConstVectorRef x, const std::vector<int>& labels, int classes) {
  std::vector<Index> order(static_cast<std::size_t>(x.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(), [&](Index a, Index b) { return x[a] < x[b]; });
  VectorXd size = VectorXd::Zero(classes), seen = VectorXd::Zero(classes);
  for (const int g : labels) size[g] += 1;
  double best = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    seen[labels[static_cast<std::size_t>(order[k])]] += 1;
    if (k + 1 < order.size() && x[order[k + 1]] == x[order[k]]) continue;  // a step is complete at the last of equal values
    const VectorXd share = seen.cwiseQuotient(size);
    best = std::max(best, share.maxCoeff() - share.minCoeff());
  }
  return best;
}

VectorXd laplacian_score(ConstMatrixRef x, Index neighbors) {
  const Index n = x.rows();
  neighbors = std::min(neighbors, n - 1);
  MatrixXd distance(n, n), weight = MatrixXd::Zero(n, n);
  for (Index j = 0; j < n; ++j)
    for (Index i = 0; i < n; ++i) distance(i, j) = (x.row(i) - x.row(j)).squaredNorm();
  std::vector<Index> order(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) {
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return distance(a, i) < distance(b, i); });
    for (Index k = 0; k <= neighbors; ++k)
      if (order[static_cast<std::size_t>(k)] != i) weight(i, order[static_cast<std::size_t>(k)]) = weight(order[static_cast<std::size_t>(k)], i) = 1;
  }
  const double width = std::max((distance.array() * weight.array()).sum() / weight.sum(), std::numeric_limits<double>::min());
  weight.array() *= (-distance.array() / width).exp();
  const VectorXd degree = weight.rowwise().sum();
  VectorXd out(x.cols());
  for (Index j = 0; j < x.cols(); ++j) {
    VectorXd centred = scaled(x.col(j));
    centred.array() -= centred.dot(degree) / degree.sum();
    const double spread = (centred.array().square() * degree.array()).sum();
    out[j] = spread > 1e-20 * degree.sum() ? centred.dot(weight * centred) / spread : 0;
  }
  return out;
}

VectorXd pca_score(ConstMatrixRef x, Index k) {
  const Svd svd(standardise_features(x, true).x, SvdParts::thin);
  return (svd.matrixV().leftCols(k) * svd.singularValues().head(k).asDiagonal()).rowwise().norm();
}

}  // namespace

VectorXd feature_score(ConstMatrixRef x, const std::vector<int>& labels, const FeatureScoreOptions& options) {
  const Index n = x.rows();
  if (options.type == FeatureScore::laplacian) return laplacian_score(x, options.neighbors);
  if (options.type == FeatureScore::pca) return pca_score(x, options.k);
  if (options.type == FeatureScore::variance)
    return (x.rowwise() - x.colwise().mean()).colwise().squaredNorm().transpose() / static_cast<double>(n - 1);
  require(static_cast<Index>(labels.size()) == n, "every sample needs a class.");
  const int classes = *std::max_element(labels.begin(), labels.end()) + 1;
  VectorXd out(x.cols());
  for (Index j = 0; j < x.cols(); ++j)
    out[j] = options.type == FeatureScore::ks ? ks_score(x.col(j), labels, classes) : moment_score(scaled(x.col(j)), labels, classes, options.type);
  return out;
}

VectorXi cluster_embedding(ConstMatrixRef x, int k, int n_starts, Rng rng, Monitor& monitor) {
  VectorXi distinct(x.rows());
  int count = 0;
  std::vector<Index> first;
  for (Index i = 0; i < x.rows() && count <= k; ++i) {
    int at = 0;
    while (at < count && !(x.row(i) == x.row(first[static_cast<std::size_t>(at)]))) ++at;
    if (at == count) {
      first.push_back(i);
      ++count;
    }
    distinct[i] = at;
  }
  if (count <= k) return distinct;
  KMeansOptions options;
  options.k = k;
  options.n_starts = n_starts;
  VectorXi cluster = kmeans(x, options, rng, monitor).cluster;
  std::vector<int> rename(static_cast<std::size_t>(k), -1);
  int next = 0;
  for (Index i = 0; i < cluster.size(); ++i) {
    int& name = rename[static_cast<std::size_t>(cluster[i])];
    if (name < 0) name = next++;
    cluster[i] = name;
  }
  return cluster;
}

}  // namespace granary::regress
