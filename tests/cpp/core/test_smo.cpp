#include <cmath>
#include <numeric>

#include "core/base/errors.h"
#include "core/optim/qp.h"
#include "core/random/rng.h"
#include "core/kernel/row_cache.h"
#include "core/optim/smo.h"
#include "harness.h"

using namespace granary;

namespace {

KernelSpec rbf(double gamma) {
  KernelSpec spec;
  spec.type = "se";
  spec.scales = VectorXd::Constant(1, 1 / std::sqrt(2 * gamma));
  return spec;
}

SmoProblem classifier(const VectorXd& y, double cost) {
  SmoSheet sheet;
  sheet.linear = y;
  sheet.lower = (cost * y).cwiseMin(0.0);
  sheet.upper = (cost * y).cwiseMax(0.0);
  return {{sheet}, {}};
}

struct Data {
  MatrixXd x;
  VectorXd y;
};

Data noisy(Index n, Index d, std::uint64_t seed) {
  Rng rng(seed);
  Data out{MatrixXd(n, d), VectorXd(n)};
  for (Index i = 0; i < n; ++i) {
    for (Index k = 0; k < d; ++k) out.x(i, k) = rng.normal();
    out.y[i] = out.x(i, 0) * out.x(i, d - 1) + 0.7 * rng.normal() > 0 ? 1 : -1;
  }
  return out;
}

// Petal length and width of the last hundred irises; versicolor is the positive class.
Data iris() {
  static const double values[200] = {
      4.7, 1.4, 4.5, 1.5, 4.9, 1.5, 4,   1.3, 4.6, 1.5, 4.5, 1.3, 4.7, 1.6, 3.3, 1,   4.6, 1.3, 3.9, 1.4, 3.5, 1,   4.2,
      1.5, 4,   1,   4.7, 1.4, 3.6, 1.3, 4.4, 1.4, 4.5, 1.5, 4.1, 1,   4.5, 1.5, 3.9, 1.1, 4.8, 1.8, 4,   1.3, 4.9, 1.5,
      4.7, 1.2, 4.3, 1.3, 4.4, 1.4, 4.8, 1.4, 5,   1.7, 4.5, 1.5, 3.5, 1,   3.8, 1.1, 3.7, 1,   3.9, 1.2, 5.1, 1.6, 4.5,
      1.5, 4.5, 1.6, 4.7, 1.5, 4.4, 1.3, 4.1, 1.3, 4,   1.3, 4.4, 1.2, 4.6, 1.4, 4,   1.2, 3.3, 1,   4.2, 1.3, 4.2, 1.2,
      4.2, 1.3, 4.3, 1.3, 3,   1.1, 4.1, 1.3, 6,   2.5, 5.1, 1.9, 5.9, 2.1, 5.6, 1.8, 5.8, 2.2, 6.6, 2.1, 4.5, 1.7, 6.3,
      1.8, 5.8, 1.8, 6.1, 2.5, 5.1, 2,   5.3, 1.9, 5.5, 2.1, 5,   2,   5.1, 2.4, 5.3, 2.3, 5.5, 1.8, 6.7, 2.2, 6.9, 2.3,
      5,   1.5, 5.7, 2.3, 4.9, 2,   6.7, 2,   4.9, 1.8, 5.7, 2.1, 6,   1.8, 4.8, 1.8, 4.9, 1.8, 5.6, 2.1, 5.8, 1.6, 6.1,
      1.9, 6.4, 2,   5.6, 2.2, 5.1, 1.5, 5.6, 1.4, 6.1, 2.3, 5.6, 2.4, 5.5, 1.8, 4.8, 1.8, 5.4, 2.1, 5.6, 2.4, 5.1, 2.3,
      5.1, 1.9, 5.9, 2.3, 5.7, 2.5, 5.2, 2.3, 5,   1.9, 5.2, 2,   5.4, 2.3, 5.1, 1.8};
  Data out{MatrixXd(100, 2), VectorXd(100)};
  for (Index i = 0; i < 100; ++i) {
    out.x(i, 0) = values[2 * i];
    out.x(i, 1) = values[2 * i + 1];
    out.y[i] = i < 50 ? 1 : -1;
  }
  return out;
}

SmoResult fit(const Data& data, const KernelSpec& spec, double cost, const SmoOptions& options) {
  Monitor monitor;
  KernelRows rows(spec, data.x);
  return solve_smo(classifier(data.y, cost), rows, options, monitor);
}

// The same programme for the interior point solver.
QpResult by_interior_point(const SmoProblem& problem, const MatrixXd& k, const VectorXd& sums) {
  const Index n = k.rows(), sheets = static_cast<Index>(problem.sheets.size()), parts = problem.kink.size() > 0 ? 2 : sheets;
  QuadraticProgram program;
  program.q.resize(n * parts, n * parts);
  program.c.resize(n * parts);
  program.lower.resize(n * parts);
  program.upper.resize(n * parts);
  program.a = MatrixXd::Zero(sheets, n * parts);
  for (Index a = 0; a < parts; ++a) {
    for (Index b = 0; b < parts; ++b) program.q.block(a * n, b * n, n, n) = k;
    const SmoSheet& sheet = problem.sheets[problem.kink.size() > 0 ? 0 : a];
    program.c.segment(a * n, n) = -sheet.linear;
    program.lower.segment(a * n, n) = sheet.lower;
    program.upper.segment(a * n, n) = sheet.upper;
    if (problem.kink.size() > 0) {  // a positive and a negative part, each with its own price
      program.c.segment(a * n, n) += (a == 0 ? 1 : -1) * problem.kink;
      (a == 0 ? program.lower : program.upper).segment(a * n, n).setZero();
      program.a.row(0).segment(a * n, n).setOnes();
    } else {
      program.a.row(a).segment(a * n, n).setOnes();
    }
  }
  program.b = sums;
  program.sense.assign(static_cast<std::size_t>(sheets), RowSense::equal);
  Monitor monitor;
  return solve_qp(program, QpOptions(), monitor);
}

}  // namespace

