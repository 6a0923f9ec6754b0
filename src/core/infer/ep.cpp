#include "core/infer/ep.h"

#include <algorithm>
#include <vector>
#include <cmath>
#include <limits>

#include "core/optim/anderson.h"
#include "core/base/errors.h"
#include "core/linalg/spd_inverse.h"
#include "core/linalg/spd_steps.h"
#include "core/linalg/dense.h"

namespace granary {

struct EpSolver::Parts {
  MatrixXd k;
  VectorXd tau, root;
  bool positive = true;
  MatrixXd lower;                    // of I + S K S, S = T^1/2
  MatrixXd inverse;                  // of lower, once needed
  Lu lu;  // of I + T K, where some tau is negative
  double log_det = 0;
  Monitor* monitor = nullptr;  // for large matrices only
};

EpSolver::EpSolver(ConstMatrixRef k, ConstVectorRef tau, Monitor* monitor) : parts_(std::make_unique<Parts>()) {
  constexpr Index large = 1000;  // from here on a factor or an inverse takes a tenth of a second
  Parts& p = *parts_;
  const Index n = k.rows();
  if (n >= large) p.monitor = monitor;
  p.k = k;
  p.tau = tau;
  p.positive = n == 0 || tau.minCoeff() >= 0;
  if (p.positive) {
    p.root = tau.cwiseSqrt();
    p.lower = p.root.asDiagonal() * p.k * p.root.asDiagonal();
    p.lower.diagonal().array() += 1;
    const bool proper = p.monitor != nullptr ? cholesky_in_steps(p.lower, *p.monitor) : LltInPlace(p.lower).info() == Eigen::Success;
    if (!proper || !p.lower.diagonal().allFinite()) {
      throw NumericalError("the prior covariance is not positive semidefinite, or holds values that are not finite.");
    }
    p.log_det = 2 * p.lower.diagonal().array().log().sum();
    return;
  }
  MatrixXd b = tau.asDiagonal() * p.k;
  b.diagonal().array() += 1;
  p.lu.compute(b);
  const VectorXd d = p.lu.matrixLU().diagonal();
  // det(I + T K) is positive when A is positive definite; a negative one shows that the site precisions went too low.
  const double sign = p.lu.permutation_sign() * (d.array() < 0).select(-VectorXd::Ones(n), VectorXd::Ones(n)).prod();
  if (!(sign > 0) || !d.allFinite()) throw NumericalError("the approximation is not a proper Gaussian.");
  p.log_det = d.array().abs().log().sum();
}

EpSolver::EpSolver(EpSolver&&) noexcept = default;
EpSolver::~EpSolver() = default;

double EpSolver::log_determinant() const { return parts_->log_det; }

VectorXd EpSolver::weight(ConstVectorRef nu) const {
  const Parts& p = *parts_;
  if (!p.positive) return p.lu.solve(nu);
  // (I + T K)^-1 nu = nu - S B^-1 S K nu
  VectorXd inner = p.root.cwiseProduct(p.k * nu);
  p.lower.triangularView<Eigen::Lower>().solveInPlace(inner);
  p.lower.transpose().triangularView<Eigen::Upper>().solveInPlace(inner);
  return nu - p.root.cwiseProduct(inner);
}

MatrixXd EpSolver::solve_root(ConstMatrixRef b) const {
  const Parts& p = *parts_;
  if (!p.positive) throw NumericalError("a negative site precision has no root.");
  MatrixXd v = p.root.asDiagonal() * b;
  p.lower.triangularView<Eigen::Lower>().solveInPlace(v);
  return v;
}

MatrixXd EpSolver::covariance() const {
  const Parts& p = *parts_;
  MatrixXd a = p.k;
  if (p.positive) {
    const MatrixXd v = solve_root(p.k);
    a.selfadjointView<Eigen::Lower>().rankUpdate(v.transpose(), -1.0);
    a.triangularView<Eigen::StrictlyUpper>() = a.transpose();
  } else {
    const MatrixXd at = p.lu.solve(MatrixXd::Identity(p.k.rows(), p.k.rows()));  // (I + T K)^-1, and A = K times it
    a = p.k * at;
    a = (0.5 * (a + a.transpose())).eval();
  }
  return a;
}

// A_ii = (1 - (B^-1)_ii) / tau_i with B = I + S K S, from L^-1: half the work of K - V'V. Where tau_i A_ii is small that
// difference has too few digits, and the site gets its column of V.
VectorXd EpSolver::variance() const {
  Parts& p = *parts_;
  if (!p.positive) return covariance().diagonal();
  const Index n = p.k.rows();
  if (p.inverse.size() == 0) {
    p.inverse = p.lower;
    if (p.monitor != nullptr) {
      invert_lower_in_steps(p.inverse, *p.monitor);
    } else {
      invert_lower(p.inverse);
    }
  }
  VectorXd result(n);
  std::vector<Index> weak;  // sites that say next to nothing: the first form would cancel
  for (Index i = 0; i < n; ++i) {
    const double explained = 1 - p.inverse.col(i).tail(n - i).squaredNorm();
    result[i] = explained / p.tau[i];
    if (!(explained > 1e-5)) weak.push_back(i);
  }
  // K_ii - |L^-1 T^1/2 k_i|^2, many columns at a time: one by one they would be bound by memory.
  const Index count = static_cast<Index>(weak.size()), block = 128;
  for (Index from = 0; from < count; from += block) {
    if (p.monitor != nullptr) p.monitor->check();
    const Index width = std::min(block, count - from);
    MatrixXd v(n, width);
    for (Index j = 0; j < width; ++j) v.col(j) = p.root.cwiseProduct(p.k.col(weak[static_cast<std::size_t>(from + j)]));
    v = p.inverse.triangularView<Eigen::Lower>() * v;
    for (Index j = 0; j < width; ++j) {
      const Index i = weak[static_cast<std::size_t>(from + j)];
      result[i] = p.k(i, i) - v.col(j).squaredNorm();
    }
  }
  return result;
}

MatrixXd EpSolver::r() const {
  Parts& p = *parts_;
  if (!p.positive) {
    MatrixXd r = p.lu.solve(MatrixXd(p.tau.asDiagonal()));
    return 0.5 * (r + r.transpose());
  }
  MatrixXd r;
  if (p.inverse.size() > 0) {
    r = p.inverse;
    if (p.monitor != nullptr) {
      cross_product_lower_in_steps(r, *p.monitor);
    } else {
      cross_product_lower(r);
    }
  } else {
    r = p.lower;
    if (p.monitor != nullptr) {
      inverse_from_cholesky_in_steps(r, *p.monitor);
    } else {
      inverse_from_cholesky(r);
    }
  }
  r.triangularView<Eigen::StrictlyUpper>() = r.transpose();
  return p.root.asDiagonal() * r * p.root.asDiagonal();
}

namespace {

struct Cavity {
  double precision, mean;  // of g
  bool proper() const { return precision > 0 && std::isfinite(precision) && std::isfinite(mean); }
};

Cavity cavity_of(double mean, double variance, double tau, double nu) {
  const double precision = 1 / variance - tau;
  return {precision, (mean / variance - nu) / precision};
}

class Propagation {
 public:
  Propagation(ConstMatrixRef k, ConstVectorRef mu, const EpSites& sites, const EpState& start, Monitor& monitor)
      : k_(k), mu_(mu), sites_(sites), n_(k.rows()), monitor_(monitor) {
    tau = start.tau.size() > 0 ? start.tau : VectorXd::Zero(n_);
    nu = start.nu.size() > 0 ? start.nu : VectorXd::Zero(n_);
    if (tau.size() != n_ || nu.size() != n_) throw InputError("the start does not have one value per variable.");
  }

