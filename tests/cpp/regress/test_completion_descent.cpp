#include "eigen.h"

#include "harness.h"
#include "regress/completion.h"
#include "regress/completion_descent.h"

using namespace granary;
using namespace granary::regress;

namespace {

struct Problem {
  MatrixXd x, seen;  // values, and 1 where observed
  ObservedCells cells;
};

Problem low_rank(Index m, Index n, Index rank, double share, std::uint64_t seed, double scale = 1) {
  Rng rng(seed);
  MatrixXd a(m, rank), b(n, rank);
  for (Index k = 0; k < a.size(); ++k) a.data()[k] = rng.normal();
  for (Index k = 0; k < b.size(); ++k) b.data()[k] = rng.normal();
  Problem problem;
  problem.x = scale * a * b.transpose();
  problem.seen = MatrixXd::Zero(m, n);
  std::vector<int> row, col;
  std::vector<double> value;
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < m; ++i) {
      if (rng.uniform() >= share) continue;
      problem.x(i, j) += 0.3 * scale * rng.normal();
      problem.seen(i, j) = 1;
      row.push_back(static_cast<int>(i));
      col.push_back(static_cast<int>(j));
      value.push_back(problem.x(i, j));
    }
  }
  problem.cells = observe(row, col, value, m, n, true);
  return problem;
}

double objective(const Problem& problem, double lambda, const Factors& w) {
  const MatrixXd rest = (problem.x - w.u.transpose() * w.v).cwiseProduct(problem.seen);
  return rest.squaredNorm() + 0.5 * lambda * (w.u.squaredNorm() + w.v.squaredNorm());
}

ThinSvd start_of(const Problem& problem, Index rank) {
  const Eigen::JacobiSVD<MatrixXd> svd(problem.x.cwiseProduct(problem.seen), Eigen::ComputeThinU | Eigen::ComputeThinV);
  return {svd.matrixU().leftCols(rank), svd.singularValues().head(rank), svd.matrixV().leftCols(rank)};
}

Monitor quiet;

}  // namespace

TEST("completion_descent: the objective it reports is that of its factors, below that of its start, where the gradient vanishes") {
  for (const double scale : {1.0, 1e-4, 1e4}) {
    const Problem problem = low_rank(25, 18, 3, 0.6, 1, scale);
    const double lambda = 2 * scale;
    const ThinSvd start = start_of(problem, 5);
    DescentOptions options;
    options.tol = 1e-9;
    options.value_tol = 0;
    options.max_iter = 2000;
    const DescentResult result = descend(problem.cells, lambda, start, options, quiet);
    CHECK_NEAR(result.objective, objective(problem, lambda, result.w), 1e-9 * result.objective);
    const VectorXd root = start.d.cwiseSqrt();
    const Factors first{root.asDiagonal() * start.p.transpose(), root.asDiagonal() * start.q.transpose()};
    CHECK(result.objective < objective(problem, lambda, first));
    const MatrixXd rest = (problem.x - result.w.u.transpose() * result.w.v).cwiseProduct(problem.seen);
    const MatrixXd gu = -2 * result.w.v * rest.transpose() + lambda * result.w.u;
    const MatrixXd gv = -2 * result.w.u * rest + lambda * result.w.v;
    const MatrixXd at_start = -2 * first.v * (problem.x.cwiseProduct(problem.seen)).transpose();
    CHECK(gu.norm() + gv.norm() < 1e-5 * at_start.norm());
  }
}

TEST("completion_descent: with rank enough it ends at the optimum of the alternating sweeps") {
  const Problem problem = low_rank(30, 20, 2, 0.7, 2);
  const double lambda = 6;
  CompletionOptions sweeps;
  sweeps.tol = 1e-10;
  const CompletionResult best = complete_als(problem.cells, lambda, Factors::zero(problem.cells), sweeps, quiet);
  DescentOptions options;
  options.tol = 1e-9;
  options.value_tol = 0;
  options.max_iter = 5000;
  const DescentResult result = descend(problem.cells, lambda, start_of(problem, 12), options, quiet);
  CHECK_NEAR(result.objective, best.objective, 1e-6 * best.objective);
}

TEST("completion_descent: one and two threads give the same bits") {
  const Problem problem = low_rank(40, 30, 3, 0.5, 3);
  DescentOptions options;
  const DescentResult one = descend(problem.cells, 3, start_of(problem, 6), options, quiet);
  options.threads = 2;
  const DescentResult two = descend(problem.cells, 3, start_of(problem, 6), options, quiet);
  CHECK(one.objective == two.objective);
  CHECK(one.w.u == two.w.u && one.w.v == two.w.v);
}
