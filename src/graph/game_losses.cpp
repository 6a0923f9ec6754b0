#include "graph/game_losses.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/base/errors.h"
#include "core/optim/lbfgs.h"
#include "core/math/logspace.h"
#include "graph/game_hinge.h"

namespace granary::graph {

namespace {

bool is_hinge(GameLoss loss) { return loss == GameLoss::simultaneous_hinge || loss == GameLoss::independent_hinge; }
bool is_simultaneous(GameLoss loss) { return loss == GameLoss::simultaneous_logistic || loss == GameLoss::simultaneous_hinge; }

struct Problem {
  ConstMatrixRef x;
  const GameFitOptions& options;
  std::vector<int> players;               // those who change
  std::vector<std::pair<int, int>> free;  // (i, j) with w_ij free

  Problem(ConstMatrixRef x_in, const GameFitOptions& options_in) : x(x_in), options(options_in) {
    const int n = static_cast<int>(x.cols());
    if (options.mask.size() > 0 && (options.mask.rows() != n || options.mask.cols() != n)) {
      throw InputError("`mask` must have one row and column per player.");
    }
    for (int i = 0; i < n; ++i) {
      if ((x.col(i).array() == x(0, i)).all()) continue;
      players.push_back(i);
      for (int j = 0; j < n; ++j) {
        if (j != i && (options.mask.size() == 0 || options.mask(i, j) != 0)) free.emplace_back(i, j);
      }
    }
  }
  Index rows() const { return x.rows(); }
  Index position(int player) const { return std::lower_bound(players.begin(), players.end(), player) - players.begin(); }
  Index size() const { return static_cast<Index>(free.size() + players.size()); }

