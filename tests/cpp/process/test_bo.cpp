// Surrogates, criteria and learning of Bayesian optimisation: worked numbers, chain rule, brute force, finite differences.
#include "eigen.h"
#include <cmath>
#include <limits>

#include "core/infer/mcmc.h"
#include "core/math/special.h"
#include "process/bo_criterion.h"
#include "process/bo_learn.h"
#include "harness.h"

using namespace granary;
using namespace granary::process;

namespace {

const double infinity = std::numeric_limits<double>::infinity();

KernelSpec matern52(double lengthscale, Index scales = 1) {
  KernelSpec spec;
  spec.type = "matern";
  spec.shape = 2.5;
  spec.scales = VectorXd::Constant(scales, lengthscale);
  spec.learn_variance = false;
  return spec;
}

double log_t_density(double y, double location, double scale, double nu) {
  return std::log(bo_density((y - location) / scale, nu)) - std::log(scale);
}

struct Worked {  // X = (.1, .4, .55, .9), y = (.3, -.4, -.1, .8), phi = (1, x), b = 0, B = 4I, a = c = 1
  MatrixXd x{4, 1};
  VectorXd y{4};
  BoTrend trend;
  BoPrior prior;
  Worked() {
    x << 0.1, 0.4, 0.55, 0.9;
    y << 0.3, -0.4, -0.1, 0.8;
    trend.columns = {0};
    prior.process = BoProcess::tp_nig;
    prior.mean = VectorXd::Zero(2);
    prior.variance = VectorXd::Constant(2, 4.0);
  }
  BoSurrogate fit(Index n = 4) const {
    return BoSurrogate(Kernel(matern52(0.3), 1), 0.01, trend, prior, x.topRows(n), y.head(n));
  }
};

struct Cloud {
  MatrixXd x;
  VectorXd y;
  Cloud(Index n, Index d, std::uint64_t seed) : x(n, d), y(n) {
    Rng rng(seed);
    for (Index i = 0; i < n; ++i) {
      for (Index k = 0; k < d; ++k) x(i, k) = rng.uniform();
      y[i] = std::sin(5 * x(i, 0)) + 0.3 * rng.normal();
    }
  }
};

BoPrior prior_of(BoProcess process, Index p) {
  BoPrior prior;
  prior.process = process;
  prior.mean = VectorXd::Constant(p, 0.2);
  prior.variance = VectorXd::Constant(p, 3.0);
  prior.shape = 1.5;
  prior.rate = 0.7;
  prior.s2 = 1.3;
  return prior;
}

const BoProcess processes[] = {BoProcess::gp, BoProcess::gp_normal, BoProcess::tp_nig, BoProcess::tp_jeffreys};

}  // namespace

TEST("normal-inverse-gamma process: worked example") {
  const Worked worked;
  const BoSurrogate fit = worked.fit();
  CHECK_NEAR(fit.weights()[0], 0.1911350, 1e-6);
  CHECK_NEAR(fit.weights()[1], 0.3292395, 1e-6);
  CHECK_NEAR(fit.s2(), 0.522771, 1e-6);
  CHECK_NEAR(fit.nu(), 6, 0.0);
  MatrixXd at(2, 1);
  at << 0.25, 0.7;
  const BoPrediction p = fit.predict(at);
  CHECK_NEAR(p.location[0], -0.1207166, 1e-6);
  CHECK_NEAR(p.location[1], 0.3663697, 1e-6);
  CHECK_NEAR(p.scale[0], 0.2121655, 1e-6);
  CHECK_NEAR(p.scale[1], 0.2517297, 1e-6);
  BoCriterion ei;
  BoContext context;
  context.y_min = worked.y.minCoeff();
  const VectorXd none;
  CHECK_NEAR(bo_value(ei, context, p.location[0], p.scale[0], 6, none, 0, false).value, 0.01870617, 1e-7);
  CHECK_NEAR(bo_value(ei, context, p.location[1], p.scale[1], 6, none, 0, false).value, 0.00250353, 1e-7);
  CHECK_NEAR(bo_value(ei, context, p.location[0], p.scale[0], infinity, none, 0, false).value, 0.009328564, 1e-8);
  CHECK_NEAR(bo_value(ei, context, p.location[1], p.scale[1], infinity, none, 0, false).value, 0.0000821599, 1e-9);
}

