#include "eigen.h"
#include <algorithm>

#include "core/base/errors.h"
#include "harness.h"
#include "regress/completion.h"
#include "regress/completion_bounded.h"
#include "regress/completion_rademacher.h"
#include "regress/completion_sweep.h"

using namespace granary;
using namespace granary::regress;

namespace {

struct Problem {
  std::vector<int> row, col;
  std::vector<double> value;
  ObservedCells cells;
};

Problem low_rank(Index m, Index n, Index rank, double share, double noise, std::uint64_t seed, double scale = 1) {
  Rng rng(seed);
  MatrixXd a(m, rank), b(n, rank);
  for (Index k = 0; k < a.size(); ++k) a.data()[k] = rng.normal();
  for (Index k = 0; k < b.size(); ++k) b.data()[k] = rng.normal();
  const MatrixXd x = a * b.transpose();
  Problem problem;
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < m; ++i) {
      if (rng.uniform() >= share) continue;
      problem.row.push_back(static_cast<int>(i));
      problem.col.push_back(static_cast<int>(j));
      problem.value.push_back(scale * (x(i, j) + noise * rng.normal()));
    }
  }
  problem.cells = observe(problem.row, problem.col, problem.value, m, n, true);
  return problem;
}

MatrixXd dense(const ThinSvd& w) { return w.p * w.d.asDiagonal() * w.q.transpose(); }
Monitor quiet;

}  // namespace

TEST("completion: with all cells observed every solver gives the soft-thresholded SVD") {
  const Problem problem = low_rank(12, 9, 3, 2, 0.3, 1);
  const MatrixXd x = MatrixXd(on_cells(problem.cells, problem.cells.by_col.value));
  const Eigen::JacobiSVD<MatrixXd> svd(x, Eigen::ComputeThinU | Eigen::ComputeThinV);
  const double lambda = 4;
  const VectorXd d = (svd.singularValues().array() - lambda / 2).max(0);
  const MatrixXd expected = svd.matrixU() * d.asDiagonal() * svd.matrixV().transpose();
  CompletionOptions options;
  options.tol = 1e-10;
  const Factors none = Factors::zero(problem.cells);
  const CompletionResult als = complete_als(problem.cells, lambda, none, options, quiet);
  const CompletionResult soft = complete_softimpute(problem.cells, lambda, none, options, quiet);
  CHECK((dense(als.w) - expected).norm() < 1e-4 * expected.norm());
  CHECK((dense(soft.w) - expected).norm() < 1e-6 * expected.norm());
  CHECK_NEAR(als.objective, (x - expected).squaredNorm() + lambda * d.sum(), 1e-8 * als.objective);
  CHECK(als.certified && soft.certified && als.convergence.converged);
  options.tol = 1e-7;
  for (const bool corrective : {true, false}) {
    options.corrective = corrective;
    options.tol = corrective ? 1e-7 : 3e-2;  // the plain method's gap falls as one over the iterations
    const CompletionResult fw = complete_frank_wolfe(problem.cells, d.sum(), none, options, quiet);
    CHECK(fw.convergence.converged);
    CHECK(fw.w.d.sum() <= d.sum() * (1 + 1e-9));
    CHECK_NEAR(fw.loss, (x - expected).squaredNorm(), options.tol * fw.loss * 1.01);
  }
}

