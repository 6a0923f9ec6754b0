// Sequence alignment (section 4.4): which of several sequences is the relative of a given one?
//
//   Psi(x, y, a) = counts of the steps of alignment a: A^2 pairs of symbols (x symbol + A * y symbol), then symbols beside gaps,
//   or with
//                  affine gaps the first symbols beside gaps and the further ones
//
// Every example has a native sequence x and candidates, of which one is its homologue, with the alignment a_i given; the others
// are decoys whose alignments are not known. Constraints ask that the given alignment scores higher than every alignment with
// every decoy. The loss is zero-one. Predictions take the candidate with the best local alignment.
//
// An output is coded as (candidate, start in x, start in the candidate, steps ...).
#pragma once

#include "core/sequence/alignment.h"
#include "kernel/structured_output.h"

namespace granary::kernel {

struct AlignExample {
  std::vector<int> native;
  std::vector<std::vector<int>> candidates;
  Label truth;  // empty for prediction
};

class AlignOutput : public Output {
 public:
  AlignOutput(std::vector<AlignExample> examples, Index alphabet, bool affine);

  Index size() const override { return static_cast<Index>(examples_.size()); }
  Index features() const override { return alphabet_ * alphabet_ + (affine_ ? 2 : 1); }
  const Label& truth(Index i) const override { return examples_[static_cast<std::size_t>(i)].truth; }
  void add_psi(Index i, const Label& y, double factor, SparseBuilder& psi) const override;
  double loss(Index i, const Label& y) const override { return correct(i, y) ? 0 : 1; }
  Label predict(Index i, const VectorXd& v) const override { return best(i, v, -1); }
  Label most_violated(Index i, const VectorXd& v, const Search& search) const override;
  double largest_loss(Index) const override { return 1; }
  double radius_bound(Index i) const override;
  bool correct(Index i, const Label& y) const override { return y[0] == truth(i)[0]; }
  bool costly() const override { return true; }

 private:
  Label best(Index i, const VectorXd& v, int without) const;

  std::vector<AlignExample> examples_;
  Index alphabet_;
  bool affine_;
};

}  // namespace granary::kernel
