#include "regress/gen_lasso_solver.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/optim/fista.h"
#include "core/linalg/dense.h"

namespace granary::regress {

GenSolver::GenSolver(const GenDesign& x, const GenLoss& loss, GenPenalty& penalty, const GenLassoOptions& options, Monitor& monitor)
    : x_(x), loss_(loss), penalty_(penalty), options_(options), monitor_(monitor) {
  if (x.cols() != penalty.cols()) {
    throw InputError(message("the penalty is for ", penalty.cols(), " coefficients, but there are ", x.cols(), "."));
  }
  d_ = loss.curvature_bound() * x.squares();
  const double top = d_.size() > 0 ? d_.maxCoeff() : 0;
  // A column of zeros must not make D singular. A small one keeps its own entry, so that units of columns do not matter.
  d_ = (d_.array() > 0).select(d_, top > 0 ? 1e-8 * top : 1.0);
  VectorXd gradient;
  const double at_zero = smooth(VectorXd::Zero(x.cols()), gradient);
  gradient_scale_ = gradient.size() > 0 ? gradient.cwiseAbs().maxCoeff() : 0;
  scale_ = std::abs(at_zero) > 0 ? std::abs(at_zero) : 1;
  x.transpose(loss.y, xty_);
  if (penalty.null_known() && penalty.null_space().cols() > 0 && !x.identity()) {
    const MatrixXd& null = penalty.null_space();
    MatrixXd image(x.rows(), null.cols());
    VectorXd column;
    for (Index j = 0; j < null.cols(); ++j) {
      x.apply(null.col(j), column);
      // Against the size of X, not against its own: rounding is no direction.
      if (column.norm() <= 1e-11 * std::sqrt(x.squares().sum()) * null.col(j).norm()) column.setZero();
      image.col(j) = column;
    }
    const PivotedQr qr(image);
    unique_ = qr.rank() == null.cols();
    null_image_ = qr.thin_q();
  } else if (penalty.null_known() && penalty.null_space().cols() > 0) {
    const PivotedQr qr(penalty.null_space());
    null_image_ = qr.thin_q();
  }
  if (!x.identity()) prepare_f_step();
}

double GenSolver::smooth(const VectorXd& b, VectorXd& gradient) const {
  VectorXd eta;
  x_.apply(b, eta);
  x_.transpose(loss_.gradient(eta), gradient);
  return loss_.value(eta);
}

double GenSolver::smooth(const VectorXd& b) const {
  VectorXd eta;
  x_.apply(b, eta);
  return loss_.value(eta);
}

bool GenSolver::inside(const VectorXd& b) const {
  return !boxed() || ((b.array() >= options_.lower.array()).all() && (b.array() <= options_.upper.array()).all());
}

void GenSolver::prepare_f_step() {
  const Index n = x_.rows(), p = x_.cols();
  if (!x_.explicit_matrix() || static_cast<double>(n) * static_cast<double>(p) > 3e7) return;
  dense_ = x_.dense();
  if (loss_.family != LossFamily::gaussian || boxed()) return;
  if (n < p && n <= 3000) {
    woodbury_ = std::make_unique<DiagonalPlusLowRank>(d_, dense_.transpose());
  } else if (p <= 3000) {
    MatrixXd normal = d_.asDiagonal();
    normal.selfadjointView<Eigen::Lower>().rankUpdate(dense_.transpose());
    normal_ = std::make_unique<Cholesky>(normal);
  }
  direct_ = woodbury_ || normal_;
}

// argmin f(b) + 1/2 ||b - z||_D^2: a factorisation made once, conjugate gradients, Newton steps by them, or projected gradients
// in a box.
VectorXd GenSolver::f_step(const VectorXd& z, const VectorXd& start) {
  if (boxed()) {
    const VectorXd root = d_.cwiseSqrt();
    CompositeProblem<VectorXd> problem;
    problem.smooth = [&](const VectorXd& u, VectorXd& gradient) {
      const VectorXd b = u.cwiseQuotient(root);
      VectorXd inner;
      const double value = smooth(b, inner);
      gradient = inner.cwiseQuotient(root) + (u - root.cwiseProduct(z));
      return value + 0.5 * (u - root.cwiseProduct(z)).squaredNorm();
    };
    problem.prox = [&](const VectorXd& u, double) -> VectorXd {
      return u.cwiseMax(options_.lower.cwiseProduct(root)).cwiseMin(options_.upper.cwiseProduct(root));
    };
    FistaOptions fista_options;
    fista_options.tol = 1e-12;
    fista_options.max_iter = 1000;
    const VectorXd from = start.cwiseMax(options_.lower).cwiseMin(options_.upper).cwiseProduct(root);
    const VectorXd b = granary::fista<VectorXd>(problem, from, fista_options, monitor_).x.cwiseQuotient(root);
    return b.cwiseMax(options_.lower).cwiseMin(options_.upper);
  }
  if (loss_.family == LossFamily::gaussian) {
    const VectorXd right = xty_ + d_.cwiseProduct(z);
    if (normal_) return normal_->solve(right);
    if (woodbury_) return woodbury_->solve(right);
  }
  const LinearOperator precondition = [&](ConstVectorRef v, VectorRef out) { out = v.cwiseQuotient(d_); };
  VectorXd b = start, gradient, inner, eta;
  double value = smooth(b, gradient) + 0.5 * (b - z).cwiseProduct(d_).dot(b - z);
  for (int step = 0; step < 30; ++step) {
    gradient += d_.cwiseProduct(b - z);
    if (gradient.norm() <= 1e-11 * (gradient_scale_ * std::sqrt(static_cast<double>(b.size())) + 1e-300)) break;
    x_.apply(b, eta);
    const VectorXd weight = loss_.curvature(eta);
    const LinearOperator apply = [&](ConstVectorRef v, VectorRef out) {
      x_.apply(v, eta);
      x_.transpose(weight.cwiseProduct(eta), inner);
      out = inner + d_.cwiseProduct(v);
    };
    CgOptions cg;
    cg.tol = loss_.family == LossFamily::gaussian ? 1e-10 : 1e-4;
    cg.max_iter = 200;
    const VectorXd move = -conjugate_gradient(apply, gradient, cg, monitor_, precondition).x;
    const double slope = gradient.dot(move);
    bool moved = false;
    for (double length = 1; length > 1e-8; length *= 0.5) {
      const VectorXd next = b + length * move;
      VectorXd next_gradient;
      const double next_value = smooth(next, next_gradient) + 0.5 * (next - z).cwiseProduct(d_).dot(next - z);
      if (std::isfinite(next_value) && next_value <= value + 1e-4 * length * slope + 1e-14 * std::abs(value)) {
        b = next;
        value = next_value;
        gradient = next_gradient;
        moved = true;
        break;
      }
    }
    if (!moved || (loss_.family == LossFamily::gaussian && step >= 1)) break;
  }
  return b;
}

VectorXd GenSolver::project_null(VectorXd theta) const {
  if (null_image_.cols() > 0) theta -= null_image_ * (null_image_.transpose() * theta);
  return theta;
}

// f over b = N a by Newton's method; exact in one step for least squares.
VectorXd GenSolver::null_fit() {
  const Index p = x_.cols();
  VectorXd b = VectorXd::Zero(p);
  if (!penalty_.null_known() || penalty_.null_space().cols() == 0) return b;
  const MatrixXd& null = penalty_.null_space();
  MatrixXd image(x_.rows(), null.cols());
  VectorXd column;
  for (Index j = 0; j < null.cols(); ++j) {
    x_.apply(null.col(j), column);
    image.col(j) = column;
  }
  VectorXd a = VectorXd::Zero(null.cols()), eta = VectorXd::Zero(x_.rows());
  double value = loss_.value(eta);
  for (int step = 0; step < 100; ++step) {
    const VectorXd g = loss_.gradient(eta);
    const VectorXd root = loss_.curvature(eta).cwiseMax(1e-10).cwiseSqrt();
    const MatrixXd weighted = root.asDiagonal() * image;
    const VectorXd move = PivotedQr(weighted).solve(VectorXd(-g.cwiseQuotient(root)));
    double length = 1;
    for (; length > 1e-10; length *= 0.5) {
      const double next = loss_.value(eta + length * (image * move));
      if (std::isfinite(next) && next <= value) break;
    }
    if (length <= 1e-10) break;
    a += length * move;
    eta = image * a;
    const double next = loss_.value(eta);
    const bool done = loss_.family == LossFamily::gaussian || value - next <= 1e-15 * scale_;
    value = next;
    if (done) break;
  }
  return null * a;
}

void GenSolver::certify(GenLassoFit& fit, double lambda) {
  VectorXd eta, v;
  x_.apply(fit.b, eta);
  VectorXd theta = -loss_.gradient(eta);
  x_.transpose(theta, v);
  double objective = loss_.value(eta) + lambda * penalty_.value(fit.b);
  if (!boxed()) {
    // Coefficients as the penalty leaves them, with exact zeros, where that costs nothing; for blocks of several rows mu is near
    // enough.
    VectorXd b, mu = fit.mu;
    const double small = 1e-5 * options_.tol * scale_;
    penalty_.prox(fit.b + v.cwiseQuotient(d_), d_, lambda, small, true, monitor_, b, mu);
    fit.mu = mu;
    const double there = smooth(b) + lambda * penalty_.value(b);
    if (there <= objective + 1e-4 * options_.tol * scale_) {
      fit.b = b;
      objective = there;
      x_.apply(fit.b, eta);
      theta = -loss_.gradient(eta);
      x_.transpose(theta, v);
    }
  }
  fit.objective = objective;
  const VectorXd rows = penalty_.matrix() * fit.b;
  double dual = std::numeric_limits<double>::quiet_NaN();
  if (boxed()) {
    const VectorXd rest = v - penalty_.transpose(fit.mu);
    dual = loss_.dual(theta);
    for (Index j = 0; j < rest.size(); ++j) {
      const double bound = rest[j] > 0 ? options_.upper[j] : options_.lower[j];
      if (std::isfinite(bound)) {
        dual -= rest[j] * bound;
      } else if (std::abs(rest[j]) > 1e-6 * gradient_scale_) {
        dual = std::numeric_limits<double>::quiet_NaN();
      } else {
        dual -= std::abs(rest[j] * fit.b[j]);
      }
    }
    VectorXd free = rest;
    for (Index j = 0; j < rest.size(); ++j) {
      if ((rest[j] > 0 && fit.b[j] >= options_.upper[j]) || (rest[j] < 0 && fit.b[j] <= options_.lower[j])) free[j] = 0;
    }
    fit.stationarity = free.cwiseAbs().maxCoeff() / std::max(gradient_scale_, 1e-300);
  } else {
    fit.stationarity =
        v.size() > 0 ? (v - penalty_.transpose(fit.mu)).cwiseAbs().maxCoeff() / std::max(gradient_scale_, 1e-300) : 0;
    if (penalty_.null_known() && lambda > 0) {
      theta = project_null(theta);
      x_.transpose(theta, v);
      const VectorXd mu = penalty_.complete(v, fit.mu, monitor_);
      const VectorXd left = v - penalty_.transpose(mu);
      const double norm = penalty_.dual_norm(mu), shrink = norm > lambda ? lambda / norm : 1.0;
      // What rounding leaves of X'theta = R'mu costs left'b at the minimiser: little beside the largest column is much beside a
      // small one, whose coefficient is large.
      if (left.cwiseAbs().maxCoeff() <= 1e-8 * gradient_scale_ + 1e-300) {
        dual = loss_.dual(shrink * theta) - left.cwiseAbs().dot(fit.b.cwiseAbs());
      }
    }
  }
  fit.feasibility = lambda > 0 ? std::max(0.0, penalty_.dual_norm(fit.mu) / lambda - 1) : 0;
  fit.slackness = std::abs(lambda * penalty_.value(fit.b) - fit.mu.dot(rows)) / scale_;
  fit.convergence.gap = std::isfinite(dual) ? std::max(0.0, objective - dual) : Convergence::unknown;
  fit.convergence.residual = std::max(std::max(fit.stationarity, fit.feasibility), fit.slackness);
}

// Least squares on the groups and signs of b, merging groups that meet on the way. True, with b and its objective replaced, if
// that is better.
bool GenSolver::polish(VectorXd& b, double lambda, double& objective) {
  const Index p = x_.cols(), n = x_.rows();
  if (!options_.polish || boxed() || loss_.family != LossFamily::gaussian || dense_.size() == 0 ||
      penalty_.kind() == GenPenalty::Kind::general) {
    return false;
  }
  int count = 0;
  std::vector<int> label = penalty_.groups(b, 0, count);
  if (count == 0 || count > std::min<Index>(n + n / 4, 1000)) return false;
  VectorXd now = b;
  const GenPenalty::Rows& r = penalty_.matrix();
  // With more groups than rows the system is singular: the little on its diagonal turns the step into one that changes the
  // penalty only, and groups meet until as many are left as rows.
  const int rounds = 20 + static_cast<int>(std::max<Index>(0, count - n));
  for (int round = 0; round < rounds; ++round) {
    monitor_.check();
    MatrixXd grouped = MatrixXd::Zero(n, count);
    VectorXd value(count), pull = VectorXd::Zero(count), mass = VectorXd::Zero(count);
    value.setZero();
    for (Index i = 0; i < p; ++i) {
      if (label[i] < 0) continue;
      grouped.col(label[i]) += dense_.col(i);
      value[label[i]] = now[i];
    }
    const VectorXd image = r * now;
    std::vector<std::pair<int, int>> ends(r.rows(), {-1, -1});
    for (Index j = 0; j < r.rows(); ++j) {
      int a = -1, c = -1;
      double weight = 0;
      for (GenPenalty::Rows::InnerIterator it(r, j); it; ++it) {
        if (it.value() == 0) continue;
        if (weight == 0) {
          a = label[it.col()];
          weight = it.value();
        } else {
          c = label[it.col()];
        }
      }
      if (weight == 0 || a == c) continue;
      ends[j] = {a, c};
      const double sign = image[j] > 0 ? weight : -weight;
      if (a >= 0) mass[a] += lambda * sign;
      if (c >= 0) mass[c] -= lambda * sign;
    }
    pull = grouped.transpose() * loss_.y - mass;
    MatrixXd gram = MatrixXd::Zero(count, count);
    gram.selfadjointView<Eigen::Lower>().rankUpdate(grouped.transpose());
    // Every group in its own unit: a little relative to the largest entry would drown groups of small columns.
    const VectorXd unit = (gram.diagonal().array() > 0).select(gram.diagonal().cwiseSqrt().cwiseInverse(), 1.0);
    gram = unit.asDiagonal() * gram * unit.asDiagonal();
    gram.diagonal().array() += 1e-13;
    const Llt factor(gram);
    if (factor.info() != Eigen::Success) break;
    const VectorXd target = unit.cwiseProduct(factor.solve(unit.cwiseProduct(pull))), move = target - value;
    if (!target.allFinite()) break;
    double length = 1;
    Index meets = -1;
    const auto at = [](const VectorXd& v, int k) { return k < 0 ? 0.0 : v[k]; };
    for (Index j = 0; j < r.rows(); ++j) {
      const auto e = ends[j];
      if (e.first == e.second) continue;
      const double gap = at(value, e.first) - at(value, e.second), change = at(move, e.first) - at(move, e.second);
      if (gap * change < 0 && -gap / change < length) {
        length = -gap / change;
        meets = j;
      }
    }
    value += length * move;
    if (meets >= 0) {
      const int keep = std::min(ends[meets].first, ends[meets].second), drop = std::max(ends[meets].first, ends[meets].second);
      const int last = count - 1;
      for (int& l : label) {
        if (l == drop) l = keep;
        if (l == last && drop != last) l = drop;
      }
      value[drop] = value[last];
      --count;
    }
    for (Index i = 0; i < p; ++i) now[i] = label[i] < 0 ? 0.0 : value[label[i]];
    if (meets < 0 || count == 0) break;
  }
  const double found = smooth(now) + lambda * penalty_.value(now);
  if (!(found < objective)) return false;
  b = now;
  objective = found;
  return true;
}

void GenSolver::close(GenLassoFit& fit, double lambda) {
  fit.lambda = lambda;
  const double spread = fit.b.size() > 0 ? fit.b.cwiseAbs().maxCoeff() : 0;
  const bool exact = penalty_.kind() != GenPenalty::Kind::general && options_.method != GenMethod::admm &&
                     options_.method != GenMethod::tikhonov;
  fit.df = penalty_.degrees_of_freedom(fit.b, fit.mu, lambda, exact && !boxed() ? 0.0 : 1e-6 * spread, fit.settled);
}

}  // namespace granary::regress