TEST("kernel rows are rows of the kernel matrix, dense and sparse, in any order") {
  const Data data = noisy(30, 4, 1);
  SparseMatrix sparse = data.x.sparseView(1.0, 0.8);  // small entries become zeros
  const MatrixXd thinned(sparse);
  std::vector<KernelSpec> specs(7, rbf(0.3));
  specs[1].type = "linear";
  specs[1].scales = VectorXd::LinSpaced(4, 0.5, 2);
  specs[2].type = "polynomial";
  specs[2].shape = 3;
  specs[2].offset = 1;
  specs[3].type = "matern";
  specs[3].shape = 0.5;
  specs[3].columns = {2, 0};
  specs[4].type = "mlp";
  specs[4].scales = VectorXd::Constant(2, 2.0);
  specs[5].type = "sum";
  specs[5].children = {specs[0], specs[2], KernelSpec()};
  specs[5].children[2].type = "white";
  specs[6].type = "product";
  specs[6].children = {specs[3], specs[1], KernelSpec()};
  specs[6].children[2].type = "bias";
  specs[6].children[2].variance = 3;
  std::vector<Index> order(20);
  std::iota(order.rbegin(), order.rend(), Index(0));
  std::swap(order[3], order[11]);
  for (const KernelSpec& spec : specs) {
    const MatrixXd expected = Kernel(spec, 4).matrix(thinned), crossed = Kernel(spec, 4).cross(thinned, data.x);
    for (const bool is_sparse : {false, true}) {
      KernelRows rows = is_sparse ? KernelRows(spec, sparse) : KernelRows(spec, thinned);
      std::vector<Index> at(30);
      std::iota(at.begin(), at.end(), Index(0));
      for (int pass = 0; pass < 2; ++pass) {
        VectorXd k(30);
        MatrixXd block;
        rows.block({2, 17, 29}, 1, 30, block);
        for (Index i = 0; i < 30; ++i) {
          rows.row(i, 5, 25, k.data());
          for (Index t = 5; t < 25; ++t) CHECK_NEAR(k[t - 5], expected(at[t], at[i]), 1e-11);
          CHECK_NEAR(rows.diagonal()[i], expected(at[i], at[i]), 1e-12);
          if (i > 0) CHECK_NEAR(block(i - 1, 1), expected(at[i], at[17]), 1e-11);
        }
        const MatrixXd cross = rows.cross(data.x), sparse_cross = rows.cross(SparseMatrix(data.x.sparseView()));
        for (Index t = 0; t < 30; ++t) CHECK_NEAR((cross.row(t) - crossed.row(at[t])).norm(), 0, 1e-10);
        CHECK_NEAR((cross - sparse_cross).norm(), 0, 1e-10);
        rows.reorder(order);
        const std::vector<Index> old = at;
        for (std::size_t t = 0; t < order.size(); ++t) at[t] = old[static_cast<std::size_t>(order[t])];
      }
    }
  }
  KernelSpec user = rbf(1);
  user.type = "powexp";
  user.shape = 1;
  KernelRows whole(user, thinned);
  VectorXd k(30);
  whole.row(4, 0, 30, k.data());
  CHECK_NEAR((k - Kernel(user, 4).matrix(thinned).col(4)).norm(), 0, 1e-12);
  CHECK_THROWS(KernelRows(user, sparse), InputError);
}

