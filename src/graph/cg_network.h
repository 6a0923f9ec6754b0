// Bayesian networks of discrete and Gaussian variables (conditional Gaussian networks).
//
// A DAG in which a discrete node has discrete parents only. Discrete node: a table P(v | parents). Continuous node Y with
// discrete parents I and continuous parents Z:
//
//   Y | I = i, Z = z  ~  N(alpha(i) + beta(i)'z, sigma2(i)),     sigma2(i) >= 0; zero makes Y a linear function of Z.
//
// Cowell (JMLR 6, 2005), section 2; Lauritzen and Wermuth (1989).
#pragma once

#include <string>
#include <vector>

#include "core/base/fields.h"
#include "core/graph/graph.h"
#include "core/base/types.h"

namespace granary::graph {

// The configurations of some discrete variables as numbers 0 .. size - 1, the first variable changing fastest.
class StateSpace {
 public:
  StateSpace() = default;
  StateSpace(std::vector<int> variables, const std::vector<int>& levels);  // InputError beyond 2^30 configurations

  int size() const { return size_; }
  const std::vector<int>& variables() const { return variables_; }
  int dimension() const { return static_cast<int>(variables_.size()); }
  int levels(int k) const { return levels_[k]; }
  int stride(int k) const { return strides_[k]; }
  int state(int config, int k) const { return config / strides_[k] % levels_[k]; }
  int position(int variable) const;                             // -1 if it is not there
  int config(const std::vector<int>& state_of_variable) const;  // indexed by variable
  std::vector<int> map_to(const StateSpace& sub) const;         // own configuration -> the one it induces in a subset

 private:
  std::vector<int> variables_, levels_, strides_;
  int size_ = 1;
};

struct CgNetwork {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> states;  // names of the states; empty for a continuous node
  std::vector<std::vector<int>> discrete_parents, continuous_parents;
  std::vector<VectorXd> table;       // discrete: own state changes fastest, then the parents in their order
  std::vector<MatrixXd> regression;  // continuous: a column per configuration: beta, alpha, sigma2

  int nodes() const { return static_cast<int>(names.size()); }
  int levels(int v) const { return static_cast<int>(states[v].size()); }
  bool discrete(int v) const { return !states[v].empty(); }
  std::vector<int> all_levels() const;
  StateSpace parent_space(int v) const { return StateSpace(discrete_parents[v], all_levels()); }
  MixedGraph graph() const;
  std::string describe(const StateSpace& space, int config) const;  // "A = yes, B = 2"
};

// Shapes, a DAG, tables that sum to one (renormalised within 1e-8), variances that are not negative. InputError naming the node.
template <class V>
void fields(V& v, CgNetwork& t) {
  v("names", t.names);
  v("states", t.states);
  v("discrete_parents", positions(t.discrete_parents));
  v("continuous_parents", positions(t.continuous_parents));
  v("tables", t.table);
  v("regressions", t.regression);
}
void check(const CgNetwork& network);  // one entry per node, parents that exist

void check_network(CgNetwork& network);

// log density of complete rows; a discrete column holds states 0, 1, ... A point mass counts as density one where it is met.
VectorXd log_density(const CgNetwork& network, ConstMatrixRef rows);

}  // namespace granary::graph
