#include "eigen.h"
#include <cmath>
#include <limits>
#include <vector>

#include "core/optim/qp.h"
#include "core/graph/subsets.h"
#include "graph/game_elimination.h"
#include "graph/game_exhaustive.h"
#include "graph/game_hinge.h"
#include "harness.h"

using namespace granary;
using namespace granary::graph;

namespace {

Game random_game(Index n, double density, double plus, Rng& rng, bool thresholds = false) {
  Game game{MatrixXd::Zero(n, n), VectorXd::Zero(n)};
  for (Index i = 0; i < n; ++i) {
    if (thresholds) game.b[i] = rng.uniform(-1, 1);
    for (Index j = 0; j < n; ++j) {
      if (i != j && rng.bernoulli(density)) game.w(i, j) = rng.bernoulli(plus) ? 1 : -1;
    }
  }
  return game;
}

Game complete(Index n, double w) {
  Game game{MatrixXd::Constant(n, n, w), VectorXd::Zero(n)};
  game.w.diagonal().setZero();
  return game;
}

double brute_count(const Game& game, double epsilon = 0) {
  const Index n = game.b.size();
  double count = 0;
  for (Index s = 0; s < (Index{1} << n); ++s) {
    VectorXd x(n);
    for (Index i = 0; i < n; ++i) x[i] = s >> i & 1 ? 1 : -1;
    const VectorXd f = game.w * x - game.b;
    count += (f.cwiseProduct(x).array() >= -epsilon - 1e-9).all();
  }
  return count;
}

Equilibria find(const Game& game, EquilibriumMethod method) {
  Monitor monitor;
  EquilibriumOptions options;
  options.method = method;
  return find_equilibria(game, options, monitor);
}

const EquilibriumMethod all_methods[] = {EquilibriumMethod::gray, EquilibriumMethod::elimination, EquilibriumMethod::search,
                                         EquilibriumMethod::automatic};

MatrixXd noisy_rows(const Game& game, double q, Index rows, Rng& rng) {
  const Equilibria found = find(game, EquilibriumMethod::gray);
  const Index n = game.b.size();
  MatrixXd x(rows, n);
  for (Index l = 0; l < rows; ++l) {
    if (rng.bernoulli(q)) {
      const Bitset& state = found.states[rng.below(found.states.size())];
      for (int i = 0; i < n; ++i) x(l, i) = state.test(i) ? 1 : -1;
    } else {
      for (int i = 0; i < n; ++i) x(l, i) = rng.bernoulli(0.5) ? 1 : -1;
    }
  }
  return x;
}

}  // namespace

TEST("equilibria: the three methods list the same states as brute force") {
  Rng rng(1);
  for (int k = 0; k < 12; ++k) {
    const Index n = 3 + k % 8;
    const Game game = random_game(n, k % 3 == 0 ? 0.2 : 0.6, 0.5, rng, k % 2 == 0);
    const Equilibria gray = find(game, EquilibriumMethod::gray);
    CHECK(gray.count == brute_count(game));
    for (const EquilibriumMethod method : all_methods) {
      const Equilibria other = find(game, method);
      CHECK(other.count == gray.count);
      CHECK(other.listed && other.states == gray.states);
      CHECK_NEAR(other.log_count, std::log(gray.count), 1e-12);
    }
  }
}