TEST("completion: ALS and soft-impute agree, certified, with falling objectives") {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const Problem problem = low_rank(30, 22, 2, 0.4, 0.5, seed);
    const double lambda = 0.15 * lambda_max(problem.cells, quiet);
    CompletionOptions options;
    options.tol = 1e-8;
    const CompletionResult als = complete_als(problem.cells, lambda, Factors::zero(problem.cells), options, quiet);
    const CompletionResult soft = complete_softimpute(problem.cells, lambda, Factors::zero(problem.cells), options, quiet);
    CHECK(als.certified && soft.certified);
    CHECK_NEAR(als.objective, soft.objective, 2e-8 * soft.objective);
    CHECK(als.w.d.size() == soft.w.d.size());
    CHECK((dense(als.w) - dense(soft.w)).norm() < 1e-3 * dense(als.w).norm());
    for (std::size_t k = 1; k < soft.trace.size(); ++k) CHECK(soft.trace[k] <= soft.trace[k - 1] * (1 + 1e-10));
    options.anderson = 0;
    const CompletionResult plain = complete_als(problem.cells, lambda, Factors::zero(problem.cells), options, quiet);
    CHECK_NEAR(plain.objective, als.objective, 2e-8 * als.objective);
    // the balanced factors hold the trace norm
    const Factors f = balanced(als.w);
    CHECK_NEAR(0.5 * (f.u.squaredNorm() + f.v.squaredNorm()), als.w.d.sum(), 1e-10 * als.w.d.sum());
    // optimality as the card states it: ||G|| <= lambda, <G, W> = lambda ||W||
    const std::vector<double> fitted = fitted_cells(problem.cells, f, 1, quiet);
    const SparseMatrix g = on_cells(problem.cells, negative_gradient(problem.cells, fitted));
    CHECK(spectral_norm(g, quiet) <= lambda * (1 + 1e-5));
    double with_w = 0;
    for (Index a = 0; a < g.nonZeros(); ++a) with_w += g.valuePtr()[a] * fitted[a];
    CHECK_NEAR(with_w, lambda * als.w.d.sum(), 1e-5 * with_w);
  }
}

TEST("completion: the certificate bounds the distance to the minimum from any W") {
  const Problem problem = low_rank(20, 15, 2, 0.5, 0.5, 4);
  const double lambda = 0.2 * lambda_max(problem.cells, quiet);
  CompletionOptions options;
  options.tol = 1e-9;
  const CompletionResult best = complete_als(problem.cells, lambda, Factors::zero(problem.cells), options, quiet);
  Rng rng(7);
  for (int trial = 0; trial < 20; ++trial) {
    ThinSvd w = best.w;
    w.d *= 1 + 0.5 * rng.normal() * (trial % 4);
    w.d = w.d.cwiseAbs();
    if (trial % 3 == 0) w = {w.p.leftCols(1).eval(), w.d.head(1).eval(), w.q.leftCols(1).eval()};
    const Certificate seen = certify(problem.cells, w, lambda, CertificateOptions(), quiet);
    CHECK(seen.gap >= seen.objective - best.objective - 1e-8 * best.objective);
    const double norm = spectral_norm(
        on_cells(problem.cells, negative_gradient(problem.cells, fitted_cells(problem.cells, balanced(w), 1, quiet))), quiet);
    CHECK(seen.norm >= norm * (1 - 1e-6));
  }
}

TEST("completion: lambda_max, scales, weights, transposition and threads") {
  const Problem problem = low_rank(25, 18, 2, 0.4, 0.3, 2);
  const double top = lambda_max(problem.cells, quiet);
  CompletionOptions options;
  const Factors none = Factors::zero(problem.cells);
  CHECK(complete_als(problem.cells, top * 1.0001, none, options, quiet).w.d.size() == 0);
  CHECK(complete_softimpute(problem.cells, top * 1.0001, none, options, quiet).w.d.size() == 0);
  CHECK(complete_als(problem.cells, top * 0.99, none, options, quiet).w.d.size() == 1);
  const CompletionResult fit = complete_als(problem.cells, 0.1 * top, none, options, quiet);
  for (const double scale : {1e-8, 1e8}) {
    const Problem scaled = low_rank(25, 18, 2, 0.4, 0.3, 2, scale);
    const CompletionResult other = complete_als(scaled.cells, 0.1 * top * scale, none, options, quiet);
    CHECK(other.certified);
    CHECK_NEAR(other.objective / (scale * scale), fit.objective, 1e-6 * fit.objective);
  }
  options.threads = 2;
  const CompletionResult two = complete_als(problem.cells, 0.1 * top, none, options, quiet);
  CHECK((dense(two.w) - dense(fit.w)).cwiseAbs().maxCoeff() == 0);
  // the transposed problem eliminates the other factor
  const ObservedCells flipped = observe(problem.col, problem.row, problem.value, 18, 25, true);
  const CompletionResult across = complete_als(flipped, 0.1 * top, Factors::zero(flipped), options, quiet);
  CHECK((dense(across.w).transpose() - dense(fit.w)).norm() < 2e-3 * dense(fit.w).norm());
  // every cell twice is twice the loss: the fit at twice the penalty
  std::vector<int> row = problem.row, col = problem.col;
  std::vector<double> value = problem.value;
  row.insert(row.end(), problem.row.begin(), problem.row.end());
  col.insert(col.end(), problem.col.begin(), problem.col.end());
  value.insert(value.end(), problem.value.begin(), problem.value.end());
  const ObservedCells doubled = observe(row, col, value, 25, 18, true);
  CHECK(doubled.count() == problem.cells.count());
  CHECK_NEAR(doubled.within, 0, 1e-12);
  const CompletionResult twice = complete_als(doubled, 0.2 * top, none, options, quiet);
  CHECK_NEAR(twice.objective, 2 * fit.objective, 2e-6 * twice.objective);
  const CompletionResult soft = complete_softimpute(doubled, 0.2 * top, none, options, quiet);
  CHECK_NEAR(soft.objective, twice.objective, 2e-6 * twice.objective);
  CHECK_NEAR(observe({0, 0, 1}, {0, 0, 1}, {1, 3, 5}, 2, 2, true).within, 2, 1e-12);
  CHECK_NEAR(observe({0, 0, 1}, {0, 0, 1}, {1, 3, 5}, 2, 2, false).within, 0, 1e-12);
}