TEST("the row cache keeps the newest rows, completes short ones and follows a new order") {
  RowCache<float> cache(10, 25 * sizeof(float));
  int filled = 0;
  const auto value = [](Index id) {
    return [id](Index from, Index to, float* out) {
      for (Index t = from; t < to; ++t) *out++ = static_cast<float>(100 * id + t);
    };
  };
  const auto counted = [&](Index id) {
    return [&, id](Index from, Index to, float* out) {
      filled += static_cast<int>(to - from);
      value(id)(from, to, out);
    };
  };
  cache.fetch(1, 10, counted(1));
  cache.fetch(2, 6, counted(2));
  const float* two = cache.fetch(2, 10, counted(2));
  CHECK(filled == 20 && two[9] == 209);
  cache.fetch(1, 10, counted(1));
  CHECK(filled == 20 && cache.hits() == 1);
  cache.fetch(3, 10, counted(3));  // 2 is the oldest and goes
  CHECK(cache.peek(2, 1) == nullptr && cache.peek(1, 10) != nullptr && cache.peek(3, 10) != nullptr);
  cache.reorder({2, 4, 0, 1, 3});
  CHECK(cache.peek(1, 10)[0] == 102 && cache.peek(1, 10)[4] == 103 && cache.peek(1, 10)[5] == 105);
  RowCache<double> small(6, 0);  // two rows fit all the same
  small.fetch(0, 3, [](Index from, Index to, double* out) {
    for (Index t = from; t < to; ++t) *out++ = static_cast<double>(t);
  });
  small.reorder({1, 2, 4, 5, 0, 3});  // only what is first again is kept
  CHECK(small.peek(0, 2) != nullptr && small.peek(0, 2)[1] == 2 && small.peek(0, 3) == nullptr);
}

TEST("four points of an exclusive or, and two on a line, by hand") {
  Data data{MatrixXd(4, 2), VectorXd(4)};
  data.x << 0, 0, 1, 1, 1, 0, 0, 1;
  data.y << 1, 1, -1, -1;
  SmoOptions options;
  options.tol = 1e-10;
  const SmoResult r = fit(data, rbf(1), 10, options);
  const double a = 1 / std::pow(1 - std::exp(-1.0), 2);
  for (Index i = 0; i < 4; ++i) CHECK_NEAR(r.beta[0][i], a * data.y[i], 1e-6);
  CHECK_NEAR(r.objective, -2 * a, 1e-6);
  CHECK_NEAR(r.multiplier[0], 0, 1e-6);
  Data line{MatrixXd(2, 1), VectorXd(2)};
  line.x << -1, 1;
  line.y << -1, 1;
  KernelSpec linear;
  linear.type = "linear";
  linear.scales = VectorXd::Ones(1);
  for (const double cost : {0.2, 0.5, 3.0}) CHECK_NEAR(fit(line, linear, cost, options).beta[0][1], std::min(cost, 0.5), 1e-9);
}

