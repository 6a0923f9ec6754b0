// Questions to a conditional Gaussian network with findings, as R asks them: findings entered together, laws of single nodes, joint
// laws, most probable explanations.
#pragma once

#include <memory>

#include "graph/cg_fit.h"
#include "graph/cg_state.h"

namespace granary::graph {

// Discrete findings first: log-likelihoods of the states; then values of continuous nodes.
struct CgFindings {
  std::vector<int> discrete;
  std::vector<VectorXd> log_likelihood;
  std::vector<int> continuous;
  std::vector<double> values;
};
template <class V>
void fields(V& v, CgFindings& t) {
  v("discrete", positions(t.discrete));
  v("log_likelihood", t.log_likelihood);
  v("continuous", positions(t.continuous));
  v("values", t.values);
}

struct CgObserved {
  std::unique_ptr<CgState> state;
  double log_evidence = 0;
  int blocked = -1;          // the first finding (discrete before continuous) that the ones before it rule out
  std::vector<int> certain;  // see CgState::mixed_certain
};
CgObserved observe_all(const CgState& before, const CgFindings& findings);

// Rows of states, one per configuration.
Eigen::MatrixXi state_rows(const StateSpace& space, const std::vector<int>& configs);

// The law of a discrete node, or the mixture of one continuous node or of several.
struct CgLaw {
  VectorXd probabilities;
  VectorXd weights;
  MatrixXd means, sds;  // sds: of a single node
  std::vector<MatrixXd> covariances;
  std::vector<int> nodes;  // discrete variables that tell the components apart, and their states
  Eigen::MatrixXi states;
};
template <class V>
void fields(V& v, CgLaw& t) {
  v("probabilities", t.probabilities);
  v("weights", t.weights);
  v("means", t.means);
  v("sds", t.sds);
  v("covariances", t.covariances);
  v("nodes", positions(t.nodes));
  v("states", positions(t.states));
}
std::vector<CgLaw> single_laws(const CgState& state, const std::vector<int>& nodes);  // after one propagation
VectorXd joint_probabilities(const CgState& state, const std::vector<int>& discrete);  // first fastest
CgLaw joint_law(const CgState& state, const std::vector<int>& continuous, const std::vector<int>& discrete);

enum class CgMapType { semimax, peak, mode };
inline Names<CgMapType> names(CgMapType) { return {{CgMapType::semimax, "semimax"}, {CgMapType::peak, "highest_peak"}, {CgMapType::mode, "mode"}}; }
struct CgMapOptions {
  CgMapType type = CgMapType::semimax;
  int k = 1;
  double tol = 1e-12;
  int max_iter = 10000;
};
template <class V>
void fields(V& v, CgMapOptions& t) {
  v("type", t.type);
  v("k", t.k);
  v("tol", t.tol);
  v("max_iter", t.max_iter);
}
// One row per answer: states from 1 and values, by node; NaN where the question does not ask for a value. `mode` climbs from each
// peak.
struct CgMap {
  VectorXd log_value;
  MatrixXd rows;
  std::vector<int> iterations;
  bool converged = true;
};
template <class V>
void fields(V& v, CgMap& t) {
  v("log_value", t.log_value);
  v("rows", t.rows);
  v("iterations", t.iterations);
  v("converged", t.converged);
}
CgMap most_probable(const CgState& state, const CgMapOptions& options, Monitor& monitor);

// The regressions held by the continuous clusters.
struct ClusterRegression {
  int variable = 0;
  std::vector<int> continuous, discrete;
  Eigen::MatrixXi states;
  MatrixXd terms;
  bool active = false;
};
template <class V>
void fields(V& v, ClusterRegression& t) {
  v("variable", positions(t.variable));
  v("continuous", positions(t.continuous));
  v("discrete", positions(t.discrete));
  v("states", positions(t.states));
  v("terms", t.terms);
  v("active", t.active);
}
std::vector<ClusterRegression> cluster_regressions(const CgState& state);

}  // namespace granary::graph
