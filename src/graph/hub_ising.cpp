#include "hub_ising.h"

#include <algorithm>
#include <cmath>
#include <deque>

#include "../core/errors.h"
#include "../core/lbfgs.h"
#include "../core/logspace.h"

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
  if (!out.convergence.converged) {
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

MatrixXd ising_gibbs(ConstMatrixRef theta, Index n, int burn_in, int thin, Rng& rng, Monitor& monitor) {
  const Index p = theta.rows();
  MatrixXd coefficients = theta, out(n, p);
  coefficients.diagonal().setZero();
  VectorXd x = VectorXd::Zero(p), eta = theta.diagonal();
  for (Index row = 0; row < n; ++row) {
    const int scans = row == 0 ? burn_in + thin : thin;
    for (int scan = 0; scan < scans; ++scan) {
      monitor.check();
      for (Index j = 0; j < p; ++j) {
        const double next = rng.bernoulli(expit(eta[j])) ? 1 : 0;
        if (next != x[j]) {
          eta += (next - x[j]) * coefficients.col(j);
          x[j] = next;
        }
      }
    }
    eta = theta.diagonal() + coefficients * x;  // rounding of the running sums does not pile up
    out.row(row) = x.transpose();
    monitor.progress(static_cast<double>(row + 1) / static_cast<double>(n));
  }
  return out;
}

VectorXd ising_probabilities(ConstMatrixRef theta) {
  const Index p = theta.rows();
  if (p > 20) throw InputError(message("enumerating all states is for at most 20 variables, not ", p, "."));
  const Index states = Index{1} << p;
  VectorXd log_weight(states);
  log_weight[0] = 0;
  for (Index s = 1; s < states; ++s) {  // the state without its highest bit is known already
    Index top = 0;
    while ((s >> (top + 1)) != 0) ++top;
    double add = theta(top, top);
    for (Index k = 0; k < top; ++k) {
      if ((s >> k) & 1) add += theta(top, k);
    }
    log_weight[s] = log_weight[s ^ (Index{1} << top)] + add;
  }
  return softmax(log_weight);
}

MatrixXd ising_exact(ConstMatrixRef theta, Index n, Rng& rng) {
  const AliasTable table(ising_probabilities(theta));
  MatrixXd out(n, theta.rows());
  for (Index i = 0; i < n; ++i) {
    const int state = table.draw(rng);
    for (Index j = 0; j < theta.rows(); ++j) out(i, j) = (state >> j) & 1;
  }
  return out;
}

}  // namespace granary::graph
