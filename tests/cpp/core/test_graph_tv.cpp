// Graph total variation: enumeration of all sign patterns, the certificate worked out here, chains, weights, warm starts, scales.
#include <algorithm>
#include <limits>

#include "core/base/errors.h"
#include "core/prox/graph_tv.h"
#include "core/prox/proximal.h"
#include "core/random/rng.h"
#include "core/graph/union_find.h"
#include "harness.h"

using namespace granary;

namespace {

VectorXd draws(Index n, Rng& rng) {
  VectorXd y(n);
  for (Index i = 0; i < n; ++i) y[i] = rng.normal();
  return y;
}

double objective(const EdgeList& edges, const VectorXd& y, const VectorXd& lambda, double l1, const VectorXd& w,
                 const VectorXd& x) {
  double value = (0.5 * w.array() * (x - y).array().square() + l1 * w.array() * x.array().abs()).sum();
  for (std::size_t e = 0; e < edges.size(); ++e) value += lambda[e] * std::abs(x[edges[e].first] - x[edges[e].second]);
  return value;
}

// The optimum without l1 has some sign pattern of the differences: for each, the values that would go with it, and the best of
// them.
VectorXd enumerate(int n, const EdgeList& edges, const VectorXd& y, const VectorXd& lambda, const VectorXd& w) {
  const int m = static_cast<int>(edges.size());
  int patterns = 1;
  for (int e = 0; e < m; ++e) patterns *= 3;
  double best = std::numeric_limits<double>::infinity();
  VectorXd best_x = y;
  for (int code = 0; code < patterns; ++code) {
    UnionFind groups(n);
    VectorXd mass = w.cwiseProduct(y);
    for (int e = 0, rest = code; e < m; ++e, rest /= 3) {
      const int sign = rest % 3 - 1;
      if (sign == 0) groups.unite(edges[e].first, edges[e].second);
      mass[edges[e].first] -= sign * lambda[e];
      mass[edges[e].second] += sign * lambda[e];
    }
    VectorXd top = VectorXd::Zero(n), bottom = top, x(n);
    for (int i = 0; i < n; ++i) {
      top[groups.find(i)] += mass[i];
      bottom[groups.find(i)] += w[i];
    }
    for (int i = 0; i < n; ++i) x[i] = top[groups.find(i)] / bottom[groups.find(i)];
    const double value = objective(edges, y, lambda, 0, w, x);
    if (value < best) {
      best = value;
      best_x = x;
    }
  }
  return best_x;
}

EdgeList random_edges(int n, int m, Rng& rng) {
  EdgeList all, some;
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < j; ++i) all.emplace_back(i, j);
  }
  for (const int k :
       rng.sample_without_replacement(static_cast<int>(all.size()), std::min<int>(m, static_cast<int>(all.size())))) {
    some.push_back(rng.bernoulli(0.5) ? all[k] : std::make_pair(all[k].second, all[k].first));
  }
  return some;
}

// Conditions from the definition: |f| <= lambda, f = lambda sign where values differ, x = soft((w y - out) / w, l1).
double violation(const EdgeList& edges, const VectorXd& y, const VectorXd& lambda, double l1, const VectorXd& w,
                 const VectorXd& x, const VectorXd& f) {
  double worst = 0;
  VectorXd mass = w.cwiseProduct(y);
  for (std::size_t e = 0; e < edges.size(); ++e) {
    const double gap = x[edges[e].first] - x[edges[e].second];
    worst = std::max(worst, std::abs(f[e]) - lambda[e]);
    if (gap != 0) worst = std::max(worst, std::abs(gap) * std::abs(f[e] - (gap > 0 ? lambda[e] : -lambda[e])));
    mass[edges[e].first] -= f[e];
    mass[edges[e].second] += f[e];
  }
  return std::max(worst, (x - soft_threshold(mass.cwiseQuotient(w), l1)).cwiseAbs().maxCoeff());
}

}  // namespace

