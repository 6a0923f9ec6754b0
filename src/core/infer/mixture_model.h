// A mixture: rows are in state h with probability w_h and then look as the emission says. Parameters are w (k), then those of the emission; statistics are those
// of the emission, whose first k are the weights of the states. `prior` > 0: so many rows more in each state (a Dirichlet prior with parameter 1 + prior).
#pragma once

#include <vector>

#include "core/infer/em.h"
#include "core/infer/emission.h"

namespace granary {

class MixtureModel : public EmModel {
 public:
  MixtureModel(Emission& emission, ConstVectorRef weights, int threads, double prior = 0, bool equal_share = false);

  Index units() const override { return emission_.rows(); }
  Index statistics() const override { return emission_.statistics(); }
  Index parameters() const override { return emission_.states() + emission_.parameters(); }
  double total() const override { return total_; }
  void set(const VectorXd& theta) override;
  EmPart expect(Index from, Index to, const ForwardRule& rule, VectorXd& s, Monitor& monitor) override;
  EmPart expect_moved(double eps, bool all, const ForwardRule& rule, VectorXd& s, Monitor& monitor) override;
  void maximise(const VectorXd& s, VectorXd& theta) override;
  double complete(const VectorXd& s) const override;
  double score(const VectorXd& s) const override;
  double log_prior() const override;
  int repairs() const override { return emission_.repairs(); }

  // q of all rows at the parameters set, and the log-likelihood of each.
  void memberships(const ForwardRule& rule, MatrixXd& q, VectorXd& loglik, Monitor& monitor) const;
  // Statistics of given memberships (n x k): what a start from labels needs.
  VectorXd statistics_of(ConstMatrixRef q) const;

 private:
  double weight(Index i) const { return weights_.size() > 0 ? weights_[i] : 1; }
  Emission& emission_;
  VectorXd weights_;
  double total_;
  int threads_;
  double prior_;
  bool equal_share_;
  VectorXd share_, log_share_;
  // expect_moved(): Q of every row, and which rows are still looked at
  MatrixXd q_;
  VectorXd entropy_;
  std::vector<char> moving_;
  VectorXd sum_;
};

}  // namespace granary
