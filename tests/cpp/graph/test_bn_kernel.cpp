#include <cmath>

#include "core/base/errors.h"
#include "core/random/rng.h"
#include "graph/bn_kernel.h"
#include "graph/bn_kernel_linear.h"
#include "graph/bn_kernel_shatter.h"
#include "harness.h"

using namespace granary;
using namespace granary::graph;

namespace {

Eigen::MatrixXi all_states(const std::vector<int>& levels) {
  Index size = 1;
  for (int l : levels) size *= l;
  Eigen::MatrixXi x(size, static_cast<Index>(levels.size()));
  Index stride = 1;
  for (std::size_t j = 0; j < levels.size(); ++j) {
    for (Index t = 0; t < size; ++t) x(t, static_cast<Index>(j)) = static_cast<int>(t / stride % levels[j]);
    stride *= levels[j];
  }
  return x;
}

BnTables random_tables(const BnStructure& s, Rng& rng) {
  BnTables tables;
  for (int i = 0; i < s.nodes(); ++i) {
    MatrixXd t(s.groups(i), s.levels[i]);
    for (Index g = 0; g < t.rows(); ++g) {
      for (Index v = 0; v < t.cols(); ++v) t(g, v) = 0.05 + rng.uniform();
      t.row(g) /= t.row(g).sum();
    }
    tables.push_back(t);
  }
  return tables;
}

}  // namespace

TEST("network features times weights are the log-odds, kernels their inner products, with several levels") {
  Monitor monitor;
  Rng rng(1);
  for (int round = 0; round < 5; ++round) {
    const std::vector<int> levels{2, 3, 2, 4, 2};
    const BnStructure s = make_structure(random_dag(5, 0.6, rng), levels);
    const Eigen::MatrixXi x = all_states(levels);
    const BnTables p = random_tables(s, rng), q = random_tables(s, rng);
    const VectorXd odds = bn_log_density(s, p, x) - bn_log_density(s, q, x);
    CHECK_NEAR(bn_log_density(s, p, x).array().exp().sum(), 1, 1e-12);
    for (BnBasis basis : {BnBasis::monomial, BnBasis::indicator}) {
      const BnColumns columns = bn_columns(s, basis, 100000, monitor);
      const SparseMatrix f = bn_features(s, columns, x, monitor);
      CHECK_NEAR((f * bn_weights(s, columns, p, q) - odds).cwiseAbs().maxCoeff(), 0, 1e-11);
      const MatrixXd dense = f;
      CHECK_NEAR((dense * dense.transpose() - bn_kernel_matrix(s, basis, x, x, 1, monitor)).cwiseAbs().maxCoeff(), 0, 1e-9);
      if (basis == BnBasis::monomial) CHECK_NEAR(union_size(family_union(s, monitor), levels), static_cast<double>(f.cols()), 0);
    }
  }
}

TEST("inclusion and exclusion of a chain is its cliques less its separators") {
  Monitor monitor;
  MixedGraph chain(6);
  for (int i = 0; i + 1 < 6; ++i) chain.add_directed(i, i + 1);
  const FamilyUnion u = family_union(make_structure(chain, std::vector<int>(6, 2)), monitor);
  int cliques = 0, separators = 0;
  for (std::size_t t = 0; t < u.sets.size(); ++t) {
    cliques += u.sets[t].count() == 2 && u.coefficients[t] == 1;
    separators += u.sets[t].count() == 1 && u.coefficients[t] == -1;
  }
  CHECK(cliques == 5 && separators == 4 && u.sets.size() == 9);
}

TEST("networks refuse cycles, single levels, wrong groups and too many columns") {
  Monitor monitor;
  MixedGraph ring(2);
  ring.add_undirected(0, 1);
  CHECK_THROWS(make_structure(ring, {2, 2}), InputError);
  MixedGraph star(30);
  for (int j = 0; j < 29; ++j) star.add_directed(j, 29);
  CHECK_THROWS(make_structure(star, std::vector<int>(30, 1)), InputError);
  BnStructure s = make_structure(star, std::vector<int>(30, 2));
  CHECK_THROWS(bn_columns(s, BnBasis::monomial, 1000000, monitor), InputError);
  CHECK_NEAR(union_size(family_union(s, monitor), s.levels), std::ldexp(1.0, 30), 0);
}

TEST("paper constants make a decision list at every point but zero") {
  Rng rng(2);
  const BnStructure s = make_structure(random_dag(6, 0.5, rng), std::vector<int>(6, 2));
  Index count = 0;
  for (int i = 0; i < 6; ++i) count += s.patterns(i);
  std::vector<int> labels(count);
  for (int& l : labels) l = rng.bernoulli(0.5) ? 1 : -1;
  const Shattering made = shatter_tables(s, labels, shatter_constants(s, true));
  CHECK(made.wrong == 0);
  for (int code = 1; code < 64; ++code) {
    int x[6];
    for (int j = 0; j < 6; ++j) x[j] = code >> j & 1;
    int last = -1;
    for (int i : s.order) {
      if (x[i]) last = i;
    }
    const int sign = made.log2_p[last][s.pattern(last, x)] > made.log2_q[last][s.pattern(last, x)] ? 1 : -1;
    CHECK(table_odds(s, made, x) * sign > 0);
  }
}

TEST("half-spaces invert") {
  for (double w : {-300.0, -2.0, -1e-8, 1e-8, 0.7, 300.0}) {
    for (double b : {1e-6, 0.3, 1 - 1e-6}) {
      const BernoulliPair pair = from_half_space(w, b);
      CHECK(pair.p > 0 && pair.q > 0);
      CHECK_NEAR(std::log(pair.p / pair.q), w * (1 - b), 1e-7 * (1 + std::abs(w)));
    }
  }
  CHECK_THROWS(from_half_space(1, 1), InputError);
}

TEST("the logistic fit has a vanishing gradient, with an l1 penalty a subgradient") {
  Monitor monitor;
  Rng rng(3);
  MatrixXd dense(200, 5);
  VectorXd y(200);
  for (Index i = 0; i < 200; ++i) {
    for (Index j = 0; j < 5; ++j) dense(i, j) = rng.bernoulli(0.4) ? 1 : 0;
    y[i] = rng.bernoulli(1 / (1 + std::exp(-dense(i, 0) + dense(i, 1)))) ? 1 : -1;
  }
  const SparseMatrix x = dense.sparseView();
  for (bool l1 : {false, true}) {
    LinearOptions options;
    options.lambda = 0.02;
    options.l1 = l1;
    const LinearFit fit = fit_linear(x, y, options, VectorXd(), monitor);
    CHECK(fit.convergence.converged);
    const VectorXd margin = dense * fit.weights + VectorXd::Constant(200, fit.intercept);
    VectorXd slope(200);
    for (Index i = 0; i < 200; ++i) slope[i] = -y[i] / (1 + std::exp(y[i] * margin[i])) / 200;
    CHECK_NEAR(slope.sum(), 0, 1e-6);
    const VectorXd g = dense.transpose() * slope;
    for (Index j = 0; j < 5; ++j) {
      if (!l1) CHECK_NEAR(g[j] + 0.02 * fit.weights[j], 0, 1e-6);
      if (l1 && fit.weights[j] != 0) CHECK_NEAR(g[j] + (fit.weights[j] > 0 ? 0.02 : -0.02), 0, 1e-6);
      if (l1 && fit.weights[j] == 0) CHECK(std::abs(g[j]) <= 0.02 + 1e-6);
    }
  }
}
