#include <cmath>
#include <numeric>

#include "core/base/errors.h"
#include "core/random/rng.h"
#include "harness.h"
#include "kernel/svm.h"
#include "kernel/svm_probability.h"

using namespace granary;
using namespace granary::kernel;

namespace {

KernelSpec gaussian(double gamma) {
  KernelSpec spec;
  spec.type = "se";
  spec.scales = VectorXd::Constant(1, 1 / std::sqrt(2 * gamma));
  return spec;
}

struct Example {
  MatrixXd x;
  VectorXd label, target;
};

Example example(Index n, std::uint64_t seed) {
  Rng rng(seed);
  Example out{MatrixXd(n, 2), VectorXd(n), VectorXd(n)};
  for (Index i = 0; i < n; ++i) {
    out.x(i, 0) = rng.normal();
    out.x(i, 1) = rng.normal();
    out.target[i] = out.x(i, 0) + 0.5 * out.x(i, 0) * out.x(i, 1) + 0.3 * rng.normal();
    out.label[i] = out.target[i] > 0 ? 1 : -1;
  }
  return out;
}

Eigen::Map<const MatrixXd> view(const MatrixXd& x) { return Eigen::Map<const MatrixXd>(x.data(), x.rows(), x.cols()); }

SvmTask everything(const VectorXd& y) {
  SvmTask task;
  task.rows.resize(static_cast<std::size_t>(y.size()));
  std::iota(task.rows.begin(), task.rows.end(), Index(0));
  task.y = y;
  task.weight = VectorXd::Ones(y.size());
  return task;
}

SmoOptions precise() {
  SmoOptions options;
  options.tol = 1e-8;
  options.single_precision = false;
  return options;
}

}  // namespace

TEST("each machine satisfies its optimality conditions, from the kernel matrix") {
  const Example data = example(80, 1);
  const KernelSpec spec = gaussian(0.5);
  const SvmData points(spec, view(data.x));
  const MatrixXd k = Kernel(spec, 2).matrix(data.x);
  Monitor monitor;
  const SvmPoint at{2, 0.3, 0.1};
  constexpr double slack = 1e-6;
  for (const SvmType type :
       {SvmType::classification, SvmType::regression, SvmType::one_class, SvmType::nu_classification, SvmType::nu_regression}) {
    const bool classes = type == SvmType::classification || type == SvmType::nu_classification;
    SvmTask task = everything(classes ? data.label : data.target);
    task.held_out = {3, 70, 5};
    const SvmSolution s = solve_svm(type, points, task, {at}, precise(), monitor)[0];
    const VectorXd g = (k * s.coefficients).array() + s.offset;
    CHECK(s.solver.convergence.converged);
    CHECK_NEAR((g - s.decision).cwiseAbs().maxCoeff(), 0, 1e-8 / (s.rho > 0 ? s.rho : 1));
    for (Index j = 0; j < 3; ++j) CHECK_NEAR(s.held_out[j], g[task.held_out[static_cast<std::size_t>(j)]], 1e-8);
    const double box = type == SvmType::nu_classification ? 1 / s.rho : type == SvmType::one_class ? 1 : 2;
    for (Index t = 0; t < 80; ++t) {
      const double b = s.coefficients[t];
      const bool bounded = s.bounded[static_cast<std::size_t>(t)] != 0;
      CHECK(std::abs(b) <= box * (1 + 1e-12));
      CHECK(bounded == (std::abs(std::abs(b) - box) < 1e-12 * box));
      if (classes) {
        const double margin = data.label[t] * g[t] - 1;
        CHECK(data.label[t] * b >= 0);
        CHECK(b != 0 || margin > -slack / (s.rho > 0 ? s.rho : 1));
        CHECK(!bounded || margin < slack / (s.rho > 0 ? s.rho : 1));
      } else if (type == SvmType::one_class) {
        CHECK(b != 0 || g[t] > -slack);
        CHECK(!bounded || g[t] < slack);
      } else {
        const double residual = data.target[t] - g[t];
        CHECK(b != 0 || std::abs(residual) < s.epsilon + slack);
        CHECK(!bounded || residual * (b > 0 ? 1 : -1) > s.epsilon - slack);
        CHECK(b == 0 || bounded || std::abs(std::abs(residual) - s.epsilon) < slack);
      }
    }
    double sum = s.coefficients.sum(), expected = type == SvmType::one_class ? 0.3 * 80 : 0;
    CHECK_NEAR(sum, expected, 1e-8);
    if (type == SvmType::nu_classification) CHECK_NEAR(s.coefficients.cwiseAbs().sum() * s.rho, 0.3 * 80, 1e-8);
  }
}

