// How far apart two fitted models are: exact where it can be, by simulation where not.
//
//   KL(1||2) of Gaussians   1/2 (log det O1 - log det O2 + tr(S1 O2) - N + (m1 - m2)' O2 (m1 - m2)),   O precision, S covariance
//   of discrete models      enumeration, or for Bayesian networks node by node: sum_n E_1 [log P1(x_n | pa1) - log P2(x_n |
//   pa2)], which
//                           needs marginals of the first network over families only (variable elimination)
//   Bhattacharyya           rho = int sqrt(p1 p2);  Hellinger sqrt(1 - rho);  Jensen-Shannon;  Bayes error 1/2 int min(p1, p2)
//
// All simulated quantities are means over draws from both models of a function of r = log p1 - log p2 that is bounded (but for
// KL):
//   Bayes error 1 / (1 + e^|r|),   rho 1 / cosh(r / 2),   Jensen-Shannon log 2 - log(1 + e^-r) under 1 and log 2 - log(1 + e^r)
//   under 2.
//
// Honorio (2012), chapter 6. Its Definition 6.4 takes a bound on ||gradient||_p for Lipschitz continuity in the same norm; right
// is the dual norm.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "core/random/rng.h"
#include "core/base/types.h"
#include "graph/bn_kernel.h"

