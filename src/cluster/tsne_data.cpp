#include "cluster/tsne_data.h"

#include <algorithm>
#include <cmath>

#include "core/base/parallel.h"
#include "core/linalg/spectral.h"

namespace granary::cluster {

namespace {

VectorXd column_means(const Design& x) {
  VectorXd mean(x.cols());
  if (!x.is_sparse()) return x.dense().colwise().mean().transpose();
  const VectorXd ones = VectorXd::Ones(x.rows());
  x.transposed_times(ones, mean);
  return mean / static_cast<double>(x.rows());
}

// The q leading directions of the centred rows. The matrix of squares where it is small; else by products only, so that a sparse
// matrix stays sparse.
MatrixXd leading_directions(const Design& x, const VectorXd& mean, double unit, Index q, Monitor& monitor) {
  const Index n = x.rows(), d = x.cols();
  if (!x.is_sparse() && d <= 2000 && d <= 4 * n) {
    constexpr Index block = 4096;
    MatrixXd scatter = MatrixXd::Zero(d, d);
    for (Index first = 0; first < n; first += block) {
      monitor.check();
      const Index many = std::min(block, n - first);
      const MatrixXd part = (x.dense().middleRows(first, many).rowwise() - mean.transpose()) / unit;
      scatter.selfadjointView<Eigen::Lower>().rankUpdate(part.transpose());
    }
    const SymmetricEigen eigen(scatter);
    MatrixXd vectors = eigen.eigenvectors().rowwise().reverse().leftCols(q);
    fix_signs(vectors);
    return vectors;
  }
  MatrixOperator centred;
  centred.rows = n;
  centred.cols = d;
  centred.apply = [&](ConstVectorRef u, VectorRef y) {
    x.times(u, y);
    y.array() -= mean.dot(u);
    y /= unit;
  };
  centred.transposed = [&](ConstVectorRef r, VectorRef y) {
    x.transposed_times(r, y);
    y -= r.sum() * mean;
    y /= unit;
  };
  EigenOptions options;
  options.tol = 1e-8;
  return truncated_svd(centred, q, options, monitor).v;
}

double largest_deviation(const Design& x, const VectorXd& mean) {
  double most = 0;
  if (!x.is_sparse()) {
    for (Index j = 0; j < x.cols(); ++j) most = std::max(most, (x.dense().col(j).array() - mean[j]).abs().maxCoeff());
    return most > 0 ? most : 1;
  }
  most = mean.cwiseAbs().maxCoeff();  // of the zeros
  for (Index j = 0; j < x.cols(); ++j)
    for (ConstSparseMap::InnerIterator it(x.sparse(), j); it; ++it) most = std::max(most, std::abs(it.value() - mean[j]));
  return most > 0 ? most : 1;
}

}  // namespace

MatrixXd reduce_more(const Design& x, ConstVectorRef centre, ConstMatrixRef rotation, double unit) {
  if (rotation.size() == 0) {
    const MatrixXd rows = x.is_sparse() ? MatrixXd(x.sparse()) : MatrixXd(x.dense());
    return (rows.rowwise() - centre.transpose()) / unit;
  }
  const MatrixXd turned = rotation / unit;
  MatrixXd out = x.is_sparse() ? MatrixXd(x.sparse() * turned) : MatrixXd(x.dense() * turned);
  const Eigen::RowVectorXd origin = centre.transpose() * turned;
  out.rowwise() -= origin;
  return out;
}

ReducedRows reduce_rows(const Design& x, int most, Monitor& monitor) {
  ReducedRows out;
  out.centre = column_means(x);
  out.unit = largest_deviation(x, out.centre);
  out.rotation.resize(0, 0);
  const Index q = std::min<Index>(most, std::min(x.rows(), x.cols()));
  if (most > 0 && x.cols() > most) out.rotation = leading_directions(x, out.centre, out.unit, q, monitor);
  out.rows = reduce_more(x, out.centre, out.rotation, out.unit);
  return out;
}

MatrixXd principal_start(const Design& x, int k, double sd, Monitor& monitor) {
  const VectorXd mean = column_means(x);
  const double unit = largest_deviation(x, mean);
  const Index q = std::min<Index>(k, std::min(x.rows(), x.cols()));
  MatrixXd out = MatrixXd::Zero(x.rows(), k);
  out.leftCols(q) = reduce_more(x, mean, leading_directions(x, mean, unit, q, monitor), unit);
  const double size = std::sqrt(out.col(0).squaredNorm() / static_cast<double>(x.rows()));
  return size > 1e-12 ? MatrixXd(out * (sd / size)) : MatrixXd::Zero(x.rows(), k);
}

Neighbours source_neighbours(const MapSource& source, int neighbours, int threads, Monitor& monitor) {
  const int k = neighbours > 0 ? neighbours : static_cast<int>(source.n) - 1;
  if (source.index.size() > 0) {
    if (k > source.index.rows())
      throw InputError(message("this perplexity needs ", k, " neighbours of each row, but ", source.index.rows(),
                               " are given; lower `perplexity` or give more."));
    return {source.index.topRows(k), source.distance.topRows(k)};
  }
  if (source.own) return nearest_neighbours(source.n, source.own, k, monitor);
  if (source.dist.size() > 0) return nearest_neighbours(source.n, source.dist, k, threads, monitor);
  NeighbourOptions options;
  options.k = k;
  options.metric = source.metric;
  options.threads = threads;
  return nearest_neighbours(*source.x, options, monitor);
}

namespace {

// Distances of all points from point i, up to a rising function.
class Rows {
 public:
  explicit Rows(const MapSource& source) : source_(source) {
    if (!source.x) return;
    points_ =
        source.x->is_sparse() ? MatrixXd(MatrixXd(source.x->sparse()).transpose()) : MatrixXd(source.x->dense().transpose());
    if (source.metric != Metric::cosine && source.metric != Metric::correlation) return;
    for (Index i = 0; i < points_.cols(); ++i) {
      if (source.metric == Metric::correlation) points_.col(i).array() -= points_.col(i).mean();
      points_.col(i) /= std::max(points_.col(i).norm(), 1e-300);
    }
  }

