// Dividing rectangles: known minima, feasibility, budgets, units.
#include <cmath>
#include <limits>

#include "core/optim/direct.h"
#include "harness.h"

using namespace granary;

namespace {

double branin(double a, double b) {
  const double pi = 3.14159265358979323846;
  const double t = b - 5.1 * a * a / (4 * pi * pi) + 5 * a / pi - 6;
  return t * t + 10 * (1 - 1 / (8 * pi)) * std::cos(a) + 10;
}

struct Box {
  VectorXd lower{2}, upper{2};
  Box() {
    lower << -5, 0;
    upper << 10, 15;
  }
};

VectorXd branin_rows(const MatrixXd& x) {
  VectorXd values(x.rows());
  for (Index i = 0; i < x.rows(); ++i) values[i] = branin(x(i, 0), x(i, 1));
  return values;
}

}  // namespace

TEST("DIRECT finds the minimum of Branin's function within 2000 evaluations") {
  Monitor monitor;
  const Box box;
  DirectOptions options;
  options.max_evaluations = 2000;
  const DirectResult result = direct(branin_rows, box.lower, box.upper, options, monitor);
  CHECK_NEAR(result.value, 0.397887, 1e-4);
  CHECK_NEAR(branin(result.x[0], result.x[1]), result.value, 1e-12);
  CHECK(result.points.rows() <= 2000);
  CHECK(result.points.rows() > 1990);
  CHECK_NEAR(result.values.minCoeff(), result.value, 0.0);
  CHECK(!result.convergence.converged);
}

TEST("DIRECT starts at the centre, cuts in three and never repeats a point") {
  Monitor monitor;
  const Box box;
  DirectOptions options;
  options.max_evaluations = 301;
  const DirectResult result = direct(branin_rows, box.lower, box.upper, options, monitor);
  CHECK_NEAR(result.points(0, 0), 2.5, 1e-12);
  CHECK_NEAR(result.points(0, 1), 7.5, 1e-12);
  CHECK_NEAR(result.points(1, 0), 2.5 - 5, 1e-12);
  double nearest = std::numeric_limits<double>::infinity();
  for (Index i = 1; i < result.points.rows(); ++i)
    for (Index j = 0; j < i; ++j) nearest = std::min(nearest, (result.points.row(i) - result.points.row(j)).norm());
  CHECK(nearest > 1e-6);
}

TEST("DIRECT does not care about the units of the box, and little about those of f") {
  Monitor monitor;
  DirectOptions options;
  options.max_evaluations = 500;
  const auto f = [](const MatrixXd& x) { return VectorXd((x.array() - 0.3).square().rowwise().sum().matrix()); };
  const DirectResult plain = direct(f, VectorXd::Zero(2), VectorXd::Ones(2), options, monitor);
  for (double unit : {1e-8, 1e8}) {
    const auto scaled = [&](const MatrixXd& x) { return VectorXd(unit * f(x / unit)); };
    const DirectResult other = direct(scaled, VectorXd::Zero(2), VectorXd::Constant(2, unit), options, monitor);
    CHECK_NEAR(other.x[0] / unit, plain.x[0], 1e-9);
    CHECK_NEAR(other.value / unit, plain.value, 1e-12);
  }
  CHECK_NEAR(plain.x[0], 0.3, 1e-3);
}

TEST("DIRECT keeps away from infeasible points and says when there is nothing else") {
  Monitor monitor;
  DirectOptions options;
  options.max_evaluations = 800;
  const double infinity = std::numeric_limits<double>::infinity();
  const auto f = [&](const MatrixXd& x) {
    VectorXd values(x.rows());
    for (Index i = 0; i < x.rows(); ++i) values[i] = x(i, 0) + x(i, 1) < 0.8 ? infinity : x.row(i).squaredNorm();
    return values;
  };
  const DirectResult result = direct(f, VectorXd::Zero(2), VectorXd::Ones(2), options, monitor);
  CHECK_NEAR(result.value, 0.32, 5e-3);
  CHECK(result.x.sum() >= 0.8);
  const auto nowhere = [&](const MatrixXd& x) { return VectorXd(VectorXd::Constant(x.rows(), std::nan(""))); };
  CHECK(direct(nowhere, VectorXd::Zero(2), VectorXd::Ones(2), options, monitor).x.size() == 0);
}

TEST("DIRECT stops when rectangles are as small as allowed, and on a plateau covers the box") {
  Monitor monitor;
  DirectOptions options;
  options.max_evaluations = 100000;
  options.min_side = 0.05;
  const auto f = [](const MatrixXd& x) { return VectorXd(x.col(0)); };
  const DirectResult end = direct(f, VectorXd::Zero(1), VectorXd::Ones(1), options, monitor);
  CHECK(end.convergence.converged);
  CHECK_NEAR(end.value, 0.5 / 9, 0.05);
  options.max_evaluations = 200;
  options.min_side = 1e-9;
  const auto flat = [](const MatrixXd& x) { return VectorXd(VectorXd::Ones(x.rows())); };
  const DirectResult plateau = direct(flat, VectorXd::Zero(2), VectorXd::Ones(2), options, monitor);
  CHECK(plateau.points.col(0).maxCoeff() > 0.9);
  CHECK(plateau.points.col(1).minCoeff() < 0.1);
}

TEST("DIRECT refuses boxes that are none") {
  Monitor monitor;
  const auto f = [](const MatrixXd& x) { return VectorXd(x.col(0)); };
  CHECK_THROWS(direct(f, VectorXd::Ones(1), VectorXd::Zero(1), {}, monitor), InputError);
  CHECK_THROWS(direct(f, VectorXd(), VectorXd(), {}, monitor), InputError);
  DirectOptions none;
  none.max_evaluations = 0;
  CHECK_THROWS(direct(f, VectorXd::Zero(1), VectorXd::Ones(1), none, monitor), InputError);
  const auto short_answer = [](const MatrixXd&) { return VectorXd(); };
  CHECK_THROWS(direct(short_answer, VectorXd::Zero(1), VectorXd::Ones(1), {}, monitor), InputError);
}
