
#include "eigen.h"
#include "core/random/rng.h"
#include "regress/mta.h"
#include "regress/mta_loo.h"
#include "regress/mta_vector.h"
#include "harness.h"

using namespace granary;
using namespace granary::regress;

namespace {

MatrixXd laplacian(const MatrixXd& a) {
  MatrixXd l = -a;
  l.diagonal().setZero();
  const VectorXd rows = l.rowwise().sum();
  l.diagonal() = -rows;
  return l;
}

MatrixXd equation_9(const MatrixXd& a, const VectorXd& s, double gamma) {
  const Index t = s.size();
  const MatrixXd m = MatrixXd::Identity(t, t) + gamma / static_cast<double>(t) * (s.asDiagonal() * laplacian(a));
  return m.inverse();
}

struct Case {
  VectorXd mean, s;
};
Case random_case(Index tasks, Rng& rng) {
  Case out{VectorXd(tasks), VectorXd(tasks)};
  for (Index t = 0; t < tasks; ++t) {
    out.mean[t] = rng.normal(3, 2);
    out.s[t] = rng.gamma(1) + 0.05;
  }
  return out;
}

double variance_of(const VectorXd& x) { return (x.array() - x.mean()).square().sum() / static_cast<double>(x.size() - 1); }

Samples random_samples(Index tasks, Rng& rng) {
  std::vector<double> y;
  std::vector<int> task;
  for (Index t = 0; t < tasks; ++t) {
    const double mu = rng.normal();
    const int n = 2 + static_cast<int>(rng.below(4));
    for (int i = 0; i < n; ++i) {
      y.push_back(rng.normal(mu, 1));
      task.push_back(static_cast<int>(t));
    }
  }
  const VectorXd values = Eigen::Map<VectorXd>(y.data(), static_cast<Index>(y.size()));
  const VectorXi codes = Eigen::Map<VectorXi>(task.data(), static_cast<Index>(task.size()));
  VectorXd sigma2(tasks);
  for (Index t = 0; t < tasks; ++t) sigma2[t] = 0.5 + rng.uniform();
  return sort_samples(values, codes, tasks, sigma2);
}

// Risk (23) by refitting from scratch without each sample.
double refit_risk(const Samples& samples, Noise noise, Estimator e, double gamma, const MatrixXd& fixed = MatrixXd()) {
  const Index tasks = samples.tasks();
  double risk = 0;
  for (Index t = 0; t < tasks; ++t) {
    if (samples.size_of(t) < (noise == Noise::own ? 3 : 2)) continue;
    for (Index drop = samples.start[t]; drop < samples.start[t + 1]; ++drop) {
      VectorXd n(tasks), mean(tasks), ss(tasks), s(tasks);
      for (Index r = 0; r < tasks; ++r) {
        std::vector<double> v;
        for (Index i = samples.start[r]; i < samples.start[r + 1]; ++i) {
          if (i != drop) v.push_back(samples.values[i]);
        }
        const Eigen::Map<VectorXd> x(v.data(), static_cast<Index>(v.size()));
        n[r] = static_cast<double>(v.size());
        mean[r] = x.mean();
        ss[r] = (x.array() - mean[r]).square().sum();
      }
      const double pooled = ss.sum() / (n.array() - 1).sum();
      for (Index r = 0; r < tasks; ++r) {
        s[r] = (noise == Noise::pooled ? pooled : noise == Noise::given ? samples.sigma2[r] : ss[r] / (n[r] - 1)) / n[r];
      }
      const double average = mean.mean(), range = mean.maxCoeff() - mean.minCoeff(), k = static_cast<double>(tasks);
      VectorXd estimate = mean;
      if (e == Estimator::pooled) estimate.setConstant(n.dot(mean) / n.sum());
      if (e == Estimator::average) estimate.setConstant(average);
      if (e == Estimator::shrink_average) estimate = average + gamma / (1 + gamma) * (mean.array() - average);
      if (e == Estimator::james_stein || e == Estimator::james_stein_effective) {
        const double dim = e == Estimator::james_stein ? k : s.sum() / s.maxCoeff();
        const double form = ((mean.array() - average).square() / s.array()).sum();
        estimate = average + std::max(0.0, 1 - std::max(0.0, dim - 3) / form) * (mean.array() - average);
      }
      if (e == Estimator::constant)
        estimate = equation_9(MatrixXd::Constant(tasks, tasks, 1 / variance_of(mean)), s, gamma) * mean;
      if (e == Estimator::minimax) estimate = equation_9(MatrixXd::Constant(tasks, tasks, 2 / (range * range)), s, gamma) * mean;
      if (fixed.size() > 0) estimate = equation_9(fixed, s, gamma) * mean;
      risk += std::pow(samples.values[drop] - estimate[t], 2) / static_cast<double>(samples.size_of(t));
    }
  }
  return risk;
}

}  // namespace

