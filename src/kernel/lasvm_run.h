// A run of LASVM: seeds, online iterations with a rule for the next example, finishing.
//
// Rules, all over rows not yet processed in this pass: RANDOM, the given order; GRADIENT (12), the least y f(x) of M drawn at
// random; ACTIVE (13), the least |f(x)| of M; AUTOACTIVE, draws until five have |f(x)| < 1 + delta / 2, at most 100, and takes
// the least |f(x)|. With more than two classes f is half the lead of the best class over the second, y f half that of the right
// one over the best other.
//
// Bordes, Ertekin, Weston, Bottou (2005), JMLR 6, sections 3.2, 4.3 and 4.4.
#pragma once

#include "kernel/lasvm.h"

namespace granary::kernel {

enum class LasvmSelection { random, gradient, active, autoactive };
inline Names<LasvmSelection> names(LasvmSelection) {
  return {{LasvmSelection::random, "random"}, {LasvmSelection::gradient, "gradient"}, {LasvmSelection::active, "active"},
          {LasvmSelection::autoactive, "autoactive"}};
}

struct LasvmPlan {
  std::vector<Index> order;  // rows to visit
  int epochs = 1;
  bool shuffle = true;  // from the second pass on; the first is in the order given
  LasvmSelection select = LasvmSelection::random;
  double candidates = 50;  // M
  double max_labels = std::numeric_limits<double>::infinity();
  bool early_stop = false;  // ACTIVE: once no candidate is within 1 + delta / 2 of the boundary
  bool finish = true;
  bool finish_snapshots = true;
  std::vector<double> snapshots;  // after these numbers of visits the machine is finished, kept, and put back
};
template <class V>
void fields(V& v, LasvmPlan& t) {
  v("order", positions(t.order));
  v("epochs", t.epochs);
  v("shuffle", t.shuffle);
  v("select", t.select);
  v("candidates", t.candidates);
  v("max_labels", t.max_labels);
  v("early_stop", t.early_stop);
  v("finish", t.finish);
  v("finish_snapshots", t.finish_snapshots);
  v("snapshots", t.snapshots);
}

// What to do and how.
struct LasvmRun {
  LasvmPlan plan;
  LasvmOptions options;
};
template <class V>
void fields(V& v, LasvmRun& t) {
  fields(v, t.plan);
  fields(v, t.options);
}

struct LasvmSnapshot {
  double visits = 0, labels = 0;
  std::vector<Index> rows;
  MatrixXd alpha;
  VectorXd b;
};
template <class V>
void fields(V& v, LasvmSnapshot& t) {
  v("visits", t.visits);
  v("labels", t.labels);
  v("rows", positions(t.rows));
  v("alpha", t.alpha);
  v("b", t.b);
}

struct LasvmResult {
  LasvmState state;
  // One entry for each visit
  std::vector<Index> visited;
  std::vector<int> wrong;    // -1: nothing had been learnt to predict with
  std::vector<int> changed;  // did it enter S?
  std::vector<int> support;
  std::vector<double> delta, objective, labels;
  std::vector<Index> labels_used;  // in order, each row once
  std::vector<LasvmSnapshot> snapshots;
  std::vector<int> label;          // of all rows, as known now
  bool stopped_early = false;
  bool solved = false;      // the problem over S: delta, in double precision, is at most tol
  LasvmReach reach;         // where it was finished: over all rows whose label was used or that were held at the start
  Convergence convergence;  // converged if the violation over those is at most tol too
};
template <class V>
void fields(V& v, LasvmResult& t) {
  v("state", t.state);
  v("rows", positions(t.state.rows));
  v("visited", positions(t.visited));
  v("wrong", t.wrong);
  v("changed", t.changed);
  v("support", t.support);
  v("delta", t.delta);
  v("objective", t.objective);
  v("labels", t.labels);
  v("labels_used", positions(t.labels_used));
  v("snapshots", t.snapshots);
  v("label", positions(t.label));
  v("stopped_early", t.stopped_early);
  v("solved", t.solved);
  v("rows_checked", t.reach.rows);
  v("convergence", t.convergence);
}

LasvmResult run_lasvm(KernelRows& rows, LasvmData& data, const LasvmState& start, const LasvmPlan& plan,
                      const LasvmOptions& options, Rng& rng, Monitor& monitor);

// Of these scores, one for each machine, b included: the class, and how far the decision is from changing (see above).
int lasvm_class(const VectorXd& scores);
double lasvm_lead(const VectorXd& scores);
double lasvm_margin(const VectorXd& scores, int label);

}  // namespace granary::kernel
