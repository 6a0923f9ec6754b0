#include <cmath>

#include "core/math/logspace.h"
#include "harness.h"
#include "latent/boltzmann.h"

using namespace granary;
using namespace granary::latent;

namespace {

double energy(const MatrixXd& J, const VectorXd& b, int code) {
  double e = 0;
  for (Index i = 0; i < b.size(); ++i) {
    if (!(code >> i & 1)) continue;
    e += b[i];
    for (Index j = 0; j < i; ++j)
      if (code >> j & 1) e += J(i, j);
  }
  return e;
}

// log p(seen) by listing all states
double row_loglik(const MatrixXd& J, const VectorXd& b, const VectorXd& row) {
  LogSumExp all, some;
  for (int code = 0; code < 1 << b.size(); ++code) {
    const double e = energy(J, b, code);
    all.add(e);
    bool fits = true;
    for (Index i = 0; i < b.size(); ++i) fits = fits && (row[i] < 0 || row[i] == (code >> i & 1));
    if (fits) some.add(e);
  }
  return some.value() - all.value();
}

MatrixXd couplings(Index n, Rng& rng) {
  MatrixXd J = MatrixXd::Zero(n, n);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < i; ++j) J(i, j) = J(j, i) = rng.normal();
  return J;
}

MatrixXd sample_rows(Index count, const MatrixXd& J, const VectorXd& b, Index hidden, Rng& rng) {
  MatrixXd rows = boltzmann_draws(count, J, b, rng);
  rows.rightCols(hidden).setConstant(-1);
  return rows;
}

}  // namespace

TEST("rows of a Boltzmann machine have the likelihood of all their states; mean field is below it, and exact without hidden couplings") {
  Rng rng(3);
  Monitor monitor;
  BoltzmannOptions o;
  o.J = couplings(6, rng);
  o.b = rng.normals(6);
  const MatrixXd rows = sample_rows(5, o.J, o.b, 3, rng);
  const BoltzmannRows exact = boltzmann_rows(rows, o, rng, monitor);
  o.method = BoltzmannMethod::mean_field;
  const BoltzmannRows field = boltzmann_rows(rows, o, rng, monitor);
  for (Index i = 0; i < 5; ++i) {
    CHECK_NEAR(exact.loglik[i], row_loglik(o.J, o.b, rows.row(i).transpose()), 1e-12);
    CHECK_NEAR(exact.divergence[i], -exact.loglik[i], 1e-12);
    CHECK(field.divergence[i] > -exact.loglik[i] - 1e-12);
  }
  CHECK((field.divergence + exact.loglik).maxCoeff() > 1e-4);
  o.J.bottomRightCorner(3, 3).setZero();
  const BoltzmannRows free = boltzmann_rows(rows, o, rng, monitor);
  CHECK((free.divergence + free.loglik).cwiseAbs().maxCoeff() < 1e-10);
}

TEST("two hidden nodes: the mean-field point is the least D on a fine grid") {
  Rng rng(5);
  Monitor monitor;
  BoltzmannOptions o;
  o.method = BoltzmannMethod::mean_field;
  o.n_starts = 10;
  o.J = MatrixXd::Zero(3, 3);
  o.J(0, 1) = o.J(1, 0) = 1.5;
  o.J(0, 2) = o.J(2, 0) = -1;
  o.J(1, 2) = o.J(2, 1) = 3;
  o.b = VectorXd::Constant(3, -0.7);
  MatrixXd row(1, 3);
  row << 1, -1, -1;
  const BoltzmannRows found = boltzmann_rows(row, o, rng, monitor);
  LogSumExp all;
  for (int code = 0; code < 8; ++code) all.add(energy(o.J, o.b, code));
  double least = 1e300;
  const auto h = [](double p) { return p * std::log(p) + (1 - p) * std::log1p(-p); };
  for (int a = 1; a < 1000; ++a)
    for (int c = 1; c < 1000; ++c) {
      const double u = a / 1000.0, v = c / 1000.0;
      least = std::min(least, all.value() + h(u) + h(v) - (o.b[0] + u * (o.b[1] + o.J(0, 1)) + v * (o.b[2] + o.J(0, 2)) + u * v * o.J(1, 2)));
    }
  CHECK(found.divergence[0] <= least + 1e-12);
  CHECK_NEAR(found.divergence[0], least, 1e-5);
}

