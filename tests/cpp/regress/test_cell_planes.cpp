
#include "eigen.h"
#include "core/random/rng.h"
#include "regress/adapt_partition_fit.h"
#include "harness.h"

using namespace granary;
using namespace granary::regress;

TEST("partition: planes have the residuals of least squares in every cell, whether grown or inserted") {
  Rng rng(17);
  Monitor monitor;
  const MasterTree master(Split::cyclic, std::vector<Cuts>(2, Cuts{{-1.0, 3.0}}), {0, 1});
  MatrixXd x(300, 2);
  VectorXd response(300);
  std::vector<Key> keys;
  std::vector<double> places(600);
  for (Index i = 0; i < 300; ++i) {
    x.row(i) << 4 * rng.uniform() - 1, 4 * rng.uniform() - 1;
    response[i] = (x(i, 0) < 0.3) + rng.normal(0, 0.3);
    keys.push_back(master.key(x.row(i)));
    master.place(x.row(i), places.data() + 2 * i);
  }
  PartitionTree tree(master, 1), online(master, 1);
  tree.add_points(keys, response, places);
  tree.grow(6, monitor);
  online.add_points({keys[0]}, response.head(1), {places[0], places[1]});
  online.grow(6, monitor);
  for (Index i = 1; i < 300; ++i) online.insert(keys[i], response[i], places.data() + 2 * i);
  const auto& nodes = tree.nodes();
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    // the cell's points, by the digits on the way from the root
    std::vector<int> way;
    for (int up = static_cast<int>(k); nodes[up].parent >= 0; up = nodes[up].parent) way.insert(way.begin(), nodes[up].digit);
    std::vector<Index> in;
    for (Index i = 0; i < 300; ++i) {
      bool here = true;
      for (std::size_t j = 0; j < way.size(); ++j) here = here && master.digit(keys[i], static_cast<int>(j)) == way[j];
      if (here) in.push_back(i);
    }
    CHECK(static_cast<int>(in.size()) == nodes[k].n);
    MatrixXd design(in.size(), 3);
    VectorXd y(in.size());
    for (std::size_t i = 0; i < in.size(); ++i) {
      design.row(i) << 1, x(in[i], 0), x(in[i], 1);
      y[i] = response[in[i]];
    }
    const VectorXd beta = design.colPivHouseholderQr().solve(y);
    CHECK_NEAR(nodes[k].ss, (y - design * beta).squaredNorm(), 1e-9);
    if (nodes[k].leaf()) continue;
    double parts = 0;
    for (int c = nodes[k].child; c >= 0; c = nodes[c].next) parts += nodes[c].ss;
    CHECK_NEAR(nodes[k].energy, nodes[k].ss - parts, 1e-9);
    CHECK(nodes[k].energy >= 0);
    if (in.size() < 10) continue;
    const double at[2] = {0.3, 0.8};  // of the box, so x = (0.2, 2.2)
    CHECK_NEAR(tree.value(static_cast<int>(k), at), beta[0] + 0.2 * beta[1] + 2.2 * beta[2], 1e-8);
  }
  for (const double level : {0.1, 0.5, 2.0}) {
    PartitionOptions options;
    options.level = level;
    const Partition batch(tree, options), stream(online, options);
    CHECK_NEAR(batch.count(), stream.count(), 0);
    CHECK_NEAR(batch.sse(), stream.sse(), 1e-9);
  }
}
