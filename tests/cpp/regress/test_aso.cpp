
#include "eigen.h"
#include "core/random/rng.h"
#include "regress/aso.h"
#include "harness.h"

using namespace granary;
using namespace granary::regress;

namespace {

MatrixXd noise(Index rows, Index cols, std::uint64_t seed) {
  Rng rng(seed);
  return MatrixXd::NullaryExpr(rows, cols, [&](Index, Index) { return rng.normal(); });
}

struct Problem {
  std::vector<MatrixXd> x;
  std::vector<Design> designs;
  std::vector<Task> tasks;
};

Problem make_problem(Index p, Index m, Index n, bool signs) {
  Problem out;
  const MatrixXd shared = noise(p, 2, 1);
  for (Index l = 0; l < m; ++l) out.x.push_back(noise(n, p, 10 + static_cast<std::uint64_t>(l)));
  for (Index l = 0; l < m; ++l) {
    const MatrixXd& x = out.x[static_cast<std::size_t>(l)];
    out.designs.emplace_back(Eigen::Map<const MatrixXd>(x.data(), x.rows(), x.cols()));
    Task task;
    task.design = l;
    task.y =
        x * shared * noise(2, 1, 100 + static_cast<std::uint64_t>(l)) + 0.3 * noise(n, 1, 200 + static_cast<std::uint64_t>(l));
    if (signs) task.y = task.y.unaryExpr([](double v) { return v > 0 ? 1.0 : -1.0; });
    task.lambda = VectorXd::Constant(1, 0.5);
    out.tasks.push_back(std::move(task));
  }
  return out;
}

std::vector<std::vector<int>> one_group(int p) {
  std::vector<int> all;
  for (int j = 0; j < p; ++j) all.push_back(j);
  return {all};
}

}  // namespace

TEST("aso: the gradient of a task vanishes at its fit, for every loss, dense and sparse alike") {
  Monitor monitor;
  for (const TaskLoss loss : {TaskLoss::huber, TaskLoss::squared, TaskLoss::logistic, TaskLoss::hinge2}) {
    const Problem problem = make_problem(6, 1, 40, loss != TaskLoss::squared);
    TaskOptions options;
    options.loss = loss;
    options.tol = 1e-9;
    Structure structure{one_group(6), {MatrixXd::Zero(0, 6)}};
    const TaskFit fit = fit_task(problem.designs[0], problem.tasks[0], structure, nullptr, {}, options, monitor);
    VectorXd gradient = 2 * 0.5 * fit.u, slope(40);
    const VectorXd score = (problem.x[0] * fit.u).array() + fit.intercept;
    for (Index i = 0; i < 40; ++i) slope[i] = loss_slope(loss, score[i], problem.tasks[0].y[i]) / 40;
    gradient += problem.x[0].transpose() * slope;
    CHECK(gradient.cwiseAbs().maxCoeff() < 1e-6);
    CHECK_NEAR(slope.sum(), 0, 1e-6);
    const SparseMatrix sparse = problem.x[0].sparseView();
    const ConstSparseMap map(sparse.rows(), sparse.cols(), sparse.nonZeros(), sparse.outerIndexPtr(), sparse.innerIndexPtr(),
                             sparse.valuePtr());
    const TaskFit same = fit_task(Design(map), problem.tasks[0], structure, nullptr, {}, options, monitor);
    CHECK((same.u - fit.u).norm() < 1e-6);
  }
}

TEST("aso: a spared subspace has its closed form, by Cholesky and by conjugate gradients") {
  Monitor monitor;
  const Problem problem = make_problem(7, 1, 30, false);
  MatrixXd theta(1, 7);
  theta = noise(1, 7, 5).normalized();
  const Structure structure{one_group(7), {theta}};
  TaskOptions options;
  options.loss = TaskLoss::squared;
  options.intercept = false;
  options.tol = 1e-9;
  const MatrixXd& x = problem.x[0];
  const MatrixXd a = x.transpose() * x / 30 + 0.5 * (MatrixXd::Identity(7, 7) - theta.transpose() * theta);
  const VectorXd closed = a.ldlt().solve(x.transpose() * problem.tasks[0].y / 30);
  const AsoResult factored = aso_target(problem.designs, problem.tasks, structure, options, 1, monitor);
  CHECK((factored.u.col(0) - closed).norm() < 1e-6);
  const TaskFit iterated = fit_task(problem.designs[0], problem.tasks[0], structure, nullptr, {}, options, monitor);
  CHECK((iterated.u - closed).norm() < 1e-6);
}

TEST("aso: the objective never rises, Theta is orthonormal, and two threads agree with one") {
  Monitor monitor;
  for (const bool signs : {false, true}) {
    for (const AsoVariant variant : {AsoVariant::joint, AsoVariant::fixed_v}) {
      const Problem problem = make_problem(8, 6, 20, signs);
      AsoOptions options;
      options.task.loss = signs ? TaskLoss::huber : TaskLoss::squared;
      options.h = {2};
      options.variant = variant;
      options.n_iter = 15;
      const AsoResult one = aso(problem.designs, problem.tasks, one_group(8), options, monitor);
      for (std::size_t r = 1; r < one.path.size(); ++r) CHECK(one.path[r] <= one.path[r - 1] * (1 + 1e-7));
      CHECK((one.structure.theta[0] * one.structure.theta[0].transpose() - MatrixXd::Identity(2, 2)).norm() < 1e-10);
      options.threads = 2;
      const AsoResult two = aso(problem.designs, problem.tasks, one_group(8), options, monitor);
      CHECK((one.u - two.u).norm() == 0);
    }
  }
}

TEST("aso: errors") {
  Monitor monitor;
  Problem problem = make_problem(5, 2, 10, false);
  AsoOptions options;
  options.h = {1};
  CHECK_THROWS(aso(problem.designs, problem.tasks, {{0, 1, 2, 3}}, options, monitor), InputError);
  CHECK_THROWS(aso(problem.designs, problem.tasks, {{0, 1, 2, 3, 3}}, options, monitor), InputError);
  problem.tasks[1].y = VectorXd::Ones(3);
  CHECK_THROWS(aso(problem.designs, problem.tasks, one_group(5), options, monitor), InputError);
}
