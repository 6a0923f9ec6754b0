#include <algorithm>
#include <cmath>
#include <limits>

#include "core/neighbours/n_body.h"
#include "core/neighbours/neighbours.h"
#include "core/neighbours/vp_tree.h"
#include "core/random/rng.h"
#include "harness.h"

using namespace granary;

namespace {

Design view(const MatrixXd& x) { return Design(MatrixView(x.data(), x.rows(), x.cols())); }

double between(const Eigen::RowVectorXd& a, const Eigen::RowVectorXd& b, Metric metric) {
  if (metric == Metric::manhattan) return (a - b).cwiseAbs().sum();
  if (metric == Metric::maximum) return (a - b).cwiseAbs().maxCoeff();
  if (metric == Metric::euclidean) return (a - b).norm();
  const Eigen::RowVectorXd u = metric == Metric::correlation ? Eigen::RowVectorXd(a.array() - a.mean()) : a;
  const Eigen::RowVectorXd v = metric == Metric::correlation ? Eigen::RowVectorXd(b.array() - b.mean()) : b;
  return 1 - u.dot(v) / (u.norm() * v.norm());
}

// Sorted distances of every row to its k nearest others.
MatrixXd brute(const MatrixXd& x, int k, Metric metric) {
  MatrixXd out(k, x.rows());
  for (Index i = 0; i < x.rows(); ++i) {
    std::vector<double> d;
    for (Index j = 0; j < x.rows(); ++j)
      if (j != i) d.push_back(between(x.row(i), x.row(j), metric));
    std::sort(d.begin(), d.end());
    for (int r = 0; r < k; ++r) out(r, i) = d[static_cast<std::size_t>(r)];
  }
  return out;
}

MatrixXd some_rows(Index n, Index d, Rng& rng, bool duplicates) {
  MatrixXd x(n, d);
  for (Index e = 0; e < x.size(); ++e) x.data()[e] = rng.normal() + 3 * (e % 3);
  for (Index i = 0; duplicates && i + 3 < n; i += 3) x.row(i + 1) = x.row(i);
  return x;
}

}  // namespace

TEST("neighbours of every metric and engine are those of all pairs, duplicates included") {
  Monitor monitor;
  Rng rng(1);
  for (const Index n : {2, 3, 7, 17, 60, 300}) {
    for (const Index d : {1, 2, 5, 12, 40}) {
      const MatrixXd x = some_rows(n, d, rng, n > 7);
      const int k = static_cast<int>(std::min<Index>(n - 1, 9));
      for (const auto& [metric, name] : names(Metric())) {
        if (metric == Metric::correlation && d < 3) continue;
        NeighbourOptions options;
        options.k = k;
        options.metric = metric;
        const MatrixXd wanted = brute(x, k, metric);
        for (const auto& [engine, word] : names(NeighbourEngine())) {
          if ((metric == Metric::manhattan || metric == Metric::maximum) && engine != NeighbourEngine::automatic &&
              engine != NeighbourEngine::vp_tree)
            continue;
          options.method = engine;
          options.threads = 1;
          const Neighbours one = nearest_neighbours(view(x), options, monitor);
          options.threads = 2;
          const Neighbours two = nearest_neighbours(view(x), options, monitor);
          CHECK_NEAR((one.distance - wanted).cwiseAbs().maxCoeff(), 0,
                     1e-7);  // the square root of rounding, for duplicates by cosine
          CHECK(one.index == two.index && one.distance == two.distance);
          for (Index i = 0; i < n; ++i) {
            for (int r = 0; r < k; ++r) {
              CHECK(one.index(r, i) != i);
              if (r > 0 && one.distance(r, i) == one.distance(r - 1, i))
                CHECK(metric == Metric::cosine || metric == Metric::correlation || one.index(r, i) > one.index(r - 1, i));
            }
          }
        }
      }
    }
  }
}

