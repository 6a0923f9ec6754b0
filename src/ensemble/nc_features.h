// Members linear in their weights, trained together exactly.
//
//   minimise  sum_n 1/2 [ own sum_i (f_i - t)^2 + joint M (fbar - t)^2 ] + alpha / 2 sum_i ||w_i||^2,    f_i = Phi_i w_i
//
//   primal   one system of all weights: blocks own Phi_i'Phi_i + alpha I on the diagonal, plus joint / M  Phi_i'Phi_j everywhere
//   dual     (I + joint S) fbar = (own + joint) S t,  S = 1/M sum_i Phi_i D_i^-1 Phi_i',  D_i = own Phi_i'Phi_i + alpha I:
//            one system of all rows
//   sweeps   Gauss-Seidel over the members: memory of one member at a time
//
// Constants: every member's columns and t are centred, which is its unpenalised constant. Where the weights are not determined
// (own = 0 without a ridge) the shortest.
#pragma once

#include <vector>

#include "core/base/convergence.h"
#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary::ensemble {

// What each member is asked for: own (f_i - t) + joint (fbar - t) is its gradient.
struct Coupling {
  double own = 1, joint = 0;
};

enum class CoupledSolver { automatic, primal, dual, sweeps };
inline Names<CoupledSolver> names(CoupledSolver) {
  return {{CoupledSolver::automatic, "auto"},
          {CoupledSolver::primal, "primal"},
          {CoupledSolver::dual, "dual"},
          {CoupledSolver::sweeps, "sweeps"}};
}

// Rows times the root of their weights, columns centred: what the solvers take.
struct CoupledFeatures {
  std::vector<MatrixXd> phi;    // by member, rows x units
  std::vector<VectorXd> means;  // of the units
  VectorXd t;
  double mean = 0;  // of the response
  VectorXd root;    // of the weights of the rows
};
// features: by member, units x rows.
CoupledFeatures coupled_features(const std::vector<MatrixXd>& features, const VectorXd& t, const VectorXd& row_weights);

struct CoupledFit {
  MatrixXd weights;         // units x members
  VectorXd constants;       // of the members
  bool determined = true;   // otherwise the shortest of many solutions
  Convergence convergence;  // residual: largest entry of the gradient, relative to its value at 0
};
CoupledFit solve_coupled(const CoupledFeatures& f, const Coupling& coupling, double alpha, CoupledSolver solver, double tol,
                         int max_iter, Monitor& monitor);

// Left-out predictions of the ensemble, exactly: f^(-n) - t = (I - H_n)^-1 (f_n - t) with H_n the members x members block of the
// hat matrix.
VectorXd coupled_left_out(const CoupledFeatures& f, const CoupledFit& fit, const Coupling& coupling, double alpha,
                          Monitor& monitor);

}  // namespace granary::ensemble
