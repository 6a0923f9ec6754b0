// The exact Gaussian process: worked numbers, brute force, finite differences.
#include "eigen.h"
#include <cmath>

#include "core/random/rng.h"
#include "core/cluster/space_filling.h"
#include "process/gp.h"
#include "gp_example.h"
#include "harness.h"

using namespace granary;
using namespace granary::process;

namespace {

struct Random {
  MatrixXd x, f;
  VectorXd y;
  Random(Index n, Index d, Index p, std::uint64_t seed) {
    Rng rng(seed);
    x = latin_hypercube(n, d, rng);
    f = MatrixXd::Ones(n, p);
    if (p > 1) f.col(1) = x.col(0);
    y = (4 * x.col(0).array()).sin() + x.col(d - 1).array() + 0.1 * rng.normals(n).array();
  }
};

}  // namespace

TEST("kriging of the worked example: trend, scale, likelihood, predictions, leave-one-out") {
  const Example e;
  Monitor monitor;
  const GaussianProcess gp = e.fit();
  CHECK_NEAR(gp.beta()[0], 0.3877707, 1e-7);
  CHECK_NEAR(gp.scale(), 1.2789227, 1e-7);
  CHECK_NEAR(gp.value(), -5.6657612, 1e-7);
  MatrixXd at(3, 1);
  at << 0.1, 0.33, 0.9;
  const GpPrediction p = gp.predict(at, MatrixXd::Ones(3, 1), true, 1, monitor);
  const double mean[] = {0.6192761, 1.2940789, 0.2685639}, variance[] = {0.001858582, 0.001917845, 0.011547441};
  for (int i = 0; i < 3; ++i) {
    CHECK_NEAR(p.mean[i], mean[i], 1e-7);
    CHECK_NEAR(p.variance[i], variance[i], 1e-9);
  }
  const GpLeaveOneOut loo = gp.leave_one_out();
  const double loo_mean[] = {0.695183, 0.869603, 0.783471, 0.281811, -0.316523};
  const double loo_variance[] = {0.287483, 0.104558, 0.119897, 0.192437, 0.700282};
  for (int i = 0; i < 5; ++i) {
    CHECK_NEAR(loo.mean[i], loo_mean[i], 1e-6);
    CHECK_NEAR(loo.variance[i], loo_variance[i], 1e-6);
  }
  const GaussianProcess noisy = e.fit(0.01);
  CHECK_NEAR(noisy.beta()[0], 0.3972834, 1e-7);
  CHECK_NEAR(noisy.scale(), 1.2154459, 1e-7);
  CHECK_NEAR(noisy.value(), -5.709876, 1e-6);
  const GpPrediction own = gp.predict(e.x, e.f, true, 1, monitor);
  CHECK_NEAR((own.mean - e.y).norm(), 0, 1e-12);
  CHECK_NEAR(own.variance.maxCoeff(), 0, 1e-12);
}

TEST("gradients of all criteria meet differences") {
  const Random data(30, 3, 2, 4);
  VectorXd scales(3);
  scales << 0.4, 0.7, 1.3;
  for (const bool profile : {true, false}) {
    GpModel model{Kernel(radial("matern", scales, 2.5, !profile), 3)};
    model.nugget = 0.02;
    model.learn_nugget = true;
    model.profile_scale = profile;
    const VectorXd at = model.parameters();
    for (const GpCriterion criterion : {GpCriterion::ml, GpCriterion::reml, GpCriterion::loo, GpCriterion::loo_density}) {
      GpLearnOptions options;
      options.criterion = criterion;
      options.prior.mean = VectorXd::Constant(at.size(), 0.3);
      options.prior.sd = VectorXd::Constant(at.size(), 1.5);
      VectorXd gradient;
      gp_objective(model, data.x, data.y, data.f, at, options, &gradient);
      for (Index j = 0; j < at.size(); ++j) {
        VectorXd up = at, down = at;
        up[j] += 1e-5;
        down[j] -= 1e-5;
        const double slope = (gp_objective(model, data.x, data.y, data.f, up, options, nullptr) -
                              gp_objective(model, data.x, data.y, data.f, down, options, nullptr)) /
                             2e-5;
        CHECK_NEAR(gradient[j], slope, 1e-6 * (1 + std::abs(slope)));
      }
    }
  }
}

