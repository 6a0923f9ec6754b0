// Spaces, searches and suggestions of Bayesian optimisation.
#include <cmath>
#include <limits>
#include <set>

#include "process/bo_suggest.h"
#include "harness.h"

using namespace granary;
using namespace granary::process;

namespace {

BoSpace space_of(std::vector<int> values, std::vector<int> categorical = {}) {
  BoSpace space;
  space.values = Eigen::Map<VectorXi>(values.data(), static_cast<Index>(values.size()));
  space.categorical = VectorXi::Zero(space.values.size());
  for (int k : categorical) space.categorical[k] = 1;
  return space;
}

KernelSpec matern52(double lengthscale) {
  KernelSpec spec;
  spec.type = "matern";
  spec.shape = 2.5;
  spec.scales = VectorXd::Constant(1, lengthscale);
  spec.learn_variance = false;
  return spec;
}

std::vector<BoSurrogate> bowl(Index n) {  // (x1 - .3)^2 + (x2 - .7)^2
  Rng rng(1);
  MatrixXd x(n, 2);
  VectorXd y(n);
  for (Index i = 0; i < n; ++i) {
    x.row(i) << rng.uniform(), rng.uniform();
    y[i] = 10 * (std::pow(x(i, 0) - 0.3, 2) + std::pow(x(i, 1) - 0.7, 2));
  }
  std::vector<BoSurrogate> surrogates;
  surrogates.emplace_back(Kernel(matern52(0.5), 2), 1e-6, BoTrend(), BoPrior(), x, y);
  return surrogates;
}

BoCriterion criterion_of(const std::string& name) {
  BoCriterion criterion;
  criterion.type = value_of<BoCriterion::Type>(name, "type");
  return criterion;
}

VectorXd peak(const MatrixXd& x) { return VectorXd((-(x.array() - 0.3).square().rowwise().sum()).exp().matrix()); }

}  // namespace

TEST("points of the cube become grid values and codes, each cell as large as the others") {
  const BoSpace space = space_of({0, 5, 3}, {2});
  MatrixXd unit(3, 3);
  unit << 0.2, 0.0, 0.0, 0.2, 0.999, 0.5, 0.2, 0.41, 1.0;
  const MatrixXd x = space.place(unit);
  CHECK_NEAR(x(0, 1), 0, 0.0);
  CHECK_NEAR(x(1, 1), 1, 0.0);
  CHECK_NEAR(x(2, 1), 0.5, 0.0);
  CHECK_NEAR(x(1, 2), 1, 0.0);
  CHECK_NEAR(x(2, 2), 2, 0.0);
  CHECK_NEAR(x(0, 0), 0.2, 0.0);
  CHECK(std::isinf(space.count()));
  const MatrixXd all = space_of({5, 3}, {1}).all();
  CHECK(all.rows() == 15);
  std::set<std::pair<double, double>> distinct;
  for (Index i = 0; i < 15; ++i) distinct.insert({all(i, 0), all(i, 1)});
  CHECK(distinct.size() == 15);
  CHECK_NEAR(space.distance(x.row(0).transpose(), x.row(1).transpose()), 1, 0.0);
}

