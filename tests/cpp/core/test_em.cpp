#include <cmath>
#include <vector>

#include "core/base/monitor.h"
#include "core/infer/em.h"
#include "core/infer/emission_counts.h"
#include "core/infer/emission_gaussian.h"
#include "core/infer/hmm_model.h"
#include "core/infer/mixture_model.h"
#include "core/math/logspace.h"
#include "harness.h"

using namespace granary;

namespace {

struct Sample {
  MatrixXd y;
  GaussianStates truth;
};

Sample gaussian_sample(Index n, Index p, Index k, std::uint64_t seed) {
  Rng rng(seed);
  Sample s;
  s.y.resize(n, p);
  s.truth.means.resize(k, p);
  for (Index h = 0; h < k; ++h)
    for (Index j = 0; j < p; ++j) s.truth.means(h, j) = 2.5 * rng.normal();
  s.truth.covariance.assign(static_cast<std::size_t>(k), MatrixXd::Identity(p, p));
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < p; ++j) s.y(i, j) = s.truth.means(i % k, j) + rng.normal();
  return s;
}

VectorXd start_theta(const GaussianEmission& e, const GaussianStates& states) {
  const Index k = e.states();
  VectorXd theta(k + e.parameters());
  theta.head(k).setConstant(1.0 / static_cast<double>(k));
  e.write(states, theta.data() + k);
  return theta;
}

// log-likelihood of a Gaussian mixture, written out
double mixture_loglik(const MatrixXd& y, const VectorXd& share, const GaussianStates& g) {
  double sum = 0;
  for (Index i = 0; i < y.rows(); ++i) {
    VectorXd terms(share.size());
    for (Index h = 0; h < share.size(); ++h) {
      const MatrixXd& c = g.covariance[static_cast<std::size_t>(h)];
      const VectorXd d = (y.row(i) - g.means.row(h)).transpose();
      const Llt llt(c);
      double log_det = 0;
      for (Index j = 0; j < c.rows(); ++j) log_det += 2 * std::log(llt.matrixLLT()(j, j));
      terms[h] = std::log(share[h]) - 0.5 * (d.dot(llt.solve(d)) + log_det + static_cast<double>(d.size()) * std::log(2 * M_PI));
    }
    sum += log_sum_exp(terms);
  }
  return sum;
}

}  // namespace

TEST("EM: D is the negative likelihood after a forward step, never rises, and the limit has no score, for all covariances") {
  Monitor quiet;
  const Sample s = gaussian_sample(600, 3, 3, 5);
  for (const CovarianceKind kind : {CovarianceKind::full, CovarianceKind::diagonal, CovarianceKind::spherical, CovarianceKind::tied}) {
    for (const double df : {0.0, 5.0}) {
      GaussianEmission emission(s.y, VectorXd(), 3, kind, df);
      MixtureModel model(emission, VectorXd(), 1, df > 0 ? 1 : 0);
      Rng rng(1);
      EmOptions options;
      options.tol = 1e-12;
      const EmResult r = em_run(model, start_theta(emission, s.truth), options, rng, quiet);
      CHECK(r.convergence.converged);
      CHECK(r.rises == 0);
      CHECK(r.falls == 0);
      CHECK_NEAR(r.gap / r.loglik, 0, 1e-12);
      CHECK(r.score < 1e-6);
      const double direct = mixture_loglik(s.y, r.theta.head(3), emission.read(r.theta.data() + 3));
      CHECK_NEAR(r.loglik / direct, 1, 1e-12);
      if (df == 0)
        for (const EmStep& step : r.trace) CHECK_NEAR(step.forward, -step.loglik, 1e-10 * std::abs(step.loglik));
      // Derivatives of the log posterior by differences: none is left.
      if (kind == CovarianceKind::full && df == 0) {
        for (Index a = 3; a < r.theta.size(); a += 5) {
          VectorXd up = r.theta, down = r.theta;
          const double e = 1e-4;
          up[a] += e;
          down[a] -= e;
          if (a >= 12) continue;  // means only: a single entry of a covariance is not free
          const double slope = (mixture_loglik(s.y, r.theta.head(3), emission.read(up.data() + 3)) -
                                mixture_loglik(s.y, r.theta.head(3), emission.read(down.data() + 3))) / (2 * e);
          CHECK_NEAR(slope / 600, 0, 1e-5);
        }
      }
    }
  }
}

