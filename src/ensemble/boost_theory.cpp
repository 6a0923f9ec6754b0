#include "ensemble/boost_theory.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "ensemble/boost.h"
#include "ensemble/potential.h"

namespace granary::ensemble {

ConditionResult check_condition(Condition condition, ConstMatrixRef answers, const VectorXi& y, int k, const MatrixXd& baseline, Monitor& monitor) {
  const Index m = answers.rows(), members = answers.cols();
  if (y.size() != m) throw InputError("`y` needs one label per row of the pool.");
  const bool by_row = condition == Condition::samme || condition == Condition::m1;
  const Index columns = by_row ? m : m * (k - 1);
  const double cells = static_cast<double>(members) * static_cast<double>(columns);
  if (cells > 2e7)
    throw InputError(message("the linear program would have ", members, " x ", columns,
                             " numbers, more than can be solved here: take fewer rows or members, or boost the pool and look at the edges."));
  MatrixXd payoff(members, columns);
  for (Index h = 0; h < members; ++h) {
    Index at = 0;
    for (Index i = 0; i < m; ++i) {
      const int said = static_cast<int>(answers(i, h));
      if (by_row) {
        payoff(h, at++) = said == y[i] ? 1 : 0;
        continue;
      }
      for (int l = 0; l < k; ++l) {
        if (l == y[i]) continue;
        const double wrong = said == l ? 1 : 0;
        payoff(h, at++) = condition == Condition::mr ? (said == y[i] ? 1 : 0) - wrong : condition == Condition::uniform ? -wrong : baseline(i, l) - wrong;
      }
    }
  }
  const GameSolution game = solve_matrix_game(payoff, {}, monitor);
  ConditionResult out;
  out.lambda = game.row;
  out.gap = (payoff * game.column).maxCoeff() - (payoff.transpose() * game.row).minCoeff();
  out.value = (payoff.transpose() * game.row).minCoeff();  // what the mixture reaches
  const double chance = 1.0 / k;
  switch (condition) {
    case Condition::mr: out.gamma = out.value / 2; break;
    case Condition::samme: out.gamma = (out.value - chance) / (1 - chance); break;
    case Condition::m1: out.gamma = 2 * out.value - 1; break;
    case Condition::uniform:
      out.value = -out.value;
      out.gamma = 1 - k * out.value;
      break;
    case Condition::baseline: out.gamma = out.value;
  }
  out.cost = MatrixXd::Zero(m, k);
  Index at = 0;
  for (Index i = 0; i < m; ++i) {
    if (by_row) {
      for (int l = 0; l < k; ++l) out.cost(i, l) = l == y[i] ? 0 : game.column[i];
      continue;
    }
    for (int l = 0; l < k; ++l)
      if (l != y[i]) {
        out.cost(i, l) = game.column[at];
        if (condition == Condition::mr) out.cost(i, y[i]) -= game.column[at];
        ++at;
      }
  }
  return out;
}

MarginGame margin_game(ConstMatrixRef u, bool lp, double nu, int max_iter, Monitor& monitor) {
  MarginGame out;
  Stopwatch watch;
  const Index n = u.rows();
  if (lp) {
    const MatrixXd payoff = u.transpose();
    const GameSolution game = solve_matrix_game(payoff, {}, monitor);
    out.alpha = game.row;
    out.d = game.column;
    out.convergence.iterations = game.convergence.iterations;
  } else {
    BoostOptions options;
    options.method = BoostMethod::star;
    options.learner = LearnerKind::pool;
    const double scale = std::max(u.cwiseAbs().maxCoeff(), 1e-300);  // edges must lie in [-1, 1]
    const MatrixXd pool = u / scale;
    options.nu = nu / scale;
    options.tol = options.nu;
    options.n_rounds = std::max(1, static_cast<int>(std::min<double>(max_iter, std::ceil(star_rounds(std::max<double>(2, static_cast<double>(n)), options.nu)))));
    Rng unused(0);
    const VectorXd first = VectorXd::Ones(n);
    const BoostResult fit = boost(Design(MatrixView(pool.data(), n, pool.cols())), first, VectorXd(), options, {}, unused, monitor);
    out.alpha = VectorXd::Zero(u.cols());
    for (std::size_t t = 0; t < fit.alpha.size(); ++t) out.alpha[fit.picks[t]] += fit.alpha[t];
    if (out.alpha.sum() > 0) out.alpha /= out.alpha.sum();
    else out.alpha[0] = 1;
    out.d = fit.best_weights.size() > 0 ? fit.best_weights : fit.weights;
    out.convergence.iterations = static_cast<int>(fit.alpha.size());
  }
  out.value = (u * out.alpha).minCoeff();
  out.upper = (u.transpose() * out.d).maxCoeff();
  Convergence& c = out.convergence;
  c.gap = std::max(0.0, out.upper - out.value);
  const double spread = u.maxCoeff() - u.minCoeff();
  c.converged = c.gap <= (lp ? 1e-9 * std::max(spread, 1e-300) : nu);
  c.seconds = watch.seconds();
  return out;
}

double binary_divergence(double a, double b) {
  const auto part = [](double x, double y) { return x > 0 ? x * std::log(x / y) : 0; };
  return part((1 + a) / 2, (1 + b) / 2) + part((1 - a) / 2, (1 - b) / 2);
}

double margin_share_bound(ConstVectorRef edge, ConstVectorRef target, double theta) {
  double sum = 0;
  for (Index t = 0; t < edge.size(); ++t) sum += binary_divergence(theta, target[t]) - binary_divergence(theta, edge[t]);
  return sum;
}

double limit_margin(double g, double rho, double eta) {
  if (!(g > rho)) throw InputError("the edge must be above the target.");
  const double a = eta * (std::atanh(g) - std::atanh(rho));
  if (a < 1e-12) return g;
  return -std::log((1 + g) / 2 * std::exp(-a) + (1 - g) / 2 * std::exp(a)) / a;
}

double star_rounds(double n, double nu) { return 2 * std::log(n) / (nu * nu); }

double target_rounds(double n, double nu, double rho) {
  const double share = nu * nu / (2 * (1 - rho) * (1 + rho));
  if (!(share < 1)) return 1;
  return std::log(n) / -std::log1p(-share);
}

VectorXd boost_bound(BoostBound what, int k, ConstVectorRef edge, ConstVectorRef other, const std::vector<double>& numbers) {
  const Index n = edge.size();
  const auto each = [&](auto&& f) {
    VectorXd out(n);
    for (Index t = 0; t < n; ++t) out[t] = f(t);
    return out;
  };
  switch (what) {
    case BoostBound::contraction: return each([&](Index t) { return contraction(edge[t], other[t], k); });
    case BoostBound::step: return each([&](Index t) { return best_step(edge[t], k); });
    case BoostBound::error: {
      double sum = std::log(k - 1.0);
      for (Index t = 0; t < n; ++t) sum += other.size() > 0 ? std::log(contraction(edge[t], other[t], k)) : 0.5 * std::log((1 - edge[t]) * (1 + edge[t]));
      return VectorXd::Constant(1, sum);
    }
    case BoostBound::share: return VectorXd::Constant(1, margin_share_bound(edge, other, numbers.at(0)));
    case BoostBound::limit: return each([&](Index t) { return limit_margin(edge[t], other[t], numbers.at(0)); });
    case BoostBound::rounds: return VectorXd::Constant(1, star_rounds(numbers.at(0), numbers.at(1)));
    case BoostBound::target_rounds: break;
  }
  return VectorXd::Constant(1, target_rounds(numbers.at(0), numbers.at(1), numbers.at(2)));
}

}  // namespace granary::ensemble
