#include "process/gplvm_posterior.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/linalg/spd_inverse.h"
#include "core/math/special.h"
#include "core/random/gaussian.h"

namespace granary::process {

namespace {

constexpr double log_two_pi = 1.8378770664093454836;
constexpr Index panel = 256;  // points predicted at a time

}  // namespace

GplvmPosterior::GplvmPosterior(const GplvmModel& model) : model_(model) {
  const MatrixXd k = model_.kernel.matrix(model_.latent);
  for (ColumnGroup& from : group_columns(model_.targets)) {
    Group group;
    const Index size = static_cast<Index>(from.rows.size());
    MatrixXd a(size, size);
    for (Index j = 0; j < size; ++j)
      for (Index i = 0; i < size; ++i)
        a(i, j) = k(from.rows[static_cast<std::size_t>(i)], from.rows[static_cast<std::size_t>(j)]);
    a.diagonal() += from.noise;
    a.diagonal().array() += model_.nugget;
    group.factor = cholesky_with_jitter(a);
    group.alpha = group.factor.solve(from.y);
    group.inverse = group.factor.lower();
    inverse_from_cholesky(group.inverse);
    group.inverse.triangularView<Eigen::StrictlyUpper>() = group.inverse.transpose();
    if (group.alpha.cols() > size) group.gram = group.alpha * group.alpha.transpose();
    group.rows = std::move(from.rows);
    group.columns = std::move(from.columns);
    groups_.push_back(std::move(group));
  }
}

void GplvmPosterior::predict(ConstMatrixRef x, bool with_noise, MatrixXd& mean, MatrixXd& variance, Monitor& monitor) const {
  const Index n = x.rows(), d = model_.targets.y.cols();
  mean.setZero(n, d);
  variance.resize(n, d);
  // The white part of f belongs to binary columns in any case: it is not noise of an observation there.
  const bool white = with_noise || model_.noise == OutputNoise::bernoulli;
  for (Index first = 0; first < n; first += panel) {
    monitor.check();
    const Index count = std::min(panel, n - first);
    const auto points = x.middleRows(first, count);
    const MatrixXd k = model_.kernel.cross(model_.latent, points);
    VectorXd own = model_.kernel.diagonal(points, white);
    if (white) own.array() += model_.nugget;
    for (Index i = 0; i < d; ++i) variance.col(i).segment(first, count) = own;
    for (const Group& group : groups_) {
      const MatrixXd kg = take_rows(k, group.rows);
      const MatrixXd mu = kg.transpose() * group.alpha;
      const VectorXd explained = group.factor.solve_lower(kg).colwise().squaredNorm().transpose();
      const VectorXd left = (own - explained).cwiseMax(0);
      for (std::size_t c = 0; c < group.columns.size(); ++c) {
        mean.col(group.columns[c]).segment(first, count) = mu.col(static_cast<Index>(c));
        variance.col(group.columns[c]).segment(first, count) = left;
      }
    }
  }
}

std::vector<MatrixXd> GplvmPosterior::draws(ConstMatrixRef x, int count, Rng& rng, Monitor& monitor) const {
  const Index n = x.rows();
  std::vector<MatrixXd> out(static_cast<std::size_t>(count), MatrixXd(n, model_.targets.y.cols()));
  const MatrixXd cross = model_.kernel.cross(model_.latent, x);
  MatrixXd prior = model_.kernel.matrix(x);
  prior.diagonal().array() += model_.nugget;
  for (const Group& group : groups_) {
    const MatrixXd kg = take_rows(cross, group.rows), half = group.factor.solve_lower(kg), mean = kg.transpose() * group.alpha;
    MatrixXd left = prior;
    left.noalias() -= half.transpose() * half;
    const Index columns = static_cast<Index>(group.columns.size());
    const MatrixXd noise = gaussian_draws(VectorXd::Zero(n), left, columns * count, rng, monitor);
    for (Index c = 0; c < columns; ++c)
      for (Index k = 0; k < count; ++k)
        out[static_cast<std::size_t>(k)].col(group.columns[static_cast<std::size_t>(c)]) = mean.col(c) + noise.col(c * count + k);
  }
  return out;
}

GplvmPosterior::Row GplvmPosterior::prepare(ConstVectorRef y, ConstVectorRef noise) const {
  Row row;
  row.y = y;
  row.noise = noise;
  const bool gaussian = model_.noise == OutputNoise::gaussian;
  for (const Group& group : groups_) {
    Row::Part part;
    for (std::size_t c = 0; c < group.columns.size(); ++c) {
      const Index i = group.columns[c];
      const bool there = !std::isnan(y[i]) && !(noise.size() > 0 && noise[i] >= NoisyTargets::missing_from);
      if (there) part.columns.push_back(static_cast<Index>(c));
    }
    const Index count = static_cast<Index>(part.columns.size());
    if (count < static_cast<Index>(group.columns.size())) {
      part.alpha.resize(group.alpha.rows(), count);
      for (Index c = 0; c < count; ++c) part.alpha.col(c) = group.alpha.col(part.columns[static_cast<std::size_t>(c)]);
    } else if (gaussian && group.gram.size() > 0 && noise.size() == 0) {
      VectorXd own(count);
      for (Index c = 0; c < count; ++c) own[c] = y[group.columns[static_cast<std::size_t>(c)]];
      part.projected = group.alpha * own;
      part.squared = own.squaredNorm();
    }
    row.parts.push_back(std::move(part));
  }
  return row;
}

double GplvmPosterior::log_likelihood(const Row& row, const VectorXd& x, VectorXd* gradient) const {
  const MatrixXd point = x.transpose();
  const VectorXd k = model_.kernel.cross(model_.latent, point);
  const double own = model_.kernel.diagonal(point, true)[0] + model_.nugget;
  VectorXd dk = VectorXd::Zero(k.size());
  double value = 0, d_own = 0;
  for (std::size_t at = 0; at < groups_.size(); ++at) {
    const Group& group = groups_[at];
    const Row::Part& part = row.parts[at];
    const Index count = static_cast<Index>(part.columns.size());
    if (count == 0) continue;
    VectorXd kg(static_cast<Index>(group.rows.size()));
    for (Index j = 0; j < kg.size(); ++j) kg[j] = k[group.rows[static_cast<std::size_t>(j)]];
    const VectorXd solved = group.inverse * kg;
    const double s2 = std::max(own - kg.dot(solved), 1e-14 * own);
    VectorXd dkg;
    double ds2 = 0;
    if (part.projected.size() > 0) {  // |y - mu|^2 from inner products: no pass over the columns
      const VectorXd across = group.gram * kg;
      const double rss = std::max(part.squared - 2 * kg.dot(part.projected) + kg.dot(across), 0.0);
      const double size = static_cast<double>(count);
      value -= 0.5 * (size * (log_two_pi + std::log(s2)) + rss / s2);
      ds2 = 0.5 * (rss / s2 - size) / s2;
      dkg = (part.projected - across) / s2;
    } else {
      const MatrixXd& alpha = part.alpha.size() > 0 ? part.alpha : group.alpha;
      VectorXd mu = alpha.transpose() * kg, d_mu(count);
      for (Index c = 0; c < count; ++c) {
        const Index i = group.columns[static_cast<std::size_t>(part.columns[static_cast<std::size_t>(c)])];
        if (model_.noise == OutputNoise::bernoulli) {
          const double root = std::sqrt(1 + s2), u = row.y[i] * (mu[c] + model_.offset[i]) / root, rho = inverse_mills(u);
          value += normal_log_cdf(u);
          d_mu[c] = row.y[i] * rho / root;
          ds2 -= 0.5 * rho * u / (1 + s2);
        } else {
          const double total = s2 + (row.noise.size() > 0 ? row.noise[i] : 0), gap = row.y[i] - mu[c];
          value -= 0.5 * (log_two_pi + std::log(total) + gap * gap / total);
          d_mu[c] = gap / total;
          ds2 += 0.5 * (gap * gap / total - 1) / total;
        }
      }
      dkg = alpha * d_mu;
    }
    dkg -= 2 * ds2 * solved;
    d_own += ds2;
    for (Index j = 0; j < kg.size(); ++j) dk[group.rows[static_cast<std::size_t>(j)]] += dkg[j];
  }
  if (!std::isfinite(value)) return -std::numeric_limits<double>::infinity();
  if (gradient) {
    VectorXd unused = VectorXd::Zero(model_.kernel.n_parameters());
    MatrixXd dx = MatrixXd::Zero(1, x.size());
    model_.kernel.add_cross_gradient(model_.latent, point, dk, unused, nullptr, &dx);
    model_.kernel.add_diagonal_gradient(point, VectorXd::Constant(1, d_own), unused, &dx);
    *gradient = dx.transpose();
  }
  return value;
}

double GplvmPosterior::place(const Row& row, VectorXd& x, const LbfgsOptions& options, Monitor& monitor) const {
  const auto negative = [&](const VectorXd& at, VectorXd& gradient) {
    const double value = log_likelihood(row, at, &gradient);
    gradient = -gradient;
    if (!model_.prior) return -value;
    gradient += at;
    return -value + 0.5 * at.squaredNorm();
  };
  const LbfgsResult best = lbfgs(negative, x, options, monitor);
  x = best.x;
  return -best.value;
}

}  // namespace granary::process
