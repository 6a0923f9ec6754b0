#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/optim/smo.h"
#include "harness.h"
#include "kernel/lasvm_run.h"

using namespace granary;
using namespace granary::kernel;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

KernelSpec rbf(double gamma) {
  KernelSpec spec;
  spec.type = "se";
  spec.scales = VectorXd::Constant(1, 1 / std::sqrt(2 * gamma));
  return spec;
}

struct Sample {
  MatrixXd x;
  std::vector<int> label;
};

Sample noisy(Index n, int classes, std::uint64_t seed) {
  Rng rng(seed);
  Sample out{MatrixXd(n, 2), {}};
  for (Index i = 0; i < n; ++i) {
    out.x(i, 0) = rng.normal();
    out.x(i, 1) = rng.normal();
    const double angle = std::atan2(out.x(i, 1), out.x(i, 0)) + 0.5 * rng.normal() + 20;
    out.label.push_back(static_cast<int>(angle) % classes);
  }
  return out;
}

std::vector<Index> in_order(Index from, Index to) {
  std::vector<Index> out;
  for (Index i = from; i < to; ++i) out.push_back(i);
  return out;
}

struct Fit {
  LasvmResult result;
  VectorXd alpha;  // of every row, first machine
  MatrixXd all;    // of every row and machine
};

Fit fit(const Sample& s, double cost, const LasvmPlan& plan, const LasvmOptions& options, int classes = 2, double gamma = 0.5) {
  KernelRows rows(rbf(gamma), s.x);
  LasvmData data;
  data.label = s.label;
  data.cost = VectorXd::Constant(classes, cost);
  Rng rng(7);
  Monitor monitor;
  LasvmState start;
  start.alpha = start.f = MatrixXd(0, data.machines());
  start.member = Eigen::MatrixXi(0, data.machines());
  Fit out{run_lasvm(rows, data, start, plan, options, rng, monitor), {}, {}};
  out.all = MatrixXd::Zero(s.x.rows(), data.machines());
  const LasvmState& state = out.result.state;
  for (std::size_t k = 0; k < state.rows.size(); ++k) out.all.row(state.rows[k]) = state.alpha.row(static_cast<Index>(k));
  out.alpha = out.all.col(0);
  return out;
}

LasvmPlan plan_of(Index n, int epochs) {
  LasvmPlan plan;
  plan.order = in_order(0, n);
  plan.epochs = epochs;
  return plan;
}

SmoResult batch(const Sample& s, double cost, double gamma, Index machine = 1) {
  VectorXd y(s.x.rows());
  for (Index i = 0; i < y.size(); ++i) y[i] = s.label[i] == machine ? 1 : -1;
  SmoSheet sheet;
  sheet.linear = y;
  sheet.lower = (cost * y).cwiseMin(0.0);
  sheet.upper = (cost * y).cwiseMax(0.0);
  SmoProblem problem;
  problem.sheets = {sheet};
  SmoOptions options;
  options.tol = 1e-9;
  options.single_precision = false;
  KernelRows rows(rbf(gamma), s.x);
  Monitor monitor;
  return solve_smo(problem, rows, options, monitor);
}

}  // namespace

TEST("lasvm: exclusive or has its closed form") {
  Sample s{MatrixXd(4, 2), {1, 1, 0, 0}};
  s.x << 0, 0, 1, 1, 1, 0, 0, 1;
  LasvmOptions options;
  options.tol = 1e-10;
  const Fit f = fit(s, infinity, plan_of(4, 3), options, 2, 1);
  const double a = 1 / std::pow(1 - std::exp(-1.0), 2);
  for (Index i = 0; i < 4; ++i) CHECK_NEAR(f.alpha[i], i < 2 ? a : -a, 1e-8);
  CHECK_NEAR(f.result.state.b[0], 0, 1e-8);
  CHECK_NEAR(f.result.state.objective[0], 2 * a, 1e-8);
}

