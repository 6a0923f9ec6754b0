// The loss 1/2 ||T - S||_F^2 with the hub penalty, with and without the constraint T >= eps I: certificates, and the (exact)
// quadratic model for hub_newton.h.
#pragma once

#include "graph/hub_newton.h"

namespace granary::graph {

// Over T >= eps I: lifts the diagonal of the candidate where it must, fills the rest, and returns the duality gap, whose dual
// point is the multiplier moved into the dual set.
double certify_frobenius(const MatrixXd& s, const HubPenalty& penalty, double eps, HubResult& candidate,
                         const MatrixXd& multiplier);

// log det T; NaN unless T >= eps I.
double log_det_above(const MatrixXd& theta, double eps);

// Without the constraint, L = S - T moved into the dual set gives the dual value (||S||^2 - ||S - L||^2) / 2. It bounds the
// constrained minimum too.
class FrobeniusModel : public HubModel {
 public:
  FrobeniusModel(const MatrixXd& s, const HubPenalty& penalty) : s_(s), penalty_(penalty) {}

  double evaluate(const MatrixXd& theta) override;
  void accept() override { std::swap(g_, candidate_); }
  const MatrixXd& gradient() const override { return g_; }
  double certify(HubResult& candidate) override;

  void begin_direction(const HubPattern& pattern) override { pattern_ = &pattern; }
  void begin_column(Index j, const VectorXd& d) override;
  double slope(Index k) const override { return b_[k]; }
  double curvature(Index) const override { return 1; }
  void move(Index k, double by) override { b_[k] += by; }

 private:
  const MatrixXd& s_;
  const HubPenalty& penalty_;
  MatrixXd g_, candidate_;  // T - S
  const HubPattern* pattern_ = nullptr;
  VectorXd b_;
};

}  // namespace granary::graph
