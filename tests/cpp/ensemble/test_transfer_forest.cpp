// Transfer forests: the mixed gain, labels that travel between leaves, and forests as a whole.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ensemble/transfer_forest.h"
#include "ensemble/transfer_tools.h"
#include "harness.h"

using namespace granary;
using namespace granary::ensemble;

namespace {

MatrixXd normal_matrix(Rng& rng, Index n, Index p) {
  MatrixXd x(n, p);
  for (Index i = 0; i < x.size(); ++i) x.data()[i] = rng.normal();
  return x;
}

// Two tasks along one column: labels of the target 0 and 1, of the source 2 and 3.
struct Toy {
  MatrixXd x;
  VectorXi label;
  TransferOptions options;
  explicit Toy(std::uint64_t seed, Index n = 60) {
    Rng rng(seed);
    x = normal_matrix(rng, n, 3);
    label.resize(n);
    for (Index i = 0; i < n; ++i) label[i] = (i < n / 5 ? 0 : 2) + (x(i, 0) + 0.3 * rng.normal() > 0 ? 1 : 0);
    label[0] = 0;
    label[1] = 1;
    options.labels = VectorXi::Constant(2, 2);
    options.n_trees = 6;
  }
  TransferResult grow(std::uint64_t seed = 1) const {
    Rng rng(seed);
    Monitor monitor;
    return transfer_forest(x, label, options, rng, monitor);
  }
};

}  // namespace

TEST("labels reach leaves by the paths that Floyd and Warshall find") {
  Monitor monitor;
  for (LeafMetric metric : {LeafMetric::diag, LeafMetric::full, LeafMetric::euclidean}) {
    for (int seed = 1; seed <= 10; ++seed) {
      Rng rng(seed);
      const Index leaves = 12, p = 3;
      LeafDistance distance(metric, 1e-3, p);
      std::vector<bool> labelled(leaves, false);
      for (Index l = 0; l < leaves; ++l) {
        MatrixXd rows = normal_matrix(rng, p, 1 + static_cast<Index>(rng.below(6)));
        rows.colwise() += 3 * rng.normals(p);
        distance.add(rows, VectorXd::Ones(rows.cols()));
        labelled[l] = l == 0 || rng.bernoulli(0.3);
      }
      MatrixXd length(leaves, leaves);
      for (Index i = 0; i < leaves; ++i)
        for (Index j = 0; j < leaves; ++j) length(i, j) = i == j ? 0 : distance(i, j);
      CHECK_NEAR((length - length.transpose()).norm(), 0, 1e-9 * length.norm());
      for (Index k = 0; k < leaves; ++k)
        for (Index i = 0; i < leaves; ++i)
          for (Index j = 0; j < leaves; ++j) length(i, j) = std::min(length(i, j), length(i, k) + length(k, j));
      VectorXd reach;
      const std::vector<int> lender = nearest_labelled(distance, labelled, monitor, &reach);
      for (Index i = 0; i < leaves; ++i) {
        double nearest = std::numeric_limits<double>::infinity();
        for (Index j = 0; j < leaves; ++j)
          if (labelled[j]) nearest = std::min(nearest, length(i, j));
        CHECK_NEAR(reach[i], nearest, 1e-9 * (1 + nearest));
        CHECK(labelled[lender[i]]);
        CHECK_NEAR(length(i, lender[i]), nearest, 1e-9 * (1 + nearest));
        if (labelled[i]) CHECK(lender[i] == i);
      }
    }
  }
}

TEST("of equally near leaves the first lends, and a labelled leaf in the same place does not borrow") {
  Monitor monitor;
  LeafDistance distance(LeafMetric::euclidean, 1, 1);
  for (double at : {-1.0, 1.0, 0.0, 1.0}) distance.add(MatrixXd::Constant(1, 1, at), VectorXd::Ones(1));
  const std::vector<int> lender = nearest_labelled(distance, {true, true, false, true}, monitor);
  CHECK(lender == (std::vector<int>{0, 1, 0, 3}));
  CHECK_THROWS(nearest_labelled(distance, {false, false, false, false}, monitor), InputError);
}

