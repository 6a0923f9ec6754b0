#include "graph/hub_ising.h"

#include <algorithm>
#include <cmath>
#include <deque>

#include "core/base/errors.h"
#include "core/optim/lbfgs.h"
#include "core/math/logspace.h"
#include "graph/hub_newton.h"

namespace granary::graph {

namespace {

// The loss divided by n, so that step sizes and tolerances do not depend on it.
class PseudoLikelihood {
 public:
  explicit PseudoLikelihood(ConstMatrixRef x)
      : x_(x), n_(static_cast<double>(x.rows())), gram_(x.transpose() * x / n_), mean_(x.colwise().mean()) {}

  Index p() const { return x_.cols(); }
  double n() const { return n_; }
  const VectorXd& mean() const { return mean_; }
  const ConstMatrixRef& x() const { return x_; }

  MatrixXd linear_predictor(const MatrixXd& theta) const {
    MatrixXd coefficients = theta;
    coefficients.diagonal().setZero();
    return (x_ * coefficients).rowwise() + theta.diagonal().transpose();
  }

  double operator()(const MatrixXd& theta, MatrixXd* gradient) const {
    MatrixXd eta = linear_predictor(theta);
    const double value = eta.unaryExpr([](double e) { return log1pexp(e); }).sum() / n_ - gram_.cwiseProduct(theta).sum();
    if (gradient) {
      eta = eta.unaryExpr([](double e) { return expit(e); });
      MatrixXd r = x_.transpose() * eta / n_;
      r.diagonal() = eta.colwise().mean();
      r -= gram_;
      *gradient = 0.5 * (r + r.transpose());
    }
    return value;
  }

  // Intercepts with sum_i p_ij = sum_i x_ij given the rest of T: Newton steps kept inside a bracket.
  void solve_intercepts(MatrixXd& theta) const {
    const MatrixXd eta = linear_predictor(theta);
    for (Index j = 0; j < p(); ++j) {
      const VectorXd offset = eta.col(j).array() - theta(j, j);
      double low = logit(mean_[j]) - offset.maxCoeff(), high = logit(mean_[j]) - offset.minCoeff();
      double b = std::clamp(theta(j, j), low, high);
      for (int k = 0; k < 100; ++k) {
        double sum = 0, slope = 0;
        for (Index i = 0; i < offset.size(); ++i) {
          const double e = expit(offset[i] + b);
          sum += e;
          slope += e * (1 - e);
        }
        const double excess = sum / n_ - mean_[j];
        (excess > 0 ? high : low) = b;
        double next = slope > 0 ? b - excess * n_ / slope : 0.5 * (low + high);
        if (!(next >= low && next <= high)) next = 0.5 * (low + high);
        const bool done = std::abs(next - b) <= 1e-15 * (1 + std::abs(b));
        b = next;
        if (done) break;
      }
      theta(j, j) = b;
    }
  }

  double certify(const HubPenalty& penalty, HubResult& candidate) const {
    HubState& state = candidate.state;
    solve_intercepts(state.theta);
    state.z.diagonal() = state.theta.diagonal();
    MatrixXd gradient;
    candidate.loss = (*this)(state.theta, &gradient);
    candidate.objective = candidate.loss + hub_cost(penalty, state.v, state.z);
    state.l = -gradient;
    candidate.violation = std::max(dual_violation(penalty, state.l), state.l.diagonal().cwiseAbs().maxCoeff());
    const double scale = dual_scale(penalty, state.l);
    const auto entropy = [](double a) { return a > 0 && a < 1 ? -a * std::log(a) - (1 - a) * std::log1p(-a) : 0.0; };
    const MatrixXd eta = linear_predictor(state.theta);
    double dual = 0;
    for (Index j = 0; j < p(); ++j) {
      for (Index i = 0; i < x_.rows(); ++i) dual += entropy(x_(i, j) + scale * (expit(eta(i, j)) - x_(i, j)));
    }
    return candidate.objective - dual / n_;
  }

 private:
  ConstMatrixRef x_;
  double n_;
  MatrixXd gram_;
  VectorXd mean_;
};

// The quadratic model of the pseudo-likelihood. With weights w = p (1 - p) and E the change of the linear predictor, the
// derivative along (i, j) is G_ij + (x_i'(w_j E_j) + x_j'(w_i E_i)) / 2n; w E is what is kept.
class IsingModel : public HubModel {
 public:
  IsingModel(const PseudoLikelihood& f, const HubPenalty& penalty) : f_(f), penalty_(penalty) {}

