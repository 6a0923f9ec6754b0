#include <cmath>
#include <limits>
#include <vector>

#include "core/base/monitor.h"
#include "core/infer/gaussian_hmm.h"
#include "core/infer/hmm_chain.h"
#include "core/math/logspace.h"
#include "harness.h"

using namespace granary;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Chain {
  VectorXd initial;
  MatrixXd transition, log_density;
};

Chain random_chain(Index k, Index n, std::uint64_t seed, double spread = 1) {
  Rng rng(seed);
  Chain c;
  c.initial = rng.dirichlet(VectorXd::Ones(k));
  c.transition.resize(k, k);
  for (Index a = 0; a < k; ++a) c.transition.row(a) = rng.dirichlet(VectorXd::Ones(k)).transpose();
  c.log_density.resize(n, k);
  for (Index t = 0; t < n; ++t)
    for (Index h = 0; h < k; ++h) c.log_density(t, h) = spread * rng.normal();
  return c;
}

// All k^n paths, one after the other.
struct Enumerated {
  double loglik = 0, best = -infinity;
  MatrixXd states, transitions;
};
Enumerated enumerate(const Chain& c) {
  const Index k = c.initial.size(), n = c.log_density.rows();
  Enumerated out;
  out.states = MatrixXd::Zero(n, k);
  out.transitions = MatrixXd::Zero(k, k);
  LogSumExp sum;
  std::vector<std::pair<double, std::vector<Index>>> paths;
  Index count = 1;
  for (Index t = 0; t < n; ++t) count *= k;
  for (Index code = 0; code < count; ++code) {
    std::vector<Index> z(static_cast<std::size_t>(n));
    Index rest = code;
    for (auto& state : z) {
      state = rest % k;
      rest /= k;
    }
    double log_p = std::log(c.initial[z[0]]);
    for (Index t = 0; t < n; ++t) {
      const Index now = z[static_cast<std::size_t>(t)];
      log_p += c.log_density(t, now);
      if (t > 0) log_p += std::log(c.transition(z[static_cast<std::size_t>(t - 1)], now));
    }
    sum.add(log_p);
    out.best = std::max(out.best, log_p);
    paths.push_back({log_p, z});
  }
  out.loglik = sum.value();
  for (const auto& [log_p, z] : paths) {
    const double p = std::exp(log_p - out.loglik);
    for (Index t = 0; t < n; ++t) {
      const Index now = z[static_cast<std::size_t>(t)];
      out.states(t, now) += p;
      if (t > 0) out.transitions(z[static_cast<std::size_t>(t - 1)], now) += p;
    }
  }
  return out;
}

struct Sample {
  MatrixXd x;
  std::vector<Index> begin;
};

// Sequences that stay in a state for a while; means 3 apart.
Sample sample(int sequences, Index length, Index p, Index k, std::uint64_t seed) {
  Rng rng(seed);
  Sample s;
  s.x.resize(sequences * length, p);
  s.begin.push_back(0);
  for (int i = 0; i < sequences; ++i) {
    for (Index t = 0; t < length; ++t)
      for (Index j = 0; j < p; ++j) s.x(i * length + t, j) = 3.0 * static_cast<double>(t * k / length) + rng.normal();
    s.begin.push_back((i + 1) * length);
  }
  return s;
}

GaussianHmmOptions options(int k, CovarianceKind kind = CovarianceKind::diagonal, HmmTopology topology = HmmTopology::ergodic) {
  GaussianHmmOptions o;
  o.k = k;
  o.covariance = kind;
  o.topology = topology;
  o.em.tol = 1e-12;
  o.em.max_iter = 500;
  return o;
}

GaussianHmmFit fit(const Sample& s, const GaussianHmmOptions& o, const VectorXd& weights = VectorXd()) {
  Rng rng(1);
  Monitor silent;
  return gaussian_hmm_fit(s.x, s.begin, weights, o, rng, silent);
}

double distance(const GaussianHmm& a, const GaussianHmm& b) {
  return (a.means - b.means).cwiseAbs().maxCoeff() + (a.covariance - b.covariance).cwiseAbs().maxCoeff() +
         (a.transition - b.transition).cwiseAbs().maxCoeff() + (a.initial - b.initial).cwiseAbs().maxCoeff();
}

