#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/kernel/kernel.h"
#include "core/kernel/kernel_rows.h"
#include "core/linalg/dense.h"
#include "harness.h"
#include "kernel/boolean_margin.h"
#include "kernel/boolean_rules.h"
#include "kernel/boolean_theory.h"

using namespace granary;
using namespace granary::kernel;

namespace {

MatrixXd random_bits(Rng& rng, Index m, Index n, double p = 0.5) {
  MatrixXd x(m, n);
  for (Index i = 0; i < x.size(); ++i) x.data()[i] = rng.uniform() < p;
  return x;
}

// All conjunctions (or parities) of these lengths as columns, each times sqrt(g)^length. A literal is j or, negated, n + j.
MatrixXd features(const MatrixXd& x, const BooleanSpec& s, std::vector<std::vector<int>>* names = nullptr) {
  const int n = static_cast<int>(x.cols()), options = s.literals == Literals::with_negations ? 3 : 2;
  int total = 1;
  for (int j = 0; j < n; ++j) total *= options;
  std::vector<VectorXd> columns;
  for (int code = 0; code < total; ++code) {
    VectorXd column = VectorXd::Ones(x.rows());
    int length = 0;
    std::vector<int> name;
    for (int j = 0, rest = code; j < n; ++j, rest /= options) {
      const int state = rest % options;
      if (state == 0) continue;
      ++length;
      name.push_back(state == 1 ? j + 1 : -(j + 1));
      if (s.literals == Literals::parity) {
        column.array() *= 1 - 2 * x.col(j).array();
      } else {
        column.array() *= state == 1 ? Eigen::ArrayXd(x.col(j).array()) : Eigen::ArrayXd(1 - x.col(j).array());
      }
    }
    if (length < s.min_length || (s.max_length > 0 && length > s.max_length)) continue;
    columns.push_back(column * std::pow(s.damping, 0.5 * length));
    if (names) names->push_back(name);
  }
  MatrixXd out(x.rows(), static_cast<Index>(columns.size()));
  for (Index c = 0; c < out.cols(); ++c) out.col(c) = columns[static_cast<std::size_t>(c)];
  return out;
}

MatrixXd product(const MatrixXd& z) { return z * z.transpose(); }

BooleanSpec of(Literals literals, int a, int b, double g = 1) {
  BooleanSpec s;
  s.literals = literals;
  s.min_length = a;
  s.max_length = b;
  s.damping = g;
  return s;
}

const Literals all_literals[] = {Literals::monotone, Literals::with_negations, Literals::parity};

}  // namespace

TEST("boolean kernels are inner products of all conjunctions, or parities") {
  Rng rng(1);
  for (const Index n : {1, 4, 6}) {
    const MatrixXd x = random_bits(rng, 7, n);
    for (const Literals literals : all_literals)
      for (const double g : {1.0, 0.4})
        for (int a = 0; a <= 2; ++a)
          for (int b = 0; b <= 4; ++b) {
            if (b > 0 && b < std::max(a, 1)) continue;
            const BooleanSpec s = of(literals, a, b, g);
            const MatrixXd expected = product(features(x, s));
            const MatrixXd found = boolean_kernel(BooleanTable(s, n), BitRows(x), BitRows(x));
            CHECK_NEAR((found - expected).cwiseAbs().maxCoeff(), 0, 1e-10 * (1 + expected.cwiseAbs().maxCoeff()));
          }
  }
  CHECK_NEAR(BooleanTable(of(Literals::monotone, 1, 1), 5).value(3, 3, 3), 3, 0);
  CHECK_NEAR(BooleanTable(of(Literals::monotone, 1, 2), 5).value(3, 3, 3), 6, 0);
  CHECK_NEAR(BooleanTable(of(Literals::monotone, 1, 3), 5).value(3, 3, 3), 7, 0);
  CHECK_NEAR(BooleanTable(of(Literals::parity, 0, 0), 5).value(2, 2, 2), 32, 1e-12);
  CHECK_NEAR(BooleanTable(of(Literals::parity, 0, 0), 5).value(2, 3, 2), 0, 1e-12);
}

