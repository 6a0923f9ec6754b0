#include "eigen.h"
#include <vector>

#include "graph/ising_pseudo.h"
#include "graph/ising_splitting.h"
#include "harness.h"

using namespace granary;
using namespace granary::graph;

namespace {

SpinModel random_model(Index n, double density, double size, Rng& rng) {
  SpinModel model{MatrixXd::Zero(n, n), VectorXd(n)};
  for (Index j = 0; j < n; ++j) {
    model.b[j] = rng.uniform(-0.5, 0.5);
    for (Index i = 0; i < j; ++i) {
      if (rng.bernoulli(density)) model.w(i, j) = model.w(j, i) = rng.uniform(-size, size);
    }
  }
  return model;
}

VectorXd state_of(Index s, Index n) {
  VectorXd x(n);
  for (Index i = 0; i < n; ++i) x[i] = s >> i & 1 ? 1 : -1;
  return x;
}

// By the definition, state by state.
SpinMoments brute_force(const SpinModel& model) {
  const Index n = model.b.size();
  SpinMoments result{0, VectorXd::Zero(n), MatrixXd::Zero(n, n)};
  double z = 0;
  for (Index s = 0; s < (Index{1} << n); ++s) {
    const VectorXd x = state_of(s, n);
    const double p = std::exp(x.dot(model.w * x) + model.b.dot(x));
    z += p;
    result.mean += p * x;
    result.second += p * x * x.transpose();
  }
  result.mean /= z;
  result.second /= z;
  result.log_partition = std::log(z);
  return result;
}

double objective_at(const IsingData& data, double rho, const SpinModel& model) {
  return brute_force(model).log_partition - data.second.cwiseProduct(model.w).sum() - data.mean.dot(model.b) +
         rho * model.w.cwiseAbs().sum();
}

}  // namespace

TEST("spin states: energies, moments and log Z equal brute force") {
  Rng rng(1);
  Monitor monitor;
  for (const Index n : {1, 2, 3, 7, 10}) {
    for (const double density : {0.2, 1.0}) {
      const SpinModel model = random_model(n, density, 0.8, rng);
      const SpinMoments exact = exact_moments(model.w, model.b, monitor), brute = brute_force(model);
      CHECK_NEAR(exact.log_partition, brute.log_partition, 1e-11);
      CHECK_NEAR(exact_log_partition(model.w, model.b, monitor), brute.log_partition, 1e-11);
      CHECK_NEAR((exact.mean - brute.mean).cwiseAbs().maxCoeff(), 0, 1e-12);
      CHECK_NEAR((exact.second - brute.second).cwiseAbs().maxCoeff(), 0, 1e-12);
      const VectorXd energy = spin_energies(model.w, model.b);
      for (Index s = 0; s < energy.size(); s += 3) {
        const VectorXd x = state_of(s, n);
        CHECK_NEAR(energy[s], x.dot(model.w * x) + model.b.dot(x), 1e-12);
      }
      CHECK_NEAR(spin_probabilities(model.w, model.b).sum(), 1, 1e-12);
    }
  }
}

TEST("spin states: the pruned transform agrees with the full Walsh-Hadamard transform") {
  Rng rng(2);
  const Index n = 8;
  const SpinModel model = random_model(n, 1, 0.5, rng);
  VectorXd p = spin_probabilities(model.w, model.b), full = p, mean;
  walsh_hadamard(full);
  double total = 0;
  MatrixXd second;
  spin_moments_of(p, n, total, mean, second);
  CHECK_NEAR(full[0], total, 1e-12);
  for (Index i = 0; i < n; ++i) {
    CHECK_NEAR(full[Index{1} << i], mean[i], 1e-12);
    for (Index j = 0; j < i; ++j) CHECK_NEAR(full[(Index{1} << i) | (Index{1} << j)], second(i, j), 1e-12);
  }
}

