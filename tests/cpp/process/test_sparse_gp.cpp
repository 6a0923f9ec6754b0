#include "eigen.h"
#include <cmath>

#include "core/base/errors.h"
#include "core/random/rng.h"
#include "harness.h"
#include "process/sparse_fit.h"
#include "process/sparse_predict.h"
#include "process/sparse_select.h"

using namespace granary;
using namespace granary::process;

namespace {

const std::vector<SparseMethod> with_inducing = {SparseMethod::sor, SparseMethod::dtc, SparseMethod::fitc, SparseMethod::pitc,
                                                 SparseMethod::vfe};

Kernel se_kernel(Index d, double lengthscale = 1, double variance = 1) {
  KernelSpec spec;
  spec.type = "se";
  spec.variance = variance;
  spec.scales = VectorXd::Constant(d, lengthscale);
  return Kernel(spec, d);
}

struct Data {
  MatrixXd x, targets, inducing, newx, new_trend;
  std::vector<Index> blocks;
  Data(Index n, Index d, Index m, std::uint64_t seed, bool trend = false) {
    Rng rng(seed);
    x.resize(n, d);
    for (Index i = 0; i < x.size(); ++i) x.data()[i] = 2 * rng.normal();
    targets.resize(n, trend ? 2 : 1);
    for (Index i = 0; i < n; ++i) targets(i, 0) = std::sin(x(i, 0)) + 0.3 * rng.normal() + (trend ? 2 : 0);
    if (trend) targets.col(1).setOnes();
    inducing = x.topRows(m);
    inducing.array() += 0.1;
    newx.resize(5, d);
    for (Index i = 0; i < newx.size(); ++i) newx.data()[i] = 2 * rng.normal();
    new_trend = MatrixXd::Ones(5, trend ? 1 : 0);
    for (Index at = 0; at < n; at += 7) blocks.push_back(at);
    blocks.push_back(n);
  }
  SparseProblem problem(SparseMethod method, int threads = 1) const {
    SparseProblem out;
    out.x = &x;
    out.targets = &targets;
    out.method = method;
    out.blocks = blocks;
    out.threads = threads;
    return out;
  }
};

// Equations (16a), (20a), (24a) as n x n matrices.
struct Dense {
  MatrixXd c, q_fs, q_ss, k_ss;
  double gap = 0;
  Dense(const Data& data, const Kernel& kernel, double noise, SparseMethod method, double jitter) {
    const Index n = data.x.rows();
    MatrixXd k_uu = kernel.matrix(data.inducing);
    k_uu.diagonal().array() += jitter * k_uu.diagonal().mean();
    const MatrixXd inverse = k_uu.inverse(), k_uf = kernel.cross(data.inducing, data.x),
                   k_us = kernel.cross(data.inducing, data.newx);
    const MatrixXd q_ff = k_uf.transpose() * inverse * k_uf, open = kernel.matrix(data.x) - q_ff;
    gap = open.trace();
    c = q_ff + noise * MatrixXd::Identity(n, n);
    if (method == SparseMethod::fitc) c.diagonal() += open.diagonal();
    if (method == SparseMethod::pitc)
      for (std::size_t b = 0; b + 1 < data.blocks.size(); ++b) {
        const Index from = data.blocks[b], size = data.blocks[b + 1] - from;
        c.block(from, from, size, size) += open.block(from, from, size, size);
      }
    q_fs = k_uf.transpose() * inverse * k_us;
    q_ss = k_us.transpose() * inverse * k_us;
    k_ss = kernel.matrix(data.newx);
  }
};

}  // namespace

