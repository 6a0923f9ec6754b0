#include "process/bo_surrogate.h"

#include <cmath>

#include "core/base/errors.h"
#include "core/linalg/spd_inverse.h"
#include "core/math/special.h"

namespace granary::process {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double log_pi = 1.1447298858494001741;
constexpr double smallest_noise = 1e-12;
// What stands in for Jeffreys' prior while n <= p: wide in units of y.
constexpr double weak_variance = 100, weak_shape = 0.5, weak_rate = 0.5;

double log_student(double nu, double squared) {  // log density of t_nu at t, squared = t^2
  return log_gamma(0.5 * (nu + 1)) - log_gamma(0.5 * nu) - 0.5 * (std::log(nu) + log_pi) -
         0.5 * (nu + 1) * std::log1p(squared / nu);
}

}  // namespace

MatrixXd BoTrend::features(ConstMatrixRef x) const {
  if (function) return function(x);
  MatrixXd phi(x.rows(), (constant ? 1 : 0) + static_cast<Index>(columns.size()));
  Index at = 0;
  if (constant) phi.col(at++).setOnes();
  for (Index k : columns) phi.col(at++) = x.col(k);
  return phi;
}

MatrixXd BoTrend::slopes(Index dimension) const {
  MatrixXd slopes = MatrixXd::Zero((constant ? 1 : 0) + static_cast<Index>(columns.size()), dimension);
  Index at = constant ? 1 : 0;
  for (Index k : columns) slopes(at++, k) = 1;
  return slopes;
}

BoSurrogate::BoSurrogate(Kernel kernel, double noise, BoTrend trend, const BoPrior& prior, ConstMatrixRef x, ConstVectorRef y,
                         Cholesky factor)
    : kernel_(std::move(kernel)),
      noise_(std::max(noise, smallest_noise)),
      trend_(std::move(trend)),
      prior_(prior),
      x_(x),
      phi_(trend_.features(x)),
      y_(y) {
  const Index n = y_.size(), p = phi_.cols(), ready = factor.size();
  if (n == 0) throw InputError("a surrogate needs at least one observation.");
  if (x_.rows() != n || phi_.rows() != n || ready > n)
    throw InputError(message("there are ", n, " responses for ", x_.rows(), " points."));
  if (prior_.process != BoProcess::tp_jeffreys && (prior_.mean.size() != p || (weighs_mean() && prior_.variance.size() != p)))
    throw InputError(message("the prior of the mean must have ", p, " terms, but it has ", prior_.mean.size(), "."));
  if (ready == 0) {
    MatrixXd k = kernel_.matrix(x_);
    k.diagonal().array() += noise_;
    system_ = KrigingSystem(cholesky_with_jitter(k, {1e-12, 1e-6}), phi_);
  } else {
    system_ = KrigingSystem(std::move(factor), phi_.topRows(ready));
    for (Index i = ready; i < n; ++i) append_row(i);
  }
  solve();
}

void BoSurrogate::append(ConstVectorRef x, double y) {
  const Index n = y_.size();
  x_.conservativeResize(n + 1, Eigen::NoChange);
  x_.row(n) = x.transpose();
  y_.conservativeResize(n + 1);
  y_[n] = y;
  const MatrixXd phi = trend_.features(x.transpose());
  phi_.conservativeResize(n + 1, Eigen::NoChange);
  phi_.row(n) = phi.row(0);
  append_row(n);
  solve();
}

// [K~ k; k' d]: the new row of the factor is (L^-1 k)', sqrt(d - k'K~^-1 k), and the last pivot cannot be below the noise but for
// rounding, as with repeated points.
void BoSurrogate::append_row(Index i) {
  const MatrixXd row = x_.row(i);
  const VectorXd k = kernel_.cross(x_.topRows(i), row);
  const double explained = factor().solve_lower(k).squaredNorm();
  double pivot = kernel_.diagonal(row)[0] + noise_ - explained;
  if (!(pivot > 0.5 * noise_)) {
    pivot = noise_;
    ++floored_;
  }
  system_.append(k, explained + pivot, phi_.row(i).transpose());
}

