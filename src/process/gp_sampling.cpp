#include "process/gp_sampling.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/infer/mcmc.h"
#include "core/base/parallel.h"
#include "core/linalg/spd.h"

namespace granary::process {

namespace {

constexpr JitterOptions small_jitter{1e-8, 1e-4};

class Whitened {
 public:
  Whitened(const ClassifyModel& model, ConstMatrixRef x, ConstVectorRef y)
      : link_(model.link), mean_(model.mean), y_(y), chol_(cholesky_with_jitter(model.kernel.matrix(x), small_jitter)) {
    if (x.rows() != y.size()) throw InputError(message("there are ", x.rows(), " inputs, but ", y.size(), " labels."));
  }

  Index size() const { return y_.size(); }
  const Cholesky& cholesky() const { return chol_; }
  VectorXd latent(const VectorXd& g) const {
    VectorXd f = chol_.lower().triangularView<Eigen::Lower>() * g;
    f.array() += mean_;
    return f;
  }
  double log_likelihood(const VectorXd& g) const { return class_log_likelihood(link_, y_, latent(g)); }
  double log_density(const VectorXd& g, double t, VectorXd& gradient) const {
    const VectorXd f = latent(g);
    VectorXd slope(f.size());
    double sum = 0;
    for (Index i = 0; i < f.size(); ++i) {
      const LikelihoodAt at = class_likelihood(link_, y_[i], f[i]);
      sum += at.log_p;
      slope[i] = t * at.first;
    }
    gradient = chol_.lower().transpose().triangularView<Eigen::Upper>() * slope;
    gradient -= g;
    return t * sum - 0.5 * g.squaredNorm();
  }

 private:
  Link link_;
  double mean_;
  VectorXd y_;
  Cholesky chol_;
};

// One chain position that moves at any temperature.
struct Walker {
  VectorXd g, gradient;
  double value = 0;