TEST("spin states: chains have log Z = n log 2 + sum log cosh(2 w), and huge couplings do not overflow") {
  Monitor monitor;
  const Index n = 12;
  for (const double w : {1e-8, 0.3, 4.0, 1e4, 1e8}) {
    SpinModel chain{MatrixXd::Zero(n, n), VectorXd::Zero(n)};
    for (Index i = 0; i + 1 < n; ++i) chain.w(i, i + 1) = chain.w(i + 1, i) = i % 2 ? w : -w;
    const double log_cosh = 2 * w + std::log1p(std::exp(-4 * w)) - std::log(2.0);
    const double want = n * std::log(2.0) + (n - 1) * log_cosh;
    const SpinMoments exact = exact_moments(chain.w, chain.b, monitor);
    CHECK_NEAR(exact.log_partition / want, 1, 1e-12);
    CHECK_NEAR(exact.second(0, 1), -std::tanh(2 * w), 1e-12);
    CHECK_NEAR(exact.second(0, 2), -std::tanh(2 * w) * std::tanh(2 * w), 1e-12);
  }
}

TEST("spin states: components, the limit of enumeration, divergence and bad models") {
  Monitor monitor;
  Rng rng(3);
  const Index n = 40;
  SpinModel pairs{MatrixXd::Zero(n, n), VectorXd::Zero(n)};
  for (Index i = 0; i < n; i += 2) pairs.w(i, i + 1) = pairs.w(i + 1, i) = 0.25;
  CHECK_NEAR(exact_log_partition(pairs.w, pairs.b, monitor), n * std::log(2.0) + n / 2 * std::log(std::cosh(0.5)), 1e-10);
  CHECK(largest_component(pairs.w) == 2);
  CHECK(exact_spin_sample(pairs.w, pairs.b, 10, rng, monitor).cwiseAbs().minCoeff() == 1);
  MatrixXd full = MatrixXd::Constant(26, 26, 0.01);
  full.diagonal().setZero();
  CHECK_THROWS(exact_moments(full, VectorXd::Zero(26), monitor), InputError);
  const SpinModel p = random_model(6, 0.6, 0.7, rng), q = random_model(6, 0.6, 0.7, rng);
  const VectorXd pp = spin_probabilities(p.w, p.b), pq = spin_probabilities(q.w, q.b);
  CHECK_NEAR(spin_divergence(p, q, monitor), (pp.array() * (pp.array() / pq.array()).log()).sum(), 1e-12);
  CHECK_NEAR(spin_divergence(p, p, monitor), 0, 1e-14);
  MatrixXd skew = MatrixXd::Zero(2, 2);
  skew(0, 1) = 1;
  CHECK_THROWS(require_spin_model(skew, VectorXd::Zero(2)), InputError);
  CHECK_THROWS(require_spin_model(MatrixXd::Identity(2, 2), VectorXd::Zero(2)), InputError);
  CHECK_THROWS(require_spin_model(MatrixXd::Zero(2, 2), VectorXd::Zero(3)), InputError);
}

TEST("moments: belief propagation is exact on trees, mean field bounds log Z, samplers are within four standard errors") {
  Monitor monitor;
  Rng rng(4);
  const Index n = 9;
  SpinModel tree{MatrixXd::Zero(n, n), VectorXd(n)};
  for (Index i = 0; i < n; ++i) {
    tree.b[i] = rng.uniform(-0.5, 0.5);
    if (i > 0) {
      const Index parent = static_cast<Index>(rng.below(i));
      tree.w(i, parent) = tree.w(parent, i) = rng.uniform(-0.6, 0.6);
    }
  }
  MatrixXd chains;
  MomentOptions options;
  const SpinMoments exact = exact_moments(tree.w, tree.b, monitor);
  const MomentResult belief = spin_moments(tree.w, tree.b, MomentMethod::belief, options, chains, rng, monitor);
  CHECK(belief.convergence.converged);
  CHECK_NEAR(belief.log_partition, exact.log_partition, 1e-6);
  CHECK_NEAR((belief.mean - exact.mean).cwiseAbs().maxCoeff(), 0, 1e-6);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      if (tree.w(i, j) != 0) CHECK_NEAR(belief.second(i, j), exact.second(i, j), 1e-6);
    }
  }
  const SpinModel dense = random_model(n, 0.5, 0.25, rng);
  const SpinMoments truth = exact_moments(dense.w, dense.b, monitor);
  const MomentResult field = spin_moments(dense.w, dense.b, MomentMethod::mean_field, options, chains, rng, monitor);
  CHECK(field.log_partition <= truth.log_partition);
  CHECK(field.log_partition > truth.log_partition - 1);
  options.samples = 20000;
  options.sweeps = 20;
  for (const MomentMethod method : {MomentMethod::gibbs, MomentMethod::importance, MomentMethod::persistent}) {
    const MomentResult drawn = spin_moments(dense.w, dense.b, method, options, chains, rng, monitor);
    const double error = 4 / std::sqrt(std::min(20000.0, drawn.effective_samples));
    CHECK_NEAR((drawn.mean - truth.mean).cwiseAbs().maxCoeff(), 0, error);
    CHECK_NEAR((drawn.second - truth.second).cwiseAbs().maxCoeff(), 0, error);
    if (method == MomentMethod::importance) CHECK_NEAR(drawn.log_partition, truth.log_partition, 0.1);
  }
}