TEST("the search finds the maximum with and without gradients, on grids, lists and under constraints") {
  Monitor monitor;
  Rng rng(1);
  const MatrixXd none(0, 2);
  BoSpace space = space_of({0, 0});
  const BoGradient gradient = [](const VectorXd& x, VectorXd& g) {
    const double value = std::exp(-(x.array() - 0.3).square().sum());
    g = -2 * value * (x.array() - 0.3);
    return value;
  };
  const BoMaximum smooth = bo_maximise(peak, gradient, space, none, {}, rng, monitor);
  CHECK_NEAR((smooth.x.array() - 0.3).abs().maxCoeff(), 0, 1e-5);
  const BoMaximum compass = bo_maximise(peak, {}, space, none, {}, rng, monitor);
  CHECK_NEAR((compass.x.array() - 0.3).abs().maxCoeff(), 0, 1e-4);
  space.feasible = [](const VectorXd& x) { return x[0] + x[1] >= 1; };
  const BoMaximum bounded = bo_maximise(peak, gradient, space, none, {}, rng, monitor);
  CHECK(bounded.x.sum() >= 1);
  CHECK_NEAR(bounded.value, std::exp(-0.08), 1e-3);
  space.feasible = [](const VectorXd&) { return false; };
  CHECK(bo_maximise(peak, gradient, space, none, {}, rng, monitor).x.size() == 0);
  CHECK(bo_random_points(space, 3, rng, monitor, 50).rows() == 0);
  const BoMaximum grid = bo_maximise(peak, {}, space_of({6, 6}), none, {}, rng, monitor);  // 0, .2, .4: two ties each
  CHECK_NEAR(grid.value, std::exp(-0.02), 1e-12);
  const BoMaximum mixed = bo_maximise(peak, {}, space_of({0, 11}), none, {}, rng, monitor);
  CHECK_NEAR(mixed.x[0], 0.3, 1e-4);
  CHECK_NEAR(mixed.x[1], 0.3, 1e-12);
  const auto by_code = [](const MatrixXd& x) { return VectorXd((x.col(1).array() == 2).select(peak(x.leftCols(1)), 0.0)); };
  const BoMaximum category = bo_maximise(by_code, {}, space_of({0, 4}, {1}), none, {}, rng, monitor);
  CHECK_NEAR(category.x[0], 0.3, 1e-3);
  CHECK_NEAR(category.x[1], 2, 0.0);
  // Too many categories to enumerate: sweeps over one at a time.
  BoSpace large = space_of({10, 10, 10, 10, 10, 10}, {0, 1, 2, 3, 4, 5});
  const auto digits = [](const MatrixXd& x) { return VectorXd(-(x.array() - 7).square().rowwise().sum().matrix()); };
  CHECK_NEAR(bo_maximise(digits, {}, large, MatrixXd(0, 6), {}, rng, monitor).value, 0, 0.0);
  BoSpace listed = space_of({0, 0});
  listed.candidates = MatrixXd(3, 2);
  listed.candidates << 0, 0, 0.35, 0.2, 1, 1;
  CHECK_NEAR(bo_maximise(peak, {}, listed, none, {}, rng, monitor).x[0], 0.35, 0.0);
  const auto flat = [](const MatrixXd& x) { return VectorXd(VectorXd::Ones(x.rows())); };
  CHECK(bo_maximise(flat, {}, space_of({0, 0}), none, {}, rng, monitor).flat);
  CHECK(!smooth.flat);
}

TEST("designs are feasible and as large as asked for") {
  Monitor monitor;
  Rng rng(2);
  BoSpace space = space_of({0, 4});
  space.feasible = [](const VectorXd& x) { return x[0] < 0.4; };
  for (BoDesign design : {BoDesign::latin_hypercube, BoDesign::sobol, BoDesign::uniform}) {
    const MatrixXd x = bo_design(space, design, 12, rng, monitor);
    CHECK(x.rows() == 12);
    CHECK(x.col(0).maxCoeff() < 0.4);
    for (Index i = 0; i < 12; ++i) CHECK_NEAR(std::round(3 * x(i, 1)), 3 * x(i, 1), 1e-12);
  }
  BoSpace listed = space_of({0});
  listed.candidates = VectorXd::LinSpaced(5, 0, 1);
  const MatrixXd drawn = bo_design(listed, BoDesign::latin_hypercube, 5, rng, monitor);
  std::set<double> distinct;
  for (Index i = 0; i < 5; ++i) distinct.insert(drawn(i, 0));
  CHECK(distinct.size() == 5);
}

