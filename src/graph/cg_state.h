// Exact inference in conditional Gaussian networks by local propagation on a strong semi-elimination tree.
//
// Each continuous cluster holds, for every configuration of its discrete members, one univariate regression: the law of the
// variable eliminated there given the other members (its lp-potential). Each discrete cluster holds a table. Together, always,
//
//   p(discrete, findings) x prod_i f(y_i | rest of cluster i, findings).
//
// Findings on a continuous variable are pushed to the boundary by EXCHANGE operations (Algorithm 5.3) and enter the tables there
// as a likelihood. No matrix is ever factorised. Cowell (JMLR 6, 2005), sections 5 and 7.
#pragma once

#include <memory>
#include <vector>

#include "core/base/monitor.h"
#include "graph/cg_discrete.h"
#include "graph/cg_tree.h"

namespace granary::graph {

// What does not change with the findings: the tree and how its clusters fit together.
struct CgCompiled {
  CgNetwork network;
  CgTree tree;
  std::vector<StateSpace> space;            // of each continuous cluster
  std::vector<int> self;                    // where its variable stands among its continuous members
  std::vector<std::vector<int>> up;         // member -> place in the next cluster, if that is continuous; own variable: -1
  std::vector<std::vector<int>> config_in;  // configuration of the next cluster -> own one
  std::vector<int> cluster_of;              // continuous variable -> cluster
  std::vector<std::vector<int>> below;      // continuous variable -> the other continuous clusters that hold it
  std::vector<double> scale;                // root mean square of each continuous variable; empty if no variance is zero
  DiscreteForest forest;

  int continuous() const { return tree.continuous; }
  bool at_boundary(int i) const { return tree.clusters[i].parent < 0 || tree.clusters[i].parent >= tree.continuous; }
  int top(int i) const;                            // the last continuous cluster on the way to the root
  std::vector<int> configs_from_top(int i) const;  // configuration of top(i) -> the one of i
};

struct CgMixture {          // sum_c weight_c N(mean_c, covariance_c) of some continuous variables
  StateSpace components;    // discrete variables that tell the components apart
  std::vector<int> config;  // components of positive weight
  VectorXd weight;
  MatrixXd mean;  // components x variables
  std::vector<MatrixXd> covariance;
};

struct CgPeak {
  double log_density;      // of configuration and continuous values together, given the findings
  std::vector<int> state;  // by node
  VectorXd value;          // by node
};

class CgState {
 public:
  // Compiles and initialises (Algorithms 5.1, 5.2). `order` as in build_tree; more than `max_states` configurations are refused.
  explicit CgState(CgNetwork network, std::vector<int> order = {}, double max_states = 1e7);

  const CgCompiled& compiled() const { return *compiled_; }
  const MatrixXd& regressions(int cluster) const {
    return lp_[cluster];
  }  // a column per configuration: coefficients, intercept, variance
  bool active(int cluster) const { return active_[cluster] != 0; }

  // Findings. Likelihoods of the states of a discrete variable (log), or the value of a continuous one; each variable at most
  // once. A value that some configurations make certain and others only give a density: the certain ones win, and `certain` notes
  // it.
  void observe_states(int v, ConstVectorRef log_likelihood);
  void observe_value(int v, double y);
  const std::vector<int>& mixed_certain() const { return mixed_certain_; }

  double log_evidence() const;  // -infinity for impossible findings
  // The rest need possible findings: InputError otherwise. `belief` is one propagation among the discrete clusters, to be shared
  // by several questions.
  DiscreteForest::Tables belief() const;
  VectorXd probabilities(const std::vector<int>& variables, const DiscreteForest::Tables& belief) const;  // joint, first fastest
  VectorXd probabilities(const std::vector<int>& variables) const { return probabilities(variables, belief()); }
  // Of continuous variables, observed ones included; the components also tell the discrete variables `beside` apart.
  CgMixture mixture(const std::vector<int>& variables, const DiscreteForest::Tables& belief,
                    const std::vector<int>& beside = {}) const;
  CgMixture mixture(const std::vector<int>& variables) const { return mixture(variables, belief()); }

  // Algorithm 7.1: rows by node, discrete ones as states 0, 1, ...
  MatrixXd simulate(int n, Rng& rng, Monitor& monitor) const;

  // SEMIMAX: the k most probable configurations of the discrete variables; log_value is the log of the posterior probability.
  std::vector<DiscreteForest::Ranked> best_configurations(int k) const;
  // Algorithm 7.2: the k components with the highest peaks. InputError where a variance is zero.
  std::vector<CgPeak> highest_peaks(int k) const;
  // A mode of the density of the continuous variables by EM from a peak: the responsibilities of the components are their
  // posterior given the current values, and the values then maximise the expected log density. Increases at every step.
  struct Mode {
    VectorXd value;
    double log_density;
    int iterations;
    bool converged;
  };
  Mode climb(const CgPeak& from, double tol, int max_iter, Monitor& monitor) const;

 private:
  void initialise();
  void substitute(int cluster, int v, double y);

  std::shared_ptr<const CgCompiled> compiled_;
  std::vector<MatrixXd> lp_;
  std::vector<char> active_;
  DiscreteForest::Tables tables_;
  double constant_ = 0;  // log weight from parts without discrete variables
  VectorXd value_;       // findings on continuous variables, by node; NaN where there is none
  std::vector<int> mixed_certain_;
};

}  // namespace granary::graph