TEST("samples: the exact and the Gibbs sampler have the moments of the model") {
  Monitor monitor;
  Rng rng(5);
  const SpinModel model = random_model(7, 0.5, 0.4, rng);
  const SpinMoments exact = exact_moments(model.w, model.b, monitor);
  for (const bool by_gibbs : {false, true}) {
    const Index rows = 20000;
    const MatrixXd x = by_gibbs ? gibbs_spin_sample(model.w, model.b, rows, 100, 5, rng, monitor)
                                : exact_spin_sample(model.w, model.b, rows, rng, monitor);
    const MatrixXd second = x.transpose() * x / static_cast<double>(rows);
    CHECK_NEAR((second - exact.second).cwiseAbs().maxCoeff(), 0, (by_gibbs ? 6 : 4) / std::sqrt(20000.0));
  }
}

TEST("likelihood: optimality, bounds, the gap, and the null model above the largest penalty") {
  Monitor monitor;
  Rng rng(6);
  const SpinModel truth = random_model(7, 0.4, 0.6, rng);
  const MatrixXd x = exact_spin_sample(truth.w, truth.b, 200, rng, monitor);
  const IsingData data = ising_data(x);
  IsingObjective objective;
  for (const double rho : {0.3, 0.1, 0.02}) {
    objective.rho = rho;
    IsingLikelihoodOptions options;
    options.tol = 1e-9;
    const IsingFit fit = ising_likelihood(data, objective, SpinModel(), options, monitor);
    CHECK(fit.convergence.converged);
    CHECK(fit.convergence.residual <= 1e-9);
    CHECK(fit.convergence.gap >= 0 && fit.convergence.gap < 1e-6);
    CHECK(fit.theorem_bound >= 0 && fit.theorem_bound < 1e-4);
    CHECK_NEAR(fit.objective, objective_at(data, rho, fit.model), 1e-10);
    // no random neighbour is better
    for (int k = 0; k < 20; ++k) {
      const SpinModel step = random_model(7, 0.5, 0.01, rng);
      CHECK(objective_at(data, rho, {fit.model.w + step.w, fit.model.b + 0.02 * step.b}) >= fit.objective - 1e-12);
    }
    const IsingBounds bounds = ising_bounds(data, rho, false);
    CHECK(fit.model.w.cwiseAbs().sum() <= bounds.couplings);
    CHECK(fit.model.b.cwiseAbs().sum() <= bounds.fields);
  }
  MatrixXd covariance = data.second - data.mean * data.mean.transpose();
  covariance.diagonal().setZero();
  objective.rho = covariance.cwiseAbs().maxCoeff();
  CHECK(ising_likelihood(data, objective, SpinModel(), {}, monitor).model.w.cwiseAbs().maxCoeff() == 0);
  objective.rho *= 0.995;
  CHECK((ising_likelihood(data, objective, SpinModel(), {}, monitor).model.w.array() != 0).count() == 2);
}

