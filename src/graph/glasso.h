// The graphical lasso with its certificate: screening, one of three solvers on every component, duality gap, warm-started paths.
//
// Problem and notation in glasso_problem.h. Solvers: glasso_bcd.h (block coordinate descent, the default because it is the fastest),
// quic.h (the proximal Newton method of the paper) and glasso_admm.h (alternating directions; Boyd et al. 2011).
#pragma once

#include <optional>
#include <vector>

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "core/base/types.h"
#include "core/graph/components.h"
#include "graph/glasso_problem.h"

namespace granary::graph {

enum class GlassoMethod { bcd, quic, admm };
enum class InnerRule { forcing, paper };  // how accurately QUIC solves for the Newton direction
inline Names<GlassoMethod> names(GlassoMethod) {
  return {{GlassoMethod::bcd, "bcd"}, {GlassoMethod::quic, "quic"}, {GlassoMethod::admm, "admm"}};
}
inline Names<InnerRule> names(InnerRule) { return {{InnerRule::forcing, "forcing"}, {InnerRule::paper, "paper"}}; }

struct GlassoOptions {
  GlassoMethod method = GlassoMethod::bcd;
  // In every component bcd stops when Certificate::residual <= tol, quic and admm when sum |subgradient| <= tol sum |X| with S in units
  // of its mean variance.
  double tol = 1e-6;
  int max_iter = 1000;  // sweeps over the columns (bcd), Newton steps (quic), iterations (admm)
  InnerRule inner = InnerRule::forcing;
  double armijo = 1e-3;           // sigma in (21)
  double backtrack = 0.5;         // beta in (21)
  double admm_penalty = 50;       // the paper's tuned values (Section 5.2); in units of the mean variance squared
  double over_relaxation = 1.5;
  int threads = 1;                // components run in parallel
  bool covariance = true;         // return W = X^-1
  bool warm = true;               // or at least whatever W near it the solver ended with, for a warm start from the result
  double progress_from = 0, progress_to = 0;  // the part of the whole work that this fit is, for the Monitor; equal: silent
};

template <class V>
void fields(V& v, GlassoOptions& t) {
  v("method", t.method);
  v("tol", t.tol);
  v("max_iter", t.max_iter);
  v("inner", t.inner);
  v("armijo", t.armijo);
  v("backtrack", t.backtrack);
  v("admm_penalty", t.admm_penalty);
  v("over_relaxation", t.over_relaxation);
  v("threads", t.threads);
  v("covariance", t.covariance);
}

struct GlassoStep {  // one line of the trace
  double objective;
  double residual;   // what the stopping rule looks at: before the step (quic), after it (bcd, admm)
  double free;       // coordinates in the free set, upper triangle with diagonal
  double step;       // accepted step length (quic)
  int sweeps;        // of coordinate descent for the direction (quic), over the columns so far (bcd)
};
template <class V>
void fields(V& v, GlassoStep& t) {
  v("objective", t.objective);
  v("residual", t.residual);
  v("free", t.free);
  v("step", t.step);
  v("sweeps", t.sweeps);
}

// Where a solver starts, and where it ends: X by its upper triangle, W = X^-1.
struct GlassoState {
  SparseMatrix upper;
  MatrixXd w;
  double log_det = 0;
};

struct GlassoResult {
  GlassoState state;
  double objective = 0;
  double kkt = 0;  // Certificate::largest
  Convergence convergence;
  std::vector<GlassoStep> trace;               // of the largest component
  Components components;                       // found by screening
};
template <class V>
void fields(V& v, GlassoResult& t) {  // for writing
  std::vector<int> component = component_labels(t.components, t.state.upper.rows());
  v("precision", symmetric_from_upper(t.state.upper));
  v("covariance", t.state.w);  // no rows where it was not asked for
  v("log_det", t.state.log_det);
  v("objective", t.objective);
  v("kkt", t.kkt);
  v("component", positions(component));
  v("trace", columns(t.trace));
  v("convergence", t.convergence);
}

// One component, no screening: each solver has this shape. `state` holds the start: a positive definite X with its inverse (quic, admm) or
// some W near that (bcd), and at the end the like.
struct SolverReport {
  bool converged = false;
  int iterations = 0;
  std::string message;
  double residual = 0;  // what the stopping rule looked at
  std::vector<GlassoStep> trace;
  Certificate certificate;  // of the final state, where the solver needed it itself
  bool certified = false;
  bool lost = false;        // bcd: W left the positive definite cone
  Stop reason = Stop::unsaid;
};

// How far the residual has come from its first value to the tolerance, on the log scale.
void report_progress(const GlassoOptions& options, double first, double residual, Monitor& monitor);

GlassoResult glasso(const ConstMatrixRef& s, const Penalty& lambda, const GlassoOptions& options, Monitor& monitor,
                    const GlassoState* start = nullptr);

// One fit per multiplier of Lambda, in the order given (decreasing is fastest), each started at the one before. W is dropped from
// every result but the last unless `options.covariance`, and from the last unless that or `options.warm`.
std::vector<GlassoResult> glasso_path(const ConstMatrixRef& s, const Penalty& lambda, const std::vector<double>& multipliers,
                                      const GlassoOptions& options, Monitor& monitor,
                                      const GlassoState* start = nullptr);

// The same for a penalty as a user gives it, from a precision matrix of the user's, if any; nothing goes on from the result.
std::vector<GlassoResult> glasso_path(const ConstMatrixRef& s, const PenaltyPath& penalty, const GlassoOptions& options, Monitor& monitor,
                                      const std::optional<SparseMatrix>& start);

// Objective, duality gap and residuals of any positive definite X, whoever computed it.
struct GlassoCertificate {
  double objective = 0, gap = 0, residual = 0, kkt = 0;
};
template <class V>
void fields(V& v, GlassoCertificate& t) {
  v("objective", t.objective);
  v("gap", t.gap);
  v("residual", t.residual);
  v("kkt", t.kkt);
}
GlassoCertificate glasso_certificate(const ConstMatrixRef& s, const Penalty& lambda, const SparseMatrix& precision);

// The positive definite X with its inverse, from a user's matrix; throws InputError when it is not positive definite.
GlassoState make_state(const SparseMatrix& symmetric);

// X = diag(1 / (S_ii + Lambda_ii)), the solution when every off-diagonal penalty is large.
GlassoState diagonal_state(const ConstMatrixRef& s, const Penalty& lambda);

}  // namespace granary::graph