TEST("the first pair of the card's four points") {
  Data data{MatrixXd(4, 1), VectorXd(4)};
  data.x << -2, -1, 0.5, 3;
  data.y << -1, -1, 1, 1;
  KernelSpec linear;
  linear.type = "linear";
  linear.scales = VectorXd::Ones(1);
  SmoOptions options;
  options.max_iter = 1;
  const SmoResult r = fit(data, linear, 1, options);
  CHECK_NEAR(r.beta[0][3], 2.0 / 16, 1e-7);
  CHECK_NEAR(r.beta[0][1], -2.0 / 16, 1e-7);
  CHECK(!r.convergence.converged && r.iterations == 1);
}

TEST("iris: objectives, multipliers and the numbers of iterations") {
  const Data data = iris();
  SmoOptions options;
  options.single_precision = false;
  options.shrink = false;
  // Repeated rows make many ties. Rounding decides between them, which a long run or one of first order shows: 820 and 29, 43,
  // 17025 were counted where the sums were rounded in another order.
  const double cost[3] = {1, 10, 1000}, second[3] = {25, 20, 820}, first[3] = {29, 43, 17025};
  for (int c = 0; c < 3; ++c) {
    options.working_set = WorkingSet::second_order;
    const SmoResult r = fit(data, rbf(0.5), cost[c], options);
    CHECK_NEAR(r.iterations, second[c], c < 2 ? 0.1 : 300);
    CHECK(r.ratio > 0 && r.ratio <= 1);
    options.working_set = WorkingSet::first_order;
    CHECK_NEAR(fit(data, rbf(0.5), cost[c], options).iterations, first[c], c < 2 ? 15 : 2000);
  }
  options.tol = 1e-9;
  for (const WorkingSet rule : {WorkingSet::second_order, WorkingSet::first_order, WorkingSet::feasible, WorkingSet::all_pairs}) {
    options.working_set = rule;
    const SmoResult one = fit(data, rbf(0.5), 1, options), ten = fit(data, rbf(0.5), 10, options);
    CHECK_NEAR(one.objective, -19.08065997, 1e-7);
    CHECK_NEAR(ten.objective, -123.4662461, 1e-6);
    CHECK_NEAR(one.multiplier[0], -0.119061, 1e-5);
    CHECK_NEAR(ten.multiplier[0], -0.61219, 1e-5);
    CHECK(one.convergence.gap >= 0 && one.convergence.gap <= 1e-9 * 100);
  }
}

TEST("shrinking, the size of the cache and its precision do not change the answer") {
  const Data data = noisy(700, 3, 5);
  SmoOptions options;
  options.tol = 1e-5;
  options.shrink = false;
  options.single_precision = false;
  const SmoResult plain = fit(data, rbf(0.5), 30, options);
  CHECK(plain.iterations > 3000);  // several rounds of shrinking
  options.shrink = true;
  for (const double bytes : {1e8, 1e5, 0.0}) {
    for (const bool single : {false, true}) {
      options.cache_mb = bytes / 1048576;
      options.single_precision = single;
      const SmoResult r = fit(data, rbf(0.5), 30, options);
      CHECK(r.convergence.converged && r.violation < 1e-5);
      CHECK(r.cache_small == (bytes < 1e6));
      CHECK_NEAR(r.objective, plain.objective, 1e-6 * std::abs(plain.objective));
      const VectorXd f = Kernel(rbf(0.5), 3).matrix(data.x) * r.beta[0];
      CHECK_NEAR((f - r.f).cwiseAbs().maxCoeff(), 0, single ? 1e-3 : 1e-9);
      CHECK_NEAR(r.beta[0].sum(), 0, 1e-9);
      CHECK(r.convergence.gap >= 0 && r.convergence.gap < 1e-5 * 700 * 30);
    }
  }
}

