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

struct LasvmSnapshot {
  double visits = 0, labels = 0;
  std::vector<Index> rows;
  MatrixXd alpha;
  VectorXd b;
};

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
  bool stopped_early = false;
  Convergence convergence;
};

LasvmResult run_lasvm(KernelRows& rows, LasvmData& data, const LasvmState& start, const LasvmPlan& plan,
                      const LasvmOptions& options, Rng& rng, Monitor& monitor);

// Of these scores, one for each machine, b included: the class, and how far the decision is from changing (see above).
int lasvm_class(const VectorXd& scores);
double lasvm_lead(const VectorXd& scores);
double lasvm_margin(const VectorXd& scores, int label);

}  // namespace granary::kernel
