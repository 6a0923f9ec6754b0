// Online classifiers: MIRA's step, the perceptrons on a budget, counts of SASB, Winnow, the margin and the bounds.
#include <algorithm>
#include <cmath>

#include "core/random/rng.h"
#include "harness.h"
#include "kernel/budget.h"
#include "kernel/hard_margin.h"
#include "kernel/mira.h"
#include "kernel/naive_bayes.h"
#include "kernel/perceptron.h"
#include "kernel/sasb.h"
#include "kernel/sasb_bound.h"
#include "kernel/winnow.h"

using namespace granary;
using namespace granary::kernel;

namespace {

MatrixXd normals(Rng& rng, Index rows, Index cols) {
  MatrixXd x(rows, cols);
  for (Index j = 0; j < cols; ++j)
    for (Index i = 0; i < rows; ++i) x(i, j) = rng.normal();
  return x;
}

KernelSpec kernel_spec(const std::string& type, double scale = 1) {
  KernelSpec spec;
  spec.type = type;
  spec.scales = VectorXd::Constant(1, scale);
  return spec;
}

MatrixXd hand_points() {
  MatrixXd x(8, 2);
  x << 2, 1, -1, -1, 0.5, -1, 1, -2, 3, 1, -2, 0.5, 0.2, 0.1, -0.3, 0.1;
  return x;
}

std::vector<double> sorted(const VectorXd& v) {
  std::vector<double> out(v.data(), v.data() + v.size());
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

TEST("mira step solves its program") {
  Rng rng(1);
  for (int trial = 0; trial < 50; ++trial) {
    const Index k = 2 + trial % 5;
    const VectorXd score = rng.normals(k);
    const Index y = trial % k;
    const double norm = 0.3 + rng.uniform(), beta = 0.5;
    const VectorXd tau = mira_step(score, y, beta, norm);
    CHECK_NEAR(tau.sum(), 0, 1e-12);
    VectorXd target = score;
    target[y] -= beta;
    const auto value = [&](const VectorXd& t) { return (target + norm * t).squaredNorm(); };
    for (Index r = 0; r < k; ++r) CHECK(tau[r] <= (r == y ? 1 : 0) + 1e-12);
    for (int other = 0; other < 200; ++other) {  // no feasible point nearby is better
      VectorXd t = tau + 0.1 * rng.normals(k);
      for (Index r = 0; r < k; ++r)
        if (r != y) t[r] = std::min(t[r], 0.0);
      double sum = 0;
      for (Index r = 0; r < k; ++r)
        if (r != y) sum += t[r];
      if (sum < -1) continue;
      t[y] = -sum;
      CHECK(value(tau) <= value(t) + 1e-10);
    }
    if (k == 2) {  // on w = (M_1 - M_0) / 2 with half the margin
      const double s = (score[1] - score[0]) / 2, sign = y == 1 ? 1 : -1;
      CHECK_NEAR(tau[y], std::min(1.0, std::max(0.0, (beta / 2 - sign * s) / norm)), 1e-12);
    }
  }
}

TEST("budget hand trace") {
  const MatrixXd x = hand_points();
  for (const bool distil : {false, true}) {
    BudgetOptions options;
    options.beta = 1;
    options.removal = distil ? Removal::distill : Removal::none;
    BudgetPerceptron learner(kernel_spec("linear"), 2, false, options);
    int mistakes = 0;
    for (Index t = 0; t < 8; ++t) mistakes += learner.learn(ConstMatrixRef(x), t, t % 2 == 0 ? 1 : 0, t + 1.0).wrong;
    const BudgetState s = learner.state();
    CHECK(mistakes == 3);
    CHECK(s.margin_errors == 5);
    const std::vector<double> expected = distil ? std::vector<double>{3, 4, 7, 8} : std::vector<double>{1, 3, 4, 7, 8};
    CHECK(sorted(s.current.id) == expected);
    const VectorXd w = (s.current.coefficients * learner.cache().points()).transpose();
    CHECK_NEAR(w[0], distil ? 0 : 2, 1e-12);
    CHECK_NEAR(w[1], distil ? 1 : 2, 1e-12);
  }
}

TEST("budget two prototypes are one vector") {
  Rng rng(2);
  const MatrixXd x = normals(rng, 300, 2);
  for (const Removal removal :
       {Removal::none, Removal::distill, Removal::max_margin, Removal::oldest, Removal::smallest, Removal::tightest}) {
    for (const Step step : {Step::perceptron, Step::mira}) {
      if (step == Step::mira && removal == Removal::smallest) continue;  // steps of 1 are ties, which rounding breaks
      BudgetOptions one;
      one.removal = removal;
      one.step = step;
      one.beta = 0.2;
      one.budget = removal == Removal::none ? one.budget : 12;
      BudgetOptions two = one;
      two.prototypes = true;
      two.beta = 0.4;
      BudgetPerceptron a(kernel_spec("se"), 2, false, one), b(kernel_spec("se"), 2, false, two);
      for (Index t = 0; t < 300; ++t) {
        const int label = x.row(t).squaredNorm() > 1.5 ? 1 : 0;
        CHECK(a.learn(ConstMatrixRef(x), t, label, t).wrong == b.learn(ConstMatrixRef(x), t, label, t).wrong);
      }
      const BudgetState left = a.state(), right = b.state();
      CHECK(left.current.id == right.current.id);
      CHECK_NEAR((left.current.coefficients.row(0) - right.current.coefficients.row(1)).cwiseAbs().maxCoeff(), 0, 1e-10);
    }
  }
}

TEST("budget maintains scores and inverse") {
  Rng rng(3);
  const MatrixXd x = normals(rng, 3000, 3);
  for (const Removal removal : {Removal::distill, Removal::max_margin, Removal::tightest, Removal::projection}) {
    BudgetOptions options;
    options.removal = removal;
    options.classes = 3;
    options.budget = 15;
    BudgetPerceptron learner(kernel_spec("se"), 3, false, options);
    for (Index t = 0; t < x.rows(); ++t) {
      learner.learn(ConstMatrixRef(x), t, x(t, 0) > 0.5 ? 2 : x(t, 1) > 0 ? 1 : 0, t);
      CHECK(learner.support() <= 15);
    }
    const BudgetState s = learner.state();
    const MatrixXd gram = Kernel(kernel_spec("se"), 3).matrix(learner.cache().points());
    CHECK_NEAR((s.gram - gram).cwiseAbs().maxCoeff(), 0, 1e-12);
    if (removal == Removal::projection) {
      CHECK_NEAR((s.inverse * gram - MatrixXd::Identity(gram.rows(), gram.rows())).cwiseAbs().maxCoeff(), 0, 1e-5);
    } else {
      CHECK_NEAR((s.scores - s.current.coefficients * gram).cwiseAbs().maxCoeff(), 0, 1e-10);
    }
  }
}

TEST("budget projection keeps cached scores") {
  Rng rng(4);
  const MatrixXd x = normals(rng, 200, 2);
  BudgetOptions wide, narrow;
  wide.removal = narrow.removal = Removal::projection;
  wide.budget = 6;
  narrow.budget = 5;
  BudgetPerceptron a(kernel_spec("se"), 2, false, wide), b(kernel_spec("se"), 2, false, narrow);
  Index t = 0;
  while (a.support() < 6) {  // the sixth example makes b project one out, which a still has
    const int label = x(t, 0) * x(t, 1) > 0 ? 1 : 0;
    a.learn(ConstMatrixRef(x), t, label, t);
    b.learn(ConstMatrixRef(x), t, label, t);
    ++t;
  }
  CHECK(b.support() == 5);
  const MatrixXd points = b.cache().points(), none(1, 0);
  const VectorXd last = points.row(4);
  for (Index i = 0; i < 4; ++i) {  // the newest came after the projection
    CHECK_NEAR(a.score(ConstMatrixRef(points), i, a.weights(false), none)[0],
               b.score(ConstMatrixRef(points), i, b.weights(false), none)[0], 1e-9);
  }
}

TEST("budget refuses bad options") {
  BudgetOptions options;
  options.budget = 0;
  CHECK_THROWS(BudgetPerceptron(kernel_spec("se"), 2, false, options), InputError);
  options.budget = 5;
  options.beta = -1;
  CHECK_THROWS(BudgetPerceptron(kernel_spec("se"), 2, false, options), InputError);
  options.beta = 0;
  options.classes = 1;
  CHECK_THROWS(BudgetPerceptron(kernel_spec("se"), 2, false, options), InputError);
  CHECK_THROWS(PointCache(kernel_spec("hamming"), 2, true, false), InputError);
}

TEST("point cache gives kernel rows") {
  Rng rng(5);
  for (const Index p : {2, 20}) {
    const MatrixXd x = normals(rng, 40, p).array() + 100;
    const SparseMatrix sparse = x.sparseView();
    const SparseRows rows(ConstSparseMap(sparse.rows(), sparse.cols(), sparse.nonZeros(), sparse.outerIndexPtr(),
                                         sparse.innerIndexPtr(), sparse.valuePtr()));
    for (const std::string type : {"se", "linear", "hamming", "matern"}) {
      KernelSpec spec = kernel_spec(type, 3);
      spec.shape = 1.5;
      const MatrixXd k = Kernel(spec, p).matrix(x);
      PointCache cache(spec, p, false, false);
      std::vector<Index> held;
      for (Index i = 0; i < 40; ++i) {
        cache.load(ConstMatrixRef(x), i);
        CHECK_NEAR(cache.self(), k(i, i), 1e-9 * std::abs(k(i, i)));
        const VectorXd& row = cache.row();
        for (std::size_t j = 0; j < held.size(); ++j) CHECK_NEAR(row[j], k(i, held[j]), 1e-9 * std::abs(k(i, i)));
        cache.push();
        held.push_back(i);
        if (i % 3 == 2) {
          cache.erase(1);
          held[1] = held.back();
          held.pop_back();
        }
      }
      if (type == "hamming") continue;
      PointCache other(spec, p, true, true);
      for (Index i = 0; i < 10; ++i) {
        other.load(rows, i);
        const VectorXd& row = other.row();
        for (Index j = 0; j < i; ++j) CHECK_NEAR(row[j], k(i, j) / std::sqrt(k(i, i) * k(j, j)), 1e-4);
        other.push();
      }
    }
  }
}

TEST("sasb counts by group and one by one") {
  Rng rng(6);
  MatrixXd x(400, 30);
  std::vector<int> label(400);
  for (Index i = 0; i < 400; ++i) {
    for (Index j = 0; j < 30; ++j) x(i, j) = rng.bernoulli(0.2);
    label[i] = x(i, 3) > 0 || x(i, 7) > 0;
  }
  const SparseRows rows{ConstMatrixRef(x)};
  for (const CountRule rule : {CountRule::sasb, CountRule::majority}) {
    CountOptions options;
    options.rule = rule;
    CountState single;
    single.grouped = false;
    CountLearner a(rows, options, {}), b(rows, options, single);
    for (Index i = 0; i < 400; ++i) {
      CHECK_NEAR(a.score(i), b.score(i), 1e-12);
      CHECK(a.learn(i, label[i], i).wrong == b.learn(i, label[i], i).wrong);
    }
    CHECK(a.matches() == b.matches());
    CHECK(a.state().grouped);
    CHECK_NEAR((a.coefficients() - b.coefficients()).cwiseAbs().maxCoeff(), 0, 1e-12);
    if (rule == CountRule::sasb) CHECK_NEAR(a.posterior().sum(), 1, 1e-12);
    CHECK(a.matches().minCoeff() >= 0 && a.matches().maxCoeff() <= a.state().t);
  }
}

TEST("sasb bound values") {
  Monitor monitor;
  CHECK(sasb_mistake_bound(20, 0, 1, monitor) == 8);
  CHECK(sasb_mistake_bound(100, 0, 1, monitor) == 11);
  CHECK(sasb_mistake_bound(1000, 0, 1, monitor) == 15);
  CHECK(sasb_mistake_bound(50, 0, 0.5, monitor) == 77);
  CHECK(sasb_mistake_bound(20, 1.0 / 3, 2.0 / 3, monitor) == 132);
  CHECK(std::isinf(sasb_mistake_bound(20, 0.5, 0.5, monitor)));
}

TEST("separation gap of thresholds") {
  Rng rng(7);
  Monitor monitor;
  MatrixXd x(300, 9);
  std::vector<int> label(300);
  for (Index i = 0; i < 300; ++i) {
    for (Index j = 0; j < 9; ++j) x(i, j) = rng.bernoulli(0.5);
    label[i] = x(i, 0) + x(i, 1) + (1 - x(i, 2)) >= 2;
  }
  const SeparationGap gap = separation_gap(x, label, monitor);
  CHECK_NEAR(gap.delta, 1.0 / 3, 1e-8);
  CHECK_NEAR(gap.gamma_complement[2], 1.0 / 3, 1e-8);
  CHECK_THROWS(separation_gap(x, std::vector<int>(300, 1), monitor), InputError);
  CHECK_THROWS(separation_gap(x, {0, 1}, monitor), InputError);
}

TEST("winnow weights come back from underflow") {
  MatrixXd x = MatrixXd::Ones(1, 1);
  const SparseRows rows{ConstMatrixRef(x)};
  WinnowOptions options;
  options.threshold = 0.5;
  WinnowState deep;
  deep.exponent = VectorXd::Constant(1, -3000);
  Winnow learner(rows, options, deep);
  int promotions = 0;
  while (learner.learn(0, 1, 0).wrong && promotions < 4000) ++promotions;
  CHECK(promotions == 3000);
  options.promotion = 1;
  CHECK_THROWS(Winnow(rows, options, {}), InputError);
}

TEST("sparse rows sees gaps and values") {
  MatrixXd x(2, 3);
  x << 1, std::nan(""), 0, 0, 1, 0.5;
  const SparseRows rows{ConstMatrixRef(x)};
  CHECK(rows.row(0).size == 1 && rows.row(0).n_missing == 1 && rows.row(0).missing[0] == 1);
  CHECK(rows.row(1).size == 2 && rows.row(1).index[1] == 2 && rows.row(1).value[1] == 0.5);
  CHECK_THROWS(rows.require_binary(), InputError);
}

TEST("hard margin of two points and of none") {
  Monitor monitor;
  MatrixXd x(3, 2);
  x << 1, 0, 0, 1, -1, -0.5;
  VectorXd y(3);
  y << 1, 1, -1;
  KernelRows rows(kernel_spec("linear"), ConstMatrixRef(x));
  HardMarginOptions options;
  options.tol = 1e-9;
  const HardMarginResult r = hard_margin(rows, y, options, monitor);
  CHECK_NEAR(r.lower, std::sqrt(0.5), 1e-7);
  CHECK(r.lower <= r.upper && r.convergence.converged);
  VectorXd bad(3);
  bad << 1, -1, 1;
  MatrixXd same = MatrixXd::Ones(3, 1);
  KernelRows flat(kernel_spec("linear"), ConstMatrixRef(same));
  CHECK(hard_margin(flat, bad, options, monitor).upper <= 1e-8);
}

TEST("perceptron and naive bayes refuse other columns") {
  MatrixXd x = MatrixXd::Ones(2, 3);
  const SparseRows rows{ConstMatrixRef(x)};
  PerceptronState state;
  state.weight = state.timed = VectorXd::Zero(3);
  CHECK_THROWS(Perceptron(rows, true, state), InputError);
  NaiveBayesState counts;
  counts.ones = MatrixXd::Zero(2, 2);
  counts.counted = VectorXd::Zero(2);
  CHECK_THROWS(NaiveBayes(rows, 2, false, counts), InputError);
  std::vector<int> order = {0, 5};
  Monitor monitor;
  Perceptron learner(rows, true, {});
  CHECK_THROWS(run_online(learner, 2, {0, 1}, order, VectorXd::Zero(2), monitor), InputError);
}