TEST("likelihood: two variables reproduce the log odds ratio; ridge and mask; penalised fields") {
  Monitor monitor;
  MatrixXd x(10, 2);
  x << 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, 1, -1, 1, -1, -1, -1, -1, -1, -1;
  IsingObjective objective;
  IsingLikelihoodOptions options;
  options.tol = 1e-10;
  const IsingFit fit = ising_likelihood(ising_data(x), objective, SpinModel(), options, monitor);
  CHECK_NEAR(8 * fit.model.w(0, 1), std::log(4.0 * 3 / (1.0 * 2)), 1e-6);
  objective.penalty = IsingPenalty::ridge;
  objective.rho = 0.2;
  const IsingFit ridge = ising_likelihood(ising_data(x), objective, SpinModel(), options, monitor);
  CHECK(ridge.convergence.converged);
  CHECK(ridge.model.w(0, 1) > 0 && ridge.model.w(0, 1) < fit.model.w(0, 1));
  objective.mask = MatrixXd::Zero(2, 2);
  CHECK(ising_likelihood(ising_data(x), objective, SpinModel(), options, monitor).model.w.cwiseAbs().maxCoeff() == 0);
  IsingObjective both;
  both.rho = 0.05;
  both.field_penalty = true;
  MatrixXd constant = x;
  constant.col(1).setOnes();
  const IsingFit bounded = ising_likelihood(ising_data(constant), both, SpinModel(), {}, monitor);
  CHECK(bounded.convergence.converged);
  CHECK(bounded.model.b.allFinite() && bounded.model.b[1] > 0);
}

TEST("likelihood: the duality gap bounds the distance to the optimum from anywhere, and vanishes at it") {
  Monitor monitor;
  Rng rng(16);
  for (int round = 0; round < 30; ++round) {
    const Index n = 4 + round % 3;
    const SpinModel truth = random_model(n, 0.6, 0.6, rng);
    const IsingData data = ising_data(exact_spin_sample(truth.w, truth.b, 60, rng, monitor));
    CHECK(data.entropy > 0 && data.entropy <= std::log(60.0) + 1e-12);
    IsingObjective objective;
    objective.rho = 0.02 + 0.2 * rng.uniform();
    objective.penalty = round % 3 == 0 ? IsingPenalty::ridge : IsingPenalty::l1;
    objective.field_penalty = round % 2 == 0;
    if (round % 5 == 0) {
      objective.mask = MatrixXd::Ones(n, n);
      objective.mask(0, 1) = objective.mask(1, 0) = 0;
    }
    IsingLikelihoodOptions options;
    options.tol = 1e-10;
    const IsingFit best = ising_likelihood(data, objective, SpinModel(), options, monitor);
    CHECK(best.convergence.gap >= 0 && best.convergence.gap < 1e-7);
    for (const double size : {1e-6, 1e-3, 0.1, 1.0}) {
      const SpinModel step = random_model(n, 1, size, rng);
      IsingFit other;
      other.model = {best.model.w + step.w, best.model.b + size * step.b};
      if (objective.mask.size() > 0) other.model.w = other.model.w.cwiseProduct(objective.mask);
      certify_likelihood(data, objective, other, monitor);
      CHECK(other.convergence.gap >= other.objective - best.objective - 1e-12);
      // A lower bound that bounds: below the minimum, and of its size once the point is near.
      CHECK(other.objective - other.convergence.gap <= best.objective + 1e-12);
      if (size <= 1e-6) CHECK(other.convergence.gap < 1e-3);
    }
  }
  IsingObjective free;
  const IsingData data = ising_data(exact_spin_sample(MatrixXd::Zero(3, 3), VectorXd::Zero(3), 40, rng, monitor));
  IsingFit fit;
  fit.model = {MatrixXd::Zero(3, 3), VectorXd::Zero(3)};
  certify_likelihood(data, free, fit, monitor);
  CHECK(std::isnan(fit.convergence.gap));
}