TEST("graph total variation equals the best of all sign patterns") {
  Rng rng(1);
  Monitor monitor;
  for (int round = 0; round < 60; ++round) {
    const int n = 3 + round % 5, m = 2 + round % 6;
    const EdgeList edges = random_edges(n, m, rng);
    const VectorXd y = draws(n, rng);
    VectorXd w(n), lambda(static_cast<Index>(edges.size()));
    for (Index i = 0; i < n; ++i) w[i] = round % 2 ? 1.0 : rng.uniform(0.3, 3);
    for (Index e = 0; e < lambda.size(); ++e) lambda[e] = round % 7 == 0 && e == 0 ? 0.0 : rng.uniform(0, 1);
    GraphTv tv(n, edges);
    const VectorXd truth = enumerate(n, edges, y, lambda, w);
    const GraphTvResult fit = tv.solve(y, lambda, 0, monitor, w);
    CHECK((fit.x - truth).cwiseAbs().maxCoeff() < 1e-12);
    CHECK(std::abs(fit.gap) < 1e-12);
    CHECK_NEAR(fit.objective, objective(edges, y, lambda, 0, w, truth), 1e-12);
    // The l1 part is a threshold of that.
    const GraphTvResult sparse = tv.solve(y, lambda, 0.3, monitor, w);
    CHECK((sparse.x - soft_threshold(truth, 0.3)).cwiseAbs().maxCoeff() < 1e-12);
    CHECK(std::abs(sparse.gap) < 1e-12);
    CHECK(violation(edges, y, lambda, 0.3, w, sparse.x, tv.flow()) < 1e-12);
  }
}

TEST("graph total variation on grids is certified, with and without l1, cold and warm") {
  Rng rng(2);
  Monitor monitor;
  const EdgeList edges = grid_edges(17, 23);
  GraphTv tv(17 * 23, edges);
  const VectorXd w = VectorXd::Ones(17 * 23);
  for (const double scale : {1e-8, 1.0, 1e8}) {
    for (const double lambda : {0.0, 0.05, 0.5, 5.0, 500.0}) {
      VectorXd y = scale * draws(17 * 23, rng);
      y.head(150).array() += 2 * scale;
      const VectorXd l = VectorXd::Constant(static_cast<Index>(edges.size()), lambda * scale);
      for (const double l1 : {0.0, 0.4}) {
        tv.forget();
        const GraphTvResult cold = tv.solve(y, l, l1 * scale, monitor);
        CHECK(violation(edges, y, l, l1 * scale, w, cold.x, tv.flow()) < 1e-11 * scale * scale + 1e-11 * scale);
        CHECK(std::abs(cold.gap) < 1e-10 * scale * scale);
        const GraphTvResult warm = tv.solve(1.01 * y, l, l1 * scale, monitor);
        tv.forget();
        const GraphTvResult again = tv.solve(1.01 * y, l, l1 * scale, monitor);
        CHECK((warm.x - again.x).cwiseAbs().maxCoeff() < 1e-10 * scale);
      }
    }
  }
  VectorXd y = draws(17 * 23, rng);
  const GraphTvResult mean = tv.solve(y, VectorXd::Constant(1, 1000), 0, monitor);
  CHECK((mean.x.array() - y.mean()).abs().maxCoeff() < 1e-12);
  CHECK(*std::max_element(mean.block.begin(), mean.block.end()) == 0);
}

TEST("graph total variation: chains, rings, pieces and single nodes") {
  Rng rng(3);
  Monitor monitor;
  EdgeList chain;
  for (int i = 0; i + 1 < 40; ++i) chain.emplace_back(i % 2 ? i : i + 1, i % 2 ? i + 1 : i);
  GraphTv tv(40, chain);
  CHECK(tv.all_paths());
  const VectorXd y = draws(40, rng);
  const GraphTvResult fit = tv.solve(y, VectorXd::Constant(1, 0.7), 0.1, monitor);
  CHECK((fit.x - prox_fused_lasso(y, 0.1, 0.7)).cwiseAbs().maxCoeff() < 1e-13);
  CHECK(violation(chain, y, VectorXd::Constant(39, 0.7), 0.1, VectorXd::Ones(40), fit.x, tv.flow()) < 1e-12);
  CHECK(std::abs(fit.gap) < 1e-12);

  // A cut ring: one edge without weight leaves the chain.
  EdgeList ring = chain;
  ring.emplace_back(39, 0);
  GraphTv closed(40, ring);
  CHECK(!closed.all_paths());
  VectorXd lambda = VectorXd::Constant(40, 0.7);
  lambda[39] = 0;
  CHECK((closed.solve(y, lambda, 0.1, monitor).x - fit.x).cwiseAbs().maxCoeff() < 1e-12);

  GraphTv pieces(6, {{4, 3}, {0, 1}});
  CHECK(pieces.all_paths());
  VectorXd z(6), expected(6), got(6);
  z << 0, 2, 5, -1, 1, 3;
  expected << 0.5, 1.5, 5, -0.5, 0.5, 3;
  pieces.solve(z, 0.5, 0, monitor, got);
  CHECK((got - expected).cwiseAbs().maxCoeff() < 1e-15);
  GraphTv alone(1, {});
  CHECK_NEAR(alone.solve(VectorXd::Constant(1, 3), VectorXd::Constant(1, 1), 1, monitor).x[0], 2, 0);
  GraphTv none(0, {});
  CHECK(none.solve(VectorXd(), VectorXd::Constant(1, 1), 0, monitor).x.size() == 0);
}

