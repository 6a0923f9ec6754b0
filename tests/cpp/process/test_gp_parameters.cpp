// Chains for parameters: known moments, boxes, error paths.
#include <cmath>
#include <limits>

#include "process/gp_parameters.h"
#include "harness.h"

using namespace granary;
using namespace granary::process;

namespace {

// "Evidence" N((1, -1), [1 .6; .6 1]) in two dimensions.
double two_normals(const VectorXd& theta, VectorXd* gradient) {
  const double a = theta[0] - 1, b = theta[1] + 1, det = 1 - 0.36;
  if (gradient != nullptr) *gradient << -(a - 0.6 * b) / det, -(b - 0.6 * a) / det;
  return -0.5 * (a * a - 1.2 * a * b + b * b) / det;
}

ParameterSampleOptions in_box(ParameterSampler sampler, double lower, double upper) {
  ParameterSampleOptions options;
  options.sampler = sampler;
  options.draws = 8000;
  options.chains = 2;
  options.lower = VectorXd::Constant(2, lower);
  options.upper = VectorXd::Constant(2, upper);
  return options;
}

}  // namespace

TEST("chains of parameters: with a normal prior the posterior has the known mean and variance, for every sampler") {
  // prior N(0, 4 I): precision [1 .6; .6 1]^-1 + I / 4
  const double det = 0.64, p = 1 / det + 0.25, q = -0.6 / det, size = p * p - q * q;
  const double variance = p / size, covariance = -q / size;
  const double pull0 = (1 + 0.6) / det, pull1 = -pull0;  // precision times (1, -1)
  const double mean0 = variance * pull0 + covariance * pull1;
  for (ParameterSampler sampler : {ParameterSampler::slice, ParameterSampler::hmc, ParameterSampler::ess}) {
    ParameterSampleOptions options = in_box(sampler, -50, 50);
    options.prior = {VectorXd::Zero(2), VectorXd::Constant(2, 2)};
    Monitor monitor;
    const ParameterSample s = sample_parameters(two_normals, VectorXd::Zero(2), options, Rng(3), monitor);
    const VectorXd mean = s.theta.colwise().mean().transpose();
    CHECK_NEAR(mean[0], mean0, 0.06);
    CHECK_NEAR(mean[1], -mean0, 0.06);
    const MatrixXd centred = s.theta.rowwise() - mean.transpose();
    CHECK_NEAR(centred.col(0).squaredNorm() / centred.rows(), variance, 0.06);
    CHECK_NEAR(centred.col(0).dot(centred.col(1)) / centred.rows(), covariance, 0.06);
    const VectorXd last = s.theta.row(s.theta.rows() - 1);
    CHECK_NEAR(s.log_density[s.theta.rows() - 1], two_normals(last, nullptr) + options.prior.add(last, nullptr), 1e-10);
    options.threads = 2;
    const ParameterSample again = sample_parameters(two_normals, VectorXd::Zero(2), options, Rng(3), monitor);
    CHECK((again.theta - s.theta).norm() == 0);
  }
}

TEST("chains of parameters stay in the box, and flat priors leave the evidence") {
  for (ParameterSampler sampler : {ParameterSampler::slice, ParameterSampler::hmc}) {
    Monitor monitor;
    const ParameterSampleOptions wide = in_box(sampler, -50, 50), narrow = in_box(sampler, 0, 0.7);
    const ParameterSample s = sample_parameters(two_normals, VectorXd::Zero(2), wide, Rng(4), monitor);
    CHECK_NEAR(s.theta.col(0).mean(), 1, 0.08);
    CHECK_NEAR(s.theta.col(1).mean(), -1, 0.08);
    const ParameterSample cut = sample_parameters(two_normals, VectorXd::Constant(2, 0.3), narrow, Rng(4), monitor);
    CHECK(cut.theta.minCoeff() >= 0 && cut.theta.maxCoeff() <= 0.7);
    CHECK(cut.theta.maxCoeff() > 0.65 && cut.theta.minCoeff() < 0.05);
  }
}

TEST("chains of parameters: a partly flat prior, and what cannot be drawn") {
  const LogPrior half{VectorXd::Zero(2), (VectorXd(2) << 1, std::numeric_limits<double>::infinity()).finished()};
  VectorXd gradient = VectorXd::Zero(2);
  CHECK_NEAR(half.add((VectorXd(2) << 2, 5).finished(), &gradient), -2, 1e-15);
  CHECK_NEAR(gradient[0], -2, 1e-15);
  CHECK(gradient[1] == 0);
  ParameterSampleOptions options = in_box(ParameterSampler::ess, -5, 5);
  options.prior = half;
  Monitor monitor;
  CHECK_THROWS(sample_parameters(two_normals, VectorXd::Zero(2), options, Rng(1), monitor), InputError);
  CHECK_THROWS(sample_parameters(two_normals, VectorXd(), options, Rng(1), monitor), InputError);
}