TEST("sparse GP: the worked example") {
  MatrixXd x(9, 1), y(9, 1), u(3, 1), s(3, 1);
  x << -3, -2.2, -1.5, -.8, 0, .6, 1.4, 2.1, 3;
  y << -.2, -.9, -1.1, -.6, .1, .5, 1, .8, .1;
  u << -2, 0, 2;
  s << -2.5, .3, 5;
  Monitor monitor;
  const Kernel kernel = se_kernel(1);
  const auto check = [&](SparseMethod method, std::vector<double> mean, std::vector<double> variance, double evidence) {
    SparseProblem problem;
    problem.x = &x;
    problem.targets = &y;
    problem.method = method;
    const SparseState state = sparse_state(problem, kernel, 0.1, u, SparseJitter(), monitor);
    SparsePredictOptions options;
    options.variance = true;
    const SparsePrediction at = sparse_predict(state, kernel, s, MatrixXd(3, 0), options, monitor);
    for (Index i = 0; i < 3; ++i) {
      CHECK_NEAR(at.mean[i], mean[i], 6e-8);
      CHECK_NEAR(at.variance[i], variance[i], 6e-8);
    }
    CHECK_NEAR(state.log_evidence, evidence, 6e-7);
  };
  check(SparseMethod::exact, {-.6309930, .3126091, -.0416915}, {.0651373, .0537153, .9753594}, -6.851454);
  check(SparseMethod::sor, {-.8413730, .2158441, .0087805}, {.0356226, .0394575, 6.286827e-06}, -6.047451);
  check(SparseMethod::dtc, {-.8413730, .2158441, .0087805}, {.2509108, .1107570, .9998805}, -6.047451);
  check(SparseMethod::fitc, {-.8176776, .2208574, .0086316}, {.2848126, .1340677, .9998846}, -7.686980);
}

TEST("sparse GP: panels give what dense matrices give, with and without trend") {
  Monitor monitor;
  for (const bool trend : {false, true}) {
    const Data data(50, 2, 8, 11, trend);
    const Kernel kernel = se_kernel(2, 1.5, 1.3);
    const double noise = 0.2;
    for (const SparseMethod method : with_inducing) {
      const SparseProblem problem = data.problem(method);
      const SparseState state = sparse_state(problem, kernel, noise, data.inducing, SparseJitter(), monitor);
      const Dense dense(data, kernel, noise, method, state.jitter);
      const Eigen::LLT<MatrixXd> factor(dense.c);
      VectorXd rest = data.targets.col(0);
      double beta = 0, information = 1;
      if (trend) {
        const VectorXd ones = data.targets.col(1);
        information = ones.dot(factor.solve(ones));
        beta = ones.dot(factor.solve(rest)) / information;
        rest -= beta * ones;
        CHECK_NEAR(state.trend[0], beta, 1e-8);
      }
      double evidence = -0.5 * (2 * factor.matrixLLT().diagonal().array().log().sum() + rest.dot(factor.solve(rest)) +
                                50 * std::log(2 * std::acos(-1.0)));
      if (method == SparseMethod::vfe) evidence -= dense.gap / (2 * noise);
      CHECK_NEAR(state.log_evidence, evidence, 1e-6);
      SparsePredictOptions options;
      options.covariance = true;
      const SparsePrediction at = sparse_predict(state, kernel, data.newx, data.new_trend, options, monitor);
      const VectorXd mean = dense.q_fs.transpose() * factor.solve(rest);
      MatrixXd covariance =
          (method == SparseMethod::sor ? dense.q_ss : dense.k_ss) - dense.q_fs.transpose() * factor.solve(dense.q_fs);
      if (trend) {
        const VectorXd open = VectorXd::Ones(5) - dense.q_fs.transpose() * factor.solve(VectorXd(data.targets.col(1)));
        covariance += open * open.transpose() / information;
      }
      CHECK_NEAR((at.mean.array() - beta - mean.array()).abs().maxCoeff(), 0, 1e-7);
      CHECK_NEAR((at.covariance - covariance).cwiseAbs().maxCoeff(), 0, 1e-7);
    }
  }
}

