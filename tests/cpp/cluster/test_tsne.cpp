#include <cmath>

#include "cluster/tsne.h"
#include "cluster/tsne_affinity.h"
#include "cluster/tsne_data.h"
#include "cluster/tsne_place.h"
#include "harness.h"

using namespace granary;
using namespace granary::cluster;

namespace {

Design view(const MatrixXd& x) { return Design(MatrixView(x.data(), x.rows(), x.cols())); }

MatrixXd normals(Index n, Index d, Rng& rng) {
  MatrixXd x(n, d);
  for (Index e = 0; e < x.size(); ++e) x.data()[e] = rng.normal();
  return x;
}

Affinity affinity_of(const MatrixXd& x, int k, double perplexity, Monitor& monitor) {
  NeighbourOptions options;
  options.k = k;
  return perplexity_affinity(nearest_neighbours(view(x), options, monitor), perplexity, 1, monitor);
}

}  // namespace

TEST("calibration reaches the perplexity at any scale, and shares evenly where it cannot") {
  Rng rng(1);
  for (const double scale : {1e-150, 1e-8, 1.0, 1e8, 1e150}) {
    for (const double perplexity : {1.5, 5.0, 20.0, 29.9}) {
      VectorXd d(30), p(30);
      double sum = 0;
      for (Index j = 0; j < 30; ++j) d[j] = scale * (sum += rng.uniform_open());
      const Calibration found = calibrate(d.data(), 30, perplexity, p.data());
      CHECK_NEAR(p.sum(), 1, 1e-14);
      double entropy = 0;
      for (Index j = 0; j < 30; ++j) entropy -= p[j] > 0 ? p[j] * std::log(p[j]) : 0;
      CHECK_NEAR(std::exp(entropy) / perplexity, 1, 1e-10);
      CHECK_NEAR(found.perplexity / perplexity, 1, 1e-10);
      const double ratio = std::log(p[0] / p[1]), excess = (d[1] - d[0]) / scale * ((d[1] + d[0]) / scale);
      CHECK_NEAR(found.precision * scale * scale * excess / ratio, 1, 1e-9);
    }
  }
  VectorXd equal = VectorXd::Constant(12, 3), p(12);
  calibrate(equal.data(), 12, 4, p.data());
  CHECK_NEAR((p.array() - 1 / 12.0).abs().maxCoeff(), 0, 1e-16);
  VectorXd zeros = VectorXd::Zero(12);
  zeros.tail(4).setConstant(2);
  calibrate(zeros.data(), 12, 4, p.data());  // eight duplicates, four wanted
  CHECK_NEAR(p[0], 1 / 8.0, 1e-16);
  CHECK_NEAR(p[11], 0, 0);
}

TEST("similarities are symmetric and of sum 1; three points at equal distances have 1 / 6 each") {
  Monitor monitor;
  Rng rng(2);
  const Affinity a = affinity_of(normals(150, 5, rng), 30, 10, monitor);
  CHECK_NEAR(a.p.sum(), 1, 1e-12);
  CHECK_NEAR((MatrixXd(a.p) - MatrixXd(a.p).transpose()).cwiseAbs().maxCoeff(), 0, 0);
  CHECK(a.unreached == 0);
  MatrixXd triangle(3, 2);
  triangle << 0, 0, 1, 0, 0.5, std::sqrt(0.75);
  const Affinity even = affinity_of(triangle, 2, 2, monitor);
  CHECK_NEAR(MatrixXd(even.p)(0, 1), 1 / 6.0, 1e-9);
  // ... and the equilateral triangle is a map of cost 0.
  CHECK_NEAR(tsne_gradient(even.p, triangle, ForceOptions(), monitor).cost, 0, 1e-9);
}

