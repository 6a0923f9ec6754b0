#include "ensemble/logitboost.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/math/logspace.h"
#include "core/tree/grow.h"
#include "core/tree/scores.h"

namespace granary::ensemble {

namespace {

// Sums of tree values S (rows x trees per round) to probabilities.
MatrixXd probabilities(const MatrixXd& sum, int classes, double shrinkage) {
  MatrixXd p(sum.rows(), classes);
  if (classes == 2) {
    for (Index i = 0; i < sum.rows(); ++i) {
      p(i, 1) = expit(shrinkage * sum(i, 0));
      p(i, 0) = expit(-shrinkage * sum(i, 0));
    }
    return p;
  }
  const double scale = shrinkage * (classes - 1.0) / classes;  // the mean over the classes cancels in the softmax
  for (Index i = 0; i < sum.rows(); ++i) p.row(i) = softmax(scale * sum.row(i).transpose()).transpose();
  return p;
}

struct Run {
  std::vector<Trees> parts;
  std::vector<double> loss, held_out;  // held_out: a sum over the rows left out
};

// left_out: rows that are not learnt from but followed; empty for none.
Run boost_rounds(const TreeColumns& columns, const TreeOrders& orders, const VectorXi& y, ConstVectorRef weights,
                 const std::vector<char>& left_out, const LogitBoostOptions& options, const Design& x, Rng& rng, Monitor& monitor,
                 bool keep) {
  const Index n = y.size();
  const int k = options.classes, per_round = k == 2 ? 1 : k;
  std::vector<std::uint32_t> rows;
  for (Index i = 0; i < n; ++i)
    if (left_out.empty() || !left_out[static_cast<std::size_t>(i)]) rows.push_back(static_cast<std::uint32_t>(i));
  TreeGrower<SquareScore> grower(columns, left_out.empty() ? &orders : nullptr,
                                 {options.max_leaves, 0, 2, options.min_leaf, 0, 0});
  MatrixXd sum = MatrixXd::Zero(n, per_round), p = MatrixXd::Constant(n, k, 1.0 / k);
  VectorXd z(n), w(n);
  Run out;
  const auto note = [&] {
    double in = 0, total = 0, away = 0;
    for (Index i = 0; i < n; ++i) {
      const double weight = weights.size() > 0 ? weights[i] : 1, one = -weight * std::log(std::max(p(i, y[i]), 1e-300));
      const bool held = !left_out.empty() && left_out[static_cast<std::size_t>(i)];
      (held ? away : in) += one;
      if (!held) total += weight;
    }
    out.loss.push_back(in / total);
    out.held_out.push_back(away);
  };
  note();
  for (int round = 0; round < options.n_rounds; ++round) {
    monitor.progress(keep ? static_cast<double>(round) / options.n_rounds : 0);
    MatrixXd step(n, per_round);
    for (int j = 0; j < per_round; ++j) {
      const int own = k == 2 ? 1 : j;
      for (Index i = 0; i < n; ++i) {
        const double q = p(i, own), v = std::max(q * (1 - q), 1e-10), is = y[i] == own ? 1 : 0;
        z[i] = std::clamp((is - q) / v, -4.0, 4.0);
        w[i] = (weights.size() > 0 ? weights[i] : 1) * v;
      }
      SquareScore score(w, z);
      Trees tree = grower.grow(rows, nullptr, score, rng, monitor);
      for (const TreeLeaf& leaf : grower.leaves())
        for (std::uint32_t at = leaf.from; at < leaf.to; ++at) step(grower.rows()[at], j) = tree.value(0, leaf.leaf);
      if (!left_out.empty()) {
        const TreeWalker walker(tree);
        walker.walk_if(
            x, 0, 1, 1, monitor, [&](int, Index row) { return left_out[static_cast<std::size_t>(row)] != 0; },
            [&](int, Index row, int leaf) { step(row, j) = tree.value(0, leaf); });
      }
      if (keep) out.parts.push_back(std::move(tree));
    }
    sum += step;
    p = probabilities(sum, k, options.shrinkage);
    note();
  }
  return out;
}

}  // namespace

void check(const LogitBoostFit& t) {
  check(t.trees);
  if (t.trees.nodes() == 0 && t.rounds == 0) return;  // nothing was learnt
  const int per_round = t.classes == 2 ? 1 : t.classes;
  require(t.classes >= 2 && t.trees.outputs == 1 && t.trees.size() % per_round == 0 && t.rounds >= 0 &&
              t.rounds * per_round <= t.trees.size(),
          "its rounds do not belong to its trees");
}

LogitBoostFit logitboost(const Design& x, const VectorXi& y, ConstVectorRef weights, const LogitBoostOptions& options, Rng& rng,
                         Monitor& monitor) {
  const TreeColumns columns(x, VectorXi(), options.threads);
  const TreeOrders orders(columns);
  LogitBoostFit out;
  out.classes = options.classes;
  out.shrinkage = options.shrinkage;
  out.rounds = options.n_rounds;
  if (options.fold.size() > 0 && options.folds > 1) {
    std::vector<std::vector<double>> held(static_cast<std::size_t>(options.folds));
    parallel_for(options.folds, options.threads, monitor, [&](Index f) {
      std::vector<char> left_out(static_cast<std::size_t>(y.size()));
      for (Index i = 0; i < y.size(); ++i) left_out[static_cast<std::size_t>(i)] = options.fold[i] == f;
      Rng own = rng.stream(static_cast<std::uint64_t>(f));
      held[static_cast<std::size_t>(f)] =
          boost_rounds(columns, orders, y, weights, left_out, options, x, own, monitor, false).held_out;
    });
    out.held_out.assign(static_cast<std::size_t>(options.n_rounds) + 1, 0.0);
    const double total = weights.size() > 0 ? weights.sum() : static_cast<double>(y.size());
    for (const auto& one : held)
      for (std::size_t r = 0; r < one.size(); ++r) out.held_out[r] += one[r] / total;
    out.rounds = static_cast<int>(std::min_element(out.held_out.begin(), out.held_out.end()) - out.held_out.begin());
  }
  Run run = boost_rounds(columns, orders, y, weights, {}, options, x, rng, monitor, true);
  out.loss = std::move(run.loss);
  out.trees = join(run.parts);
  out.importance = VectorXd::Zero(x.cols());
  const int used = out.rounds * (options.classes == 2 ? 1 : options.classes);
  for (int t = 0; t < used; ++t)
    for (int node = out.trees.start[static_cast<std::size_t>(t)]; node < out.trees.end(t); ++node)
      if (out.trees.feature[static_cast<std::size_t>(node)] >= 0)
        out.importance[out.trees.feature[static_cast<std::size_t>(node)]] += out.trees.gain[static_cast<std::size_t>(node)];
  if (out.importance.sum() > 0) out.importance /= out.importance.sum();
  return out;
}

MatrixXd logitboost_predict(const Design& x, const LogitBoostFit& fit, int rounds, int threads, Monitor& monitor) {
  if (x.cols() != fit.trees.inputs) throw InputError("newdata must have the columns of the fit.");
  const int per_round = fit.classes == 2 ? 1 : fit.classes, last = std::min(rounds * per_round, fit.trees.size());
  MatrixXd sum = MatrixXd::Zero(x.rows(), per_round);
  const TreeWalker walker(fit.trees);
  walker.walk(x, 0, last, threads, monitor,
              [&](int tree, Index row, int leaf) { sum(row, tree % per_round) += fit.trees.value(0, leaf); });
  return probabilities(sum, fit.classes, fit.shrinkage);
}

}  // namespace granary::ensemble
