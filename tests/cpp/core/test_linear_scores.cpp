#include <cmath>

#include "core/base/errors.h"
#include "core/cluster/kmeans.h"
#include "core/cluster/linear_scores.h"
#include "core/cluster/seeding.h"
#include "core/cluster/soft_polish.h"
#include "harness.h"

using namespace granary;

namespace {

MatrixXd normal_rows(Index n, Index d, Rng& rng) {
  MatrixXd x(n, d);
  for (Index j = 0; j < d; ++j)
    for (Index i = 0; i < n; ++i) x(i, j) = rng.normal();
  return x;
}

SparseMatrix sparse_rows(Index n, Index d, double share, Rng& rng) {
  std::vector<Eigen::Triplet<double>> entries;
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < d; ++j)
      if (rng.uniform() < share) entries.emplace_back(static_cast<int>(i), static_cast<int>(j), rng.exponential());
  SparseMatrix x(n, d);
  x.setFromTriplets(entries.begin(), entries.end());
  return x;
}

Design view(const SparseMatrix& x) { return Design(ConstSparseMap(x.rows(), x.cols(), x.nonZeros(), x.outerIndexPtr(), x.innerIndexPtr(), x.valuePtr())); }

LinearScores random_scores(Index k, Index d, Rng& rng) {
  LinearScores s{normal_rows(k, d, rng), VectorXd(k)};
  for (Index h = 0; h < k; ++h) s.bias[h] = rng.normal();
  return s;
}

}  // namespace

TEST("sparse rows do what dense rows do") {
  Rng rng(1);
  Monitor monitor;
  const SparseMatrix sparse = sparse_rows(700, 30, 0.1, rng);
  const MatrixXd dense = sparse;
  const DataRows a(view(sparse)), b(dense);
  const LinearScores scores = random_scores(7, 30, rng);
  MatrixXd sa(100, 7), sb(100, 7), gathered;
  a.scores(50, scores.theta, scores.bias, sa);
  b.scores(50, scores.theta, scores.bias, sb);
  CHECK_NEAR((sa - sb).norm(), 0, 1e-12);
  const std::vector<Index> some{3, 699, 17};
  MatrixXd ta(3, 7), tb(3, 7);
  a.scores(some, scores.theta, scores.bias, ta, gathered);
  b.scores(some, scores.theta, scores.bias, tb, gathered);
  CHECK_NEAR((ta - tb).norm(), 0, 1e-12);
  CHECK_NEAR(tb(1, 4), dense.row(699).dot(scores.theta.row(4)) + scores.bias[4], 1e-12);
  CHECK_NEAR((a.squared_norms() - b.squared_norms()).norm(), 0, 1e-12);
  CHECK_NEAR((a.squared_distances(5) - b.squared_distances(5)).norm(), 0, 1e-11);
  CHECK(a.squared_distances(5)[5] == 0);
  VectorXd weights(700);
  for (Index i = 0; i < 700; ++i) weights[i] = rng.uniform();
  for (const auto kind : {Membership::soft, Membership::drawn}) {
    const SoftPass pa = soft_pass(a, weights, scores, kind, 3, nullptr, 1, monitor), pb = soft_pass(b, weights, scores, kind, 3, nullptr, 2, monitor);
    CHECK_NEAR((pa.sums.first - pb.sums.first).norm(), 0, 1e-10);
    CHECK_NEAR(pa.value, pb.value, 1e-9);
    CHECK_NEAR(pa.sums.weight.sum(), weights.sum(), 1e-9);
  }
}

TEST("a soft pass gives probabilities, their sums, and the three likelihoods in their order") {
  Rng rng(2);
  Monitor monitor;
  const MatrixXd x = normal_rows(1300, 4, rng);
  const DataRows rows(x);
  LinearScores scores = random_scores(5, 4, rng);
  scores.bias.array() += 1e5;  // far above what exp can bear
  MatrixXd p;
  const SoftPass pass = soft_pass(rows, VectorXd(), scores, Membership::soft, 0, &p, 1, monitor);
  CHECK_NEAR((p.rowwise().sum().array() - 1).abs().maxCoeff(), 0, 1e-13);
  double value = 0, entropy = 0;
  for (Index i = 0; i < x.rows(); ++i) {
    const VectorXd s = scores.theta * x.row(i).transpose() + scores.bias;
    const VectorXd e = (s.array() - s.maxCoeff()).exp();
    value += s.maxCoeff() + std::log(e.sum());
    for (Index h = 0; h < 5; ++h) {
      CHECK_NEAR(p(i, h), e[h] / e.sum(), 1e-9);
      entropy -= p(i, h) * std::log(p(i, h)) / static_cast<double>(x.rows());
    }
  }
  CHECK_NEAR(pass.value, value, 1e-6);
  CHECK_NEAR(pass.entropy, entropy, 1e-9);
  CHECK_NEAR((pass.sums.first - p.transpose() * x).norm(), 0, 1e-9);
  CHECK(pass.complete <= pass.hard && pass.hard <= pass.value);
  const SoftPass two = soft_pass(rows, VectorXd(), scores, Membership::soft, 0, nullptr, 2, monitor);
  CHECK(two.value == pass.value && two.sums.first == pass.sums.first);
}

