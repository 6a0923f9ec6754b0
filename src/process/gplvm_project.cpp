// Starts, modes and importance sampling of project_rows().
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/math/logspace.h"
#include "core/base/parallel.h"
#include "process/gplvm_posterior.h"
#include "core/linalg/dense.h"

namespace granary::process {

namespace {

constexpr double log_two_pi = 1.8378770664093454836;

// Training rows by their distance from y per shared cell, nearest first; those that share no cell come last.
std::vector<Index> nearest_rows(ConstVectorRef y, ConstMatrixRef train, Index count) {
  const Index n = train.rows();
  VectorXd distance = VectorXd::Zero(n), shared = VectorXd::Zero(n);
  for (Index i = 0; i < train.cols(); ++i) {
    if (std::isnan(y[i])) continue;
    for (Index row = 0; row < n; ++row) {
      const double gap = train(row, i) - y[i];
      if (std::isnan(gap)) continue;
      distance[row] += gap * gap;
      shared[row] += 1;
    }
  }
  for (Index row = 0; row < n; ++row)
    distance[row] = shared[row] > 0 ? distance[row] / shared[row] : std::numeric_limits<double>::infinity();
  std::vector<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), Index(0));
  const auto closer = [&](Index a, Index b) { return distance[a] < distance[b] || (distance[a] == distance[b] && a < b); };
  std::partial_sort(order.begin(), order.begin() + count, order.end(), closer);
  order.resize(static_cast<std::size_t>(count));
  return order;
}

// The curvature of the objective at a mode, from differences of its gradient, as the factor of a proposal's precision.
MatrixXd proposal_factor(const GplvmPosterior& posterior, const GplvmPosterior::Row& row, const VectorXd& mode) {
  const Index q = mode.size();
  MatrixXd hessian(q, q);
  VectorXd up, down;
  for (Index k = 0; k < q; ++k) {
    const double step = 1e-4 * std::max(1.0, std::abs(mode[k]));
    VectorXd x = mode;
    x[k] += step;
    posterior.log_likelihood(row, x, &up);
    x[k] -= 2 * step;
    posterior.log_likelihood(row, x, &down);
    hessian.col(k) = (down - up) / (2 * step);
  }
  hessian = 0.5 * (hessian + hessian.transpose()).eval();
  hessian.diagonal().array() += 1;  // the prior: what is integrated is p(y | x) N(x | 0, I) whatever the fit used
  SymmetricEigen eigen(hessian);
  const VectorXd values =
      eigen.eigenvalues().cwiseAbs().cwiseMax(0.1) / 2.25;  // wider than the mode, so that weights stay bounded
  const MatrixXd precision = eigen.eigenvectors() * values.asDiagonal() * eigen.eigenvectors().transpose();
  return Llt(precision).matrixL();
}

struct Marginal {
  double log_value, relative_se;
};

// log of the mean of p(y | x) p(x) / g(x), x drawn from g: the prior with probability 0.1, else a normal law around one of the
// modes.
Marginal importance_sampling(const GplvmPosterior& posterior, const GplvmPosterior::Row& row, const MatrixXd& modes, int samples,
                             Rng rng, Monitor& monitor) {
  constexpr double defensive = 0.1;
  const Index q = modes.cols(), count = modes.rows();
  std::vector<MatrixXd> factors;
  for (Index m = 0; m < count; ++m) factors.push_back(proposal_factor(posterior, row, modes.row(m).transpose()));
  VectorXd log_weights(samples), terms(count + 1);
  for (int s = 0; s < samples; ++s) {
    monitor.check();
    VectorXd x;
    if (rng.uniform() < defensive) {
      x = rng.normals(q);
    } else {
      const Index m = static_cast<Index>(rng.below(static_cast<std::uint64_t>(count)));
      x = rng.multivariate_normal_precision(modes.row(m).transpose(), factors[static_cast<std::size_t>(m)]);
    }
    const double log_prior = -0.5 * (static_cast<double>(q) * log_two_pi + x.squaredNorm());
    for (Index m = 0; m < count; ++m) {
      const MatrixXd& l = factors[static_cast<std::size_t>(m)];
      const VectorXd z = l.transpose() * (x - modes.row(m).transpose());
      terms[m] = std::log((1 - defensive) / static_cast<double>(count)) + l.diagonal().array().log().sum() -
                 0.5 * (static_cast<double>(q) * log_two_pi + z.squaredNorm());
    }
    terms[count] = std::log(defensive) + log_prior;
    log_weights[s] = posterior.log_likelihood(row, x, nullptr) + log_prior - log_sum_exp(terms);
  }
  const double top = log_weights.maxCoeff();
  const Eigen::ArrayXd w = (log_weights.array() - top).exp();
  const double mean = w.mean(), spread = std::sqrt((w - mean).square().sum() / std::max(1, samples - 1));
  return {top + std::log(mean), spread / mean / std::sqrt(static_cast<double>(samples))};
}

}  // namespace