TEST("incremental EM: one block gives EM's course; many blocks the same limit with no gap; D falls at every small step") {
  Monitor quiet;
  const Sample s = gaussian_sample(500, 2, 3, 8);
  GaussianEmission emission(s.y, VectorXd(), 3, CovarianceKind::full);
  MixtureModel model(emission, VectorXd(), 1);
  const VectorXd start = start_theta(emission, s.truth);
  EmOptions options;
  options.tol = 1e-13;
  Rng rng(1);
  const EmResult em = em_run(model, start, options, rng, quiet);
  options.method = EmMethod::incremental;
  options.blocks = 1;
  const EmResult one = em_run(model, start, options, rng, quiet);
  for (std::size_t t = 0; t + 1 < std::min<std::size_t>(10, em.trace.size()); ++t) CHECK_NEAR(one.trace[t].backward / em.trace[t].backward, 1, 1e-12);
  for (const EmOrder order : {EmOrder::fixed, EmOrder::random}) {
    options.blocks = 20;
    options.order = order;
    const EmResult many = em_run(model, start, options, rng, quiet);
    CHECK(many.convergence.converged);
    CHECK(many.rises == 0);
    CHECK((many.theta - em.theta).cwiseAbs().maxCoeff() < 1e-5);
    CHECK_NEAR(many.gap / many.loglik, 0, 1e-10);
  }
  for (const EmMethod method : {EmMethod::gem, EmMethod::squarem}) {
    options.method = method;
    const EmResult other = em_run(model, start, options, rng, quiet);
    CHECK(other.convergence.converged);
    CHECK(other.rises == 0);
    CHECK((other.theta - em.theta).cwiseAbs().maxCoeff() < 1e-5);
    if (method == EmMethod::squarem) CHECK(other.convergence.iterations < em.convergence.iterations);
  }
}

TEST("partial, hard, boxed and tempered forward steps lower their D, and the gap is the divergence from the posterior") {
  Monitor quiet;
  const Sample s = gaussian_sample(400, 2, 2, 3);
  GaussianEmission emission(s.y, VectorXd(), 2, CovarianceKind::spherical);
  MixtureModel model(emission, VectorXd(), 1);
  const VectorXd start = start_theta(emission, s.truth);
  Rng rng(1);
  EmOptions options;
  options.tol = 1e-12;
  const EmResult em = em_run(model, start, options, rng, quiet);
  options.partial = 1e-4;
  const EmResult partial = em_run(model, start, options, rng, quiet);
  CHECK(partial.convergence.converged);
  CHECK((partial.theta - em.theta).cwiseAbs().maxCoeff() < 1e-5);
  options.partial = 0;
  for (const EmForward kind : {EmForward::hard, EmForward::box, EmForward::tempered}) {
    options.forward = kind;
    options.lower = 0.1;
    options.upper = 0.9;
    options.temperature = 2;
    const EmResult r = em_run(model, start, options, rng, quiet);
    CHECK(r.rises == 0);
    CHECK(r.gap > 0);
    CHECK(r.loglik <= em.loglik + 1e-9);
    const ForwardRule rule{kind, kind == EmForward::tempered ? 2.0 : 1.0, 0.1, 0.9};
    model.set(r.theta);
    MatrixXd q, p;
    VectorXd l;
    model.memberships(rule, q, l, quiet);
    model.memberships(ForwardRule(), p, l, quiet);
    double kl = 0;
    for (Index i = 0; i < q.rows(); ++i)
      for (Index h = 0; h < 2; ++h)
        if (q(i, h) > 0) kl += q(i, h) * std::log(q(i, h) / p(i, h));
    CHECK_NEAR(r.gap, kl, 1e-7 * (1 + kl));
    if (kind == EmForward::box) CHECK(q.minCoeff() >= 0.1 - 1e-12 && std::abs(q.rowwise().sum().maxCoeff() - 1) < 1e-12);
  }
}