const std::vector<CovarianceKind> kinds = {CovarianceKind::full, CovarianceKind::diagonal, CovarianceKind::spherical,
                                           CovarianceKind::tied};
const std::vector<HmmTopology> topologies = {HmmTopology::ergodic, HmmTopology::left_right, HmmTopology::forward};

}  // namespace

TEST("the forward and backward recursions are sums over all paths") {
  for (const Index k : {1, 2, 3})
    for (const Index n : {1, 2, 6}) {
      const Chain c = random_chain(k, n, static_cast<std::uint64_t>(10 * k + n), 3);
      const Enumerated truth = enumerate(c);
      CHECK_NEAR(hmm_loglik(c.initial, c.transition, c.log_density), truth.loglik, 1e-12 * (1 + std::abs(truth.loglik)));
      const HmmPosterior found = hmm_posterior(c.initial, c.transition, c.log_density);
      CHECK_NEAR(found.loglik, truth.loglik, 1e-12 * (1 + std::abs(truth.loglik)));
      CHECK_NEAR((found.states - truth.states).cwiseAbs().maxCoeff(), 0, 1e-12);
      CHECK_NEAR((found.transitions - truth.transitions).cwiseAbs().maxCoeff(), 0, 1e-12);
      double joint = 0;
      hmm_path(c.initial, c.transition, c.log_density, joint);
      CHECK_NEAR(joint, truth.best, 1e-12 * (1 + std::abs(truth.best)));
    }
}

TEST("weights multiply the transitions that are added, and nothing else") {
  const Chain c = random_chain(3, 20, 5);
  HmmWork work;
  MatrixXd states(20, 3), moves = MatrixXd::Ones(3, 3);
  hmm_smooth(c.initial, c.transition, c.log_density, 2.5, work, states, moves);
  const HmmPosterior plain = hmm_posterior(c.initial, c.transition, c.log_density);
  CHECK_NEAR((moves - MatrixXd::Ones(3, 3) - 2.5 * plain.transitions).cwiseAbs().maxCoeff(), 0, 1e-12);
  CHECK_NEAR((states - plain.states).cwiseAbs().maxCoeff(), 0, 0);
}

TEST("where the only path that is allowed is out of reach of a double, logarithms go on") {
  Chain c = random_chain(2, 4, 1);
  c.initial = VectorXd::Unit(2, 0);
  c.transition << 0.5, 0.5, 0, 1;
  c.log_density.setZero();
  c.log_density(0, 0) = -3000;  // the chain has to be there
  c.log_density(3, 0) = -4000;
  // Paths 0111, 0011, 0001: probabilities 1/2, 1/4, 1/8; 0000 not in a double.
  const double truth = -3000 + std::log(0.875);
  CHECK_NEAR(hmm_loglik(c.initial, c.transition, c.log_density), truth, 1e-9);
  const HmmPosterior found = hmm_posterior(c.initial, c.transition, c.log_density);
  CHECK_NEAR(found.loglik, truth, 1e-9);
  CHECK_NEAR(found.states(1, 1), 4.0 / 7, 1e-12);
  CHECK_NEAR(found.transitions(0, 1), 1, 1e-12);
  c.transition << 1, 0, 0, 1;
  c.log_density(2, 0) = -infinity;
  CHECK(hmm_loglik(c.initial, c.transition, c.log_density) == -infinity);
  CHECK_THROWS(hmm_posterior(c.initial, c.transition, c.log_density), NumericalError);
}

TEST("a backward pass that a double cannot hold goes on in logarithms, and adds its transitions once") {
  Chain c;
  c.initial.resize(2);
  c.initial << 1 - 1e-250, 1e-250;
  c.transition = MatrixXd::Identity(2, 2);
  c.log_density = MatrixXd::Zero(3, 2);
  c.log_density(2, 0) = -2000;  // only now it shows that the chain was in the second state
  HmmWork work;
  MatrixXd states(3, 2), moves = MatrixXd::Zero(2, 2);
  const double loglik = hmm_smooth(c.initial, c.transition, c.log_density, 1, work, states, moves);
  CHECK_NEAR(loglik, std::log(1e-250), 1e-9);
  CHECK_NEAR(states(0, 1), 1, 1e-12);
  CHECK_NEAR(moves.sum(), 2, 1e-12);
}