TEST("lasvm: rows that see only themselves have coefficients of one, or the cost") {
  Sample s = noisy(20, 2, 1);
  for (Index i = 0; i < 20; ++i) s.label[i] = i % 2;
  LasvmOptions options;
  options.tol = 1e-9;
  for (const double cost : {0.4, 3.0}) {
    const Fit f = fit(s, cost, plan_of(20, 2), options, 2, 1e9);
    for (Index i = 0; i < 20; ++i) CHECK_NEAR(f.alpha[i], (i % 2 ? 1 : -1) * std::min(1.0, cost), 1e-8);
  }
}

TEST("lasvm: enough passes give the batch machine, one pass nearly") {
  const Sample s = noisy(150, 2, 2);
  LasvmOptions options;
  options.tol = 1e-7;
  for (const double cost : {0.5, 10.0}) {
    const SmoResult truth = batch(s, cost, 0.5);
    const Fit once = fit(s, cost, plan_of(150, 1), options), often = fit(s, cost, plan_of(150, 12), options);
    CHECK(once.result.state.objective[0] <= -truth.objective + 1e-7);
    CHECK(once.result.state.objective[0] >= -0.8 * truth.objective);
    CHECK_NEAR(often.result.state.objective[0], -truth.objective, 1e-6 * -truth.objective);
    CHECK((often.alpha - truth.beta[0]).cwiseAbs().maxCoeff() < 1e-3 * cost);
  }
}

TEST("lasvm: every step climbs and keeps the box, the sum, the gradient and the members") {
  const Sample s = noisy(120, 2, 3);
  KernelRows rows(rbf(0.5), s.x);
  const MatrixXd k = Kernel(rbf(0.5), 2).matrix(s.x);
  LasvmData data;
  data.label = s.label;
  data.cost = VectorXd::Constant(2, 2.0);
  data.cost[1] = 3;
  LasvmState start;
  start.alpha = start.f = MatrixXd(0, 1);
  start.member = Eigen::MatrixXi(0, 1);
  LasvmOptions options;
  Monitor monitor;
  Lasvm<double> learner(rows, data, start, options, monitor);
  std::vector<Index> seeds;
  for (Index i = 0; i < 120; ++i)
    if (learner.wants_seed(s.label[i])) {
      learner.seed(i);
      seeds.push_back(i);
    }
  CHECK(seeds.size() == 10 && learner.size() == 10 && learner.support() == 0);
  double before = 0;
  Index dropped = 0;
  for (int epoch = 0; epoch < 2; ++epoch)
    for (Index i = 0; i < 120; ++i) {
      const VectorXd score = learner.evaluate(i);
      const Index held = learner.size();
      const bool entered = learner.process(i);
      CHECK(entered || learner.size() == held);
      CHECK(learner.objective() >= before - 1e-12);
      const double between = learner.objective();
      learner.reprocess();
      CHECK(learner.objective() >= between - 1e-12);
      before = learner.objective();
      if (i % 40 != 39) continue;
      const LasvmState before_finishing = learner.state();
      const auto kept = learner.snapshot();
      CHECK(learner.finish() && learner.delta() < 1e-3 && learner.objective() > before);
      learner.restore(kept);
      const LasvmState state = learner.state();
      CHECK(state.alpha == before_finishing.alpha && state.f == before_finishing.f && state.b == before_finishing.b);
      CHECK(state.objective == before_finishing.objective && state.rows == before_finishing.rows);
      dropped += learner.size() < held;
      CHECK_NEAR(state.alpha.sum(), 0, 1e-12);
      double value = 0;
      double largest = -infinity, least = infinity;
      for (Index a = 0; a < state.alpha.rows(); ++a) {
        double f = 0;
        for (Index b = 0; b < state.alpha.rows(); ++b) f += state.alpha(b, 0) * k(state.rows[a], state.rows[b]);
        const double y = s.label[state.rows[a]] ? 1 : -1, cost = y > 0 ? 3 : 2;
        CHECK_NEAR(state.f(a, 0), f, 1e-10);
        CHECK(state.alpha(a, 0) * y >= 0 && state.alpha(a, 0) * y <= cost);
        CHECK(state.member(a, 0) == 1);
        value += state.alpha(a, 0) * (y - 0.5 * f);
        if (state.alpha(a, 0) < std::max(0.0, cost * y)) largest = std::max(largest, y - f);
        if (state.alpha(a, 0) > std::min(0.0, cost * y)) least = std::min(least, y - f);
      }
      CHECK_NEAR(state.objective[0], value, 1e-9);
      CHECK_NEAR(state.b[0], (largest + least) / 2, 1e-9);
      CHECK_NEAR(state.delta[0], largest - least, 1e-9);
    }
  CHECK(learner.support() > 0);
}