TEST("some rows of a matrix, a sparse matrix and a kernel matrix are the same machine") {
  const Example data = example(50, 2);
  const KernelSpec spec = gaussian(0.5);
  const MatrixXd k = Kernel(spec, 2).matrix(data.x);
  const SparseMatrix sparse = data.x.sparseView();
  Monitor monitor;
  SvmTask task;
  for (Index i = 49; i >= 0; i -= 2) task.rows.push_back(i);
  task.y.resize(25);
  for (Index i = 0; i < 25; ++i) task.y[i] = data.label[task.rows[static_cast<std::size_t>(i)]];
  task.weight = VectorXd::LinSpaced(25, 0.5, 2);
  task.held_out = {0, 2, 4, 48};
  const SvmSolution dense = solve_svm(SvmType::classification, SvmData(spec, view(data.x)), task, {{}}, precise(), monitor)[0];
  const SvmSolution thin = solve_svm(SvmType::classification, SvmData(spec, sparse), task, {{}}, precise(), monitor)[0];
  const SvmSolution gram = solve_svm(SvmType::classification, SvmData(view(k)), task, {{}}, precise(), monitor)[0];
  CHECK_NEAR((dense.coefficients - thin.coefficients).cwiseAbs().maxCoeff(), 0, 1e-5);
  CHECK_NEAR((dense.coefficients - gram.coefficients).cwiseAbs().maxCoeff(), 0, 1e-5);
  CHECK_NEAR((dense.held_out - thin.held_out).cwiseAbs().maxCoeff(), 0, 1e-6);
  CHECK_NEAR((dense.held_out - gram.held_out).cwiseAbs().maxCoeff(), 0, 1e-6);
}

TEST("a path over points ends where a fresh start does") {
  const Example data = example(100, 3);
  const KernelSpec spec = gaussian(0.5);
  const SvmData points(spec, view(data.x));
  Monitor monitor;
  const std::vector<SvmPoint> path = {{0.1, 0.1, 0.5}, {1, 0.3, 0.2}, {10, 0.2, 0.1}};
  for (const SvmType type :
       {SvmType::classification, SvmType::regression, SvmType::one_class, SvmType::nu_classification, SvmType::nu_regression}) {
    const bool classes = type == SvmType::classification || type == SvmType::nu_classification;
    const SvmTask task = everything(classes ? data.label : data.target);
    const std::vector<SvmSolution> along = solve_svm(type, points, task, path, precise(), monitor);
    for (std::size_t p = 0; p < path.size(); ++p) {
      const SvmSolution fresh = solve_svm(type, points, task, {path[p]}, precise(), monitor)[0];
      CHECK_NEAR(along[p].solver.objective, fresh.solver.objective, 1e-5 * std::max(1.0, std::abs(fresh.solver.objective)));
    }
  }
}

TEST("a start is moved into the box with the right sum, and refused where there is none") {
  const VectorXd lower = VectorXd::Zero(4), upper = VectorXd::Constant(4, 1.0);
  VectorXd b(4);
  b << 3, 0.5, -1, 0;
  const VectorXd less = feasible_start(b, lower, upper, 0.75);
  CHECK_NEAR(less.sum(), 0.75, 1e-15);
  CHECK_NEAR(less[0], 0.5, 1e-12);
  CHECK_NEAR(less[1], 0.25, 1e-12);
  CHECK(less[2] == 0 && less[3] == 0);
  const VectorXd more = feasible_start(b, lower, upper, 2.25);
  CHECK(more[0] == 1 && more[1] == 1 && more[2] == 0.25 && more[3] == 0);
  const VectorXd first = feasible_start(VectorXd::Zero(4), lower, upper, 2.5);  // as LIBSVM begins
  CHECK(first[0] == 1 && first[1] == 1 && first[2] == 0.5 && first[3] == 0);
  CHECK_THROWS(feasible_start(b, lower, upper, 4.5), InputError);
  VectorXd both(4);
  both << 2, 1, -1, 0;
  const VectorXd balanced = feasible_start(both, -2 * upper, 2 * upper, 0);
  CHECK_NEAR(balanced.sum(), 0, 1e-15);
  CHECK(balanced[3] == 0 && balanced[2] == -1);
}