TEST("normalised, logarithmic and very large values") {
  BooleanSpec s = of(Literals::monotone, 1, 0);
  CHECK_NEAR(BooleanTable(s, 100).log_value(100, 100, 100), 100 * std::log(2.0), 1e-12);
  CHECK_THROWS(BooleanTable(s, 2000).value(1900, 1900, 1950), NumericalError);
  s.log = true;
  CHECK_NEAR(BooleanTable(s, 2000).value(1900, 1900, 1950), 1900 * std::log(2.0), 1e-9);
  s.log = false;
  s.normalize = true;
  CHECK_NEAR(BooleanTable(s, 2000).value(1900, 1900, 1904), 0.25, 1e-9);
  CHECK_NEAR(BooleanTable(of(Literals::monotone, 1, 5), 100).value(0, 3, 4), 0, 0);
  Rng rng(2);
  const MatrixXd x = random_bits(rng, 9, 70);
  for (const Literals literals : all_literals) {
    BooleanSpec n = of(literals, 0, 4);
    n.normalize = true;
    const MatrixXd k = boolean_kernel(BooleanTable(n, 70), BitRows(x), BitRows(x));
    CHECK_NEAR((k.diagonal().array() - 1).abs().maxCoeff(), 0, 1e-12);
    CHECK(SymmetricEigen(k).eigenvalues().minCoeff() > -1e-10);
  }
}

TEST("in the kernel language: dense, sparse, rows, sums, columns; and numbers that are not 0 or 1") {
  Rng rng(3);
  const MatrixXd x = random_bits(rng, 12, 8), z = random_bits(rng, 5, 8);
  KernelSpec spec;
  spec.type = "boolean";
  spec.boolean = of(Literals::with_negations, 1, 3, 0.7);
  spec.variance = 2;
  const MatrixXd expected = 2 * features(x, spec.boolean) * features(z, spec.boolean).transpose();
  const Kernel k(spec, 8);
  CHECK_NEAR((k.cross(x, z) - expected).cwiseAbs().maxCoeff(), 0, 1e-9);
  CHECK_NEAR((k.matrix(x).diagonal() - k.diagonal(x)).cwiseAbs().maxCoeff(), 0, 1e-12);
  KernelRows dense(spec, x);
  CHECK_NEAR((dense.cross(ConstMatrixRef(z)) - expected).cwiseAbs().maxCoeff(), 0, 1e-9);
  const SparseMatrix sx = x.sparseView(), sz = z.sparseView();
  KernelRows sparse(spec, sx);
  CHECK_NEAR((sparse.cross(sz) - expected).cwiseAbs().maxCoeff(), 0, 1e-9);
  const BitRows from_sparse(sx);
  CHECK_NEAR(from_sparse.both(2, BitRows(x), 3), x.row(2).dot(x.row(3)), 0);
  spec.columns = {1, 4};
  const Kernel some(spec, 8);
  MatrixXd two(12, 2);
  two << x.col(1), x.col(4);
  CHECK_NEAR((some.matrix(x) - 2 * product(features(two, spec.boolean))).cwiseAbs().maxCoeff(), 0, 1e-10);
  MatrixXd bad = x;
  bad(3, 4) = 0.5;
  CHECK_THROWS(k.matrix(bad), InputError);
  spec.columns.clear();
  CHECK_THROWS(KernelRows(spec, bad), InputError);
}

TEST("the largest margin: worked examples, and its bracket") {
  Monitor monitor;
  MatrixXd x(3, 3);
  x << 1, 1, 0, 0, 1, 1, 0, 0, 0;
  VectorXd b(3);
  b << 1, 1, -1;
  BooleanMarginOptions o;
  o.kernel = of(Literals::monotone, 1, 2);
  o.tol = 1e-10;
  const BooleanMarginResult r = boolean_margin(BitRows(x), b, o, monitor);
  CHECK(r.convergence.converged);
  CHECK_NEAR(r.lower, 0.7071068, 1e-7);
  CHECK_NEAR(r.upper, 0.7071068, 1e-7);
  std::vector<std::vector<int>> names;
  const VectorXd w = features(x, o.kernel, &names).transpose() * r.coefficients / r.norm;
  for (std::size_t t = 0; t < names.size(); ++t) {
    const bool absent = names[t] == std::vector<int>({1, 3}), middle = names[t] == std::vector<int>({2});
    CHECK_NEAR(w[static_cast<Index>(t)], absent ? 0 : middle ? 0.70710678 : 0.35355339, 1e-6);
  }
  CHECK_NEAR(r.decision[0], 1, 1e-8);
  CHECK_NEAR(r.decision[2], -1, 1e-8);
  // the zero row against one other
  const BooleanMarginResult two = boolean_margin(BitRows(x.bottomRows(2)), b.tail(2), o, monitor);
  CHECK_NEAR(two.lower, std::sqrt(3.0) / 2, 1e-9);
  CHECK_NEAR(two.theta / two.norm, std::sqrt(3.0) / 2, 1e-9);
}