TEST("lasvm: where the run is cut does not matter") {
  const Sample s = noisy(100, 2, 4);
  LasvmOptions options;
  LasvmPlan plan = plan_of(100, 1);
  plan.finish = false;
  const Fit whole = fit(s, 1, plan, options);
  plan.order = in_order(0, 60);
  const Fit first = fit(s, 1, plan, options);
  // the rows held, then the new ones
  const LasvmState& held = first.result.state;
  const Index m = static_cast<Index>(held.rows.size());
  Sample rest{MatrixXd(m + 40, 2), {}};
  for (Index a = 0; a < m; ++a) {
    rest.x.row(a) = s.x.row(held.rows[a]);
    rest.label.push_back(s.label[held.rows[a]]);
  }
  for (Index i = 60; i < 100; ++i) {
    rest.x.row(m + i - 60) = s.x.row(i);
    rest.label.push_back(s.label[i]);
  }
  KernelRows rows(rbf(0.5), rest.x);
  LasvmData data;
  data.label = rest.label;
  data.cost = VectorXd::Constant(2, 1.0);
  plan.order = in_order(m, m + 40);
  Rng rng(1);
  Monitor monitor;
  const LasvmResult second = run_lasvm(rows, data, held, plan, options, rng, monitor);
  VectorXd alpha = VectorXd::Zero(100);
  for (std::size_t a = 0; a < second.state.rows.size(); ++a) {
    const Index row = second.state.rows[a];
    alpha[row < m ? held.rows[row] : row - m + 60] = second.state.alpha(static_cast<Index>(a), 0);
  }
  CHECK((alpha - whole.alpha).cwiseAbs().maxCoeff() < 1e-10);
  CHECK_NEAR(second.state.b[0], whole.result.state.b[0], 1e-10);
  CHECK_NEAR(second.state.objective[0], whole.result.state.objective[0], 1e-9);
}

TEST("lasvm: snapshots leave no trace, and the last one is the result") {
  const Sample s = noisy(120, 3, 5);
  LasvmOptions options;
  LasvmPlan plan = plan_of(120, 1);
  plan.finish = false;
  const Fit plain = fit(s, 2, plan, options, 3);
  plan.snapshots = {30, 60, 120};
  const Fit watched = fit(s, 2, plan, options, 3);
  CHECK(watched.result.snapshots.size() == 3);
  for (std::size_t i = 0; i < 65; ++i) CHECK_NEAR(plain.result.objective[i], watched.result.objective[i], 1e-9);
  CHECK_NEAR(plain.result.objective.back(), watched.result.objective.back(), 1e-2 * plain.result.objective.back());
  plan.finish = true;
  plan.snapshots.clear();
  const Fit finished = fit(s, 2, plan, options, 3);
  const LasvmSnapshot& last = watched.result.snapshots[2];
  CHECK(last.visits == 120);
  for (std::size_t k = 0; k < last.rows.size(); ++k)
    CHECK_NEAR((last.alpha.row(static_cast<Index>(k)) - finished.all.row(last.rows[k])).cwiseAbs().maxCoeff(), 0, 0.02);
  CHECK((finished.all - plain.all).cwiseAbs().maxCoeff() > 0.02);
}