TEST("mta: moments in one pass") {
  VectorXd y(5);
  y << 1e8 + 1, 2, 1e8 + 3, 4, 9;
  VectorXi task(5);
  task << 0, 1, 0, 1, 2;
  const TaskMoments m = task_moments(y, task, 3);
  CHECK_NEAR(m.mean[0], 1e8 + 2, 1e-7);
  CHECK_NEAR(m.ss[0], 2, 1e-7);
  CHECK_NEAR(m.mean[1], 3, 1e-15);
  CHECK_NEAR(m.ss[2], 0, 0);
  CHECK(m.n[0] == 2 && m.n[2] == 1);
}

TEST("mta: the closed form is equation (9), at every scale") {
  Monitor monitor;
  Rng rng(1);
  for (int rep = 0; rep < 5; ++rep) {
    for (double unit : {1e-8, 1.0, 1e8}) {
      Case c = random_case(4 + 3 * rep, rng);
      c.mean *= unit;
      c.s *= unit * unit;
      const double a = 1 / variance_of(c.mean), gamma = 0.3 + rep;
      const MatrixXd w = equation_9(MatrixXd::Constant(c.s.size(), c.s.size(), a), c.s, gamma);
      const MeansResult fit = shrink_to_common(c.mean, c.s, 1 / (gamma * a));
      CHECK_NEAR((fit.estimate - w * c.mean).cwiseAbs().maxCoeff() / unit, 0, 1e-12);
      CHECK_NEAR((common_weights(c.s, 1 / (gamma * a)) - w).cwiseAbs().maxCoeff(), 0, 1e-13);
      const VectorXd variance = (w * c.s.asDiagonal() * w.transpose()).diagonal();
      CHECK_NEAR((fit.variance - variance).cwiseAbs().maxCoeff() / (unit * unit), 0, 1e-13);
      CHECK_NEAR((fit.posterior - w.diagonal().cwiseProduct(c.s)).cwiseAbs().maxCoeff() / (unit * unit), 0, 1e-13);
      CHECK_NEAR(
          ((common_risk(c.mean, c.s, 1 / (gamma * a)) - linear_risk(c.mean, c.s, w)).cwiseAbs().maxCoeff()) / (unit * unit), 0,
          1e-12);
      CHECK_NEAR((shrink_along(ConstMatrixRef(MatrixXd::Constant(c.s.size(), c.s.size(), a)), c.mean, c.s, gamma, true, monitor)
                      .estimate -
                  fit.estimate)
                         .cwiseAbs()
                         .maxCoeff() /
                     unit,
                 0, 1e-12);
    }
  }
}

TEST("mta: limits, tasks without noise, equal means") {
  VectorXd mean(3), s(3);
  mean << 1, 2, 6;
  s << 0.5, 1, 2;
  const double precision_weighted = (1 / 0.5 + 2 / 1.0 + 6 / 2.0) / (2 + 1 + 0.5);
  CHECK_NEAR(shrink_to_common(mean, s, 0).estimate[2], precision_weighted, 1e-14);
  CHECK_NEAR(shrink_to_common(mean, s, 1e-12).estimate[0], precision_weighted, 1e-10);
  CHECK((shrink_to_common(mean, s, std::numeric_limits<double>::infinity()).estimate - mean).norm() == 0);
  s[1] = 0;
  CHECK_NEAR(shrink_to_common(mean, s, 1).estimate[1], 2, 0);
  CHECK_NEAR(shrink_to_common(mean, s, 0).estimate[0], 2, 0);
  CHECK_NEAR(shrink_to_common(VectorXd::Constant(3, 7), VectorXd::Zero(3), 0).estimate[2], 7, 0);
}