TEST("bounds skip rows and change nothing, for distances and for any other linear score") {
  Monitor monitor;
  for (int seed = 1; seed <= 6; ++seed) {
    Rng rng(static_cast<std::uint64_t>(seed));
    const MatrixXd x = normal_rows(3000, 3, rng).array() + (seed > 3 ? 50.0 : 0.0);
    const DataRows rows(x);
    const VectorXd base = 0.5 * rows.squared_norms();
    // A model that is not a distance: natural parameters of positive means, theta = log m, b = -sum m.
    const MatrixXd positive = x.array().abs() + 0.01;
    const DataRows counts(positive);
    const ScoreModel poisson = [](const ClusterSums& sums, LinearScores& s) {
      for (Index h = 0; h < sums.weight.size(); ++h) {
        if (!(sums.weight[h] > 0)) continue;
        s.theta.row(h) = (sums.first.row(h) / sums.weight[h]).array().log().matrix();
        s.bias[h] = -sums.first.row(h).sum() / sums.weight[h];
      }
    };
    for (const bool distance : {true, false}) {
      const DataRows& data = distance ? rows : counts;
      LinearScores start = centre_scores(x.topRows(8));
      if (!distance) poisson({positive.topRows(8), VectorXd::Ones(8)}, start);
      HardOptions with, without;
      with.max_iter = without.max_iter = 500;
      without.bounds = false;
      const ScoreModel model = distance ? ScoreModel(mean_scores) : poisson;
      const HardResult a = hard_clusters(data, VectorXd(), distance ? base : VectorXd(), start, model, with, monitor);
      const HardResult b = hard_clusters(data, VectorXd(), distance ? base : VectorXd(), start, model, without, monitor);
      CHECK(a.convergence.converged && b.convergence.converged);
      CHECK(a.cluster == b.cluster);
      CHECK_NEAR(a.objective, b.objective, 1e-9 * std::abs(b.objective));
      for (std::size_t t = 1; t < a.trace.size(); ++t) CHECK(a.trace[t] <= a.trace[t - 1] + 1e-9 * std::abs(a.trace[t]));
      CHECK(best_scores(data, a.scores, 1, monitor).cluster == a.cluster);  // the certificate
      with.threads = 2;
      CHECK(hard_clusters(data, VectorXd(), distance ? base : VectorXd(), start, model, with, monitor).cluster == a.cluster);
    }
  }
}

TEST("whole weights are repeated rows; rows of weight zero do not count") {
  Monitor monitor;
  Rng rng(5);
  const MatrixXd x = normal_rows(60, 2, rng);
  VectorXd weights(60);
  std::vector<Index> again;
  for (Index i = 0; i < 60; ++i) {
    weights[i] = static_cast<double>(i % 3);
    for (Index r = 0; r < i % 3; ++r) again.push_back(i);
  }
  MatrixXd repeated(static_cast<Index>(again.size()), 2);
  for (std::size_t r = 0; r < again.size(); ++r) repeated.row(static_cast<Index>(r)) = x.row(again[r]);
  KMeansOptions options;
  options.tol = 0;
  const MatrixXd start = x.middleRows(1, 4);
  const KMeansResult a = kmeans_from(x, weights, start, options, monitor), b = kmeans_from(repeated, VectorXd(), start, options, monitor);
  CHECK_NEAR(a.objective, b.objective, 1e-10);
  CHECK_NEAR((a.centres - b.centres).norm(), 0, 1e-10);
  for (std::size_t r = 0; r < again.size(); ++r) CHECK(b.cluster[static_cast<Index>(r)] == a.cluster[again[r]]);
}

TEST("an empty cluster takes the row that fits worst; more clusters than distinct rows end") {
  Monitor monitor;
  MatrixXd x(5, 1);
  x << 0, 0.1, 0.2, 10, 30;
  MatrixXd start(3, 1);
  start << 0, 5, 1000;  // nobody is near the last
  KMeansOptions options;
  options.tol = 0;
  const KMeansResult fit = kmeans_from(x, VectorXd(), start, options, monitor);
  CHECK(fit.convergence.converged);
  CHECK_NEAR(fit.objective, 0.02, 1e-12);
  const MatrixXd same = MatrixXd::Ones(6, 2);
  KMeansOptions three;
  three.k = 3;
  Rng rng(1);
  const KMeansResult flat = kmeans(same, three, rng, monitor);
  CHECK(flat.convergence.converged);
  CHECK(flat.objective == 0);
}