TEST("sparse GP: gradients are those of central differences, with and without cache") {
  Monitor monitor;
  const Data data(40, 2, 5, 13, true);
  const Kernel kernel = se_kernel(2, 1.2, 0.8);
  const double noise = 0.15, step = 1e-5;
  std::vector<SparseMethod> methods = with_inducing;
  methods.push_back(SparseMethod::exact);
  for (const SparseMethod method : methods) {
    for (const double cache : {0.0, 1e9}) {
      SparseProblem problem = data.problem(method);
      problem.cache_bytes = cache;
      SparseGradient gradient;
      const bool inputs = method != SparseMethod::exact;
      sparse_state(problem, kernel, noise, data.inducing, SparseJitter(), monitor, &gradient, inputs);
      const auto value = [&](const Kernel& k, double s2, const MatrixXd& u) {
        return sparse_state(problem, k, s2, u, SparseJitter(), monitor).log_evidence;
      };
      for (Index j = 0; j < kernel.n_parameters(); ++j) {
        Kernel up = kernel, down = kernel;
        const VectorXd at = kernel.parameters(), shift = step * VectorXd::Unit(at.size(), j);
        up.set_parameters(at + shift);
        down.set_parameters(at - shift);
        CHECK_NEAR(gradient.parameters[j], (value(up, noise, data.inducing) - value(down, noise, data.inducing)) / (2 * step),
                   1e-6);
      }
      CHECK_NEAR(gradient.log_noise,
                 (value(kernel, noise * std::exp(step), data.inducing) - value(kernel, noise * std::exp(-step), data.inducing)) /
                     (2 * step),
                 1e-6);
      for (Index j = 0; inputs && j < data.inducing.size(); ++j) {
        MatrixXd up = data.inducing, down = data.inducing;
        up.data()[j] += step;
        down.data()[j] -= step;
        CHECK_NEAR(gradient.inducing.data()[j], (value(kernel, noise, up) - value(kernel, noise, down)) / (2 * step), 1e-6);
      }
    }
  }
}

TEST("sparse GP: with every row an inducing input all methods are the exact process") {
  Monitor monitor;
  Data data(30, 1, 30, 17, true);
  data.inducing = data.x;
  const Kernel kernel = se_kernel(1, 0.4);
  SparsePredictOptions options;
  options.variance = true;
  const SparseState exact = sparse_state(data.problem(SparseMethod::exact), kernel, 0.1, data.inducing, SparseJitter(), monitor);
  const SparsePrediction truth = sparse_predict(exact, kernel, data.newx, data.new_trend, options, monitor);
  for (const SparseMethod method : with_inducing) {
    const SparseState state = sparse_state(data.problem(method), kernel, 0.1, data.inducing, SparseJitter(), monitor);
    const SparsePrediction at = sparse_predict(state, kernel, data.newx, data.new_trend, options, monitor);
    CHECK_NEAR(state.log_evidence, exact.log_evidence, 1e-5);
    CHECK_NEAR((at.mean - truth.mean).cwiseAbs().maxCoeff(), 0, 1e-6);
    if (method == SparseMethod::sor) {
      CHECK((at.variance.array() < truth.variance.array() + 1e-6).all());
    } else {
      CHECK_NEAR((at.variance - truth.variance).cwiseAbs().maxCoeff(), 0, 1e-6);
    }
  }
}

TEST("sparse GP: PITC with single rows is FITC; far away SoR is sure and the others are not") {
  Monitor monitor;
  Data data(25, 2, 6, 19);
  const Kernel kernel = se_kernel(2, 1.0, 2.5);
  data.blocks.clear();
  for (Index i = 0; i <= 25; ++i) data.blocks.push_back(i);
  const SparseState fitc = sparse_state(data.problem(SparseMethod::fitc), kernel, 0.1, data.inducing, SparseJitter(), monitor);
  const SparseState pitc = sparse_state(data.problem(SparseMethod::pitc), kernel, 0.1, data.inducing, SparseJitter(), monitor);
  CHECK_NEAR(fitc.log_evidence, pitc.log_evidence, 1e-9);
  CHECK_NEAR((fitc.c - pitc.c).norm(), 0, 1e-9);
  SparsePredictOptions options;
  options.variance = true;
  const MatrixXd far = MatrixXd::Constant(1, 2, 200.0);
  for (const SparseMethod method : with_inducing) {
    const SparseState state = sparse_state(data.problem(method), kernel, 0.1, data.inducing, SparseJitter(), monitor);
    const double v = sparse_predict(state, kernel, far, MatrixXd(1, 0), options, monitor).variance[0];
    CHECK_NEAR(v, method == SparseMethod::sor ? 0 : 2.5, 1e-12);
  }
}

