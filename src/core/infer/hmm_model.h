// Hidden Markov models over many sequences: the state of the first row has law pi, the next states follow T (T_ab = P(next = b |
// now = a)), and rows look as the emission says. The forward step is the forward-backward recursion of core/infer/hmm_chain.h.
// The law of a whole path given the data has the entropy
//
//   H = log p(y) - E log p(path, y)
//
// Parameters: pi (k), T (k x k, by rows summing to 1, stored by columns), then those of the emission. Statistics: those of the
// emission, then first states (k) and transitions (k x k). Sequences may have weights; one of weight zero is not looked at. The
// forward step is exact, or hard (Viterbi's path). A transition that is zero stays zero where there is no prior.
#pragma once

#include <vector>

#include "core/infer/em.h"
#include "core/infer/emission.h"
#include "core/infer/hmm_chain.h"

namespace granary {

class HmmModel : public EmModel {
 public:
  // begin: first row of each sequence, and the number of rows at the end.
  HmmModel(Emission& emission, std::vector<Index> begin, ConstVectorRef weights, int threads, double prior = 0);

  Index units() const override { return static_cast<Index>(begin_.size()) - 1; }
  Index statistics() const override { return emission_.statistics() + k_ + k_ * k_; }
  Index parameters() const override { return k_ + k_ * k_ + emission_.parameters(); }
  double total() const override { return rows_; }
  void set(const VectorXd& theta) override;
  EmPart expect(Index from, Index to, const ForwardRule& rule, VectorXd& s, Monitor& monitor) override;
  void maximise(const VectorXd& s, VectorXd& theta) override;
  double complete(const VectorXd& s) const override;
  double score(const VectorXd& s) const override;
  double log_prior() const override;
  int repairs() const override { return emission_.repairs(); }

  HmmPosterior posterior(Index sequence) const;
  std::vector<int> path(Index sequence, double& log_joint) const;
  const std::vector<Index>& begin() const { return begin_; }

 private:
  double weight(Index i) const { return weights_.size() > 0 ? weights_[i] : 1; }
  Index row(Index sequence) const { return begin_[static_cast<std::size_t>(sequence)]; }
  MatrixXd densities(Index sequence) const;
  Emission& emission_;
  Index k_;
  std::vector<Index> begin_;
  VectorXd weights_;
  int threads_;
  double prior_, rows_ = 0, sequences_ = 0;
  VectorXd initial_;
  MatrixXd transition_;
};

}  // namespace granary