TEST("a hundred thousand rows neither overflow nor underflow") {
  const Chain c = random_chain(3, 100000, 3, 50);
  const HmmPosterior found = hmm_posterior(c.initial, c.transition, c.log_density);
  CHECK(std::isfinite(found.loglik));
  CHECK_NEAR(found.transitions.sum(), 99999, 1e-6);
  CHECK_NEAR((found.states.rowwise().sum().array() - 1).abs().maxCoeff(), 0, 1e-12);
  CHECK_NEAR(found.loglik, hmm_loglik(c.initial, c.transition, c.log_density), 1e-9 * std::abs(found.loglik));
}

TEST("the likelihood never falls, for all covariances and topologies, and what is forbidden stays so") {
  const Sample s = sample(6, 12, 3, 3, 2);
  for (const CovarianceKind kind : kinds)
    for (const HmmTopology topology : topologies) {
      const GaussianHmmFit found = fit(s, options(3, kind, topology));
      CHECK(found.falls == 0);
      CHECK(found.convergence.converged);
      for (std::size_t t = 1; t < found.trace.size(); ++t)
        CHECK(found.trace[t].loglik >= found.trace[t - 1].loglik - 1e-9 * std::abs(found.trace[t].loglik));
      for (Index a = 0; a < 3; ++a) {
        CHECK_NEAR(found.model.transition.row(a).sum(), 1, 1e-12);
        if (!may_begin(topology, a)) CHECK(found.model.initial[a] == 0);
        for (Index b = 0; b < 3; ++b)
          if (!may_follow(topology, a, b)) CHECK(found.model.transition(a, b) == 0);
      }
      Monitor silent;
      CHECK_NEAR(gaussian_hmm_loglik(found.model, s.x, s.begin, 1, silent).sum(), found.loglik, 1e-9 * std::abs(found.loglik));
      CHECK_NEAR(found.sizes.sum(), 72, 1e-9);
    }
}

TEST("a converged fit has no derivative left") {
  const Sample s = sample(5, 15, 2, 2, 4);
  for (const CovarianceKind kind : kinds) {
    const GaussianHmmFit found = fit(s, options(2, kind));
    Monitor silent;
    const auto value = [&](const GaussianHmm& m) { return gaussian_hmm_loglik(m, s.x, s.begin, 1, silent).sum(); };
    for (Index h = 0; h < 2; ++h)
      for (Index j = 0; j < 2; ++j) {
        GaussianHmm up = found.model, down = found.model;
        up.means(j, h) += 1e-4;
        down.means(j, h) -= 1e-4;
        CHECK_NEAR((value(up) - value(down)) / 2e-4, 0, 2e-3);
      }
    for (Index i = 0; i < found.model.covariance.size(); ++i) {
      if ((kind == CovarianceKind::full || kind == CovarianceKind::tied) && i % 4 != 0) continue;
      GaussianHmm up = found.model, down = found.model;
      up.covariance[i] += 1e-4;
      down.covariance[i] -= 1e-4;
      CHECK_NEAR((value(up) - value(down)) / 2e-4, 0, 2e-3);
    }
  }
}

TEST("whole weights are copies, weight zero is absence, a common factor changes nothing") {
  const Sample s = sample(4, 10, 2, 2, 6);
  VectorXd w(4);
  w << 2, 1, 0, 3;
  const GaussianHmmFit weighted = fit(s, options(2), w);
  Sample copies;
  copies.x.resize(60, 2);
  copies.begin = {0};
  for (const int i : {0, 0, 1, 3, 3, 3}) {
    copies.x.middleRows(copies.begin.back(), 10) = s.x.middleRows(10 * i, 10);
    copies.begin.push_back(copies.begin.back() + 10);
  }
  const GaussianHmmFit plain = fit(copies, options(2));
  CHECK_NEAR(distance(weighted.model, plain.model), 0, 1e-6);
  CHECK_NEAR(weighted.loglik, plain.loglik, 1e-7);
  const GaussianHmmFit scaled = fit(s, options(2), 1e6 * w);
  CHECK_NEAR(distance(weighted.model, scaled.model), 0, 1e-6);
  CHECK_NEAR(scaled.loglik, 1e6 * weighted.loglik, 1e-1);
}

