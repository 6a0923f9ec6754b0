// Sammon's map and non-metric scaling.
#include <cmath>

#include "core/base/errors.h"
#include "core/random/rng.h"
#include "harness.h"
#include "process/mds.h"

using namespace granary;
using namespace granary::process;

namespace {

MatrixXd points(Index n, Index d, std::uint64_t seed) {
  Rng rng(seed);
  MatrixXd x(n, d);
  for (Index k = 0; k < d; ++k)
    for (Index i = 0; i < n; ++i) x(i, k) = rng.normal();
  return x;
}

MatrixXd distances(const MatrixXd& x) {
  MatrixXd d(x.rows(), x.rows());
  for (Index j = 0; j < x.rows(); ++j)
    for (Index i = 0; i < x.rows(); ++i) d(i, j) = (x.row(i) - x.row(j)).norm();
  return d;
}

}  // namespace

TEST("mds: points of the plane are found again, from distances and from their order") {
  Monitor monitor;
  const MatrixXd x = points(25, 2, 1), d = distances(x), start = x + 0.3 * points(25, 2, 2);
  MdsOptions options;
  options.max_iter = 3000;
  options.tol = 1e-16;
  const MdsResult sammon = mds(d, start, options, monitor);
  CHECK(sammon.stress < 1e-9);
  CHECK((distances(sammon.x) - d).cwiseAbs().maxCoeff() < 1e-3);
  options.nonmetric = true;
  const MdsResult order = mds(d.array().square().matrix(), start, options, monitor);
  CHECK(order.stress < 0.01);
  const MatrixXd e = distances(order.x);
  CHECK((e / e.norm() - d / d.norm()).norm() < 0.1);  // the order of 300 distances leaves little freedom
}

TEST("mds: the stress never rises, is free of units, and zero distances are taken") {
  Monitor monitor;
  const MatrixXd y = points(30, 5, 3), start = y.leftCols(2);
  MatrixXd d = distances(y);
  double last = 1e300;
  for (int steps : {1, 5, 25, 125}) {
    MdsOptions options;
    options.max_iter = steps;
    const double stress = mds(d, start, options, monitor).stress;
    CHECK(stress <= last);
    last = stress;
  }
  const MdsResult one = mds(d, start, MdsOptions(), monitor), large = mds(1e8 * d, 1e8 * start, MdsOptions(), monitor);
  CHECK_NEAR(one.stress, large.stress, 1e-8);
  d(0, 1) = d(1, 0) = 0;
  CHECK(std::isfinite(mds(d, start, MdsOptions(), monitor).stress));
  CHECK_THROWS(mds(MatrixXd::Zero(3, 3), MatrixXd::Zero(3, 2), MdsOptions(), monitor), InputError);
  CHECK_THROWS(mds(d, MatrixXd::Zero(3, 2), MdsOptions(), monitor), InputError);
}
