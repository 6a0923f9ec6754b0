// Exchangeable laws of partitions of n rows into blocks of sizes s_1 .. s_t, all of the form V_n(t) prod_i W(s_i):
//
//   dp(theta)          theta^t prod (s_i - 1)! / theta^(n)                                         x^(n) = x (x+1) ... (x+n-1)
//   py(sigma, theta)   (theta+sigma)(theta+2 sigma) ... / (theta+1)^(n-1) prod (1-sigma)^(s_i - 1)
//                      0 <= sigma < 1, theta > -sigma; or sigma < 0 and theta = N |sigma|: N components with Dirichlet(|sigma|) weights, t <= N
//   mfm(gamma, p_K)    V_n(t) prod gamma^(s_i),  V_n(t) = sum_{k >= t} k!/(k-t)! p_K(k) / (gamma k)^(n)
//   sticks(a, b)       V_i ~ Beta(a_i, b_i), the last stick takes what is left: can be drawn from, no more
//
// Blocks are without order; Miller and Harrison (JMLR 2014), who order them, divide by t!. The series of V_n(t) is summed on the log scale until its tail is
// below 1e-14 of it: the two-term recursion in n cancels.
#pragma once

#include <vector>

#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "core/random/rng.h"

namespace granary::latent {

enum class PriorType { dp, py, mfm, sticks };
inline Names<PriorType> names(PriorType) {
  return {{PriorType::dp, "dp"}, {PriorType::py, "py"}, {PriorType::mfm, "mfm"}, {PriorType::sticks, "sticks"}};
}
enum class ComponentLaw { table, poisson, geometric };  // of k: probabilities of 1, 2, ...; k - 1 Poisson(rate); k - 1 geometric(rate)
inline Names<ComponentLaw> names(ComponentLaw) {
  return {{ComponentLaw::table, "table"}, {ComponentLaw::poisson, "poisson"}, {ComponentLaw::geometric, "geometric"}};
}

struct PartitionPrior {
  PriorType type = PriorType::dp;
  double theta = 1;   // concentration
  double sigma = 0;   // discount
  double gamma = 1;   // Dirichlet weight of a component (mfm)
  ComponentLaw law = ComponentLaw::table;
  double rate = 1;
  VectorXd table = VectorXd::Constant(30, 1.0 / 30);  // p_K(1), p_K(2), ...
  double shape = 0, scale_rate = 0;                   // of a gamma law of theta (dp); 0: theta is known
  VectorXd a, b;                                      // of the sticks

  bool learns_theta() const { return shape > 0; }
  int components() const;  // N for py with sigma < 0 and the length of the table of an mfm, else 0: without end
};
template <class V>
void fields(V& v, PartitionPrior& t) {
  v("type", t.type);
  v("theta", t.theta);
  v("sigma", t.sigma);
  v("gamma", t.gamma);
  v("law", t.law);
  v("rate", t.rate);
  v("table", t.table);
  v("shape", t.shape);
  v("scale_rate", t.scale_rate);
  v("a", t.a);
  v("b", t.b);
}
void check(const PartitionPrior& prior);

// log of what k components contribute to V_n(t): log k!/(k-t)! p_K(k) / (gamma k)^(n); -infinity for k < t.
double log_component_term(const PartitionPrior& prior, Index n, Index t, double k);
double log_component_probability(const PartitionPrior& prior, double k);

// The law for a fixed number of rows, ready to be asked often.
class PartitionLaw {
 public:
  PartitionLaw(const PartitionPrior& prior, Index n);

  Index rows() const { return n_; }
  const PartitionPrior& prior() const { return prior_; }
  void set_theta(double theta);

  double log_v(Index t) const;                    // log V_n(t); -infinity where t blocks cannot be
  double log_size(double s) const;                // log W(s)
  double log_partition(const std::vector<int>& sizes) const;  // of blocks that are not empty
  // Weights of one row given the others in t blocks, up to a common factor: W(s + 1) / W(s), and V_n(t + 1) / V_n(t) W(1).
  double join(double s) const { return s + shift_; }
  double open(Index t) const;

 private:
  PartitionPrior prior_;
  Index n_;
  double shift_;
  mutable std::vector<double> log_v_;  // of mfm, as far as asked for
};

// p(T_n = t), t = 1 .. n (or N), O(n^2).
VectorXd prior_of_count(const PartitionPrior& prior, Index n, Monitor& monitor);
double expected_count(const PartitionPrior& prior, double n);  // of dp and py in closed form

// p(k | T_n = t) of an mfm, k = 1, 2, ... until the tail is below 1e-12.
VectorXd components_given_count(const PartitionPrior& prior, Index n, Index t);

// Labels 0, 1, ... by first appearance. O(1) per row, whatever the number of blocks.
VectorXi draw_partition(const PartitionPrior& prior, Index n, Rng& rng);

// Labels renumbered by first appearance; returns the number of blocks.
int relabel(VectorXi& labels);

struct PriorCount {
  VectorXd probability;
  double mean = 0, sd = 0;
  VectorXd components;  // p_K of an mfm, as far as it matters
};
template <class V>
void fields(V& v, PriorCount& t) {
  v("probability", t.probability);
  v("mean", t.mean);
  v("sd", t.sd);
  v("components", t.components);
}
PriorCount prior_count(const PartitionPrior& prior, Index n, Monitor& monitor);

Eigen::MatrixXi draw_partitions(const PartitionPrior& prior, Index n, Index draws, Rng& rng, Monitor& monitor);

}  // namespace granary::latent