TEST("one state has the weighted moments") {
  const Sample s = sample(3, 7, 2, 1, 8);
  VectorXd w(3);
  w << 1, 4, 0.5;
  const GaussianHmmFit found = fit(s, options(1, CovarianceKind::full), w);
  VectorXd mean = VectorXd::Zero(2);
  MatrixXd second = MatrixXd::Zero(2, 2);
  for (Index r = 0; r < 21; ++r) mean += w[r / 7] * s.x.row(r).transpose() / (7 * w.sum());
  for (Index r = 0; r < 21; ++r) {
    const VectorXd d = s.x.row(r).transpose() - mean;
    second += w[r / 7] * d * d.transpose() / (7 * w.sum());
  }
  CHECK_NEAR((found.model.means.col(0) - mean).norm(), 0, 1e-12);
  CHECK_NEAR((Eigen::Map<const MatrixXd>(found.model.covariance.data(), 2, 2) - second).norm(), 0, 1e-12);
}

TEST("sequences of length one are a mixture, the law of the first state its shares") {
  Rng rng(3);
  Sample s;
  s.x.resize(200, 1);
  s.begin = {0};
  for (Index i = 0; i < 200; ++i) {
    s.x(i, 0) = (i % 4 == 0 ? 5 : 0) + rng.normal();
    s.begin.push_back(i + 1);
  }
  GaussianHmmOptions o = options(2);
  o.start = HmmStart::kmeans;
  const GaussianHmmFit found = fit(s, o);
  const GaussianHmm& m = found.model;
  double loglik = 0;
  for (Index i = 0; i < 200; ++i) {
    double p = 0;
    for (Index h = 0; h < 2; ++h)
      p += m.initial[h] * std::exp(-0.5 * std::pow(s.x(i, 0) - m.means(0, h), 2) / m.covariance[h]) / std::sqrt(
          2 * M_PI * m.covariance[h]);
    loglik += std::log(p);
  }
  CHECK_NEAR(found.loglik, loglik, 1e-8);
  CHECK_NEAR(m.initial[1], 0.25, 0.05);
  CHECK(m.means(0, 0) < m.means(0, 1));  // sorted
}

TEST("a missing row says nothing, but time goes on") {
  const Sample s = sample(3, 9, 2, 2, 9);
  const GaussianHmm model = fit(s, options(2)).model;
  Monitor silent;
  MatrixXd x = s.x.topRows(4);
  x(2, 1) = std::numeric_limits<double>::quiet_NaN();
  MatrixXd d(4, 2);
  GaussianDensity(model.kind, model.means, model.covariance.data()).log_density(x, d);
  d.row(2).setZero();
  CHECK_NEAR(gaussian_hmm_loglik(model, x, {0, 4}, 1, silent)[0], hmm_loglik(model.initial, model.transition, d), 1e-12);
  // Rows missing at the end of a sequence leave its likelihood as it was, and so the fit.
  Sample longer = s;
  longer.x.conservativeResize(30, 2);
  longer.x.bottomRows(3).setConstant(std::numeric_limits<double>::quiet_NaN());
  longer.begin.back() = 30;
  GaussianHmmOptions o = options(2);
  o.start = HmmStart::parameters;
  o.model = model;
  const GaussianHmmFit with = fit(longer, o), without = fit(s, o);
  CHECK_NEAR(with.loglik, without.loglik, 1e-7 * std::abs(without.loglik));
  CHECK(with.observed == 27);
  CHECK_NEAR((with.model.means - without.model.means).norm(), 0, 1e-5);
}

