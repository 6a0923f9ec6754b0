// Kriging from problem to fit: columns of the trend, what is kept, runs that are added.
#include "eigen.h"
#include <cmath>

#include "core/cluster/space_filling.h"
#include "gp_example.h"
#include "harness.h"
#include "process/kriging_fit.h"

using namespace granary;
using namespace granary::process;

TEST("columns of a trend that depend on those before them are left out, as lm() does") {
  MatrixXd f(5, 4);
  f << 1, 1, 2, 0, 1, 2, 3, 0, 1, 3, 4, 0, 1, 4, 5, 1, 1, 5, 6, 0;
  const VectorXd y = f.col(1);
  const TrendColumns found = trend_columns(f, y);
  CHECK(found.keep == (std::vector<Index>{0, 1, 3}));
  CHECK_NEAR(found.residual, 0, 1e-20);
  CHECK_NEAR(trend_columns(MatrixXd(5, 0), y).residual, y.squaredNorm(), 1e-12);
}

TEST("a kriging fit that is kept uses its factor where it lies, and grows as a fresh one") {
  Monitor monitor;
  Rng rng(1);
  const MatrixXd x = latin_hypercube(20, 2, rng), f = MatrixXd::Ones(20, 1);
  const VectorXd y = (4 * x.col(0).array()).sin() + x.col(1).array();
  KrigingProblem whole;
  new (&whole.x) MatrixView(x.data(), 20, 2);
  new (&whole.f) MatrixView(f.data(), 20, 1);
  new (&whole.y) VectorView(y.data(), 20);
  whole.kernel = radial("se", VectorXd::Constant(2, 0.5));
  const MatrixXd x15 = x.topRows(15), f15 = f.topRows(15);
  const VectorXd y15 = y.head(15);
  KrigingState kept;
  kept.kernel = whole.kernel;
  new (&kept.x) MatrixView(x15.data(), 15, 2);
  new (&kept.f) MatrixView(f15.data(), 15, 1);
  new (&kept.y) VectorView(y15.data(), 15);
  const KrigingSolution at15 = kriging_solve(kept, monitor), at20 = kriging_solve(whole, monitor);
  new (&kept.factor) MatrixView(at15.factor.data(), 15, 15);
  kept.jitter = at15.jitter;
  kept.scale = at15.scale;
  kept.inverse_diagonal = at15.inverse_diagonal;
  CHECK(kept.process().cholesky().lower().data() == at15.factor.data());
  const MatrixXd x5 = x.bottomRows(5), f5 = f.bottomRows(5);
  const VectorXd y5 = y.tail(5);
  KrigingRows more;
  new (&more.x) MatrixView(x5.data(), 5, 2);
  new (&more.f) MatrixView(f5.data(), 5, 1);
  new (&more.y) VectorView(y5.data(), 5);
  const KrigingSolution grown = kriging_append(kept, more);
  CHECK((grown.loo_mean - at20.loo_mean).norm() < 1e-6);
  CHECK((grown.inverse_diagonal - at20.inverse_diagonal).norm() < 1e-6 * at20.inverse_diagonal.norm());
  kept.inverse_diagonal.resize(3);
  CHECK_THROWS(check(kept), InputError);
}

TEST("a search from several starts ends at a point where the criterion is flat") {
  Monitor monitor;
  Rng rng(2);
  const MatrixXd x = latin_hypercube(25, 2, rng), f = MatrixXd::Ones(25, 1);
  const VectorXd y = (4 * x.col(0).array()).sin() + x.col(1).array().square();
  KrigingProblem problem;
  new (&problem.x) MatrixView(x.data(), 25, 2);
  new (&problem.f) MatrixView(f.data(), 25, 1);
  new (&problem.y) VectorView(y.data(), 25);
  problem.kernel = radial("matern", VectorXd::Constant(2, 0.5));
  problem.kernel.shape = 2.5;
  problem.kernel.learn_variance = problem.kernel.learn_shape = false;
  KrigingSearch search;
  search.start = VectorXd::Constant(2, std::log(0.5));
  search.lower = search.spread_low = VectorXd::Constant(2, std::log(0.05));
  search.upper = search.spread_high = VectorXd::Constant(2, std::log(10.0));
  search.n_starts = 3;
  const KrigingFit fit = kriging_fit(problem, search, rng, monitor);
  CHECK(fit.convergence.converged);
  CHECK(fit.values.size() == 3);
  CHECK_NEAR(fit.value, kriging_objective(problem, fit.parameters).value, 1e-9);
  const VectorXd slope = kriging_objective(problem, fit.parameters).gradient;
  for (Index k = 0; k < 2; ++k)
    if (fit.parameters[k] > search.lower[k] + 1e-9 && fit.parameters[k] < search.upper[k] - 1e-9) CHECK_NEAR(slope[k], 0, 1e-2);
}
