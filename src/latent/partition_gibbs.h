// Posterior draws of partitions: p(A | x) ~ p(A) prod_i m(x_{A_i}), for any law of partition_prior.h and any family of conjugate_family.h.
//
//   collapsed Gibbs   each row in turn leaves its block and joins block j with weight (s_j + shift) m(x_i | x_j), or opens one (Neal 2000, Algorithm 3)
//   split-merge       two rows at random; their block is split, or their two blocks merged, by a Metropolis-Hastings step whose proposal is a restricted
//                     Gibbs scan from a launch state (Jain and Neal 2004)
//   auxiliary         for the prior of Richardson and Green (1997), which is not conjugate (Neal 2000, Algorithm 8): richardson_green.h
//
// Chains run on threads of their own, each with its own stream. Labels are by first appearance. Statistics are rebuilt from the rows now and then, so that
// rounding does not pile up.
#pragma once

#include <functional>
#include <memory>

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "latent/conjugate_family.h"
#include "latent/partition_prior.h"

namespace granary::latent {

enum class ChainStart { one, alone, prior };  // all rows in one block, each in its own, or a draw from the prior
inline Names<ChainStart> names(ChainStart) {
  return {{ChainStart::one, "one"}, {ChainStart::alone, "alone"}, {ChainStart::prior, "prior"}};
}

struct ChainOptions {
  int n_draws = 5000, burn_in = 2000, thin = 1;
  int chains = 2;
  double split_merge = 0.1;  // proposals per sweep, on average; ten times as many while warming up
  int launch = 3;       // restricted scans before a proposal
  ChainStart start = ChainStart::prior;
  int auxiliary = 3;    // draws of Algorithm 8
  int threads = 1;
};
template <class V>
void fields(V& v, ChainOptions& t) {
  v("n_draws", t.n_draws);
  v("burn_in", t.burn_in);
  v("thin", t.thin);
  v("chains", t.chains);
  v("split_merge", t.split_merge);
  v("launch", t.launch);
  v("start", t.start);
  v("auxiliary", t.auxiliary);
  v("threads", t.threads);
}

struct ChainResult {  // rows: the draws of the first chain, then those of the second, ...
  Eigen::MatrixXi partitions;   // draws x rows
  VectorXi count;               // T
  VectorXd loglik, theta;       // log prod_i m(x_{A_i}); the concentration
  VectorXd log_posterior;       // with log p(A)
  VectorXi best;                // the partition of largest posterior met, in any sweep after the burn-in
  double best_value = 0;
  VectorXd components;          // p(k | x) of an mfm
  VectorXd effective_count, effective_loglik;  // sizes, one per chain
  VectorXd accepted;            // share of the split-merge proposals taken, one per chain
  VectorXd parameters;          // richardson_green.h: of each draw the means and precisions of its blocks, and beta
  double seconds = 0;
};
template <class V>
void fields(V& v, ChainResult& t) {
  v("partitions", positions(t.partitions));
  v("count", t.count);
  v("loglik", t.loglik);
  v("theta", t.theta);
  v("log_posterior", t.log_posterior);
  v("best", positions(t.best));
  v("best_value", t.best_value);
  v("components", t.components);
  v("effective_count", t.effective_count);
  v("effective_loglik", t.effective_loglik);
  v("accepted", any_number(t.accepted));
  v("parameters", t.parameters);
  v("seconds", t.seconds);
}

// One chain, whatever its moves.
class PartitionChain {
 public:
  virtual ~PartitionChain() = default;
  virtual void sweep(Rng& rng, Monitor& monitor) = 0;
  virtual VectorXi labels() const = 0;  // by first appearance
  virtual int count() const = 0;
  virtual double loglik() const = 0;
  virtual double log_prior() const = 0;
  virtual double theta() const = 0;
  virtual double accepted() const { return Convergence::unknown; }
  virtual void keep(std::vector<double>& /* parameters */) const {}
};

using MakeChain = std::function<std::unique_ptr<PartitionChain>(Rng& rng)>;
ChainResult run_chains(const MakeChain& make, Index n, const PartitionPrior& prior, const ChainOptions& options, Rng& rng, Monitor& monitor);

// The state of a collapsed chain, for tests and for the moves.
class CollapsedChain : public PartitionChain {
 public:
  CollapsedChain(const BlockFamily& family, const PartitionPrior& prior, const VectorXi& start, const ChainOptions& options);

  void sweep(Rng& rng, Monitor& monitor) override;
  VectorXi labels() const override;
  int count() const override { return static_cast<int>(active_.size()); }
  double loglik() const override;
  double log_prior() const override;
  double theta() const override { return law_.prior().theta; }
  double accepted() const override { return proposed_ > 0 ? taken_ / proposed_ : Convergence::unknown; }

  void gibbs_scan(Rng& rng, Monitor& monitor);
  bool split_merge(Rng& rng);
  void rebuild();

 private:
  int take_slot();
  void give_back(int slot);
  double open(Index t);
  double restricted_scan(const std::vector<Index>& rows, std::vector<char>& side, const int slots[2], int sizes[2], bool follow, bool keep, Rng& rng);

  std::unique_ptr<BlockFamily> family_;
  PartitionLaw law_;
  ChainOptions options_;
  VectorXi label_;               // slot of each row
  std::vector<int> size_;        // of each slot
  std::vector<int> active_, place_, free_;
  VectorXd alone_;               // log m(x_i)
  Index rows_anchor_[2] = {0, 0};  // the two rows of a split-merge proposal, one in each slot
  std::vector<double> open_, log_weight_, share_;
  double due_ = 0;  // split-merge proposals
  double taken_ = 0, proposed_ = 0;
  long sweeps_ = 0;
};

ChainResult collapsed_gibbs(const BlockFamily& family, const PartitionPrior& prior, const ChainOptions& options, Rng& rng, Monitor& monitor);

// Labels to start from.
VectorXi start_labels(ChainStart start, const PartitionPrior& prior, Index n, Rng& rng);
// One value of theta given t blocks of n rows, where it has a gamma law.
double renew_theta(const PartitionPrior& prior, double theta, Index n, Index t, Rng& rng);

}  // namespace granary::latent