  double evaluate(const MatrixXd& theta) override {
    candidate_ = theta;
    const double value = f_(theta, nullptr);
    return std::isfinite(value) ? value : Convergence::unknown;
  }

  void accept() override {
    f_(candidate_, &g_);
    weight_ = f_.linear_predictor(candidate_).unaryExpr([](double e) { return expit(e) * expit(-e); });
  }

  const MatrixXd& gradient() const override { return g_; }
  double certify(HubResult& candidate) override { return f_.certify(penalty_, candidate); }

  void begin_direction(const HubPattern& pattern) override {
    pattern_ = &pattern;
    change_ = MatrixXd::Zero(weight_.rows(), weight_.cols());
    cross_ = f_.x().transpose() * weight_ / f_.n();  // x_i'w_j
  }

  void begin_column(Index j, const VectorXd&) override {
    j_ = j;
    first_ = pattern_->start[j];
  }

  double slope(Index k) const override {
    const Index i = row(k);
    if (i == j_) return g_(j_, j_) + change_.col(j_).mean();
    return g_(i, j_) + 0.5 * (f_.x().col(i).dot(change_.col(j_)) + f_.x().col(j_).dot(change_.col(i))) / f_.n();
  }

  double curvature(Index k) const override {
    const Index i = row(k);
    return i == j_ ? weight_.col(j_).mean() : 0.5 * (cross_(i, j_) + cross_(j_, i));
  }

  void move(Index k, double by) override {
    const Index i = row(k);
    if (i == j_) {
      change_.col(j_) += by * weight_.col(j_);
    } else {
      change_.col(j_).array() += by * weight_.col(j_).array() * f_.x().col(i).array();
      change_.col(i).array() += by * weight_.col(i).array() * f_.x().col(j_).array();
    }
  }

 private:
  Index row(Index k) const { return pattern_->row[first_ + k]; }

