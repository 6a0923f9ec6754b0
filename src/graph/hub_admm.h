// Algorithm 1 of the hub papers for any loss: minimise  loss(T) + P(T).
//
//   minimise  f(B) + g(B~)  subject to  B = B~,   B = (T, V, Z),
//   f(B) = loss(T) + l1 ||Z_off||_1 + l2 ||V_off||_1 + l3 sum_j ||(V_off)_.j||_q,   g = indicator of T~ = V~ + V~' + Z~
//
// Tan et al. (JMLR 2014), Algorithm 1, on the consensus driver of core/admm.h, which adds over-relaxation and a balanced step.
// Two things differ from the print. V has a zero diagonal throughout: it is not identified, and fixing it leaves fewer directions
// in which nothing changes. And the run ends when a duality gap, not the change of T, is small.
#pragma once

#include <functional>
#include <vector>

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "core/base/types.h"
#include "core/graph/components.h"
#include "graph/hub_penalty.h"

namespace granary::graph {

struct HubOptions {
  double tol = 1e-7;  // stop when the duality gap is at most tol p, in the units of the scaled problem
  int max_iter = 5000;
  double step = 2.5;   // rho of ADMM at the start
  bool screen = true;  // solve connected components one by one
  // Take what is faster than Algorithm 1: a diagonal answer, the graphical lasso where the penalty is one, else a Newton method.
  bool reduce = true;
  double eps = 1e-4;              // covariance: smallest eigenvalue
  bool barzilai_borwein = false;  // Ising: the paper's inner solver instead of L-BFGS
  int threads = 1;                // components run in parallel
};

template <class V>
void fields(V& v, HubOptions& t) {
  v("tol", t.tol);
  v("max_iter", t.max_iter);
  v("step", t.step);
  v("screen", t.screen);
  v("reduce", t.reduce);
  v("eps", t.eps);
  v("barzilai_borwein", t.barzilai_borwein);
  v("threads", t.threads);
}

struct HubStep {  // one line of the trace
  int iteration;
  double objective, gap;
};
template <class V>
void fields(V& v, HubStep& t) {
  v("iteration", t.iteration);
  v("objective", t.objective);
  v("gap", t.gap);
}

// The estimate with its parts, and L, minus a gradient of the loss at T, which is what a neighbouring problem starts from.
struct HubState {
  MatrixXd theta, v, z, l;
  double step = 0;  // rho at the end; zero: the default
};

struct HubResult {
  HubState state;
  MatrixXd inverse;                       // Gaussian: theta^-1
  double log_det = Convergence::unknown;  // of theta, where it is a precision or a covariance matrix
  double loss = 0;
  double deviance = Convergence::unknown;  // see hub_path.h
  double objective = 0;  // loss + P, at V and Z
  double violation = 0;  // of the dual constraints by minus the gradient of the loss at T
  Convergence convergence;
  std::vector<HubStep> trace;                // of the largest component
  Components components;                     // found by screening
};
template <class V>
void fields(V& v, HubResult& t) {  // for writing
  std::vector<int> component = component_labels(t.components, t.state.theta.rows());
  v("precision", SparseMatrix(t.state.theta.sparseView(0, 0)));
  v("V", SparseMatrix(t.state.v.sparseView(0, 0)));
  v("Z", SparseMatrix(t.state.z.sparseView(0, 0)));
  v("covariance", t.inverse);
  v("log_det", t.log_det);
  v("loss", t.loss);
  v("deviance", t.deviance);
  v("objective", t.objective);
  v("kkt", t.violation);
  v("component", positions(component));
  v("trace", columns(t.trace));
  v("step", t.state.step);
  v("convergence", t.convergence);
}

// What the ADMM needs to know of a loss. `certify` takes a candidate whose off-diagonal part is V + V' + Z and whose diagonal is
// that of the iterate T; it may improve the diagonal, sets loss, objective, log_det, inverse and state.l, and returns the duality
// gap, NaN when T is not feasible yet. `multiplier` is the L of the iteration.
struct HubLoss {
  std::function<MatrixXd(const MatrixXd& v, double rho)> prox;
  std::function<double(HubResult& candidate, const MatrixXd& multiplier)> certify;
};

// One component, no screening. `gap_tol` is absolute; `start` may be null.
HubResult hub_admm(const HubLoss& loss, const HubPenalty& penalty, const MatrixXd& diagonal_start, double gap_tol,
                   const HubOptions& options, const HubState* start, Monitor& monitor);

}  // namespace granary::graph
