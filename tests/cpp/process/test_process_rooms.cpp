// What stood in R or in the glue: bandits over several runs, Ising models from data, maps, draws, general factors.
#include "eigen.h"
#include <cmath>

#include "core/infer/ep_sites.h"
#include "core/random/gaussian.h"
#include "harness.h"
#include "process/bandit_state.h"
#include "process/ec_fit.h"
#include "process/gplvm_fit.h"
#include "process/mds.h"
#include "process/rvm.h"

using namespace granary;
using namespace granary::process;

TEST("draws from a singular covariance stay in its range and have its size") {
  Monitor monitor;
  Rng rng(1);
  const MatrixXd ones = MatrixXd::Ones(3, 3);
  const MatrixXd draws = gaussian_draws(VectorXd::Constant(3, 2), ones, 4000, rng, monitor);
  CHECK_NEAR((draws.row(0) - draws.row(2)).cwiseAbs().maxCoeff(), 0, 1e-2);
  CHECK_NEAR(draws.mean(), 2, 0.06);
  CHECK_THROWS(gaussian_draws(VectorXd::Zero(2), ones, 1, rng, monitor), InputError);
}

TEST("moments of a factor with a kink or two modes are those of fine sums") {
  const auto check = [](const std::function<double(double)>& log_t, double m, double v) {
    double sum = 0, first = 0, second = 0;
    const double s = std::sqrt(v), h = 1e-4;
    for (double z = -12; z <= 12; z += h) {
      const double w = std::exp(log_t(m + s * z) - 0.5 * z * z) * h / std::sqrt(2 * std::acos(-1.0));
      sum += w, first += w * (m + s * z), second += w * (m + s * z) * (m + s * z);
    }
    const SiteMoments got = general_moments(log_t, m, v);
    CHECK_NEAR(got.log_z, std::log(sum), 1e-5);
    CHECK_NEAR(got.mean, first / sum, 1e-4);
    CHECK_NEAR(got.variance, second / sum - std::pow(first / sum, 2), 1e-4);
  };
  check([](double x) { return -std::abs(x); }, 0, 1);
  check([](double x) { return -3 * std::abs(x - 1); }, 0.4, 2);
  check([](double x) { return std::log(std::exp(-8 * std::pow(x - 2, 2)) + std::exp(-8 * std::pow(x + 2, 2))); }, 0.1, 1.5);
}

TEST("an Ising model learnt by the factorized approximation has the moments of the data as its own") {
  Monitor monitor;
  Rng rng(3);
  MatrixXd x(400, 4);
  for (Index i = 0; i < 400; ++i) {
    const double common = rng.normal();
    for (Index j = 0; j < 4; ++j) x(i, j) = common + 1.5 * rng.normal() > 0.2 ? 1 : -1;
  }
  const EcLearnResult fit = ec_learn(x, EcLearnOptions(), EcPrecisionSolver(), monitor);
  EcOptions how;
  how.method = EcMethod::factorized;
  const EcResult at = ec_ising(fit.j, fit.theta, how, monitor);
  CHECK(at.convergence.converged);
  CHECK((at.mean - x.colwise().mean().transpose()).norm() < 1e-4);
  const MatrixXd centred = x.rowwise() - x.colwise().mean();
  CHECK((at.covariance - centred.transpose() * centred / 400).norm() < 1e-4);
  MatrixXd repeated = x;
  repeated.col(3) = x.col(0);
  CHECK_THROWS(ec_learn(repeated, EcLearnOptions(), EcPrecisionSolver(), monitor), InputError);
}

TEST("several starts of expectation consistency keep the best, and couplings beyond reason do not hang") {
  Monitor monitor;
  Rng rng(4);
  MatrixXd j = MatrixXd::Constant(4, 4, 0.6);
  j.diagonal().setZero();
  EcOptions how;
  how.n_starts = 4;
  const EcFit fit = ec_ising_starts(j, VectorXd::Constant(4, 0.1), how, rng, monitor);
  CHECK(fit.starts.size() == 4);
  for (const EcStart& start : fit.starts)
    if (start.converged) CHECK(start.log_z <= fit.best.log_z + 1e-9);
  MatrixXd huge = MatrixXd::Constant(4, 4, 1e15);
  huge.diagonal().setZero();
  try {
    ec_ising(huge, VectorXd::Zero(4), EcOptions(), monitor);
  } catch (const NumericalError&) {
  }
}

