// Gaussian process classification: worked numbers, differences, brute force, the samplers against each other.
#include <cmath>

#include "core/base/errors.h"
#include "core/math/special.h"
#include "process/gp_classify.h"
#include "process/gp_laplace.h"
#include "core/infer/mcmc.h"
#include "process/gp_sampling.h"
#include "harness.h"

using namespace granary;
using namespace granary::process;

namespace {

ClassifyModel se_model(double variance, double lengthscale, Inference inference, Link link = Link::probit) {
  KernelSpec spec;
  spec.type = "se";
  spec.variance = variance;
  spec.scales = VectorXd::Constant(1, lengthscale);
  ClassifyModel model{Kernel(spec, 1)};
  model.inference = inference;
  model.link = link;
  return model;
}

struct Five {
  MatrixXd x = MatrixXd(5, 1);
  VectorXd y = VectorXd(5);
  Five() {
    x << -2, -1, 0, 1, 2;
    y << -1, -1, 1, -1, 1;
  }
};

LatentPosterior fit(const ClassifyModel& model, ConstMatrixRef x, ConstVectorRef y, bool gradient = false, bool parallel = true) {
  Rng rng(1);
  Monitor monitor;
  ClassifyOptions options;
  options.tol = 1e-9;
  options.max_iter = 500;
  options.parallel = parallel;
  options.with_gradient = gradient;
  return latent_posterior(model, x, y, options, rng, monitor);
}

}  // namespace

TEST("derivatives of the likelihoods meet differences, and their tails are smooth") {
  for (const Link link : {Link::probit, Link::logit}) {
    for (const double y : {-1.0, 1.0}) {
      for (const double f : {-30.0, -3.0, -0.4, 0.0, 1.7, 6.0}) {
        const double h = 1e-4;
        const LikelihoodAt at = class_likelihood(link, y, f), up = class_likelihood(link, y, f + h),
                           down = class_likelihood(link, y, f - h);
        CHECK_NEAR(at.first, (up.log_p - down.log_p) / (2 * h), 1e-6 * (1 + std::abs(at.first)));
        CHECK_NEAR(at.curvature, -(up.first - down.first) / (2 * h), 1e-6);
        CHECK_NEAR(at.slope, (up.curvature - down.curvature) / (2 * h), 1e-6);
        CHECK_NEAR(at.log_p, class_log_likelihood(link, y, f), 1e-14 * (1 + std::abs(at.log_p)));
      }
    }
  }
  const LikelihoodAt before = class_likelihood(Link::probit, 1, -199.99), after = class_likelihood(Link::probit, 1, -200.01);
  CHECK_NEAR(before.curvature, after.curvature, 1e-8);
  CHECK_NEAR(before.slope, after.slope, 1e-9);
  const LikelihoodAt far = class_likelihood(Link::probit, -1, 1e8);
  CHECK(std::isfinite(far.log_p) && far.curvature > 0.999 && far.curvature <= 1);
}

TEST("Laplace of one, two and five cases meets the worked numbers") {
  Monitor monitor;
  const LaplaceResult one =
      laplace_approximation(MatrixXd::Constant(1, 1, 25), VectorXd::Zero(1), VectorXd::Ones(1), Link::probit, {}, monitor);
  CHECK_NEAR(one.mode[0], 1.8525091, 1e-6);
  CHECK_NEAR(one.solver.variance()[0], 5.4715829, 1e-5);
  CHECK_NEAR(one.log_evidence, -0.8607885, 1e-6);
  MatrixXd k(2, 2);
  k << 4, 2.4, 2.4, 4;
  VectorXd y(2);
  y << 1, 1;
  CHECK_NEAR(laplace_approximation(k, VectorXd::Zero(2), y, Link::probit, {}, monitor).log_evidence, -1.184736, 1e-6);
  y << 1, -1;
  CHECK_NEAR(laplace_approximation(k, VectorXd::Zero(2), y, Link::probit, {}, monitor).log_evidence, -1.827603, 1e-6);
  const Five data;
  const LatentPosterior p = fit(se_model(2.25, 1, Inference::laplace), data.x, data.y, true);
  VectorXd mode(5);
  mode << -1.034091, -0.608341, 0.097493, -0.077215, 0.424607;
  CHECK_NEAR((p.mean - mode).cwiseAbs().maxCoeff(), 0, 1e-6);
  CHECK_NEAR(p.log_evidence, -4.297467, 1e-6);
  CHECK_NEAR(2 * p.gradient[0], -0.962382, 1e-6);  // in log sigma: twice that in log variance
  CHECK_NEAR(p.gradient[1], -0.697910, 1e-6);
  CHECK_THROWS(laplace_approximation(k, VectorXd::Zero(3), y, Link::probit, {}, monitor), InputError);
}