TEST("neighbours: far from the origin and at any scale the engines agree to the last index") {
  Monitor monitor;
  Rng rng(2);
  for (const double scale : {1e-150, 1e-8, 1.0, 1e8, 1e140}) {
    MatrixXd x = some_rows(500, 20, rng, true) * scale;
    x.array() += 1000 * scale;
    NeighbourOptions options;
    options.k = 12;
    std::vector<Neighbours> found;
    for (const NeighbourEngine engine : {NeighbourEngine::kd_tree, NeighbourEngine::blocked, NeighbourEngine::vp_tree}) {
      options.method = engine;
      found.push_back(nearest_neighbours(view(x), options, monitor));
    }
    CHECK(found[0].index == found[1].index);
    CHECK(found[0].index == found[2].index);
    CHECK(found[0].distance == found[1].distance);
  }
}

TEST("neighbours of queries, of sparse rows, of distances and of an own metric") {
  Monitor monitor;
  Rng rng(3);
  const MatrixXd x = some_rows(200, 6, rng, false), q = some_rows(30, 6, rng, false);
  NeighbourOptions options;
  options.k = 5;
  const Neighbours of_queries = nearest_neighbours(view(x), view(q), options, monitor);
  for (Index i = 0; i < q.rows(); ++i) {
    VectorXd d = (x.rowwise() - q.row(i)).rowwise().norm();
    for (int r = 0; r < 5; ++r) CHECK_NEAR(d[of_queries.index(r, i)], of_queries.distance(r, i), 1e-12);
    std::sort(d.data(), d.data() + d.size());
    CHECK_NEAR(d[4], of_queries.distance(4, i), 1e-12);
  }
  MatrixXd holes = x;
  for (Index e = 0; e < holes.size(); ++e)
    if (rng.uniform() < 0.6) holes.data()[e] = 0;
  holes.col(0).setOnes();
  const SparseMatrix thin = holes.sparseView();
  const Design sparse(
      ConstSparseMap(thin.rows(), thin.cols(), thin.nonZeros(), thin.outerIndexPtr(), thin.innerIndexPtr(), thin.valuePtr()));
  for (const Metric metric : {Metric::euclidean, Metric::cosine}) {
    options.metric = metric;
    CHECK_NEAR(
        (nearest_neighbours(sparse, options, monitor).distance - nearest_neighbours(view(holes), options, monitor).distance)
            .cwiseAbs()
            .maxCoeff(),
        0, 1e-12);
  }
  VectorXd lower(200 * 199 / 2);
  Index at = 0;
  for (Index j = 0; j < 200; ++j)
    for (Index i = j + 1; i < 200; ++i) lower[at++] = (x.row(i) - x.row(j)).norm();
  options.metric = Metric::euclidean;
  const Neighbours rows = nearest_neighbours(view(x), options, monitor), known = nearest_neighbours(200, lower, 5, 2, monitor);
  const Neighbours own = nearest_neighbours(
      200, [&](Index i, Index j) { return (x.row(i) - x.row(j)).norm(); }, 5, monitor);
  CHECK(rows.index == known.index);
  CHECK(rows.index == own.index);
  options.k = 200;
  CHECK_THROWS(nearest_neighbours(view(x), options, monitor), InputError);
  options.k = 3;
  options.metric = Metric::cosine;
  MatrixXd zero = x;
  zero.row(4).setZero();
  CHECK_THROWS(nearest_neighbours(view(zero), options, monitor), InputError);
  CHECK_THROWS(nearest_neighbours(
                   20, [](Index, Index) { return -1.0; }, 2, monitor),
               InputError);
}

