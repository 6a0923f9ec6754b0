// Classes, with costs of confusing them and with features of their own (sections 4.1 and 4.2).
//
//   Psi(x, y) = Lambda(y) (x) phi(x), coordinate r + d R for feature d and class feature r of R
//
// Lambda(y) is row y of `class_features`: unit vectors for the plain case, membership of subtrees for a taxonomy. The classes are
// few enough to look at all of them.
#pragma once

#include "kernel/structured_features.h"
#include "kernel/structured_output.h"

namespace granary::kernel {

// Lambda with Lambda Lambda' = a given similarity of the classes. InputError where that is not positive semi-definite.
MatrixXd class_features_of(ConstMatrixRef similarity);

class MulticlassOutput : public Output {
 public:
  // `classes` may be empty for prediction only. `norms` (of phi) only where the features stand for a kernel.
  MulticlassOutput(InputFeatures inputs, std::vector<int> classes, MatrixXd class_features, MatrixXd loss,
                   VectorXd norms = VectorXd());

  Index size() const override { return inputs_.size(); }
  Index features() const override { return inputs_.dimension() * lambda_.cols(); }
  const Label& truth(Index i) const override { return truth_[static_cast<std::size_t>(i)]; }
  void add_psi(Index i, const Label& y, double factor, SparseBuilder& psi) const override;
  SparseVector difference(Index i, const Label& y) const override;
  double loss(Index i, const Label& y) const override { return loss_(truth(i)[0], y[0]); }
  Label predict(Index i, const VectorXd& v) const override;
  Label most_violated(Index i, const VectorXd& v, const Search& search) const override {
    return most_violated_of(i, scores(i, v), search);
  }
  double largest_loss(Index i) const override { return loss_.row(truth(i)[0]).maxCoeff(); }
  double radius_bound(Index i) const override;
  Index outputs() const override { return lambda_.rows(); }
  VectorXd all_scores(Index i, const VectorXd& v) const override { return scores(i, v); }
  Label most_violated_of(Index i, const VectorXd& scores, const Search& search) const override;
  VectorXd scores(Index i, const VectorXd& v) const;  // F(x_i, y) for all y

 private:
  void add_products(Index i, const VectorXd& weights, SparseBuilder& psi) const;  // weights (x) phi(x_i)

  InputFeatures inputs_;
  std::vector<Label> truth_;
  MatrixXd lambda_;  // K x R
  MatrixXd loss_;    // K x K, row = true class
  VectorXd norms_;
  bool plain_;  // Lambda = I
};

}  // namespace granary::kernel