TEST("an infeasible nu, a single class and wrong sizes are refused") {
  Example data = example(20, 4);
  const KernelSpec spec = gaussian(1);
  const SvmData points(spec, view(data.x));
  Monitor monitor;
  SvmTask task = everything(data.label);
  task.y.setConstant(-1);
  task.y[0] = 1;
  CHECK_NEAR(largest_nu(task), 0.1, 1e-15);
  const SvmType nu = SvmType::nu_classification;
  CHECK_THROWS(solve_svm(nu, points, task, {{1, 0.2, 0}}, precise(), monitor), InputError);
  CHECK(solve_svm(nu, points, task, {{1, 0.1, 0}}, precise(), monitor)[0].rho > 0);
  task.y[0] = -1;
  CHECK_THROWS(solve_svm(SvmType::classification, points, task, {{}}, precise(), monitor), InputError);
  task.weight.conservativeResize(19);
  CHECK_THROWS(solve_svm(SvmType::regression, points, task, {{}}, precise(), monitor), InputError);
  CHECK_THROWS(SvmData(Eigen::Map<const MatrixXd>(data.x.data(), 20, 2)), InputError);
}

TEST("the margin of equal points is zero, which a nu classifier says") {
  const MatrixXd x = MatrixXd::Ones(6, 2);
  VectorXd y(6);
  y << 1, -1, 1, -1, 1, -1;
  const KernelSpec spec = gaussian(1);
  Monitor monitor;
  CHECK_THROWS(solve_svm(SvmType::nu_classification, SvmData(spec, view(x)), everything(y), {{}}, precise(), monitor),
               NumericalError);
  CHECK(solve_svm(SvmType::classification, SvmData(spec, view(x)), everything(y), {{}}, precise(), monitor)[0]
            .coefficients.allFinite());
}

TEST("decision values in panels are those of the whole matrix, on any number of threads") {
  const Example data = example(1100, 5), support = example(300, 6);
  const KernelRows rows(gaussian(0.7), support.x);
  const MatrixXd coefficients = MatrixXd::Random(300, 3);
  Monitor monitor;
  const MatrixXd one = decision_values(rows, coefficients, ConstMatrixRef(data.x), 1, monitor);
  const MatrixXd two = decision_values(rows, coefficients, ConstMatrixRef(data.x), 2, monitor);
  const MatrixXd sparse = decision_values(rows, coefficients, SparseMatrix(data.x.sparseView()), 1, monitor);
  CHECK(one == two);
  CHECK_NEAR((one - Kernel(gaussian(0.7), 2).cross(data.x, support.x) * coefficients).cwiseAbs().maxCoeff(), 0, 1e-10);
  CHECK_NEAR((one - sparse).cwiseAbs().maxCoeff(), 0, 1e-10);
  CHECK_THROWS(decision_values(rows, coefficients.topRows(5), ConstMatrixRef(data.x), 1, monitor), InputError);
}

TEST("coupled pairs: consistent ones give back the classes, others solve the paper's system") {
  VectorXd p(4);
  p << 0.4, 0.3, 0.2, 0.1;
  MatrixXd pairs(2, 6);
  Index c = 0;
  for (Index a = 0; a < 4; ++a)
    for (Index b = a + 1; b < 4; ++b) pairs(0, c++) = p[b] / (p[a] + p[b]);
  pairs.row(1) << 0, 1, 0.3, 0.9, 0.5, 0.2;
  const MatrixXd out = couple_pairs(pairs, 4);
  CHECK_NEAR((out.row(0).transpose() - p).norm(), 0, 1e-12);
  CHECK_NEAR(out.row(1).sum(), 1, 1e-12);
  CHECK(out.minCoeff() >= 0);
  CHECK_NEAR(couple_pairs(MatrixXd::Constant(1, 1, 0.8), 2)(0, 1), 0.8, 1e-9);
  CHECK_THROWS(couple_pairs(pairs, 3), InputError);
}