TEST("equilibria: coordination has two, anti-coordination the middle layers, a single player half and ties") {
  for (const Index n : {2, 5, 8, 13}) {
    const double half = static_cast<double>(choose(static_cast<int>(n), static_cast<int>(n / 2)));
    for (const EquilibriumMethod method : {EquilibriumMethod::gray, EquilibriumMethod::search}) {
      CHECK(find(complete(n, 0.01), method).count == 2);
      CHECK(find(complete(n, -1), method).count == (n % 2 ? 2 * half : half));
    }
    Game single{MatrixXd::Zero(n, n), VectorXd::Zero(n)};
    single.w.row(0).setOnes();
    single.w(0, 0) = 0;
    double ties = 0;  // states of the others that sum to zero, both actions of the player
    if ((n - 1) % 2 == 0) ties = static_cast<double>(choose(static_cast<int>(n - 1), static_cast<int>((n - 1) / 2)));
    CHECK(find(single, EquilibriumMethod::automatic).count == std::ldexp(1.0, static_cast<int>(n - 1)) + ties);
    CHECK(find({MatrixXd::Zero(n, n), VectorXd::Zero(n)}, EquilibriumMethod::automatic).count ==
          std::ldexp(1.0, static_cast<int>(n)));
  }
  Game pennies{MatrixXd::Zero(2, 2), VectorXd::Zero(2)};
  pennies.w(0, 1) = 1;
  pennies.w(1, 0) = -1;
  for (const EquilibriumMethod method : all_methods) {
    CHECK(find(pennies, method).count == 0);
    CHECK(find(pennies, method).listed);
    CHECK(find(pennies, method).states.empty());
  }
}

TEST("equilibria: scaling rows changes nothing, b = 0 is symmetric, disjoint games multiply, epsilon widens") {
  Rng rng(2);
  Monitor monitor;
  const Game game = random_game(9, 0.4, 0.5, rng);
  Game scaled = game;
  for (Index i = 0; i < 9; ++i) scaled.w.row(i) *= i % 2 ? 1e8 : 1e-8;
  CHECK(find(scaled, EquilibriumMethod::gray).states == find(game, EquilibriumMethod::gray).states);
  const Equilibria found = find(game, EquilibriumMethod::gray);
  for (const Bitset& state : found.states)
    CHECK(std::find(found.states.begin(), found.states.end(), ~state) != found.states.end());
  const Game other = random_game(7, 0.5, 1, rng, true);
  Game both{MatrixXd::Zero(16, 16), VectorXd(16)};
  both.w.topLeftCorner(9, 9) = game.w;
  both.w.bottomRightCorner(7, 7) = other.w;
  both.b << game.b, other.b;
  CHECK(find(both, EquilibriumMethod::elimination).count == found.count * find(other, EquilibriumMethod::gray).count);
  EquilibriumOptions wide;
  wide.epsilon = 1;
  for (const EquilibriumMethod method : all_methods) {
    wide.method = method;
    CHECK(find_equilibria(game, wide, monitor).count == brute_count(game, 1));
  }
}

TEST("equilibria: long chains by elimination, counts past doubles by logs, limits by errors") {
  Monitor monitor;
  Game chain{MatrixXd::Zero(40, 40), VectorXd::Zero(40)};
  for (Index i = 0; i + 1 < 40; ++i) chain.w(i, i + 1) = chain.w(i + 1, i) = 1;
  const Equilibria found = find(chain, EquilibriumMethod::automatic);
  CHECK(found.method == EquilibriumMethod::elimination);
  CHECK(found.width == 2);
  // Runs of equal actions, each at least two long: compositions of 40 into parts of two and more, times two; Fibonacci(39) of
  // them.
  double a = 0, b = 1;
  for (int k = 0; k < 38; ++k) {
    const double next = a + b;
    a = b;
    b = next;
  }
  CHECK(found.count == 2 * b);
  CHECK(!found.listed && found.states.empty());
  const Game free{MatrixXd::Zero(2000, 2000), VectorXd::Zero(2000)};
  EquilibriumOptions options;
  options.list = false;
  CHECK_NEAR(find_equilibria(free, options, monitor).log_count, 2000 * std::log(2.0), 1e-6);
  const Game big = complete(30, -1);
  options.method = EquilibriumMethod::gray;
  CHECK_THROWS(find_equilibria(big, options, monitor), InputError);
  options.method = EquilibriumMethod::elimination;
  CHECK_THROWS(find_equilibria(big, options, monitor), InputError);
  options.method = EquilibriumMethod::search;
  options.max_nodes = 1000;
  CHECK_THROWS(find_equilibria(big, options, monitor), NumericalError);
  CHECK_THROWS(require_game(MatrixXd::Identity(2, 2), VectorXd::Zero(2)), InputError);
}

