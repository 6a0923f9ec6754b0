// Quadratic programs over a box with one or two sums fixed, by steps in two variables: sequential minimal optimisation.
//
//   minimise  1/2 b'Kb - sum_s c_s'b_s + sum_t e_t |b_t|,   b = sum_s b_s,   1'b_s = d_s,   l_s <= b_s <= u_s,   s = 1 or 1, 2
//
// K is a kernel matrix that is never stored. Variables carry their sign: for a classifier b_t = y_t a_t with c = y and the box
// between 0 and C y_t; for regression b = a - a*, c = z, e = epsilon, so each case is one variable and not two; nu machines
// have two sheets, a and a*, whose sums are fixed separately. With f = Kb, v = c - f is the slope of the objective's
// negative, and the optimum has one number per sheet, the multiplier m_s, with
//   v_t - e_t sign <= m_s where b_t can grow,   >= m_s where it can shrink.
//
// Fan, Chen and Lin (2005), Working set selection using second order information for training support vector machines, JMLR
// 6: Algorithm 2 with WSS 1, WSS 3 (default), the feasible variant (33)-(35) and the search over all pairs; WSS 5 for two
// sheets; shrinking by (25). The pair moves by lambda = min(violation / max(K_ii + K_jj - 2 K_ij, tau), room of i, room of j),
// which is the modified subproblem (16) where the curvature is not positive, so any symmetric K is admitted. The last index
// wins ties, as in the authors' code.
//
// The certificate is the duality gap with the multipliers reported:
//   sum_t max_{l <= x <= u} {x r_t - e_t |x|} - {b_t r_t - e_t |b_t|},   r_t = v_t - m_s.
// Cached rows may be single precision: at large C the gap they show can be a thousandth of the true one. So f = Kb is computed
// afresh in double precision from the b returned, before violation, objective and gap are; and where the true violation is above
// the tolerance, the solver goes on with rows in double precision.
#pragma once

#include <vector>

#include "core/base/convergence.h"
#include "core/kernel/kernel_rows.h"
#include "core/base/monitor.h"
#include "core/kernel/row_cache.h"
#include "core/base/types.h"

namespace granary {

struct SmoSheet {
  VectorXd linear;        // c
  VectorXd lower, upper;  // with 0 between them where there is a kink
  VectorXd start;         // feasible: its sum is the one that is kept. Empty: zero
};
template <class V>
void fields(V& v, SmoSheet& t) {
  v("linear", t.linear);
  v("lower", any_number(t.lower));
  v("upper", any_number(t.upper));
  v("start", t.start);
}

struct SmoProblem {
  std::vector<SmoSheet> sheets;  // one or two
  VectorXd kink;                 // e >= 0; empty: none. For one sheet only
  VectorXd f = {};               // K start, where it is known; empty: not
};

enum class WorkingSet { second_order, first_order, feasible, all_pairs };
inline Names<WorkingSet> names(WorkingSet) {
  return {{WorkingSet::second_order, "wss3"}, {WorkingSet::first_order, "wss1"}, {WorkingSet::feasible, "wss2_feasible"},
          {WorkingSet::all_pairs, "full"}};
}

struct SmoOptions {
  double tol = 1e-3;  // on the violation, the largest v_i - v_j over pairs that could move
  double max_iter = 1e7;
  WorkingSet working_set = WorkingSet::second_order;
  bool shrink = true;
  double cache_mb = 100;
  bool single_precision = true;  // of cached rows, where the tolerance is above 1e-5
  bool trace = false;
};
template <class V>
void fields(V& v, SmoOptions& t) {
  v("tol", t.tol);
  v("max_iter", t.max_iter);
  v("wss", t.working_set);
  v("shrink", t.shrink);
  v("cache_mb", t.cache_mb);
  v("trace", t.trace);
}

struct SmoResult {
  std::vector<VectorXd> beta;  // one per sheet
  VectorXd f;                  // K b
  std::vector<double> multiplier;
  double objective = 0;
  double violation = 0;  // of all rows
  double iterations = 0, kernel_values = 0, cache_hits = 0, cache_misses = 0;
  bool cache_small = false;  // the cache holds less than a tenth of the rows with nonzero coefficients
  double ratio = 1;          // least (v_i - v_j) / violation of a pair taken: WSS 4 says it is bounded away from zero
  std::vector<std::vector<char>> pinned;  // per sheet: no pair near a violation could move it (Theorem 5: its value is unique)
  std::vector<double> trace;              // violation before each iteration, where asked for
  Convergence convergence;                // gap as above, residual = violation
};
template <class V>
void fields(V& v, SmoResult& t) {
  v("beta", t.beta);
  v("f", t.f);
  v("multiplier", t.multiplier);
  v("objective", t.objective);
  v("violation", t.violation);
  v("iterations", t.iterations);
  v("kernel_values", t.kernel_values);
  v("cache_hits", t.cache_hits);
  v("cache_misses", t.cache_misses);
  v("cache_small", t.cache_small);
  v("ratio", t.ratio);
  v("identified", t.pinned);
  v("trace", t.trace);
  v("convergence", t.convergence);
}

constexpr double smo_curvature_floor = 1e-12;  // tau of the paper, as a share of the largest K_ii

// The problem is over the first rows of `rows`, as many as it has variables. They are reordered while the solver works and
// back in their first order at the end.
SmoResult solve_smo(const SmoProblem& problem, KernelRows& rows, const SmoOptions& options, Monitor& monitor);

// The same with a cache that knows some rows already and keeps what it learns. Row t goes by the name id[t] there. Its precision
// and size count, not those of the options.
template <class Real>
SmoResult solve_smo(const SmoProblem& problem, KernelRows& rows, const SmoOptions& options, Monitor& monitor,
                    RowCache<Real>& cache, const std::vector<Index>& id);

}  // namespace granary
