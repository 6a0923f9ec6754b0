// Propagation among the purely discrete clusters, in logarithms.
//
// The tables f_C multiply to the joint f. `collect` sums (or maximises) towards the roots and returns log sum f (log max f);
// `calibrate` goes back as well and leaves in every cluster the log of its marginal sums. Logarithms throughout: with many
// findings the likelihoods of two configurations may both lie below 1e-308 and still matter.
#pragma once

#include <vector>

#include "core/random/rng.h"
#include "graph/cg_network.h"

namespace granary::graph {

class DiscreteForest {
 public:
  DiscreteForest() = default;
  // Cluster i joins cluster parent[i] > i, or none if parent[i] < 0.
  DiscreteForest(std::vector<StateSpace> spaces, std::vector<int> parent, const std::vector<int>& levels);

  using Tables = std::vector<VectorXd>;
  int clusters() const { return static_cast<int>(spaces_.size()); }
  const StateSpace& space(int i) const { return spaces_[i]; }
  int holder(const std::vector<int>& variables) const;  // the smallest cluster with all of them; -1 if there is none
  Tables unit() const;                                  // all logs zero

  double collect(const Tables& tables) const;
  double calibrate(Tables& tables) const;  // in place; returns log sum f

  // The most probable configuration, states by variable (of `state`'s size); returns log max f, and -infinity if f is zero.
  double maximise(const Tables& tables, std::vector<int>& state) const;

  // The k best configurations, best first (fewer if f has fewer non-zero ones): Lawler's (1972) partition of what is left over.
  struct Ranked {
    double log_value;
    std::vector<int> state;
  };
  std::vector<Ranked> best(const Tables& tables, int k, int nodes) const;

  // log of the sums of f over all variables but these.
  VectorXd marginal(const Tables& tables, const StateSpace& of) const;

 private:
  friend class DiscreteSampler;
  std::vector<StateSpace> spaces_, separators_;
  std::vector<int> parent_;
  std::vector<std::vector<int>> own_to_separator_, parent_to_separator_;
};

// Draws from f, root outwards (Dawid 1992); O(log) per cluster and draw after one pass.
class DiscreteSampler {
 public:
  DiscreteSampler(const DiscreteForest& forest, DiscreteForest::Tables tables);  // f must not be zero
  void draw(std::vector<int>& state, Rng& rng) const;

 private:
  const DiscreteForest& forest_;
  // per cluster: entries sorted by separator configuration, with running sums, and where each configuration's run begins
  std::vector<std::vector<int>> entries_, begin_;
  std::vector<std::vector<double>> sums_;
};

void restrict_table(VectorXd& table, const StateSpace& space, int variable, ConstVectorRef log_likelihood);

}  // namespace granary::graph
