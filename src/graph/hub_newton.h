// Proximal Newton for smooth losses with the hub penalty (q = 2): minimise  loss(V + V' + Z) + P.
//
// The ADMM of the paper needs an eigendecomposition in each of several hundred iterations. Here each of some ten steps minimises
//
//   <G, D> + 1/2 <D, H D> + l1 ||Z_off||_1 + l2 ||V_off||_1 + l3 sum_j ||(V_off)_.j||_2,   D = T_new - T,
//
// over the free set, G and H the gradient and the second derivative of the loss at T, and backtracks until Armijo's rule holds.
// The free set has the entries that are not zero, those of Z with |G_ij| > l1 and those of V with |2 G_ij| > l2 in columns that
// are not zero or want not to be: ||soft(2 G_.j, l2)|| > l3.
//
// The model is minimised column by column. Changing V_.j, Z_.j and T_jj changes D in row and column j only, so HubModel keeps
// what one column needs and an entry costs a vector of the column's length. A column of V leaves zero, and goes back to it, as a
// whole. Loss and model see only the sum V_ij + V_ji + Z_ij; how the three share it costs nothing to improve in closed form, and
// coordinate descent would take long over it:
//
//   V_ij : V_ji = ||rest of column j|| : ||rest of column i||,      V_ij / ||V_.j|| = (2 l1 - l2) / l3 where Z_ij is not zero.
#pragma once

#include <vector>

#include "graph/hub_admm.h"

namespace granary::graph {

// The free set by whole columns: symmetric, with the diagonal, rows ascending.
struct HubPattern {
  std::vector<int> start, row;
  std::vector<int> mirror;  // where (j, i) is, for the entry (i, j)

  Index size() const { return static_cast<Index>(row.size()); }
};

// A smooth loss at a point T, and its quadratic model. Derivatives along entry (i, j) are those of moving T_ij and T_ji together,
// halved; on the diagonal they are whole.
class HubModel {
 public:
  virtual ~HubModel() = default;
  virtual double evaluate(const MatrixXd& theta) = 0;  // the loss at a candidate; NaN where it has none
  virtual void accept() = 0;                           // the candidate becomes T
  virtual const MatrixXd& gradient() const = 0;        // G at T
  virtual double certify(HubResult& candidate) = 0;    // at T: fills loss, objective, violation, state.l; returns the duality gap

  virtual void begin_direction(const HubPattern& pattern) = 0;  // D = 0
  // The entries from pattern.start[j] on are next; `d` has the present D.
  virtual void begin_column(Index j, const VectorXd& d) = 0;
  virtual double slope(Index k) const = 0;  // of the k-th entry of the column
  virtual double curvature(Index k) const = 0;
  virtual void move(Index k, double by) = 0;
};

HubResult hub_newton(HubModel& model, const HubPenalty& penalty, const MatrixXd& diagonal_start, double gap_tol,
                     const HubOptions& options, const HubState* start, Monitor& monitor);

}  // namespace granary::graph