TEST("space tree: leaves hold every point once, and the root's centre of mass is the mean") {
  Rng rng(4);
  for (const int dim : {1, 2, 3}) {
    for (const Index n : {1, 2, 50, 1000}) {
      MatrixXd y(dim, n);
      for (Index e = 0; e < y.size(); ++e) y.data()[e] = rng.normal();
      for (Index i = 0; i + 40 < n; i += 7) y.col(i) = y.col(0);  // more equal ones than a leaf holds
      SpaceTree tree(dim, 8);
      tree.build(y);
      std::vector<int> seen(static_cast<std::size_t>(n), 0);
      double sum = 0;
      for (const int leaf : tree.leaves) {
        const auto t = static_cast<std::size_t>(leaf);
        sum += tree.count[t];
        for (int i = tree.first[t]; i < tree.last[t]; ++i)
          ++seen[static_cast<std::size_t>(tree.order[static_cast<std::size_t>(i)])];
      }
      CHECK_NEAR(sum, n, 0);
      CHECK(std::all_of(seen.begin(), seen.end(), [](int s) { return s == 1; }));
      for (int j = 0; j < dim; ++j) CHECK_NEAR(tree.centre[static_cast<std::size_t>(j)][0], y.row(j).mean(), 1e-12);
      // Every node's points lie in a cell as wide as it says.
      for (Index t = 0; t < tree.nodes(); ++t) {
        for (int j = 0; j < dim; ++j) {
          const auto from = tree.place[static_cast<std::size_t>(j)].begin();
          const auto [low, high] =
              std::minmax_element(from + tree.first[static_cast<std::size_t>(t)], from + tree.last[static_cast<std::size_t>(t)]);
          CHECK(*high - *low <= tree.side[static_cast<std::size_t>(t)] * (1 + 1e-6));
        }
      }
    }
  }
}

TEST("n-body sums: exact ones by their definition, trees near them, and nearer with smaller theta") {
  Monitor monitor;
  Rng rng(5);
  for (const int dim : {1, 2, 3}) {
    MatrixXd y(dim, 700);
    for (Index e = 0; e < y.size(); ++e) y.data()[e] = 5 * rng.normal();
    y.col(3) = y.col(9);
    SpaceTree tree(dim, 16);
    tree.build(y);
    for (const BodyKernel kernel : {BodyKernel::student, BodyKernel::gaussian}) {
      BodyOptions options;
      options.kernel = kernel;
      options.theta = 0;
      BodySums exact, near, again;
      body_sums(tree, options, exact, monitor);
      for (const Index i : {0, 3, 9, 350}) {
        double mass = 0;
        VectorXd force = VectorXd::Zero(dim);
        for (Index j = 0; j < y.cols(); ++j) {
          const double s = (y.col(i) - y.col(j)).squaredNorm(), k = kernel == BodyKernel::student ? 1 / (1 + s) : std::exp(-s);
          if (j != i) mass += k;
          force += (kernel == BodyKernel::student ? k * k : k) * (y.col(i) - y.col(j));
        }
        CHECK_NEAR(exact.mass[i], mass, 1e-11 * (1 + mass));
        CHECK_NEAR((exact.force.col(i) - force).norm(), 0, 1e-11);
        double at[3];
        CHECK_NEAR(body_sums_at(tree, options, y.col(i).data(), at) - 1, mass, 1e-11 * (1 + mass));
      }
      for (const BodyMethod method : {BodyMethod::barnes_hut, BodyMethod::dual_tree}) {
        double last = std::numeric_limits<double>::infinity();
        for (const double theta : {1.0, 0.5, 0.2, 1e-9}) {
          options.method = method;
          options.theta = theta;
          options.threads = 1;
          body_sums(tree, options, near, monitor);
          options.threads = 2;
          body_sums(tree, options, again, monitor);
          CHECK(near.force == again.force && near.mass == again.mass);
          const double error = (near.force - exact.force).norm() / exact.force.norm();
          CHECK(error <= last);
          last = error;
        }
        CHECK(last < 1e-12);
        options.theta = 0.5;
        options.cell = CellSize::diagonal;  // a stricter condition
        body_sums(tree, options, again, monitor);
        options.cell = CellSize::side;
        body_sums(tree, options, near, monitor);
        if (dim > 1) CHECK((again.force - exact.force).norm() < (near.force - exact.force).norm());
      }
    }
  }
}

TEST("n-body sums: all points equal") {
  Monitor monitor;
  const MatrixXd y = MatrixXd::Constant(2, 200, 3.5);
  SpaceTree tree(2, 8);
  tree.build(y);
  for (const BodyMethod method : {BodyMethod::barnes_hut, BodyMethod::dual_tree, BodyMethod::exact}) {
    BodyOptions options;
    options.method = method;
    BodySums sums;
    body_sums(tree, options, sums, monitor);
    CHECK_NEAR(sums.force.norm(), 0, 0);
    CHECK_NEAR(sums.mass.minCoeff(), 199, 1e-10);
    CHECK_NEAR(sums.mass.maxCoeff(), 199, 1e-10);
  }
}