TEST("sparse GP: augmented predictions are those of a fit with the test input among the inducing ones") {
  Monitor monitor;
  for (const bool trend : {false, true}) {
    const Data data(45, 2, 7, 23, trend);
    const Kernel kernel = se_kernel(2, 1.4);
    SparsePredictOptions options;
    options.variance = true;
    SparsePrediction sor;
    for (const SparseMethod method : with_inducing) {
      const SparseProblem problem = data.problem(method, 2);
      const SparseState state = sparse_state(problem, kernel, 0.1, data.inducing, SparseJitter(), monitor);
      const SparsePrediction at = augmented_predict(state, problem, kernel, data.newx, data.new_trend, 2, monitor);
      for (Index i = 0; i < data.newx.rows(); ++i) {
        MatrixXd more(data.inducing.rows() + 1, 2);
        more << data.inducing, data.newx.row(i);
        const SparseState grown = sparse_state(problem, kernel, 0.1, more, SparseJitter(), monitor);
        const SparsePrediction one = sparse_predict(grown, kernel, data.newx.row(i), data.new_trend.row(i), options, monitor);
        CHECK_NEAR(at.mean[i], one.mean[0], 1e-6);
        CHECK_NEAR(at.variance[i], one.variance[0], 1e-6);
      }
      if (method == SparseMethod::sor) sor = at;
      if (method == SparseMethod::dtc)
        CHECK_NEAR((sor.variance - at.variance).norm() + (sor.mean - at.mean).norm(), 0, 1e-9);  // Remark 12
      // A test input that is an inducing one already changes nothing.
      const SparsePrediction same =
          augmented_predict(state, problem, kernel, data.inducing.topRows(1), data.new_trend.topRows(1), 1, monitor);
      const SparsePrediction plain =
          sparse_predict(state, kernel, data.inducing.topRows(1), data.new_trend.topRows(1), options, monitor);
      CHECK_NEAR(same.mean[0], plain.mean[0], 1e-6);
      CHECK_NEAR(same.variance[0], plain.variance[0], 1e-6);
    }
  }
}

TEST("sparse GP: Nystrom is K_*f (Q + s2 I)^-1, and can have negative variances") {
  Monitor monitor;
  const Data data(60, 1, 3, 29);
  const Kernel kernel = se_kernel(1, 0.5);
  const SparseProblem problem = data.problem(SparseMethod::nystrom);
  const SparseState state = sparse_state(problem, kernel, 0.01, data.inducing, SparseJitter(), monitor);
  const Dense dense(data, kernel, 0.01, SparseMethod::dtc, state.jitter);
  SparsePredictOptions options;
  options.variance = options.covariance = options.gradient = true;
  const SparsePrediction at = nystrom_predict(state, problem, kernel, data.newx, data.new_trend, options, monitor);
  const MatrixXd k = kernel.cross(data.x, data.newx);
  const Eigen::LLT<MatrixXd> factor(dense.c);
  const VectorXd mean = k.transpose() * factor.solve(VectorXd(data.targets.col(0)));
  const MatrixXd covariance = dense.k_ss - k.transpose() * factor.solve(k);
  CHECK_NEAR((at.mean - mean).norm(), 0, 1e-6 * mean.norm());
  CHECK_NEAR((at.covariance - covariance).norm(), 0, 1e-6 * covariance.norm());
  CHECK(at.variance.minCoeff() < 0);
  for (Index i = 0; i < 5; ++i) {
    MatrixXd up = data.newx.row(i), down = up;
    up(0, 0) += 1e-5;
    down(0, 0) -= 1e-5;
    const double slope = (nystrom_predict(state, problem, kernel, up, MatrixXd(1, 0), options, monitor).mean[0] -
                          nystrom_predict(state, problem, kernel, down, MatrixXd(1, 0), options, monitor).mean[0]) /
                         2e-5;
    CHECK_NEAR(at.gradient(i, 0), slope, 1e-5 * (1 + std::abs(slope)));
  }
}