TEST("games: the number of sets of equilibria of linear games is 226 for three players and 23706 for four") {
  Monitor monitor;
  CHECK(linear_games(3, monitor).sets.size() == 226);
  const LinearGames four = linear_games(4, monitor);
  CHECK(four.sets.size() == 23706);
  for (std::size_t k = 0; k < four.sets.size(); k += 997) {
    const Equilibria found = find(four.games[k], EquilibriumMethod::gray);
    std::uint32_t mask = 0;
    for (const Bitset& state : found.states) {
      int s = 0;
      for (int i = 0; i < 4; ++i) s |= state.test(i) << i;
      mask |= 1u << s;
    }
    CHECK(mask == four.sets[k]);
  }
  CHECK_THROWS(linear_games(5, monitor), InputError);
}

TEST("games: likelihood by its definition, sample picking against all choices") {
  const int n = 3;
  MatrixXd x(6, 3);
  x << 1, 1, 1, 1, 1, 1, -1, -1, -1, 1, -1, 1, 1, 1, 1, -1, -1, -1;
  const SamplePicking picked = sample_picking(x);
  CHECK(picked.row.size() == 3);
  CHECK_NEAR(picked.frequency[0], 0.5, 1e-15);
  CHECK(picked.row[0] == 0 && picked.row[1] == 2 && picked.row[2] == 3);
  for (std::size_t k = 0; k < 3; ++k) {
    double share = 0;
    for (std::size_t j = 0; j <= k; ++j) share += picked.frequency[j];
    const double q = std::min(share, 1 - 1.0 / 12), size = static_cast<double>(k + 1);
    const double direct = share * std::log(q / size) + (share < 1 ? (1 - share) * std::log((1 - q) / (8 - size)) : 0);
    CHECK_NEAR(picked.path[k], direct, 1e-12);
    CHECK(picked.log_likelihood >= direct - 1e-15);
  }
  CHECK_NEAR(game_log_likelihood(n, -std::numeric_limits<double>::infinity(), 0, 0), -3 * std::log(2.0), 1e-15);
  CHECK_NEAR(game_log_likelihood(n, 3 * std::log(2.0), 1, 0.9), -3 * std::log(2.0), 1e-15);
  // KL form of the thesis
  const double share = 0.8, q = 0.75, pi = 0.25;
  const auto kl = [](double a, double c) { return a * std::log(a / c) + (1 - a) * std::log((1 - a) / (1 - c)); };
  CHECK_NEAR(game_log_likelihood(n, std::log(2.0), share, q), kl(share, pi) - kl(share, q) - n * std::log(2.0), 1e-12);
}

