// Kriging beyond prediction: re-interpolation, integrated error, draws, blind trends, co-kriging.
#include "eigen.h"
#include <cmath>

#include "core/random/rng.h"
#include "core/cluster/space_filling.h"
#include "process/kriging.h"
#include "process/kriging_blind.h"
#include "process/kriging_joint.h"
#include "gp_example.h"
#include "harness.h"

using namespace granary;
using namespace granary::process;

namespace {

Kernel squared_exponential(VectorXd scales, Index d) { return Kernel(radial("se", std::move(scales)), d); }

}  // namespace

TEST("the integrated error of the worked example, and against an average over many points") {
  const Example e;
  const GaussianProcess gp = e.fit();
  const VectorXd scale = VectorXd::Constant(1, 0.3), low = VectorXd::Zero(1), high = VectorXd::Ones(1);
  CHECK_NEAR(imse_constant(gp, 1, scale, low, high).value, 0.002625685, 1e-9);
  Monitor monitor;
  Rng rng(3);
  const MatrixXd x = latin_hypercube(15, 2, rng), at = sobol(8191, 2);
  const VectorXd y = x.col(0).array().sin() + x.col(1).array().square();
  VectorXd scales(2);
  scales << 0.5, 0.3;
  for (const Index p : {0, 1}) {
    const GaussianProcess two(GpModel{squared_exponential(scales, 2)}, x, y, MatrixXd::Ones(15, p));
    const double mean = two.predict(at, MatrixXd::Ones(8191, p), true, 1, monitor).variance.mean();
    const double exact = imse_constant(two, 1, scales, VectorXd::Zero(2), VectorXd::Ones(2)).value;
    CHECK_NEAR(exact / mean, 1, 2e-3);
  }
  CHECK_THROWS(imse_constant(gp, 1, scale, high, low), InputError);
}

TEST("re-interpolation keeps the mean and is certain at the runs") {
  const Example e;
  Monitor monitor;
  const GaussianProcess noisy = e.fit(0.01), through = reinterpolate(noisy);
  CHECK_NEAR(through.scale(), 1.1553254, 1e-7);
  CHECK_NEAR(through.beta()[0], noisy.beta()[0], 1e-10);
  const MatrixXd at = VectorXd::LinSpaced(23, -0.1, 1.1), one = MatrixXd::Ones(23, 1);
  CHECK_NEAR((noisy.predict(at, one, false, 1, monitor).mean - through.predict(at, one, false, 1, monitor).mean).norm(), 0, 1e-9);
  CHECK_NEAR(through.predict(e.x, e.f, true, 1, monitor).variance.maxCoeff(), 0, 1e-12);
  CHECK((noisy.fitted() - noisy.predict(e.x, e.f, false, 1, monitor).mean).norm() < 1e-12);
}

TEST("a saved process is the process, and takes new runs") {
  const Example e;
  Monitor monitor;
  GaussianProcess gp = e.fit(0.01);
  GaussianProcess saved = GaussianProcess::restore(gp.model(), e.x, e.y, e.f, gp.cholesky(), gp.jitter(), gp.scale());
  CHECK(saved.beta() == gp.beta());
  CHECK(saved.alpha() == gp.alpha());
  gp.append(VectorXd::Constant(1, 0.9), 0.5, VectorXd::Ones(1));
  saved.append(VectorXd::Constant(1, 0.9), 0.5, VectorXd::Ones(1));
  CHECK_NEAR(saved.value(), gp.value(), 1e-12);
  CHECK_NEAR(saved.scale(), gp.scale(), 1e-12);
  CHECK_THROWS(GaussianProcess::restore(gp.model(), e.x, e.y, e.f, Cholesky(MatrixXd::Identity(3, 3)), 0, 1), InputError);
}

