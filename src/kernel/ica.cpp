#include "kernel/ica.h"

#include <algorithm>
#include <boost/math/tools/minima.hpp>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/base/quiet_monitor.h"
#include "core/linalg/dense.h"
#include "kernel/ica_contrast.h"
#include "kernel/ica_start.h"

namespace granary::kernel {

namespace {

constexpr double pi = 3.14159265358979323846;

// Rows i and j turned by an angle.
MatrixXd turned(const MatrixXd& w, Index i, Index j, double angle) {
  MatrixXd result = w;
  result.row(i) = std::cos(angle) * w.row(i) + std::sin(angle) * w.row(j);
  result.row(j) = std::cos(angle) * w.row(j) - std::sin(angle) * w.row(i);
  return result;
}

class Descent {
 public:
  Descent(const MatrixXd& z, const IcaContrast& contrast, const KernelIcaOptions& options, Monitor& monitor)
      : z_(z), contrast_(contrast), options_(options), monitor_(monitor) {}

  double value(const MatrixXd& w) const { return contrast_.value(z_ * w.transpose(), monitor_); }

  // Two components: the angle is all there is. `around`: half the range to be searched; pi / 4 is everything.
  void scan(MatrixXd& w, double around, KernelIcaResult& result, int stage) const {
    const auto at = [&](double angle) { return value(turned(w, 0, 1, angle)); };
    const int points = std::max(3, static_cast<int>(std::ceil(options_.grid * around / (pi / 4))));
    const double step = 2 * around / points;
    double best = std::numeric_limits<double>::infinity(), best_angle = 0;
    for (int k = 0; k <= points; ++k) {
      monitor_.check();
      const double angle = -around + step * k, f = at(angle);
      if (f < best) {
        best = f;
        best_angle = angle;
      }
    }
    const auto found = boost::math::tools::brent_find_minima(at, best_angle - step, best_angle + step, 20);
    if (found.second < best) {
      best = found.second;
      best_angle = found.first;
    }
    w = turned(w, 0, 1, best_angle);
    result.value = best;
    result.trace.push_back(best);
    result.stage.push_back(stage);
    result.convergence.converged = std::isfinite(best);
    result.convergence.residual = step / 1024;  // twenty bits of the bracket, seen pessimistically
    result.convergence.iterations += 1;
  }

  void descend(MatrixXd& w, KernelIcaResult& result, int stage) const {
    const Index n = w.rows();
    MatrixXd gradient = MatrixXd::Zero(n, n), direction = gradient, last_gradient;
    double f = slope_at(w, gradient), angle = 0.05, taken = 0;
    result.trace.push_back(f);
    result.stage.push_back(stage);
    bool done = !std::isfinite(f);
    int small = 0;
    for (int iteration = 0; iteration < options_.max_iter && !done; ++iteration) {
      monitor_.check();
      if (iteration % static_cast<int>(n * (n - 1) / 2 + 1) == 0 || last_gradient.size() == 0) {
        direction = -gradient;
      } else {
        const double beta = gradient.cwiseProduct(gradient - last_gradient).sum() / last_gradient.squaredNorm();
        direction = -gradient + std::max(0.0, beta) * direction;
        if (direction.cwiseProduct(gradient).sum() >= 0) direction = -gradient;
      }
      const double slope = direction.cwiseProduct(gradient).sum(), size = direction.cwiseAbs().maxCoeff();
      if (!(size > 0) || !(slope < 0)) {
        taken = 0;
        done = true;
        break;
      }
      double q = angle / size, f_new = f;
      MatrixXd w_new = w;
      const bool moved = line_search(w, direction, f, slope, size, q, w_new, f_new);
      taken = moved ? q * size : 0;
      result.convergence.iterations += 1;
      if (moved) {
        const double drop = f - f_new;
        small = drop <= 1e-7 * std::max(std::abs(f), 1e-300) ? small + 1 : 0;
        w = w_new;
        angle = std::min(0.5, std::max(taken, 10 * options_.tol));
        last_gradient = gradient;
        f = slope_at(w, gradient);
        result.trace.push_back(f_new);
        result.stage.push_back(stage);
      } else if (direction.isApprox(-gradient)) {
        small = 2;  // no descent even along the gradient: as low as rounding and the rank allow
      } else {
        last_gradient.resize(0, 0);  // try the plain gradient
      }
      done = small >= 2 || (moved && taken < options_.tol);
    }
    result.value = f;
    result.convergence.converged = done && std::isfinite(f);
    result.convergence.residual = taken;
  }

 private:
  // f and its gradient in the Lie algebra: d f(expm(D) W) = <gradient, D> for skew D.
  double slope_at(const MatrixXd& w, MatrixXd& gradient) const {
    const Index n = w.rows();
    const MatrixXd y = z_ * w.transpose();
    if (contrast_.has_gradient()) {
      MatrixXd dy;
      const double f = contrast_.value_and_gradient(y, dy, monitor_);
      const MatrixXd relative = dy.transpose() * y;
      gradient = 0.5 * (relative - relative.transpose());
      return f;
    }
    const double h = 5e-3;
    gradient.setZero(n, n);
    for (Index i = 0; i < n; ++i) {
      for (Index j = i + 1; j < n; ++j) {
        monitor_.check();
        // turning rows i and j by t adds t to entry (i, j) of D and -t to (j, i): the derivative is twice the entry of the
        // gradient
        const double slope = (value(turned(w, i, j, h)) - value(turned(w, i, j, -h))) / (2 * h);
        gradient(i, j) = 0.5 * slope;
        gradient(j, i) = -0.5 * slope;
      }
    }
    return contrast_.value(y, monitor_);
  }