TEST("pseudo-likelihood: gradient by differences, optimality, gap, and the symmetric null model") {
  Monitor monitor;
  Rng rng(7);
  const SpinModel truth = random_model(8, 0.4, 0.5, rng);
  const MatrixXd x = exact_spin_sample(truth.w, truth.b, 300, rng, monitor);
  const auto loss = [&](const SpinModel& model) {  // by the definition
    double total = 0;
    for (Index t = 0; t < x.rows(); ++t) {
      for (Index i = 0; i < x.cols(); ++i) {
        total += std::log1p(std::exp(-2 * x(t, i) * (model.b[i] + 2 * model.w.col(i).dot(x.row(t).transpose()))));
      }
    }
    return total / static_cast<double>(x.rows());
  };
  CHECK_NEAR(pseudo_loss(x, truth), loss(truth), 1e-12);
  IsingObjective objective;
  IsingPseudoOptions options;
  options.tol = 1e-9;
  for (const double rho : {0.3, 0.05, 0.01}) {
    objective.rho = rho;
    const IsingFit fit = ising_pseudo(x, objective, SpinModel(), options, monitor);
    CHECK(fit.convergence.converged);
    CHECK(fit.convergence.gap >= 0 && fit.convergence.gap < 1e-6);
    const auto total = [&](const SpinModel& m) { return loss(m) + rho * m.w.cwiseAbs().sum(); };
    CHECK_NEAR(fit.objective, total(fit.model), 1e-10);
    for (int k = 0; k < 20; ++k) {
      const SpinModel step = random_model(8, 0.5, 0.01, rng);
      CHECK(total({fit.model.w + step.w, fit.model.b + 0.02 * step.b}) >= fit.objective - 1e-12);
    }
  }
  const IsingData data = ising_data(x);
  MatrixXd covariance = data.second - data.mean * data.mean.transpose();
  covariance.diagonal().setZero();
  objective.rho = 2 * covariance.cwiseAbs().maxCoeff();
  CHECK(ising_pseudo(x, objective, SpinModel(), options, monitor).model.w.cwiseAbs().maxCoeff() == 0);
  objective.rho *= 0.99;
  CHECK((ising_pseudo(x, objective, SpinModel(), options, monitor).model.w.array() != 0).count() == 2);
  objective.rho = 0.1;
  objective.penalty = IsingPenalty::ridge;
  const IsingFit ridge = ising_pseudo(x, objective, SpinModel(), options, monitor);
  CHECK(ridge.convergence.converged);
  CHECK(ridge.convergence.gap < 1e-6);
}

TEST("splitting: the first step is in closed form, and exact steps approach the optimum") {
  Monitor monitor;
  Rng rng(8);
  const SpinModel truth = random_model(6, 0.5, 0.6, rng);
  const MatrixXd x = exact_spin_sample(truth.w, truth.b, 100, rng, monitor);
  const IsingData data = ising_data(x);
  IsingObjective objective;
  objective.rho = 0.05;
  SplittingOptions options;
  options.sampler = MomentMethod::exact;
  options.samples.assign(1, 1);
  const SplittingResult one = ising_splitting(data, objective, options, rng, monitor);
  const double g = ising_bounds(data, 0.05, false).lipschitz, eta1 = 1 / g, eta2 = 1 / (g * std::sqrt(2.0));
  for (Index i = 0; i < 6; ++i) {
    CHECK_NEAR(one.last.b[i], eta1 * data.mean[i], 1e-14);
    for (Index j = 0; j < 6; ++j) {
      const double want = eta1 * data.second(i, j), shrunk = std::max(0.0, std::abs(want) - eta2 * 0.05) * (want > 0 ? 1 : -1);
      CHECK_NEAR(one.last.w(i, j), shrunk, 1e-14);
    }
  }
  IsingLikelihoodOptions tight;
  tight.tol = 1e-9;
  const IsingFit best = ising_likelihood(data, objective, SpinModel(), tight, monitor);
  options.samples.assign(3000, 1);
  options.r = 0;
  options.tol = 1e-6;
  const SplittingResult basic = ising_splitting(data, objective, options, rng, monitor);
  CHECK_NEAR(basic.fit.objective, best.objective, 1e-4);
  options.accelerated = true;
  const SplittingResult fast = ising_splitting(data, objective, options, rng, monitor);
  CHECK(fast.fit.convergence.converged);
  CHECK_NEAR(fast.fit.objective, best.objective, 1e-9);
  options.accelerated = false;
  options.r = 0.5;
  options.sampler = MomentMethod::gibbs;
  options.samples.assign(500, 20);
  double last = 0, robust = 0;
  Rng again(9), once_more(9);
  const SplittingResult a = ising_splitting(data, objective, options, again, monitor);
  const SplittingResult b = ising_splitting(data, objective, options, once_more, monitor);
  CHECK((a.fit.model.w - b.fit.model.w).cwiseAbs().maxCoeff() == 0);
  last = a.objective_last.back() - best.objective;
  robust = a.objective_robust.back() - best.objective;
  CHECK(last > 0 && robust > last && robust < 1);
  options.samples.clear();
  CHECK_THROWS(ising_splitting(data, objective, options, rng, monitor), InputError);
}

