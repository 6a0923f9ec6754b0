// The debiased lasso and its rivals, from data to intervals.
#include "eigen.h"
#include <cmath>

#include "core/base/errors.h"
#include "core/linalg/dense.h"
#include "core/random/rng.h"
#include "harness.h"
#include "regress/debiased_baseline.h"

using namespace granary;
using namespace granary::regress;

namespace {

struct Problem {
  MatrixXd x;
  VectorXd y;
  DebiasedData data() const {
    DebiasedData out;
    new (&out.x) MatrixView(x.data(), x.rows(), x.cols());
    new (&out.y) VectorView(y.data(), y.size());
    return out;
  }
};

Problem make_problem(Index n, Index p, std::uint64_t seed) {
  Rng rng(seed);
  Problem out;
  out.x = MatrixXd::NullaryExpr(n, p, [&](Index, Index) { return rng.normal(); });
  out.y = out.x.leftCols(2) * VectorXd::Constant(2, 2.0) + rng.normals(n);
  out.x.col(0) *= 10;  // units must not matter
  out.x.col(1).array() += 5;
  return out;
}

}  // namespace

TEST("the debiased lasso is the lasso plus M X'r / n, on the scale of the data") {
  Monitor monitor;
  const Problem problem = make_problem(80, 30, 1);
  const DebiasedResult fit = debiased_lasso(problem.data(), DebiasedOptions(), monitor);
  const DebiasedStart start = debiased_start(problem.data(), DebiasedOptions(), monitor);
  const VectorXd by_hand = start.theta + fit.rows.rows.transpose() * start.residual / 80.0;
  CHECK_NEAR((by_hand.cwiseQuotient(start.design.scale) - fit.coefficients).norm(), 0.0, 1e-10);
  CHECK(fit.p_value[0] < 1e-6 && fit.p_value[1] < 1e-6);
  CHECK_NEAR(fit.coefficients[0], 0.2, 4 * fit.se[0]);
  CHECK(fit.coverage.size() == 30 && fit.coverage.minCoeff() > 0 && fit.coverage.maxCoeff() <= 1);
}

TEST("least squares among the rivals is the textbook's") {
  Monitor monitor;
  const Problem problem = make_problem(60, 5, 2);
  BaselineOptions options;
  options.method = DebiasedMethod::ols;
  const DebiasedResult fit = debiased_baseline(problem.data(), options, Rng(1), monitor);
  MatrixXd design(60, 6);
  design << VectorXd::Ones(60), problem.x;
  const Lu normal(MatrixXd(design.transpose() * design));
  const VectorXd b = normal.solve(VectorXd(design.transpose() * problem.y));
  const double s2 = (problem.y - design * b).squaredNorm() / 54;
  for (Index j = 0; j < 5; ++j) {
    CHECK_NEAR(fit.coefficients[j], b[j + 1], 1e-8);
    CHECK_NEAR(fit.se[j], std::sqrt(s2 * normal.inverse()(j + 1, j + 1)), 1e-8);
  }
}

TEST("every rival finds the columns that matter, and a constant column is told apart from them") {
  Monitor monitor;
  Problem problem = make_problem(100, 20, 3);
  problem.x.col(7).setConstant(3);
  for (const DebiasedMethod method : {DebiasedMethod::nodewise, DebiasedMethod::ridge, DebiasedMethod::split, DebiasedMethod::ols}) {
    BaselineOptions options;
    options.method = method;
    options.splits = 10;
    const DebiasedResult fit = debiased_baseline(problem.data(), options, Rng(5), monitor);
    CHECK(fit.keep.size() == 19);
    CHECK(fit.p_value[0] < 0.01 && fit.p_value[1] < 0.01);
  }
  DebiasedData asked = problem.data();
  asked.which = {7};
  CHECK_THROWS(debiased_lasso(asked, DebiasedOptions(), monitor), InputError);
}

TEST("the smallest mu of the robust version keeps the bound on |Xm|, and rows below it are infeasible") {
  Monitor monitor;
  Rng rng(12);
  const MatrixXd x = MatrixXd::NullaryExpr(60, 8, [&](Index, Index) { return rng.student_t(1.8); });
  const ScaledDesign design = scale_columns(x, true, true);
  DecorrelateOptions options;
  options.mu = 0.3;
  options.noise = RowNoise::robust;
  options.beta = 0.26;
  const double bound = std::pow(60.0, 0.26);
  std::vector<int> all;
  for (int j = 0; j < 8; ++j) all.push_back(j);
  const Decorrelation rows = decorrelate(design.x, all, options, monitor);
  for (int j = 0; j < 8; ++j) {
    const double least = smallest_robust_mu(design.x, j, bound, monitor);
    CHECK(rows.row[j].feasible == (0.3 >= least * (1 - 1e-9)) || rows.row[j].coherence <= 0.3 * (1 + 1e-6));
    if (rows.row[j].converged) CHECK(rows.row[j].coherence >= least - 1e-6);
  }
  options.infeasible = Infeasible::identity;
  const Decorrelation kept = decorrelate(design.x, all, options, monitor);
  for (int j = 0; j < 8; ++j) CHECK(kept.row[j].largest <= bound * (1 + 1e-6));
}