TEST("after shrinking, rows left out know what the others did meanwhile") {
  const Data data = noisy(1500, 3, 21);
  const MatrixXd k = Kernel(rbf(0.5), 3).matrix(data.x);
  Monitor monitor;
  for (const double cost : {1.0, 100.0}) {
    SmoOptions options;
    options.single_precision = false;
    options.tol = 1e-6;
    const SmoResult result = fit(data, rbf(0.5), cost, options);
    CHECK(result.convergence.converged);
    CHECK(result.iterations > 1000);  // at least one shrinking
    CHECK_NEAR((result.f - k * result.beta[0]).cwiseAbs().maxCoeff(), 0, 1e-9 * cost);
    options.shrink = false;
    CHECK_NEAR(result.objective, fit(data, rbf(0.5), cost, options).objective, 1e-6 * std::abs(result.objective));
  }
}

TEST("a cache that is handed over is used, and right afterwards") {
  const Data data = noisy(600, 3, 22);
  const MatrixXd k = Kernel(rbf(0.5), 3).matrix(data.x);
  Monitor monitor;
  KernelRows rows(rbf(0.5), data.x);
  RowCache<double> cache(1000, 1e9);
  std::vector<Index> id(600);
  for (Index t = 0; t < 600; ++t) id[static_cast<std::size_t>(t)] = 999 - t;
  SmoOptions options;
  options.tol = 1e-5;
  const SmoResult first = solve_smo(classifier(data.y, 10), rows, options, monitor, cache, id);
  const SmoResult second = solve_smo(classifier(data.y, 10), rows, options, monitor, cache, id);
  options.single_precision = false;
  CHECK_NEAR(first.objective, fit(data, rbf(0.5), 10, options).objective, 1e-7 * std::abs(first.objective));
  CHECK(second.beta[0] == first.beta[0]);
  CHECK(second.kernel_values < 0.5 * first.kernel_values);
  Index known = 0;
  for (Index t = 0; t < 600; ++t) {
    Index length = 600;
    while (length > 0 && !cache.peek(id[static_cast<std::size_t>(t)], length)) --length;
    known += length;
    const double* values = cache.peek(id[static_cast<std::size_t>(t)], length);
    for (Index s = 0; s < length; ++s) CHECK_NEAR(values[s], k(t, s), 1e-14);
  }
  CHECK(known > 600);
}

TEST("one sheet, kinks and two sheets agree with the interior point solver") {
  const Data data = noisy(40, 2, 9);
  const MatrixXd k = Kernel(rbf(0.5), 2).matrix(data.x);
  SmoOptions options;
  options.tol = 1e-9;
  options.single_precision = false;
  Monitor monitor;
  const VectorXd ones = VectorXd::Ones(40);
  std::vector<SmoProblem> problems = {classifier(data.y, 2), classifier(data.y, 2), classifier(data.y, 2)};
  problems[1].kink = VectorXd::Constant(40, 0.2);  // regression of x1 x2
  problems[1].sheets[0] = {data.x.col(0).cwiseProduct(data.x.col(1)), -ones, ones, {}};
  VectorXd start = VectorXd::Zero(40);
  start.head(8).setConstant(1);
  problems[2].sheets[0] = {data.x.col(0), 0 * ones, ones, start};  // regression with a fixed sum of |b|
  problems[2].sheets.push_back({data.x.col(0), -ones, 0 * ones, -start});
  for (std::size_t p = 0; p < problems.size(); ++p) {
    VectorXd sums(static_cast<Index>(problems[p].sheets.size()));
    for (Index s = 0; s < sums.size(); ++s)
      sums[s] = problems[p].sheets[s].start.size() > 0 ? problems[p].sheets[s].start.sum() : 0;
    const QpResult exact = by_interior_point(problems[p], k, sums);
    for (const WorkingSet rule :
         {WorkingSet::second_order, WorkingSet::first_order, WorkingSet::feasible, WorkingSet::all_pairs}) {
      options.working_set = rule;
      KernelRows rows{Eigen::Map<const MatrixXd>(k.data(), 40, 40)};
      const SmoResult r = solve_smo(problems[p], rows, options, monitor);
      CHECK_NEAR(r.objective, exact.objective, 1e-7);
      CHECK(r.convergence.gap >= -1e-12 && r.convergence.gap < 1e-6);
      for (Index s = 0; s < sums.size(); ++s) CHECK_NEAR(r.beta[s].sum(), sums[s], 1e-12);
    }
  }
}