TEST("completion: small penalties interpolate; rank limits are kept and flagged") {
  const Problem problem = low_rank(20, 16, 2, 0.5, 0.5, 3);
  const double top = lambda_max(problem.cells, quiet);
  CompletionOptions options;
  const CompletionResult tiny = complete_als(problem.cells, 1e-5 * top, Factors::zero(problem.cells), options, quiet);
  CHECK(tiny.loss < 1e-6 * problem.cells.total);
  options.rank = 1;
  const CompletionResult one = complete_als(problem.cells, 0.05 * top, Factors::zero(problem.cells), options, quiet);
  CHECK(one.w.d.size() == 1);
  CHECK(!one.certified && one.convergence.converged);
  CHECK_THROWS(complete_als(problem.cells, 0, Factors::zero(problem.cells), options, quiet), InputError);
  CHECK_THROWS(complete_frank_wolfe(problem.cells, 0, Factors::zero(problem.cells), options, quiet), InputError);
  CHECK_THROWS(observe({}, {}, {}, 2, 2, true), InputError);
}

TEST("completion: Frank-Wolfe and the search for lambda solve the constrained form alike") {
  const Problem problem = low_rank(24, 20, 2, 0.5, 0.4, 5);
  const double lambda = 0.2 * lambda_max(problem.cells, quiet);
  CompletionOptions options;
  options.tol = 1e-6;
  const CompletionResult penalised = complete_als(problem.cells, lambda, Factors::zero(problem.cells), options, quiet);
  const double t = penalised.w.d.sum();
  const CompletionResult search = complete_constrained(problem.cells, t, Factors::zero(problem.cells), options, quiet);
  const CompletionResult fw = complete_frank_wolfe(problem.cells, t, Factors::zero(problem.cells), options, quiet);
  CHECK(search.certified && fw.certified);
  CHECK_NEAR(search.loss, penalised.loss, 1e-4 * penalised.loss);
  CHECK_NEAR(fw.loss, search.loss, 3e-6 * search.loss);
  CHECK_NEAR(fw.gradient_norm, lambda, 1e-2 * lambda);
}

TEST("completion: stochastic gradient comes near the minimum and survives a large step") {
  const Problem problem = low_rank(30, 20, 2, 0.6, 0.2, 6);
  const double lambda = 0.1 * lambda_max(problem.cells, quiet);
  CompletionOptions options;
  options.rank = 5;
  options.epochs = 300;
  const CompletionResult best = complete_als(problem.cells, lambda, Factors::zero(problem.cells), options, quiet);
  for (const double step : {0.0, 1e3}) {
    Rng rng(1);
    options.step = step;
    const CompletionResult fit = complete_sgd(problem.cells, lambda, Factors::zero(problem.cells), options, rng, quiet);
    CHECK(fit.objective < 1.1 * best.objective);
    CHECK(fit.objective >= best.objective * (1 - 1e-6));
    CHECK(fit.convergence.gap >= fit.objective - best.objective - 1e-6 * best.objective);
  }
}