  VectorXd tau, nu, mean, variance;  // mean of g
  MatrixXd a;
  double log_z = -std::numeric_limits<double>::infinity(), residual = 0;
  VectorXd site_log_z, cavity_mean, cavity_variance, weight;
  int skipped = 0;

  // From tau and nu everything else. False when they give no proper Gaussian.
  bool rebuild(bool with_covariance) {
    try {
      solver_ = std::make_unique<EpSolver>(k_, tau, &monitor_);
      const EpSolver& solver = *solver_;
      if (with_covariance) {
        a = solver.covariance();
        variance = a.diagonal();
      } else {
        variance = solver.variance();
      }
      if (!(variance.minCoeff() > 0)) return false;
      weight = solver.weight(nu);
      mean = k_ * weight;
      log_det_ = solver.log_determinant();
    } catch (const NumericalError&) {
      return false;
    }
    evaluate();
    return true;
  }

  MatrixXd r() const { return solver_->r(); }  // of the last rebuild
  double log_determinant() const { return log_det_; }

  // New parameters of site i given its cavity, damped; false where there is no proper cavity.
  bool propose(Index i, double damping, double& new_tau, double& new_nu) const {
    const Cavity cavity = cavity_of(mean[i], variance[i], tau[i], nu[i]);
    if (!cavity.proper()) return false;
    const SiteMoments tilted = sites_.moments(i, mu_[i] + cavity.mean, 1 / cavity.precision);
    const double v = std::max(tilted.variance, 1e-12 / cavity.precision);
    if (!std::isfinite(tilted.mean) || !std::isfinite(v)) return false;
    double to_tau = 1 / v - cavity.precision;
    if (sites_.log_concave()) to_tau = std::max(0.0, to_tau);
    const double to_nu = (tilted.mean - mu_[i]) * (cavity.precision + to_tau) - cavity.precision * cavity.mean;
    new_tau = tau[i] + damping * (to_tau - tau[i]);
    new_nu = nu[i] + damping * (to_nu - nu[i]);
    return true;
  }

