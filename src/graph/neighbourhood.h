// Neighbourhood selection: the graph of the lassos of every variable on all others.
//
//   minimise  1/2 v'S v - S_j'v + lambda sum_{k != j} sqrt(S_jj S_kk) |v_k|,   v_j = 0,      for j = 1..p
//
// which is the lasso of x_j on the other variables with all of them scaled to variance one (with `standardize`; else the penalty
// is lambda sum |v_k|). Variables j and k are joined when both (AND) or either (OR) of the two coefficients is not zero.
// Meinshausen and Buehlmann (Annals of Statistics 2006). The lassos give a graph, not a precision matrix: that is the maximum
// likelihood estimate with zeros where there is no edge, by glasso.h.
#pragma once

#include <vector>

#include "graph/glasso.h"

namespace granary::graph {

enum class NeighbourRule { both, either };

struct NeighbourOptions {
  bool standardize = true;
  double tol = 1e-8;  // of l1_quadratic.h
  int max_iter = 100000;
  int threads = 1;  // over variables
};

struct Neighbourhoods {
  SparseMatrix coefficients;  // column j: of the regression of variable j
  Convergence convergence;    // the worst over variables; the gap is the largest of one regression
};

// One result per lambda, in the order given (decreasing is fastest).
std::vector<Neighbourhoods> neighbourhoods(const ConstMatrixRef& s, const std::vector<double>& lambda,
                                           const NeighbourOptions& options, Monitor& monitor);

// The graph as weights for the refit: `edge` where there is an edge and on the diagonal, Penalty::forbidden elsewhere.
MatrixXd neighbour_weights(const SparseMatrix& coefficients, NeighbourRule rule, double edge);

}  // namespace granary::graph
