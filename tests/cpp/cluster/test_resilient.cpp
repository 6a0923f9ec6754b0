#include <cmath>
#include <limits>

#include "cluster/cut_stability.h"
#include "cluster/k_center.h"
#include "cluster/max_cut.h"
#include "cluster/multiway_cut.h"
#include "cluster/multiway_relaxation.h"
#include "cluster/resilient_cluster.h"
#include "core/base/errors.h"
#include "harness.h"

using namespace granary;
using namespace granary::cluster;

namespace {

MatrixXd distances(const MatrixXd& x) {
  MatrixXd d(x.rows(), x.rows());
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.rows(); ++j) d(i, j) = (x.row(i) - x.row(j)).norm();
  return d;
}
MatrixXd draws(Index n, Index p, Rng& rng) {
  MatrixXd x(n, p);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < p; ++j) x(i, j) = rng.normal();
  return x;
}
WeightedEdges random_graph(Index n, double share, Rng& rng) {
  std::vector<int> from, to;
  std::vector<double> weight;
  for (int a = 0; a < n; ++a)
    for (int b = a + 1; b < n; ++b)
      if (rng.uniform() < share) {
        from.push_back(a);
        to.push_back(b);
        weight.push_back(0.5 + 4 * rng.uniform());
      }
  const auto size = static_cast<Index>(weight.size());
  return {n, Eigen::Map<VectorXi>(from.data(), size), Eigen::Map<VectorXi>(to.data(), size), Eigen::Map<VectorXd>(weight.data(), size)};
}

}  // namespace

TEST("a metric has no detours, and a stretched distance is told by its share") {
  Rng rng(1);
  Monitor monitor;
  MatrixXd d = distances(draws(12, 2, rng));
  CHECK(triangle_violation(d, 2, monitor) < 1e-12);
  Index w = 2;
  for (Index v = 2; v < 12; ++v)
    if (d(0, v) + d(v, 1) < d(0, w) + d(w, 1)) w = v;
  const double way = d(0, w) + d(w, 1);
  d(0, 1) = d(1, 0) = 2 * way;
  CHECK_NEAR(triangle_violation(d, 1, monitor), 0.5, 1e-12);
}

TEST("costs of tree prunings are those of their labels and medoids, and never rise with k") {
  Rng rng(2);
  Monitor monitor;
  const MatrixXd d = distances(draws(25, 3, rng));
  for (const auto objective : {CenterObjective::median, CenterObjective::means, CenterObjective::center})
    for (const bool closure : {true, false}) {
      const TreePrunings all(d, closure ? closure_tree(d, 1, monitor) : single_tree(d, monitor), objective, 25, monitor);
      for (Index k = 1; k <= 25; ++k) {
        VectorXi label, medoid;
        all.cut(k, label, medoid);
        CHECK_NEAR(center_cost(d, label, medoid, objective), all.cost(k), 1e-9 * (1 + all.cost(k)));
        CHECK(label.maxCoeff() == k - 1);
        if (k > 1) CHECK(all.cost(k) <= all.cost(k - 1) + 1e-12);
        for (Index h = 0; h < k; ++h) CHECK(label[medoid[h]] == h);
      }
      CHECK_NEAR(all.cost(25), 0, 0);
    }
}

TEST("the adversarial metric is a metric between d / alpha and d") {
  Rng rng(3);
  Monitor monitor;
  const MatrixXd d = distances(draws(10, 2, rng));
  const Index p = 4, own = 1, other = 7;
  const double alpha = d(p, other) / d(p, own);
  if (alpha > 1) {
    const MatrixXd changed = adversarial_metric(d, p, own, other);
    CHECK(triangle_violation(changed, 1, monitor) < 1e-12);
    CHECK((changed.array() <= d.array() + 1e-12).all());
    CHECK((changed.array() * alpha >= d.array() - 1e-12).all());
    CHECK_NEAR(changed(p, other), d(p, own), 1e-12);
  }
}

TEST("the two solvers of the multiway relaxation have the same value, and their bounds are below all cuts") {
  Rng rng(4);
  Monitor monitor;
  for (int trial = 0; trial < 5; ++trial) {
    const WeightedEdges g = random_graph(9, 0.6, rng);
    const std::vector<Index> terminals{0, 1, 2};
    const MultiwayRelaxation small = relax_multiway(g, terminals, 1e-9, 50000, monitor);
    CHECK(small.vertex);
    // The same graph with a disconnected appendix is too large for the simplex method.
    WeightedEdges large = g;
    const Index extra = 60;
    large.nodes += extra;
    large.from.conservativeResize(g.size() + extra - 1);
    large.to.conservativeResize(g.size() + extra - 1);
    large.weight.conservativeResize(g.size() + extra - 1);
    for (Index i = 0; i + 1 < extra; ++i) {
      large.from[g.size() + i] = static_cast<int>(g.nodes + i);
      large.to[g.size() + i] = static_cast<int>(g.nodes + i + 1);
      large.weight[g.size() + i] = 1;
    }
    const MultiwayRelaxation first_order = relax_multiway(large, terminals, 1e-9, 50000, monitor);
    CHECK(!first_order.vertex);
    CHECK_NEAR(first_order.value, small.value, 1e-6 * small.value);
    CHECK(first_order.bound <= small.value * (1 + 1e-12));
    MultiwayOptions exact;
    exact.method = MultiwayMethod::exact;
    const MultiwayResult best = multiway_cut(g, terminals, exact, rng, monitor);
    CHECK(best.optimal);
    CHECK(small.bound <= best.objective * (1 + 1e-9));
  }
}

TEST("improving a cut gains exactly what it says") {
  Rng rng(5);
  Monitor monitor;
  for (const Index n : {12, 40}) {
    const WeightedEdges g = random_graph(n, 0.4, rng);
    VectorXi part(n);
    for (Index v = 0; v < n; ++v) part[v] = static_cast<int>(rng.below(2));
    const CutImprovement step = improve_cut(g, part, monitor);
    CHECK(!step.flip.empty());
    VectorXi after = part;
    for (Index v = 0; v < n; ++v)
      if (step.flip[static_cast<std::size_t>(v)]) after[v] = 1 - after[v];
    CHECK_NEAR(cut_weight(g, after) - cut_weight(g, part), step.gain, 1e-9);
    CHECK(step.gain > 0);
  }
}

TEST("the bound of the vectors is above every cut, also far from their optimum") {
  Rng rng(6);
  Monitor monitor;
  const WeightedEdges g = random_graph(16, 0.5, rng);
  MaxCutOptions options;
  options.method = MaxCutMethod::exact;
  const double best = max_cut(g, options, rng, monitor).objective;
  for (const int sweeps : {1, 3, 1000}) {
    options.method = MaxCutMethod::relaxation;
    options.max_iter = sweeps;
    CHECK(max_cut(g, options, rng, monitor).upper_bound >= best * (1 - 1e-12));
  }
}

TEST("k-center search that runs out of nodes does not claim to be exact") {
  Rng rng(7);
  Monitor monitor;
  const MatrixXd d = distances(draws(60, 2, rng));
  KCenterOptions options;
  options.k = 8;
  options.method = KCenterMethod::exact;
  options.max_nodes = 2;
  const KCenterResult found = k_center(60, [&](Index i) -> VectorXd { return d.col(i); }, options, monitor);
  CHECK(found.exact == found.convergence.converged);
  CHECK(found.lower_bound <= found.objective);
}