TEST("one component is the closed form, with case weights as repeated rows") {
  Monitor quiet;
  const Sample s = gaussian_sample(40, 2, 2, 4);
  VectorXd weights = VectorXd::Ones(40);
  weights[3] = 3;
  MatrixXd repeated(42, 2);
  repeated << s.y, s.y.row(3), s.y.row(3);
  Rng rng(1);
  GaussianEmission a(s.y, weights, 1, CovarianceKind::full), b(repeated, VectorXd(), 1, CovarianceKind::full);
  MixtureModel x(a, weights, 1), y(b, VectorXd(), 1);
  GaussianStates from = s.truth;
  from.means = s.truth.means.topRows(1);
  from.covariance.resize(1);
  const EmResult p = em_run(x, start_theta(a, from), EmOptions(), rng, quiet), q = em_run(y, start_theta(b, from), EmOptions(), rng, quiet);
  const GaussianStates u = a.read(p.theta.data() + 1), v = b.read(q.theta.data() + 1);
  CHECK((u.means - v.means).cwiseAbs().maxCoeff() < 1e-12);
  CHECK((u.covariance[0] - v.covariance[0]).cwiseAbs().maxCoeff() < 1e-12);
  CHECK((v.means.row(0) - repeated.colwise().mean()).cwiseAbs().maxCoeff() < 1e-12);
  CHECK_NEAR(p.loglik, q.loglik, 1e-9);
}

TEST("mixtures of counts: limits have no score and keep shares of sum one; categories may be missing") {
  Monitor quiet;
  Rng rng(9);
  MatrixXd counts(300, 4);
  for (Index i = 0; i < 300; ++i)
    for (Index j = 0; j < 4; ++j) counts(i, j) = static_cast<double>(rng.poisson(i % 2 == 0 ? 2.0 + static_cast<double>(j) : 8.0 - static_cast<double>(j)));
  const DataRows rows(counts);
  for (const CountLaw law : {CountLaw::poisson, CountLaw::multinomial}) {
    CountEmission emission(rows, VectorXd(), 2, law);
    MixtureModel model(emission, VectorXd(), 2);
    VectorXd theta(2 + emission.parameters());
    theta.head(2).setConstant(0.5);
    Eigen::Map<MatrixXd> table(theta.data() + 2, 2, 4);
    table.row(0) = emission.mean().transpose();
    table.row(1) = emission.mean().transpose();
    table(0, 0) *= 0.5;
    if (law == CountLaw::multinomial) table.row(0) /= table.row(0).sum();
    EmOptions options;
    options.tol = 1e-12;
    const EmResult r = em_run(model, theta, options, rng, quiet);
    CHECK(r.convergence.converged);
    CHECK(r.rises == 0);
    CHECK_NEAR(r.gap / r.loglik, 0, 1e-12);
    if (law == CountLaw::multinomial) CHECK_NEAR(Eigen::Map<const MatrixXd>(r.theta.data() + 2, 2, 4).rowwise().sum().maxCoeff(), 1, 1e-12);
  }
  Eigen::MatrixXi codes(200, 3);
  for (Index i = 0; i < 200; ++i)
    for (Index j = 0; j < 3; ++j) codes(i, j) = i % 7 == j ? 0 : 1 + static_cast<int>(rng.bernoulli(i % 2 == 0 ? 0.2 : 0.8)) + static_cast<int>(j == 2 && rng.bernoulli(0.5));
  std::vector<Index> items;
  const SparseMatrix x = indicator_columns(codes, {2, 2, 3}, items);
  CHECK(x.cols() == 7);
  const MatrixXd dense(x);
  const DataRows indicators(dense);
  CountEmission emission(indicators, VectorXd(), 2, CountLaw::categorical, items);
  MixtureModel model(emission, VectorXd(), 1);
  VectorXd theta(2 + 14);
  theta.head(2).setConstant(0.5);
  Eigen::Map<MatrixXd> table(theta.data() + 2, 2, 7);
  table.row(0) << 0.7, 0.3, 0.6, 0.4, 0.5, 0.3, 0.2;
  table.row(1) << 0.3, 0.7, 0.4, 0.6, 0.2, 0.3, 0.5;
  const EmResult r = em_run(model, theta, EmOptions(), rng, quiet);
  CHECK(r.convergence.converged);
  for (Index h = 0; h < 2; ++h) {
    const auto row = Eigen::Map<const MatrixXd>(r.theta.data() + 2, 2, 7).row(h);
    CHECK_NEAR(row.head(2).sum(), 1, 1e-12);
    CHECK_NEAR(row.tail(3).sum(), 1, 1e-12);
  }
}