TEST("sparse GP: rows added later count as if they had been there") {
  Monitor monitor;
  const Data data(35, 2, 6, 31, true);
  const Kernel kernel = se_kernel(2);
  for (const SparseMethod method : with_inducing) {
    const SparseProblem all = data.problem(method);
    const SparseState whole = sparse_state(all, kernel, 0.1, data.inducing, SparseJitter(), monitor);
    MatrixXd x1 = data.x.topRows(28), x2 = data.x.bottomRows(7), t1 = data.targets.topRows(28), t2 = data.targets.bottomRows(7);
    SparseProblem first = all, second = all;
    first.x = &x1;
    first.targets = &t1;
    first.blocks = {0, 7, 14, 21, 28};
    second.x = &x2;
    second.targets = &t2;
    second.blocks = {0, 7};
    SparseState state = sparse_state(first, kernel, 0.1, data.inducing, SparseJitter(), monitor);
    sparse_add_rows(state, second, kernel, monitor);
    CHECK_NEAR(state.log_evidence, whole.log_evidence, 1e-9);
    CHECK_NEAR((state.c - whole.c).norm(), 0, 1e-9);
    CHECK(state.n == 35);
  }
}

TEST("sparse GP: one and two threads give the same bits") {
  Monitor monitor;
  const Data data(3000, 2, 10, 37);
  const Kernel kernel = se_kernel(2);
  for (const SparseMethod method : with_inducing) {
    SparseGradient one, two;
    const SparseState a = sparse_state(data.problem(method, 1), kernel, 0.1, data.inducing, SparseJitter(), monitor, &one, true);
    const SparseState b = sparse_state(data.problem(method, 2), kernel, 0.1, data.inducing, SparseJitter(), monitor, &two, true);
    CHECK(a.log_evidence == b.log_evidence);
    CHECK((one.inducing.array() == two.inducing.array()).all());
    CHECK((one.parameters.array() == two.parameters.array()).all());
  }
}

TEST("sparse GP: learning climbs to a stationary point") {
  Monitor monitor;
  const Data data(120, 1, 6, 41, true);
  const Kernel kernel = se_kernel(1);
  SparseFitOptions options;
  options.starts = MatrixXd(3, 2);
  options.starts << 0, 1, 0, -2, std::log(0.5), 0;
  options.lower = VectorXd::Constant(3, -15);
  options.upper = VectorXd::Constant(3, 15);
  options.box.resize(2, 1);
  options.box << data.x.minCoeff() - 1, data.x.maxCoeff() + 1;
  options.n_starts = 2;
  options.learn_inducing = true;
  options.tol = 1e-7;
  for (const SparseMethod method : {SparseMethod::fitc, SparseMethod::vfe}) {
    const SparseProblem problem = data.problem(method);
    const SparseFitResult fit = sparse_fit(problem, kernel, data.inducing, options, monitor);
    CHECK(fit.state.log_evidence > fit.trace[0]);
    Kernel learnt = kernel;
    learnt.set_parameters(fit.parameters.head(2));
    SparseGradient gradient;
    const SparseState state =
        sparse_state(problem, learnt, std::exp(fit.parameters[2]), fit.inducing, SparseJitter(), monitor, &gradient, true);
    CHECK_NEAR(state.log_evidence, fit.state.log_evidence, 1e-6 * 120);
    CHECK(gradient.parameters.cwiseAbs().maxCoeff() < 0.05);
    CHECK(std::abs(gradient.log_noise) < 0.05);
  }
}

