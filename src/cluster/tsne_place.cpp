#include "cluster/tsne_place.h"

#include <algorithm>
#include <cmath>

#include "core/base/parallel.h"

namespace granary::cluster {

namespace {

// The cost of one new point at y, and its forces.
struct OnePoint {
  const SpaceTree& tree;
  ConstMatrixRef points;  // dim x n
  const int* row;
  const double* p;
  Index k;
  const PlaceOptions& options;

  double cost = 0, curvature = 0;
  double pull[3] = {0, 0, 0}, push[3] = {0, 0, 0};

  void look(const double* y) {
    const auto dim = static_cast<int>(points.rows());
    const MapType type = options.force.type;
    const bool student = type == MapType::tsne;
    cost = curvature = 0;
    std::fill(pull, pull + 3, 0.0);
    for (Index e = 0; e < k; ++e) {
      if (!(p[e] > 0)) continue;
      double by[3], s = 0;
      for (int j = 0; j < dim; ++j) {
        by[j] = y[j] - points(j, row[e]);
        s += by[j] * by[j];
      }
      const double w = p[e] / (student ? 1 + s : 1);
      curvature += w;
      for (int j = 0; j < dim; ++j) pull[j] += w * by[j];
      cost += p[e] * (student ? std::log1p(s) : s) + (type == MapType::elastic ? 0 : p[e] * std::log(p[e]));
    }
    const double mass = body_sums_at(tree, body_options(options.force), y, push);
    const double factor = type == MapType::elastic ? options.force.lambda / static_cast<double>(tree.size()) : 1 / mass;
    cost += type == MapType::elastic ? factor * mass : std::log(mass);
    for (int j = 0; j < dim; ++j) push[j] *= factor;
  }
};

}  // namespace

Places place_points(ConstMatrixRef map, const Neighbours& near, const PlaceOptions& options, Monitor& monitor) {
  const MatrixXd points = map.transpose();
  const auto dim = static_cast<int>(points.rows());
  const Index m = near.index.cols(), k = near.index.rows();
  SpaceTree tree(dim, map_leaf_size);
  tree.build(points);
  Places out{MatrixXd(m, dim), VectorXd(m), VectorXd(m), VectorXi(m)};
  parallel_for(m, options.force.threads, monitor, [&](Index i) {
    VectorXd p(k);
    calibrate(near.distance.col(i).data(), k, options.perplexity, p.data());
    VectorXd y = VectorXd::Zero(dim), next(dim);
    for (Index e = 0; e < k; ++e) y += p[e] * points.col(near.index(e, i));
    OnePoint here{tree, points, near.index.col(i).data(), p.data(), k, options}, there = here;
    here.look(y.data());
    const auto imbalance = [&](const OnePoint& at) {
      double net = 0, attraction = 0, repulsion = 0;
      for (int j = 0; j < dim; ++j) {
        net += (at.pull[j] - at.push[j]) * (at.pull[j] - at.push[j]);
        attraction += at.pull[j] * at.pull[j];
        repulsion += at.push[j] * at.push[j];
      }
      const double size = std::sqrt(attraction) + std::sqrt(repulsion);
      return size > 0 ? std::sqrt(net) / size : 0;
    };
    int iteration = 0;
    for (bool moved = true; moved && iteration < options.max_iter && imbalance(here) > options.tol; ++iteration) {
      moved = false;
      for (double share = 1; !moved && share > 1e-8; share /= 2) {
        for (int j = 0; j < dim; ++j) next[j] = y[j] - share * (here.pull[j] - here.push[j]) / here.curvature;
        there.look(next.data());
        moved = there.cost < here.cost;
      }
      if (!moved) break;
      y = next;
      std::copy(there.pull, there.pull + 3, here.pull);
      std::copy(there.push, there.push + 3, here.push);
      here.cost = there.cost;
      here.curvature = there.curvature;
    }
    out.y.row(i) = y.transpose();
    out.cost[i] = here.cost;
    out.residual[i] = imbalance(here);
    out.iterations[i] = iteration;
  });
  return out;
}

}  // namespace granary::cluster