TEST("a hidden Markov model's posterior is that of all its paths, and EM on it lowers D to the negative likelihood") {
  Monitor quiet;
  Rng rng(2);
  VectorXd initial(2);
  initial << 0.6, 0.4;
  MatrixXd transition(2, 2);
  transition << 0.7, 0.3, 0.2, 0.8;
  MatrixXd density(5, 2);
  for (Index i = 0; i < density.size(); ++i) density.data()[i] = -900 + 3 * rng.normal();
  const HmmPosterior found = hmm_posterior(initial, transition, density);
  double top = -1e300;
  LogSumExp sum;
  MatrixXd states = MatrixXd::Zero(5, 2), moves = MatrixXd::Zero(2, 2);
  std::vector<double> joint(32);
  for (int code = 0; code < 32; ++code) {
    double x = std::log(initial[code & 1]);
    for (int t = 0; t < 5; ++t) {
      x += density(t, code >> t & 1);
      if (t > 0) x += std::log(transition(code >> (t - 1) & 1, code >> t & 1));
    }
    joint[static_cast<std::size_t>(code)] = x;
    sum.add(x);
    top = std::max(top, x);
  }
  for (int code = 0; code < 32; ++code) {
    const double p = std::exp(joint[static_cast<std::size_t>(code)] - sum.value());
    for (int t = 0; t < 5; ++t) {
      states(t, code >> t & 1) += p;
      if (t > 0) moves(code >> (t - 1) & 1, code >> t & 1) += p;
    }
  }
  CHECK_NEAR(found.loglik, sum.value(), 1e-10);
  CHECK((found.states - states).cwiseAbs().maxCoeff() < 1e-12);
  CHECK((found.transitions - moves).cwiseAbs().maxCoeff() < 1e-12);
  double best = 0;
  hmm_path(initial, transition, density, best);
  CHECK_NEAR(best, top, 1e-10);

  const Sample s = gaussian_sample(300, 2, 2, 6);
  std::vector<Index> begin = {0, 1, 40, 120, 300};
  GaussianEmission emission(s.y, VectorXd(), 2, CovarianceKind::diagonal);
  HmmModel model(emission, begin, VectorXd(), 2);
  VectorXd theta(2 + 4 + emission.parameters());
  theta.head(2).setConstant(0.5);
  theta.segment(2, 4).setConstant(0.5);
  emission.write(s.truth, theta.data() + 6);
  EmOptions options;
  options.tol = 1e-12;
  const EmResult em = em_run(model, theta, options, rng, quiet);
  CHECK(em.convergence.converged);
  CHECK(em.rises == 0);
  CHECK_NEAR(em.gap / em.loglik, 0, 1e-11);
  options.method = EmMethod::incremental;
  options.blocks = 4;
  const EmResult many = em_run(model, theta, options, rng, quiet);
  CHECK(many.convergence.converged);
  CHECK(many.rises == 0);
  CHECK((many.theta - em.theta).cwiseAbs().maxCoeff() < 1e-4);
  options.method = EmMethod::em;
  options.forward = EmForward::hard;
  const EmResult hard = em_run(model, theta, options, rng, quiet);
  CHECK(hard.rises == 0);
  CHECK(hard.gap >= 0);
}
