// Parse trees (section 4.5): weighted context-free grammars in Chomsky normal form.
//
//   Psi(x, y) = how often each rule is used
//
// Loss: zero-one, or 1 - F1 over labelled spans of two words and more. In Chomsky normal form every tree over N words has N - 1
// of them, so precision = recall = c / (N - 1) for c spans in common and 1 - F1 = 1 - c / (N - 1): it adds up over spans. Margin
// rescaling is then one parse with -1 / (N - 1) on the right spans; slack rescaling, and margin rescaling with the root, a parse
// that counts matches. Over one word trees have no such spans and the loss is zero-one. Trees that differ from the right one in
// nothing but the rules of words have loss 0.
#pragma once

#include "core/sequence/cky.h"
#include "kernel/structured_output.h"

namespace granary::kernel {

class CfgOutput : public Output {
 public:
  // Trees (rules in preorder) may be none for prediction only.
  CfgOutput(Grammar grammar, std::vector<std::vector<int>> sentences, std::vector<Label> trees, bool f1);

  Index size() const override { return static_cast<Index>(sentences_.size()); }
  Index features() const override { return static_cast<Index>(grammar_.rules().size()); }
  const Label& truth(Index i) const override { return trees_[static_cast<std::size_t>(i)]; }
  void add_psi(Index i, const Label& y, double factor, SparseBuilder& psi) const override;
  double loss(Index i, const Label& y) const override;
  Label predict(Index i, const VectorXd& v) const override;
  Label most_violated(Index i, const VectorXd& v, const Search& search) const override;
  double largest_loss(Index) const override { return 1; }
  double radius_bound(Index i) const override;
  bool costly() const override { return true; }

 private:
  int length(Index i) const { return static_cast<int>(sentences_[static_cast<std::size_t>(i)].size()); }

  Grammar grammar_;
  std::vector<std::vector<int>> sentences_;
  std::vector<Label> trees_;
  std::vector<std::vector<Span>> spans_;  // of the right trees
  bool f1_;
};

}  // namespace granary::kernel
