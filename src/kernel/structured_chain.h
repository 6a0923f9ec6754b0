// Label sequences (section 4.3): tagging, segmentation.
//
//   Psi(x, y) = ( sum_t phi(x^t) (x) Lambda(y^t),                                emissions, D K coordinates, c + d K
//                 eta sum_t Lambda(y^t) (x) Lambda(y^(t+1)),                      transitions, K^2, earlier + later K
//                 eta sum_t Lambda(y^t) (x) Lambda(y^(t+1)) (x) Lambda(y^(t+2)),  optional: triples, K^3, earliest fastest
//                 sum_t phi(x^t) (x) Lambda(y^t) (x) Lambda(y^(t+1)),             optional: D K^2, earlier + later K + d K^2
//                 Lambda(y^1) )                                                   optional: K, as hidden Markov models have it
//
// Loss: Hamming (number of wrong labels) or zero-one. Searches: Viterbi; for the zero-one loss the two best; for margin rescaling
// with the Hamming loss one Viterbi with 1 added to wrong labels; else Viterbi with a count of errors, since the loss takes the
// values 0..T only. Windows of inputs are made before: they are features like others.
#pragma once

#include "core/sequence/chain.h"
#include "kernel/structured_features.h"
#include "kernel/structured_output.h"

namespace granary::kernel {

struct ChainModel {
  Index labels = 0;       // K
  double eta = 1;         // scale of transitions
  bool triples = false;   // second order
  bool by_input = false;  // transitions by input
  bool first = false;     // features of the first label
  bool hamming = true;    // else zero-one
};

class ChainOutput : public Output {
 public:
  // Tokens of all sequences one after the other; `start` has one more entry than there are sequences. `labels` may be empty for
  // prediction only. `norms`: of phi, only where the features stand for a kernel.
  ChainOutput(InputFeatures tokens, std::vector<Index> start, std::vector<int> labels, const ChainModel& model,
              VectorXd norms = VectorXd());

  Index size() const override { return static_cast<Index>(start_.size()) - 1; }
  Index features() const override;
  const Label& truth(Index i) const override { return truth_[static_cast<std::size_t>(i)]; }
  void add_psi(Index i, const Label& y, double factor, SparseBuilder& psi) const override;
  double loss(Index i, const Label& y) const override;
  Label predict(Index i, const VectorXd& v) const override;
  Label most_violated(Index i, const VectorXd& v, const Search& search) const override;
  double largest_loss(Index i) const override { return model_.hamming ? static_cast<double>(length(i)) : 1; }
  double radius_bound(Index i) const override;
  bool costly() const override { return longest_ * model_.labels * model_.labels > 20000; }

  Index length(Index i) const { return start_[static_cast<std::size_t>(i) + 1] - start_[static_cast<std::size_t>(i)]; }
  ChainScores scores(Index i, const VectorXd& v) const;
  const ChainModel& model() const { return model_; }
  // Adds factor times the expectation of Psi under `m` to `gradient`: for conditional random fields.
  void add_expected_psi(Index i, const ChainMarginals& m, double factor, VectorRef gradient) const;

 private:
  Index token(Index i, Index t) const { return start_[static_cast<std::size_t>(i)] + t; }
  Index pairs_at() const { return tokens_.dimension() * model_.labels; }
  Index triples_at() const { return pairs_at() + model_.labels * model_.labels; }
  Index by_input_at() const { return triples_at() + (model_.triples ? model_.labels * model_.labels * model_.labels : 0); }
  Index first_at() const { return by_input_at() + (model_.by_input ? tokens_.dimension() * model_.labels * model_.labels : 0); }

  InputFeatures tokens_;
  std::vector<Index> start_;
  std::vector<Label> truth_;
  ChainModel model_;
  VectorXd norms_;
  Index longest_ = 0;
};

}  // namespace granary::kernel