TEST("covariances are bounded from below, and the fit is the maximum under the bound") {
  Rng rng(2);
  Sample s;
  s.x.resize(4, 6);  // more columns than rows
  for (Index i = 0; i < 24; ++i) s.x.data()[i] = rng.normal();
  s.begin = {0, 4};
  for (const CovarianceKind kind : kinds) {
    GaussianHmmOptions o = options(1, kind);
    o.floor = 0.05;
    o.spread = VectorXd::Constant(6, 2);
    const GaussianHmmFit found = fit(s, o);
    CHECK(found.convergence.converged);
    MatrixXd c = state_covariance(kind, found.model.covariance.data(), 6, 0);
    CHECK(!clip_covariance(c, o.spread, 0.05 * (1 - 1e-9)));
    // No other covariance above the bound is likelier.
    Monitor silent;
    GaussianHmm other = found.model;
    for (int trial = 0; trial < 20; ++trial) {
      MatrixXd r = MatrixXd::NullaryExpr(6, 6, [&] { return 0.05 * rng.normal(); });
      if (kind == CovarianceKind::full || kind == CovarianceKind::tied) {
        MatrixXd near = Eigen::Map<const MatrixXd>(found.model.covariance.data(), 6, 6) + 0.5 * (r + r.transpose());
        clip_covariance(near, o.spread, 0.05);
        other.covariance = Eigen::Map<const VectorXd>(near.data(), 36);
      } else {
        for (Index i = 0; i < other.covariance.size(); ++i) other.covariance[i] = std::max(
            0.1, found.model.covariance[i] + 0.05 * rng.normal());
      }
      CHECK(gaussian_hmm_loglik(other, s.x, s.begin, 1, silent)[0] <= found.loglik + 1e-9);
    }
  }
}

TEST("units of the columns do not matter") {
  const Sample s = sample(4, 12, 2, 2, 12);
  const GaussianHmmFit plain = fit(s, options(2));
  for (const double unit : {1e-8, 1e8}) {
    Sample other = s;
    other.x *= unit;
    const GaussianHmmFit found = fit(other, options(2));
    CHECK_NEAR((found.model.means / unit - plain.model.means).cwiseAbs().maxCoeff(), 0, 1e-6);
    CHECK_NEAR(found.loglik, plain.loglik - 96 * std::log(unit), 1e-4);
  }
}

TEST("the fit is the same on one and two threads") {
  const Sample s = sample(40, 60, 8, 3, 14);
  GaussianHmmOptions o = options(3, CovarianceKind::full);
  o.start = HmmStart::kmeans;
  o.em.max_iter = 20;
  const GaussianHmmFit one = fit(s, o);
  o.threads = 2;
  CHECK(distance(one.model, fit(s, o).model) == 0);
}

TEST("draws have the law of the model") {
  GaussianHmm m;
  m.kind = CovarianceKind::diagonal;
  m.initial = VectorXd::Unit(2, 0);
  m.transition.resize(2, 2);
  m.transition << 0.9, 0.1, 0.3, 0.7;
  m.means.resize(1, 2);
  m.means << -4, 4;
  m.covariance = VectorXd::Constant(2, 0.25);
  Rng rng(5);
  Monitor silent;
  const HmmDraws draws = gaussian_hmm_draws(m, {20000, 3}, rng, silent);
  CHECK(draws.x.rows() == 20003 && draws.state[0] == 0 && draws.state[20000] == 0);
  double stay = 0, from = 0, right = 0;
  for (Index t = 0; t + 1 < 20000; ++t) {
    from += draws.state[t] == 0;
    stay += draws.state[t] == 0 && draws.state[t + 1] == 0;
    right += (draws.x(t, 0) > 0) == (draws.state[t] == 1);
  }
  CHECK_NEAR(stay / from, 0.9, 0.01);
  CHECK_NEAR(right / 19999, 1, 1e-3);
}

TEST("what cannot be fitted is said") {
  const Sample s = sample(2, 5, 1, 2, 1);
  CHECK_THROWS(fit(s, options(0)), InputError);
  CHECK_THROWS(fit(s, options(2), VectorXd::Zero(2)), InputError);
  CHECK_THROWS(fit(s, options(2), VectorXd::Ones(3)), InputError);
  Sample none = s;
  none.x.setConstant(std::numeric_limits<double>::quiet_NaN());
  CHECK_THROWS(fit(none, options(1)), InputError);
  Sample equal = s;
  equal.x.setConstant(3);
  CHECK_THROWS(fit(equal, options(1)), InputError);
  GaussianHmmOptions o = options(1);
  o.spread = VectorXd::Ones(1);  // with variances from elsewhere equal rows are no trouble
  CHECK_NEAR(fit(equal, o).model.covariance[0], o.floor, 1e-12);
  GaussianHmm damaged = fit(s, options(2)).model;
  damaged.initial[0] = -1;
  CHECK_THROWS(check(damaged), InputError);
}