TEST("suggestions are the maxima of their criterion, and the same for the same seed") {
  Monitor monitor;
  const BoSpace space = space_of({0, 0});
  const std::vector<BoSurrogate> surrogates = bowl(12);
  BoSuggestOptions options;
  for (const char* name : {"ei", "pi", "lcb", "lcb_annealed", "return", "uncertainty", "thompson", "optimistic"}) {
    const BoCriterion criterion = criterion_of(name);
    Rng one(3), two(3);
    options.cover = 300;
    const BoSuggestion a = bo_suggest(criterion, surrogates, space, options, one, monitor);
    const BoSuggestion b = bo_suggest(criterion, surrogates, space, options, two, monitor);
    CHECK(a.x.rows() == 1 && a.used[0] == name);
    CHECK_NEAR((a.x - b.x).cwiseAbs().maxCoeff(), 0, 0.0);
    if (criterion.draws()) continue;
    const BoAcquisition acquisition(criterion, surrogates, bo_contexts(surrogates, false));
    MatrixXd grid(51 * 51, 2);
    for (Index i = 0; i < grid.rows(); ++i) grid.row(i) << (i % 51) / 50.0, static_cast<double>(i / 51) / 50.0;
    const VectorXd values = acquisition.values(grid);
    CHECK(a.value[0] >= values.maxCoeff() - 1e-9);
  }
  Rng rng(4);
  options.n = 4;
  const BoSuggestion batch = bo_suggest(criterion_of("ei"), surrogates, space, options, rng, monitor);
  CHECK(batch.x.rows() == 4);
  for (Index i = 1; i < 4; ++i)
    for (Index j = 0; j < i; ++j) CHECK((batch.x.row(i) - batch.x.row(j)).norm() > 1e-4);
}

TEST("random steps, constant responses and empty spaces") {
  Monitor monitor;
  Rng rng(5);
  BoSpace space = space_of({0, 0});
  BoSuggestOptions options;
  options.force_random = true;
  CHECK(bo_suggest(criterion_of("ei"), bowl(8), space, options, rng, monitor).used[0] == "random");
  options.force_random = false;
  options.epsilon = 1;
  CHECK(bo_suggest(criterion_of("ei"), bowl(8), space, options, rng, monitor).used[0] == "random");
  options.epsilon = 0;
  MatrixXd x(3, 2);
  x << 0, 0, 0, 1, 1, 0;
  std::vector<BoSurrogate> level;
  level.emplace_back(Kernel(matern52(0.5), 2), 1e-6, BoTrend(), BoPrior(), x, VectorXd::Ones(3));
  const BoSuggestion away = bo_suggest(criterion_of("ei"), level, space, options, rng, monitor);
  CHECK(away.used[0] == "distance");
  CHECK(away.x.minCoeff() > 0.85);  // the corner that was not tried
  space.feasible = [](const VectorXd&) { return false; };
  CHECK(bo_suggest(criterion_of("ei"), bowl(8), space, options, rng, monitor).x.rows() == 0);
}

TEST("hedge: probabilities do not overflow, gains follow the rewards, good criteria win") {
  VectorXd gains(3);
  gains << 1e5, 1e5 - 1, -1e5;
  const VectorXd p = bo_hedge_probabilities(gains, 1, false);
  CHECK_NEAR(p.sum(), 1, 1e-12);
  CHECK_NEAR(p[0] / p[1], std::exp(1.0), 1e-9);
  CHECK_NEAR(p[2], 0, 0.0);
  // Bounded: the best is exp(eta) times as likely as the worst, whatever the units.
  for (double unit : {1e-8, 1.0, 1e8}) {
    const VectorXd q = bo_hedge_probabilities(unit * gains, 2, true);
    CHECK_NEAR(q.sum(), 1, 1e-12);
    CHECK_NEAR(q[0] / q[2], std::exp(2.0), 1e-9);
    CHECK_NEAR(std::log(q[0] / q[1]), 2 / 2e5, 1e-9);
  }
  CHECK_NEAR(bo_hedge_probabilities(VectorXd::Zero(4), 1, true)[3], 0.25, 1e-12);
  BoCriterion hedge = criterion_of("hedge");
  hedge.children = {criterion_of("ei"), criterion_of("uncertainty")};
  hedge.bounded = false;
  BoSuggestOptions options;
  options.gains = VectorXd(2);
  Monitor monitor;
  Rng rng(6);
  for (int arm = 0; arm < 2; ++arm) {
    options.gains.setZero();
    options.gains[arm] = 1e5;
    const BoSuggestion s = bo_suggest(hedge, bowl(10), space_of({0, 0}), options, rng, monitor);
    CHECK(s.used[0] == (arm == 0 ? "ei" : "uncertainty"));
    CHECK(s.nominees[0].rows() == 2);
    CHECK_NEAR((s.nominees[0].row(arm) - s.x.row(0)).norm(), 0, 0.0);
  }
}