TEST("completion: gradient of the sigmoid model by differences; predictions inside; shifts") {
  Problem problem = low_rank(9, 7, 2, 0.6, 0.1, 8);
  for (double& x : problem.value) x = std::min(5.0, std::max(1.0, std::round(3 + x)));
  problem.cells = observe(problem.row, problem.col, problem.value, 9, 7, true);
  Rng rng(3);
  const VectorXd at = rng.normals(3 * 16);
  VectorXd gradient, scratch;
  bounded_objective(problem.cells, 1, 5, 0.7, 3, at, gradient, 1, quiet);
  for (Index k = 0; k < at.size(); ++k) {
    VectorXd up = at, down = at;
    up[k] += 1e-5;
    down[k] -= 1e-5;
    const double slope = (bounded_objective(problem.cells, 1, 5, 0.7, 3, up, scratch, 1, quiet) -
                          bounded_objective(problem.cells, 1, 5, 0.7, 3, down, scratch, 1, quiet)) /
                         2e-5;
    CHECK_NEAR(gradient[k], slope, 1e-6 * (1 + std::abs(slope)));
  }
  CompletionOptions options;
  const double lambda = 0.2 * bounded_lambda_max(problem.cells, 1, 5, quiet);
  const CompletionResult fit = complete_bounded(problem.cells, 1, 5, lambda, Factors::zero(problem.cells), options, quiet);
  CHECK(fit.convergence.converged);
  CHECK(fit.gradient_norm <= lambda * 1.01);
  CHECK(sigmoid_link(1e9, 1, 5) < 5 && sigmoid_link(-1e9, 1, 5) > 1);
  for (double& x : problem.value) x += 10;
  const ObservedCells moved = observe(problem.row, problem.col, problem.value, 9, 7, true);
  const CompletionResult other = complete_bounded(moved, 11, 15, lambda, Factors::zero(moved), options, quiet);
  CHECK_NEAR(other.objective, fit.objective, 1e-5 * fit.objective);
  CHECK(complete_bounded(problem.cells, 1, 5, 5.1 * lambda, Factors::zero(problem.cells), options, quiet).w.d.size() == 0);
}

TEST("completion: entry bounds hold, are certified, and vanish when wide") {
  const Problem problem = low_rank(14, 11, 2, 0.5, 0.3, 9);
  const double lambda = 0.2 * lambda_max(problem.cells, quiet);
  CompletionOptions options;
  const CompletionResult plain = complete_als(problem.cells, lambda, Factors::zero(problem.cells), options, quiet);
  const CompletionResult wide = complete_maxabs(problem.cells, -100, 100, lambda, 0, options, quiet);
  CHECK_NEAR(wide.objective, plain.objective, 1e-5 * problem.cells.total);
  const double b = 0.5 * dense(plain.w).cwiseAbs().maxCoeff();
  const CompletionResult tight = complete_maxabs(problem.cells, -b, b, lambda, 0, options, quiet);
  CHECK(tight.certified);
  CHECK(dense(tight.w).cwiseAbs().maxCoeff() <= b * (1 + 1e-9));
  CHECK(tight.objective > plain.objective);
  const double t = tight.w.d.sum();
  const CompletionResult ball = complete_maxabs(problem.cells, -b, b, 0, t, options, quiet);
  CHECK(ball.certified);
  CHECK(ball.w.d.sum() <= t * (1 + 1e-9));
  CHECK_NEAR(ball.loss, tight.loss, 1e-4 * problem.cells.total);
  CHECK_THROWS(complete_maxabs(problem.cells, 1, 5, 0, 0.1, options, quiet), InputError);
  CHECK_THROWS(complete_maxabs(problem.cells, 1, 1, lambda, 0, options, quiet), InputError);
}

