#include "graph/game_hinge.h"
#include "core/linalg/dense.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace granary::graph {

namespace {

using Eigen::ArrayXd;
using Eigen::ArrayXXd;

// A point, or a step. (s, y), (xi, t), (plus, u), (minus, v) are the pairs whose products go to zero: slacks of the margins and
// their multipliers; losses; positive and negative parts of w with what is left of |U'y| <= rho. With a ridge the last two pairs
// are empty.
struct Point {
  ArrayXXd s, y;
  ArrayXd xi, t, plus, u, minus, v;
  VectorXd theta;
};

template <class A>
double room(const A& value, const A& step) {  // the longest step that keeps value + step >= 0
  double alpha = 1e300;
  for (Index k = 0; k < value.size(); ++k) {
    if (step.data()[k] < 0) alpha = std::min(alpha, -value.data()[k] / step.data()[k]);
  }
  return alpha;
}

class Interior {
 public:
  explicit Interior(const HingeProgram& program)
      : program_(program), m_(program.margins[0].rows()), players_(static_cast<Index>(program.margins.size())) {
    for (const MatrixXd& u : program.margins) {
      from_.push_back(size_);
      size_ += u.cols();
      for (Index k = size_ - u.cols(); k + 1 < size_; ++k) weights_.push_back(k);
    }
    const double per_row = 1 / static_cast<double>(m_);
    pairs_ = program.ridge ? 0 : static_cast<Index>(weights_.size());
    at_.y = ArrayXXd::Constant(m_, players_, 0.5 * per_row / static_cast<double>(players_));
    at_.s = ArrayXXd::Constant(m_, players_, 1);
    at_.xi = ArrayXd::Constant(m_, 2);
    at_.t = ArrayXd::Constant(m_, 0.5 * per_row);
    price_ = ArrayXd::Constant(pairs_, program.rho);
    for (Index k = 0; k < pairs_; ++k) {
      const double golden = 0.6180339887498949 * static_cast<double>(k + 1);  // its fractions are evenly spread
      price_[k] *= 1 + program.tilt * (golden - std::floor(golden));
    }
    at_.u = at_.v = price_;
    at_.plus = at_.minus = ArrayXd::Constant(pairs_, std::max(0.1, 0.5 * per_row / program.rho));
    at_.theta = VectorXd::Zero(size_);
  }

  HingeSolution run(const HingeOptions& options, Monitor& monitor) {
    HingeSolution solution;
    Convergence& end = solution.convergence;
    end.residual = std::numeric_limits<double>::infinity();
    Point best = at_;
    for (int worse = 0; worse < 5; ++end.iterations) {  // beyond what rounding allows steps only lose
      monitor.check();
      residuals();
      const double merit = std::max(complementarity(at_), error());
      ++worse;
      if (merit < end.residual) {
        end.residual = merit;
        best = at_;
        worse = 0;
      }
      if (end.residual <= options.tol || end.iterations == options.max_iter || !std::isfinite(merit) || !prepare()) break;
      step();
    }
    at_ = best;
    end.gap = complementarity(at_);
    end.converged = end.residual <= options.tol;
    round();
    for (Index i = 0; i < players_; ++i) solution.theta.push_back(at_.theta.segment(from_[i], program_.margins[i].cols()));
    solution.weights = static_cast<double>(m_) * at_.y.matrix();
    return solution;
  }

 private:
  MatrixXd times(const VectorXd& theta) const {  // U_i theta_i
    MatrixXd z(m_, players_);
    for (Index i = 0; i < players_; ++i) z.col(i) = program_.margins[i] * theta.segment(from_[i], program_.margins[i].cols());
    return z;
  }
  VectorXd transposed(const ArrayXXd& y) const {  // U_i'y_i
    VectorXd g(size_);
    for (Index i = 0; i < players_; ++i) {
      g.segment(from_[i], program_.margins[i].cols()) = program_.margins[i].transpose() * y.col(i).matrix();
    }
    return g;
  }
  ArrayXd of_weights(const VectorXd& theta) const {
    ArrayXd w(static_cast<Index>(weights_.size()));
    for (Index k = 0; k < w.size(); ++k) w[k] = theta[weights_[k]];
    return w;
  }

  static double complementarity(const Point& a) {
    return (a.s * a.y).sum() + (a.xi * a.t).sum() + (a.plus * a.u).sum() + (a.minus * a.v).sum();
  }