TEST("EP of five cases: evidence, gradient, prediction, lower bound") {
  const Five data;
  Monitor monitor;
  MatrixXd at(2, 1);
  at << 0.5, 3;
  for (const bool parallel : {true, false}) {
    const ClassifyModel model = se_model(2.25, 1, Inference::ep);
    const LatentPosterior p = fit(model, data.x, data.y, true, parallel);
    CHECK_NEAR(p.log_evidence, -4.233143, 1e-6);
    CHECK_NEAR(2 * p.gradient[0], -0.825735, 1e-6);
    CHECK_NEAR(p.gradient[1], -0.769768, 1e-6);
    const ClassifyPrediction q = predict_class(model, data.x, p.tau, p.weight, at, {}, monitor);
    CHECK_NEAR(std::exp(q.log_positive[0]), 0.506389, 1e-6);
    CHECK_NEAR(std::exp(q.log_positive[1]), 0.644047, 1e-6);
    CHECK_NEAR(std::exp(q.log_positive[1]) + std::exp(q.log_negative[1]), 1, 1e-12);
    const VectorXd none(0);
    CHECK_NEAR(evidence_lower_bound(model, data.y, p, 32, none, none, none), -4.250361, 1e-6);
  }
  const ClassifyModel laplace = se_model(2.25, 1, Inference::laplace);
  const LatentPosterior p = fit(laplace, data.x, data.y);
  const ClassifyPrediction q = predict_class(laplace, data.x, p.tau, p.weight, at, {}, monitor);
  CHECK_NEAR(std::exp(q.log_positive[0]), 0.504931, 1e-6);
  CHECK_NEAR(std::exp(q.log_positive[1]), 0.626416, 1e-6);
}

TEST("gradients of the evidence meet differences for both methods, links and a learnt mean") {
  const Five data;
  for (const Inference inference : {Inference::ep, Inference::laplace}) {
    for (const Link link : {Link::probit, Link::logit}) {
      ClassifyModel model = se_model(3, 0.8, inference, link);
      model.mean = 0.3;
      model.learn_mean = true;
      const VectorXd gradient = fit(model, data.x, data.y, true).gradient, here = model.parameters();
      for (Index j = 0; j < 3; ++j) {
        ClassifyModel up = model, down = model;
        VectorXd step = VectorXd::Zero(3);
        step[j] = 1e-4;
        up.set_parameters(here + step);
        down.set_parameters(here - step);
        CHECK_NEAR(gradient[j], (fit(up, data.x, data.y).log_evidence - fit(down, data.x, data.y).log_evidence) / 2e-4, 2e-6);
      }
    }
  }
}

TEST("gradients of predictions in the inputs meet differences") {
  const Five data;
  Monitor monitor;
  PredictOptions options;
  options.gradient = options.sd = options.covariance = true;
  for (const Link link : {Link::probit, Link::logit}) {
    const ClassifyModel model = se_model(3, 0.8, Inference::ep, link);
    const LatentPosterior p = fit(model, data.x, data.y);
    MatrixXd at(3, 1);
    at << 0.4, 0.4 + 1e-4, 0.4 - 1e-4;
    const ClassifyPrediction q = predict_class(model, data.x, p.tau, p.weight, at, options, monitor);
    CHECK_NEAR(q.mean_gradient(0, 0), (q.mean[1] - q.mean[2]) / 2e-4, 1e-6);
    CHECK_NEAR(q.probability_gradient(0, 0), (std::exp(q.log_positive[1]) - std::exp(q.log_positive[2])) / 2e-4, 2e-6);
    CHECK_NEAR(q.covariance(0, 0), q.variance[0], 1e-10);
    const Quadrature rule = gauss_hermite(100);
    double first = 0, second = 0;
    for (Index k = 0; k < rule.nodes.size(); ++k) {
      const double c = std::exp(class_log_likelihood(link, 1, q.mean[0] + std::sqrt(q.variance[0]) * rule.nodes[k]));
      first += rule.weights[k] * c;
      second += rule.weights[k] * c * c;
    }
    CHECK_NEAR(q.probability_sd[0], std::sqrt(second - first * first), 1e-6);
  }
}

TEST("independent cases are exact, order does not matter, and small variances are guesses") {
  MatrixXd x(4, 1);
  x << 0, 100, 200, 300;
  VectorXd y(4);
  y << 1, -1, 1, 1;
  for (const double variance : {1e-8, 1.0, 1e5}) {
    CHECK_NEAR(fit(se_model(variance, 1, Inference::ep), x, y).log_evidence, -4 * std::log(2.0), 1e-9);
  }
  CHECK_NEAR(fit(se_model(1e-8, 1, Inference::laplace), x, y).log_evidence, -4 * std::log(2.0), 1e-7);
  const Five data;
  MatrixXd back = data.x.colwise().reverse();
  VectorXd labels = data.y.reverse();
  for (const Inference inference : {Inference::ep, Inference::laplace}) {
    CHECK_NEAR(fit(se_model(2, 1, inference), data.x, data.y).log_evidence,
               fit(se_model(2, 1, inference), back, labels).log_evidence, 1e-9);
  }
}

