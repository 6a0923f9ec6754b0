// Rows that undo the correlation of the columns of a design, S = X'X / n.
//
//   minimise m'Sm   subject to   |S m - e_i|_inf <= mu                                       (4)
//   minimise m'Sm   subject to   |S m - e_i|_inf <= mu,  |X m|_inf <= n^beta                 (robust)
//   nodewise        m = (e_i - gamma) / tau^2, gamma the lasso of column i on the others, tau^2 = S_ii - S_i gamma
//
// Javanmard, Montanari (JMLR 15, 2014), equation (4) and Section 4; nodewise: van de Geer et al. (Ann. Stat. 42, 2014).
//
// The dual of (4) is  min_v 1/2 v'Sv - v_i + mu |v|_1  and m = v: the l1 quadratic of core. Where mu >= rho / (1 + rho), rho =
// max_j |S_ij| / S_ii, its solution is v = (1 - mu)/S_ii e_i. The robust dual has one more variable for each row of X, for
// u = n w:  1/2 (v, u)' [S, X'/n; X/n, P/n] (v, u) - v_i + mu |v|_1 + n^(beta - 1) |u|_1,  X m = X v + P u, P the projector on
// the column space of X.
//
// mu is feasible when it is at least mu_min,i = max {nu_i : X nu = 0, |nu|_1 <= 1}, a linear program. With p >= n the dual is
// followed as mu
// falls (decorrelate_path.h), which ends at mu_min with that nu.
//
// What the estimator needs is X m alone, so that is what a row returns; m too, where it is sparse and asked for. For all
// columns S
// is formed, up to 10000 of them; otherwise the solver works with X, and memory stays at that of X and the rows.
#pragma once

#include <optional>
#include <vector>

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary::regress {

enum class MuRule {
  scaled,   // sqrt(log p / n)
  search,   // the authors' code: as small as 50 sweeps can solve
  smallest  // a little above mu_min
};
inline Names<MuRule> names(MuRule) { return {{MuRule::scaled, "scaled"}, {MuRule::search, "search"}, {MuRule::smallest, "min"}}; }

enum class Infeasible { raise_mu, identity, error };
inline Names<Infeasible> names(Infeasible) {
  return {{Infeasible::raise_mu, "raise_mu"}, {Infeasible::identity, "identity"}, {Infeasible::error, "error"}};
}

enum class RowNoise { gaussian, robust };
inline Names<RowNoise> names(RowNoise) { return {{RowNoise::gaussian, "gaussian"}, {RowNoise::robust, "robust"}}; }

struct DecorrelateOptions {
  std::optional<double> mu;  // none: by the rule
  MuRule mu_rule = MuRule::scaled;
  RowNoise noise = RowNoise::gaussian;
  double beta = 0.3;
  Infeasible infeasible = Infeasible::raise_mu;
  bool keep_m = false;
  double tol = 1e-9;
  int max_iter = 4000;  // sweeps; for MuRule::search, 50
  int threads = 1;
  bool robust() const { return noise == RowNoise::robust; }
};
template <class V>
void fields(V& v, DecorrelateOptions& t) {
  v("mu", t.mu);
  v("mu_rule", t.mu_rule);
  v("noise", t.noise);
  v("beta", t.beta);
  v("infeasible", t.infeasible);
  v("keep_m", t.keep_m);
  v("tol", t.tol);
  v("max_iter", t.max_iter);
  v("threads", t.threads);
}

struct DecorrelatedRow {
  VectorXd m;  // empty unless keep_m
  double mu = 0;
  double mu_min = Convergence::unknown;  // computed where the rule or a failure called for it
  bool feasible = true;                  // at the mu asked for
  bool converged = true;
  bool shortcut = false;
  double coherence = 0;  // |S m - e_i|_inf, from X m
  double variance = 0;   // m'Sm
  double floor = 0;      // of m'Sm at this mu: (1 - mu)^2 / S_ii
  double largest = 0;    // |X m|_inf
};
template <class V>
void fields(V& v, DecorrelatedRow& t) {
  v("mu", t.mu);
  v("feasible", t.feasible);
  v("mu_min", any_number(t.mu_min));
  v("variance", t.variance);
  v("floor", t.floor);
  v("coherence", t.coherence);
  v("largest", t.largest);
  v("shortcut", t.shortcut);
  v("converged", t.converged);
}

struct Decorrelation {
  MatrixXd rows;  // X m_i, n x |which|
  std::vector<DecorrelatedRow> row;
  SparseMatrix m;  // p x |which|; no columns unless keep_m
  Convergence convergence;
};
template <class V>
void fields(V& v, Decorrelation& t) {
  v("rows", t.rows);
  v("table", columns(t.row));
  v("m", t.m);
  v("convergence", t.convergence);
}

// `x` is centred as the caller wants it.
Decorrelation decorrelate(ConstMatrixRef x, const std::vector<int>& which, const DecorrelateOptions& options, Monitor& monitor);

// Rows X m that came from elsewhere, with their diagnostics; mu is what they reach.
Decorrelation given_rows(ConstMatrixRef x, const std::vector<int>& which, MatrixXd rows);

// One lasso per column, with penalty `lambda` on columns of unit second moment.
Decorrelation nodewise(ConstMatrixRef x, const std::vector<int>& which, double lambda, const DecorrelateOptions& options,
                       Monitor& monitor);

// An orthonormal basis of the rows of x, as rows.
MatrixXd row_space(ConstMatrixRef x);

// The smallest feasible mu of column i, from that basis.
double smallest_mu(const MatrixXd& row_space, Index i, Monitor& monitor);

// The same with the bound |X m|_inf <= `bound` of the robust version: a linear program in u = X m, of size 2p x n.
double smallest_robust_mu(ConstMatrixRef x, Index i, double bound, Monitor& monitor);

}  // namespace granary::regress
