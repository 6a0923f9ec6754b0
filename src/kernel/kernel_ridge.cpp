#include "kernel/kernel_ridge.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/linalg/dense.h"
#include "core/lowrank/sketch.h"

namespace granary::kernel {

namespace {

// The problem with the parametric part taken out, and its SVD.
class Problem {
 public:
  Problem(ConstMatrixRef z, ConstMatrixRef p, ConstVectorRef y, ConstVectorRef weights) : root_(VectorXd::Ones(y.size())) {
    if (weights.size() > 0) root_ = weights.cwiseSqrt();
    z_ = root_.asDiagonal() * z;
    y_ = root_.cwiseProduct(y);
    const MatrixXd scaled = root_.asDiagonal() * p;
    basis_ = range_basis(scaled, 1e-10);
    if (basis_.rank() < p.cols())
      throw InputError(message("the columns of the parametric part depend on each other: ", p.cols(), " columns of rank ",
                               basis_.rank(), "."));
    if (y.size() <= p.cols()) throw InputError("there must be more rows than columns of the parametric part.");
    MatrixXd left = z_;
    VectorXd rest = y_;
    for (int twice = 0; twice < 2 && basis_.rank() > 0; ++twice) {  // once more, for what rounding left
      left -= basis_.q * (basis_.q.transpose() * left).eval();
      rest -= basis_.q * (basis_.q.transpose() * rest).eval();
    }
    const Qr qr(left);
    const Svd svd(qr.r(), SvdParts::thin);
    s2_ = svd.singularValues().cwiseAbs2();
    v_ = svd.matrixV();
    u_ = qr.thin_q() * svd.matrixU();
    t_ = u_.transpose() * rest;
    rest_ = rest;
    outside_ = std::max(0.0, (rest - u_ * t_).squaredNorm());
    whole2_ = Svd(Qr(z_).r(), SvdParts::values).singularValues().cwiseAbs2();
  }

  Index n() const { return y_.size(); }
  Index q() const { return basis_.rank(); }
  double largest() const { return s2_.size() > 0 && s2_[0] > 0 ? s2_[0] : 1; }

  VectorXd leverage(double lambda) const {
    VectorXd h = u_.cwiseAbs2() * shrink(lambda);
    if (q() > 0) h += basis_.q.rowwise().squaredNorm();
    return h;
  }
  VectorXd residuals(double lambda) const { return rest_ - u_ * shrink(lambda).cwiseProduct(t_); }

  RidgeScores scores(double lambda, bool with_loo) const {
    RidgeScores out;
    const double n = static_cast<double>(this->n()), q = static_cast<double>(this->q());
    const VectorXd keep = shrink(lambda), drop = VectorXd::Ones(keep.size()) - keep;
    out.lambda = lambda;
    out.df = q + keep.sum();
    out.rss = outside_ + drop.cwiseProduct(t_).squaredNorm();
    out.gcv = n * out.rss / std::pow(std::max(n - out.df, 1e-12 * n), 2);
    const double left = std::max(outside_ + drop.dot(t_.cwiseAbs2()), 1e-300), twopi = 2 * std::acos(-1.0);
    const double scale = 2 * root_.array().log().sum();
    out.reml = -0.5 * ((n - q) * (std::log(twopi * left / (n - q)) + 1) + (s2_ / lambda).array().log1p().sum() - scale);
    out.ml = -0.5 * (n * (std::log(twopi * left / n) + 1) + (whole2_ / lambda).array().log1p().sum() - scale);
    if (with_loo) {
      const VectorXd one = (1 - leverage(lambda).array()).max(1e-12);
      out.loo = residuals(lambda).cwiseQuotient(one).squaredNorm() / n;
    }
    return out;
  }

  // Fills everything that belongs to the chosen lambda.
  void finish(RidgeResult& out, bool likelihood) const {
    const double lambda = out.chosen.lambda, n = static_cast<double>(this->n());
    const VectorXd inverse = (s2_.array() + lambda).inverse();
    out.weights = v_ * s2_.cwiseSqrt().cwiseProduct(inverse).cwiseProduct(t_);
    const MatrixXd solve = basis_.pseudo_inverse() * basis_.q.transpose();  // P^+, of the scaled P
    out.parametric = solve * (y_ - z_ * out.weights);
    out.residuals = residuals(lambda).cwiseQuotient(root_);
    out.fitted = y_.cwiseQuotient(root_) - out.residuals;
    out.leverage = leverage(lambda);
    out.loo_residuals = out.residuals.array() / (1 - out.leverage.array()).max(1e-12);
    const double penalty = (s2_.array() * inverse.array().square() * t_.array().square()).sum() * lambda;  // lambda |w|^2
    out.noise_var = likelihood ? (out.chosen.rss + penalty) / (n - static_cast<double>(q()))
                               : out.chosen.rss / std::max(n - out.chosen.df, 1e-12 * n);
    const Index k = v_.rows(), all = k + q();
    out.covariance = MatrixXd::Zero(all, all);
    const VectorXd gain = inverse.array() - 1 / lambda;  // directions that the data do not see keep 1 / lambda
    MatrixXd w = v_ * gain.asDiagonal() * v_.transpose();
    w.diagonal().array() += 1 / lambda;
    out.covariance.topLeftCorner(k, k) = w;
    if (q() == 0) return;
    const MatrixXd through = solve * z_, with = -through * w;
    out.covariance.bottomLeftCorner(q(), k) = with;
    out.covariance.topRightCorner(k, q()) = with.transpose();
    const MatrixXd inner = basis_.pseudo_inverse();
    out.covariance.bottomRightCorner(q(), q()) = inner * inner.transpose() - with * through.transpose();
  }

