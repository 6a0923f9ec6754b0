#include "kriging_joint.h"

#include "../core/errors.h"

namespace granary::process {

namespace {

// cov(y_a(x), y_b(z)), without nugget.
MatrixXd level_covariance(const std::vector<JointLevel>& levels, std::size_t a, std::size_t b, ConstMatrixRef x,
                          ConstMatrixRef z) {
  const std::size_t low = std::min(a, b), high = std::max(a, b);
  MatrixXd result = levels[0].scale * levels[0].kernel.cross(x, z);
  for (std::size_t t = 1; t <= low; ++t) {
    result *= levels[t].rho * levels[t].rho;
    result += levels[t].scale * levels[t].kernel.cross(x, z);
  }
  for (std::size_t t = low + 1; t <= high; ++t) result *= levels[t].rho;
  return result;
}

VectorXd level_variance(const std::vector<JointLevel>& levels, ConstMatrixRef x) {
  VectorXd result = levels[0].scale * levels[0].kernel.diagonal(x, false);
  for (std::size_t t = 1; t < levels.size(); ++t) {
    result *= levels[t].rho * levels[t].rho;
    result += levels[t].scale * levels[t].kernel.diagonal(x, false);
  }
  return result;
}

// The coefficient of beta_s in level t is f_s times rho_(s+1) ... rho_t.
double carried(const std::vector<JointLevel>& levels, std::size_t s, std::size_t t) {
  double result = 1;
  for (std::size_t k = s + 1; k <= t; ++k) result *= levels[k].rho;
  return result;
}

}  // namespace

JointPrediction predict_joint(const std::vector<JointLevel>& levels, ConstMatrixRef x, const std::vector<MatrixXd>& f,
                              bool variance, Monitor& monitor) {
  const std::size_t count = levels.size();
  if (count == 0 || f.size() != count) throw InputError("the trend must be given for every level.");
  std::vector<Index> from(count + 1, 0), column(count + 1, 0);
  for (std::size_t t = 0; t < count; ++t) {
    from[t + 1] = from[t] + levels[t].y.size();
    column[t + 1] = column[t] + f[t].cols();
  }
  const Index n = from[count], p = column[count], last = static_cast<Index>(count) - 1;
  if (p >= n) throw InputError(message("a trend of ", p, " terms needs more than ", n, " runs."));
  MatrixXd c(n, n), trend = MatrixXd::Zero(n, p), r(n, x.rows()), fx(x.rows(), p);
  VectorXd y(n);
  for (std::size_t t = 0; t < count; ++t) {
    const Index size = levels[t].y.size();
    y.segment(from[t], size) = levels[t].y;
    for (std::size_t s = 0; s <= t; ++s) {
      monitor.check();
      c.block(from[t], from[s], size, levels[s].y.size()) = level_covariance(levels, t, s, levels[t].x, levels[s].x);
      const MatrixXd& columns = s == t ? levels[t].f : levels[t].below[s];
      trend.block(from[t], column[s], size, f[s].cols()) = carried(levels, s, t) * columns;
    }
    c.diagonal().segment(from[t], size).array() += levels[t].scale * levels[t].nugget;
    r.middleRows(from[t], size) = level_covariance(levels, t, last, levels[t].x, x);
    fx.middleCols(column[t], f[t].cols()) = carried(levels, t, last) * f[t];
  }
  const Cholesky chol = cholesky_with_jitter(c, GaussianProcess::default_jitter());
  monitor.check();
  const MatrixXd ft = chol.solve_lower(trend);
  const VectorXd yt = chol.solve_lower(y);
  const MatrixXd v = chol.solve_lower(r);
  JointPrediction result;
  VectorXd e = yt;
  if (p > 0) {
    const Cholesky precision(ft.transpose() * ft);
    const VectorXd beta = precision.solve(ft.transpose() * yt);
    e -= ft * beta;
    result.mean = fx * beta + v.transpose() * e;
    if (variance) {
      const MatrixXd u = precision.solve_lower(ft.transpose() * v - fx.transpose());
      result.variance = u.colwise().squaredNorm().transpose();
    }
  } else {
    result.mean = v.transpose() * e;
    if (variance) result.variance = VectorXd::Zero(x.rows());
  }
  if (variance) {
    result.variance += level_variance(levels, x) - v.colwise().squaredNorm().transpose();
    result.variance = result.variance.cwiseMax(0);
  }
  return result;
}

}  // namespace granary::process
