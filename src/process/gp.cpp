#include "gp.h"

#include <Eigen/QR>
#include <cmath>
#include <limits>

#include "../core/errors.h"
#include "../core/parallel.h"
#include "../core/spd_inverse.h"

namespace granary::process {

namespace {

constexpr double log_two_pi = 1.8378770664093454836;
constexpr Index points_at_once = 256;

MatrixXd covariance_matrix(const GpModel& model, ConstMatrixRef x) {
  MatrixXd c = model.kernel.matrix(x);
  c.diagonal().array() += model.nugget;
  if (model.noise.size() > 0) c.diagonal() += model.noise;
  return c;
}

}  // namespace

VectorXd GpModel::parameters() const {
  VectorXd p(n_parameters());
  p.head(kernel.n_parameters()) = kernel.parameters();
  if (learn_nugget) p[p.size() - 1] = std::log(nugget);
  return p;
}

void GpModel::set_parameters(ConstVectorRef log_parameters) {
  if (log_parameters.size() != n_parameters()) {
    throw InputError(message("the model has ", n_parameters(), " parameters, but ", log_parameters.size(), " were given."));
  }
  kernel.set_parameters(log_parameters.head(kernel.n_parameters()));
  if (learn_nugget) nugget = std::exp(log_parameters[log_parameters.size() - 1]);
}

GaussianProcess::GaussianProcess(GpModel model, ConstMatrixRef x, ConstVectorRef y, ConstMatrixRef f, GpCriterion criterion,
                                 const JitterOptions& jitter)
    : model_(std::move(model)), x_(x), f_(f), y_(y), criterion_(criterion) {
  check_sizes();
  chol_ = cholesky_with_jitter(covariance_matrix(model_, x_), jitter);
  jitter_ = chol_.jitter();
  ft_ = chol_.solve_lower(f_);
  solve_trend();
  evaluate();
}

GaussianProcess GaussianProcess::restore(GpModel model, ConstMatrixRef x, ConstVectorRef y, ConstMatrixRef f,
                                         ConstMatrixRef lower, double jitter, double scale, GpCriterion criterion) {
  GaussianProcess gp(std::move(model), x, y, f, criterion, Saved{});
  if (lower.rows() != y.size() || lower.cols() != y.size()) {
    throw InputError(message("there are ", y.size(), " responses, but the factor is ", lower.rows(), " x ", lower.cols(), "."));
  }
  gp.chol_ = Cholesky::from_lower(lower);
  gp.jitter_ = jitter;
  gp.ft_ = gp.chol_.solve_lower(gp.f_);
  gp.solve_trend();
  gp.scale_ = scale;
  gp.value_ = std::numeric_limits<double>::quiet_NaN();
  return gp;
}

void GaussianProcess::check_sizes() const {
  const Index n = y_.size();
  if (n == 0) throw InputError("a Gaussian process needs at least one observation.");
  if (x_.rows() != n || f_.rows() != n) {
    throw InputError(
        message("there are ", n, " responses, but ", x_.rows(), " rows of inputs and ", f_.rows(), " of the trend."));
  }
  if (model_.noise.size() != 0 && model_.noise.size() != n) {
    throw InputError(message("there are ", n, " responses, but ", model_.noise.size(), " noise variances."));
  }
  if (f_.cols() >= n) throw InputError(message("a trend of ", f_.cols(), " terms needs more than ", n, " observations."));
}

void GaussianProcess::solve_trend() {
  const Index p = f_.cols();
  VectorXd e = chol_.solve_lower(y_);
  beta_.resize(p);
  if (p > 0) {
    // By QR: beta is as accurate as F allows, where F'C^-1 F would square its condition number.
    const Eigen::HouseholderQR<MatrixXd> qr(ft_);
    MatrixXd g = qr.matrixQR().topRows(p).triangularView<Eigen::Upper>();
    const VectorXd size = g.diagonal().cwiseAbs(), column = ft_.colwise().norm();
    for (Index j = 0; j < p; ++j) {
      if (!(size[j] > 1e-12 * column[j])) throw InputError(message("term ", j + 1, " of the trend depends on the others."));
      if (g(j, j) < 0) g.row(j) = -g.row(j);
    }
    beta_ = qr.solve(e);
    e.noalias() -= ft_ * beta_;
    trend_ = Cholesky::from_lower(g.transpose());
  }
  residual_ = e.squaredNorm();
  alpha_ = chol_.solve_upper(e);
}

void GaussianProcess::evaluate() {
  const Index n = y_.size(), p = f_.cols();
  const double sum = residual_, used = criterion_ == GpCriterion::ml ? n : n - p;
  VectorXd h;
  if (criterion_ == GpCriterion::loo || criterion_ == GpCriterion::loo_density) h = projected_diagonal();
  if (!model_.profile_scale) {
    scale_ = 1;
  } else if (criterion_ == GpCriterion::loo_density) {
    scale_ = (alpha_.array().square() / h.array()).mean();
  } else {
    scale_ = sum / used;
  }
  switch (criterion_) {
    case GpCriterion::ml:
      value_ = -0.5 * (used * (log_two_pi + std::log(scale_)) + chol_.log_determinant() + sum / scale_);
      break;
    case GpCriterion::reml: {
      double log_trend = 0;
      if (p > 0) {
        const Eigen::HouseholderQR<MatrixXd> plain(f_);
        log_trend = trend_.log_determinant() - 2 * plain.matrixQR().diagonal().head(p).cwiseAbs().array().log().sum();
      }
      value_ = -0.5 * (used * (log_two_pi + std::log(scale_)) + chol_.log_determinant() + log_trend + sum / scale_);
      break;
    }
    case GpCriterion::loo:
      value_ = -(alpha_.array() / h.array()).square().sum();
      break;
    case GpCriterion::loo_density:
      value_ = 0.5 * ((h.array() / scale_).log() - log_two_pi - alpha_.array().square() / (h.array() * scale_)).sum();
      break;
  }
}

VectorXd GaussianProcess::fitted() const {
  VectorXd noise = VectorXd::Constant(y_.size(), model_.nugget + jitter_);
  if (model_.noise.size() > 0) noise += model_.noise;
  return y_ - noise.cwiseProduct(alpha_);  // y = F beta + C alpha
}

MatrixXd GaussianProcess::inverse() const {
  MatrixXd ci = chol_.lower();
  inverse_from_cholesky(ci);
  ci.triangularView<Eigen::StrictlyUpper>() = ci.transpose();
  return ci;
}

MatrixXd GaussianProcess::projected(const MatrixXd& ci) const {
  if (f_.cols() == 0) return ci;
  const MatrixXd a = trend_.solve_lower(chol_.solve_upper(ft_).transpose());  // p x n, A'A = C^-1 F (F'C^-1 F)^-1 F'C^-1
  MatrixXd h = ci;
  h.noalias() -= a.transpose() * a;
  return h;
}

VectorXd GaussianProcess::projected_diagonal() const {
  MatrixXd ci = chol_.lower();
  inverse_from_cholesky(ci);
  VectorXd h = ci.diagonal();
  if (f_.cols() > 0) {
    const MatrixXd a = trend_.solve_lower(chol_.solve_upper(ft_).transpose());
    h -= a.colwise().squaredNorm().transpose();
  }
  return h;
}

VectorXd GaussianProcess::gradient() const {
  const Index m = model_.kernel.n_parameters();
  MatrixXd g = inverse();
  if (criterion_ != GpCriterion::ml) g = projected(g);
  if (criterion_ == GpCriterion::ml || criterion_ == GpCriterion::reml) {
    g *= -0.5;
    g.noalias() += (0.5 / scale_) * alpha_ * alpha_.transpose();
  } else {
    // d c_i = -(H dC alpha)_i / H_ii + alpha_i (H dC H)_ii / H_ii^2: G = sym(H u alpha') - H diag(w) H.
    const Eigen::ArrayXd h = g.diagonal().array(), a = alpha_.array();
    const bool density = criterion_ == GpCriterion::loo_density;
    VectorXd u = 2 * a / h.square(), w = 2 * a.square() / h.cube();
    if (density) {
      u = a / (h * scale_);
      w = 0.5 * (a.square() / (h.square() * scale_) + h.inverse());
    }
    const VectorXd hu = g * u;
    const MatrixXd rooted = w.cwiseSqrt().asDiagonal() * g;
    g.setZero();
    g.selfadjointView<Eigen::Lower>().rankUpdate(rooted.transpose(), -1.0);
    g.selfadjointView<Eigen::Lower>().rankUpdate(hu, alpha_, 0.5);
    g.triangularView<Eigen::StrictlyUpper>() = g.transpose();
  }
  VectorXd gradient = VectorXd::Zero(model_.n_parameters());
  model_.kernel.add_gradient(x_, g, gradient.head(m));
  if (model_.learn_nugget) gradient[m] = model_.nugget * g.trace();
  return gradient;
}

GpLeaveOneOut GaussianProcess::leave_one_out() const {
  const VectorXd h = projected_diagonal();
  GpLeaveOneOut result;
  result.mean = y_ - alpha_.cwiseQuotient(h);
  result.variance = scale_ * h.cwiseInverse();
  return result;
}

GpPrediction GaussianProcess::predict(ConstMatrixRef x, ConstMatrixRef f, bool variance, int threads, Monitor& monitor) const {
  const Index m = x.rows(), blocks = (m + points_at_once - 1) / points_at_once;
  GpPrediction result;
  result.mean.resize(m);
  if (variance) result.variance.resize(m);
  parallel_for(blocks, threads, monitor, [&](Index b) {
    const Index from = b * points_at_once, count = std::min(points_at_once, m - from);
    const auto xb = x.middleRows(from, count);
    const auto fb = f.middleRows(from, count);
    MatrixXd r = model_.kernel.cross(x_, xb);  // n x count
    result.mean.segment(from, count) = r.transpose() * alpha_ + fb * beta_;
    if (!variance) return;
    VectorXd v = model_.kernel.diagonal(xb, false);
    r = chol_.solve_lower(r);
    v -= r.colwise().squaredNorm().transpose();
    if (f_.cols() > 0) {
      const MatrixXd u = trend_.solve_lower(ft_.transpose() * r - fb.transpose());
      v += u.colwise().squaredNorm().transpose();
    }
    result.variance.segment(from, count) = scale_ * v.cwiseMax(0);
  });
  return result;
}

MatrixXd GaussianProcess::covariance(ConstMatrixRef x, ConstMatrixRef f) const {
  const MatrixXd v = chol_.solve_lower(model_.kernel.cross(x_, x));
  MatrixXd result = model_.kernel.cross(x, x);
  result.noalias() -= v.transpose() * v;
  if (f_.cols() > 0) {
    const MatrixXd u = trend_.solve_lower(ft_.transpose() * v - f.transpose());
    result.noalias() += u.transpose() * u;
  }
  return scale_ * 0.5 * (result + result.transpose());
}

GpGradient GaussianProcess::predict_gradient(ConstMatrixRef x, ConstMatrixRef f, const std::vector<MatrixXd>& df) const {
  const Index m = x.rows(), d = x.cols(), p = f_.cols();
  if (!model_.kernel.differentiable_in_inputs()) throw InputError("this kernel has no derivatives in its inputs.");
  GpGradient result{MatrixXd::Zero(m, d), MatrixXd::Zero(m, d)};
  VectorXd unused = VectorXd::Zero(model_.kernel.n_parameters());
  const VectorXd one = VectorXd::Ones(m);
  // Row i of the cross matrix depends on x_i alone, so weights per row give one gradient per point.
  const MatrixXd on_mean = one * alpha_.transpose();
  model_.kernel.add_cross_gradient(x, x_, on_mean, unused, &result.mean);
  const MatrixXd r = model_.kernel.cross(x_, x), v = chol_.solve_lower(r);
  MatrixXd weight = -chol_.solve_upper(v);  // of r in half the derivative of the variance
  MatrixXd inner(p, m);
  if (p > 0) {
    inner = trend_.solve(ft_.transpose() * v - f.transpose());  // (F~'F~)^-1 u
    weight += chol_.solve_upper(ft_ * inner);
  }
  const MatrixXd on_variance = 2 * weight.transpose();
  model_.kernel.add_cross_gradient(x, x_, on_variance, unused, &result.variance);
  model_.kernel.add_diagonal_gradient(x, one, unused, &result.variance, false);
  for (std::size_t k = 0; k < df.size(); ++k) {
    result.mean.col(k) += df[k] * beta_;
    result.variance.col(k) -= 2 * df[k].cwiseProduct(inner.transpose()).rowwise().sum();
  }
  result.variance *= scale_;
  return result;
}

MatrixXd GaussianProcess::weights(ConstMatrixRef x, ConstMatrixRef f) const {
  const MatrixXd v = chol_.solve_lower(model_.kernel.cross(x_, x));
  MatrixXd c = v;
  if (f_.cols() > 0) c -= ft_ * trend_.solve(ft_.transpose() * v - f.transpose());
  return chol_.solve_upper(c).transpose();
}

void GaussianProcess::append(ConstVectorRef x, double y, ConstVectorRef f, double noise) {
  const Index n = y_.size();
  if (x.size() != x_.cols() || f.size() != f_.cols())
    throw InputError("the new observation does not have the columns of the others.");
  const MatrixXd row = x.transpose();
  const VectorXd k = model_.kernel.cross(x_, row);
  const bool known = model_.noise.size() > 0;
  const double extra = model_.nugget + jitter_ + (known ? noise : 0);
  chol_.append(k, model_.kernel.diagonal(row)[0] + extra);
  const auto last = chol_.lower().row(n);
  const VectorXd old = last.head(n);
  x_.conservativeResize(n + 1, Eigen::NoChange);
  x_.row(n) = row;
  f_.conservativeResize(n + 1, Eigen::NoChange);
  f_.row(n) = f.transpose();
  y_.conservativeResize(n + 1);
  y_[n] = y;
  if (known) {
    model_.noise.conservativeResize(n + 1);
    model_.noise[n] = noise;
  }
  const Eigen::RowVectorXd carried = old.transpose() * ft_;
  ft_.conservativeResize(n + 1, Eigen::NoChange);
  ft_.row(n) = (f.transpose() - carried) / last[n];
  solve_trend();
  evaluate();
}

double gp_objective(const GpModel& model, ConstMatrixRef x, ConstVectorRef y, ConstMatrixRef f, ConstVectorRef log_parameters,
                    const GpLearnOptions& options, VectorXd* gradient) {
  double value = 0;
  try {
    GpModel at = model;
    at.set_parameters(log_parameters);
    const GaussianProcess gp(std::move(at), x, y, f, options.criterion);
    value = gp.value();
    if (gradient) *gradient = gp.gradient();
  } catch (const NumericalError&) {
    return -std::numeric_limits<double>::infinity();
  }
  if (options.prior_mean.size() > 0) {
    const VectorXd z = (log_parameters - options.prior_mean).cwiseQuotient(options.prior_sd);
    value -= 0.5 * z.squaredNorm();
    if (gradient) *gradient -= z.cwiseQuotient(options.prior_sd);
  }
  return value;
}

MultistartResult learn_gp(const GpModel& model, ConstMatrixRef x, ConstVectorRef y, ConstMatrixRef f, ConstMatrixRef starts,
                          const GpLearnOptions& options, Monitor& monitor) {
  const Index m = model.n_parameters();
  const double infinity = std::numeric_limits<double>::infinity();
  const VectorXd lower = options.lower.size() > 0 ? options.lower : VectorXd::Constant(m, -infinity);
  const VectorXd upper = options.upper.size() > 0 ? options.upper : VectorXd::Constant(m, infinity);
  const Objective minus = [&](const VectorXd& p, VectorXd& gradient) {
    monitor.check();
    const double value = gp_objective(model, x, y, f, p, options, &gradient);
    gradient = -gradient;
    return -value;
  };
  return multistart_box(minus, starts, lower, upper, options.optimiser, options.threads, monitor);
}

}  // namespace granary::process