TEST("seeds are drawn in proportion to weight and divergence, and never a row of no mass") {
  Monitor monitor;
  MatrixXd x(8, 1);
  x << 0, 1, 2, 10, 11, 13, 20, 26;
  const DataRows rows(x);
  const auto distance = [&](Index i) { return rows.squared_distances(i); };
  // Lemma 2.2 of Ailon, Jaiswal and Monteleoni: one uniform centre costs twice the optimum on average: 1219.75.
  SeedOptions one;
  double cost = 0;
  Rng rng(7);
  const int draws = 20000;
  for (int r = 0; r < draws; ++r) cost += spread_seeds(8, VectorXd(), one, distance, rng, monitor).cost / draws;
  CHECK_NEAR(cost, 1219.75, 25);
  SeedOptions all;
  all.rounds = 20;
  const Seeds whole = spread_seeds(8, VectorXd(), all, distance, rng, monitor);
  CHECK(whole.rows.size() == 8);
  CHECK(whole.cost == 0);
  SeedOptions sharp;
  sharp.rounds = 2;
  sharp.per_round = 3;
  CHECK(spread_seeds(8, VectorXd(), sharp, distance, rng, monitor).rows.size() <= 6);
  VectorXd mass = VectorXd::Zero(5000);
  mass[4321] = 1e-300;
  for (int r = 0; r < 100; ++r) CHECK(draw_index(mass, rng.uniform()) == 4321);
  CHECK(draw_index(mass, 1 - 1e-16) == 4321);
  CHECK_THROWS(draw_index(VectorXd::Zero(3), 0.5), InputError);
  VectorXd weights = VectorXd::Zero(8);
  weights[2] = weights[6] = 1;
  SeedOptions two;
  two.rounds = 3;
  const Seeds weighted = spread_seeds(8, weights, two, distance, rng, monitor);
  CHECK(weighted.rows.size() == 2);
}

TEST("clusters that do not have the columns of the data are refused") {
  Monitor monitor;
  Rng rng(1);
  const MatrixXd x = MatrixXd::Ones(4, 2);
  CHECK_THROWS(best_scores(DataRows(x), random_scores(2, 3, rng), 1, monitor), InputError);
  CHECK_THROWS(soft_pass(DataRows(x), VectorXd::Ones(3), random_scores(2, 2, rng), Membership::soft, 0, nullptr, 1, monitor), InputError);
}

TEST("extrapolated steps end where plain iterations end, without a fall and in fewer passes") {
  Rng rng(11);
  const Index n = 400, d = 2, k = 2;
  MatrixXd x = normal_rows(n, d, rng);
  for (Index i = 0; i < n / 2; ++i) x.row(i).array() += 1.6;  // groups that overlap
  const DataRows rows{ConstMatrixRef(x)};
  const ScoreModel model = [&](const ClusterSums& sums, LinearScores& scores) {  // a mixture of two normal laws of variance 1
    for (Index h = 0; h < k; ++h) {
      scores.theta.row(h) = sums.first.row(h) / sums.weight[h];
      scores.bias[h] = -0.5 * scores.theta.row(h).squaredNorm() + std::log(sums.weight[h] / static_cast<double>(n));
    }
  };
  const SumsStep step = [&](const ClusterSums& before, const ClusterSums& after) {
    double most = 0;
    for (Index h = 0; h < k; ++h) most = std::max(most, (after.first.row(h) / after.weight[h] - before.first.row(h) / before.weight[h]).norm());
    return most;
  };
  const SumsInside inside = [](const ClusterSums& sums) { return sums.weight.minCoeff() > 0; };
  LinearScores start{MatrixXd(k, d), VectorXd::Zero(k)};
  start.theta << 1, 0, 0, 1;
  Monitor monitor;
  SoftOptions rough;
  rough.tol = 1e-5;
  const SoftResult from = soft_clusters(rows, VectorXd(), start, model, rough, rng, monitor);
  PolishOptions how;
  how.tol = 1e-9;
  how.max_iter = 20000;
  const SoftResult fast = polish_soft(rows, VectorXd(), from, model, step, inside, how, monitor);
  const SoftResult plain = polish_soft(rows, VectorXd(), from, model, step, [](const ClusterSums&) { return false; }, how, monitor);
  CHECK(fast.convergence.converged);
  CHECK(plain.convergence.converged);
  CHECK_NEAR((fast.scores.theta - plain.scores.theta).norm(), 0, 1e-6);
  CHECK(fast.convergence.iterations < plain.convergence.iterations / 2);
  for (std::size_t i = 2; i < fast.trace.size(); ++i) CHECK(fast.trace[i] >= fast.trace[i - 1] - 1e-9);  // the start is no mixture
  how.max_iter = 1;
  CHECK(!polish_soft(rows, VectorXd(), from, model, step, inside, how, monitor).convergence.converged);
}