TEST("a warm start ends where a cold one does, and learning finds a stationary point whatever the threads") {
  Rng rng(3);
  Monitor monitor;
  const Index n = 40;
  MatrixXd x(n, 1);
  VectorXd y(n);
  for (Index i = 0; i < n; ++i) {
    x(i, 0) = rng.uniform(-3, 3);
    y[i] = std::sin(2 * x(i, 0)) + 0.3 * rng.normal() > 0 ? 1 : -1;
  }
  for (const Inference inference : {Inference::ep, Inference::laplace}) {
    const LatentPosterior other = fit(se_model(1, 1, inference), x, y), cold = fit(se_model(4, 0.7, inference), x, y);
    ClassifyOptions options;
    options.tol = 1e-9;
    const LatentPosterior warm = latent_posterior(se_model(4, 0.7, inference), x, y, options, rng, monitor, &other);
    CHECK_NEAR(warm.log_evidence, cold.log_evidence, 1e-8);
    ClassifyLearnOptions learn;
    learn.lower = VectorXd::Constant(2, -6);
    learn.upper = VectorXd::Constant(2, 11);
    learn.inner.tol = 1e-8;
    MatrixXd starts(2, 2);
    starts << 0, 0, 2, -1;
    const MultistartResult a = learn_classifier(se_model(1, 1, inference), x, y, starts, learn, Rng(1), monitor);
    learn.threads = 2;
    const MultistartResult b = learn_classifier(se_model(1, 1, inference), x, y, starts, learn, Rng(1), monitor);
    CHECK(a.value == b.value && a.x == b.x);
    ClassifyModel best = se_model(1, 1, inference);
    best.set_parameters(a.x);
    CHECK(fit(best, x, y, true).gradient.cwiseAbs().maxCoeff() < 1e-3);
  }
}

TEST("annealing gives the exact evidence, and both samplers the exact mean") {
  // Two cases, orthant probability in closed form: 1/4 + y1 y2 asin(2.4 / 5) / (2 pi).
  KernelSpec spec;
  spec.type = "se";
  spec.variance = 4;
  spec.scales = VectorXd::Ones(1);
  const ClassifyModel model{Kernel(spec, 1)};
  MatrixXd x(2, 1);
  x << 0, std::sqrt(-2 * std::log(0.6));
  const VectorXd y = VectorXd::Ones(2);
  Monitor monitor;
  for (const Sampler sampler : {Sampler::hmc, Sampler::ess}) {
    AisOptions options;
    options.sampler = sampler;
    options.temperatures = 300;
    options.runs = 40;
    const AisResult r = annealed_evidence(model, x, y, options, Rng(5), monitor);
    CHECK_NEAR(r.log_evidence, -1.109628, 0.1);
    options.threads = 2;
    CHECK(annealed_evidence(model, x, y, options, Rng(5), monitor).log_evidence == r.log_evidence);
    SampleOptions sample;
    sample.sampler = sampler;
    sample.draws = 4000;
    const SampleResult s = sample_posterior(model, x, y, sample, Rng(6), monitor);
    // E f1 = d log Z-like quadrature on a grid
    double z = 0, mean = 0;
    const double det = 16 - 2.4 * 2.4;
    for (double a = -12; a <= 12; a += 0.05) {
      for (double b = -12; b <= 12; b += 0.05) {
        const double w = std::exp(normal_log_cdf(a) + normal_log_cdf(b) - 0.5 * (4 * a * a - 4.8 * a * b + 4 * b * b) / det);
        z += w;
        mean += w * a;
      }
    }
    CHECK_NEAR(s.f.col(0).mean(), mean / z, 0.15);
    CHECK_NEAR(s.f.col(1).mean(), mean / z, 0.15);
    MatrixXd at = x.topRows(1);
    const SamplePrediction p = predict_sample(model, x, s.weight, s.jitter, at, monitor);
    CHECK_NEAR(p.mean[0], s.f.col(0).mean(), 1e-6);
  }
}

TEST("effective sizes: independent draws count fully, slow chains little") {
  Rng rng(2);
  const VectorXd white = rng.normals(4000);
  CHECK_NEAR(effective_sample_size(white) / 4000, 1, 0.2);
  VectorXd slow(4000);
  slow[0] = 0;
  for (Index i = 1; i < 4000; ++i) slow[i] = 0.9 * slow[i - 1] + rng.normal();
  CHECK_NEAR(effective_sample_size(slow) / 4000, 0.1 / 1.9, 0.03);
  CHECK(effective_sample_size(VectorXd::Ones(10)) == 10);
}