  // What the constraints lack: margins, sum_i y_li, the two sides of |U'y| <= rho (or the ridge's gradient), thresholds.
  void residuals() {
    margin_ = 1 - times(at_.theta).array() + at_.s;
    margin_.colwise() -= at_.xi;
    budget_ = 1 / static_cast<double>(m_) - at_.y.rowwise().sum() - at_.t;
    const VectorXd g = transposed(at_.y);
    const ArrayXd w = of_weights(g);
    if (program_.ridge) {
      slope_ = w - 2 * program_.rho * of_weights(at_.theta);
    } else {
      over_ = price_ - w - at_.u;
      under_ = price_ + w - at_.v;
    }
    balance_.resize(players_);
    for (Index i = 0; i < players_; ++i) balance_[i] = -g[from_[i] + program_.margins[i].cols() - 1];
  }
  double error() const {
    const double dual = program_.ridge ? slope_.abs().sum() : over_.abs().sum() + under_.abs().sum();
    return (margin_.abs().sum() + dual) / static_cast<double>(m_) + budget_.abs().sum() + balance_.array().abs().sum();
  }

  // The matrix of the step. With D = y / s and tau = t / xi, row l contributes sum_ik M_ik u_li u_lk', M = diag(D) - D D' / (tau
  // + sum D): a difference of large numbers, unless its diagonal is written D_i (tau + sum of the others) / (tau + sum D).
  bool prepare() {
    d_ = at_.y / at_.s;
    const ArrayXd tau = at_.t / at_.xi;
    total_ = tau + d_.rowwise().sum();
    others_.resize(m_, players_);
    for (Index i = 0; i < players_; ++i) {
      others_.col(i) = tau;
      for (Index k = 0; k < players_; ++k) {
        if (k != i) others_.col(i) += d_.col(k);
      }
    }
    MatrixXd scaled(m_, size_);
    for (Index i = 0; i < players_; ++i) {
      scaled.middleCols(from_[i], program_.margins[i].cols()) =
          (d_.col(i) / total_.sqrt()).matrix().asDiagonal() * program_.margins[i];
    }
    MatrixXd h = MatrixXd::Zero(size_, size_);
    if (players_ > 1) h.selfadjointView<Eigen::Lower>().rankUpdate(scaled.transpose(), -1);
    for (Index i = 0; i < players_; ++i) {
      const MatrixXd& u = program_.margins[i];
      const MatrixXd weighted = (d_.col(i) * others_.col(i) / total_).sqrt().matrix().asDiagonal() * u;
      h.block(from_[i], from_[i], u.cols(), u.cols()).noalias() = weighted.transpose() * weighted;
    }
    if (program_.ridge) {
      stiffness_ = ArrayXd::Constant(static_cast<Index>(weights_.size()), 2 * program_.rho);
    } else {
      stiffness_ = 1 / (at_.plus / at_.u + at_.minus / at_.v);
    }
    for (Index k = 0; k < stiffness_.size(); ++k) h(weights_[k], weights_[k]) += stiffness_[k];
    h.diagonal().array() += 1e-14 * h.diagonal().maxCoeff();
    factor_.compute(h);
    return factor_.info() == Eigen::Success;
  }

  // M e - D c / (tau + sum D), row by row, in sums of differences.
  ArrayXXd reduce(const ArrayXXd& e, const ArrayXd& c) const {
    ArrayXXd out(m_, players_);
    const ArrayXd tau = at_.t / at_.xi;
    for (Index i = 0; i < players_; ++i) {
      ArrayXd sum = e.col(i) * tau - c;
      for (Index k = 0; k < players_; ++k) {
        if (k != i) sum += d_.col(k) * (e.col(i) - e.col(k));
      }
      out.col(i) = d_.col(i) * sum / total_;
    }
    return out;
  }

