// Boosting: textbook forms, the promises of each round, sets of labels, potentials, kept trees, and mixtures of kernels.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "ensemble/boost.h"
#include "ensemble/boost_kernels.h"
#include "ensemble/boost_theory.h"
#include "ensemble/potential.h"
#include "harness.h"

using namespace granary;
using namespace granary::ensemble;

namespace {

struct Sample {
  MatrixXd x;
  VectorXd y;
};

// Classes by angle, with some labels wrong.
Sample ring(std::uint64_t seed, Index n, int k, double wrong = 0.1) {
  Rng rng(seed);
  Sample s;
  s.x.resize(n, 3);
  s.y.resize(n);
  for (Index i = 0; i < n; ++i) {
    const double angle = rng.uniform(0, 2 * M_PI);
    s.y[i] = std::min<double>(k - 1, std::floor(angle / (2 * M_PI) * k));
    if (rng.bernoulli(wrong)) s.y[i] = static_cast<double>(rng.below(static_cast<std::uint64_t>(k)));
    s.x(i, 0) = std::cos(angle);
    s.x(i, 1) = std::sin(angle);
    s.x(i, 2) = rng.normal();
  }
  return s;
}

Design design_of(const MatrixXd& x) { return Design(MatrixView(x.data(), x.rows(), x.cols())); }

BoostResult fit(const Sample& s, const BoostOptions& o, std::uint64_t seed = 1) {
  Rng rng(seed);
  Monitor monitor;
  return boost(design_of(s.x), s.y, VectorXd(), o, {}, rng, monitor);
}

BoostOptions options(BoostMethod method, int classes, int rounds = 30) {
  BoostOptions o;
  o.method = method;
  o.classes = classes;
  o.n_rounds = rounds;
  return o;
}

}  // namespace

TEST("for two classes the adaptive booster is textbook AdaBoost") {
  const Sample s = ring(1, 80, 2);
  BoostOptions o = options(BoostMethod::adaptive, 2, 15);
  o.max_leaves = 2;
  const BoostResult found = fit(s, o);
  // stumps by brute force over columns and thresholds
  VectorXd d = VectorXd::Constant(80, 1.0 / 80), vote = VectorXd::Zero(80);
  for (int t = 0; t < 15; ++t) {
    double least = 1;
    VectorXd best;
    for (Index j = 0; j < 3; ++j)
      for (Index cut = 0; cut < 80; ++cut)
        for (const int left : {0, 1}) {
          VectorXd h(80);
          for (Index i = 0; i < 80; ++i) h[i] = (s.x(i, j) <= s.x(cut, j)) == (left == 1) ? 1 : 0;
          double error = 0;
          for (Index i = 0; i < 80; ++i) error += h[i] != s.y[i] ? d[i] : 0;
          if (error < least - 1e-13) {
            least = error;
            best = h;
          }
        }
    CHECK_NEAR(found.edge[static_cast<std::size_t>(t)], 1 - 2 * least, 1e-10);
    const double alpha = 0.5 * std::log((1 - least) / least);
    CHECK_NEAR(found.alpha[static_cast<std::size_t>(t)], alpha, 1e-9);
    for (Index i = 0; i < 80; ++i) d[i] *= std::exp(best[i] == s.y[i] ? -alpha : alpha);
    d /= d.sum();
  }
}

TEST("each round keeps its promise") {
  for (const int k : {3, 5}) {
    const Sample s = ring(2, 150, k);
    for (const BoostMethod method : {BoostMethod::adaptive, BoostMethod::m2})
      for (const BoostStep step : {BoostStep::paper, BoostStep::exact}) {
        BoostOptions o = options(method, k);
        o.step = step;
        const BoostResult found = fit(s, o);
        double before = std::log(k - 1.0);
        for (std::size_t t = 0; t < found.alpha.size(); ++t) {
          CHECK(found.loss[t] <= before + 0.5 * std::log1p(-found.edge[t] * found.edge[t]) + 1e-9);
          CHECK(found.error[t] <= std::exp(found.loss[t]) + 1e-9);
          CHECK(found.loss[t] <= found.bound[t] + 1e-9);
          before = found.loss[t];
        }
      }
  }
}