TEST("chain rule: one more point adds its log predictive density to the evidence") {
  const Worked worked;
  const BoSurrogate three = worked.fit(3), four = worked.fit(4);
  const double difference = four.log_evidence() - three.log_evidence();
  CHECK_NEAR(difference, -1.208859, 1e-6);
  const Cloud cloud(12, 2, 3);
  BoTrend trend;
  trend.columns = {0, 1};
  for (BoProcess process : processes) {
    const BoPrior prior = prior_of(process, 3);
    const Kernel kernel(matern52(0.4, 2), 2);
    const BoSurrogate before(kernel, 0.05, trend, prior, cloud.x.topRows(11), cloud.y.head(11));
    const BoSurrogate after(kernel, 0.05, trend, prior, cloud.x, cloud.y);
    const BoPrediction p = before.predict(cloud.x.bottomRows(1));
    const double scale = std::sqrt(p.scale[0] * p.scale[0] + before.s2() * 0.05);
    CHECK_NEAR(after.log_evidence() - before.log_evidence(), log_t_density(cloud.y[11], p.location[0], scale, before.nu()), 1e-9);
  }
}

TEST("leave-one-out densities are those of refits") {
  const Cloud cloud(9, 2, 5);
  const BoTrend trend;
  for (BoProcess process : processes) {
    const BoPrior prior = prior_of(process, 1);
    const Kernel kernel(matern52(0.4, 2), 2);
    const BoSurrogate all(kernel, 0.05, trend, prior, cloud.x, cloud.y);
    double total = 0;
    for (Index i = 0; i < 9; ++i) {
      MatrixXd x(8, 2);
      VectorXd y(8);
      for (Index j = 0, k = 0; j < 9; ++j) {
        if (j == i) continue;
        x.row(k) = cloud.x.row(j);
        y[k++] = cloud.y[j];
      }
      const BoSurrogate rest(kernel, 0.05, trend, prior, x, y);
      const BoPrediction p = rest.predict(cloud.x.row(i));
      total += log_t_density(cloud.y[i], p.location[0], std::sqrt(p.scale[0] * p.scale[0] + rest.s2() * 0.05), rest.nu());
    }
    CHECK_NEAR(all.log_leave_one_out(), total, 1e-8);
  }
}

TEST("gradients of evidence and leave-one-out score are those of differences") {
  const Cloud cloud(14, 2, 7);
  BoTrend trend;
  trend.columns = {1};
  for (BoProcess process : processes) {
    BoModel model{Kernel(matern52(0.4, 2), 2)};
    model.noise = 0.03;
    model.learn_noise = true;
    model.trend = trend;
    model.prior = prior_of(process, 2);
    BoLearnOptions options;
    options.lower = VectorXd::Constant(3, -20);
    options.upper = VectorXd::Constant(3, 20);
    options.prior.mean = VectorXd::Constant(3, -1);
    options.prior.sd = VectorXd::Constant(3, 2);
    for (BoScore score : {BoScore::evidence, BoScore::leave_one_out}) {
      options.score = score;
      VectorXd theta = model.parameters(), gradient;
      bo_score(model, cloud.x, cloud.y, theta, options, &gradient);
      for (Index k = 0; k < 3; ++k) {
        VectorXd up = theta, down = theta;
        up[k] += 1e-5;
        down[k] -= 1e-5;
        const double slope = (bo_score(model, cloud.x, cloud.y, up, options, nullptr) -
                              bo_score(model, cloud.x, cloud.y, down, options, nullptr)) /
                             2e-5;
        CHECK_NEAR(gradient[k], slope, 1e-5 * (1 + std::abs(slope)));
      }
    }
  }
}