TEST("lasvm: machines of many classes share their rows and are each the machine against the rest") {
  const Sample s = noisy(150, 3, 6);
  LasvmOptions options;
  options.tol = 1e-7;
  const Fit f = fit(s, 1, plan_of(150, 12), options, 3);
  for (Index c = 0; c < 3; ++c) {
    const SmoResult truth = batch(s, 1, 0.5, c);
    CHECK_NEAR(f.result.state.objective[c], -truth.objective, 1e-6 * -truth.objective);
    CHECK((f.all.col(c) - truth.beta[0]).cwiseAbs().maxCoeff() < 1e-3);
  }
}

TEST("lasvm: without bias each coefficient is where its own slope wants it") {
  const Sample s = noisy(100, 2, 7);
  const MatrixXd k = Kernel(rbf(0.5), 2).matrix(s.x);
  LasvmOptions options;
  options.tol = 1e-6;
  options.bias = false;
  const Fit f = fit(s, 1.5, plan_of(100, 10), options);
  CHECK(f.result.state.b[0] == 0);
  CHECK(std::abs(f.alpha.sum()) > 1e-3);
  const VectorXd value = k * f.alpha;
  for (Index i = 0; i < 100; ++i) {
    const double y = s.label[i] ? 1 : -1, g = y * (y - value[i]), a = y * f.alpha[i];
    CHECK(a >= 0 && a <= 1.5);
    CHECK(a == 1.5 || g <= 1e-5);
    CHECK(a == 0 || g >= -1e-5);
  }
}

TEST("lasvm: retraining is the batch machine of the rows seen, after every visit") {
  const Sample s = noisy(60, 2, 8);
  LasvmOptions options;
  options.tol = 1e-8;
  options.delta_max = 1e-8;
  options.keep_all = true;
  LasvmPlan plan = plan_of(60, 1);
  plan.finish = false;
  plan.max_labels = 40;
  const Fit f = fit(s, 2, plan, options);
  CHECK(f.result.labels_used.size() == 40 && f.result.state.rows.size() == 40);
  Sample seen{MatrixXd(40, 2), {}};
  for (Index i = 0; i < 40; ++i) {
    seen.x.row(i) = s.x.row(f.result.labels_used[i]);
    seen.label.push_back(s.label[f.result.labels_used[i]]);
  }
  CHECK_NEAR(f.result.state.objective[0], -batch(seen, 2, 0.5).objective, 1e-6);
}

TEST("lasvm: a small delta_max keeps delta small, at the price of members") {
  const Sample s = noisy(150, 2, 9);
  LasvmOptions options;
  LasvmPlan plan = plan_of(150, 1);
  plan.finish = false;
  const Fit plain = fit(s, 10, plan, options);
  options.delta_max = 0.1;
  const Fit eager = fit(s, 10, plan, options);
  for (std::size_t i = 12; i < eager.result.delta.size(); ++i) CHECK(eager.result.delta[i] < 0.1);
  CHECK(plain.result.delta.back() > 0.1);
  CHECK(eager.result.state.rows.size() <= plain.result.state.rows.size());
}

TEST("lasvm: active selection takes the row nearest to the boundary, gradient the most misclassified") {
  const Sample s = noisy(80, 2, 10);
  LasvmOptions options;
  LasvmPlan plan = plan_of(80, 1);
  plan.finish = false;
  plan.candidates = infinity;
  for (const LasvmSelection select : {LasvmSelection::active, LasvmSelection::gradient}) {
    plan.select = select;
    for (const double seen : {12, 30, 55}) {
      plan.max_labels = seen;
      const Fit now = fit(s, 2, plan, options);
      plan.max_labels = seen + 1;
      const Fit next = fit(s, 2, plan, options);
      const Index chosen = next.result.labels_used.back();
      std::vector<char> used(80, 0);
      for (const Index row : now.result.labels_used) used[row] = 1;
      CHECK(used[chosen] == 0);
      const VectorXd f = (Kernel(rbf(0.5), 2).matrix(s.x) * now.alpha).array() + now.result.state.b[0];
      const auto value = [&](Index i) { return select == LasvmSelection::active ? std::abs(f[i]) : (s.label[i] ? f[i] : -f[i]); };
      for (Index i = 0; i < 80; ++i)
        if (!used[i]) CHECK(value(chosen) <= value(i) + 1e-9);
    }
  }
  plan.select = LasvmSelection::autoactive;
  plan.max_labels = infinity;
  const Fit all = fit(s, 2, plan, options);
  std::vector<Index> visited = all.result.visited;
  std::sort(visited.begin(), visited.end());
  CHECK(visited == in_order(0, 80));
}