  void sequential_sweep(double damping, Rng& rng, Monitor& monitor) {
    skipped = 0;
    for (const int i : rng.permutation(static_cast<int>(n_))) {
      monitor.check();
      double to_tau, to_nu;
      if (!propose(i, damping, to_tau, to_nu)) {
        ++skipped;
        continue;
      }
      const double d = to_tau - tau[i], e = to_nu - nu[i], bottom = 1 + d * a(i, i);
      if (!(bottom > 1e-10)) {
        ++skipped;
        continue;
      }
      tau[i] = to_tau;
      nu[i] = to_nu;
      VectorXd column(n_);  // of A, of which only the lower triangle is kept up
      column.head(i) = a.row(i).head(i).transpose();
      column.tail(n_ - i) = a.col(i).tail(n_ - i);
      mean += column * ((e - d * mean[i]) / bottom);
      a.selfadjointView<Eigen::Lower>().rankUpdate(column, -d / bottom);
      variance = a.diagonal();
    }
  }

  // All sites at once, the sites of the last sweeps extrapolated; in units of the marginals when the history began.
  void parallel_sweep(double damping, bool accelerate) {
    skipped = 0;
    VectorXd to_tau = tau, to_nu = nu;
    for (Index i = 0; i < n_; ++i) {
      if (!propose(i, damping, to_tau[i], to_nu[i])) ++skipped;
    }
    if (!accelerate || skipped > 0) {
      forget();
      tau = to_tau;
      nu = to_nu;
      return;
    }
    if (unit_.size() == 0) unit_ = variance;
    MatrixXd at(n_, 2), image(n_, 2);
    at << tau.cwiseProduct(unit_), nu.cwiseProduct(unit_.cwiseSqrt());
    image << to_tau.cwiseProduct(unit_), to_nu.cwiseProduct(unit_.cwiseSqrt());
    const MatrixXd next = history_.next(at, image);
    for (Index i = 0; i < n_; ++i) {
      const bool usable = std::isfinite(next(i, 0)) && std::isfinite(next(i, 1)) && (next(i, 0) > 0 || !sites_.log_concave());
      tau[i] = usable ? next(i, 0) / unit_[i] : to_tau[i];
      nu[i] = usable ? next(i, 1) / std::sqrt(unit_[i]) : to_nu[i];
    }
  }

  void forget() {
    history_.clear();
    unit_.resize(0);
  }

 private:
  void evaluate() {
    site_log_z.resize(n_);
    cavity_mean.resize(n_);
    cavity_variance.resize(n_);
    residual = 0;
    double sum = -0.5 * log_det_ + 0.5 * nu.dot(mean);
    for (Index i = 0; i < n_; ++i) {
      const Cavity cavity = cavity_of(mean[i], variance[i], tau[i], nu[i]);
      const double c = cavity.precision, m = cavity.mean, total = c + tau[i];
      cavity_mean[i] = mu_[i] + m;
      cavity_variance[i] = 1 / c;
      if (!cavity.proper()) {
        site_log_z[i] = std::numeric_limits<double>::quiet_NaN();
        residual = std::numeric_limits<double>::infinity();
        sum = std::numeric_limits<double>::quiet_NaN();
        continue;
      }
      const SiteMoments tilted = sites_.moments(i, mu_[i] + m, 1 / c);
      site_log_z[i] = tilted.log_z;
      const double s = std::sqrt(variance[i]);
      residual = std::max(
          {residual, std::abs(tilted.mean - mu_[i] - mean[i]) / s, std::abs(std::sqrt(std::max(0.0, tilted.variance)) / s - 1)});
      sum += tilted.log_z + 0.5 * std::log1p(tau[i] / c) - 0.5 * nu[i] * nu[i] / total +
             0.5 * m * c * (tau[i] * m - 2 * nu[i]) / total;
    }
    log_z = sum;
  }