  bool line_search(const MatrixXd& w, const MatrixXd& direction, double f, double slope, double size, double& q, MatrixXd& w_new,
                   double& f_new) const {
    const double longest = 0.8 / size;
    double best_q = 0, best = f;
    MatrixXd best_w = w;
    for (int attempt = 0; attempt < 8; ++attempt) {
      monitor_.check();
      const MatrixXd trial = nearest_orthogonal(skew_exponential(q * direction) * w);
      const double value_at = value(trial);
      const bool better = value_at < best;
      if (better) {
        best = value_at;
        best_q = q;
        best_w = trial;
      }
      const double bend = std::isfinite(value_at) ? value_at - f - slope * q : std::numeric_limits<double>::infinity();
      double next = bend > 0 ? -slope * q * q / (2 * bend) : 4 * q;
      if (!std::isfinite(bend)) next = q / 4;
      next = std::min(std::max(next, q / 10), std::min(4 * q, longest));
      // Near the minimum of the parabola already, or another value would not be worth its price.
      if (best_q > 0 && (attempt >= 3 || (std::abs(next - q) < 0.3 * q && better) || (!better && attempt >= 1))) break;
      if (std::abs(next - q) < 1e-3 * q) break;
      q = next;
      if (q * size < 1e-8) break;
    }
    q = best_q;
    w_new = best_w;
    f_new = best;
    return best_q > 0;
  }

  const MatrixXd& z_;
  const IcaContrast& contrast_;
  const KernelIcaOptions& options_;
  Monitor& monitor_;
};

}  // namespace

MatrixXd skew_exponential(const MatrixXd& skew) {
  // -D^2 = V theta^2 V' commutes with D, so expm(D) = cos(theta) + D sin(theta) / theta, both taken in its eigenvectors.
  const SymmetricEigen square(skew.transpose() * skew);
  const MatrixXd& v = square.eigenvectors();
  const VectorXd theta = square.eigenvalues().cwiseMax(0).cwiseSqrt();
  const VectorXd sinc = theta.unaryExpr([](double t) { return t > 0 ? std::sin(t) / t : 1.0; });
  return v * theta.array().cos().matrix().asDiagonal() * v.transpose() + skew * (v * sinc.asDiagonal() * v.transpose());
}

KernelIcaResult kernel_ica(const MatrixXd& z, const MatrixXd& start, const std::vector<Kernel>& kernels,
                           const KernelIcaOptions& options, Monitor& monitor) {
  if (kernels.empty()) throw InputError("kernel ICA needs a kernel.");
  if (start.rows() != z.cols() || start.cols() != z.cols())
    throw InputError("the start must be a square matrix, one row per component.");
  const Stopwatch clock;
  KernelIcaResult result;
  result.w = nearest_orthogonal(start);
  if (z.cols() == 1) {
    result.convergence.converged = true;
    return result;
  }
  for (std::size_t stage = 0; stage < kernels.size(); ++stage) {
    DependenceOptions measure = options.dependence;
    IcaContrast contrast(kernels[stage], measure, options.rank, options.threads);
    if (measure.measure == Measure::kmi && !options.fixed_nu) {
      const MatrixXd y = z * result.w.transpose();
      contrast.set_nu(contrast.nu_at(y, options.nu_rule, monitor));
      if (!(contrast.nu() > 0) || !std::isfinite(contrast.value(y, monitor))) {
        contrast.set_nu(contrast.nu_at(y, NuRule::safe, monitor));
        result.nu_raised = true;
      }
    }
    const Descent descent(z, contrast, options, monitor);
    if (z.cols() == 2) {
      descent.scan(result.w, stage == 0 ? pi / 4 : pi / 36, result, static_cast<int>(stage));
    } else {
      descent.descend(result.w, result, static_cast<int>(stage));
    }
    result.nu = contrast.nu();
    monitor.progress(static_cast<double>(stage + 1) / static_cast<double>(kernels.size()));
  }
  result.convergence.seconds = clock.seconds();
  return result;
}

namespace {

MatrixXd start_of(const Whitening& white, const KernelIcaOptions& options, int number, Rng& rng, Monitor& monitor) {
  IcaMomentsOptions moments;
  moments.method = number == 0 ? options.start : IcaStart::random;
  if (moments.method != IcaStart::given) return ica_rotation(white.z, moments, rng, monitor).w;
  if (options.unmixing.rows() != white.z.cols() || options.unmixing.cols() != white.mean.size())
    throw InputError("the start must have one row per component and one column per column of the data.");
  const MatrixXd w = options.unmixing * white.colourer;
  if (PivotedQr(w).rank() < w.rows()) throw InputError("the start must have full rank.");
  return w;
}

}  // namespace

KernelIcaFit kernel_ica(ConstMatrixRef x, const std::vector<KernelSpec>& kernels, const KernelIcaOptions& options, const Rng& rng,
                        Monitor& monitor) {
  const Whitening white = whiten(x, options.k);
  std::vector<Kernel> stages;
  for (const KernelSpec& kernel : kernels) stages.emplace_back(kernel, 1);
  KernelIcaFit out;
  for (int i = 0; i < options.n_starts; ++i) {
    Rng mine = rng.stream(static_cast<std::uint64_t>(i));
    QuietMonitor quiet(monitor);
    Monitor& watch = options.n_starts == 1 ? monitor : quiet;
    KernelIcaResult found = kernel_ica(white.z, start_of(white, options, i, mine, watch), stages, options, watch);
    out.starts.push_back(found.value);
    if (i == 0 || found.value < out.best.value) {
      out.best = std::move(found);
      out.winner = i;
    }
    if (options.n_starts > 1) monitor.progress(static_cast<double>(i + 1) / options.n_starts);
  }
  out.components = ica_components({out.best.w, out.best.convergence}, white);
  return out;
}

}  // namespace granary::kernel
