#include "bo_surrogate.h"

#include <cmath>

#include "../core/errors.h"
#include "../core/spd_inverse.h"
#include "../core/special.h"

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
      y_(y),
      chol_(std::move(factor)) {
  const Index n = y_.size(), p = phi_.cols();
  if (n == 0) throw InputError("a surrogate needs at least one observation.");
  if (x_.rows() != n || phi_.rows() != n || chol_.size() > n)
    throw InputError(message("there are ", n, " responses for ", x_.rows(), " points."));
  if (prior_.process != BoProcess::tp_jeffreys && (prior_.mean.size() != p || (weighs_mean() && prior_.variance.size() != p)))
    throw InputError(message("the prior of the mean must have ", p, " terms, but it has ", prior_.mean.size(), "."));
  if (chol_.size() == 0) {
    MatrixXd k = kernel_.matrix(x_);
    k.diagonal().array() += noise_;
    chol_ = cholesky_with_jitter(k, {1e-12, 1e-6});
    pt_ = chol_.solve_lower(phi_);
  } else {
    append_rows(chol_.size());
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
  append_rows(n);
  solve();
}

// [K~ k; k' d]: the new row of the factor is (L^-1 k)', sqrt(d - k'K~^-1 k), and the last pivot cannot be below the noise but for
// rounding, as with repeated points.
void BoSurrogate::append_rows(Index from) {
  const Index n = y_.size();
  for (Index i = from; i < n; ++i) {
    const MatrixXd row = x_.row(i);
    const VectorXd k = kernel_.cross(x_.topRows(i), row);
    const double explained = chol_.solve_lower(k).squaredNorm();
    double pivot = kernel_.diagonal(row)[0] + noise_ - explained;
    if (!(pivot > 0.5 * noise_)) {
      pivot = noise_;
      ++floored_;
    }
    chol_.append(k, explained + pivot);
  }
  pt_ = chol_.solve_lower(phi_);
}

void BoSurrogate::solve() {
  const Index n = y_.size(), p = phi_.cols();
  const VectorXd yt = chol_.solve_lower(y_);
  double distance = 0;  // (w_n - b)'B^-1 (w_n - b)
  if (prior_.process == BoProcess::tp_jeffreys) {
    weak_ = n <= p;
    if (!weak_ && p > 0) {
      try {
        const MatrixXd precision = pt_.transpose() * pt_;
        mean_precision_ = Cholesky(precision);
        const auto pivots = mean_precision_.lower().diagonal().array() / precision.diagonal().array().sqrt();
        weak_ = !(pivots.minCoeff() > 1e-7);  // terms that the points cannot tell apart
      } catch (const NumericalError&) {
        weak_ = true;
      }
    }
  }
  VectorXd b = prior_.mean, inverse_variance;
  double shape = prior_.shape, rate = prior_.rate;
  if (weak_) {
    b = VectorXd::Zero(p);
    inverse_variance = VectorXd::Constant(p, 1 / weak_variance);
    shape = weak_shape;
    rate = weak_rate;
  } else if (prior_.process == BoProcess::tp_jeffreys) {
    b = VectorXd::Zero(p);
    inverse_variance = VectorXd::Zero(p);
  } else if (weighs_mean()) {
    inverse_variance = prior_.variance.cwiseInverse();
  }
  if (!weighs_mean()) {
    w_ = b;
  } else {
    if (prior_.process != BoProcess::tp_jeffreys || weak_) {
      MatrixXd precision = pt_.transpose() * pt_;
      precision.diagonal() += inverse_variance;
      mean_precision_ = Cholesky(precision);
    }
    w_ = mean_precision_.solve(VectorXd(pt_.transpose() * yt + inverse_variance.cwiseProduct(b)));
    distance = (w_ - b).cwiseAbs2().dot(inverse_variance);
  }
  e_ = yt - pt_ * w_;
  alpha_ = chol_.solve_upper(e_);
  q_ = e_.squaredNorm() + distance;
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
  const double log_k = chol_.log_determinant(), log_w = weighs_mean() ? mean_precision_.log_determinant() : 0;
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
  MatrixXd h = chol_.lower();
  inverse_from_cholesky(h);
  h.triangularView<Eigen::StrictlyUpper>() = h.transpose();
  if (weighs_mean()) {
    const MatrixXd a = mean_precision_.solve_lower(MatrixXd(chol_.solve_upper(pt_).transpose()));  // p x n
    h.noalias() -= a.transpose() * a;
  }
  return h;
}

double BoSurrogate::log_leave_one_out() const {
  const VectorXd h = projected_inverse().diagonal();
  double total = 0;
  for (Index i = 0; i < h.size(); ++i) {
    const double squared = alpha_[i] * alpha_[i] / h[i];
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
// u, v, t the derivatives of the score in alpha_i, H_ii and q.
VectorXd BoSurrogate::gradient(BoScore score) const {
  const Index m = kernel_.n_parameters(), n = y_.size();
  MatrixXd g = projected_inverse();
  if (score == BoScore::evidence) {
    g *= -0.5;
    g.noalias() += (0.5 / s2_) * alpha_ * alpha_.transpose();
  } else {
    const VectorXd h = g.diagonal();
    VectorXd u(n), v(n);
    double t = 0;
    for (Index i = 0; i < n; ++i) {
      const double a = alpha_[i], squared = a * a / h[i];
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
    total.noalias() -= 0.5 * (hu * alpha_.transpose() + alpha_ * hu.transpose());
    if (student()) total.noalias() -= t * alpha_ * alpha_.transpose();
    g.swap(total);
  }
  VectorXd gradient = VectorXd::Zero(m + 1);
  kernel_.add_gradient(x_, g, gradient.head(m));
  gradient[m] = noise_ * g.trace();
  return gradient;
}

BoPrediction BoSurrogate::predict(ConstMatrixRef x) const {
  BoPrediction result;
  const MatrixXd phi = trend_.features(x), v = chol_.solve_lower(kernel_.cross(x_, x));
  result.location = v.transpose() * e_ + phi * w_;
  VectorXd variance = kernel_.diagonal(x, false) - v.colwise().squaredNorm().transpose();
  if (weighs_mean()) {
    const MatrixXd g = phi.transpose() - pt_.transpose() * v;
    variance += mean_precision_.solve_lower(g).colwise().squaredNorm().transpose();
  }
  result.scale = (s2_ * variance.cwiseMax(0)).cwiseSqrt();
  return result;
}

void BoSurrogate::predict_gradient(ConstVectorRef x, double& location, double& scale, VectorXd& d_location,
                                   VectorXd& d_scale) const {
  const MatrixXd row = x.transpose();
  const MatrixXd phi = trend_.features(row);
  const VectorXd v = chol_.solve_lower(VectorXd(kernel_.cross(x_, row)));
  location = v.dot(e_) + phi.row(0).dot(w_);
  double variance = kernel_.diagonal(row, false)[0] - v.squaredNorm();
  VectorXd weight = -chol_.solve_upper(v);  // of k in half the derivative of the variance
  const MatrixXd slopes = trend_.slopes(x.size());
  VectorXd inner = VectorXd::Zero(phi.cols());
  if (weighs_mean()) {
    const VectorXd g = phi.row(0).transpose() - pt_.transpose() * v;
    inner = mean_precision_.solve(g);
    variance += g.dot(inner);
    weight -= chol_.solve_upper(VectorXd(pt_ * inner));
  }
  VectorXd unused = VectorXd::Zero(kernel_.n_parameters());
  MatrixXd on_mean = MatrixXd::Zero(1, x.size()), on_variance = MatrixXd::Zero(1, x.size());
  const MatrixXd mean_weight = alpha_.transpose(), variance_weight = 2 * weight.transpose();
  kernel_.add_cross_gradient(row, x_, mean_weight, unused, &on_mean);
  kernel_.add_cross_gradient(row, x_, variance_weight, unused, &on_variance);
  kernel_.add_diagonal_gradient(row, VectorXd::Ones(1), unused, &on_variance, false);
  d_location = on_mean.row(0).transpose() + slopes.transpose() * w_;
  d_scale = on_variance.row(0).transpose() + 2 * (slopes.transpose() * inner);
  scale = std::sqrt(s2_ * std::max(variance, 0.0));
  if (scale > 0)
    d_scale *= s2_ / (2 * scale);
  else
    d_scale.setZero();
}

MatrixXd BoSurrogate::covariance(ConstMatrixRef x) const {
  const MatrixXd v = chol_.solve_lower(kernel_.cross(x_, x));
  MatrixXd result = kernel_.cross(x, x);
  result.noalias() -= v.transpose() * v;
  if (weighs_mean()) {
    const MatrixXd g = trend_.features(x).transpose() - pt_.transpose() * v;
    const MatrixXd u = mean_precision_.solve_lower(g);
    result.noalias() += u.transpose() * u;
  }
  return s2_ * 0.5 * (result + result.transpose());
}

}  // namespace granary::process
