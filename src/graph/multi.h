// Sparse Gaussian graphs of several related data sets, with a certificate: screening over all tasks, one of three solvers on
// every component, duality gap, warm-started paths.
//
// Problem and notation in multi_problem.h. Solvers: multi_newton.h (proximal Newton over all tasks, the default), multi_bcd.h
// (Algorithm 4.1 of Honorio's thesis, 2012) and multi_admm.h (alternating directions). Without a term that ties the tasks
// together the problem falls into K graphical lassos, which glasso.h solves.
#pragma once

#include <string>
#include <vector>

#include "core/base/convergence.h"
#include "graph/multi_problem.h"

namespace granary::graph {

enum class MultiMethod { newton, bcd, admm };

struct MultiOptions {
  MultiMethod method = MultiMethod::newton;
  double tol = 1e-6;   // on the residual of free_set(), and on the gap in units of p sum_k T_k, in every component
  int max_iter = 100;  // Newton steps, sweeps over the variables (the thesis makes 10), or iterations
  bool screen = true;
  double armijo = 1e-3, backtrack = 0.5;
  int threads = 1;  // over components; within one over tasks
};

struct MultiReport {  // how a solver ended on one component
  bool converged = false;
  int iterations = 0;
  std::string message;
};

struct MultiResult {
  MultiState state;
  double objective = 0;
  Convergence convergence;
  std::vector<std::vector<int>> components;
};

MultiResult multi(const MultiProblem& problem, const MultiOptions& options, Monitor& monitor, const MultiState* start = nullptr);

// One fit per penalty, each started at the one before.
struct MultiPenaltyPair {
  MultiPenalty off, diagonal;
};
std::vector<MultiResult> multi_path(const MultiProblem& problem, const std::vector<MultiPenaltyPair>& penalties,
                                    const MultiOptions& options, bool keep_covariance, Monitor& monitor);

// Checks a set of precision matrices for the problem, whoever computed them: objective, duality gap and residual.
MultiResult multi_certificate(const MultiProblem& problem, const std::vector<SparseMatrix>& precision, Monitor& monitor);

}  // namespace granary::graph