TEST("a t process with a = c to infinity is the Gaussian process with s2 = 1") {
  const Cloud cloud(10, 1, 2);
  const BoTrend trend;
  BoPrior heavy = prior_of(BoProcess::tp_nig, 1), known = prior_of(BoProcess::gp_normal, 1);
  heavy.shape = heavy.rate = 1e8;
  known.s2 = 1;
  const Kernel kernel(matern52(0.3), 1);
  const BoSurrogate t(kernel, 0.01, trend, heavy, cloud.x, cloud.y), gp(kernel, 0.01, trend, known, cloud.x, cloud.y);
  MatrixXd at(3, 1);
  at << 0.05, 0.5, 1.5;
  const BoPrediction a = t.predict(at), b = gp.predict(at);
  for (Index i = 0; i < 3; ++i) {
    CHECK_NEAR(a.location[i], b.location[i], 1e-7);
    CHECK_NEAR(a.scale[i], b.scale[i], 1e-6);
  }
  CHECK_NEAR(t.log_evidence(), gp.log_evidence(), 1e-5);
}

TEST("hundred appended rows give the factor of all rows, and repeated points are floored") {
  const Cloud cloud(110, 3, 11);
  const BoTrend trend;
  const BoPrior prior = prior_of(BoProcess::tp_jeffreys, 1);
  const Kernel kernel(matern52(0.5, 3), 3);
  BoSurrogate grown(kernel, 1e-6, trend, prior, cloud.x.topRows(10), cloud.y.head(10));
  for (Index i = 10; i < 110; ++i) grown.append(cloud.x.row(i).transpose(), cloud.y[i]);
  const BoSurrogate batch(kernel, 1e-6, trend, prior, cloud.x, cloud.y);
  const BoSurrogate resumed(kernel, 1e-6, trend, prior, cloud.x, cloud.y,
                            Cholesky::from_lower(BoSurrogate(kernel, 1e-6, trend, prior, cloud.x.topRows(40), cloud.y.head(40)).factor().lower()));
  CHECK_NEAR((grown.factor().lower() - batch.factor().lower()).cwiseAbs().maxCoeff(), 0, 1e-9);
  CHECK_NEAR((resumed.factor().lower() - batch.factor().lower()).cwiseAbs().maxCoeff(), 0, 1e-9);
  CHECK_NEAR(grown.log_evidence(), batch.log_evidence(), 1e-6);
  BoSurrogate again(kernel, 1e-13, trend, prior, cloud.x.topRows(10), cloud.y.head(10));
  for (int k = 0; k < 20; ++k) again.append(cloud.x.row(3).transpose(), cloud.y[3]);
  CHECK(std::isfinite(again.predict(cloud.x.row(3)).location[0]));
}

TEST("Jeffreys' prior with too few points falls back to a proper one") {
  const Worked worked;
  BoPrior prior = worked.prior;
  prior.process = BoProcess::tp_jeffreys;
  const BoSurrogate two(Kernel(matern52(0.3), 1), 0.01, worked.trend, prior, worked.x.topRows(2), worked.y.head(2));
  CHECK(two.fell_back());
  CHECK_NEAR(two.nu(), 3, 1e-12);
  CHECK(std::isfinite(two.log_evidence()));
  const BoSurrogate one(Kernel(matern52(0.3), 1), 0.01, worked.trend, prior, worked.x.topRows(1), worked.y.head(1));
  CHECK(one.predict(worked.x).scale.allFinite());
  MatrixXd same = MatrixXd::Constant(5, 1, 0.4);  // constant and slope cannot be told apart
  CHECK(BoSurrogate(Kernel(matern52(0.3), 1), 0.01, worked.trend, prior, same, VectorXd::LinSpaced(5, 0, 1)).fell_back());
}