TEST("lasvm: active selection stops early where nothing is near the boundary, and asks for labels only of rows it takes") {
  Sample s = noisy(300, 2, 11);
  for (Index i = 0; i < 300; ++i) {
    s.label[i] = i % 2;
    s.x(i, 0) += i % 2 ? 6 : -6;
  }
  KernelRows rows(rbf(0.05), s.x);
  LasvmData data;
  data.label.assign(300, -1);
  data.cost = VectorXd::Constant(2, 1.0);
  std::vector<Index> asked;
  data.ask = [&](Index row) {
    asked.push_back(row);
    return s.label[row];
  };
  LasvmPlan plan = plan_of(300, 1);
  plan.select = LasvmSelection::active;
  plan.early_stop = true;
  LasvmState start;
  start.alpha = start.f = MatrixXd(0, 1);
  start.member = Eigen::MatrixXi(0, 1);
  LasvmOptions options;
  Rng rng(3);
  Monitor monitor;
  const LasvmResult out = run_lasvm(rows, data, start, plan, options, rng, monitor);
  CHECK(out.stopped_early && asked.size() < 250 && asked == out.labels_used);
}

TEST("lasvm: single precision and a cache of nothing change little") {
  const Sample s = noisy(150, 2, 12);
  LasvmOptions options, poor;
  poor.cache_mb = 0;
  const Fit rich = fit(s, 2, plan_of(150, 3), options), small = fit(s, 2, plan_of(150, 3), poor);
  CHECK_NEAR(small.result.state.objective[0], rich.result.state.objective[0], 1e-3 * rich.result.state.objective[0]);
  CHECK(small.result.state.kernel_values > rich.result.state.kernel_values);
}

TEST("lasvm: duplicated rows of both classes, and values that are not finite") {
  Sample s = noisy(40, 2, 13);
  for (Index i = 0; i < 40; i += 2) {
    s.x.row(i + 1) = s.x.row(i);
    s.label[i + 1] = 1 - s.label[i];
  }
  const Fit f = fit(s, 1, plan_of(40, 3), LasvmOptions());
  CHECK(f.alpha.allFinite() && f.result.convergence.converged);
  KernelSpec power;
  power.type = "polynomial";
  power.shape = 9;
  power.scales = VectorXd::Constant(1, 1.0);
  MatrixXd x(4, 1);
  x << 1, -1, 1e15, -1e15;
  LasvmData data;
  data.label = {0, 1, 0, 1};
  data.cost = VectorXd::Constant(2, 1.0);
  LasvmState start;
  start.alpha = start.f = MatrixXd(0, 1);
  start.member = Eigen::MatrixXi(0, 1);
  Rng rng(1);
  Monitor monitor;
  KernelRows rows(power, x);
  x *= 1e30;
  CHECK_THROWS(KernelRows(power, x), InputError);
  data.cost = VectorXd::Constant(1, 1.0);
  CHECK_THROWS(run_lasvm(rows, data, start, plan_of(4, 1), LasvmOptions(), rng, monitor), InputError);
}

TEST("witness search: a step along a direction without curvature leaves f what the coefficients say") {
  WitnessSearch search(2, true);
  search.put(0, 1, infinity, 0);
  search.put(1, -1, infinity, 0);
  search.set_member(0, true);
  search.set_member(1, true);
  const double row[] = {3, 3};  // twins of both classes
  search.step_pair(0, 1, row, row, 3, 3, 2);
  CHECK(search.alpha(0) > 0);
  CHECK_NEAR(search.f(0), 0, 0);
  CHECK_NEAR(search.gradient(0) - search.gradient(1), 2, 0);
}

