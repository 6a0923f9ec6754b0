#include <cmath>

#include "core/math/ode.h"
#include "harness.h"

using namespace granary;

namespace {
VectorXd grid(double end, int points) { return VectorXd::LinSpaced(points, 0, end); }
}  // namespace

TEST("Runge-Kutta: a rotation keeps its phase and length, between steps too") {
  Monitor monitor;
  const auto f = [](double, const VectorXd& y, VectorXd& dy) {
    dy[0] = y[1];
    dy[1] = -y[0];
  };
  VectorXd y0(2);
  y0 << 1, 0;
  for (const double tol : {1e-5, 1e-8, 1e-11}) {
    OdeOptions options;
    options.relative = options.absolute = tol;
    double worst = 0;
    int seen = 0;
    const VectorXd times = grid(20, 777);
    const OdeResult result = integrate_ode(f, y0, times, options, monitor, [&](Index k, const VectorXd& y) {
      worst = std::max({worst, std::abs(y[0] - std::cos(times[k])), std::abs(y[1] + std::sin(times[k]))});
      ++seen;
    });
    CHECK(seen == 777 && !result.diverged && result.time == 20);
    CHECK(worst < 200 * tol && worst > 0);
    CHECK(result.steps < 8 * std::pow(1 / tol, 0.2) * 20);  // fifth order: tenfold accuracy costs a factor of 1.6
  }
}

TEST("Runge-Kutta: time enters, scales are relative, equal times repeat the state") {
  Monitor monitor;
  const auto f = [](double t, const VectorXd& y, VectorXd& dy) { dy[0] = 2 * t * y[0]; };
  for (const double scale : {1e-6, 1.0, 1e6}) {
    VectorXd times(4);
    times << 0, 0, 1, 1;
    VectorXd found(4);
    OdeOptions options;
    options.absolute = 1e-20;
    options.limit = 1e300;
    integrate_ode(f, VectorXd::Constant(1, scale), times, options, monitor, [&](Index k, const VectorXd& y) { found[k] = y[0]; });
    CHECK(found[0] == scale && found[1] == scale && found[2] == found[3]);
    CHECK_NEAR(found[2] / (scale * std::exp(1.0)), 1, 1e-6);
  }
}

TEST("Runge-Kutta: explosion is reported with its time, a step limit as an error") {
  Monitor monitor;
  // y' = y^2 from 1 leaves every bound at t = 1.
  const auto f = [](double, const VectorXd& y, VectorXd& dy) { dy[0] = y[0] * y[0]; };
  Index last = -1;
  const OdeResult result =
      integrate_ode(f, VectorXd::Ones(1), grid(2, 21), {}, monitor, [&](Index k, const VectorXd&) { last = k; });
  CHECK(result.diverged && last >= 9 && last <= 10);
  CHECK_NEAR(result.time, 1, 1e-3);
  OdeOptions few;
  few.max_steps = 3;
  CHECK_THROWS(integrate_ode(f, VectorXd::Ones(1), grid(0.9, 2), few, monitor, [](Index, const VectorXd&) {}), NumericalError);
  VectorXd back(2);
  back << 1, 0;
  CHECK_THROWS(integrate_ode(f, VectorXd::Ones(1), back, {}, monitor, [](Index, const VectorXd&) {}), InputError);
  CHECK_THROWS(integrate_ode(f, VectorXd::Ones(1), VectorXd(), {}, monitor, [](Index, const VectorXd&) {}), InputError);
  monitor.request_stop();
  CHECK_THROWS(integrate_ode(f, VectorXd::Ones(1), grid(0.9, 2), {}, monitor, [](Index, const VectorXd&) {}), Interrupted);
}

TEST("Runge-Kutta: nothing happens where the derivative is zero") {
  Monitor monitor;
  VectorXd end;
  const OdeResult result = integrate_ode([](double, const VectorXd&, VectorXd& dy) { dy.setZero(); }, VectorXd::Constant(3, 2),
                                         grid(1e6, 3), {}, monitor, [&](Index, const VectorXd& y) { end = y; });
  CHECK(end == VectorXd::Constant(3, 2) && result.steps < 100);
}