TEST("an indefinite kernel and rows with both labels end at a stationary point") {
  Data data = noisy(60, 2, 3);
  KernelSpec tanh;
  tanh.type = "sigmoid";
  tanh.scales = VectorXd::Ones(1);
  tanh.offset = -1;
  SmoOptions options;
  options.trace = true;
  const SmoResult r = fit(data, tanh, 1, options);
  CHECK(r.convergence.converged && r.f.allFinite() && std::isfinite(r.objective) && r.objective < 0);
  CHECK(static_cast<double>(r.trace.size()) == r.iterations);
  data.x.row(1) = data.x.row(0);
  data.y[0] = 1;
  data.y[1] = -1;
  const SmoResult twins = fit(data, rbf(1), 5, options);
  CHECK(twins.convergence.converged && twins.beta[0].allFinite());
}

TEST("a programme over the first rows only, from a start whose f is known, is the programme of these rows") {
  const Data data = noisy(60, 3, 4);
  SmoOptions options;
  options.tol = 1e-8;
  options.single_precision = false;
  Monitor monitor;
  const Data head{data.x.topRows(40), data.y.head(40)};
  const SmoResult alone = fit(head, rbf(0.5), 2, options);
  KernelRows rows(rbf(0.5), data.x);
  SmoProblem problem = classifier(data.y.head(40), 2);
  problem.sheets[0].start = alone.beta[0];
  problem.f = alone.f;
  const SmoResult again = solve_smo(problem, rows, options, monitor);
  CHECK(again.iterations <= 2 && again.kernel_values <= 4 * 40);
  CHECK_NEAR(again.objective, alone.objective, 1e-9);
  problem.f.resize(0);
  problem.sheets[0].start.resize(0);
  CHECK_NEAR(solve_smo(problem, rows, options, monitor).objective, alone.objective, 1e-7);
}

TEST("blocks of kernel rows are the same on any number of threads") {
  const Data data = noisy(3000, 9, 23);
  Monitor monitor;
  KernelSpec sum, bias;
  bias.type = "bias";
  sum.type = "sum";
  sum.children = {rbf(0.1), bias};
  std::vector<Index> which(50);
  std::iota(which.begin(), which.end(), Index(100));
  for (const Index columns : {2, 9}) {  // by differences, and by inner products
    for (const KernelSpec& spec : {rbf(0.1), sum}) {
      KernelRows rows(spec, data.x.leftCols(columns));
      MatrixXd one, two, plain;
      rows.block(which, 0, 3000, one, 1, monitor);
      rows.block(which, 0, 3000, two, 2, monitor);
      rows.block(which, 0, 3000, plain);
      CHECK(one == two);
      CHECK_NEAR((one - plain).cwiseAbs().maxCoeff(), 0, 1e-12);
    }
  }
}

TEST("rows of a kernel that change places are still their own") {
  const Data data = noisy(12, 3, 8);
  const SparseMatrix sparse = data.x.sparseView();
  const MatrixXd k = Kernel(rbf(0.5), 3).matrix(data.x);
  KernelSpec sum;
  sum.type = "sum";
  sum.children = {rbf(0.25), rbf(1)};
  const MatrixXd k2 = Kernel(sum, 3).matrix(data.x);
  std::vector<KernelRows> all;
  all.emplace_back(rbf(0.5), data.x);
  all.emplace_back(rbf(0.5), sparse);
  all.emplace_back(Eigen::Map<const MatrixXd>(k.data(), 12, 12));
  all.emplace_back(sum, data.x);
  for (std::size_t which = 0; which < all.size(); ++which) {
    KernelRows& rows = all[which];
    rows.swap(2, 9);
    rows.swap(9, 4);
    rows.swap(5, 5);
    const MatrixXd& truth = which == 3 ? k2 : k;
    std::vector<double> row(12);
    rows.row(9, 0, 12, row.data());
    CHECK_NEAR(row[9], truth(4, 4), 1e-12);
    CHECK_NEAR(row[4], truth(4, 2), 1e-12);
    CHECK_NEAR(row[2], truth(4, 9), 1e-12);
    CHECK_NEAR(row[5], truth(4, 5), 1e-12);
  }
}

