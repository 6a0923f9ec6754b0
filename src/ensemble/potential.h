// Potentials of the boosting game, and the factors and bounds that follow from them.
//
//   Phi_t(s) = sum_l b_l Phi_{t-1}(s + e_l),   Phi_0(s) = L(s):   the least loss that a booster can still promise with t rounds to go, when every weak answer is
//                                                                 at least as good as drawing labels from the baseline b (label 0
//                                                                 is the right one)
//   0-1 loss      L(s) = 1[s_0 <= max_l s_l],   Phi_t(s) = P(L(s + Multinomial(t, b)) = 1) for b_0 >= b_l  (Theorem 5)
//   exponential   L(s) = sum_{l > 0} exp(eta_l (s_l - s_0)),   Phi_t(s) = sum_l a_l^t exp(eta_l (s_l - s_0)),
//                 a_l = 1 - (b_0 + b_l) + e^eta_l b_l + e^-eta_l b_0  (Lemma 1)
//   any other     Phi_t(s) = E L(s + Multinomial(t, b)), the recursion written out: by all votes, or by random ones
//
// Mukherjee and Schapire (NIPS 2010). Multinomial votes are Poisson votes given their sum: with n_0 right ones the others are
// convolutions of truncated Poisson laws, those that no sum can truncate joined to one first. Only non-negative terms are added
// up.
#pragma once

#include <map>
#include <vector>

#include "core/base/types.h"
#include "core/random/rng.h"

namespace granary::ensemble {

class ZeroOnePotential {
 public:
  // n_draws: 0 for exact values; otherwise means over so many random votes, the same for all states of a round.
  explicit ZeroOnePotential(const VectorXd& baseline, int n_draws = 0);
  void draw(Rng& rng) { seed_ = n_draws_ > 0 ? rng() : 0; }  // what the random votes come from
  double operator()(const std::vector<int>& votes, int t);  // votes[0] for the right label

 private:
  double right(const std::vector<int>& lead, int t) const;
  VectorXd b_;
  double by_draws(const std::vector<int>& lead, int t);
  bool equal_ = true;  // all wrong labels alike
  int n_draws_ = 0, last_ = -1, drawn_ = -1;
  std::uint64_t seed_ = 0;
  Eigen::MatrixXi random_;  // labels x draws, votes of `drawn_` rounds
  std::map<std::vector<int>, double> known_;  // of `last_` rounds
};

// eta: one per wrong label, or one for all.
double exponential_potential(const std::vector<int>& votes, int t, const VectorXd& baseline, const VectorXd& eta);

// All ways that t votes can fall on k labels, one per row, and the log of their chance under the baseline: a potential of any
// loss is the mean of that loss over them.
struct VoteOutcomes {
  Eigen::MatrixXi votes;
  VectorXd log_prob;
};
VoteOutcomes vote_outcomes(int t, const VectorXd& baseline);
// The same at random, with equal chances.
Eigen::MatrixXi random_votes(int t, const VectorXd& baseline, int n_draws, Rng& rng);

// (1 - gamma) / k everywhere, and gamma more on the right label.
VectorXd edge_baseline(Index k, double gamma);

// By what the exponential loss is multiplied in a round with edge gamma and step eta; the best step.
double contraction(double gamma, double eta, Index k);
double best_step(double gamma, Index k);

}  // namespace granary::ensemble
