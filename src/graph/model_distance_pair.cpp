// Distances between two models as they are given: which formula, enumeration or simulation applies.
#include <algorithm>
#include <cmath>

#include "graph/model_distance.h"

namespace granary::graph {

namespace {

struct Network {
  BnStructure structure;
  const BnTables& tables;
};
Network as_network(const ModelSpec& model) { return {make_structure(model.graph, model.levels), model.tables}; }

Estimate sampled_gaussian(const GaussianModel& p, const GaussianModel& q, const DistanceOptions& options, Rng& rng) {
  const MatrixXd x = gaussian_sample(p, options.n_sim, rng), y = gaussian_sample(q, options.n_sim, rng);
  return sampled_divergence(gaussian_log_density(p, x) - gaussian_log_density(q, x), gaussian_log_density(p, y) - gaussian_log_density(q, y),
                            options.type);
}

Estimate sampled_network(const ModelSpec& m1, const ModelSpec& m2, const DistanceOptions& options, Rng& rng, Monitor& monitor) {
  const Network p = as_network(m1), q = as_network(m2);
  const Eigen::MatrixXi x = bn_sample(p.structure, p.tables, options.n_sim, rng, monitor),
                        y = bn_sample(q.structure, q.tables, options.n_sim, rng, monitor);
  return sampled_divergence(bn_log_density(p.structure, p.tables, x) - bn_log_density(q.structure, q.tables, x),
                            bn_log_density(p.structure, p.tables, y) - bn_log_density(q.structure, q.tables, y), options.type);
}

double network_kl(const ModelSpec& m1, const ModelSpec& m2, Monitor& monitor) {
  const Network p = as_network(m1), q = as_network(m2);
  return bn_kl(p.structure, p.tables, q.structure, q.tables, monitor);
}

ModelDistance gaussian_distance(const ModelSpec& m1, const ModelSpec& m2, const DistanceOptions& options, Rng& rng) {
  const GaussianModel p = as_gaussian(m1), q = as_gaussian(m2);
  const double bhattacharyya = gaussian_bhattacharyya(p, q);
  ModelDistance out;
  if (options.type == Divergence::bayes_error) out.bracket = bayes_bracket(bhattacharyya);
  out.exact = options.exact && options.type != Divergence::js && options.type != Divergence::bayes_error;
  if (!out.exact) {
    const Estimate found = sampled_gaussian(p, q, options, rng);
    out.value = found.value;
    out.se = found.se;
  } else if (options.type == Divergence::bhattacharyya) {
    out.value = bhattacharyya;
  } else if (options.type == Divergence::hellinger) {
    out.value = std::sqrt(-std::expm1(-bhattacharyya));
  } else {
    out.value = gaussian_kl(p, q) + (options.type == Divergence::symkl ? gaussian_kl(q, p) : 0);
  }
  return out;
}

}  // namespace

GaussianModel as_gaussian(const ModelSpec& model) {
  if (model.matrix.rows() != model.matrix.cols() || model.mean.size() != model.matrix.rows()) {
    throw InputError("a Gaussian model needs a mean and a square matrix of the same size.");
  }
  return make_gaussian(model.mean, model.matrix, model.is_precision);
}

VectorXd log_probabilities(const ModelSpec& model, Monitor& monitor) {
  if (model.kind == ModelKind::ising) return ising_log_probabilities(model.theta, monitor);
  const Network net = as_network(model);
  return bn_log_probabilities(net.structure, net.tables, monitor);
}

GaussianExact gaussian_exact(const ModelSpec& m1, const ModelSpec& m2) {
  const GaussianModel p = as_gaussian(m1), q = as_gaussian(m2);
  return {gaussian_kl(p, q), gaussian_kl(q, p), gaussian_bhattacharyya(p, q), gaussian_entropy(p)};
}

std::pair<double, double> bayes_bracket(double bhattacharyya) {
  const double rho = std::exp(-bhattacharyya);
  return {rho * rho / (2 * (1 + std::sqrt(std::max(0.0, 1 - rho * rho)))), rho / 2};
}

ModelDistance model_distance(const ModelSpec& p, const ModelSpec& q, const DistanceOptions& options, Rng& rng, Monitor& monitor) {
  if (p.kind != q.kind) throw InputError("both models must be of one kind.");
  if (p.kind == ModelKind::gaussian) return gaussian_distance(p, q, options, rng);
  ModelDistance out;
  if (!options.exact) {
    if (p.kind == ModelKind::ising) throw InputError("an Ising model has no density without enumeration, so only the exact distance is possible.");
    const Estimate found = sampled_network(p, q, options, rng, monitor);
    return {found.value, found.se, false, {}};
  }
  if (p.kind == ModelKind::bn && (options.type == Divergence::kl || options.type == Divergence::symkl)) {
    out.value = network_kl(p, q, monitor) + (options.type == Divergence::symkl ? network_kl(q, p, monitor) : 0);
    return out;
  }
  const VectorXd log_p = log_probabilities(p, monitor), log_q = log_probabilities(q, monitor);
  out.value = discrete_divergence(log_p, log_q, options.type);
  if (options.type == Divergence::bayes_error) out.bracket = bayes_bracket(discrete_divergence(log_p, log_q, Divergence::bhattacharyya));
  return out;
}

Eigen::MatrixXi network_sample(const ModelSpec& model, Index n, Rng& rng, Monitor& monitor) {
  const Network net = as_network(model);
  return bn_sample(net.structure, net.tables, n, rng, monitor);
}

}  // namespace granary::graph
