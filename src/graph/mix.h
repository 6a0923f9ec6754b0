// A Gaussian graph under any sum of priors, by consensus: one copy of X per prior.
//
//   minimise  -log det X + <S, X> + sum_k g_k(X)   over X > 0
//
//   l1      weight sum_ij |X_ij|, with or without the diagonal
//   local   weight ||D x X||_1, see local_problem.h
//   nodes   weight sum_n ||X_{n,-n}||_q, see nodes_problem.h
//
// Honorio (PhD thesis, Stony Brook 2012), chapter 8, leaves open how to combine the priors of his chapters 2 to 4. Each has an
// exact proximal operator on matrices that need not be symmetric, so alternating directions (admm.h) combine any of them, and the
// answer does not depend on their order. Every g_k is a seminorm: with Y_k a subgradient of g_k at its copy, which the
// multipliers are, log det(S + sym sum_k Y_k) + p bounds the minimum from below.
#pragma once

#include <vector>

#include "../core/convergence.h"
#include "../core/monitor.h"
#include "../core/types.h"
#include "local_problem.h"
#include "nodes_problem.h"

namespace granary::graph {

struct MixPrior {
  enum class Kind { l1, local, nodes };
  Kind kind = Kind::l1;
  double weight = 0;
  bool diagonal = true;               // l1: whether it charges the diagonal
  RowNorm norm = RowNorm::l2;         // nodes
  const LocalOperator* op = nullptr;  // local; must outlive the fit
};

double mix_penalty(const MatrixXd& x, const MixPrior& prior);

struct MixOptions {
  double tol = 1e-6;  // on the gap per variable
  int max_iter = 5000;
  int threads = 1;
};

struct MixResult {
  MatrixXd x, w;
  double log_det = 0, objective = 0;
  double largest_violation = 0;  // max |X^-1 - S - sym Y|
  VectorXd penalties;            // g_k(X)
  Convergence convergence;
};

MixResult mix_fit(const ConstMatrixRef& s, const std::vector<MixPrior>& priors, const MixOptions& options, Monitor& monitor);

}  // namespace granary::graph