TEST("completion: the dual norm of Lemma 12") {
  Rng rng(2);
  MatrixXd g(8, 6);
  for (Index k = 0; k < g.size(); ++k) g.data()[k] = rng.normal();
  const double spectral = Eigen::JacobiSVD<MatrixXd>(g).singularValues()[0];
  CHECK_NEAR(mixed_dual_norm(g, 1, 100, 1e-7, 20000, quiet).value, spectral, 1e-6);
  CHECK_NEAR(mixed_dual_norm(g, 1000, 1, 1e-7, 20000, quiet).value, g.cwiseAbs().sum(), 1e-5);
  const MixedDualNorm between = mixed_dual_norm(g, 10, 0.7, 1e-5, 50000, quiet);
  CHECK(between.convergence.converged);
  CHECK(between.value < std::min(10 * spectral, 0.7 * g.cwiseAbs().sum()) * 0.999);  // the paper's proof would have equality
  CHECK(between.w.cwiseAbs().maxCoeff() <= 0.7 * (1 + 1e-12));
  CHECK(Eigen::JacobiSVD<MatrixXd>(between.w).singularValues().sum() <= 10 * (1 + 1e-9));
  CHECK_NEAR(g.cwiseProduct(between.w).sum(), between.value, 2e-5 * between.value);
  for (int trial = 0; trial < 50; ++trial) {
    MatrixXd w(8, 6);
    for (Index k = 0; k < w.size(); ++k) w.data()[k] = rng.normal();
    w /= std::max(w.cwiseAbs().maxCoeff() / 0.7, Eigen::JacobiSVD<MatrixXd>(w).singularValues().sum() / 10);
    CHECK(g.cwiseProduct(w).sum() <= between.value);
  }
  CHECK(mixed_dual_norm(MatrixXd::Zero(3, 2), 1, 1, 1e-6, 10, quiet).value == 0);
}

TEST("completion: norms of random signs, exactly where they are known") {
  std::vector<int> zeros(7, 0), steps{0, 1, 2, 3, 4, 5, 6};
  const std::vector<double> ones(7, 1);
  const Rng rng(1);
  const MatrixXd row = sign_norms(observe(zeros, steps, ones, 4, 7, true), {1e9}, 20, rng, 1, quiet);
  CHECK((row.array() - std::sqrt(7.0)).abs().maxCoeff() < 1e-6);
  const MatrixXd diagonal = sign_norms(observe(steps, steps, ones, 7, 7, true), {1e9, 0}, 20, rng, 2, quiet);
  CHECK((diagonal.col(0).array() - 1).abs().maxCoeff() < 1e-6);
  CHECK(diagonal.col(1).maxCoeff() == 0);
  CHECK_NEAR(mean_absolute_sum(1), 1, 1e-12);
  CHECK_NEAR(mean_absolute_sum(2), 1, 1e-12);
  CHECK_NEAR(mean_absolute_sum(3), 1.5, 1e-12);
  CHECK_NEAR(mean_absolute_sum(4), 1.5, 1e-12);
  CHECK_NEAR(mean_absolute_sum(10000) / std::sqrt(2 * 10000 / 3.14159265358979), 1, 1e-4);
  // one cell seen 4 times: |sum of 4 signs|
  const MatrixXd repeated = sign_norms(observe({0, 0, 0, 0}, {0, 0, 0, 0}, {1, 1, 1, 1}, 1, 1, true), {1e9}, 4000, rng, 1, quiet);
  CHECK_NEAR(repeated.mean(), 1.5, 0.1);
}

TEST("completion: hard-impute recovers an exact low rank and centres are least squares") {
  const Problem problem = low_rank(20, 15, 2, 0.7, 0, 11);
  CompletionOptions options;
  options.tol = 1e-10;
  options.max_iter = 5000;
  const CompletionResult hard = hard_impute(problem.cells, 2, options, quiet);
  CHECK(hard.loss < 1e-5 * problem.cells.total);
  for (std::size_t k = 1; k < hard.trace.size(); ++k) CHECK(hard.trace[k] <= hard.trace[k - 1] * (1 + 1e-9));
  const Centre both = fit_centre(problem.cells, true, true, quiet);
  for (Index i = 0; i < 20; ++i) {  // residuals sum to zero over every row
    double sum = 0;
    for (int a = problem.cells.by_row.start[i]; a < problem.cells.by_row.start[i + 1]; ++a) {
      sum += problem.cells.by_row.value[a] - both.row[i] - both.col[problem.cells.by_row.index[a]];
    }
    CHECK_NEAR(sum, 0, 1e-6);
  }
}