  void move_hmc(const Whitened& target, double t, Hamiltonian& engine, Rng& rng) {
    engine.move([&](const VectorXd& at, VectorXd& slope) { return target.log_density(at, t, slope); }, g, value, gradient, rng);
  }
  void refresh(const Whitened& target, double t) { value = target.log_density(g, t, gradient); }
  void move_ess(const Whitened& target, double t, Rng& rng) {
    double level = t * target.log_likelihood(g);
    elliptical_slice([&](const VectorXd& at) { return t * target.log_likelihood(at); }, g, level, rng.normals(g.size()), rng);
  }
};

double temperature(double s, double total) { return std::pow(s / total, 4); }

// Step sizes at evenly spaced s / T, each learnt by a short chain at its temperature.
VectorXd learn_step_sizes(const Whitened& target, int knots, int steps, Rng rng, Monitor& monitor) {
  VectorXd sizes(knots);
  Walker walker;
  walker.g = rng.normals(target.size());
  double step = 0.2;
  for (int k = 0; k < knots; ++k) {
    const double t = temperature(k + 1, knots);
    Hamiltonian engine(steps, step);
    walker.refresh(target, t);
    for (int move = 0; move < 40; ++move) {
      monitor.check();
      walker.move_hmc(target, t, engine, rng);
    }
    engine.end_warm_up();
    sizes[k] = step = std::min(1.0, std::max(1e-6, engine.step_size()));
  }
  return sizes;
}

}  // namespace

SampleResult sample_posterior(const ClassifyModel& model, ConstMatrixRef x, ConstVectorRef y, const SampleOptions& options,
                              const Rng& rng, Monitor& monitor) {
  const Whitened target(model, x, y);
  const Index n = target.size(), draws = options.draws;
  SampleResult result;
  result.jitter = target.cholesky().jitter();
  result.f.resize(draws * options.chains, n);
  result.weight.resize(draws * options.chains, n);
  result.log_joint.resize(draws * options.chains);
  result.acceptance = VectorXd::Ones(options.chains);
  result.step_size = VectorXd::Zero(options.chains);
  const int total = options.burn_in + options.draws * options.thin;
  parallel_for(options.chains, options.threads, monitor, [&](Index c) {
    Rng own = rng.stream(static_cast<std::uint64_t>(c));
    Walker walker;
    walker.g = 0.1 * own.normals(n);
    walker.refresh(target, 1);
    Hamiltonian engine(options.steps, 0.1);
    for (int s = 0; s < total; ++s) {
      monitor.progress((c + static_cast<double>(s) / total) / options.chains);
      if (s == options.burn_in) engine.end_warm_up();
      if (options.sampler == Sampler::hmc) {
        walker.move_hmc(target, 1, engine, own);
      } else {
        walker.move_ess(target, 1, own);
      }
      const int kept = s - options.burn_in + 1;
      if (kept <= 0 || kept % options.thin != 0) continue;
      const Index row = c * draws + kept / options.thin - 1;
      result.f.row(row) = target.latent(walker.g).transpose();
      result.weight.row(row) = target.cholesky().solve_upper(walker.g).transpose();
      result.log_joint[row] = target.log_likelihood(walker.g) - 0.5 * walker.g.squaredNorm();
    }
    if (options.sampler == Sampler::hmc) {
      result.acceptance[c] = engine.acceptance();
      result.step_size[c] = engine.step_size();
    }
  });
  for (Index c = 0; c < options.chains; ++c)
    result.effective_size += effective_sample_size(result.log_joint.segment(c * draws, draws));
  return result;
}

AisResult annealed_evidence(const ClassifyModel& model, ConstMatrixRef x, ConstVectorRef y, const AisOptions& options,
                            const Rng& rng, Monitor& monitor) {
  const Whitened target(model, x, y);
  const int total = options.temperatures, knots = 20;
  const bool hmc = options.sampler == Sampler::hmc;
  const VectorXd sizes = hmc ? learn_step_sizes(target, knots, options.steps, rng.stream(0), monitor) : VectorXd();
  AisResult result;
  result.log_weights.resize(options.runs);
  parallel_for(options.runs, options.threads, monitor, [&](Index r) {
    Rng own = rng.stream(static_cast<std::uint64_t>(r) + 1);
    Walker walker;
    walker.g = own.normals(target.size());
    double log_weight = 0, before = 0;
    for (int s = 1; s <= total; ++s) {
      monitor.progress((r + static_cast<double>(s) / total) / options.runs);
      const double t = temperature(s, total);
      log_weight += (t - before) * target.log_likelihood(walker.g);
      before = t;
      if (hmc) {
        const double place = std::max(0.0, static_cast<double>(s) / total * knots - 1);
        const Index low = std::min<Index>(static_cast<Index>(place), knots - 2);
        const double share = std::min(1.0, place - static_cast<double>(low));
        Hamiltonian engine(options.steps, std::exp((1 - share) * std::log(sizes[low]) + share * std::log(sizes[low + 1])));
        engine.end_warm_up();
        walker.refresh(target, t);
        walker.move_hmc(target, t, engine, own);
      } else {
        walker.move_ess(target, t, own);
      }
    }
    result.log_weights[r] = log_weight;
  });
  const double top = result.log_weights.maxCoeff();
  const Eigen::ArrayXd weight = (result.log_weights.array() - top).exp();
  result.log_evidence = top + std::log(weight.mean());
  result.effective_size = weight.sum() * weight.sum() / weight.square().sum();
  return result;
}

SamplePrediction predict_sample(const ClassifyModel& model, ConstMatrixRef x, ConstMatrixRef weight, double jitter,
                                ConstMatrixRef at, Monitor& monitor) {
  const Index m = at.rows(), draws = weight.rows();
  MatrixXd prior = model.kernel.matrix(x);
  prior.diagonal().array() += jitter;
  const Cholesky chol(prior);
  const std::unique_ptr<EpSites> sites = class_sites(model.link, VectorXd::Ones(1));
  SamplePrediction p;
  p.probability = p.mean = p.variance = p.monte_carlo_se = VectorXd::Zero(m);
  const Index block = 256;
  for (Index from = 0; from < m; from += block) {
    monitor.check();
    const Index count = std::min(block, m - from);
    const MatrixXd points = at.middleRows(from, count), k = model.kernel.cross(x, points);
    const VectorXd top = model.kernel.diagonal(points, false);
    const VectorXd v = (top - chol.solve_lower(k).colwise().squaredNorm().transpose()).cwiseMax(1e-12 * top);
    const MatrixXd means = weight * k;
    for (Index i = 0; i < count; ++i) {
      monitor.check();
      VectorXd chance(draws);
      for (Index s = 0; s < draws; ++s) chance[s] = std::exp(sites->moments(0, model.mean + means(s, i), v[i]).log_z);
      const double mean = means.col(i).mean();
      p.probability[from + i] = chance.mean();
      p.monte_carlo_se[from + i] = std::sqrt((chance.array() - chance.mean()).square().mean() / effective_sample_size(chance));
      p.mean[from + i] = model.mean + mean;
      p.variance[from + i] = v[i] + (means.col(i).array() - mean).square().mean();
    }
  }
  return p;
}

}  // namespace granary::process
