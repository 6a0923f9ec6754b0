#include "process/gp_classify.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "process/gp_laplace.h"

namespace granary::process {

namespace {

// Predictive log probability of each label from the posterior without its own site.
VectorXd leave_one_out(const EpSites& sites, const LatentPosterior& p, double mean) {
  VectorXd result(p.mean.size());
  for (Index i = 0; i < result.size(); ++i) {
    const double precision = 1 / p.variance[i] - p.tau[i];
    const double shift = (p.mean[i] - mean) / p.variance[i] - p.nu[i];
    result[i] = precision > 0 ? sites.moments(i, mean + shift / precision, 1 / precision).log_z
                              : std::numeric_limits<double>::quiet_NaN();
  }
  return result;
}

void add_gradient(const ClassifyModel& model, ConstMatrixRef x, const MatrixXd& g, double mean_slope, VectorXd& gradient) {
  gradient = VectorXd::Zero(model.n_parameters());
  model.kernel.add_gradient(x, g, gradient.head(model.kernel.n_parameters()));
  if (model.learn_mean) gradient[gradient.size() - 1] = mean_slope;
}

LatentPosterior by_ep(const ClassifyModel& model, ConstMatrixRef x, const MatrixXd& k, ConstVectorRef y,
                      const ClassifyOptions& options, Rng& rng, Monitor& monitor, const LatentPosterior* start) {
  EpOptions ep;
  ep.parallel = options.parallel;
  ep.damping = options.damping;
  ep.tol = options.tol;
  ep.max_sweeps = options.max_iter;
  ep.full_covariance = false;
  ep.with_r = options.with_gradient;
  EpState state;
  if (start) state = {start->tau, start->nu};
  const std::unique_ptr<EpSites> sites = class_sites(model.link, y);
  EpResult r = expectation_propagation(k, VectorXd::Constant(y.size(), model.mean), *sites, ep, rng, monitor, state);
  LatentPosterior p;
  if (options.with_gradient) {
    r.r = 0.5 * (r.weight * r.weight.transpose() - r.r);
    add_gradient(model, x, r.r, r.weight.sum(), p.gradient);
  }
  p.tau = std::move(r.tau);
  p.nu = std::move(r.nu);
  p.weight = std::move(r.weight);
  p.mean = std::move(r.mean);
  p.variance = std::move(r.variance);
  p.loo = std::move(r.site_log_z);
  p.log_evidence = r.log_z;
  p.log_determinant = r.log_determinant;
  p.convergence = r.convergence;
  return p;
}

LatentPosterior by_laplace(const ClassifyModel& model, ConstMatrixRef x, const MatrixXd& k, ConstVectorRef y,
                           const ClassifyOptions& options, Monitor& monitor, const LatentPosterior* start) {
  LaplaceOptions newton;
  newton.tol = std::max(1e-15, options.tol * options.tol);
  newton.max_iter = options.max_iter;
  const VectorXd mu = VectorXd::Constant(y.size(), model.mean);
  LaplaceResult r = laplace_approximation(k, mu, y, model.link, newton, monitor, start ? start->weight : VectorXd());
  LatentPosterior p;
  p.variance = r.solver.variance();
  p.nu = r.curvature.cwiseProduct(r.mode - mu) + r.first;
  if (options.with_gradient) {
    const MatrixXd inverse = r.solver.r();
    const VectorXd s = -0.5 * p.variance.cwiseProduct(r.slope);
    const VectorXd u = s - inverse * (k * s);
    const MatrixXd g = 0.5 * (r.weight * r.weight.transpose() - inverse + u * r.first.transpose() + r.first * u.transpose());
    add_gradient(model, x, g, r.weight.sum() + u.sum(), p.gradient);
  }
  p.log_determinant = r.solver.log_determinant();
  p.tau = std::move(r.curvature);
  p.weight = std::move(r.weight);
  p.mean = std::move(r.mode);
  p.log_evidence = r.log_evidence;
  p.convergence = r.convergence;
  p.loo = leave_one_out(*class_sites(model.link, y), p, model.mean);
  return p;
}

}  // namespace

VectorXd ClassifyModel::parameters() const {
  VectorXd p(n_parameters());
  p.head(kernel.n_parameters()) = kernel.parameters();
  if (learn_mean) p[p.size() - 1] = mean;
  return p;
}

void ClassifyModel::set_parameters(ConstVectorRef parameters) {
  if (parameters.size() != n_parameters()) {
    throw InputError(message("there are ", n_parameters(), " parameters, but ", parameters.size(), " values."));
  }
  kernel.set_parameters(parameters.head(kernel.n_parameters()));
  if (learn_mean) mean = parameters[parameters.size() - 1];
}

LatentPosterior latent_posterior(const ClassifyModel& model, ConstMatrixRef x, ConstVectorRef y, const ClassifyOptions& options,
                                 Rng& rng, Monitor& monitor, const LatentPosterior* start) {
  if (x.rows() != y.size()) throw InputError(message("there are ", x.rows(), " inputs, but ", y.size(), " labels."));
  const MatrixXd k = model.kernel.matrix(x);
  if (!k.allFinite()) throw NumericalError("the kernel has values that are not finite at these inputs.");
  if (model.inference == Inference::laplace) return by_laplace(model, x, k, y, options, monitor, start);
  return by_ep(model, x, k, y, options, rng, monitor, start);
}

MultistartResult learn_classifier(const ClassifyModel& model, ConstMatrixRef x, ConstVectorRef y, ConstMatrixRef starts,
                                  const ClassifyLearnOptions& options, const Rng& rng, Monitor& monitor) {
  const Index count = starts.rows();
  const Stopwatch clock;
  std::vector<MultistartResult> ends(count);
  parallel_for(count, options.threads, monitor, [&](Index s) {
    ClassifyOptions inner = options.inner;
    inner.with_gradient = true;
    Rng own = rng.stream(static_cast<std::uint64_t>(s));
    LatentPosterior last;  // the search moves in steps, so the sites of one point are a good start at the next
    const Objective minus = [&](const VectorXd& parameters, VectorXd& gradient) {
      monitor.check();
      try {
        ClassifyModel at = model;
        at.set_parameters(parameters);
        LatentPosterior found = latent_posterior(at, x, y, inner, own, monitor, last.tau.size() > 0 ? &last : nullptr);
        const double value = -found.log_evidence - options.prior.add(parameters, &found.gradient);
        gradient = -found.gradient;
        if (std::isfinite(value)) last = std::move(found);
        return value;
      } catch (const NumericalError&) {
        gradient.setZero(parameters.size());
        return std::numeric_limits<double>::infinity();
      }
    };
    try {
      ends[s] = multistart_box(minus, starts.row(s), options.lower, options.upper, options.optimiser, 1, monitor);
    } catch (const NumericalError&) {
      ends[s].value = std::numeric_limits<double>::infinity();
      ends[s].starts.resize(1);
      ends[s].starts[0].from = ends[s].starts[0].to = starts.row(s);
      ends[s].starts[0].value = ends[s].value;
    }
  });
  MultistartResult result;
  Index best = 0;
  for (Index s = 0; s < count; ++s) {
    if (ends[s].value < ends[best].value) best = s;
    result.starts.push_back(ends[s].starts[0]);
  }
  if (count == 0 || !std::isfinite(ends[best].value)) throw NumericalError("the evidence is not finite at any start.");
  result.x = ends[best].x;
  result.value = ends[best].value;
  result.convergence = ends[best].convergence;
  result.convergence.seconds = clock.seconds();
  return result;
}

ClassifyPrediction predict_class(const ClassifyModel& model, ConstMatrixRef x, ConstVectorRef tau, ConstVectorRef weight,
                                 ConstMatrixRef at, const PredictOptions& options, Monitor& monitor) {
  const Index m = at.rows(), d = at.cols(), block = 256;
  if (x.rows() != tau.size() || x.rows() != weight.size()) throw InputError("the sites do not belong to these inputs.");
  if (d != x.cols()) throw InputError(message("the new points have ", d, " columns, the inputs ", x.cols(), "."));
  const EpSolver solver(model.kernel.matrix(x), tau);
  ClassifyPrediction p;
  p.mean.resize(m);
  p.variance.resize(m);
  p.log_positive.resize(m);
  p.log_negative.resize(m);
  if (options.sd) p.probability_sd.resize(m);
  if (options.gradient) {
    p.mean_gradient = MatrixXd::Zero(m, d);
    p.probability_gradient = MatrixXd::Zero(m, d);
  }
  VectorXd signs(2);
  signs << 1, -1;
  const std::unique_ptr<EpSites> sites = class_sites(model.link, signs);
  const MatrixXd r = options.gradient ? solver.r() : MatrixXd();
  parallel_for((m + block - 1) / block, options.threads, monitor, [&](Index b) {
    const Index from = b * block, count = std::min(block, m - from);
    const MatrixXd points = at.middleRows(from, count), k = model.kernel.cross(x, points);
    p.mean.segment(from, count) = (k.transpose() * weight).array() + model.mean;
    const VectorXd explained = solver.solve_root(k).colwise().squaredNorm().transpose();
    const VectorXd prior = model.kernel.diagonal(points, false);
    p.variance.segment(from, count) = (prior - explained).cwiseMax(1e-12 * prior);
    MatrixXd variance_gradient;
    if (options.gradient) {
      VectorXd unused = VectorXd::Zero(model.kernel.n_parameters());
      MatrixXd mean_gradient = MatrixXd::Zero(count, d);
      variance_gradient = mean_gradient;
      model.kernel.add_cross_gradient(points, x, VectorXd::Ones(count) * weight.transpose(), unused, &mean_gradient);
      model.kernel.add_cross_gradient(points, x, -2 * (k.transpose() * r), unused, &variance_gradient);
      model.kernel.add_diagonal_gradient(points, VectorXd::Ones(count), unused, &variance_gradient, false);
      p.mean_gradient.middleRows(from, count) = mean_gradient;
    }
    for (Index i = from; i < from + count; ++i) {
      const double mean = p.mean[i], variance = std::max(p.variance[i], 1e-300);
      const SiteMoments tilted = sites->moments(0, mean, variance);
      p.log_positive[i] = tilted.log_z;
      p.log_negative[i] = sites->moments(1, mean, variance).log_z;
      const double chance = std::exp(tilted.log_z);
      if (options.sd) p.probability_sd[i] = class_probability_sd(model.link, mean, variance, chance);
      if (options.gradient) {  // d log Z / d(mean, variance) from the tilted moments
        const double z = (tilted.mean - mean) / variance;
        const double on_variance = 0.5 * (z * z + (tilted.variance - variance) / (variance * variance));
        p.probability_gradient.row(i) = chance * (z * p.mean_gradient.row(i) + on_variance * variance_gradient.row(i - from));
      }
    }
  });
  if (options.covariance) {
    const MatrixXd v = solver.solve_root(model.kernel.cross(x, at));
    p.covariance = model.kernel.cross(at, at);
    p.covariance.noalias() -= v.transpose() * v;
  }
  return p;
}

double evidence_lower_bound(const ClassifyModel& model, ConstVectorRef y, const LatentPosterior& posterior, int nodes,
                            ConstVectorRef more_y, ConstVectorRef more_mean, ConstVectorRef more_variance) {
  const Quadrature rule = gauss_hermite(nodes);
  const auto expected = [&](double label, double m, double v) {
    double sum = 0;
    for (Index k = 0; k < rule.nodes.size(); ++k) {
      sum += rule.weights[k] * class_log_likelihood(model.link, label, m + std::sqrt(v) * rule.nodes[k]);
    }
    return sum;
  };
  double bound = -0.5 * posterior.weight.dot((posterior.mean.array() - model.mean).matrix()) +
                 0.5 * posterior.tau.dot(posterior.variance) - 0.5 * posterior.log_determinant;
  for (Index i = 0; i < y.size(); ++i) bound += expected(y[i], posterior.mean[i], posterior.variance[i]);
  for (Index i = 0; i < more_y.size(); ++i) bound += expected(more_y[i], more_mean[i], more_variance[i]);
  return bound;
}

}  // namespace granary::process
