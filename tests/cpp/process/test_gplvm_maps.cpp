// Isomap and the generative topographic mapping.
#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/random/rng.h"
#include "harness.h"
#include "process/gplvm_dual.h"
#include "process/gtm.h"
#include "process/isomap.h"

using namespace granary;
using namespace granary::process;

namespace {

MatrixXd normals(Index n, Index d, std::uint64_t seed) {
  Rng rng(seed);
  MatrixXd x(n, d);
  for (Index k = 0; k < d; ++k)
    for (Index i = 0; i < n; ++i) x(i, k) = rng.normal();
  return x;
}

}  // namespace

TEST("isomap: paths along a chain are sums of its steps, and the map is the chain") {
  Monitor monitor;
  MatrixXd y(40, 2);
  VectorXd along(40);
  double t = 0;
  for (Index k = 0; k < 40; ++k) {
    along[k] = t;
    y(k, 0) = std::cos(3 * t);
    y(k, 1) = std::sin(3 * t);
    t += 0.04;
  }
  const IsomapResult fit = isomap(y, 1, 2, 1, monitor);
  const double step = (y.row(1) - y.row(0)).norm();
  const double skip = (y.row(2) - y.row(0)).norm();  // the two neighbours of an end are the next two
  CHECK_NEAR(fit.distance(0, 39), 35 * step + 2 * skip, 1e-9);
  const double sign = fit.x(39, 0) > fit.x(0, 0) ? 1 : -1;
  for (Index k = 1; k < 40; ++k) CHECK_NEAR(sign * (fit.x(k, 0) - fit.x(k - 1, 0)), step, 0.2 * step);
  CHECK(fit.residual < 0.01);
  const IsomapResult two = isomap(y, 1, 2, 2, monitor);
  CHECK(two.x == fit.x);
}

TEST("isomap: with all rows as neighbours it is classical scaling; a graph in pieces gets more neighbours") {
  Monitor monitor;
  MatrixXd y = normals(25, 3, 1);
  const IsomapResult fit = isomap(y, 3, 24, 1, monitor);
  for (Index i = 0; i < 25; ++i)
    for (Index j = 0; j < i; ++j) CHECK_NEAR((fit.x.row(i) - fit.x.row(j)).norm(), (y.row(i) - y.row(j)).norm(), 1e-6);
  y.topRows(10).array() += 1000;
  const IsomapResult apart = isomap(y, 2, 2, 1, monitor);
  CHECK(apart.neighbours >= 10);
  CHECK(apart.distance.allFinite());
  y.bottomRows(5).rowwise() = y.row(20).eval();  // duplicates
  CHECK(isomap(y, 2, 6, 1, monitor).x.allFinite());
  CHECK_THROWS(isomap(y.topRows(1), 1, 1, 1, monitor), InputError);
  MatrixXd holes = normals(25, 3, 2);
  holes(3, 1) = std::nan("");
  CHECK(isomap(holes, 2, 5, 1, monitor).x.allFinite());
  MatrixXd stranger = MatrixXd::Constant(3, 2, std::nan(""));
  stranger(0, 0) = stranger(1, 0) = 1;
  stranger(2, 1) = 1;
  CHECK_THROWS(isomap(stranger, 1, 1, 1, monitor), InputError);
}

TEST("gtm: the penalised likelihood never falls, and a bent line is straightened") {
  Monitor monitor;
  Rng rng(1);
  const Index n = 120;
  MatrixXd y(n, 2);
  VectorXd t(n);
  for (Index k = 0; k < n; ++k) {
    t[k] = rng.uniform(-1, 1);
    y(k, 0) = t[k] + 0.02 * rng.normal();
    y(k, 1) = t[k] * t[k] + 0.02 * rng.normal();
  }
  y.rowwise() -= y.colwise().mean().eval();
  GtmOptions options;
  options.basis = 5;
  const GtmResult fit = gtm(y, 1, options, monitor);
  for (Index k = 1; k < fit.trace.size(); ++k) CHECK(fit.trace[k] >= fit.trace[k - 1] - 1e-8 * std::abs(fit.trace[k]));
  CHECK(fit.convergence.converged);
  const VectorXd a = t.array() - t.mean(), b = fit.x.col(0).array() - fit.x.col(0).mean();
  CHECK(std::abs(a.dot(b)) > 0.98 * a.norm() * b.norm());
  MatrixXd again;
  VectorXd log_p;
  gtm_place(y, fit.grid, fit.centres, fit.noise, again, log_p);
  CHECK((again - fit.x).norm() < 1e-9);
  CHECK_NEAR(log_p.sum(), fit.log_likelihood, 1e-8 * std::abs(fit.log_likelihood));
  CHECK_THROWS(gtm(y, 3, options, monitor), InputError);
  CHECK_THROWS(gtm(MatrixXd::Zero(5, 2), 1, options, monitor), InputError);
}