TEST("exact EM of a Boltzmann machine ends where the likelihood has no slope; without hidden nodes the moments agree") {
  Rng rng(7);
  Monitor monitor;
  const MatrixXd J = couplings(5, rng);
  const VectorXd b = 0.3 * rng.normals(5);
  for (const Index hidden : {Index{0}, Index{1}}) {
    const MatrixXd rows = sample_rows(400, J, b, hidden, rng);
    BoltzmannOptions o;
    o.lambda = 0.01;
    o.tol = 1e-10;
    o.n_starts = 2;
    const BoltzmannResult r = boltzmann_fit(rows, VectorXd(), o, rng, monitor);
    CHECK(r.convergence.converged);
    CHECK(r.rises == 0);
    CHECK_NEAR(r.gap, 0, 1e-7);
    double loglik = 0;
    for (Index i = 0; i < rows.rows(); ++i) loglik += row_loglik(r.J, r.b, rows.row(i).transpose());
    CHECK_NEAR(r.loglik / loglik, 1, 1e-12);
    CHECK(r.score < 2e-5);
    MatrixXd up = r.J, down = r.J;
    const double e = 1e-5;
    up(1, 0) = up(0, 1) += e;
    down(1, 0) = down(0, 1) -= e;
    double slope = -o.lambda * r.J(1, 0);
    for (Index i = 0; i < rows.rows(); ++i)
      slope += (row_loglik(up, r.b, rows.row(i).transpose()) - row_loglik(down, r.b, rows.row(i).transpose())) / (2 * e) / 400;
    CHECK_NEAR(slope, 0, 3e-5);
  }
}

TEST("the mean-field limit is not one of the likelihood: what is left of its slope is the bias that is reported") {
  Rng rng(11);
  Monitor monitor;
  const MatrixXd J = couplings(5, rng);
  MatrixXd rows = boltzmann_draws(300, 2 * J, VectorXd::Zero(5), rng);
  for (Index i = 0; i < rows.size(); ++i)
    if (rng.bernoulli(0.4)) rows.data()[i] = -1;  // couplings of nodes hidden together are learnt elsewhere, so the gap stays
  BoltzmannOptions o;
  o.method = BoltzmannMethod::mean_field;
  o.lambda = 0.02;
  o.n_starts = 3;
  o.tol = 1e-11;
  const BoltzmannResult r = boltzmann_fit(rows, VectorXd(), o, rng, monitor);
  CHECK(r.gap > 1e-6);
  CHECK(r.rises == 0);
  const double e = 1e-5;
  for (Index i = 1; i < 5; ++i) {
    for (Index j = 0; j < i; ++j) {
      MatrixXd up = r.J, down = r.J;
      up(i, j) = up(j, i) += e;
      down(i, j) = down(j, i) -= e;
      double slope = -o.lambda * r.J(i, j);
      for (Index t = 0; t < rows.rows(); ++t)
        slope += (row_loglik(up, r.b, rows.row(t).transpose()) - row_loglik(down, r.b, rows.row(t).transpose())) / (2 * e) / 300;
      CHECK_NEAR(slope, r.bias(i, j), 5e-5);
    }
  }
}

TEST("a pattern that never occurs is said to drive a parameter away; too many nodes are refused") {
  Rng rng(1);
  Monitor monitor;
  MatrixXd rows(4, 2);
  rows << 1, 1, 1, 1, 0, 0, 0, 0;
  const BoltzmannResult r = boltzmann_fit(rows, VectorXd(), BoltzmannOptions(), rng, monitor);
  CHECK(!r.convergence.converged || r.J(0, 1) > 5);
  CHECK_THROWS(boltzmann_fit(MatrixXd::Zero(2, 21), VectorXd(), BoltzmannOptions(), rng, monitor), InputError);
}