Projection project_rows(const GplvmPosterior& posterior, ConstMatrixRef y, ConstMatrixRef train_latent, ConstMatrixRef train_y,
                        const ProjectOptions& options, Rng& rng, Monitor& monitor) {
  const Index n = y.rows(), q = posterior.dimension();
  Projection result;
  result.x.resize(n, q);
  result.log_likelihood.resize(n);
  result.objective.resize(n);
  result.log_marginal.resize(options.samples > 0 ? n : 0);
  result.log_marginal_se.resize(options.samples > 0 ? n : 0);
  result.modes.resize(static_cast<std::size_t>(n));
  result.mode_objectives.resize(static_cast<std::size_t>(n));
  const VectorXd centre = train_latent.colwise().mean().transpose();
  const VectorXd spread =
      ((train_latent.rowwise() - centre.transpose()).colwise().squaredNorm() / static_cast<double>(train_latent.rows()))
          .cwiseSqrt()
          .transpose();
  const double same = 1e-3 * std::max(spread.maxCoeff(), 1e-12);
  LbfgsOptions solver;
  solver.max_iter = options.max_iter;
  solver.tol = options.tol;

  parallel_for(n, options.threads, monitor, [&](Index r) {
    Rng own = rng.stream(static_cast<std::uint64_t>(r));
    const VectorXd target = y.row(r).transpose();
    const GplvmPosterior::Row row = posterior.prepare(target);
    const Index near = std::min<Index>((options.n_starts + 1) / 2, train_y.rows());
    const std::vector<Index> nearest = nearest_rows(target, train_y, near);
    std::vector<std::pair<double, VectorXd>> found;
    for (int start = 0; start < options.n_starts; ++start) {
      VectorXd x = start < near ? VectorXd(train_latent.row(nearest[static_cast<std::size_t>(start)]).transpose())
                                : VectorXd(centre + spread.cwiseProduct(own.normals(q)));
      const double value = posterior.place(row, x, solver, monitor);
      const bool known = std::any_of(found.begin(), found.end(), [&](const auto& f) { return (f.second - x).norm() < same; });
      if (!known) found.emplace_back(value, std::move(x));
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    MatrixXd modes(static_cast<Index>(found.size()), q);
    VectorXd values(modes.rows());
    for (Index m = 0; m < modes.rows(); ++m) {
      modes.row(m) = found[static_cast<std::size_t>(m)].second.transpose();
      values[m] = found[static_cast<std::size_t>(m)].first;
    }
    result.x.row(r) = modes.row(0);
    result.objective[r] = values[0];
    result.log_likelihood[r] = posterior.log_likelihood(row, found.front().second, nullptr);
    if (options.samples > 0) {
      const Marginal marginal = importance_sampling(posterior, row, modes, options.samples, own.stream(1), monitor);
      result.log_marginal[r] = marginal.log_value;
      result.log_marginal_se[r] = marginal.relative_se;
    }
    result.modes[static_cast<std::size_t>(r)] = std::move(modes);
    result.mode_objectives[static_cast<std::size_t>(r)] = std::move(values);
    monitor.progress(static_cast<double>(r + 1) / static_cast<double>(n));
  });
  return result;
}

}  // namespace granary::process