  const ConstMatrixRef k_;
  const ConstVectorRef mu_;
  const EpSites& sites_;
  Index n_;
  Monitor& monitor_;
  double log_det_ = 0;
  std::unique_ptr<EpSolver> solver_;
  Anderson history_{5};
  VectorXd unit_;
};

}  // namespace

EpResult expectation_propagation(ConstMatrixRef k, ConstVectorRef mu, const EpSites& sites, const EpOptions& options, Rng& rng,
                                 Monitor& monitor, const EpState& start) {
  const Index n = k.rows();
  if (n == 0 || k.cols() != n || mu.size() != n || sites.size() != n) {
    throw InputError(message("the prior covariance is ", n, " x ", k.cols(), ", the mean has ", mu.size(), " and the sites ",
                             sites.size(), " entries: all have to be of one size, at least 1."));
  }
  if (!k.allFinite() || !mu.allFinite()) throw InputError("the prior holds a value that is missing or not finite.");
  const Stopwatch clock;
  bool parallel = options.parallel;
  double damping = options.damping > 0 ? options.damping : parallel ? 0.9 : 1.0;
  Propagation now(k, mu, sites, start, monitor);
  if (!now.rebuild(!parallel)) {
    if (start.tau.size() > 0) {  // a start from another problem may not suit this one
      now.tau.setZero();
      now.nu.setZero();
    }
    if (!now.rebuild(!parallel))
      throw NumericalError("the prior covariance is not positive definite; add a small jitter to its diagonal.");
  }
  EpResult result;
  Convergence& end = result.convergence;
  double best = std::numeric_limits<double>::infinity(), old_log_z = now.log_z;
  int since_best = 0, still = 0;
  VectorXd good_tau = now.tau, good_nu = now.nu;
  for (end.iterations = 1; end.iterations <= options.max_sweeps; ++end.iterations) {
    monitor.check();
    if (parallel) {
      now.parallel_sweep(damping, end.iterations > 1 && options.accelerate);
    } else {
      now.sequential_sweep(damping, rng, monitor);
    }
    if (!now.rebuild(!parallel) || !std::isfinite(now.log_z)) {
      now.tau = good_tau;
      now.nu = good_nu;
      now.forget();
      damping *= 0.5;
      if (!now.rebuild(!parallel) || damping < 1e-3) {
        end.message = "the approximation left the proper Gaussians at every step size";
        break;
      }
      continue;
    }
    good_tau = now.tau;
    good_nu = now.nu;
    still = std::abs(now.log_z - old_log_z) <= 1e-13 * (1 + std::abs(now.log_z)) ? still + 1 : 0;
    old_log_z = now.log_z;
    if (now.residual <= options.tol || (still >= 5 && now.residual <= 10 * options.tol)) {
      end.converged = now.skipped == 0;
      if (!end.converged) end.message = message(now.skipped, " sites have no proper cavity");
      break;
    }
    since_best = now.residual < 0.9 * best ? 0 : since_best + 1;
    best = std::min(best, now.residual);
    if (parallel && now.residual > 2 * best) now.forget();  // the extrapolation led astray
    if (since_best >= 10) {
      since_best = 0;
      if (parallel && damping <= 0.25) {
        parallel = false;
        damping = 1;
        if (!now.rebuild(true)) break;
      } else if (damping > 0.02) {
        damping *= 0.5;
      }
    }
  }
  if (!end.converged && end.message.empty()) end.message = "the sweeps were used up before the moments agreed";
  end.iterations = std::min(end.iterations, options.max_sweeps);
  if (options.full_covariance && parallel) now.rebuild(true);
  end.residual = now.residual;
  end.seconds = clock.seconds();
  result.tau = now.tau;
  result.nu = now.nu;
  result.mean = mu + now.mean;
  result.variance = now.variance;
  if (options.full_covariance) result.covariance = now.a;
  if (options.with_r) result.r = now.r();
  result.cavity_mean = now.cavity_mean;
  result.cavity_variance = now.cavity_variance;
  result.site_log_z = now.site_log_z;
  result.weight = now.weight;
  result.log_z = now.log_z;
  result.log_determinant = now.log_determinant();
  result.skipped = now.skipped;
  return result;
}

EpResult orthant_ep(ConstMatrixRef covariance, Rng& rng, Monitor& monitor) {
  const Index n = covariance.rows();
  EpOptions options;
  options.parallel = true;
  options.full_covariance = false;
  const TruncationSites sites(VectorXd::Zero(n), VectorXd::Constant(n, std::numeric_limits<double>::infinity()));
  return expectation_propagation(covariance, VectorXd::Zero(n), sites, options, rng, monitor);
}

}  // namespace granary
