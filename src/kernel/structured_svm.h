// Large margin learning with structured outputs by cutting planes.
//
//   minimise  1/2 ||w||^2 + (C/n) sum_i xi_i      or  ... + (C/2n) sum_i xi_i^2,     or without slacks (SVM0)
//   such that H_i(y; w) <= xi_i for every example i and every output y other than y_i
//
// with H of structured_output.h (Search): 1 - <w, dPsi_i(y)>, its loss-sensitive forms by margin or slack rescaling, and for
// squared slacks with the root of the loss. Algorithm 1 of Tsochantaridis, Joachims, Hofmann, Altun (JMLR 6, 2005): go through
// the examples, find the most violated output, add it to the example's working set if it is violated by more than eps beyond the
// current slack, and optimise the dual again, over all cuts (variant a) or over those of the example alone (variant b) with a
// pass over all at the end of a sweep.
//
// What differs: variant (b) leaves examples out that were fine in the last sweep until a complete sweep is due; where outputs can
// be listed (classes) a visit of the dual knows the scores of all of them and takes a violated one in at once; dear searches are
// made for a few examples at once, and a cut found there is checked again before it is added. The end is as in the paper: a
// complete sweep that adds nothing, w standing still. It yields the primal value, hence the true duality gap, which must be at
// most C eps (linear) or (C/n) eps sum_i xi_i + C eps^2 / 2 (squared) to count as converged; if not, the inner tolerance is
// tightened and the sweeps go on.
#pragma once

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "kernel/structured_qp.h"

namespace granary::kernel {

enum class Variant { block, full };  // (b) and (a)
inline Names<Variant> names(Variant) { return {{Variant::block, "block"}, {Variant::full, "full"}}; }

struct StructuredSvmOptions {
  SlackPenalty penalty = SlackPenalty::squared;
  Rescale rescale = Rescale::margin;
  double cost = 1;  // C
  double eps = 0.1;
  Variant variant = Variant::block;
  int max_sweeps = 200;
  int prune = 50;  // sweeps after which a cut without weight is dropped
  int threads = 1;

  Search search() const { return {rescale, penalty == SlackPenalty::squared}; }
};
template <class V>
void fields(V& v, StructuredSvmOptions& t) {
  v("penalty", t.penalty);
  v("rescale", t.rescale);
  v("cost", t.cost);
  v("tol", t.eps);
  v("optimize", t.variant);
  v("max_iter", t.max_sweeps);
  v("prune", t.prune);
  v("threads", t.threads);
}

struct SweepRecord {
  double dual = 0;
  double primal = 0;     // with the slacks as they were when each example was visited: exact where w stood still
  double violation = 0;  // the largest H - xi met
  Index cuts = 0, added = 0;
  bool complete = true;
};
template <class V>
void fields(V& v, SweepRecord& t) {
  v("dual", t.dual);
  v("primal", t.primal);
  v("violation", t.violation);
  v("cuts", t.cuts);
  v("added", t.added);
  v("complete", t.complete);
}

struct CutRecord {
  Index example = 0;
  double violation = 0, gain = 0;  // H - xi when the cut was added, and what the re-optimisation that followed gained in the dual
};
template <class V>
void fields(V& v, CutRecord& t) {
  v("violation", t.violation);
  v("gain", t.gain);
}

// A cut that carries weight, with the dual variable of the paper.
struct ActiveCut {
  Index example = 0;
  double loss = 0, alpha = 0;
};
template <class V>
void fields(V& v, ActiveCut& t) {
  v("example", positions(t.example));
  v("loss", t.loss);
  v("alpha", t.alpha);
}
struct ActiveCuts {
  std::vector<ActiveCut> cuts;
  std::vector<Label> labels;
};

struct StructuredSvmResult {
  VectorXd weights;
  VectorXd slacks;  // xi_i = max(0, max_y H_i(y)) over all outputs
  VectorXd losses;  // of the predictions on the training examples
  double primal = 0, dual = 0;
  double gap_bound = 0;  // what the theory promises for eps
  double radius = 0;     // largest ||dPsi|| met
  Index cuts = 0, cuts_added = 0, support = 0;
  bool heuristic = false;  // a search missed a known cut, or says itself that it is not exact
  std::vector<SweepRecord> trace;
  std::vector<CutRecord> history;
  std::vector<std::vector<Cut>> working_set;
  Convergence convergence;

  ActiveCuts active() const;
};
template <class V>
void fields(V& v, StructuredSvmResult& t) {
  v("weights", t.weights);
  v("slacks", t.slacks);
  v("losses", t.losses);
  v("primal", t.primal);
  v("dual", t.dual);
  v("gap_bound", t.gap_bound);
  v("radius", t.radius);
  v("cuts", t.cuts);
  v("cuts_added", t.cuts_added);
  v("support", t.support);
  v("heuristic", t.heuristic);
  v("trace", columns(t.trace));
  v("history", columns(t.history));
  v("convergence", t.convergence);
}

StructuredSvmResult structured_svm(const Output& output, Space& space, const StructuredSvmOptions& options, Monitor& monitor);

// Theorem 18: how many cuts Algorithm 1 adds at most; and Propositions 14 to 17: what each adds to the dual at least. For none of
// the losses rescaled the largest loss is 1. Infinite for SVM0.
double cut_bound(const StructuredSvmOptions& options, double n, double radius, double largest_loss);
double gain_bound(const StructuredSvmOptions& options, double n, double radius, double largest_loss);

}  // namespace granary::kernel