TEST("mta: elimination without subtractions") {
  Monitor monitor;
  Rng rng(2);
  for (Index size : {1, 2, 47, 48, 49, 130}) {
    MatrixXd a(size, size);
    VectorXd g(size);
    for (Index i = 0; i < size; ++i) {
      g[i] = i % 7 == 3 ? 0 : rng.gamma(1);
      for (Index j = 0; j < size; ++j) a(i, j) = i == j ? 0 : rng.gamma(0.5);  // not symmetric
    }
    const MatrixXd x = laplacian_solve(a, g, MatrixXd::Identity(size, size), monitor);
    const MatrixXd m = MatrixXd::Identity(size, size) + g.asDiagonal() * laplacian(a);
    CHECK_NEAR((m * x - MatrixXd::Identity(size, size)).cwiseAbs().maxCoeff(), 0, 1e-11 * static_cast<double>(size));
    CHECK(x.minCoeff() >= 0);
    CHECK_NEAR((x.rowwise().sum().array() - 1).abs().maxCoeff(), 0, 1e-13);
  }
  // Similarities over 60 orders of magnitude: three tasks of which two are as good as one.
  MatrixXd a = MatrixXd::Zero(3, 3);
  a(0, 1) = a(1, 0) = 1e30;
  a(0, 2) = a(2, 0) = 1e-30;
  VectorXd mean(3);
  mean << 1, 3, 100;
  const VectorXd x = laplacian_solve(a, VectorXd::Ones(3), mean, monitor);
  CHECK_NEAR(x[0], 2, 1e-14);
  CHECK_NEAR(x[1], 2, 1e-14);
  CHECK_NEAR(x[2], 100, 1e-13);
}

TEST("mta: Proposition 4") {
  Monitor monitor;
  const double g = 2.5;
  VectorXd alpha(4);
  alpha << 0.1, 0.2, 0.05, 0.25;  // sum 0.6 = 1 - 1 / g
  const MatrixXd a = VectorXd::Ones(4) * alpha.transpose();
  const MatrixXd w = laplacian_solve(a, VectorXd::Constant(4, g), MatrixXd::Identity(4, 4), monitor);
  const MatrixXd expected = MatrixXd::Identity(4, 4) / g + VectorXd::Ones(4) * alpha.transpose();
  CHECK_NEAR((w - expected).cwiseAbs().maxCoeff(), 0, 1e-14);
}

TEST("mta: sparse similarities agree with full ones, also where a task has no noise") {
  Monitor monitor;
  Rng rng(3);
  const Index size = 30;
  Case c = random_case(size, rng);
  c.s[4] = 0;
  c.s[17] = 0;
  SparseMatrix a(size, size);
  std::vector<Eigen::Triplet<double>> entries;
  for (int i = 0; i + 1 < size; ++i) {
    const double value = rng.gamma(1);
    entries.emplace_back(i, i + 1, value);
    entries.emplace_back(i + 1, i, value);
  }
  entries.emplace_back(3, 3, 5.0);  // ignored
  a.setFromTriplets(entries.begin(), entries.end());
  a.makeCompressed();
  const ConstSparseMap view(a.rows(), a.cols(), a.nonZeros(), a.outerIndexPtr(), a.innerIndexPtr(), a.valuePtr());
  const MatrixXd full = a;
  const MeansResult one = shrink_along(view, c.mean, c.s, 8, true, monitor),
                    two = shrink_along(ConstMatrixRef(full), c.mean, c.s, 8, true, monitor);
  CHECK_NEAR((one.estimate - two.estimate).cwiseAbs().maxCoeff(), 0, 1e-12);
  CHECK_NEAR((one.variance - two.variance).cwiseAbs().maxCoeff(), 0, 1e-12);
  CHECK_NEAR((one.posterior - two.posterior).cwiseAbs().maxCoeff(), 0, 1e-12);
  CHECK(one.estimate[4] == c.mean[4]);
  CHECK(shrink_along(view, c.mean, c.s, 8, false, monitor).variance.size() == 0);
}