TEST("a cache of rows that keeps some places only") {
  RowCache<double> cache(4, 1e6);
  const auto fill = [](Index from, Index to, double* out) {
    for (Index t = from; t < to; ++t) out[t - from] = static_cast<double>(t);
  };
  cache.fetch(0, 6, fill);
  cache.fetch(1, 3, fill);
  cache.select({0, 2, 5});
  CHECK(cache.peek(0, 3)[1] == 2 && cache.peek(0, 3)[2] == 5 && cache.peek(0, 4) == nullptr);
  CHECK(cache.peek(1, 2)[1] == 2 && cache.peek(1, 3) == nullptr);
  cache.clear();
  CHECK(cache.peek(0, 1) == nullptr && cache.peek(1, 1) == nullptr);
}

TEST("a programme that makes no sense is refused") {
  const Data data = noisy(10, 2, 3);
  KernelRows rows(rbf(1), data.x);
  Monitor monitor;
  SmoProblem problem = classifier(data.y, 1);
  problem.kink = VectorXd::Constant(9, 1.0);
  CHECK_THROWS(solve_smo(problem, rows, SmoOptions(), monitor), InputError);
  VectorXd longer(11);
  longer << data.y, 1;
  problem = classifier(longer, 1);
  CHECK_THROWS(solve_smo(problem, rows, SmoOptions(), monitor), InputError);
  problem = classifier(data.y, 1);
  problem.f = VectorXd::Zero(9);
  CHECK_THROWS(solve_smo(problem, rows, SmoOptions(), monitor), InputError);
  problem = classifier(data.y, 1);
  problem.sheets[0].start = VectorXd::Constant(10, 2.0);
  CHECK_THROWS(solve_smo(problem, rows, SmoOptions(), monitor), InputError);
  problem.sheets.clear();
  CHECK_THROWS(solve_smo(problem, rows, SmoOptions(), monitor), InputError);
  Data huge = data;
  huge.x.array() *= 1e200;
  KernelSpec cubic;
  cubic.type = "polynomial";
  cubic.scales = VectorXd::Ones(1);
  cubic.shape = 3;
  CHECK_THROWS(KernelRows(cubic, huge.x), InputError);
}

TEST("the certificate at large cost is that of the kernel in double precision, though cached rows are single") {
  const Data data = noisy(400, 3, 11);
  for (const double cost : {1.0, 1e4, 32768.0, 1e6}) {
    SmoOptions options;
    options.tol = 1e-3;
    options.max_iter = 2e6;
    const SmoResult r = fit(data, rbf(0.1), cost, options);
    const MatrixXd k = Kernel(rbf(0.1), 3).matrix(data.x);
    const VectorXd f = k * r.beta[0];
    CHECK((f - r.f).cwiseAbs().maxCoeff() < 1e-9 * std::max(1.0, cost));
    double gap = 0, largest = -1e300, least = 1e300;
    for (Index t = 0; t < f.size(); ++t) {
      const double low = data.y[t] > 0 ? 0 : -cost, high = data.y[t] > 0 ? cost : 0, v = data.y[t] - f[t], b = r.beta[0][t];
      const double slope = v - r.multiplier[0];
      gap += std::max({0.0, low * slope, high * slope}) - b * slope;
      if (b < high) largest = std::max(largest, v);
      if (b > low) least = std::min(least, v);
    }
    CHECK_NEAR(r.convergence.gap, gap, 1e-6 * std::max(1.0, gap));
    CHECK_NEAR(r.violation, largest - least, 1e-7);
    CHECK_NEAR(r.objective, 0.5 * r.beta[0].dot(f) - data.y.dot(r.beta[0]), 1e-7 * std::abs(r.objective));
    CHECK(r.convergence.converged == (largest - least < options.tol));
  }
}

TEST("where rows in single precision do not reach the tolerance, rows in double precision do") {
  const Data data = noisy(300, 3, 12);
  SmoOptions options;
  options.tol = 2e-5;  // just above what is solved in double precision from the start
  options.max_iter = 1e7;
  const SmoResult r = fit(data, rbf(0.5), 1e4, options);
  CHECK(r.convergence.converged && r.violation < 2e-5);
}
