// The loss -log det T + tr(S T) with the hub penalty: its certificate, and its quadratic model for hub_newton.h.
//
// With W = T^-1 the gradient is S - W and the second derivative maps D to W D W. For the entries of column j the product needs
// D w_j, formed once per visit from the sparse D; after that, changing D_kj and D_jk by one changes the derivative at (i, j) by
// W_ik W_jj + W_ij W_kj.
#pragma once

#include "graph/hub_newton.h"

namespace granary::graph {

// Fills all of `candidate` but its state's parts from those, and returns the gap: L = W - S moved into the dual set gives the
// dual value log det(S + L) + p. NaN when T is not positive definite.
double certify_log_det(const MatrixXd& s, const HubPenalty& penalty, HubResult& candidate);

class LogDetModel : public HubModel {
 public:
  LogDetModel(const MatrixXd& s, const HubPenalty& penalty) : s_(s), penalty_(penalty) {}

  double evaluate(const MatrixXd& theta) override;
  void accept() override;
  const MatrixXd& gradient() const override { return g_; }
  double certify(HubResult& candidate) override;

  void begin_direction(const HubPattern& pattern) override;
  void begin_column(Index j, const VectorXd& d) override;
  double slope(Index k) const override { return b_[k]; }
  double curvature(Index k) const override { return a_[k]; }
  void move(Index k, double by) override;

 private:
  const MatrixXd& s_;
  const HubPenalty& penalty_;
  MatrixXd factor_;  // of the candidate
  double candidate_log_det_ = 0, log_det_ = 0;
  MatrixXd w_, g_;

  const HubPattern* pattern_ = nullptr;
  Index own_ = 0;             // position of the diagonal in the column
  VectorXd u_, a_, b_, w_j_;  // D w_j; curvatures, derivatives and W_ij of the column's entries
  MatrixXd w_local_;          // W on the rows of the column
};

}  // namespace granary::graph