TEST("draws have the mean and the covariance they should have") {
  const Example e;
  Monitor monitor;
  Rng rng(11);
  const GaussianProcess gp = e.fit();
  MatrixXd at(3, 1);
  at << 0.2, 0.33, 0.9;  // the first is a run
  const MatrixXd one = MatrixXd::Ones(3, 1);
  const Index count = 20000;
  const MatrixXd draws = conditional_draws(gp, at, one, VectorXd::Zero(3), count, rng, monitor);
  const MatrixXd target = gp.covariance(at, one);
  const VectorXd mean = gp.predict(at, one, false, 1, monitor).mean;
  const MatrixXd centred = draws.colwise() - mean;
  const MatrixXd found = centred * centred.transpose() / count;
  CHECK_NEAR(centred.row(0).cwiseAbs().maxCoeff(), 0, 1e-4);
  CHECK_NEAR((found - target).norm() / target.norm(), 0, 0.05);
  const MatrixXd at_runs = conditional_draws(gp, e.x, e.f, VectorXd::Zero(5), 2, rng, monitor);
  CHECK_NEAR((at_runs.colwise() - e.y).norm(), 0, 1e-4);
  const MatrixXd prior = prior_draws(gp, at, VectorXd::Constant(3, 0.5), count, rng, monitor);
  CHECK_NEAR((prior * prior.transpose() / count)(0, 0), gp.scale() + 0.5, 0.06);
}

TEST("coded effects are the paper's, and so are their prior variances") {
  const BlindEffects effects = blind_effects(3, 2);
  CHECK(effects.term.size() == 2 * 3 + 4 * 3);
  CHECK_NEAR(effects.polynomials(1, 0), std::sqrt(1.5), 1e-14);
  CHECK_NEAR(effects.polynomials(0, 1), -2 * std::sqrt(0.5), 1e-14);
  CHECK_NEAR(effects.polynomials(2, 1), 3 * std::sqrt(0.5), 1e-14);
  const auto psi = [](double lag) { return std::exp(-lag * lag); };
  const VectorXd r = effect_variances(effects, {psi, psi, psi});
  const double bottom = 3 + 4 * psi(1) + 2 * psi(2);
  CHECK_NEAR(r[0], 3 * (1 - psi(2)) / bottom, 1e-13);
  CHECK_NEAR(r[1], (3 - 4 * psi(1) + psi(2)) / bottom, 1e-13);
  CHECK_NEAR(r[6], r[0] * r[0], 1e-13);
  MatrixXd z(1, 3);
  z << 0.5, -1, 0.2;
  const MatrixXd columns = effect_columns(effects, z);
  CHECK_NEAR(columns(0, 0), std::sqrt(1.5) * 0.5, 1e-14);
  CHECK_NEAR(columns(0, 7), std::sqrt(1.5) * 0.5 * std::sqrt(0.5), 1e-14);  // linear of the first, quadratic of the second
  for (const Index degree : {1, 3, 4}) {
    const BlindEffects more = blind_effects(1, degree);
    const MatrixXd on = effect_columns(more, VectorXd::LinSpaced(degree + 1, -1, 1));
    CHECK_NEAR((on.transpose() * on - (degree + 1) * MatrixXd::Identity(degree, degree)).norm(), 0, 1e-12);
    CHECK_NEAR(on.colwise().sum().norm(), 0, 1e-12);
  }
  CHECK_THROWS(blind_effects(0, 2), InputError);
}

