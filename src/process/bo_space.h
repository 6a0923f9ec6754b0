// The points among which a Bayesian optimisation chooses, and the search for the best of them.
//
// Inputs are continuous on [0, 1], grids of equally spaced values on [0, 1] (integers), or codes 0, 1, ... of categories; or the
// rows of a list of candidates. A point of the unit cube stands for the point of the space that `place` gives, so that global
// searches and designs know the cube only.
//
//   continuous and integer inputs   DIRECT over the cube, 90 per cent of the budget, then refinement
//   only discrete inputs            every point, where there are at most 1e5
//   with categories, or many points shifted Sobol points, then refinement
//   candidates                      every one
//
// Refinement is L-BFGS in the box where the criterion has a gradient and all points are feasible; else a compass search: steps
// along the axes that shrink when none improves, neighbouring grid values, all other categories.
#pragma once

#include <functional>

#include "core/base/fields.h"
#include "core/optim/direct.h"
#include "core/optim/lbfgs.h"
#include "core/base/monitor.h"
#include "core/random/rng.h"
#include "core/base/types.h"

namespace granary::process {

struct BoSpace {
  VectorXi values;                                // 0: continuous, else the number of values
  VectorXi categorical;                           // 1: the values are codes of categories
  MatrixXd candidates;                            // one point per row; without rows: none
  std::function<bool(const VectorXd&)> feasible;  // empty: every point

  Index dimension() const { return values.size(); }
  bool continuous() const { return (values.array() == 0).all(); }
  bool enumerable() const { return count() <= 1e5; }
  bool has_categories() const { return (categorical.array() != 0).any(); }
  double count() const;  // of points; infinite where an input is continuous
  MatrixXd place(ConstMatrixRef unit) const;
  MatrixXd all() const;  // every point of a discrete space
  bool allows(const VectorXd& x) const { return !feasible || feasible(x); }
  double distance(ConstVectorRef a, ConstVectorRef b) const;  // the largest over the inputs; different categories are 1 apart
};
template <class V>
void fields(V& v, BoSpace& t) {
  v("values", t.values);
  v("categorical", t.categorical);
  v("candidates", t.candidates);
  v("feasible", t.feasible);
}

// Random embedding: z in [-sqrt e, sqrt e]^e stands for clip(A z) in [-1, 1]^D. For rows v of clip(A z) the z in units of [0, 1], from
// the entries that are not clipped; NaN where there is none or these do not determine it.
MatrixXd embedding_preimage(ConstMatrixRef a, ConstMatrixRef v);

// Up to n feasible points at random; fewer when `tries` per point find none.
MatrixXd bo_random_points(const BoSpace& space, Index n, Rng& rng, Monitor& monitor, int tries = 10000);
// Latin hypercube, Sobol or uniform points; infeasible ones are replaced by random feasible ones.
enum class BoDesign { latin_hypercube, sobol, uniform };
inline Names<BoDesign> names(BoDesign) {
  return {{BoDesign::latin_hypercube, "lhs"}, {BoDesign::sobol, "sobol"}, {BoDesign::uniform, "uniform"}};
}
struct BoDesignOptions {
  BoDesign init = BoDesign::latin_hypercube;
  int n = 10;
};
template <class V>
void fields(V& v, BoDesignOptions& t) {
  v("init", t.init);
  v("n_init", t.n);
}
MatrixXd bo_design(const BoSpace& space, BoDesign design, Index n, Rng& rng, Monitor& monitor);

struct BoSearchOptions {
  int evaluations_per_input = 500;
  int starts = 4;  // of the refinement
};
template <class V>
void fields(V& v, BoSearchOptions& t) {
  v("evaluations_per_input", t.evaluations_per_input);
  v("starts", t.starts);
}

struct BoMaximum {
  VectorXd x;  // empty when no point is feasible
  double value = 0;
  bool flat = false;  // the criterion is the same wherever it was evaluated
};

using BoGradient = std::function<double(const VectorXd& x, VectorXd& gradient)>;

// `known`: points worth refining besides those found. `gradient` may be empty.
BoMaximum bo_maximise(const BatchObjective& criterion, const BoGradient& gradient, const BoSpace& space, ConstMatrixRef known,
                      const BoSearchOptions& options, Rng& rng, Monitor& monitor);

// Points that cover the space, more densely around the rows of `known`: where a draw of the process is looked at.
MatrixXd bo_cover(const BoSpace& space, ConstMatrixRef known, Index n, Rng& rng, Monitor& monitor);

// The point farthest from those known: where to go when the criterion says nothing.
VectorXd bo_farthest(const BoSpace& space, ConstMatrixRef known, Rng& rng, Monitor& monitor);

}  // namespace granary::process
