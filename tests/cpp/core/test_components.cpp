// Bookkeeping of components, and the proximal operator of the hub penalty.
#include "core/graph/components.h"
#include "core/random/rng.h"
#include "core/linalg/submatrix.h"
#include "graph/hub_penalty.h"
#include "graph/hub_prox.h"
#include "harness.h"

using namespace granary;
using namespace granary::graph;

TEST("components: index, order and convergence of the whole") {
  const Components parts{{0, 3}, {1}, {2, 4, 5}};
  const ComponentIndex where(parts, 6);
  CHECK(where.label == (std::vector<int>{0, 1, 2, 0, 2, 2}));
  CHECK(where.position == (std::vector<int>{0, 0, 0, 1, 1, 2}));
  CHECK(largest_first(parts) == (std::vector<Index>{2, 0, 1}));
  CHECK(one_component(3) == (Components{{0, 1, 2}}));
  Convergence all;
  WholeConvergence whole(all);
  CHECK(all.converged && all.gap == 0 && all.residual == 0);
  whole.add(true, 3, 0.5, 0.1, "");
  whole.add(false, 2, 0.25, 0.2, "first");
  whole.add(true, 1, 0.25, 0, "second");
  CHECK(!all.converged);
  CHECK(all.iterations == 3 && all.gap == 1 && all.residual == 0.2 && all.message == "first");
  Convergence part;
  part.converged = true;
  part.gap = 2;
  part.residual = 0.1;
  whole.add(part, 3);
  CHECK(all.gap == 7 && all.iterations == 3);
}

// T solves if and only if g (C - T) is in the dual set and <g (C - T), T> = P(T).
TEST("hub prox: the optimality conditions, warm and cold, for every norm and regime") {
  Rng rng(11);
  Monitor monitor;
  const Index p = 12;
  for (const HubNorm q : {HubNorm::l1, HubNorm::l2, HubNorm::linf}) {
    for (const HubPenalty& penalty : {HubPenalty{0.5, 0.2, 1.2, q}, HubPenalty{0.5, 0.1, 5, q}, HubPenalty{2, 0.1, 0.3, q}}) {
      HubProx prox(penalty);
      MatrixXd c(p, p);
      for (Index j = 0; j < p; ++j) {
        for (Index i = 0; i < p; ++i) c(i, j) = rng.normal();
      }
      for (int call = 0; call < 3; ++call) {
        const double g = 0.7 + call;
        const MatrixXd t = prox(c, g, monitor);
        CHECK(t == t.transpose());
        const MatrixXd pull = g * (symmetrised(c) - t);
        CHECK_NEAR(pull.diagonal().cwiseAbs().maxCoeff(), 0, 1e-9);
        CHECK(dual_violation(penalty, pull) < 1e-5);
        CHECK_NEAR(pull.cwiseProduct(t).sum(), prox.value(t), 1e-5 * (1 + prox.value(t)));
        CHECK_NEAR(prox.value(t), hub_cost(penalty, prox.last().v, prox.last().z), 1e-12);
        CHECK(prox.value(0.9 * t) >= 0.9 * prox.value(t) - 1e-5);  // an upper bound of P, which is a norm
        c *= 1.05;
      }
    }
  }
}