TEST("mta: pairwise similarities, with ties") {
  Monitor monitor;
  VectorXd mean(5), s(5);
  mean << 1, 2, 2, 5, 2;
  s << 0.3, 0.5, 1, 0.2, 2;
  const MatrixXd w = pairwise_weights(mean, s, 1, monitor);
  const VectorXd estimate = w * mean;
  CHECK_NEAR(estimate[1], estimate[2], 1e-15);
  CHECK_NEAR(estimate[1], estimate[4], 1e-15);
  CHECK_NEAR((w.rowwise().sum().array() - 1).abs().maxCoeff(), 0, 1e-14);
  CHECK(w.minCoeff() >= 0);
  // Almost equal means give almost the same answer.
  VectorXd near = mean;
  near[2] += 1e-9;
  near[4] -= 1e-9;
  CHECK_NEAR((pairwise_weights(near, s, 1, monitor) * near - estimate).cwiseAbs().maxCoeff(), 0, 1e-8);
  // Two tasks: a = 2 / D^2.
  VectorXd two(2), s2(2);
  two << 0, 3;
  s2 << 1, 4;
  MatrixXd a = MatrixXd::Constant(2, 2, 2.0 / 9);
  CHECK_NEAR((pairwise_weights(two, s2, 1, monitor) - equation_9(a, s2, 1)).cwiseAbs().maxCoeff(), 0, 1e-14);
  s[2] = 0;  // a task without noise fixes its cluster
  CHECK_NEAR((pairwise_weights(mean, s, 1, monitor) * mean)[4], 2, 1e-15);
}

TEST("mta: vectors") {
  Monitor monitor;
  Rng rng(4);
  const Index tasks = 6, d = 3;
  MatrixXd mean(tasks, d), root(d, d), a(tasks, tasks);
  for (Index i = 0; i < mean.size(); ++i) mean.data()[i] = rng.normal();
  for (Index i = 0; i < root.size(); ++i) root.data()[i] = rng.normal();
  for (Index i = 0; i < tasks; ++i) {
    for (Index j = 0; j <= i; ++j) a(i, j) = a(j, i) = i == j ? 0 : rng.uniform();
  }
  const MatrixXd common = root * root.transpose();
  VectorXd scale(tasks);
  std::vector<MatrixXd> blocks;
  for (Index t = 0; t < tasks; ++t) {
    scale[t] = 1.0 / static_cast<double>(t + 2);
    blocks.push_back(common * scale[t]);
  }
  const MatrixXd none(0, 0), constant = MatrixXd::Constant(tasks, tasks, 2.0);
  const double gamma = 1.7, tau2 = 1 / (gamma * 2.0);
  // The three ways agree with each other and with the formula of section 4.2.
  MatrixXd big = MatrixXd::Identity(tasks * d, tasks * d);
  const MatrixXd l = laplacian(a);
  for (Index r = 0; r < tasks; ++r) {
    for (Index c = 0; c < tasks; ++c) big.block(r * d, c * d, d, d) += gamma / tasks * l(r, c) * blocks[r];
  }
  VectorXd stacked(tasks * d);
  for (Index t = 0; t < tasks; ++t) stacked.segment(t * d, d) = mean.row(t).transpose();
  const VectorXd solved = big.inverse() * stacked;
  const VectorMeansResult rotated = shrink_vectors(mean, common, scale, a, 1, gamma, monitor);
  const VectorMeansResult direct = shrink_vectors(mean, blocks, a, 1, gamma, monitor);
  for (Index t = 0; t < tasks; ++t) {
    CHECK_NEAR((rotated.estimate.row(t).transpose() - solved.segment(t * d, d)).norm(), 0, 1e-12);
    CHECK_NEAR((direct.estimate.row(t).transpose() - solved.segment(t * d, d)).norm(), 0, 1e-12);
  }
  CHECK_NEAR((rotated.variance - direct.variance).norm(), 0, 1e-12);
  const VectorMeansResult c1 = shrink_vectors(mean, common, scale, none, tau2, gamma, monitor);
  const VectorMeansResult c2 = shrink_vectors(mean, blocks, none, tau2, gamma, monitor);
  const VectorMeansResult c3 = shrink_vectors(mean, blocks, constant, 1, gamma, monitor);
  CHECK_NEAR((c1.estimate - c2.estimate).norm(), 0, 1e-12);
  CHECK_NEAR((c1.estimate - c3.estimate).norm(), 0, 1e-11);
  CHECK_NEAR((c1.variance - c2.variance).norm(), 0, 1e-12);
  CHECK_NEAR((c1.variance - c3.variance).norm(), 0, 1e-11);
  CHECK_NEAR((c1.target - c2.target).norm(), 0, 1e-12);
}