TEST("graph total variation counts grid edges and refuses bad graphs and numbers") {
  CHECK(grid_edges(3, 4).size() == 17);
  CHECK(grid_edges(2, 2, 2).size() == 12);
  Monitor monitor;
  CHECK_THROWS(GraphTv(3, {{0, 0}}), InputError);
  CHECK_THROWS(GraphTv(3, {{0, 3}}), InputError);
  CHECK_THROWS(GraphTv(3, {{0, 1}, {1, 0}}), InputError);
  CHECK_THROWS(grid_edges(0, 3), InputError);
  GraphTv tv(3, {{0, 1}, {1, 2}, {0, 2}});
  const VectorXd y = VectorXd::Ones(3), one = VectorXd::Ones(1);
  CHECK_THROWS(tv.solve(VectorXd::Ones(2), one, 0, monitor), InputError);
  CHECK_THROWS(tv.solve(y, VectorXd::Ones(2), 0, monitor), InputError);
  CHECK_THROWS(tv.solve(y, -one, 0, monitor), InputError);
  CHECK_THROWS(tv.solve(y, one, -1, monitor), InputError);
  CHECK_THROWS(tv.solve(y, one, 0, monitor, VectorXd::Zero(3)), InputError);
  VectorXd bad = y;
  bad[1] = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS(tv.solve(bad, one, 0, monitor), InputError);
}

TEST("graph total variation with a threshold of its own at every node, on grids, trees and chains") {
  Rng rng(4);
  Monitor monitor;
  EdgeList tree, chain;
  for (int i = 1; i < 60; ++i) {
    tree.emplace_back(i, (i - 1) / 2);
    chain.emplace_back(i - 1, i);
  }
  for (const EdgeList& edges : {grid_edges(6, 10), tree, chain}) {
    for (int round = 0; round < 10; ++round) {
      const VectorXd y = 2 * draws(60, rng);
      VectorXd w(60), t(60), lambda(static_cast<Index>(edges.size()));
      for (Index i = 0; i < 60; ++i) {
        w[i] = rng.uniform(0.3, 3);
        t[i] = rng.uniform(0, 1.5);
      }
      for (Index e = 0; e < lambda.size(); ++e) lambda[e] = rng.uniform(0, 0.8);
      GraphTv tv(60, edges), up(60, edges), down(60, edges);
      const GraphTvResult fit = tv.solve_thresholded(y, lambda, t, monitor, w);
      CHECK(std::abs(fit.gap) < 1e-11);
      // The positive part is that of y moved down by t / w, the negative part that of y moved up.
      const VectorXd above = up.solve(y - t.cwiseQuotient(w), lambda, 0, monitor, w).x;
      const VectorXd below = down.solve(y + t.cwiseQuotient(w), lambda, 0, monitor, w).x;
      CHECK((fit.x - above.cwiseMax(0) - below.cwiseMin(0)).cwiseAbs().maxCoeff() < 1e-11);
      CHECK((fit.x.array() == 0).any());
    }
  }
  GraphTv tv(3, {{0, 1}, {1, 2}, {0, 2}});
  CHECK_THROWS(tv.solve_thresholded(VectorXd::Ones(3), VectorXd::Ones(1), VectorXd::Ones(2), monitor), InputError);
  CHECK_THROWS(tv.solve_thresholded(VectorXd::Ones(3), VectorXd::Ones(1), -VectorXd::Ones(3), monitor), InputError);
}

TEST("graph total variation on large grids and volumes, which start from sweeps, is certified") {
  Rng rng(5);
  Monitor monitor;
  const VectorXd y = draws(3600, rng);
  VectorXd w(3600);
  for (Index i = 0; i < 3600; ++i) w[i] = rng.uniform(0.5, 2);
  for (const EdgeList& edges : {grid_edges(60, 60), grid_edges(12, 20, 15)}) {
    GraphTv tv(3600, edges);
    VectorXd lambda(static_cast<Index>(edges.size()));
    for (Index e = 0; e < lambda.size(); ++e) lambda[e] = rng.uniform(0, 1);
    const GraphTvResult fit = tv.solve(y, lambda, 0, monitor, w);
    CHECK(std::abs(fit.gap) < 1e-9);
    CHECK(violation(edges, y, lambda, 0, w, fit.x, tv.flow()) < 1e-10);
  }
}
