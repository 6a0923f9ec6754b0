#include "process/kriging_joint.h"

#include "core/base/errors.h"

namespace granary::process {

JointKriging::JointKriging(std::vector<JointLevel> levels, Monitor& monitor) : levels_(std::move(levels)) {
  if (levels_.empty()) throw InputError("co-kriging needs at least one level.");
  Index n = 0, p = 0;
  for (const JointLevel& level : levels_) {
    from_.push_back(n);
    n += level.y.size();
    p += level.f.cols();
  }
  if (p >= n) throw InputError(message("a trend of ", p, " terms needs more than ", n, " runs."));
  x_.resize(n, levels_[0].x.cols());
  VectorXd y(n);
  for (std::size_t t = 0; t < levels_.size(); ++t) {
    const Index size = levels_[t].y.size();
    if (levels_[t].x.rows() != size || levels_[t].f.rows() != n - from_[t])
      throw InputError(message("level ", t + 1, " has ", size, " responses: its inputs or its trend do not fit them."));
    x_.middleRows(from_[t], size) = levels_[t].x;
    y.segment(from_[t], size) = levels_[t].y;
  }
  MatrixXd c = MatrixXd::Zero(n, n), trend = MatrixXd::Zero(n, p);
  Index column = 0;
  for (std::size_t s = 0; s < levels_.size(); ++s) {
    monitor.check();
    const JointLevel& level = levels_[s];
    const Index rest = n - from_[s];
    VectorXd carried = VectorXd::Ones(rest);
    for (std::size_t t = s + 1; t < levels_.size(); ++t) carried.tail(n - from_[t]) *= levels_[t].rho;
    c.bottomRightCorner(rest, rest) +=
        level.scale * carried.asDiagonal() * level.kernel.cross(above(s), above(s)) * carried.asDiagonal();
    // Noise, of the nugget or of a white kernel, belongs to a run and is not carried up.
    const VectorXd white = level.kernel.diagonal(level.x) - level.kernel.diagonal(level.x, false);
    c.diagonal().segment(from_[s], level.y.size()).array() += level.scale * (white.array() + level.nugget);
    trend.block(from_[s], column, rest, level.f.cols()) = carried.asDiagonal() * level.f;
    column += level.f.cols();
    carried_.push_back(std::move(carried));
  }
  system_ = KrigingSystem(cholesky_with_jitter(c, GaussianProcess::default_jitter()), trend);
  monitor.check();
  const Index bad = system_.solve_flat(y);
  if (bad >= 0) throw InputError(message("term ", bad + 1, " of the trends depends on the others."));
}

MatrixXd JointKriging::with_runs(ConstMatrixRef x) const {
  MatrixXd r = MatrixXd::Zero(x_.rows(), x.rows());
  for (std::size_t s = 0; s < levels_.size(); ++s) {
    const VectorXd& c = carried_[s];
    r.bottomRows(c.size()) += levels_[s].scale * c[c.size() - 1] * c.asDiagonal() * levels_[s].kernel.cross(above(s), x);
  }
  return r;
}

VectorXd JointKriging::variances(ConstMatrixRef x) const {
  VectorXd result = VectorXd::Zero(x.rows());
  for (std::size_t s = 0; s < levels_.size(); ++s) {
    const double c = carried_[s][carried_[s].size() - 1];
    result += levels_[s].scale * c * c * levels_[s].kernel.diagonal(x, false);
  }
  return result;
}

MatrixXd JointKriging::carried(ConstMatrixRef f) const {
  if (f.cols() != system_.beta().size()) throw InputError("the trend must be given for every level.");
  MatrixXd result = f;
  Index column = 0;
  for (std::size_t s = 0; s < levels_.size(); ++s) {
    result.middleCols(column, levels_[s].f.cols()) *= carried_[s][carried_[s].size() - 1];
    column += levels_[s].f.cols();
  }
  return result;
}

GpPrediction JointKriging::predict(ConstMatrixRef x, ConstMatrixRef f, bool variance, int threads, Monitor& monitor) const {
  return predict_in_blocks(
      system_, x, carried(f), variance, threads, [&](ConstMatrixRef at) { return with_runs(at); },
      [&](ConstMatrixRef at) { return variances(at); }, monitor);
}

MatrixXd JointKriging::covariance(ConstMatrixRef x, ConstMatrixRef f) const {
  MatrixXd k = MatrixXd::Zero(x.rows(), x.rows());
  for (std::size_t s = 0; s < levels_.size(); ++s) {
    const double c = carried_[s][carried_[s].size() - 1];
    k += levels_[s].scale * c * c * levels_[s].kernel.cross(x, x);
  }
  return system_.covariance(with_runs(x), carried(f), k);
}

GpGradient JointKriging::gradient(ConstMatrixRef x, ConstMatrixRef f, const std::vector<MatrixXd>& df) const {
  const Index m = x.rows(), d = x.cols();
  GpGradient result{MatrixXd::Zero(m, d), MatrixXd::Zero(m, d)};
  MatrixXd on_r, on_f;
  system_.variance_slopes(with_runs(x), carried(f), variances(x), on_r, on_f);
  for (std::size_t s = 0; s < levels_.size(); ++s) {
    const Kernel& kernel = levels_[s].kernel;
    if (!kernel.differentiable_in_inputs()) throw InputError("this kernel has no derivatives in its inputs.");
    VectorXd unused = VectorXd::Zero(kernel.n_parameters());
    const VectorXd& c = carried_[s];
    const double last = c[c.size() - 1], scale = levels_[s].scale;
    const VectorXd on_run = scale * last * c.cwiseProduct(system_.alpha().tail(c.size()));
    const MatrixXd on_mean = VectorXd::Ones(m) * on_run.transpose();
    const MatrixXd on_variance = scale * last * on_r.bottomRows(c.size()).transpose() * c.asDiagonal();
    kernel.add_cross_gradient(x, above(s), on_mean, unused, &result.mean);
    kernel.add_cross_gradient(x, above(s), on_variance, unused, &result.variance);
    kernel.add_diagonal_gradient(x, VectorXd::Constant(m, scale * last * last), unused, &result.variance, false);
  }
  for (std::size_t k = 0; k < df.size(); ++k) {
    const MatrixXd slope = carried(df[k]);
    result.mean.col(k) += slope * system_.beta();
    result.variance.col(k) += slope.cwiseProduct(on_f.transpose()).rowwise().sum();
  }
  return result;
}

}  // namespace granary::process