TEST("lasvm: leads and margins of scores") {
  CHECK(lasvm_class(VectorXd::Constant(1, -0.5)) == 0 && lasvm_class(VectorXd::Constant(1, 0.5)) == 1);
  CHECK_NEAR(lasvm_lead(VectorXd::Constant(1, -0.5)), 0.5, 0);
  CHECK_NEAR(lasvm_margin(VectorXd::Constant(1, -0.5), 1), -0.5, 0);
  VectorXd scores(3);
  scores << -1, 0.5, 0.25;
  CHECK(lasvm_class(scores) == 1);
  CHECK_NEAR(lasvm_lead(scores), 0.125, 1e-15);
  CHECK_NEAR(lasvm_margin(scores, 0), -0.75, 1e-15);
}

TEST("lasvm: labels that were not counted never change the model") {
  Sample s = noisy(300, 2, 21);
  for (Index i = 0; i < 300; ++i) s.label[static_cast<std::size_t>(i)] = i % 60 == 7;  // one in sixty is positive
  for (const LasvmSelection select : {LasvmSelection::active, LasvmSelection::autoactive, LasvmSelection::random}) {
    LasvmPlan plan = plan_of(300, 1);
    plan.select = select;
    plan.max_labels = 25;
    const Fit first = fit(s, 2, plan, LasvmOptions());
    CHECK(first.result.labels_used.size() <= 25);
    std::vector<char> used(300, 0);
    for (const Index row : first.result.labels_used) used[static_cast<std::size_t>(row)] = 1;
    Sample other = s;
    for (std::size_t i = 0; i < 300; ++i)
      if (!used[i]) other.label[i] = 1 - other.label[i];
    const Fit second = fit(other, 2, plan, LasvmOptions());
    CHECK(second.result.labels_used == first.result.labels_used);
    CHECK((second.alpha - first.alpha).cwiseAbs().maxCoeff() == 0);
  }
}

TEST("lasvm: the certificate is computed in double precision over all rows, with rows in single precision") {
  const Sample s = noisy(200, 2, 31);
  LasvmOptions poor;
  poor.cache_mb = 0.05;  // less than the matrix in double precision: rows are single
  for (const bool bias : {true, false})
    for (const int epochs : {1, 2, 40}) {
      poor.bias = bias;
      const Fit found = fit(s, 1e3, plan_of(200, epochs), poor);
      const VectorXd f = Kernel(rbf(0.5), 2).matrix(s.x) * found.alpha;
      const LasvmState& state = found.result.state;
      for (std::size_t m = 0; m < state.rows.size(); ++m) CHECK_NEAR(state.f(static_cast<Index>(m), 0), f[state.rows[m]], 1e-7);
      double largest = -infinity, least = infinity, gap = found.alpha.dot(f);
      for (Index row = 0; row < 200; ++row) {
        const double y = s.label[static_cast<std::size_t>(row)] == 1 ? 1 : -1, low = y > 0 ? 0 : -1e3, high = y > 0 ? 1e3 : 0;
        if (found.alpha[row] < high) largest = std::max(largest, y - f[row]);
        if (found.alpha[row] > low) least = std::min(least, y - f[row]);
        gap += 1e3 * std::max(0.0, 1 - y * (f[row] + state.b[0])) - y * found.alpha[row];
      }
      const double violation = bias ? largest - least : std::max(largest, -least);
      const Convergence& convergence = found.result.convergence;
      CHECK(found.result.solved && found.result.reach.rows == 200);
      CHECK_NEAR(convergence.residual, std::max(0.0, violation), 1e-7);
      CHECK_NEAR(convergence.gap, gap, 1e-6 * (1 + gap));
      CHECK(convergence.converged == (violation <= 1e-3));
      if (epochs != 2) CHECK(convergence.converged == (epochs == 40));
    }
}