TEST("the largest margin is that of the features: optimality, scale, the certificate below it") {
  Monitor monitor;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    Rng rng(seed);
    const MatrixXd x = random_bits(rng, 25, 8);
    VectorXd b(25);
    for (Index i = 0; i < 25; ++i) b[i] = x(i, 0) + x(i, 1) * x(i, 2) > 0.5 ? 1 : -1;
    for (const Literals literals : {Literals::monotone, Literals::with_negations}) {
      BooleanMarginOptions o;
      o.kernel = of(literals, 1, 3);
      o.tol = 1e-8;
      const BooleanMarginResult r = boolean_margin(BitRows(x), b, o, monitor);
      CHECK(r.convergence.converged);
      CHECK_NEAR(r.coefficients.sum(), 0, 1e-10);
      const MatrixXd z = features(x, o.kernel);
      const VectorXd w = z.transpose() * r.coefficients;
      CHECK_NEAR(w.norm() / r.norm, 1, 1e-9);
      CHECK_NEAR(1 / r.norm / r.lower, 1, 1e-6);
      for (Index i = 0; i < 25; ++i) {
        CHECK_NEAR(z.row(i).dot(w) - r.theta, r.decision[i], 1e-8);
        CHECK(b[i] * r.decision[i] >= 1 - 1e-6);
        CHECK(b[i] * r.coefficients[i] >= -1e-12);
        CHECK(std::abs(r.coefficients[i]) * (b[i] * r.decision[i] - 1) < 1e-5);
      }
      CHECK(r.certificate <= r.upper * (1 + 1e-9));
      const BooleanScores s = boolean_scores(BitRows(x), r.coefficients, o.kernel, BitRows(x), monitor);
      CHECK_NEAR((s.score.array() - r.theta - r.decision.array()).abs().maxCoeff(), 0, 1e-8);
      CHECK((s.score.array().abs() <= r.norm * s.reach.array() + 1e-9).all());
    }
  }
}

TEST("classes that no rule separates are told apart from those some rule does") {
  Monitor monitor;
  MatrixXd x(4, 2);
  x << 0, 0, 0, 1, 1, 0, 1, 1;
  VectorXd b(4);
  b << -1, 1, 1, -1;
  BooleanMarginOptions o;
  o.kernel = of(Literals::monotone, 1, 1);
  const BooleanMarginResult linear = boolean_margin(BitRows(x), b, o, monitor);
  CHECK(!linear.convergence.converged);
  CHECK(linear.convergence.why() == Stop::unbounded);
  o.kernel.max_length = 2;
  CHECK(boolean_margin(BitRows(x), b, o, monitor).convergence.converged);
  x.row(1) = x.row(0);
  CHECK_THROWS(boolean_margin(BitRows(x), b, o, monitor), InputError);
  CHECK_THROWS(boolean_margin(BitRows(x), VectorXd::Ones(4), o, monitor), InputError);
}

