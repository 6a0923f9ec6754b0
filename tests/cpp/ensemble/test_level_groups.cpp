// Grouping of levels against the enumeration of all partitions.
#include <cmath>
#include <functional>
#include <limits>

#include "core/cluster/interval_partition.h"
#include "core/math/special.h"
#include "core/random/rng.h"
#include "ensemble/level_groups.h"
#include "harness.h"

using namespace granary;
using namespace granary::ensemble;

namespace {

MatrixXd random_table(Rng& rng, Index levels, Index classes) {
  MatrixXd out(levels, classes);
  for (Index i = 0; i < levels; ++i)
    for (Index j = 0; j < classes; ++j) out(i, j) = static_cast<double>(rng.poisson(8 * rng.exponential()));
  for (Index i = 0; i < levels; ++i)
    if (out.row(i).sum() == 0) out(i, 0) = 1;
  return out;
}

double least_cost(const MatrixXd& counts, int groups = 0) {
  const Index n = counts.rows();
  VectorXi group = VectorXi::Zero(n);
  double best = std::numeric_limits<double>::infinity();
  const std::function<void(Index, int)> place = [&](Index i, int open) {
    if (i == n) {
      if (groups == 0 || open == groups) best = std::min(best, level_cost(counts, group, open).cost);
      return;
    }
    for (int k = 0; k <= open; ++k) {
      group[i] = k;
      place(i + 1, std::max(open, k + 1));
    }
  };
  place(0, 0);
  return best;
}

}  // namespace

TEST("levels: numbers of partitions are exact, and far beyond doubles too") {
  const double stirling[] = {1, 511, 9330, 34105, 42525, 22827, 5880, 750, 45, 1};
  const PartitionCounts found = partition_counts(10, 10);
  double sum = 0;
  for (int k = 0; k < 10; ++k) {
    sum += stirling[k];
    CHECK_NEAR(found.log_stirling[static_cast<std::size_t>(k)], std::log(stirling[k]), 1e-12);
    CHECK_NEAR(found.log_bell[static_cast<std::size_t>(k)], std::log(sum), 1e-12);
  }
  const PartitionCounts large = partition_counts(100000, 3);
  CHECK_NEAR(large.log_stirling[1], 99999 * std::log(2.0), 1e-6);
  CHECK_NEAR(large.log_stirling[2], 99999 * std::log(3.0) - std::log(2.0), 1e-6);
  CHECK(partition_counts(5, 50).log_bell.size() == 5);
}

TEST("levels: no partition costs less; bounds hold; the greedy search never claims less") {
  Rng rng(1);
  Monitor monitor;
  for (int run = 0; run < 120; ++run) {
    const MatrixXd counts = random_table(rng, 2 + static_cast<Index>(rng.below(6)), 2 + static_cast<Index>(rng.below(3)));
    const double best = least_cost(counts);
    LevelOptions options;
    const LevelGroups found = level_groups(counts, options, monitor);
    CHECK(found.exact);
    CHECK_NEAR(found.cost, best, 1e-9);
    CHECK_NEAR(found.convergence.gap, 0, 1e-9);
    options.search = GroupSearch::greedy;
    const LevelGroups greedy = level_groups(counts, options, monitor);
    CHECK(greedy.cost >= best - 1e-9 && greedy.lower <= best + 1e-9);
    options.search = GroupSearch::automatic;
    options.max_exact = 2;  // two classes: intervals of least entropy
    const LevelGroups near = level_groups(counts, options, monitor);
    CHECK(near.cost >= best - 1e-9 && near.lower <= best + 1e-9);
  }
}

TEST("levels: a given number of groups") {
  Rng rng(2);
  Monitor monitor;
  for (int run = 0; run < 30; ++run) {
    const MatrixXd counts = random_table(rng, 6, 2 + static_cast<Index>(rng.below(2)));
    for (int k = 1; k <= 6; ++k) {
      LevelOptions options;
      options.groups = k;
      const LevelGroups found = level_groups(counts, options, monitor);
      CHECK(found.table.rows() == k);
      CHECK_NEAR(found.cost, least_cost(counts, k), 1e-9);
    }
  }
}

TEST("levels: reported costs are recomputed from scratch, whatever the method") {
  Rng rng(3);
  Monitor monitor;
  const MatrixXd counts = random_table(rng, 60, 3);
  for (const auto& [method, name] : names(GroupMethod())) {
    LevelOptions options;
    options.method = method;
    const LevelGroups found = level_groups(counts, options, monitor);
    const LevelGroups again = level_cost(counts, found.group, found.group.maxCoeff() + 1);
    CHECK_NEAR(found.cost, again.cost, 1e-9);
    CHECK_NEAR(found.cost, found.choice_cost + found.partition_cost + found.class_cost + found.data_cost, 1e-9);
    CHECK_NEAR((found.table - again.table).cwiseAbs().maxCoeff(), 0, 0);
    (void)name;
  }
}

TEST("levels: a class that never occurs, one class, one level, one case each") {
  Monitor monitor;
  MatrixXd counts(3, 3);
  counts << 5, 1, 0, 2, 7, 0, 4, 4, 0;
  CHECK_NEAR(level_groups(counts, {}, monitor).cost, least_cost(counts), 1e-9);
  CHECK(level_groups(MatrixXd::Constant(4, 1, 3), {}, monitor).table.rows() == 1);
  CHECK(level_groups(MatrixXd::Constant(1, 4, 3), {}, monitor).table.rows() == 1);
  MatrixXd single = MatrixXd::Zero(200, 2);
  for (Index i = 0; i < 200; ++i) single(i, i % 2) = 1;
  CHECK(level_groups(single, {}, monitor).table.rows() == 1);
  CHECK_THROWS(level_groups(MatrixXd::Zero(2, 2), {}, monitor), InputError);
  LevelOptions options;
  options.groups = 5;
  CHECK_THROWS(level_groups(counts, options, monitor), InputError);
}

TEST("levels: counts of 1e8 and more") {
  Monitor monitor;
  MatrixXd counts(4, 2);
  counts << 3e8, 1e8, 3e8 + 1, 1e8, 1e8, 3e8, 5, 5;
  const LevelGroups found = level_groups(counts, {}, monitor);
  CHECK_NEAR(found.cost / least_cost(counts), 1, 1e-12);
  CHECK(found.group[0] == found.group[1]);
}

TEST("intervals: both ways of filling a layer agree where the cost allows both") {
  Rng rng(4);
  Monitor monitor;
  const Index m = 80;
  VectorXd x(m), sum = VectorXd::Zero(m + 1), square = VectorXd::Zero(m + 1);
  for (Index i = 0; i < m; ++i) x[i] = rng.normal();
  std::sort(x.data(), x.data() + m);
  for (Index i = 0; i < m; ++i) {
    sum[i + 1] = sum[i] + x[i];
    square[i + 1] = square[i] + x[i] * x[i];
  }
  const auto cost = [&](Index a, Index b) {
    const double s = sum[b] - sum[a];
    return square[b] - square[a] - s * s / static_cast<double>(b - a);
  };
  IntervalLayers<decltype(cost)> quick(m, cost, true, monitor), plain(m, cost, false, monitor);
  for (int h = 2; h <= 12; ++h) {
    quick.next();
    plain.next();
    CHECK_NEAR(quick.loss(), plain.loss(), 1e-10);
  }
  CHECK(quick.groups(12).maxCoeff() == 11);
}