TEST("gradients are those of the cost, sum to zero, and turn with the map") {
  Monitor monitor;
  Rng rng(3);
  const Affinity a = affinity_of(normals(60, 4, rng), 18, 6, monitor);
  for (const int dim : {1, 2, 3}) {
    const MatrixXd y = 2 * normals(60, dim, rng);
    for (const MapType type : {MapType::tsne, MapType::ssne, MapType::elastic}) {
      ForceOptions options;
      options.type = type;
      options.theta = 0;
      const TsneGradient found = tsne_gradient(a.p, y, options, monitor);
      CHECK_NEAR(found.gradient.colwise().sum().norm(), 0, 1e-13);
      CHECK_NEAR(found.point_cost.sum(), found.cost, 1e-12);
      for (const Index e : {0, 17, 59}) {
        MatrixXd up = y, down = y;
        up(e, dim - 1) += 1e-5;
        down(e, dim - 1) -= 1e-5;
        const double slope =
            (tsne_gradient(a.p, up, options, monitor).cost - tsne_gradient(a.p, down, options, monitor).cost) / 2e-5;
        CHECK_NEAR(found.gradient(e, dim - 1), slope, 1e-8);
      }
      MatrixXd moved = -y;
      moved.array() += 7;
      CHECK_NEAR(tsne_gradient(a.p, moved, options, monitor).cost, found.cost, 1e-11);
      options.theta = 1e-9;
      CHECK_NEAR((tsne_gradient(a.p, y, options, monitor).gradient - found.gradient).norm(), 0, 1e-12);
      options.theta = 0.5;
      const MatrixXd tree = tsne_gradient(a.p, y, options, monitor).gradient;
      CHECK(tree.cwiseProduct(found.gradient).sum() > 0.99 * tree.norm() * found.gradient.norm());
    }
  }
}

TEST("a run lowers the cost after the exaggeration, stops with the answer's own numbers, and goes on exactly") {
  Monitor monitor;
  Rng rng(4);
  MatrixXd x = normals(300, 6, rng);
  x.topRows(150).col(0).array() += 12;
  const Affinity a = affinity_of(x, 45, 15, monitor);
  TsneOptions options;
  options.max_iter = 600;
  const MatrixXd start = random_start(300, 2, 1e-4, rng);
  const TsneResult whole = tsne_run(a.p, tsne_start(start, options), options, TsneWatch(), monitor);
  CHECK(whole.exact && whole.convergence.converged);
  ForceOptions exact;
  exact.theta = 0;
  CHECK_NEAR(tsne_gradient(a.p, whole.state.y.transpose(), exact, monitor).cost, whole.cost, 1e-12);
  double at_end_of_exaggeration = 0;
  for (const TracePoint& t : whole.trace)
    if (t.iteration == 250) at_end_of_exaggeration = t.cost;
  CHECK(whole.cost < at_end_of_exaggeration);
  options.max_iter = 300;
  const TsneResult half = tsne_run(a.p, tsne_start(start, options), options, TsneWatch(), monitor);
  const TsneResult rest = tsne_run(a.p, half.state, options, TsneWatch(), monitor);
  CHECK(rest.state.y == whole.state.y);
  options.threads = 2;
  CHECK(tsne_run(a.p, half.state, options, TsneWatch(), monitor).state.y == whole.state.y);
  // Ended from outside.
  int calls = 0;
  const TsneResult stopped = tsne_run(
      a.p, tsne_start(start, options), options, [&](int, MatrixXd, double) { return ++calls < 3; }, monitor);
  CHECK(stopped.state.iterations == 150 && calls == 3);
  // A rate that throws the map out of the numbers is halved until it does not.
  options.max_iter = 100;
  options.rate = 1e9;
  const TsneResult wild = tsne_run(a.p, tsne_start(start, options), options, TsneWatch(), monitor);
  CHECK(wild.restarts > 0 && wild.state.y.allFinite() && wild.state.rate < 1e9);
}