namespace granary::graph {

// S = a a', O = b b'.
struct GaussianModel {
  VectorXd mean;
  MatrixXd a, b;
  double log_det_precision = 0;
};
// From a covariance or a precision matrix. InputError with the smallest eigenvalue when it is not positive definite.
GaussianModel make_gaussian(ConstVectorRef mean, ConstMatrixRef matrix, bool is_precision);
double gaussian_kl(const GaussianModel& p, const GaussianModel& q);
double gaussian_bhattacharyya(const GaussianModel& p, const GaussianModel& q);  // -log rho
double gaussian_entropy(const GaussianModel& p);
MatrixXd gaussian_sample(const GaussianModel& p, Index n, Rng& rng);
VectorXd gaussian_log_density(const GaussianModel& p, ConstMatrixRef x);

// log p of all 2^p states of exp(sum_j t_jj x_j + sum_{j<k} t_jk x_j x_k), x_j = bit j of the state; at most 22 nodes.
VectorXd ising_log_probabilities(ConstMatrixRef theta, Monitor& monitor);
// Of all states, first node fastest; InputError beyond 2^22 states.
VectorXd bn_log_probabilities(const BnStructure& structure, const BnTables& tables, Monitor& monitor);

enum class Divergence { kl, symkl, js, hellinger, bhattacharyya, bayes_error };
inline Names<Divergence> names(Divergence) {
  return {{Divergence::kl, "kl"}, {Divergence::symkl, "symkl"}, {Divergence::js, "js"}, {Divergence::hellinger, "hellinger"},
          {Divergence::bhattacharyya, "bhattacharyya"}, {Divergence::bayes_error, "bayes_error"}};
}
double discrete_divergence(const VectorXd& log_p, const VectorXd& log_q, Divergence type);  // bhattacharyya: -log rho

struct Estimate {
  double value = 0, se = 0;
};
// From r = log p - log q at draws of p and of q.
Estimate sampled_divergence(const VectorXd& r_p, const VectorXd& r_q, Divergence type);

double bn_kl(const BnStructure& sp, const BnTables& p, const BnStructure& sq, const BnTables& q, Monitor& monitor);
// P over `nodes` (increasing), first node fastest.
VectorXd bn_marginal(const BnStructure& structure, const BnTables& tables, const std::vector<int>& nodes, Monitor& monitor);
Eigen::MatrixXi bn_sample(const BnStructure& structure, const BnTables& tables, Index n, Rng& rng, Monitor& monitor);

// What the Lipschitz bounds of two Gaussians need.
struct GaussianNorms {
  double smallest = 0, largest = 0;  // eigenvalues over both precision matrices
  double precision_nuclear = 0, precision_frobenius = 0, precision_spectral = 0;
  double covariance_nuclear = 0, covariance_frobenius = 0, covariance_spectral = 0;
  double log_bb = 0;  // log sum_c E_c exp(-K(x) d), d the nuclear distance of the precisions, K(x) = (||x||^2 + 1/a) / 2
};
template <class V>
void fields(V& v, GaussianNorms& t) {
  v("smallest", t.smallest);
  v("largest", t.largest);
  v("precision_nuclear", t.precision_nuclear);
  v("precision_frobenius", t.precision_frobenius);
  v("precision_spectral", t.precision_spectral);
  v("covariance_nuclear", t.covariance_nuclear);
  v("covariance_frobenius", t.covariance_frobenius);
  v("covariance_spectral", t.covariance_spectral);
  v("log_bb", t.log_bb);
}
GaussianNorms gaussian_norms(const GaussianModel& p, const GaussianModel& q);

// ---- a model of any kind, as it is given -------------------------------------------------------------------------------------

enum class ModelKind { gaussian, ising, bn };
inline Names<ModelKind> names(ModelKind) { return {{ModelKind::gaussian, "gaussian"}, {ModelKind::ising, "ising"}, {ModelKind::bn, "bn"}}; }

struct ModelSpec {
  ModelKind kind = ModelKind::gaussian;
  VectorXd mean;  // gaussian
  MatrixXd matrix;
  bool is_precision = false;
  MatrixXd theta;          // ising, as above
  MixedGraph graph;        // bn
  std::vector<int> levels;
  BnTables tables;
};
template <class V>
void fields(V& v, ModelSpec& t) {
  v("kind", t.kind);
  v("mean", t.mean);
  v("matrix", t.matrix);
  v("is_precision", t.is_precision);
  v("theta", t.theta);
  v("graph", t.graph);
  v("levels", t.levels);
  v("tables", t.tables);
}
GaussianModel as_gaussian(const ModelSpec& model);
VectorXd log_probabilities(const ModelSpec& model, Monitor& monitor);  // discrete ones

struct GaussianExact {
  double kl = 0, reverse = 0, bhattacharyya = 0, entropy = 0;  // entropy of the first
};
template <class V>
void fields(V& v, GaussianExact& t) {
  v("kl", t.kl);
  v("reverse", t.reverse);
  v("bhattacharyya", t.bhattacharyya);
  v("entropy", t.entropy);
}
GaussianExact gaussian_exact(const ModelSpec& p, const ModelSpec& q);

struct DistanceOptions {
  Divergence type = Divergence::kl;
  bool exact = true;  // where there is a formula or all states can be listed; else by n_sim draws from either model
  Index n_sim = 100000;
};
template <class V>
void fields(V& v, DistanceOptions& t) {
  v("type", t.type);
  v("exact", t.exact);
  v("n_sim", t.n_sim);
}
struct ModelDistance {
  double value = 0, se = 0;
  bool exact = true;
  std::optional<std::pair<double, double>> bracket;  // of the Bayes error, by the Bhattacharyya coefficient
};
template <class V>
void fields(V& v, ModelDistance& t) {  // for writing
  std::vector<double> bracket;
  if (t.bracket) bracket = {t.bracket->first, t.bracket->second};
  v("value", t.value);
  v("se", t.se);
  v("exact", t.exact);
  v("bracket", bracket);
}
ModelDistance model_distance(const ModelSpec& p, const ModelSpec& q, const DistanceOptions& options, Rng& rng, Monitor& monitor);

// (1 - sqrt(1 - rho^2)) / 2 <= Bayes error <= rho / 2, rho = exp(-distance), without cancellation.
std::pair<double, double> bayes_bracket(double bhattacharyya);

Eigen::MatrixXi network_sample(const ModelSpec& model, Index n, Rng& rng, Monitor& monitor);

}  // namespace granary::graph
