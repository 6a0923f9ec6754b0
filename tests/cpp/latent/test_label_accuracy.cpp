// Reference values: quadrature elsewhere, to the digits given.
#include <cmath>

#include "harness.h"
#include "latent/label_accuracy.h"

using namespace granary;
using namespace granary::latent;

namespace {

LabelModel two_normals(double delta, bool variance_known) {
  LabelModel m;
  m.covariance = CovarianceKind::tied;
  m.parameters.share = VectorXd::Constant(2, 0.5);
  m.parameters.gaussian.means.resize(2, 1);
  m.parameters.gaussian.means << 0, delta;
  m.parameters.gaussian.covariance.assign(2, MatrixXd::Identity(1, 1));
  m.covariance_known = variance_known;
  return m;
}

LabelFisher at(const LabelModel& m, LabelEngine engine, Index draws = 100000) {
  Rng rng(1);
  Monitor monitor;
  LabelOptions o;
  o.engine = engine;
  o.n_draws = draws;
  return label_fisher(m, MatrixXd(), VectorXd(), o, rng, monitor);
}

}  // namespace

TEST("coefficients of two normal components") {
  struct Case {
    double delta, ml, bayes, half;
  };
  for (const Case& c : {Case{2, 4.64155, 1.30199, 1.86410}, Case{3, .938851, .556225, .683034}, Case{4, .272087, .220973, .242928}, Case{5, .081928, .076182, .078913}}) {
    const VectorXd lambda = at(two_normals(c.delta, true), LabelEngine::quadrature).lambda;
    CHECK_NEAR(label_coefficient(lambda, false, 1), c.ml, 1e-5 * c.ml + 6e-7);
    CHECK_NEAR(label_coefficient(lambda, true, 1), c.bayes, 1e-5 * c.bayes + 6e-7);
    CHECK_NEAR(label_coefficient(lambda, true, 0.5), c.half, 1e-5 * c.half + 6e-7);
    CHECK(lambda.minCoeff() >= 1);
  }
  CHECK_NEAR(label_coefficient(at(two_normals(1, true), LabelEngine::quadrature).lambda, false, 1), 99.118, 2e-2);
  const VectorXd free = at(two_normals(3, false), LabelEngine::quadrature).lambda;
  CHECK_NEAR(label_coefficient(free, false, 1), 1.32377, 1e-5);
  CHECK_NEAR(label_coefficient(free, true, 1), .823021, 1e-6);
  CHECK_NEAR(label_coefficient(free, true, 0.5), .996390, 1e-6);
  CHECK_NEAR(label_coefficient(free, true, 1e-9), label_coefficient(free, false, 1), 1e-6);
  CHECK_NEAR(label_coefficient(at(two_normals(20, true), LabelEngine::quadrature).lambda, false, 1), 0, 1e-8);
}

TEST("identical components have a singular information, and draws agree with quadrature") {
  CHECK(at(two_normals(0, true), LabelEngine::quadrature).rcond < 1e-12);
  const VectorXd a = at(two_normals(3, false), LabelEngine::quadrature).lambda, b = at(two_normals(3, false), LabelEngine::monte_carlo, 200000).lambda;
  CHECK_NEAR(label_coefficient(b, false, 1) / label_coefficient(a, false, 1), 1, 0.05);
}

TEST("one unknown share of two known binary laws: closed forms, and the exact error tends to them") {
  LabelModel m;
  m.family = LabelLaw::categorical;
  m.levels = {2};
  m.means_known = true;
  m.parameters.share.resize(2);
  m.parameters.share << 0.3, 0.7;
  m.parameters.table.resize(2, 2);
  m.parameters.table << 0.9, 0.1, 0.2, 0.8;  // level 1 is x = 1
  const LabelFisher f = at(m, LabelEngine::exact);
  CHECK_NEAR(f.observed(0, 0), 2.025630, 1e-6);
  CHECK_NEAR(f.observed(0, 0) + f.hidden(0, 0), 4.761905, 1e-6);
  CHECK_NEAR(label_coefficient(f.lambda, false, 1), .675413, 1e-6);
  CHECK_NEAR(label_coefficient(f.lambda, true, 1), .427383, 1e-6);
  CHECK_NEAR(binary_label_error(5, .3, .9, .2, 1, 1), .183289, 1e-6);
  CHECK_NEAR(binary_label_error(20, .3, .9, .2, 1, 1), .358676, 1e-6);
  CHECK_NEAR(binary_label_error(100, .3, .9, .2, 1, 1), .427472, 1e-6);
  CHECK_NEAR(binary_label_error(500, .3, .9, .2, 1, 1), .427489, 1e-6);
}

TEST("knowing parameters never makes labels worse; scores given by hand give the same") {
  LabelModel m = two_normals(2.5, false);
  const double all = label_coefficient(at(m, LabelEngine::quadrature).lambda, false, 1);
  m.covariance_known = true;
  const double two = label_coefficient(at(m, LabelEngine::quadrature).lambda, false, 1);
  m.share_known = true;
  const double one = label_coefficient(at(m, LabelEngine::quadrature).lambda, false, 1);
  CHECK(all >= two);
  CHECK(two >= one);
  // logit share and the two means by hand: the parametrisation does not matter
  m = two_normals(2.5, true);
  const LabelPoints points = quadrature_points(m);
  GivenScores g;
  g.weight = points.weight;
  g.log_joint.resize(points.x.rows(), 2);
  g.score.assign(2, MatrixXd::Zero(points.x.rows(), 3));
  for (Index i = 0; i < points.x.rows(); ++i) {
    const double x = points.x(i, 0);
    g.log_joint(i, 0) = -0.5 * x * x;
    g.log_joint(i, 1) = -0.5 * (x - 2.5) * (x - 2.5);
    g.score[0](i, 0) = 0.5;
    g.score[1](i, 0) = -0.5;
    g.score[0](i, 1) = 3 * x;
    g.score[1](i, 2) = 1e-4 * (x - 2.5);
  }
  Monitor monitor;
  CHECK_NEAR(label_coefficient(label_fisher_given(g, monitor).lambda, false, 1), two, 1e-8 * two);
}

TEST("the error of maximum likelihood by simulation is near its asymptote") {
  Rng rng(3);
  Monitor monitor;
  const LabelModel m = two_normals(4, false);
  const LabelSimulation s = label_simulate(m, 1000, 200, 1, rng, monitor);
  CHECK(s.failed == 0);
  CHECK_NEAR(s.error.mean() / label_coefficient(at(m, LabelEngine::quadrature).lambda, false, 1), 1, 0.2);
}