TEST("expected improvement: values, limits, exponents") {
  BoCriterion ei;
  BoContext context;
  const VectorXd none;
  const auto at = [&](double m, double s, double nu) { return bo_value(ei, context, m, s, nu, none, 0, true); };
  CHECK_NEAR(at(-0.2, 0.4, infinity).value, 0.279118623, 1e-9);
  CHECK_NEAR(at(-0.2, 0.4, 3).value, 0.338422796, 1e-9);
  CHECK_NEAR(at(-0.2, 0.4, 1e6).value, at(-0.2, 0.4, infinity).value, 1e-6);
  CHECK_NEAR(at(-0.2, 0, 5).value, 0.2, 1e-15);
  CHECK_NEAR(at(0.2, 0, 5).value, 0, 0.0);
  for (double nu : {1.5, 4.0, infinity}) {
    double before = 0;
    for (double s : {0.01, 0.1, 0.5, 1.0, 3.0}) {
      const double value = at(-0.3, s, nu).value;
      CHECK(value >= 0.3 - 1e-12);
      CHECK(value >= before);
      before = value;
    }
  }
  // nu <= 1: the probability takes its place
  CHECK_NEAR(at(0, 1, 1).value, 0.5, 1e-12);
  // Partial moments against a sum over a fine grid.
  for (double nu : {9.0, infinity}) {
    for (double d : {-1.5, 0.3, 2.0}) {
      const VectorXd moments = bo_partial_moments(d, 4, nu);
      for (int g = 0; g <= 4; ++g) {
        double sum = 0;
        const double h = 1e-3;
        for (double z = -80 + h / 2; z < d; z += h) sum += h * std::pow(std::max(d - z, 0.0), g) * bo_density(z, nu);
        CHECK_NEAR(moments[g], sum, 2e-3 * (1 + sum));
      }
    }
  }
  ei.power = 2;  // E max(d - Z, 0)^2 at d = 0: 1/2
  CHECK_NEAR(at(0, 2, infinity).value, 4 * 0.5, 1e-12);
}

TEST("criteria: derivatives through the surrogate are those of differences, particles are averaged") {
  const Cloud cloud(15, 2, 9);
  BoTrend trend;
  trend.columns = {0};
  std::vector<BoSurrogate> surrogates;
  for (double scale : {0.3, 0.6})
    surrogates.emplace_back(Kernel(matern52(scale, 2), 2), 0.02, trend, prior_of(BoProcess::tp_nig, 2), cloud.x, cloud.y);
  const auto leaf = [](BoCriterion::Type type) {
    BoCriterion c;
    c.type = type;
    return c;
  };
  using Type = BoCriterion::Type;
  BoCriterion power = leaf(Type::ei), sum = leaf(Type::sum), product = leaf(Type::product);
  power.power = 3;
  sum.children = {leaf(Type::ei), leaf(Type::distance)};
  sum.weights = VectorXd(2);
  sum.weights << 2, 0.5;
  product.children = {leaf(Type::ei), leaf(Type::uncertainty), leaf(Type::distance)};
  product.weights = VectorXd(3);
  product.weights << 1, 2, 0.5;
  VectorXd x(2);
  x << 0.37, 0.61;
  for (const BoCriterion& c : {leaf(Type::ei), leaf(Type::pi), leaf(Type::lcb), leaf(Type::lcb_annealed),
                               leaf(Type::expected_return), leaf(Type::uncertainty), leaf(Type::distance), power, sum, product}) {
    const BoAcquisition acquisition(c, surrogates, bo_contexts(surrogates, false));
    VectorXd gradient;
    const double value = acquisition.value_gradient(x, gradient);
    CHECK_NEAR(acquisition.values(x.transpose())[0], value, 1e-12 * (1 + std::abs(value)));
    for (Index k = 0; k < 2; ++k) {
      VectorXd up = x, down = x;
      up[k] += 1e-6;
      down[k] -= 1e-6;
      const double slope = (acquisition.values(up.transpose())[0] - acquisition.values(down.transpose())[0]) / 2e-6;
      CHECK_NEAR(gradient[k], slope, 1e-5 * (1 + std::abs(slope)));
    }
  }
  const BoCriterion lcb = leaf(Type::lcb);
  const BoAcquisition acquisition(lcb, surrogates, bo_contexts(surrogates, false));
  double mean = 0;
  for (const BoSurrogate& s : surrogates) {
    const BoPrediction p = s.predict(x.transpose());
    mean += 0.5 * (p.scale[0] - p.location[0]);
  }
  CHECK_NEAR(acquisition.values(x.transpose())[0], mean, 1e-12);
  CHECK_THROWS(bo_value(leaf(Type::hedge), BoContext(), 0, 1, 3, x, 0, false), InputError);
  CHECK_THROWS(value_of<BoCriterion::Type>("nonsense", "type"), InputError);
  CHECK(name_of(value_of<BoCriterion::Type>("optimistic", "type")) == "optimistic");
}