TEST("nodewise: at rho = 0 two variables give the log odds ratio, and rules join rows") {
  Monitor monitor;
  Rng rng(10);
  const SpinModel truth = random_model(6, 0.5, 0.5, rng);
  const MatrixXd x = exact_spin_sample(truth.w, truth.b, 2000, rng, monitor);
  const NodewiseResult rows = nodewise(x, 0.02, 1, 1e-8, monitor), twice = nodewise(x, 0.02, 2, 1e-8, monitor);
  CHECK((rows.coefficients - twice.coefficients).cwiseAbs().maxCoeff() == 0);
  // optimality of every regression in the units of W
  for (Index i = 0; i < 6; ++i) {
    VectorXd slope = VectorXd::Zero(6);
    for (Index t = 0; t < x.rows(); ++t) {
      const double field = rows.intercept[i] + 2 * rows.coefficients.row(i).dot(x.row(t));
      slope -= 4 / (1 + std::exp(2 * x(t, i) * field)) * x(t, i) * x.row(t).transpose() / static_cast<double>(x.rows());
    }
    for (Index j = 0; j < 6; ++j) {
      if (j == i) continue;
      const double w = rows.coefficients(i, j);
      CHECK(w != 0 ? std::abs(slope[j] + (w > 0 ? 0.02 : -0.02)) < 1e-6 : std::abs(slope[j]) <= 0.02 + 1e-6);
    }
  }
  const SpinModel both = join_nodewise(rows, true), either = join_nodewise(rows, false);
  CHECK((both.w.array() != 0).count() <= (either.w.array() != 0).count());
  const NodewiseResult chosen = nodewise_ebic(x, 0.25, 50, 1, 1e-6, monitor);
  const SpinModel model = join_nodewise(chosen, true);
  for (Index j = 0; j < 6; ++j) {
    for (Index i = 0; i < j; ++i) {
      if (std::abs(truth.w(i, j)) > 0.15) CHECK(model.w(i, j) * truth.w(i, j) > 0);
    }
  }
}

TEST("belief propagation is exact on a tree, also for variables that are not neighbours") {
  Monitor monitor;
  MatrixXd w = MatrixXd::Zero(6, 6);
  const int parent[] = {-1, 0, 0, 1, 1, 4};
  for (int v = 1; v < 6; ++v) w(v, parent[v]) = w(parent[v], v) = 0.2 * v - 0.3;
  const VectorXd b = VectorXd::LinSpaced(6, -0.4, 0.5);
  const SpinMoments truth = exact_moments(w, b, monitor);
  MomentOptions options;
  options.tol = 1e-12;
  options.max_iter = 2000;
  const MomentResult beliefs = belief_moments(w, b, options, monitor);
  MatrixXd second = beliefs.second;
  second.diagonal().setOnes();
  CHECK_NEAR((second - truth.second).cwiseAbs().maxCoeff(), 0.0, 1e-8);
}