  // The step towards products `target` (with the second-order terms of `ahead`, if there is a predictor).
  Point direction(double target, const Point* ahead) const {
    const auto wanted = [target](const auto& a, const auto& b) { return target - a * b; };
    ArrayXXd of_s = wanted(at_.s, at_.y);
    ArrayXd of_xi = wanted(at_.xi, at_.t), of_plus = wanted(at_.plus, at_.u), of_minus = wanted(at_.minus, at_.v);
    if (ahead) {
      of_s -= ahead->s * ahead->y;
      of_xi -= ahead->xi * ahead->t;
      of_plus -= ahead->plus * ahead->u;
      of_minus -= ahead->minus * ahead->v;
    }
    Point d;
    const ArrayXXd e = margin_ + of_s / at_.y;
    const ArrayXd c = of_xi / at_.xi - budget_;
    VectorXd right = transposed(reduce(e, c));
    // Without the margins w would move by `alone`.
    ArrayXd from_plus, from_minus, alone;
    if (!program_.ridge) {
      from_plus = (of_plus - at_.plus * over_) / at_.u;
      from_minus = (of_minus - at_.minus * under_) / at_.v;
      alone = from_plus - from_minus;
    }
    const ArrayXd push = program_.ridge ? slope_ : ArrayXd(stiffness_ * alone);
    for (Index k = 0; k < push.size(); ++k) right[weights_[k]] += push[k];
    for (Index i = 0; i < players_; ++i) right[from_[i] + program_.margins[i].cols() - 1] -= balance_[i];
    d.theta = factor_.solve(right);
    const ArrayXXd left = e - times(d.theta).array();
    d.y = reduce(left, c);
    d.xi = (c + (d_ * left).rowwise().sum()) / total_;
    d.t = budget_ - d.y.rowwise().sum();
    d.s = (of_s - at_.s * d.y) / at_.y;
    if (!program_.ridge) {
      // U'dy by way of the step of w: from dy itself it would be multiplied by plus / u, which has no limit.
      const ArrayXd g = stiffness_ * (of_weights(d.theta) - alone);
      d.u = over_ - g;
      d.v = under_ + g;
      d.plus = from_plus + at_.plus / at_.u * g;
      d.minus = from_minus - at_.minus / at_.v * g;
    }
    return d;
  }

  double primal_room(const Point& d) const {
    return std::min({room(at_.s, d.s), room(at_.xi, d.xi), room(at_.plus, d.plus), room(at_.minus, d.minus)});
  }
  double dual_room(const Point& d) const {
    return std::min({room(at_.y, d.y), room(at_.t, d.t), room(at_.u, d.u), room(at_.v, d.v)});
  }
  static void move(Point& a, const Point& d, double primal, double dual) {
    a.theta += primal * d.theta;
    a.s += primal * d.s;
    a.xi += primal * d.xi;
    a.plus += primal * d.plus;
    a.minus += primal * d.minus;
    a.y += dual * d.y;
    a.t += dual * d.t;
    a.u += dual * d.u;
    a.v += dual * d.v;
  }

  void step() {
    const double count = static_cast<double>(m_ * players_ + m_ + 2 * pairs_);
    const double mu = complementarity(at_) / count;
    const Point ahead = direction(0, nullptr);
    Point trial = at_;
    move(trial, ahead, std::min(1.0, primal_room(ahead)), std::min(1.0, dual_room(ahead)));
    const double centring = std::pow(std::max(0.0, complementarity(trial) / count / mu), 3);
    const Point d = direction(centring * mu, &ahead);
    double primal = std::min(1.0, 0.995 * primal_room(d)), dual = std::min(1.0, 0.995 * dual_room(d));
    if (program_.ridge) primal = dual = std::min(primal, dual);  // the gradient of the ridge ties them
    move(at_, d, primal, dual);
  }

  // Of each weight and what is left of its bound one is zero at the solution: the smaller, both being numbers of order one when
  // divided by rho.
  void round() {
    for (Index k = 0; k < pairs_; ++k) {
      if (at_.plus[k] * price_[k] < at_.u[k] && at_.minus[k] * price_[k] < at_.v[k]) at_.theta[weights_[k]] = 0;
    }
  }

  const HingeProgram& program_;
  Index m_, players_, size_ = 0, pairs_ = 0;
  std::vector<Index> from_;     // of player i's coefficients in theta
  std::vector<Index> weights_;  // places of the penalised coefficients
  Point at_;
  ArrayXXd margin_, d_, others_;
  ArrayXd price_, budget_, over_, under_, slope_, total_, stiffness_;
  VectorXd balance_;
  Llt factor_;
};

}  // namespace

HingeSolution solve_hinge(const HingeProgram& program, const HingeOptions& options, Monitor& monitor) {
  return Interior(program).run(options, monitor);
}

}  // namespace granary::graph