TEST("answers that are sets are the cheapest sets, and have the larger edge") {
  const Sample s = ring(3, 60, 4);
  Rng rng(4);
  MatrixXd costs(4, 60);
  for (Index i = 0; i < costs.size(); ++i) costs.data()[i] = rng.normal();
  costs.rowwise() -= costs.colwise().mean();
  Monitor monitor;
  TreeLearner learner(design_of(s.x), VectorXi(), 2, 1, 1);
  const MatrixXd said = learner.learn_sets(costs, rng, monitor);
  double least = 0;
  for (Index j = 0; j < 3; ++j)
    for (Index cut = 0; cut < 60; ++cut) {
      VectorXd left = VectorXd::Zero(4), right = VectorXd::Zero(4);
      for (Index i = 0; i < 60; ++i) (s.x(i, j) <= s.x(cut, j) ? left : right) += costs.col(i);
      least = std::min(least, left.cwiseMin(0.0).sum() + right.cwiseMin(0.0).sum());
    }
  CHECK_NEAR(costs.cwiseProduct(said).sum(), least, 1e-9);
  CHECK(((said.array() == 0) || (said.array() == 1)).all());
  const BoostResult one = fit(s, options(BoostMethod::adaptive, 4, 1)), sets = fit(s, options(BoostMethod::m2, 4, 1));
  CHECK(sets.edge[0] >= one.edge[0] - 1e-12);
  // where answers are single labels anyway the two are one
  MatrixXd pool(60, 8);
  for (Index i = 0; i < pool.size(); ++i) pool.data()[i] = rng.bernoulli(0.45) ? s.y[i % 60] : static_cast<double>(rng.below(4));
  Sample of_pool{pool, s.y};
  BoostOptions o = options(BoostMethod::adaptive, 4, 12);
  o.learner = LearnerKind::pool;
  const BoostResult a = fit(of_pool, o);
  o.method = BoostMethod::m2;
  const BoostResult b = fit(of_pool, o);
  CHECK(a.alpha == b.alpha && a.picks == b.picks && a.loss == b.loss);
}

TEST("AdaBoost.MH with sets keeps its bound and its Hamming loss falls") {
  const Sample s = ring(5, 120, 4);
  BoostOptions o = options(BoostMethod::mh, 4, 25);
  o.sets = true;
  const BoostResult found = fit(s, o);
  CHECK(found.alpha.size() == 25);
  for (std::size_t t = 1; t < found.loss.size(); ++t)
    CHECK(found.loss[t] <= found.loss[t - 1] + 1e-12 && found.loss[t] <= found.bound[t] + 1e-9);
  o.sets = false;
  CHECK(found.edge[0] >= fit(s, o).edge[0] - 1e-12);
}

TEST("edges and steps prescribed round by round give their product of factors") {
  const Sample s = ring(6, 100, 3, 0);
  BoostOptions o = options(BoostMethod::fixed_edge, 3, 10);
  o.edge = {0.2};
  const BoostResult one = fit(s, o);
  o.edge = std::vector<double>(10, 0.2);
  const BoostResult many = fit(s, o);
  CHECK(one.alpha == many.alpha && one.loss == many.loss && one.bound == many.bound);
  for (int t = 0; t < 10; ++t) o.edge[static_cast<std::size_t>(t)] = 0.25 - 0.02 * t;
  o.eta = {0.3, 0.2, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1};
  const BoostResult falling = fit(s, o);
  double bound = std::log(2.0);
  bool promised = true;
  for (std::size_t t = 0; t < falling.alpha.size(); ++t) {
    CHECK_NEAR(falling.alpha[t], o.eta[t], 0);
    bound += std::log(contraction(o.edge[t], o.eta[t], 3));
    CHECK_NEAR(falling.bound[t], bound, 1e-12);
    promised = promised && falling.edge[t] >= o.edge[t];
    if (promised) CHECK(falling.loss[t] <= bound + 1e-9);
  }
  o.edge.pop_back();
  CHECK_THROWS(fit(s, o), InputError);
  BoostOptions exact = options(BoostMethod::minimax01, 3, 10);
  exact.edge = std::vector<double>(10, 0.2);
  CHECK_THROWS(fit(s, exact), InputError);
}

TEST("potentials are means over the votes to come: written out, by recursion and by random votes") {
  VectorXd b(3);
  b << 0.5, 0.3, 0.2;
  for (const int t : {0, 1, 5, 9}) {
    const VoteOutcomes all = vote_outcomes(t, b);
    CHECK(all.votes.rows() == (t + 1) * (t + 2) / 2);
    CHECK((all.votes.rowwise().sum().array() == t).all());
    CHECK_NEAR(all.log_prob.array().exp().sum(), 1, 1e-12);
    const std::vector<int> state = {1, 2, 0};
    double zero_one = 0, exponential = 0;
    VectorXd eta(2);
    eta << 0.4, 0.9;
    for (Index r = 0; r < all.votes.rows(); ++r) {
      const int s0 = state[0] + all.votes(r, 0), s1 = state[1] + all.votes(r, 1), s2 = state[2] + all.votes(r, 2);
      zero_one += std::exp(all.log_prob[r]) * (s0 <= std::max(s1, s2));
      exponential += std::exp(all.log_prob[r]) * (std::exp(0.4 * (s1 - s0)) + std::exp(0.9 * (s2 - s0)));
    }
    CHECK_NEAR(ZeroOnePotential(b)(state, t), zero_one, 1e-12);
    CHECK_NEAR(exponential_potential(state, t, b, eta), exponential, 1e-10 * exponential);
    ZeroOnePotential random(b, 40000);
    Rng rng(7);
    random.draw(rng);
    CHECK_NEAR(random(state, t), zero_one, 0.015);
  }
  CHECK_THROWS(vote_outcomes(2000, VectorXd::Constant(6, 1.0 / 6)), InputError);
  const Sample s = ring(8, 60, 3);
  BoostOptions o = options(BoostMethod::minimax01, 3, 12);
  const BoostResult exact = fit(s, o);
  o.n_draws = 20000;
  const BoostResult drawn = fit(s, o);
  CHECK_NEAR(drawn.loss[0], exact.loss[0], 0.1);
  CHECK(drawn.alpha == fit(s, o).alpha && drawn.loss == fit(s, o).loss);
}