TEST("the gain of joined sources is the sum of their gains and the information between task and side") {
  for (int seed = 1; seed <= 20; ++seed) {
    Rng rng(seed);
    const Index n = 50;
    VectorXi labels(3), label(n), side(n);
    labels << 2, 3, 4;
    for (Index i = 0; i < n; ++i) {
      label[i] = static_cast<int>(rng.below(9));
      side[i] = static_cast<int>(rng.below(2));
    }
    MixedOptions options;
    options.gamma = 0.4;
    const GainParts parts = gain_parts(label, side, labels, options);
    CHECK_NEAR(parts.concat - parts.sum, parts.information, 1e-12);
    CHECK_NEAR(parts.score, 0.6 * parts.target + 0.4 * parts.sum, 1e-14);
    options.source = MixedSource::concat;
    CHECK_NEAR(gain_parts(label, side, labels, options).score, 0.6 * parts.target + 0.4 * parts.concat, 1e-14);
  }
}

TEST("a transfer forest passes its own check, is the same on two threads, and joins what it grew") {
  for (TransferSplit split : {TransferSplit::axis, TransferSplit::oblique}) {
    for (int cuts : {0, 1}) {
      Toy toy(3);
      toy.options.split = split;
      toy.options.cuts = cuts;
      const TransferResult one = toy.grow();
      check(one.trees);
      toy.options.threads = 2;
      const TransferResult two = toy.grow();
      CHECK(one.trees.threshold == two.trees.threshold);
      CHECK(one.trees.column == two.trees.column);
      CHECK(one.trees.cases == two.trees.cases);
      Monitor monitor;
      const MatrixXd prob = transfer_predict(toy.x, one.trees, 0, 2, monitor);
      CHECK_NEAR((prob.rowwise().sum().array() - 1).abs().maxCoeff(), 0, 1e-12);
      CHECK(one.importance.minCoeff() >= 0);
    }
  }
}

TEST("leaves with cases of the target keep them, and add up to all of them in every tree") {
  Toy toy(4);
  const TransferResult found = toy.grow();
  for (int tree = 0; tree < found.trees.size(); ++tree) {
    double cases = 0;
    for (int i = found.trees.start[tree]; i < found.trees.end(tree); ++i) {
      if (found.trees.length[i] > 0) continue;
      const int leaf = found.trees.left[i];
      if (found.trees.lender[leaf] == leaf) cases += found.trees.cases.col(leaf).sum();
    }
    CHECK_NEAR(cases, 12, 0);
  }
}

TEST("constant columns, values of 1e300 and labels of no task") {
  Toy toy(5);
  toy.x.col(1).setConstant(7);
  toy.x.col(2) *= 1e300;
  const TransferResult found = toy.grow();
  check(found.trees);
  CHECK(std::all_of(found.trees.column.begin(), found.trees.column.end(), [](int j) { return j != 1; }));
  toy.options.standardize = false;
  CHECK_THROWS(toy.grow(), InputError);
  toy.options.standardize = true;
  toy.label[3] = 4;
  CHECK_THROWS(toy.grow(), InputError);
}

TEST("damaged trees are refused") {
  const TransferTrees good = Toy(6).grow().trees;
  TransferTrees bad = good;
  bad.left[0] = 0;
  CHECK_THROWS(check(bad), InputError);
  bad = good;
  bad.column[0] = 9;
  CHECK_THROWS(check(bad), InputError);
  bad = good;
  bad.lender[0] = 100000;
  CHECK_THROWS(check(bad), InputError);
  bad = good;
  bad.cases.col(0).setZero();
  CHECK_THROWS(check(bad), InputError);
}

TEST("the mean of the plug-in entropy of two draws, by hand") {
  VectorXd p(3);
  p << 0.5, 0.3, 0.2;
  const EntropyBounds found = entropy_bounds(p, 2);
  CHECK_NEAR(found.expected, (1 - p.squaredNorm()) * std::log(2.0), 1e-14);
  CHECK(found.lower <= found.expected && found.expected <= found.upper);
}