TEST("mta: leave-one-out equals refitting, for every estimator and kind of variance") {
  Monitor monitor;
  Rng rng(5);
  const Samples samples = random_samples(6, rng);
  VectorXd gamma(2);
  gamma << 0.25, 3;
  for (Noise noise : {Noise::pooled, Noise::own, Noise::given}) {
    if (noise == Noise::own) {
      bool small = false;
      for (Index t = 0; t < samples.tasks(); ++t) small = small || samples.size_of(t) < 2;
      CHECK(!small);
    }
    for (Estimator e : {Estimator::single, Estimator::pooled, Estimator::average, Estimator::james_stein,
                        Estimator::james_stein_effective, Estimator::shrink_average, Estimator::constant, Estimator::minimax}) {
      const LooResult fast = loo_risk(samples, noise, e, gamma, monitor);
      for (Index g = 0; g < fast.risk.size(); ++g) CHECK_NEAR(fast.risk[g], refit_risk(samples, noise, e, gamma[g]), 1e-10);
    }
  }
  MatrixXd a(6, 6);
  for (Index i = 0; i < 6; ++i) {
    for (Index j = 0; j < 6; ++j) a(i, j) = i == j ? 0 : 1.0 / static_cast<double>(1 + i + j);
  }
  for (Noise noise : {Noise::pooled, Noise::own, Noise::given}) {
    const LooResult along = along_loo_risk(samples, noise, a, gamma, monitor);
    for (Index g = 0; g < 2; ++g) CHECK_NEAR(along.risk[g], refit_risk(samples, noise, Estimator::single, gamma[g], a), 1e-10);
  }
  CHECK(along_loo_risk(samples, Noise::pooled, MatrixXd(), gamma, monitor).risk.allFinite());
}

TEST("mta: double leave-one-out does not depend on threads, and subsamples tasks") {
  Monitor monitor;
  Rng rng(6);
  const Samples samples = random_samples(12, rng);
  VectorXd gamma(5);
  gamma << 0.1, 0.5, 1, 2, 10;
  const Rng seed(9);
  const DoubleLooResult one = double_loo_risk(samples, Noise::pooled, Estimator::constant, gamma, 6, seed, 1, monitor);
  const DoubleLooResult two = double_loo_risk(samples, Noise::pooled, Estimator::constant, gamma, 6, seed, 2, monitor);
  CHECK(one.risk == two.risk);
  CHECK((one.chosen - two.chosen).norm() == 0);
  VectorXd single(1);
  single << 2;  // a grid of one: the same as leave-one-out
  CHECK_NEAR(double_loo_risk(samples, Noise::pooled, Estimator::minimax, single, 50, seed, 1, monitor).risk,
             loo_risk(samples, Noise::pooled, Estimator::minimax, single, monitor).risk[0], 1e-12);
  const MeansEstimate constant = common_estimate(Estimator::constant);
  const VectorXd split = split_risk(samples, Noise::pooled, constant, gamma, 4, seed, monitor);
  CHECK(split.allFinite() && split.minCoeff() > 0);
  CHECK((split - split_risk(samples, Noise::pooled, constant, gamma, 4, seed, monitor)).norm() == 0);
  // A = 11' with gamma = 1 / var(ybar) of each half is MTA Constant: the same risk by the linear system.
  const MeansEstimate linear = [&](const VectorXd& mean, const VectorXd& s, double g) -> VectorXd {
    const double a = static_cast<double>(mean.size() - 1) / (mean.array() - mean.mean()).square().sum();
    return along_estimate(MatrixXd::Ones(mean.size(), mean.size()), monitor)(mean, s, a * g);
  };
  CHECK((split - split_risk(samples, Noise::pooled, linear, gamma, 4, seed, monitor)).norm() < 1e-10 * split.norm());
}