TEST("the errors along a blind path are those of models with that trend") {
  Rng rng(5);
  Monitor monitor;
  const MatrixXd x = latin_hypercube(18, 2, rng), z = 2 * x.array() - 1;
  const VectorXd y = 3 * x.col(0).array() + 2 * x.col(1).array().square() + 0.1 * (8 * x.col(0).array()).sin();
  GpModel model{squared_exponential(VectorXd::Constant(2, 0.4), 2)};
  model.nugget = 1e-6;
  const GaussianProcess gp(model, x, y, MatrixXd::Ones(18, 1));
  const BlindEffects effects = blind_effects(2, 2);
  const MatrixXd u = effect_columns(effects, z);
  const auto psi = [](double lag) { return std::exp(-0.5 * lag * lag * 0.25 / 0.16); };
  const VectorXd r = effect_variances(effects, {psi, psi});
  const BlindPath path = blind_forward(gp, u, r, 6, monitor);
  CHECK(path.chosen.size() == 6);
  CHECK(path.cvpe.size() == 7);
  MatrixXd v = MatrixXd::Ones(18, 1);
  for (std::size_t s = 0; s <= path.chosen.size(); ++s) {
    const GaussianProcess now(model, x, y, v);
    CHECK_NEAR((now.leave_one_out().mean - y).norm() / std::sqrt(18.0) / path.cvpe[s], 1, 1e-6);
    if (s == path.chosen.size()) break;
    const VectorXd b = r.cwiseProduct(u.transpose() * now.alpha());
    double best = 0;
    for (Index c = 0; c < u.cols(); ++c) {
      bool used = false;
      for (std::size_t k = 0; k < s; ++k) used = used || path.chosen[k] == c;
      if (!used) best = std::max(best, std::abs(b[c]));
    }
    CHECK_NEAR(std::abs(b[path.chosen[s]]) / best, 1, 1e-6);
    v.conservativeResize(Eigen::NoChange, v.cols() + 1);
    v.col(v.cols() - 1) = u.col(path.chosen[s]);
  }
  CHECK_THROWS(blind_forward(gp, u.topRows(3), r, 2, monitor), InputError);
}

TEST("co-kriging of nested designs: the joint law and the recursion agree") {
  Monitor monitor;
  const auto dear = [](double t) { return std::pow(6 * t - 2, 2) * std::sin(12 * t - 4); };
  const VectorXd cheap_x = VectorXd::LinSpaced(11, 0, 1);
  VectorXd dear_x(4);
  dear_x << 0, 0.4, 0.6, 1;
  VectorXd cheap_y(11), dear_y(4), difference(4);
  for (int i = 0; i < 11; ++i) cheap_y[i] = 0.5 * dear(cheap_x[i]) + 10 * (cheap_x[i] - 0.5) - 5;
  const double rho = 1.9, s2c = 40, s2d = 2.5;
  for (int i = 0; i < 4; ++i) {
    dear_y[i] = dear(dear_x[i]);
    difference[i] = dear_y[i] - rho * (0.5 * dear(dear_x[i]) + 10 * (dear_x[i] - 0.5) - 5);
  }
  GpModel c{squared_exponential(VectorXd::Constant(1, 0.15), 1)}, d{squared_exponential(VectorXd::Constant(1, 0.8), 1)};
  const MatrixXd one_c = MatrixXd::Ones(11, 1), one_d = MatrixXd::Ones(4, 1);
  const GaussianProcess below(c, cheap_x, cheap_y, one_c), above(d, dear_x, difference, one_d);
  const MatrixXd at = VectorXd::LinSpaced(17, 0, 1), one = MatrixXd::Ones(17, 1);
  const GpPrediction pc = below.predict(at, one, true, 1, monitor), pd = above.predict(at, one, true, 1, monitor);
  const JointKriging model(
      {{c.kernel, s2c, 0, 1, cheap_x, cheap_y, MatrixXd::Ones(15, 1)}, {d.kernel, s2d, 0, rho, dear_x, dear_y, one_d}}, monitor);
  const MatrixXd both = MatrixXd::Ones(17, 2);
  const GpPrediction joint = model.predict(at, both, true, 1, monitor);
  CHECK_NEAR((joint.mean - rho * pc.mean - pd.mean).norm(), 0, 1e-8 * dear_y.norm());
  const VectorXd variance = rho * rho * s2c / below.scale() * pc.variance + s2d / above.scale() * pd.variance;
  CHECK_NEAR((joint.variance - variance).norm(), 0, 1e-8 * (rho * rho * s2c + s2d));
  CHECK_NEAR((model.covariance(at, both).diagonal() - variance).norm(), 0, 1e-8 * (rho * rho * s2c + s2d));
}