  VectorXd from(Index i) const {
    VectorXd out(source_.n);
    for (Index j = 0; j < source_.n; ++j) out[j] = i == j ? 0 : between(std::min(i, j), std::max(i, j));
    return out;
  }

 private:
  double between(Index i, Index j) const {  // i < j
    if (source_.own) return source_.own(i, j);
    if (!source_.x) return source_.dist[i * source_.n - i * (i + 1) / 2 + j - i - 1];
    const double *a = points_.col(i).data(), *b = points_.col(j).data();
    if (source_.metric == Metric::manhattan) return (points_.col(i) - points_.col(j)).cwiseAbs().sum();
    if (source_.metric == Metric::maximum) return (points_.col(i) - points_.col(j)).cwiseAbs().maxCoeff();
    return squared_distance(a, b, points_.rows());
  }
  const MapSource& source_;
  MatrixXd points_;
};

// The scores ask for ranks among all points, which a search for the k nearest does not give: all distances from a point are sorted here.
// The k nearest of point i, and how many ranks beyond k those are that the other list has and this has not.
struct Order {
  Order(const VectorXd& distance, Index i, int k) : away(distance), self(i) {
    std::vector<int> all(static_cast<std::size_t>(distance.size()));
    std::size_t to = 0;
    for (Index j = 0; j < distance.size(); ++j)
      if (j != i) all[to++] = static_cast<int>(j);
    all.resize(to);
    std::nth_element(all.begin(), all.begin() + (k - 1), all.end(), [&](int a, int b) { return before(a, b); });
    nearest.assign(all.begin(), all.begin() + k);
    std::sort(nearest.begin(), nearest.end());
  }
  bool before(int a, int b) const { return away[a] < away[b] || (away[a] == away[b] && a < b); }
  bool has(int j) const { return std::binary_search(nearest.begin(), nearest.end(), j); }
  double missed(const Order& other) const {
    double sum = 0;
    for (const int j : other.nearest) {
      if (has(j)) continue;
      Index rank = 1;
      for (Index l = 0; l < away.size(); ++l) rank += l != self && before(static_cast<int>(l), j);
      sum += static_cast<double>(rank) - static_cast<double>(nearest.size());
    }
    return sum;
  }

  const VectorXd& away;
  Index self;
  std::vector<int> nearest;
};

}  // namespace

MapQuality map_quality(const MapSource& source, ConstMatrixRef map, int k, const std::vector<int>& which, int threads,
                       Monitor& monitor) {
  const Index n = source.n;
  if (2 * n - 3 * k - 1 <= 0)
    throw InputError(message("`k` must be less than ", (2 * n - 1) / 3, " for ", n, " rows, not ", k, "."));
  const Rows rows(source);
  const MatrixXd points = map.transpose();
  const auto m = static_cast<Index>(which.size());
  MatrixXd parts(3, m);
  parallel_for(m, source.own ? 1 : threads, monitor, [&](Index w) {
    const Index i = which[static_cast<std::size_t>(w)];
    const VectorXd in_data = rows.from(i), in_map = (points.colwise() - points.col(i)).colwise().squaredNorm().transpose();
    const Order data(in_data, i, k), mapped(in_map, i, k);
    double common = 0;
    for (const int j : data.nearest) common += mapped.has(j);
    parts.col(w) << data.missed(mapped), mapped.missed(data), common;
  });
  const double scale = 2 / (static_cast<double>(m) * k * (2 * static_cast<double>(n) - 3 * k - 1));
  return {1 - scale * parts.row(0).sum(), 1 - scale * parts.row(1).sum(), parts.row(2).sum() / (static_cast<double>(m) * k)};
}

}  // namespace granary::cluster