  const PseudoLikelihood& f_;
  const HubPenalty& penalty_;
  MatrixXd candidate_, g_, weight_, change_, cross_;
  const HubPattern* pattern_ = nullptr;
  Index j_ = 0;
  int first_ = 0;
};

// argmin h by Barzilai-Borwein steps with the non-monotone line search of Raydan (1997): accept below the largest of the last ten
// values.
VectorXd barzilai_borwein(const Objective& h, VectorXd x, double tol, Monitor& monitor) {
  VectorXd g(x.size()), g_new(x.size());
  double value = h(x, g), step = 1 / std::max(1.0, g.lpNorm<Eigen::Infinity>());
  const double first = g.lpNorm<Eigen::Infinity>();
  std::deque<double> recent{value};
  for (int k = 0; k < 500 && g.lpNorm<Eigen::Infinity>() > tol * first; ++k) {
    monitor.check();
    const double ceiling = *std::max_element(recent.begin(), recent.end()), slope = g.squaredNorm();
    VectorXd x_new = x - step * g;
    double value_new = h(x_new, g_new);
    for (int cut = 0; cut < 50 && !(value_new <= ceiling - 1e-4 * step * slope); ++cut) {
      step *= 0.5;
      x_new = x - step * g;
      value_new = h(x_new, g_new);
    }
    const VectorXd dx = x_new - x, dg = g_new - g;
    const double curvature = dx.dot(dg);
    step = curvature > 0 ? std::clamp(dx.squaredNorm() / curvature, 1e-10, 1e10) : 1;
    x = x_new;
    g = g_new;
    value = value_new;
    recent.push_back(value);
    if (recent.size() > 10) recent.pop_front();
  }
  return x;
}

void check_binary(ConstMatrixRef x) {
  if (x.rows() == 0 || x.cols() == 0) throw InputError("the data must have at least one row and one column.");
  for (Index j = 0; j < x.cols(); ++j) {
    for (Index i = 0; i < x.rows(); ++i) {
      if (x(i, j) != 0 && x(i, j) != 1)
        throw InputError(message("the data must be 0 or 1, but row ", i + 1, ", column ", j + 1, " is ", x(i, j)));
    }
    const double sum = x.col(j).sum();
    if (sum == 0 || sum == static_cast<double>(x.rows())) {
      throw InputError(message("column ", j + 1, " is always ", x(0, j), ", so its intercept has no finite estimate; drop it"));
    }
  }
}

}  // namespace

double ising_loss(ConstMatrixRef x, ConstMatrixRef theta, MatrixXd* gradient) {
  const PseudoLikelihood f(x);
  const double value = f.n() * f(theta, gradient);
  if (gradient) *gradient *= f.n();
  return value;
}

HubResult hub_ising(ConstMatrixRef x, const HubPenalty& penalty, const HubOptions& options, Monitor& monitor,
                    const HubState* start) {
  check_binary(x);
  const Stopwatch clock;
  const PseudoLikelihood f(x);
  const Index p = f.p();
  const double n = f.n();
  const HubPenalty own = penalty.scaled(1 / n);

  MatrixXd last = f.mean().unaryExpr([](double m) { return logit(m); }).asDiagonal();
  const MatrixXd diagonal = last;
  if (start) last = start->theta;
  HubLoss loss;
  loss.prox = [&](const MatrixXd& v, double rho) {
    const Objective h = [&](const VectorXd& at, VectorXd& gradient) {
      const Eigen::Map<const MatrixXd> theta(at.data(), p, p);
      MatrixXd g;
      const double value = f(theta, &g) + 0.5 * rho * (theta - v).squaredNorm();
      g += rho * (theta - v);
      gradient = Eigen::Map<const VectorXd>(g.data(), g.size());
      return value;
    };
    // The last T is near the answer, the nearer the further the run: a tolerance relative to the first gradient shrinks along
    // with it.
    const double tol = 1e-4;
    const VectorXd from = Eigen::Map<const VectorXd>(last.data(), last.size());
    VectorXd to;
    if (options.barzilai_borwein) {
      to = barzilai_borwein(h, from, tol, monitor);
    } else {
      LbfgsOptions inner;
      inner.tol = tol;
      inner.max_iter = 50;
      inner.max_evaluations_per_line = 10;  // once rounding hides the descent, more would find nothing
      to = lbfgs(h, from, inner, monitor).x;
    }
    const MatrixXd t = Eigen::Map<const MatrixXd>(to.data(), p, p);
    last = 0.5 * (t + t.transpose());
    return last;
  };
  loss.certify = [&](HubResult& candidate, const MatrixXd&) { return f.certify(own, candidate); };

  HubOptions scaled = options;
  scaled.step = 0.1 * options.step;  // the curvature of the loss is a fraction of one
  HubState from;
  if (start) {
    from = *start;
    from.l /= n;
  }
  HubResult out;
  if (options.reduce) {  // the best T without edges, which is the answer when its gradient is in the dual set
    out.state.theta = out.state.z = diagonal;
    out.state.v = MatrixXd::Zero(p, p);
    out.convergence.gap = f.certify(own, out);
    out.convergence.converged = out.convergence.gap <= options.tol * static_cast<double>(p);
    out.state.step = scaled.step;
    out.trace.push_back({0, out.objective, out.convergence.gap});
  }
  if (!out.convergence.converged && options.reduce && own.q != HubNorm::linf) {
    // With q = 1 the norm of a column is one more l1 penalty.
    const HubPenalty flat = own.q == HubNorm::l1 ? HubPenalty{own.l1, own.l2 + own.l3, 0, HubNorm::l2} : own;
    IsingModel model(f, flat);
    out = hub_newton(model, flat, diagonal, options.tol * static_cast<double>(p), options, start ? &from : nullptr, monitor);
  } else if (!out.convergence.converged) {
    out = hub_admm(loss, own, diagonal, options.tol * static_cast<double>(p), scaled, start ? &from : nullptr, monitor);
  }
  out.state.l *= n;
  out.loss *= n;
  out.objective *= n;
  out.violation *= n;
  out.convergence.gap *= n;
  for (HubStep& t : out.trace) {
    t.objective *= n;
    t.gap *= n;
  }
  out.components.emplace_back();
  for (int i = 0; i < p; ++i) out.components[0].push_back(i);
  out.convergence.seconds = clock.seconds();
  return out;
}

}  // namespace granary::graph
