// Gaussian graphs of one or several tasks under any sum of priors, by consensus: one copy of X = (X_1, ..., X_K) per prior.
//
//   minimise  sum_t T_t ( -log det X_t + <S_t, X_t> ) + sum_k g_k(X_1, ..., X_K)   over X_t > 0
//
// All but one of the priors are those of one matrix, and charge every task for itself:
//
//   l1      weight sum_ij |X_ij|, with or without the diagonal
//   local   weight ||D x X||_1, see local_problem.h
//   nodes   weight sum_n ||X_{n,-n}||_q, see nodes_problem.h
//   hub     P(X) of hub_penalty.h, the least cost of X = V + V' + Z
//   multi   sum_{i != j} P(x_ij), x_ij = (X_1,ij, ..., X_K,ij), see multi_penalty.h; the fused norm also ties the diagonals, as in multi.h
//   own     any convex g of a symmetric matrix, given as its value and its proximal operator argmin_Z g(Z) + ||Z - C||_F^2 / (2 t)
//
// Honorio (PhD thesis, Stony Brook 2012), chapter 8, leaves open how to combine the priors of his chapters 2 to 4. Each has an
// exact proximal operator on matrices that need not be symmetric, and so has the hub penalty of Tan et al. (JMLR 2014), to
// rounding (hub_prox.h). So alternating directions (admm.h) combine any of them, and the answer does not depend on their order.
// Every g_k of ours is a seminorm: with Y_k a subgradient of g_k at its copy Z_k, which the multipliers are, log det(S + sym sum_k Y_k) + p
// bounds the minimum from below (with tasks: sum_t T_t (log det(S_t + sym sum_k Y_k,t / T_t) + p)). For hubs the multiplier is
// moved into the dual set first; an own g adds g(Z) - <Y, Z>, and the bound is as true as the two functions that were given.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "core/base/types.h"
#include "core/graph/components.h"
#include "graph/glasso_problem.h"
#include "graph/hub_penalty.h"
#include "graph/local_problem.h"
#include "graph/multi_problem.h"
#include "graph/nodes_problem.h"

namespace granary::graph {

struct MixPrior {
  enum class Kind { l1, local, nodes, hub, own, multi };
  Kind kind = Kind::l1;
  double weight = 0;                  // of hub: none, its weights are in `hub`
  bool diagonal = true;               // l1: whether it charges the diagonal
  RowNorm norm = RowNorm::l2;         // nodes
  const LocalOperator* op = nullptr;  // local; must outlive the fit
  HubPenalty hub = {};
  MultiPenalty multi = {};
  std::function<MatrixXd(const MatrixXd& c, double t)> prox;  // own
  std::function<double(const MatrixXd& x)> penalty;
};

// A prior as it is given.
inline Names<MixPrior::Kind> names(MixPrior::Kind) {
  return {{MixPrior::Kind::l1, "l1"}, {MixPrior::Kind::local, "local"}, {MixPrior::Kind::nodes, "nodes"}, {MixPrior::Kind::hub, "hub"},
          {MixPrior::Kind::own, "own"}, {MixPrior::Kind::multi, "multi"}};
}
struct MixPriorSpec {
  MixPrior prior;
  OperatorSpec op;
};
template <class V>
void fields(V& v, MixPriorSpec& t) {
  v("kind", t.prior.kind);
  v("weight", t.prior.weight);
  v("diagonal", t.prior.diagonal);
  v("norm", t.prior.norm);
  v("operator", t.op);
  v("hub", t.prior.hub);
  v("multi", t.prior.multi);
  v("prox", t.prior.prox);
  v("penalty", t.prior.penalty);
}

struct MixOptions {
  double tol = 1e-6;  // on the gap per variable
  int max_iter = 5000;
  int threads = 1;
};
template <class V>
void fields(V& v, MixOptions& t) {
  v("tol", t.tol);
  v("max_iter", t.max_iter);
  v("threads", t.threads);
}

struct MixResult {
  MatrixXd x, w;  // the tasks side by side
  VectorXd log_det;
  double objective = 0;
  double largest_violation = 0;  // max |X^-1 - S - sym Y / T|
  VectorXd penalties;            // g_k(X)
  std::vector<MatrixXd> v;       // per prior: the V of a hub prior, else empty
  Convergence convergence;
};
template <class V>
void fields(V& v, MixResult& t) {  // for writing
  const SparseMatrix x = t.x.sparseView(0, 0);
  std::vector<int> component = component_labels(pattern_components(x), x.rows());
  std::vector<std::optional<SparseMatrix>> parts;
  for (const MatrixXd& part : t.v) parts.push_back(part.size() > 0 ? std::optional<SparseMatrix>(part.sparseView(0, 0)) : std::nullopt);
  v("precision", x);
  v("covariance", t.w);
  v("log_det", t.log_det.sum());
  v("objective", t.objective);
  v("kkt", t.largest_violation);
  v("component", positions(component));
  v("penalties", t.penalties);
  v("v", parts);
  v("convergence", t.convergence);
}

struct MixTasksResult : MixResult {};
template <class V>
void fields(V& v, MixTasksResult& t) {  // for writing
  const Index p = t.x.rows();
  std::vector<SparseMatrix> x;
  std::vector<MatrixXd> w;
  MatrixXd any = MatrixXd::Zero(p, p);
  for (Index first = 0; first < t.x.cols(); first += p) {
    x.push_back(t.x.middleCols(first, p).sparseView(0, 0));
    w.push_back(t.w.middleCols(first, p));
    any += t.x.middleCols(first, p).cwiseAbs();
  }
  std::vector<int> component = component_labels(pattern_components(SparseMatrix(any.sparseView(0, 0))), p);
  v("precision", x);
  v("covariance", w);
  v("log_det", t.log_det);
  v("objective", t.objective);
  v("kkt", t.largest_violation);
  v("component", positions(component));
  v("penalties", t.penalties);
  v("convergence", t.convergence);
}

MixResult mix_fit(const ConstMatrixRef& s, const std::vector<MixPriorSpec>& priors, const MixOptions& options, Monitor& monitor);
MixResult mix_fit(const ConstMatrixRef& s, const std::vector<MixPrior>& priors, const MixOptions& options, Monitor& monitor);
MixTasksResult mix_fit_tasks(const MultiProblem& tasks, const std::vector<MixPriorSpec>& priors, const MixOptions& options, Monitor& monitor);

}  // namespace granary::graph
