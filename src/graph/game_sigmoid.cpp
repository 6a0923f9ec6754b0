#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/optim/lbfgs.h"
#include "core/math/logspace.h"
#include "graph/game_losses.h"

namespace granary::graph {

namespace {

// Mean over rows of prod_i H(z_i), and its gradient in (W, b) for a weight of one.
double smooth_share(ConstMatrixRef x, const Game& game, double shift, double beta, MatrixXd& gradient_w, VectorXd& gradient_b) {
  const MatrixXd z = game_payoffs(game, x).cwiseProduct(x);
  const double m = static_cast<double>(x.rows());
  // H(z) = expit(2 u), u = z / beta - shift
  MatrixXd slope(z.rows(), z.cols());
  VectorXd product(z.rows());
  for (Index l = 0; l < z.rows(); ++l) {
    double log_h = 0;
    for (Index i = 0; i < z.cols(); ++i) {
      const double u = 2 * (z(l, i) / beta - shift);
      log_h += log_expit(u);
      slope(l, i) = 2 / beta * expit(-u);
    }
    product[l] = std::exp(log_h);
  }
  for (Index i = 0; i < z.cols(); ++i) slope.col(i).array() *= product.array() * x.col(i).array() / m;
  gradient_w = slope.transpose() * x;
  gradient_w.diagonal().setZero();
  gradient_b = -slope.colwise().sum().transpose();
  return product.sum() / m;
}

MatrixXd all_states(Index n) {
  MatrixXd x(Index{1} << n, n);
  for (Index s = 0; s < x.rows(); ++s) {
    for (Index i = 0; i < n; ++i) x(s, i) = s >> i & 1 ? 1 : -1;
  }
  return x;
}

}  // namespace

GameFit fit_sigmoid(ConstMatrixRef x, const SigmoidOptions& options, Rng& rng, Monitor& monitor) {
  const Stopwatch watch;
  const Index n = x.cols(), m = x.rows();
  if (options.likelihood && n > 15) {
    throw InputError(message("loss \"s1\" sums over all 2^n joint actions and stops at 15 players, not ", n,
                             ". Use loss = \"sl\" or \"s2\"."));
  }
  const MatrixXd states = options.likelihood ? all_states(n) : MatrixXd();
  const double shift = std::atanh(1 - 2 * std::pow(options.alpha, 1.0 / static_cast<double>(n)));
  const double cap = 1 - 1 / (2.0 * static_cast<double>(m));
  const auto unpack = [&](const VectorXd& v) {
    Game game{MatrixXd(n, n), v.tail(n)};
    game.w = Eigen::Map<const MatrixXd>(v.data(), n, n);
    game.w.diagonal().setZero();
    return game;
  };
  MatrixXd gradient_w, other_w;
  VectorXd gradient_b, other_b;
  const Objective smooth = [&](const VectorXd& v, VectorXd& gradient) {
    monitor.check();
    const Game game = unpack(v);
    double share = smooth_share(x, game, shift, options.beta, gradient_w, gradient_b);
    double value = share;
    double by_share = 1, by_pi = 0;
    if (options.likelihood) {
      double pi = smooth_share(states, game, shift, options.beta, other_w, other_b);
      const double tiny = 1e-12;
      share = std::min(1 - tiny, std::max(tiny, share));
      pi = std::min(1 - tiny, std::max(tiny, pi));
      const double q = std::min(share, cap);
      // KL(share || pi) - KL(share || q); for share <= cap the second is zero, and so is its derivative.
      value = share * std::log(share / pi) + (1 - share) * std::log((1 - share) / (1 - pi));
      by_share = std::log(share / pi) - std::log((1 - share) / (1 - pi));
      by_pi = (pi - share) / (pi * (1 - pi));
      if (share > q) {
        value -= share * std::log(share / q) + (1 - share) * std::log((1 - share) / (1 - q));
        by_share -= std::log(share / q) - std::log((1 - share) / (1 - q));
      }
      gradient_w = by_share * gradient_w + by_pi * other_w;
      gradient_b = by_share * gradient_b + by_pi * other_b;
    }
    Eigen::Map<MatrixXd>(gradient.data(), n, n) = -gradient_w;
    gradient.tail(n) = -gradient_b;
    return -value;
  };
  VectorXd weights = VectorXd::Constant(n * n + n, options.rho);
  weights.tail(n).setZero();

  GameFitOptions convex;
  convex.rho = std::max(options.rho, 1e-6);
  convex.tol = 1e-3;
  const Game guide = fit_game(x, convex, monitor).game;
  GameFit best;
  best.objective = std::numeric_limits<double>::infinity();
  LbfgsOptions inner;
  inner.max_iter = options.max_iter;
  for (int start = 0; start < std::max(1, options.starts); ++start) {
    VectorXd v(n * n + n);
    // z / beta has to be of order one for the surrogate to have a slope at all.
    if (start == 0) {
      const double size = game_payoffs(guide, x).cwiseAbs().mean();
      const double unit = 2 * options.beta / std::max(size, 1e-12);
      v << Eigen::Map<const VectorXd>(guide.w.data(), n * n), guide.b;
      v *= unit;
    } else {
      v = (options.beta / std::sqrt(static_cast<double>(n))) * rng.normals(n * n + n);
      for (Index i = 0; i < n; ++i) v[i * n + i] = 0;
    }
    const LbfgsResult end = lbfgs_l1(smooth, v, weights, inner, monitor);
    best.convergence.iterations += end.convergence.iterations;
    if (end.value < best.objective) {
      best.objective = end.value;
      best.game = unpack(end.x);
      best.loss = end.value - weights.dot(end.x.cwiseAbs());
      best.convergence.residual = end.convergence.residual;
    }
  }
  best.convergence.converged = true;  // the best of the starts; a local optimum is all that is promised
  best.convergence.seconds = watch.seconds();
  return best;
}

}  // namespace granary::graph
