#include "process/gp.h"

#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/linalg/spd_inverse.h"
#include "core/linalg/spd_steps.h"
#include "core/linalg/dense.h"

namespace granary::process {

namespace {

constexpr double log_two_pi = 1.8378770664093454836;
constexpr Index points_at_once = 256;
constexpr Index large = 1000;  // from here on a factor or an inverse takes a tenth of a second

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
                                 const JitterOptions& jitter, Monitor* monitor)
    : model_(std::move(model)), x_(x), f_(f), y_(y), criterion_(criterion) {
  check_sizes();
  const MatrixXd c = covariance_matrix(model_, x_);
  Cholesky factor;
  if (monitor != nullptr && size() >= large) {
    MatrixXd lower = c;
    if (cholesky_in_steps(lower, *monitor)) factor = Cholesky::from_lower(lower);
  }
  if (factor.size() == 0) factor = cholesky_with_jitter(c, jitter);
  jitter_ = factor.jitter();
  system_ = KrigingSystem(std::move(factor), f_);
  solve();
  evaluate();
}

GaussianProcess GaussianProcess::restore(GpModel model, ConstMatrixRef x, ConstVectorRef y, ConstMatrixRef f,
                                         SystemFactor factor, double jitter, double scale, GpCriterion criterion) {
  GaussianProcess gp(std::move(model), x, y, f, criterion, Saved{});
  if (factor.size() != y.size())
    throw InputError(message("there are ", y.size(), " responses, but the factor has ", factor.size(), " rows."));
  gp.jitter_ = jitter;
  gp.system_ = KrigingSystem(std::move(factor), gp.f_);
  gp.solve();
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

void GaussianProcess::solve() {
  const Index bad = system_.solve_flat(y_);
  if (bad >= 0) throw InputError(message("term ", bad + 1, " of the trend depends on the others."));
}

void GaussianProcess::evaluate() {
  const Index n = y_.size(), p = f_.cols();
  const double sum = system_.residual().squaredNorm(), used = criterion_ == GpCriterion::ml ? n : n - p;
  const double log_det = cholesky().log_determinant();
  const VectorXd& a = alpha();
  VectorXd h;
  if (criterion_ == GpCriterion::loo || criterion_ == GpCriterion::loo_density) h = projected_diagonal();
  if (!model_.profile_scale) {
    scale_ = 1;
  } else if (criterion_ == GpCriterion::loo_density) {
    scale_ = (a.array().square() / h.array()).mean();
  } else {
    scale_ = sum / used;
  }
  switch (criterion_) {
    case GpCriterion::ml:
      value_ = -0.5 * (used * (log_two_pi + std::log(scale_)) + log_det + sum / scale_);
      break;
    case GpCriterion::reml: {
      double log_trend = 0;
      if (p > 0) {
        const Qr plain(f_);
        log_trend = trend_precision().log_determinant() - 2 * plain.matrixQR().diagonal().head(p).cwiseAbs().array().log().sum();
      }
      value_ = -0.5 * (used * (log_two_pi + std::log(scale_)) + log_det + log_trend + sum / scale_);
      break;
    }
    case GpCriterion::loo:
      value_ = -(a.array() / h.array()).square().sum();
      break;
    case GpCriterion::loo_density:
      value_ = 0.5 * ((h.array() / scale_).log() - log_two_pi - a.array().square() / (h.array() * scale_)).sum();
      break;
  }
}

VectorXd GaussianProcess::fitted() const {
  VectorXd noise = VectorXd::Constant(y_.size(), model_.nugget + jitter_);
  if (model_.noise.size() > 0) noise += model_.noise;
  return y_ - noise.cwiseProduct(alpha());  // y = F beta + C alpha
}

MatrixXd GaussianProcess::inverse(Monitor* monitor) const {
  MatrixXd ci = cholesky().lower();
  if (monitor != nullptr && size() >= large) {
    inverse_from_cholesky_in_steps(ci, *monitor);
  } else {
    inverse_from_cholesky(ci);
  }
  ci.triangularView<Eigen::StrictlyUpper>() = ci.transpose();
  return ci;
}

VectorXd GaussianProcess::inverse_diagonal() const {
  if (inverse_diagonal_.size() == size()) return inverse_diagonal_;
  MatrixXd ci = cholesky().lower();
  inverse_from_cholesky(ci);
  return ci.diagonal();
}

VectorXd GaussianProcess::projected_diagonal() const { return inverse_diagonal() - system_.projection(); }

VectorXd GaussianProcess::gradient(Monitor* monitor) const {
  const Index m = model_.kernel.n_parameters();
  MatrixXd g = inverse(monitor);
  if (criterion_ != GpCriterion::ml) system_.project(g);
  if (criterion_ == GpCriterion::ml || criterion_ == GpCriterion::reml) {
    g *= -0.5;
    g.noalias() += (0.5 / scale_) * alpha() * alpha().transpose();
  } else {
    // d c_i = -(H dC alpha)_i / H_ii + alpha_i (H dC H)_ii / H_ii^2: G = sym(H u alpha') - H diag(w) H.
    const Eigen::ArrayXd h = g.diagonal().array(), a = alpha().array();
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
    g.selfadjointView<Eigen::Lower>().rankUpdate(hu, alpha(), 0.5);
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
  result.mean = y_ - alpha().cwiseQuotient(h);
  result.variance = scale_ * h.cwiseInverse();
  return result;
}

GpPrediction predict_in_blocks(const KrigingSystem& system, ConstMatrixRef x, ConstMatrixRef f, bool variance, int threads,
                               const std::function<MatrixXd(ConstMatrixRef)>& with_runs,
                               const std::function<VectorXd(ConstMatrixRef)>& prior, Monitor& monitor) {
  const Index m = x.rows(), blocks = (m + points_at_once - 1) / points_at_once;
  GpPrediction result;
  result.mean.resize(m);
  if (variance) result.variance.resize(m);
  parallel_for(blocks, threads, monitor, [&](Index b) {
    const Index from = b * points_at_once, count = std::min(points_at_once, m - from);
    const auto xb = x.middleRows(from, count);
    const auto fb = f.middleRows(from, count);
    MatrixXd r = with_runs(xb);  // n x count
    result.mean.segment(from, count) = system.mean(r, fb);
    if (variance) result.variance.segment(from, count) = system.variance(std::move(r), fb, prior(xb));
  });
  return result;
}

GpPrediction GaussianProcess::predict(ConstMatrixRef x, ConstMatrixRef f, bool variance, int threads, Monitor& monitor) const {
  GpPrediction result = predict_in_blocks(
      system_, x, f, variance, threads, [&](ConstMatrixRef at) { return model_.kernel.cross(x_, at); },
      [&](ConstMatrixRef at) { return model_.kernel.diagonal(at, false); }, monitor);
  result.variance *= scale_;
  return result;
}

MatrixXd GaussianProcess::covariance(ConstMatrixRef x, ConstMatrixRef f) const {
  return scale_ * system_.covariance(model_.kernel.cross(x_, x), f, model_.kernel.cross(x, x));
}

GpGradient GaussianProcess::predict_gradient(ConstMatrixRef x, ConstMatrixRef f, const std::vector<MatrixXd>& df) const {
  const Index m = x.rows(), d = x.cols();
  const Kernel& kernel = model_.kernel;
  if (!kernel.differentiable_in_inputs()) throw InputError("this kernel has no derivatives in its inputs.");
  GpGradient result{MatrixXd::Zero(m, d), MatrixXd::Zero(m, d)};
  VectorXd unused = VectorXd::Zero(kernel.n_parameters());
  MatrixXd on_r, on_f;
  system_.variance_slopes(kernel.cross(x_, x), f, kernel.diagonal(x, false), on_r, on_f);
  // Row i of the cross matrix depends on x_i alone, so weights per row give one gradient per point.
  const MatrixXd on_mean = VectorXd::Ones(m) * alpha().transpose(), on_variance = on_r.transpose();
  kernel.add_cross_gradient(x, x_, on_mean, unused, &result.mean);
  kernel.add_cross_gradient(x, x_, on_variance, unused, &result.variance);
  kernel.add_diagonal_gradient(x, VectorXd::Ones(m), unused, &result.variance, false);
  for (std::size_t k = 0; k < df.size(); ++k) {
    result.mean.col(k) += df[k] * beta();
    result.variance.col(k) += df[k].cwiseProduct(on_f.transpose()).rowwise().sum();
  }
  result.variance *= scale_;
  return result;
}

MatrixXd GaussianProcess::weights(ConstMatrixRef x, ConstMatrixRef f) const {
  return system_.weights(model_.kernel.cross(x_, x), f).transpose();
}

void GaussianProcess::append_row(ConstVectorRef x, double y, ConstVectorRef f, double noise, Index more) {
  const Index n = y_.size();
  if (x.size() != x_.cols() || f.size() != f_.cols())
    throw InputError("the new observation does not have the columns of the others.");
  const MatrixXd row = x.transpose();
  const VectorXd k = model_.kernel.cross(x_, row);
  const bool known = model_.noise.size() > 0, keeps_diagonal = inverse_diagonal_.size() == n;
  const double extra = model_.nugget + jitter_ + (known ? noise : 0);
  const VectorXd w = keeps_diagonal ? cholesky().solve(k) : VectorXd();
  system_.append(k, model_.kernel.diagonal(row)[0] + extra, f, more);
  if (keeps_diagonal) {  // [C k; k' c]^-1 = [C^-1 + w w' / s, -w / s; -w' / s, 1 / s], w = C^-1 k, s the new pivot squared
    const double s = std::pow(cholesky().lower()(n, n), 2);
    inverse_diagonal_.array() += w.array().square() / s;
    inverse_diagonal_.conservativeResize(n + 1);
    inverse_diagonal_[n] = 1 / s;
  }
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
}

void GaussianProcess::append(ConstVectorRef x, double y, ConstVectorRef f, double noise) {
  append_row(x, y, f, noise, 1);
  solve();
  evaluate();
}

void GaussianProcess::append_rows(ConstMatrixRef x, ConstVectorRef y, ConstMatrixRef f, ConstVectorRef noise) {
  for (Index i = 0; i < y.size(); ++i)
    append_row(x.row(i).transpose(), y[i], f.row(i).transpose(), noise.size() > 0 ? noise[i] : 0, y.size() - i);
  solve();
  evaluate();
}

double gp_objective(const GpModel& model, ConstMatrixRef x, ConstVectorRef y, ConstMatrixRef f, ConstVectorRef log_parameters,
                    const GpLearnOptions& options, VectorXd* gradient, Monitor* monitor) {
  double value = 0;
  try {
    GpModel at = model;
    at.set_parameters(log_parameters);
    const GaussianProcess gp(std::move(at), x, y, f, options.criterion, GaussianProcess::default_jitter(), monitor);
    value = gp.value();
    if (gradient) *gradient = gp.gradient(monitor);
  } catch (const NumericalError&) {
    return -std::numeric_limits<double>::infinity();
  }
  return value + options.prior.add(log_parameters, gradient);
}

MultistartResult learn_gp(const GpModel& model, ConstMatrixRef x, ConstVectorRef y, ConstMatrixRef f, ConstMatrixRef starts,
                          const GpLearnOptions& options, Monitor& monitor) {
  const Index m = model.n_parameters();
  const double infinity = std::numeric_limits<double>::infinity();
  const VectorXd lower = options.lower.size() > 0 ? options.lower : VectorXd::Constant(m, -infinity);
  const VectorXd upper = options.upper.size() > 0 ? options.upper : VectorXd::Constant(m, infinity);
  // How many evaluations there will be nobody knows: thirty a start is usual, and the bar waits below its end where it takes more.
  std::atomic<int> evaluations{0};
  const double usual = 30.0 * static_cast<double>(starts.rows());
  const Objective minus = [&](const VectorXd& p, VectorXd& gradient) {
    if (options.progress) monitor.progress(std::min(0.95, evaluations++ / usual));
    monitor.check();
    const double value = gp_objective(model, x, y, f, p, options, &gradient, &monitor);
    gradient = -gradient;
    return -value;
  };
  return multistart_box(minus, starts, lower, upper, options.optimiser, options.threads, monitor);
}

}  // namespace granary::process