TEST("co-kriging of designs that are not nested: derivatives are those of the predictions, with trends at every level") {
  Rng rng(11);
  Monitor monitor;
  const MatrixXd low = latin_hypercube(14, 2, rng), middle = latin_hypercube(9, 2, rng), high = latin_hypercube(6, 2, rng);
  const auto wave = [](const MatrixXd& x) { return VectorXd((4 * x.col(0)).array().sin() + x.col(1).array().square()); };
  const auto linear = [](const MatrixXd& x) {
    MatrixXd f(x.rows(), 3);
    f << VectorXd::Ones(x.rows()), x;
    return f;
  };
  MatrixXd all(29, 2), upper(15, 2);
  upper << middle, high;
  all << low, upper;
  const JointKriging model(
      {{squared_exponential(VectorXd::Constant(2, 0.4), 2), 2, 1e-4, 1, low, 0.6 * wave(low), linear(all)},
       {squared_exponential(VectorXd::Constant(2, 0.6), 2), 0.5, 0, 1.4, middle, wave(middle) + middle.col(0),
        MatrixXd::Ones(15, 1)},
       {squared_exponential(VectorXd::Constant(2, 0.8), 2), 0.3, 1e-3, -0.7, high, wave(high), MatrixXd(6, 0)}},
      monitor);
  const auto trends = [&](const MatrixXd& x) {
    MatrixXd f(x.rows(), 4);
    f << linear(x), VectorXd::Ones(x.rows());
    return f;
  };
  const MatrixXd at = latin_hypercube(5, 2, rng);
  std::vector<MatrixXd> slopes(2, MatrixXd::Zero(5, 4));
  slopes[0].col(1).setOnes();
  slopes[1].col(2).setOnes();
  const GpGradient gradient = model.gradient(at, trends(at), slopes);
  const double step = 1e-5;
  for (Index k = 0; k < 2; ++k) {
    MatrixXd up = at, down = at;
    up.col(k).array() += step;
    down.col(k).array() -= step;
    const GpPrediction a = model.predict(up, trends(up), true, 1, monitor),
                       b = model.predict(down, trends(down), true, 1, monitor);
    CHECK_NEAR((gradient.mean.col(k) - (a.mean - b.mean) / (2 * step)).norm(), 0, 1e-6 * gradient.mean.norm());
    CHECK_NEAR((gradient.variance.col(k) - (a.variance - b.variance) / (2 * step)).norm(), 0, 1e-5 * gradient.variance.norm());
  }
  CHECK_NEAR((model.predict(high, trends(high), false, 1, monitor).mean - wave(high)).norm(), 0, 0.05);
  CHECK_THROWS(model.predict(at, MatrixXd::Ones(5, 3), false, 1, monitor), InputError);
}

TEST("gradients in blocks and weights are those of the whole") {
  Rng rng(8);
  Monitor monitor;
  const MatrixXd x = latin_hypercube(20, 2, rng), at = latin_hypercube(300, 2, rng), one = MatrixXd::Ones(300, 1);
  const VectorXd y = x.rowwise().sum().array().sin();
  GpModel model{squared_exponential(VectorXd::Constant(2, 0.5), 2)};
  model.nugget = 1e-4;
  const GaussianProcess gp(model, x, y, MatrixXd::Ones(20, 1));
  const GpGradient whole = gp.predict_gradient(at, one, {}), blocks = kriging_gradient(gp, at, one, {}, 2, monitor);
  CHECK_NEAR((whole.mean - blocks.mean).norm(), 0, 1e-10 * whole.mean.norm());
  CHECK_NEAR((whole.variance - blocks.variance).norm(), 0, 1e-8 * whole.variance.norm());
  const VectorXd largest = largest_weights(gp, at, one, 1, monitor);
  CHECK_NEAR((largest - gp.weights(at, one).cwiseAbs().colwise().maxCoeff().transpose()).norm(), 0, 1e-10);
  GpLearnOptions options;
  const MatrixXd grid = MatrixXd::Constant(2, 2, std::log(0.5));
  CHECK_NEAR(kriging_surface(model, x, y, MatrixXd::Ones(20, 1), grid, options, monitor)[1], gp.value(),
             1e-8 * std::abs(gp.value()));
}