TEST("trees that do the same are kept once, and predict as before") {
  Sample s = ring(9, 24, 2, 0.2);
  s.x.col(2).setZero();
  BoostOptions o = options(BoostMethod::star, 2, 400);
  o.max_leaves = 2;
  const BoostResult found = fit(s, o);
  CHECK(found.trees.size() < static_cast<int>(found.alpha.size()) / 4);
  CHECK(found.picks.size() == found.alpha.size());
  Monitor monitor;
  const BoostRounds rounds{Eigen::Map<const VectorXd>(found.alpha.data(), static_cast<Index>(found.alpha.size())), found.picks};
  const int last = static_cast<int>(found.alpha.size());
  const MatrixXd score = boost_score(design_of(s.x), found.trees, rounds, last, 1, monitor);
  CHECK((score - found.score).cwiseAbs().maxCoeff() < 1e-10);
  const Eigen::MatrixXi staged = boost_staged(design_of(s.x), found.trees, rounds, last, 2, monitor);
  for (Index i = 0; i < 24; ++i) {
    CHECK(staged(i, last - 1) == (score(i, 1) > score(i, 0) ? 1 : 0));
    CHECK(staged(i, 0) == (boost_score(design_of(s.x), found.trees, rounds, 1, 1, monitor)(i, 1) > 0.5 ? 1 : 0));
  }
  BoostRounds bad = rounds;
  bad.picks[0] = found.trees.size();
  CHECK_THROWS(boost_score(design_of(s.x), found.trees, bad, last, 1, monitor), InputError);
}

TEST("three rows, three answers: AdaBoost cycles at the golden ratio, star finds a third") {
  MatrixXd u = MatrixXd::Ones(3, 3) - 2 * MatrixXd::Identity(3, 3);
  const Sample s{u, VectorXd::Ones(3)};
  BoostOptions o = options(BoostMethod::adaboost, 2, 300);
  o.learner = LearnerKind::pool;
  CHECK_NEAR(fit(s, o).edge.back(), (std::sqrt(5.0) - 1) / 2, 1e-6);
  o.method = BoostMethod::star;
  o.nu = 0.02;
  o.n_rounds = static_cast<int>(std::ceil(star_rounds(3, 0.02)));
  const BoostResult star = fit(s, o);
  CHECK(star.lower <= 1.0 / 3 + 1e-12 && star.upper_bound >= 1.0 / 3 - 1e-12 && star.upper_bound - star.lower <= 0.02 + 1e-12);
}

TEST("star closes its gap in the rounds of Theorem 6, and the program agrees") {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    Rng rng(seed);
    const Index n = 20 + static_cast<Index>(rng.below(40));
    MatrixXd u(n, 30);
    for (Index i = 0; i < u.size(); ++i) u.data()[i] = seed % 2 ? rng.uniform(-1, 1) : rng.bernoulli(0.6) ? 1 : -1;
    Monitor monitor;
    const MarginGame exact = margin_game(u, true, 0, 0, monitor), steps = margin_game(u, false, 0.1, 1000000, monitor);
    CHECK(exact.convergence.converged && exact.upper - exact.value <= 1e-9);
    CHECK(steps.convergence.converged && steps.value <= exact.value + 1e-9 && steps.upper >= exact.value - 1e-9);
    CHECK(steps.convergence.iterations <= std::ceil(star_rounds(static_cast<double>(n), 0.1 / u.cwiseAbs().maxCoeff())));
  }
}