TEST("simulated bandits do not depend on the number of threads") {
  Monitor monitor;
  const MatrixXd x = VectorXd::LinSpaced(20, 0, 1);
  BanditModel model;
  new (&model.candidates) MatrixView(x.data(), 20, 1);
  model.kernel.type = "se";
  model.kernel.scales = VectorXd::Constant(1, 0.2);
  model.noise_var = 0.05;
  BanditOptions options;
  options.batch = 3;
  options.beta = VectorXd::Constant(1, 2);
  BanditSimulation simulation;
  simulation.rounds = 4;
  simulation.runs = 5;
  const BanditRuns one = bandit_simulate(model, options, simulation, Rng(5), monitor);
  simulation.threads = 2;
  const BanditRuns two = bandit_simulate(model, options, simulation, Rng(5), monitor);
  CHECK(one.choice == two.choice);
  CHECK(one.regret == two.regret);
  CHECK((one.regret.array() >= 0).all());
}

TEST("a map turned to its principal axes has falling variances, and classical scaling returns distances") {
  Monitor monitor;
  Rng rng(6);
  MatrixXd x(30, 2);
  for (Index i = 0; i < 30; ++i) {
    const double a = rng.normal(), b = 0.2 * rng.normal();
    x.row(i) << a + b, a - b;
  }
  const MatrixXd turn = principal_turn(x), turned = x * turn;
  CHECK_NEAR((turn.transpose() * turn - MatrixXd::Identity(2, 2)).norm(), 0, 1e-12);
  const MatrixXd centred = turned.rowwise() - turned.colwise().mean();
  CHECK_NEAR(centred.col(0).dot(centred.col(1)), 0, 1e-9);
  CHECK(centred.col(0).squaredNorm() > centred.col(1).squaredNorm());
  MatrixXd distance(30, 30);
  for (Index i = 0; i < 30; ++i)
    for (Index j = 0; j < 30; ++j) distance(i, j) = (x.row(i) - x.row(j)).norm();
  MdsFitOptions options;
  options.method = MdsMethod::classical;
  CHECK(mds_fit(distance, MatrixXd(0, 2), options, monitor).stress < 1e-6);
}

TEST("a relevance vector machine predicts its fit, and a damaged one is refused") {
  Monitor monitor;
  const MatrixXd x = VectorXd::LinSpaced(40, -2, 2);
  const VectorXd y = x.col(0).array().sin() + 0.05 * (37 * x.col(0).array()).cos();
  RvmData data;
  new (&data.x) MatrixView(x.data(), 40, 1);
  new (&data.centers) MatrixView(x.data(), 40, 1);
  new (&data.y) VectorView(y.data(), 40);
  data.kernel.type = "se";
  data.kernel.scales = VectorXd::Constant(1, 0.7);
  const RvmResult fit = rvm_fit(data, RvmOptions(), monitor);
  for (Index t = 1; t < fit.trace.size(); ++t) CHECK(fit.trace[t] >= fit.trace[t - 1] - 1e-6 * (1 + std::abs(fit.trace[t])));
  MatrixXd vectors(0, 1);
  RvmState state;
  for (const Index k : fit.relevant) {
    state.relevant.push_back(static_cast<int>(k));
    if (k == 0) continue;
    vectors.conservativeResize(vectors.rows() + 1, 1);
    vectors(vectors.rows() - 1, 0) = x(k - 1, 0);
  }
  new (&state.x) MatrixView(x.data(), 40, 1);
  new (&state.y) VectorView(y.data(), 40);
  new (&state.vectors) MatrixView(vectors.data(), vectors.rows(), 1);
  state.kernel = data.kernel;
  state.coefficients = fit.mean;
  state.precision = fit.precision;
  state.covariance = fit.covariance;
  state.noise_var = fit.noise;
  check(state);
  CHECK((rvm_predict(state, x, RvmPredictOptions(), monitor).mean - y).norm() / std::sqrt(40.0) < 0.1);
  state.precision.conservativeResize(state.precision.size() - 1);
  CHECK_THROWS(check(state), InputError);
}