 private:
  VectorXd shrink(double lambda) const { return s2_.array() / (s2_.array() + lambda); }

  VectorXd root_, y_, rest_, s2_, whole2_, t_;
  MatrixXd z_, u_, v_;
  RangeBasis basis_;
  double outside_ = 0;
};

double loss(const RidgeScores& s, RidgeRule rule) {
  switch (rule) {
    case RidgeRule::gcv:
      return s.gcv;
    case RidgeRule::loo:
      return s.loo;
    case RidgeRule::reml:
      return -s.reml;
    default:
      return -s.ml;
  }
}

}  // namespace

RidgeResult kernel_ridge(ConstMatrixRef z, ConstMatrixRef parametric, ConstVectorRef y, ConstVectorRef weights,
                         const RidgeOptions& options) {
  const Stopwatch clock;
  const Problem problem(z, parametric, y, weights);
  VectorXd grid = options.lambda;
  const bool search = grid.size() == 0;
  if (search)
    grid = (VectorXd::LinSpaced(options.n_lambda, std::log(1e4), std::log(1e-12)).array().exp() * problem.largest()).matrix();
  RidgeResult out;
  Index best = 0;
  for (Index i = 0; i < grid.size(); ++i) {
    out.table.push_back(problem.scores(grid[i], true));
    if (loss(out.table.back(), options.rule) < loss(out.table[static_cast<std::size_t>(best)], options.rule)) best = i;
  }
  out.chosen = out.table[static_cast<std::size_t>(best)];
  out.at_edge = grid.size() > 1 && (best == 0 || best == grid.size() - 1);
  const bool loo = options.rule == RidgeRule::loo;
  if (search && !out.at_edge) {  // golden section between the neighbours
    const double golden = 0.5 * (std::sqrt(5.0) - 1);
    double from = std::log(grid[best + 1]), to = std::log(grid[best - 1]);
    const auto at = [&](double log_lambda) {
      const RidgeScores s = problem.scores(std::exp(log_lambda), loo);
      if (loss(s, options.rule) < loss(out.chosen, options.rule)) out.chosen = s;
      ++out.convergence.iterations;
      return loss(s, options.rule);
    };
    double a = to - golden * (to - from), b = from + golden * (to - from), fa = at(a), fb = at(b);
    while (to - from > 1e-6) {
      if (fa < fb) {
        to = b;
        b = a;
        fb = fa;
        fa = at(a = to - golden * (to - from));
      } else {
        from = a;
        a = b;
        fa = fb;
        fb = at(b = from + golden * (to - from));
      }
    }
  }
  out.chosen = problem.scores(out.chosen.lambda, true);
  problem.finish(out, options.rule == RidgeRule::reml || options.rule == RidgeRule::ml);
  // Whether lambda is a minimum of the rule, from the rule itself; the coefficients are exact for it.
  double fall = 0;
  if (search && !out.at_edge)
    for (const double step : {-1e-3, 1e-3}) {
      const RidgeScores near = problem.scores(out.chosen.lambda * std::exp(step), loo);
      fall = std::max(fall, loss(out.chosen, options.rule) - loss(near, options.rule));
    }
  out.convergence.residual = fall / std::max(1e-300, std::abs(loss(out.chosen, options.rule)));
  out.convergence.converged = out.convergence.residual <= 1e-6;
  out.convergence.seconds = clock.seconds();
  return out;
}

VectorXd ridge_variance(ConstMatrixRef z, ConstMatrixRef parametric, ConstVectorRef left, ConstMatrixRef covariance,
                        double noise_var, double lambda) {
  MatrixXd both(z.rows(), z.cols() + parametric.cols());
  both << z, parametric;
  const VectorXd by_data = (both * covariance).cwiseProduct(both).rowwise().sum();
  return noise_var * (by_data.cwiseMax(0.0) + left.cwiseMax(0.0) / lambda);
}

}  // namespace granary::kernel