TEST("losses: gaps close, independent logistic is optimal, hinge programs have no gap and smoothing agrees with them") {
  Monitor monitor;
  Rng rng(3);
  const Game truth = random_game(6, 0.4, 0.6, rng, true);
  const MatrixXd x = noisy_rows(truth, 0.7, 40, rng);
  for (const GameLoss loss : {GameLoss::simultaneous_logistic, GameLoss::independent_logistic, GameLoss::simultaneous_hinge,
                              GameLoss::independent_hinge}) {
    GameFitOptions options;
    options.loss = loss;
    options.rho = 0.03;
    const GameFit fit = fit_game(x, options, monitor);
    CHECK(fit.convergence.converged);
    CHECK(fit.convergence.residual <= 1e-7);
    CHECK_NEAR(fit.loss, game_loss(x, fit.game, loss), 1e-12);
    const bool hinge = loss == GameLoss::simultaneous_hinge || loss == GameLoss::independent_hinge;
    CHECK(fit.program == hinge);
    if (hinge) {
      options.max_program = 0;
      const GameFit smoothed = fit_game(x, options, monitor);
      CHECK(smoothed.convergence.converged);
      CHECK_NEAR(smoothed.objective, fit.objective, 6e-3);  // the tolerance times the loss at zero
      CHECK(smoothed.objective >= fit.objective - 1e-9);
    }
    const auto total = [&](const Game& g) { return game_loss(x, g, loss) + 0.03 * g.w.cwiseAbs().sum(); };
    for (int k = 0; k < 20; ++k) {
      Game near = fit.game;
      const MatrixXd step = 0.01 * MatrixXd(Eigen::Map<const MatrixXd>(rng.normals(36).data(), 6, 6));
      near.w += step;
      near.w.diagonal().setZero();
      near.b += 0.01 * rng.normals(6);
      CHECK(total(near) >= fit.objective - 1e-6);
    }
    options.ridge = true;
    options.max_program = GameFitOptions().max_program;
    CHECK(fit_game(x, options, monitor).convergence.converged);
  }
  // Lemma L.1: the losses are ordered
  const double single = game_loss(x, truth, GameLoss::independent_logistic),
               joint = game_loss(x, truth, GameLoss::simultaneous_logistic);
  CHECK(joint < single);
}

TEST("losses: hinge programs agree with the simplex and the quadratic program, and close the gap on twelve players") {
  Monitor monitor;
  Rng rng(11);
  const double infinity = std::numeric_limits<double>::infinity();
  for (const int players : {1, 3}) {
    const Index m = 25, k = 4;  // three weights and a threshold each
    HingeProgram program;
    program.rho = 0.02;
    for (int i = 0; i < players; ++i) {
      MatrixXd u(m, k);
      for (Index e = 0; e < u.size(); ++e) u.data()[e] = rng.bernoulli(0.5) ? 1 : -1;
      program.margins.push_back(u);
    }
    // Columns: w+, w- (k each, the threshold's without cost), xi.
    const Index size = players * k;
    LinearProgram linear;
    linear.a = MatrixXd::Zero(m * players, 2 * size + m);
    for (int i = 0; i < players; ++i) {
      linear.a.block(i * m, i * k, m, k) = program.margins[i];
      linear.a.block(i * m, size + i * k, m, k) = -program.margins[i];
      linear.a.block(i * m, 2 * size, m, m).setIdentity();
    }
    linear.b = VectorXd::Ones(m * players);
    linear.sense.assign(m * players, RowSense::greater_equal);
    linear.c = VectorXd::Constant(2 * size + m, program.rho);
    for (int i = 0; i < players; ++i) linear.c[i * k + k - 1] = linear.c[size + i * k + k - 1] = 0;
    linear.c.tail(m).setConstant(1.0 / m);
    const double simplex = solve_lp(linear, LpOptions(), monitor).objective;
    QuadraticProgram quadratic;
    quadratic.a = MatrixXd::Zero(m * players, size + m);
    quadratic.a << linear.a.leftCols(size), linear.a.rightCols(m);
    quadratic.b = linear.b;
    quadratic.sense = linear.sense;
    quadratic.q = MatrixXd::Zero(size + m, size + m);
    for (Index e = 0; e < size; ++e) quadratic.q(e, e) = e % k == k - 1 ? 0 : 2 * program.rho;
    quadratic.c = VectorXd::Zero(size + m);
    quadratic.c.tail(m).setConstant(1.0 / m);
    quadratic.lower = VectorXd::Zero(size + m);
    quadratic.lower.head(size).setConstant(-infinity);
    quadratic.upper = VectorXd::Constant(size + m, infinity);
    const double smooth = solve_qp(quadratic, QpOptions(), monitor).objective;
    for (const bool ridge : {false, true}) {
      program.ridge = ridge;
      const HingeSolution found = solve_hinge(program, HingeOptions(), monitor);
      CHECK(found.convergence.converged);
      Eigen::ArrayXd xi = Eigen::ArrayXd::Zero(m);
      double penalty = 0;
      for (int i = 0; i < players; ++i) {
        xi = xi.max(1 - (program.margins[i] * found.theta[i]).array());
        const VectorXd w = found.theta[i].head(k - 1);
        penalty += program.rho * (ridge ? w.squaredNorm() : w.cwiseAbs().sum());
      }
      CHECK_NEAR(xi.mean() + penalty, ridge ? smooth : simplex, 1e-8);
    }
  }
  const MatrixXd x = noisy_rows(random_game(12, 0.3, 1, rng), 0.7, 150, rng);
  for (const GameLoss loss : {GameLoss::simultaneous_hinge, GameLoss::independent_hinge}) {
    for (const bool ridge : {false, true}) {
      for (const double rho : {1e-4, 0.01, 0.3}) {
        GameFitOptions options;
        options.loss = loss;
        options.rho = rho;
        options.ridge = ridge;
        const GameFit fit = fit_game(x, options, monitor);
        CHECK(fit.program && fit.convergence.converged);
      }
    }
  }
}