TEST("prediction is conditioning, and its derivatives are those of mean and variance") {
  const Random data(25, 2, 2, 7);
  Monitor monitor;
  for (const double size : {1e-8, 1.0, 1e8}) {
    GpModel model{Kernel(radial("matern", VectorXd::Constant(1, 0.5), 1.5), 2)};
    model.nugget = 1e-3;
    const VectorXd y = size * data.y;
    const GaussianProcess gp(model, data.x, y, data.f);
    MatrixXd at(2, 2), fa(2, 2);
    at << 0.3, 0.4, 0.9, 0.1;
    fa << 1, 0.3, 1, 0.9;
    MatrixXd c = model.kernel.matrix(data.x);
    c.diagonal().array() += 1e-3;
    const MatrixXd ci = c.inverse(), k = model.kernel.cross(data.x, at);
    const MatrixXd b = (data.f.transpose() * ci * data.f).inverse();
    const VectorXd beta = b * data.f.transpose() * ci * y;
    const VectorXd mean = fa * beta + k.transpose() * ci * (y - data.f * beta);
    const MatrixXd u = data.f.transpose() * ci * k - fa.transpose();
    const MatrixXd cov = gp.scale() * (model.kernel.cross(at, at) - k.transpose() * ci * k + u.transpose() * b * u);
    const GpPrediction p = gp.predict(at, fa, true, 2, monitor);
    CHECK_NEAR((p.mean - mean).norm() / size, 0, 1e-10);
    CHECK_NEAR((p.variance - cov.diagonal()).norm() / gp.scale(), 0, 1e-10);
    CHECK_NEAR((gp.covariance(at, fa) - cov).norm() / gp.scale(), 0, 1e-10);
    CHECK_NEAR((gp.weights(at, fa) * y - mean).norm() / size, 0, 1e-10);
    std::vector<MatrixXd> df(2, MatrixXd::Zero(2, 2));
    df[0].col(1).setOnes();
    const GpGradient slope = gp.predict_gradient(at, fa, df);
    for (int j = 0; j < 2; ++j) {
      const auto moved = [&](double h) {
        MatrixXd to = at, f_to = fa;
        to.col(j).array() += h;
        if (j == 0) f_to.col(1).array() += h;
        return gp.predict(to, f_to, true, 1, monitor);
      };
      const GpPrediction up = moved(1e-5), down = moved(-1e-5);
      CHECK_NEAR(((up.mean - down.mean) / 2e-5 - slope.mean.col(j)).norm() / size, 0, 1e-6);
      CHECK_NEAR(((up.variance - down.variance) / 2e-5 - slope.variance.col(j)).norm() / gp.scale(), 0, 1e-6);
    }
  }
}

TEST("leave-one-out in closed form is leaving one out") {
  const Random data(12, 2, 2, 3);
  Monitor monitor;
  GpModel model{Kernel(radial("se", VectorXd::Constant(1, 0.4), 0, true), 2)};
  model.nugget = 0.05;
  model.profile_scale = false;
  const GpLeaveOneOut loo = GaussianProcess(model, data.x, data.y, data.f).leave_one_out();
  for (Index i = 0; i < 12; ++i) {
    MatrixXd x(11, 2), f(11, 2);
    VectorXd y(11);
    for (Index j = 0, to = 0; j < 12; ++j) {
      if (j == i) continue;
      x.row(to) = data.x.row(j);
      f.row(to) = data.f.row(j);
      y[to++] = data.y[j];
    }
    const GpPrediction p = GaussianProcess(model, x, y, f).predict(data.x.row(i), data.f.row(i), true, 1, monitor);
    CHECK_NEAR(loo.mean[i], p.mean[0], 1e-10);
    CHECK_NEAR(loo.variance[i], p.variance[0] + 0.05, 1e-10);
  }
}