TEST("sparse GP: greedy rules agree with brute force") {
  Monitor monitor;
  const Data data(20, 1, 1, 43);
  const Kernel kernel = se_kernel(1, 0.7);
  const VectorXd y = data.targets.col(0);
  SelectOptions options;
  options.m = 4;
  options.candidates = 20;
  const auto evidence_of = [&](const std::vector<Index>& rows, bool posterior) {
    MatrixXd u(static_cast<Index>(rows.size()), 1);
    for (std::size_t i = 0; i < rows.size(); ++i) u(static_cast<Index>(i), 0) = data.x(rows[i], 0);
    const SparseState state = sparse_state(data.problem(SparseMethod::sor), kernel, 0.1, u, SparseJitter(), monitor);
    return posterior ? state.c.squaredNorm() : state.log_evidence;
  };
  for (const InducingRule rule : {InducingRule::posterior, InducingRule::evidence}) {
    options.rule = rule;
    Rng rng(1);
    const Selection chosen = select_inducing(data.x, y, kernel, 0.1, options, rng, monitor);
    CHECK(chosen.rows.size() == 4);
    std::vector<Index> so_far;
    for (const Index row : chosen.rows) {
      double best = -1e300;
      Index at = -1;
      for (Index i = 0; i < 20; ++i) {
        std::vector<Index> trial = so_far;
        trial.push_back(i);
        const double value = evidence_of(trial, rule == InducingRule::posterior);
        if (value > best + 1e-9) {
          best = value;
          at = i;
        }
      }
      CHECK(at == row);
      so_far.push_back(row);
    }
  }
  options.rule = InducingRule::variance;
  Rng rng(1);
  const Selection chosen = select_inducing(data.x, y, kernel, 0.1, options, rng, monitor);
  for (std::size_t step = 1; step < chosen.rows.size(); ++step) {
    MatrixXd u = chosen.inducing.topRows(static_cast<Index>(step));
    const MatrixXd inverse = kernel.matrix(u).inverse(), k = kernel.cross(u, data.x);
    const VectorXd open = kernel.diagonal(data.x) - (k.transpose() * inverse * k).diagonal();
    Index largest = 0;
    open.maxCoeff(&largest);
    CHECK(largest == chosen.rows[step]);
  }
}

TEST("sparse GP: errors say what is wrong") {
  Monitor monitor;
  Rng rng(1);
  const Data data(10, 2, 3, 47);
  const Kernel kernel = se_kernel(2);
  CHECK_THROWS(sparse_state(data.problem(SparseMethod::fitc), kernel, 0, data.inducing, SparseJitter(), monitor), InputError);
  CHECK_THROWS(sparse_state(data.problem(SparseMethod::fitc), kernel, 0.1, MatrixXd(0, 2), SparseJitter(), monitor), InputError);
  SparseProblem odd = data.problem(SparseMethod::pitc);
  odd.blocks = {0, 4};
  CHECK_THROWS(sparse_state(odd, kernel, 0.1, data.inducing, SparseJitter(), monitor), InputError);
  const SparseState state = sparse_state(data.problem(SparseMethod::fitc), kernel, 0.1, data.inducing, SparseJitter(), monitor);
  CHECK_THROWS(sparse_predict(state, kernel, MatrixXd::Zero(2, 3), MatrixXd(2, 0), SparsePredictOptions(), monitor), InputError);
  CHECK_THROWS(sparse_predict(state, kernel, MatrixXd::Zero(2, 2), MatrixXd(2, 1), SparsePredictOptions(), monitor), InputError);
  SelectOptions options;
  options.m = 11;
  CHECK_THROWS(select_inducing(data.x, data.targets.col(0), kernel, 0.1, options, rng, monitor), InputError);
  MatrixXd negative = -MatrixXd::Identity(2, 2);
  double used = 0;
  CHECK_THROWS(factor_with_jitter(negative, SparseJitter(), used), NumericalError);
  // Duplicated inducing inputs need no more than jitter.
  MatrixXd twice(4, 2);
  twice << data.inducing.topRows(2), data.inducing.topRows(2);
  CHECK(std::isfinite(sparse_state(data.problem(SparseMethod::fitc), kernel, 0.1, twice, SparseJitter(), monitor).log_evidence));
}