TEST("losses: constant players, masks, no player who changes") {
  Monitor monitor;
  Rng rng(4);
  const Game truth = random_game(5, 0.5, 1, rng);
  MatrixXd x = noisy_rows(truth, 0.8, 60, rng);
  x.col(2).setOnes();
  GameFitOptions options;
  options.mask = MatrixXd::Ones(5, 5);
  options.mask(0, 1) = 0;
  const GameFit fit = fit_game(x, options, monitor);
  CHECK(fit.convergence.converged);
  CHECK(fit.game.w.row(2).cwiseAbs().sum() == 0 && fit.game.b[2] == -1);
  CHECK(fit.game.w(0, 1) == 0);
  CHECK(fit.game.w.diagonal().cwiseAbs().sum() == 0);
  const GameFit still = fit_game(MatrixXd::Ones(5, 3), GameFitOptions(), monitor);
  CHECK(still.convergence.converged && still.game.b == VectorXd::Constant(3, -1.0));
  options.mask = MatrixXd::Ones(2, 2);
  CHECK_THROWS(fit_game(x, options, monitor), InputError);
}

TEST("losses: sigmoids and the exhaustive search find good games") {
  Monitor monitor;
  Rng rng(5);
  Game truth{MatrixXd::Zero(4, 4), VectorXd::Zero(4)};
  truth.w(0, 1) = truth.w(1, 0) = truth.w(2, 3) = truth.w(3, 2) = 1;
  const MatrixXd x = noisy_rows(truth, 0.9, 50, rng);
  const ExhaustiveFit best = fit_exhaustive(x, monitor);
  const auto likelihood = [&](const Game& game) {
    const Equilibria found = find(game, EquilibriumMethod::gray);
    double share = 0;
    for (const char stable : equilibrium_rows(game, x, 1e-9, 0)) share += stable / 50.0;
    return game_log_likelihood(4, found.log_count, share, mixture_weight(share, 50));
  };
  CHECK_NEAR(likelihood(best.game), best.log_likelihood, 1e-10);
  CHECK(best.log_likelihood >= likelihood(truth) - 1e-12);
  CHECK(best.sets == 23706);
  for (const bool s1 : {false, true}) {
    SigmoidOptions options;
    options.likelihood = s1;
    Rng a(6), b(6);
    const GameFit fit = fit_sigmoid(x, options, a, monitor), again = fit_sigmoid(x, options, b, monitor);
    CHECK((fit.game.w - again.game.w).cwiseAbs().maxCoeff() == 0);
    CHECK(likelihood(fit.game) <= best.log_likelihood + 1e-12);
    CHECK(likelihood(fit.game) > -4 * std::log(2.0));
  }
  CHECK_THROWS(fit_exhaustive(MatrixXd::Ones(3, 5), monitor), InputError);
}