  Game unpack(const VectorXd& v) const {
    Game game{MatrixXd::Zero(x.cols(), x.cols()), VectorXd::Zero(x.cols())};
    for (Index i = 0; i < x.cols(); ++i) game.b[i] = -x(0, i);
    for (std::size_t e = 0; e < free.size(); ++e) game.w(free[e].first, free[e].second) = v[static_cast<Index>(e)];
    for (std::size_t i = 0; i < players.size(); ++i) game.b[players[i]] = v[static_cast<Index>(free.size() + i)];
    return game;
  }
  MatrixXd margins(const Game& game) const {  // z, players who change only
    const MatrixXd f = game_payoffs(game, x);
    MatrixXd z(x.rows(), static_cast<Index>(players.size()));
    for (std::size_t i = 0; i < players.size(); ++i) {
      z.col(static_cast<Index>(i)) = f.col(players[i]).cwiseProduct(x.col(players[i]));
    }
    return z;
  }
  double penalty(const Game& game) const {
    return options.rho * (options.ridge ? game.w.squaredNorm() : game.w.cwiseAbs().sum());
  }
};

// Mean loss at temperature mu and margin c; `a` becomes the weights a_li.
double soft_loss(const MatrixXd& z, bool simultaneous, double mu, double c, MatrixXd& a) {
  a.resize(z.rows(), z.cols());
  double total = 0;
  if (simultaneous) {
    Eigen::ArrayXd top = ((c - z.array()) / mu).rowwise().maxCoeff().max(0.0);
    a = ((c - z.array()) / mu).colwise() - top;
    a = a.array().exp();
    const Eigen::ArrayXd sum = a.array().rowwise().sum() + (-top).exp();
    total = mu * (top + sum.log()).sum();
    a.array().colwise() /= sum;
  } else {
    for (Index i = 0; i < z.cols(); ++i) {
      const Eigen::ArrayXd s = (c - z.col(i).array()) / mu, e = (-s.abs()).exp();
      total += mu * ((1 + e).log() + s.max(0.0)).sum();
      a.col(i).array() = (s >= 0).select(1.0, e) / (1 + e);
    }
  }
  return total / static_cast<double>(z.rows());
}

double true_loss(const MatrixXd& z, GameLoss loss) {
  if (z.cols() == 0) return 0;
  if (!is_hinge(loss)) {
    MatrixXd a;
    return soft_loss(z, is_simultaneous(loss), 1, 0, a);
  }
  const Eigen::ArrayXXd short_by = (1 - z.array()).max(0.0);
  const double total = is_simultaneous(loss) ? short_by.rowwise().maxCoeff().sum() : short_by.sum();
  return total / static_cast<double>(z.rows());
}

double plogp(double p) { return p > 0 ? p * std::log(p) : 0; }

// The dual value of weights a, after clipping, balancing and shrinking them into the feasible set.
double dual_value(const Problem& problem, MatrixXd a) {
  const GameFitOptions& options = problem.options;
  const double m = static_cast<double>(problem.rows());
  a = a.cwiseMax(0.0);
  if (is_simultaneous(options.loss)) {
    a.array().colwise() /= a.rowwise().sum().array().max(1.0);
  } else {
    a = a.cwiseMin(1.0);
  }
  for (std::size_t i = 0; i < problem.players.size(); ++i) {
    const Index column = static_cast<Index>(i);
    const auto x = problem.x.col(problem.players[i]).array();
    const double plus = (x > 0).select(a.col(column).array(), 0.0).sum(),
                 minus = (x < 0).select(a.col(column).array(), 0.0).sum();
    if (plus <= 0 || minus <= 0) {
      a.col(column).setZero();
      continue;
    }
    const double keep_plus = std::min(1.0, minus / plus), keep_minus = std::min(1.0, plus / minus);
    a.col(column).array() *= (x > 0).select(Eigen::ArrayXd::Constant(a.rows(), keep_plus), keep_minus);
  }
  MatrixXd signed_a = a;
  for (std::size_t i = 0; i < problem.players.size(); ++i) {
    signed_a.col(static_cast<Index>(i)).array() *= problem.x.col(problem.players[i]).array();
  }
  const MatrixXd v = signed_a.transpose() * problem.x / m;
  std::vector<Index> row(problem.x.cols(), -1);
  for (std::size_t i = 0; i < problem.players.size(); ++i) row[problem.players[i]] = static_cast<Index>(i);
  double largest = 0, squares = 0;
  for (const auto& [i, j] : problem.free) {
    largest = std::max(largest, std::abs(v(row[i], j)));
    squares += v(row[i], j) * v(row[i], j);
  }
  double cost = 0;
  if (options.ridge) {
    if (options.rho == 0) return -std::numeric_limits<double>::infinity();
    cost = squares / (4 * options.rho);
  } else if (largest > options.rho) {
    a *= options.rho / largest;
  }
  if (is_hinge(options.loss)) return a.sum() / m - cost;
  double entropy = 0;
  for (Index l = 0; l < a.rows(); ++l) {
    if (is_simultaneous(options.loss)) {
      double rest = 1;
      for (Index i = 0; i < a.cols(); ++i) {
        rest -= a(l, i);
        entropy -= plogp(a(l, i));
      }
      entropy -= plogp(std::max(0.0, rest));
    } else {
      for (Index i = 0; i < a.cols(); ++i) entropy -= plogp(a(l, i)) + plogp(1 - a(l, i));
    }
  }
  return entropy / m - cost;
}

LbfgsResult minimise_soft(const Problem& problem, double mu, double c, const VectorXd& start, double tol, int max_iter,
                          Monitor& monitor) {
  const Index edges = static_cast<Index>(problem.free.size());
  const double m = static_cast<double>(problem.rows());
  const GameFitOptions& options = problem.options;
  std::vector<Index> row(problem.x.cols(), -1);
  for (std::size_t i = 0; i < problem.players.size(); ++i) row[problem.players[i]] = static_cast<Index>(i);
  MatrixXd a;
  const Objective smooth = [&](const VectorXd& v, VectorXd& gradient) {
    const Game game = problem.unpack(v);
    double value = soft_loss(problem.margins(game), is_simultaneous(options.loss), mu, c, a);
    for (std::size_t i = 0; i < problem.players.size(); ++i) {
      a.col(static_cast<Index>(i)).array() *= problem.x.col(problem.players[i]).array();
    }
    const MatrixXd slope = a.transpose() * problem.x / -m;
    for (Index e = 0; e < edges; ++e) gradient[e] = slope(row[problem.free[e].first], problem.free[e].second);
    gradient.tail(static_cast<Index>(problem.players.size())) = a.colwise().sum().transpose() / m;
    if (options.ridge) {
      value += options.rho * v.head(edges).squaredNorm();
      gradient.head(edges) += 2 * options.rho * v.head(edges);
    }
    return value;
  };
  VectorXd weights = VectorXd::Zero(problem.size());
  if (!options.ridge) weights.head(edges).setConstant(options.rho);
  LbfgsOptions inner;
  inner.memory = 20;
  inner.tol = tol;
  inner.max_iter = max_iter;
  return lbfgs_l1(smooth, start, weights, inner, monitor);
}

// The hinge loss of some players as a program of its own: all of them (simultaneous) or one (independent).
void solve_players(const Problem& problem, const std::vector<int>& players, double tilt, VectorXd& v, MatrixXd& a,
                   Convergence& end, Monitor& monitor) {
  HingeProgram program;
  program.tilt = tilt;
  program.rho = problem.options.rho;
  program.ridge = problem.options.ridge;
  std::vector<std::vector<Index>> places;  // in v, of each player's coefficients
  for (const int player : players) {
    std::vector<Index> at;
    for (std::size_t e = 0; e < problem.free.size(); ++e) {
      if (problem.free[e].first == player) at.push_back(static_cast<Index>(e));
    }
    const auto own = problem.x.col(player);
    MatrixXd margins(problem.rows(), static_cast<Index>(at.size()) + 1);
    for (std::size_t k = 0; k < at.size(); ++k) {
      margins.col(static_cast<Index>(k)) = own.cwiseProduct(problem.x.col(problem.free[at[k]].second));
    }
    margins.rightCols(1) = -own;
    at.push_back(static_cast<Index>(problem.free.size()) + problem.position(player));
    places.push_back(std::move(at));
    program.margins.push_back(std::move(margins));
  }
  const HingeSolution solved = solve_hinge(program, HingeOptions(), monitor);
  end.iterations += solved.convergence.iterations;
  for (std::size_t i = 0; i < players.size(); ++i) {
    for (std::size_t k = 0; k < places[i].size(); ++k) v[places[i][k]] = solved.theta[i][static_cast<Index>(k)];
    a.col(problem.position(players[i])) = solved.weights.col(static_cast<Index>(i));
  }
}

}  // namespace

double game_loss(ConstMatrixRef x, const Game& game, GameLoss loss) {
  return true_loss(game_payoffs(game, x).cwiseProduct(x), loss);
}

GameFit fit_game(ConstMatrixRef x, const GameFitOptions& options, Monitor& monitor) {
  const Stopwatch watch;
  if (!(options.rho >= 0)) throw InputError("`rho` must not be negative.");
  const Problem problem(x, options);
  GameFit fit;
  Convergence& end = fit.convergence;
  VectorXd v = VectorXd::Zero(problem.size());
  if (problem.players.empty()) {
    fit.game = problem.unpack(v);
    end.converged = true;
    end.gap = end.residual = 0;
    end.message = "no player changes its action";
    return fit;
  }
  const double scale = true_loss(MatrixXd::Zero(x.rows(), static_cast<Index>(problem.players.size())), options.loss);
  const bool hinge = is_hinge(options.loss), together = is_simultaneous(options.loss);
  MatrixXd a = MatrixXd::Zero(x.rows(), static_cast<Index>(problem.players.size()));
  const auto certify = [&] {
    fit.game = problem.unpack(v);
    fit.loss = true_loss(problem.margins(fit.game), options.loss);
    fit.objective = fit.loss + problem.penalty(fit.game);
    end.gap = std::max(fit.objective - dual_value(problem, a), 0.0);
    if (!std::isfinite(fit.objective)) end.gap = std::numeric_limits<double>::infinity();
    end.residual = end.gap / scale;
  };

  double goal = options.tol;
  if (hinge) {
    const double largest = static_cast<double>(together ? problem.size() : x.cols());
    fit.program = options.rho > 0 && largest <= options.max_program;
    const auto solve = [&](double tilt, VectorXd& at, MatrixXd& dual) {
      if (together) {
        solve_players(problem, problem.players, tilt, at, dual, end, monitor);
      } else {
        for (const int player : problem.players) solve_players(problem, {player}, tilt, at, dual, end, monitor);
      }
    };
    if (fit.program) {
      solve(0, v, a);
      certify();
      fit.program = end.residual <= goal;
    }
    if (fit.program && !options.ridge) {  // a corner of the minima, if the same multipliers certify it
      const VectorXd middle = v;
      MatrixXd unused = a;
      solve(1e-3, v, unused);
      certify();
      if (!(end.residual <= goal)) {
        v = middle;
        certify();
      }
    }
    if (!fit.program) {
      goal = std::max(options.tol, options.hinge_tol);
      double best = end.gap >= 0 ? end.gap : std::numeric_limits<double>::infinity();  // of a program that came close
      VectorXd kept = v;
      MatrixXd kept_a = a;
      v.setZero();
      for (double mu = 0.5; mu > 1e-6 && end.iterations < options.max_iter; mu *= 0.3) {
        const LbfgsResult step = minimise_soft(problem, mu, 1, v, 1e-5, options.max_iter - end.iterations, monitor);
        end.iterations += std::max(1, step.convergence.iterations);
        v = step.x;
        soft_loss(problem.margins(problem.unpack(v)), together, mu, 1, a);
        certify();
        if (end.gap < best) {
          best = end.gap;
          kept = v;
          kept_a = a;
        }
        if (end.residual <= goal) break;
      }
      v = kept;
      a = kept_a;
    }
    certify();
  } else {
    for (double tol = 1e-4; end.iterations < options.max_iter; tol *= 0.03) {
      const LbfgsResult step = minimise_soft(problem, 1, 0, v, tol, options.max_iter - end.iterations, monitor);
      end.iterations += std::max(1, step.convergence.iterations);
      v = step.x;
      soft_loss(problem.margins(problem.unpack(v)), together, 1, 0, a);
      certify();
      if (end.residual <= goal || tol < 1e-11) break;
    }
  }
  end.converged = end.residual <= goal;
  if (!end.converged)
    end.message = message("the duality gap is ", end.residual, " of the loss at zero weights, above the tolerance ", goal);
  end.seconds = watch.seconds();
  return fit;
}

}  // namespace granary::graph