void BoSurrogate::solve() {
  const Index n = y_.size(), p = phi_.cols();
  const bool jeffreys = prior_.process == BoProcess::tp_jeffreys;
  // Too few points, or terms that they cannot tell apart.
  weak_ = jeffreys && (n <= p || system_.solve_flat(y_, 1e-7) >= 0);
  double distance = 0;  // (w_n - b)'B^-1 (w_n - b)
  if (!weighs_mean()) {
    system_.solve_known(y_, jeffreys ? VectorXd() : prior_.mean);
  } else if (!jeffreys || weak_) {
    const VectorXd b = weak_ ? VectorXd(VectorXd::Zero(p)) : prior_.mean;
    const VectorXd inverse_variance =
        weak_ ? VectorXd(VectorXd::Constant(p, 1 / weak_variance)) : VectorXd(prior_.variance.cwiseInverse());
    system_.solve_normal(y_, b, inverse_variance);
    distance = (weights() - b).cwiseAbs2().dot(inverse_variance);
  }
  const double shape = weak_ ? weak_shape : prior_.shape, rate = weak_ ? weak_rate : prior_.rate;
  q_ = system_.residual().squaredNorm() + distance;
  switch (prior_.process) {
    case BoProcess::gp:
    case BoProcess::gp_normal:
      nu_ = infinity;
      s2_ = prior_.s2;
      return;
    case BoProcess::tp_jeffreys:
      if (!weak_) {
        nu_ = static_cast<double>(n - p);
        break;
      }
      [[fallthrough]];
    case BoProcess::tp_nig:
      q_ += 2 * rate;
      nu_ = static_cast<double>(n) + 2 * shape;
      break;
  }
  s2_ = std::max(q_, 1e-300) / nu_;
}

double BoSurrogate::log_evidence() const {
  const double n = static_cast<double>(y_.size()), p = static_cast<double>(phi_.cols());
  const double log_k = factor().log_determinant(), log_w = weighs_mean() ? system_.precision().log_determinant() : 0;
  const bool proper = prior_.process != BoProcess::tp_jeffreys;
  const double log_b = !weighs_mean() ? 0
                       : weak_        ? p * std::log(weak_variance)
                       : proper       ? prior_.variance.array().log().sum()
                                      : 0;
  if (!student()) return -0.5 * (n * (std::log(2 * s2_) + log_pi) + log_k + log_w + log_b + q_ / s2_);
  const double log_q = std::log(std::max(q_, 1e-300));
  double a = weak_ ? weak_shape : prior_.shape, c = weak_ ? weak_rate : prior_.rate;
  if (!proper && !weak_)
    return log_gamma(0.5 * nu_) - 0.5 * nu_ * (log_pi + log_q) - 0.5 * (log_k + log_w);  // flat prior: up to its constant
  return log_gamma(a + 0.5 * n) - log_gamma(a) - 0.5 * n * log_pi + a * std::log(2 * c) - (a + 0.5 * n) * log_q -
         0.5 * (log_k + log_w + log_b);
}

MatrixXd BoSurrogate::projected_inverse() const {
  MatrixXd h = factor().lower();
  inverse_from_cholesky(h);
  h.triangularView<Eigen::StrictlyUpper>() = h.transpose();
  system_.project(h);
  return h;
}

double BoSurrogate::log_leave_one_out() const {
  const VectorXd& alpha = system_.alpha();
  const VectorXd h = projected_inverse().diagonal();
  double total = 0;
  for (Index i = 0; i < h.size(); ++i) {
    const double squared = alpha[i] * alpha[i] / h[i];
    if (!student()) {
      total += 0.5 * (std::log(h[i] / (2 * s2_)) - log_pi - squared / s2_);
      continue;
    }
    if (!(nu_ > 1)) return -infinity;  // leaving one out leaves no proper law
    const double rest = std::max(q_ - squared, 1e-300), variance = rest / (nu_ - 1);
    total += log_student(nu_ - 1, squared / variance) + 0.5 * std::log(h[i] / variance);
  }
  return total;
}