TEST("a new point lands where its cost is least on a grid around it") {
  Monitor monitor;
  Rng rng(5);
  MatrixXd x = normals(200, 3, rng);
  x.topRows(100).array() += 4;
  const Affinity a = affinity_of(x, 30, 10, monitor);
  TsneOptions options;
  options.max_iter = 400;
  const MatrixXd map =
      tsne_run(a.p, tsne_start(random_start(200, 2, 1e-4, rng), options), options, TsneWatch(), monitor).state.y.transpose();
  NeighbourOptions near;
  near.k = 30;
  const MatrixXd fresh = normals(5, 3, rng);
  const Neighbours found = nearest_neighbours(view(x), view(fresh), near, monitor);
  PlaceOptions how;
  how.perplexity = 10;
  how.force.theta = 0;
  const Places places = place_points(map, found, how, monitor);
  for (Index i = 0; i < 5; ++i) {
    VectorXd p(30);
    calibrate(found.distance.col(i).data(), 30, 10, p.data());
    const auto cost = [&](const Eigen::RowVectorXd& y) {
      double sum = 0, mass = 0;
      for (Index j = 0; j < 200; ++j) mass += 1 / (1 + (map.row(j) - y).squaredNorm());
      for (Index e = 0; e < 30; ++e)
        sum += p[e] * (std::log(p[e]) + std::log1p((map.row(found.index(e, i)) - y).squaredNorm()) + std::log(mass));
      return sum;
    };
    CHECK_NEAR(cost(places.y.row(i)), places.cost[i], 1e-10);
    for (const double step : {0.05, 0.5}) {
      for (int turn = 0; turn < 8; ++turn) {
        Eigen::RowVectorXd by(2);
        by << step * std::cos(turn * 0.785), step * std::sin(turn * 0.785);
        CHECK(cost(places.y.row(i) + by) > places.cost[i] - 1e-6);
      }
    }
  }
}

TEST("a map that is the data keeps all neighbours; a random one keeps few") {
  Monitor monitor;
  Rng rng(6);
  const MatrixXd x = normals(120, 2, rng);
  MapSource source;
  source.x = view(x);
  source.n = 120;
  std::vector<int> all(120);
  for (int i = 0; i < 120; ++i) all[static_cast<std::size_t>(i)] = i;
  const MapQuality same = map_quality(source, x, 8, all, 2, monitor);
  CHECK_NEAR(same.trustworthiness, 1, 1e-15);
  CHECK_NEAR(same.continuity, 1, 1e-15);
  CHECK_NEAR(same.preservation, 1, 1e-15);
  const MapQuality other = map_quality(source, normals(120, 2, rng), 8, all, 1, monitor);
  CHECK(other.preservation < 0.2 && other.trustworthiness < 0.65);
}

TEST("principal components: dense and sparse rows give the same, and new rows go where old ones went") {
  Monitor monitor;
  Rng rng(7);
  MatrixXd x = normals(80, 30, rng);
  for (Index j = 0; j < 30; ++j) x.col(j) *= 30.0 - static_cast<double>(j);
  const SparseMatrix thin = x.sparseView();
  const Design sparse(
      ConstSparseMap(thin.rows(), thin.cols(), thin.nonZeros(), thin.outerIndexPtr(), thin.innerIndexPtr(), thin.valuePtr()));
  const ReducedRows dense = reduce_rows(view(x), 5, monitor), other = reduce_rows(sparse, 5, monitor);
  CHECK_NEAR((dense.rows.cwiseAbs() - other.rows.cwiseAbs()).cwiseAbs().maxCoeff(), 0, 1e-6);
  CHECK_NEAR((reduce_more(view(x), dense.centre, dense.rotation, dense.unit) - dense.rows).norm(), 0, 1e-12);
  CHECK_NEAR(dense.rows.colwise().mean().norm(), 0, 1e-12);
  const MatrixXd start = principal_start(view(x), 2, 1e-4, monitor);
  CHECK_NEAR(std::sqrt(start.col(0).squaredNorm() / 80), 1e-4, 1e-15);
  CHECK_NEAR(principal_start(view(MatrixXd::Constant(9, 3, 2.0)), 2, 1e-4, monitor).norm(), 0, 0);
}