TEST("appending rows is fitting them, and learning finds the same optimum on one and two threads") {
  const Random data(40, 2, 2, 9);
  Monitor monitor;
  GpModel model{Kernel(radial("matern", VectorXd::Constant(2, 0.5), 2.5), 2)};
  model.nugget = 0.01;
  GaussianProcess grown(model, data.x.topRows(10), data.y.head(10), data.f.topRows(10));
  for (Index i = 10; i < 40; ++i) grown.append(data.x.row(i).transpose(), data.y[i], data.f.row(i).transpose());
  const GaussianProcess whole(model, data.x, data.y, data.f);
  CHECK_NEAR(grown.value(), whole.value(), 1e-9);
  CHECK_NEAR((grown.alpha() - whole.alpha()).norm(), 0, 1e-8 * whole.alpha().norm());
  model.learn_nugget = true;
  GpLearnOptions options;
  options.lower = VectorXd::Constant(3, std::log(1e-3));
  options.upper = VectorXd::Constant(3, std::log(10));
  options.optimiser.tol = 1e-8;
  MatrixXd starts(3, 3);
  starts << -1, -1, -3, 0, 0, -5, 1, -2, -1;
  const MultistartResult one = learn_gp(model, data.x, data.y, data.f, starts, options, monitor);
  options.threads = 2;
  const MultistartResult two = learn_gp(model, data.x, data.y, data.f, starts, options, monitor);
  CHECK(one.x == two.x);
  CHECK(-one.value >= whole.value());
  VectorXd gradient;
  gp_objective(model, data.x, data.y, data.f, one.x, options, &gradient);
  for (Index j = 0; j < 3; ++j) {
    const bool rests = (one.x[j] <= options.lower[j] && gradient[j] < 0) || (one.x[j] >= options.upper[j] && gradient[j] > 0);
    CHECK(rests || std::abs(gradient[j]) < 1e-4);
  }
}

TEST("the Gaussian process says what is wrong") {
  const Random data(6, 2, 1, 1);
  const GpModel model{Kernel(radial("se", VectorXd::Constant(1, 0.5)), 2)};
  const MatrixXd none(6, 0);
  CHECK_THROWS(GaussianProcess(model, data.x, data.y.head(5), data.f), InputError);
  CHECK_THROWS(GaussianProcess(model, data.x.topRows(1), data.y.head(1), data.f.topRows(1)), InputError);
  MatrixXd twice(6, 2);
  twice << data.f, data.f;
  CHECK_THROWS(GaussianProcess(model, data.x, data.y, twice), InputError);
  GpModel noise = model;
  noise.noise = VectorXd::Ones(3);
  CHECK_THROWS(GaussianProcess(noise, data.x, data.y, none), InputError);
  MatrixXd same = data.x;
  same.row(1) = same.row(0);
  CHECK(GaussianProcess(model, same, data.y, none).jitter() > 0);
}

TEST("a large process, factored in steps under a monitor, is the same process") {
  const Random data(1000, 2, 1, 3);
  GpModel model{Kernel(radial("se", VectorXd::Constant(1, 0.3)), 2)};
  model.nugget = 0.1;
  model.learn_nugget = true;
  Monitor monitor;
  const GaussianProcess plain(model, data.x, data.y, data.f);
  const GaussianProcess steps(model, data.x, data.y, data.f, GpCriterion::ml, GaussianProcess::default_jitter(), &monitor);
  CHECK_NEAR(steps.value(), plain.value(), 1e-9 * std::abs(plain.value()));
  CHECK_NEAR((steps.gradient(&monitor) - plain.gradient()).norm(), 0, 1e-7 * plain.gradient().norm());
  monitor.request_stop();
  CHECK_THROWS(steps.gradient(&monitor), Interrupted);
}