TEST("rules are the heaviest of all conjunctions") {
  Monitor monitor;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    Rng rng(seed);
    const MatrixXd x = random_bits(rng, 15, 7);
    VectorXd beta(15), label(15);
    for (Index i = 0; i < 15; ++i) {
      beta[i] = rng.uniform() < 0.3 ? 0 : rng.normal();
      label[i] = rng.uniform() < 0.5 ? 1 : -1;
    }
    for (const Literals literals : {Literals::monotone, Literals::with_negations})
      for (const double g : {1.0, 0.6, 1.5}) {
        BooleanRuleOptions o;
        o.kernel = of(literals, 1, seed % 2 == 0 ? 0 : 3, g);
        o.top = 12;
        const BooleanRules found = boolean_rules(BitRows(x), beta, BitRows(x), label, o, monitor);
        std::vector<std::vector<int>> names;
        MatrixXd z = features(x, o.kernel, &names);
        VectorXd w = z.transpose() * beta;  // sqrt(g)^length times the weight without it
        for (Index t = 0; t < w.size(); ++t)
          w[t] = std::abs(w[t]) * std::pow(g, 0.5 * static_cast<double>(names[static_cast<std::size_t>(t)].size()));
        std::sort(w.data(), w.data() + w.size(), [](double a, double b) { return a > b; });
        CHECK(found.rules.size() == 12);
        for (std::size_t r = 0; r < found.rules.size(); ++r)
          CHECK_NEAR(std::abs(found.rules[r].weight), w[static_cast<Index>(r)], 1e-12);
        CHECK(found.searched < 3000);
        double support = 0;
        for (Index i = 0; i < 15; ++i) {
          bool all = true;
          for (std::size_t k = 0; k < found.rules[0].attributes.size(); ++k)
            all = all && (x(i, found.rules[0].attributes[k]) == 1) != static_cast<bool>(found.rules[0].negated[k]);
          support += all;
        }
        CHECK_NEAR(found.rules[0].support, support, 0);
      }
  }
  BooleanRuleOptions o;
  o.kernel = of(Literals::parity, 1, 2);
  CHECK_THROWS(boolean_rules(BitRows(MatrixXd::Ones(2, 2)), VectorXd::Ones(2), BitRows(MatrixXd::Ones(2, 2)), VectorXd::Ones(2),
                             o, monitor),
               InputError);
}

TEST("the smallest lengths at which failure is certain") {
  const auto first = [](double n, double m, bool BooleanBound::*which) {
    for (const BooleanBound& b : boolean_bounds(n, m, 40))
      if (b.*which) return b.k;
    return 0;
  };
  CHECK(first(1e3, 100, &BooleanBound::overfits) == 5);
  CHECK(first(1e3, 1000, &BooleanBound::overfits) == 7);
  CHECK(first(1e4, 100, &BooleanBound::overfits) == 4);
  CHECK(first(1e5, 100, &BooleanBound::overfits) == 3);
  CHECK(first(1e6, 1000, &BooleanBound::overfits) == 4);
  CHECK(first(1e3, 100, &BooleanBound::polynomial) == 9);
  CHECK(first(1e4, 100, &BooleanBound::polynomial) == 7);
  CHECK(first(1e6, 1000, &BooleanBound::polynomial) == 7);
  CHECK(first(1e6, 100, &BooleanBound::uniform) == 0);
}

TEST("data from the laws of the paper") {
  Rng rng(5);
  BooleanSim o;
  o.law = BooleanLaw::sparse_target;
  const BooleanSample s = sim_boolean(4000, 64, o, rng);
  CHECK_NEAR(s.y.mean(), 0.5, 0.03);
  CHECK_NEAR((s.x.col(0) - s.y).cwiseAbs().maxCoeff(), 0, 0);
  CHECK_NEAR(s.x.col(5).mean(), 0.75 * 0.25, 0.03);
  o.law = BooleanLaw::sparse;
  o.terms = 2;
  o.term_length = 2;
  const BooleanSample d = sim_boolean(4000, 64, o, rng);
  CHECK_NEAR(d.y.mean(), 0.5 * (1 - 0.75 * 0.75), 0.03);
  CHECK_NEAR(d.x.col(0).mean(), 0.25, 0.03);
  CHECK_NEAR(d.x.col(20).mean(), 0.125, 0.03);
  o.law = BooleanLaw::uniform;
  o.terms = 0;
  const BooleanSample u = sim_boolean(1000, 30, o, rng);
  CHECK_NEAR((u.x.col(0) - u.y).cwiseAbs().maxCoeff(), 0, 0);
  o.terms = 5;
  o.term_length = 10;
  CHECK_THROWS(sim_boolean(10, 30, o, rng), InputError);
  MatrixXd x = MatrixXd::Zero(3, 100);
  x.row(0).head(50).setOnes();
  x.row(1).tail(50).setOnes();
  x.row(2).segment(10, 50).setOnes();
  VectorXd b(3);
  b << 1, -1, -1;
  const BooleanTypical t = boolean_typical(BitRows(x), b);
  CHECK(t.sizes_uniform && !t.overlaps_uniform && !t.zero_row);
  CHECK_NEAR(t.needed_skew, std::sqrt(100 / std::log2(3.0)) / 66, 1e-12);
}
