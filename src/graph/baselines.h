// What a structured Gaussian graph has to beat.
//
//   independent  X = diag(1 / S_nn)
//   full         X = S^-1
//   ridge        X = (S + rho I)^-1, the solution of  max log det X - <S, X> - rho tr X; eigenvalues in [1 / (|S|_2 + rho), 1 /
//   rho] neighbourhoods  every variable regressed on all others by a lasso, b_n = argmin 1/2 b'Sb - S_n'b + lambda ||b||_1, b_nn
//   = 0; an edge
//                where both coefficients are not zero (and) or one (or). Meinshausen and Buehlmann (Ann. Statist. 2006)
//   constrained  the maximum likelihood estimate with zeros wherever the graph has no edge (Dempster 1972), which gives a
//   selected graph
//                a likelihood; X^-1 equals S on the edges and the diagonal
#pragma once

#include "../core/convergence.h"
#include "../core/monitor.h"
#include "../core/types.h"

namespace granary::graph {

struct NeighbourhoodOptions {
  double tol = 1e-8;  // optimality of every lasso, relative
  int threads = 1;
};

// Column n holds the coefficients of the regression of variable n. S and lambda in the same units: scale S to correlations first
// where the units differ.
MatrixXd neighbourhood_regressions(const ConstMatrixRef& s, double lambda, const NeighbourhoodOptions& options, Monitor& monitor);

using Adjacency = Eigen::Matrix<bool, Eigen::Dynamic, Eigen::Dynamic>;
Adjacency neighbourhood_graph(const MatrixXd& coefficients, bool both);  // both: the AND rule

struct BaselineFit {
  MatrixXd x, w;
  double log_det = 0;
  Convergence convergence;
};

BaselineFit ridge_precision(const ConstMatrixRef& s, double rho);  // rho = 0: the full inverse; NumericalError when singular
BaselineFit constrained_precision(const ConstMatrixRef& s, const Adjacency& graph, double tol, Monitor& monitor);

}  // namespace granary::graph
