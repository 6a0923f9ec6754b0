// What a split says about the labels of several tasks at once (Goussies, Ubalde, Mejail, JMLR 2014, equations 1 to 3).
//
//   Score   (1 - gamma) I(T_0 S, theta) + gamma sum_n p_n I(T_n S, theta),   p_n = |T_n S| / sum_j |T_j S|, n, j >= 1
//   I       H(T S) - sum_sides |T S^side| / |T S| H(T S^side);   0 for a task without cases in the node
//
// H is the plug-in entropy in nats, or the Gini impurity; `corrected` adds (number of labels met - 1) / (2 |T S|) to every entropy (Miller, Madow). The paper takes the second
// term to be the gain of all sources joined to one task with labels (task, label). That gain is larger, by the mutual information of task and side (the
// grouping rule of entropy): `concat` computes it.
#pragma once

#include <vector>

#include "core/base/fields.h"
#include "core/base/types.h"

namespace granary::ensemble {

enum class MixedScore { entropy, gini };
inline Names<MixedScore> names(MixedScore) { return {{MixedScore::entropy, "entropy"}, {MixedScore::gini, "gini"}}; }
enum class MixedSource { sum, concat };
inline Names<MixedSource> names(MixedSource) { return {{MixedSource::sum, "sum"}, {MixedSource::concat, "concat"}}; }

struct MixedOptions {
  double gamma = 0.25;
  MixedScore score = MixedScore::entropy;
  MixedSource source = MixedSource::sum;
  bool corrected = false;
  VectorXd task_weights;  // of the sources, in the place of the p_n: shares of those met in the node; empty for the p_n
};
template <class V>
void fields(V& v, MixedOptions& t) {
  v("gamma", t.gamma);
  v("score", t.score);
  v("source", t.source);
  v("corrected", t.corrected);
  v("task_weights", t.task_weights);
}

class MixedGain {
 public:
  // labels: of every task, the target first; they are numbered one task after the other. largest: no count is above it.
  MixedGain(const MixedOptions& options, const VectorXi& labels, Index largest);
  int labels() const { return first_.back(); }
  int tasks() const { return static_cast<int>(first_.size()) - 1; }
  int first(int task) const { return first_[task]; }

  void start(const std::vector<int>& total);  // cases of a node by label
  double value(const std::vector<int>& left);  // of a split that sends these to the left; all below speak of the last one
  double whole(int task) const { return whole_[task]; }   // impurity of the node
  int cases(int task) const { return cases_[task]; }
  double gain(int task) const { return gains_[task]; }
  double source() const { return source_gain_; }         // the second term without its gamma

 private:
  double mass(const std::vector<int>& count, int from, int to, int& n) const;  // n H

  MixedOptions options_;
  std::vector<int> first_;
  std::vector<double> table_;  // k log k
  std::vector<int> total_, right_, cases_;
  std::vector<double> whole_, share_, gains_;
  double all_whole_ = 0, source_gain_ = 0;
  int all_cases_ = 0;
};

// The parts of the score of one split of labelled cases.
struct GainParts {
  double score = 0, target = 0, sum = 0, concat = 0, information = 0;  // information: between task and side, among the sources
  VectorXd tasks;
};
template <class V>
void fields(V& v, GainParts& t) {
  v("score", t.score);
  v("target", t.target);
  v("sum", t.sum);
  v("concat", t.concat);
  v("information", t.information);
  v("tasks", t.tasks);
}
GainParts gain_parts(const VectorXi& label, const VectorXi& side, const VectorXi& labels, const MixedOptions& options);

}  // namespace granary::ensemble
