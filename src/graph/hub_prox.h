// The proximal operator of the hub penalty (hub_penalty.h), which lets hubs join other priors in mix.h:
//
//   argmin over symmetric T of  P(T) + g/2 ||T - C||_F^2
//
// It has no closed form. But it is the covariance graph with hubs (hub.h) of the covariance C without its constraint, and the
// solvers of that are warm from one call to the next.
#pragma once

#include "graph/hub_admm.h"

namespace granary::graph {

class HubProx {
 public:
  explicit HubProx(const HubPenalty& penalty) : penalty_(penalty) {}

  MatrixXd operator()(const MatrixXd& c, double g, Monitor& monitor);

  // P(X), or a little more: the V of the last call stays and Z takes the rest. Exact at the matrix of that call.
  double value(const MatrixXd& x) const;

  const HubState& last() const { return last_; }

 private:
  HubPenalty penalty_;
  HubState last_;
};

}  // namespace granary::graph