TEST("mixtures of kernels: one kernel is its machine, equal kernels are one, more kernels are no worse") {
  Rng rng(11);
  const Index n = 40;
  MatrixXd x(n, 2);
  VectorXd y(n);
  for (Index i = 0; i < x.size(); ++i) x.data()[i] = rng.normal();
  for (Index i = 0; i < n; ++i) y[i] = x.row(i).squaredNorm() + 0.3 * rng.normal() > 1.4 ? 1 : -1;
  const MatrixXd linear = x * x.transpose();
  const MatrixXd square = (linear.array() + 1).square();
  const auto beside = [&](const std::vector<MatrixXd>& all) {
    MatrixXd out(n, n * static_cast<Index>(all.size()));
    for (std::size_t j = 0; j < all.size(); ++j) out.middleCols(static_cast<Index>(j) * n, n) = all[j];
    return out;
  };
  const auto mix = [&](const std::vector<MatrixXd>& all, KernelBoost method) {
    KernelBoostOptions o;
    o.method = method;
    o.nu = 0.05;
    o.max_iter = 5000;
    Monitor monitor;
    return boost_kernels(beside(all), y, o, monitor);
  };
  const KernelBoostResult one = mix({linear}, KernelBoost::lp), other = mix({square}, KernelBoost::lp);
  // optimality of the machine, from the kernel alone: y f >= 1 where a = 0, <= 1 where a = C
  for (Index i = 0; i < n; ++i) {
    const double a = y[i] * one.coefficients[i], margin = y[i] * one.decision[i];
    CHECK(a >= -1e-12 && a <= 1 + 1e-12);
    if (a < 1e-9) CHECK(margin >= 1 - 1e-4);
    if (a > 1 - 1e-9) CHECK(margin <= 1 + 1e-4);
  }
  CHECK_NEAR(one.coefficients.sum(), 0, 1e-9);
  CHECK_NEAR(one.objective, one.single[0], 1e-5 * one.objective);
  for (const KernelBoost method : {KernelBoost::lp, KernelBoost::star}) {
    CHECK_NEAR(mix({linear, linear, linear}, method).objective, one.objective, 1e-4 * one.objective);
    const KernelBoostResult both = mix({linear, square}, method);
    CHECK(both.convergence.converged);
    CHECK(both.lower <= both.upper + 1e-12);
    CHECK_NEAR(both.beta.sum(), 1, 1e-9);
    CHECK((both.beta.array() >= 0).all());
    const KernelBoostResult three = mix({linear, square, MatrixXd::Identity(n, n)}, method);
    CHECK(three.lower <= both.upper * (1 + 1e-6));
  }
  const KernelBoostResult lp = mix({linear, square}, KernelBoost::lp), star = mix({linear, square}, KernelBoost::star);
  CHECK(lp.upper <= std::min(one.objective, other.objective) * (1 + 1e-3));
  CHECK(star.lower <= lp.upper * (1 + 1e-6) && star.upper >= lp.lower * (1 - 1e-6));
  KernelBoostOptions o;
  Monitor monitor;
  o.cost = 0;
  CHECK_THROWS(boost_kernels(linear, y, o, monitor), InputError);
  CHECK_THROWS(boost_kernels(linear, VectorXd::Ones(n), KernelBoostOptions(), monitor), InputError);
  CHECK(smallest_share(linear) > -1e-12 && smallest_share(linear - 5 * MatrixXd::Identity(n, n)) < 0);
}

TEST("neither the order of the rows nor the names of the classes nor a second copy of every row matters") {
  const Sample s = ring(12, 70, 3);
  const auto order = Rng(13).permutation(70);
  Sample moved = s, twice{MatrixXd(140, 3), VectorXd(140)};
  for (Index i = 0; i < 70; ++i) {
    moved.x.row(i) = s.x.row(order[static_cast<std::size_t>(i)]);
    moved.y[i] = 2 - s.y[order[static_cast<std::size_t>(i)]];
  }
  twice.x << s.x, s.x;
  twice.y << s.y, s.y;
  for (const BoostMethod method : {BoostMethod::adaptive, BoostMethod::m2, BoostMethod::mh, BoostMethod::fixed_edge}) {
    const BoostOptions o = options(method, 3, 8);
    const BoostResult one = fit(s, o), other = fit(moved, o), copies = fit(twice, o);
    CHECK(one.alpha.size() == other.alpha.size() && one.alpha.size() == copies.alpha.size());
    for (std::size_t t = 0; t < std::min({one.alpha.size(), other.alpha.size(), copies.alpha.size()}); ++t) {
      CHECK_NEAR(one.alpha[t], other.alpha[t], 1e-8);
      CHECK_NEAR(one.alpha[t], copies.alpha[t], 1e-8);
    }
  }
  // by margins, with the classes exchanged
  const Sample two = ring(14, 50, 2);
  Sample turned = two;
  turned.y = 1 - two.y.array();
  BoostOptions o = options(BoostMethod::star, 2, 40);
  o.max_leaves = 2;
  const BoostResult a = fit(two, o), b = fit(turned, o);
  CHECK_NEAR(a.lower, b.lower, 1e-9);
  CHECK_NEAR(a.upper_bound, b.upper_bound, 1e-9);
}