// G = d score / dK~. With dH = -H dK H, d alpha = -H dK alpha and dq = -alpha'dK alpha:
//   evidence: G = (alpha alpha' / s2 - H) / 2;   leave one out: G = -sym(H u alpha') - H diag(v) H - t alpha alpha',
// u, v, t the derivatives of the score in alphai, H_ii and q.
VectorXd BoSurrogate::gradient(BoScore score) const {
  const Index m = kernel_.n_parameters(), n = y_.size();
  const VectorXd& alpha = system_.alpha();
  MatrixXd g = projected_inverse();
  if (score == BoScore::evidence) {
    g *= -0.5;
    g.noalias() += (0.5 / s2_) * alpha * alpha.transpose();
  } else {
    const VectorXd h = g.diagonal();
    VectorXd u(n), v(n);
    double t = 0;
    for (Index i = 0; i < n; ++i) {
      const double a = alpha[i], squared = a * a / h[i];
      if (!student()) {
        u[i] = -a / (h[i] * s2_);
        v[i] = 0.5 * (1 / h[i] + squared / (h[i] * s2_));
        continue;
      }
      // l = const - nu/2 log(1 + z) - log(r)/2 + log(h)/2, z = squared / r, r = q - squared, so 1 + z = q / r:
      // l = const - nu/2 log q + (nu - 1)/2 log r + log(h)/2.
      const double r = std::max(q_ - squared, 1e-300), on_squared = -0.5 * (nu_ - 1) / r;
      u[i] = on_squared * 2 * a / h[i];
      v[i] = -on_squared * squared / h[i] + 0.5 / h[i];
      t += -0.5 * nu_ / q_ + 0.5 * (nu_ - 1) / r;
    }
    const VectorXd hu = g * u;
    const MatrixXd weighted = v.asDiagonal() * g;
    MatrixXd total = -(g * weighted);
    total.noalias() -= 0.5 * (hu * alpha.transpose() + alpha * hu.transpose());
    if (student()) total.noalias() -= t * alpha * alpha.transpose();
    g.swap(total);
  }
  VectorXd gradient = VectorXd::Zero(m + 1);
  kernel_.add_gradient(x_, g, gradient.head(m));
  gradient[m] = noise_ * g.trace();
  return gradient;
}

BoPrediction BoSurrogate::predict(ConstMatrixRef x) const {
  const MatrixXd phi = trend_.features(x);
  MatrixXd r = kernel_.cross(x_, x);
  BoPrediction result;
  result.location = system_.mean(r, phi);
  result.scale = (s2_ * system_.variance(std::move(r), phi, kernel_.diagonal(x, false))).cwiseSqrt();
  return result;
}

void BoSurrogate::predict_gradient(ConstVectorRef x, double& location, double& scale, VectorXd& d_location,
                                   VectorXd& d_scale) const {
  const MatrixXd row = x.transpose(), phi = trend_.features(row), r = kernel_.cross(x_, row), slopes = trend_.slopes(x.size());
  MatrixXd on_r, on_phi;
  location = system_.mean(r, phi)[0];
  scale = std::sqrt(s2_ * system_.variance_slopes(r, phi, kernel_.diagonal(row, false), on_r, on_phi)[0]);
  VectorXd unused = VectorXd::Zero(kernel_.n_parameters());
  MatrixXd on_mean = MatrixXd::Zero(1, x.size()), on_variance = MatrixXd::Zero(1, x.size());
  const MatrixXd mean_weight = system_.alpha().transpose(), variance_weight = on_r.transpose();
  kernel_.add_cross_gradient(row, x_, mean_weight, unused, &on_mean);
  kernel_.add_cross_gradient(row, x_, variance_weight, unused, &on_variance);
  kernel_.add_diagonal_gradient(row, VectorXd::Ones(1), unused, &on_variance, false);
  d_location = on_mean.row(0).transpose() + slopes.transpose() * weights();
  d_scale = on_variance.row(0).transpose() + slopes.transpose() * on_phi.col(0);
  if (scale > 0)
    d_scale *= s2_ / (2 * scale);
  else
    d_scale.setZero();
}

MatrixXd BoSurrogate::covariance(ConstMatrixRef x) const {
  return s2_ * system_.covariance(kernel_.cross(x_, x), trend_.features(x), kernel_.cross(x, x));
}

}  // namespace granary::process