TEST("draws of the process have its location, scale and correlations") {
  const Cloud cloud(6, 1, 4);
  const BoTrend trend;
  const BoSurrogate fit(Kernel(matern52(0.3), 1), 0.05, trend, prior_of(BoProcess::tp_nig, 1), cloud.x, cloud.y);
  MatrixXd at(2, 1);
  at << 0.8, 0.9;
  Rng rng(1);
  const int draws = 20000;
  MatrixXd sample(draws, 2);
  for (int i = 0; i < draws; ++i) sample.row(i) = bo_draw(fit, at, rng).transpose();
  const BoPrediction p = fit.predict(at);
  const MatrixXd covariance = fit.covariance(at) * fit.nu() / (fit.nu() - 2);
  const Eigen::RowVectorXd mean = sample.colwise().mean();
  const MatrixXd centred = sample.rowwise() - mean;
  const MatrixXd found = centred.transpose() * centred / draws;
  const double sd = std::sqrt(covariance(0, 0));
  CHECK_NEAR(mean[0], p.location[0], 5 * sd / std::sqrt(double(draws)));
  CHECK_NEAR(found(0, 0) / covariance(0, 0), 1, 0.06);
  CHECK_NEAR(found(0, 1) / covariance(0, 1), 1, 0.06);
  CHECK_NEAR(fit.covariance(at)(1, 1), p.scale[1] * p.scale[1], 1e-12);
}

TEST("the slice sampler of the learner has the moments of a Gaussian score, and the posterior those of a grid") {
  Rng rng(5);
  VectorXd theta = VectorXd::Zero(1);
  const LogDensity score = [](const VectorXd& t) { return -0.5 * (t[0] - 1.5) * (t[0] - 1.5) / 0.49; };
  double value = score(theta), sum = 0, squares = 0;
  const int n = 20000;
  for (int i = 0; i < n; ++i) {
    slice_sweep(score, theta, value, VectorXd::Ones(1), rng);
    sum += theta[0];
    squares += theta[0] * theta[0];
  }
  CHECK_NEAR(sum / n, 1.5, 0.05);
  CHECK_NEAR(squares / n - sum / n * sum / n, 0.49, 0.04);

  const Cloud cloud(8, 1, 8);
  BoModel model{Kernel(matern52(0.4), 1)};
  model.noise = 0.05;
  model.prior = prior_of(BoProcess::tp_jeffreys, 1);
  BoLearnOptions options;
  options.lower = VectorXd::Constant(1, -4);
  options.upper = VectorXd::Constant(1, 3);
  options.prior.mean = VectorXd::Constant(1, -1);
  options.prior.sd = VectorXd::Constant(1, 1);
  options.particles = 3000;
  Monitor monitor;
  const MatrixXd particles = bo_sample(model, cloud.x, cloud.y, model.parameters(), options, rng, monitor);
  double mass = 0, mean = 0, top = -infinity, mode = 0;
  for (double t = -4; t <= 3; t += 0.01) {
    const double v = bo_score(model, cloud.x, cloud.y, VectorXd::Constant(1, t), options, nullptr);
    mass += std::exp(v);
    mean += t * std::exp(v);
    if (v > top) {
      top = v;
      mode = t;
    }
  }
  CHECK_NEAR(particles.mean(), mean / mass, 0.12);
  CHECK(particles.minCoeff() >= -4);
  CHECK(particles.maxCoeff() <= 3);
  const VectorXd found = bo_learn(model, cloud.x, cloud.y, model.parameters(), options, monitor);
  CHECK_NEAR(found[0], mode, 0.02);
}

TEST("surrogates refuse what does not fit") {
  const Worked worked;
  CHECK_THROWS(BoSurrogate(Kernel(matern52(0.3), 1), 0.01, worked.trend, worked.prior, worked.x.topRows(3), worked.y),
               InputError);
  CHECK_THROWS(BoSurrogate(Kernel(matern52(0.3), 1), 0.01, worked.trend, worked.prior, worked.x.topRows(0), VectorXd()),
               InputError);
  BoPrior short_prior = worked.prior;
  short_prior.mean = VectorXd::Zero(1);
  CHECK_THROWS(BoSurrogate(Kernel(matern52(0.3), 1), 0.01, worked.trend, short_prior, worked.x, worked.y), InputError);
  BoModel model{Kernel(matern52(0.4), 1)};
  CHECK_THROWS(model.surrogate(VectorXd::Zero(3), worked.x, worked.y), InputError);
}
