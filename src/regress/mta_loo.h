// What it costs to use an estimator of many means: risk on samples that were left out.
//
//   leave-one-out risk   sum_t (1/N_t) sum_i (y_ti - yhat_t without y_ti)^2                                                (23)
//
// A deletion changes one mean and, with pooled variances, all s_t by one factor. What the estimators need of the other tasks are
// a few sums and, for MTA, counts and sums of means by distinct s_t / sigma^2 (pooled: distinct N_t), so a deletion costs O(K)
// for K distinct values and never more than O(T).
//
// Feldman, Gupta and Frigyik (JMLR 2014), sections 5 and 6.
#pragma once

#include <functional>
#include <vector>

#include "core/random/rng.h"
#include "regress/mta.h"

namespace granary::regress {

enum class Noise { pooled, own, given };
inline Names<Noise> names(Noise) { return {{Noise::pooled, "pooled"}, {Noise::own, "own"}, {Noise::given, "given"}}; }

// along: MTA with given similarities, or pairwise ones where none are given.
enum class Estimator { single, pooled, average, james_stein, james_stein_effective, shrink_average, constant, minimax, along };
inline Names<Estimator> names(Estimator) {
  return {{Estimator::single, "single"},
          {Estimator::pooled, "pooled"},
          {Estimator::average, "average"},
          {Estimator::james_stein, "james_stein"},
          {Estimator::james_stein_effective, "james_stein_effective"},
          {Estimator::shrink_average, "shrink_average"},
          {Estimator::constant, "constant"},
          {Estimator::minimax, "minimax"},
          {Estimator::along, "along"}};
}
bool has_grid(Estimator e);  // takes gamma: MTA, and lambda = gamma / (1 + gamma) for shrink_average

// Samples in the order of their tasks: those of task t are values[start[t]] .. values[start[t + 1] - 1].
struct Samples {
  std::vector<double> values;
  std::vector<Index> start;
  VectorXd sigma2;  // Noise::given: one per task

  Index tasks() const { return static_cast<Index>(start.size()) - 1; }
  Index size_of(Index t) const { return start[t + 1] - start[t]; }
};
Samples sort_samples(ConstVectorRef y, ConstCodesRef task, Index tasks, ConstVectorRef sigma2);

// Everything the estimators need to know of all tasks, ready for the replacement of one of them.
class MeansSummary {
 public:
  MeansSummary(const Samples& samples, Noise noise);

  struct Replaced {  // all tasks, one of them changed
    Index task = 0;
    double n = 0, mean = 0, scale = 0;  // of the changed task; s = sigma2 scale
    double sigma2 = 0;                  // common factor of all s
    double average = 0, pooled = 0, variance = 0, range = 0;
    double quadratic = 0;  // (ybar - average)' Sigma^-1 (ybar - average)
    double effective = 0;  // tr(Sigma) / max(s)
  };
  // Task t without the sample y. Means are relative to origin().
  Replaced without(Index t, double y) const;
  bool can_lose(Index t) const { return moments_.n[t] >= (noise_ == Noise::own ? 3 : 2); }

  double estimate(const Replaced& r, Estimator e, double gamma) const;  // of the changed task, relative to origin()
  double origin() const { return origin_; }
  Index tasks() const { return moments_.n.size(); }
  double count(Index t) const { return moments_.n[t]; }

 private:
  struct Class {
    double scale, count, sum;
  };
  double common_target(const Replaced& r, double tau2) const;

  Noise noise_;
  TaskMoments moments_;  // means relative to origin_
  VectorXd scale_, given_;
  double origin_ = 0, total_ss_ = 0, df_ = 0, total_n_ = 0, total_sum_ = 0;
  double sum_ = 0, sum2_ = 0;                    // of the means
  double low_[2], high_[2], wide_[2];            // two smallest and largest means, two largest scales
  double precision_[3] = {0, 0, 0}, trace_ = 0;  // sums of mean^k / scale; of scale
  Index exact_ = 0;                              // tasks with scale 0
  std::vector<Class> classes_;
  std::vector<int> class_of_;
};

struct LooResult {
  VectorXd risk;       // one per gamma; one number where the estimator has none
  Index left_out = 0;  // samples
  Index skipped = 0;   // tasks too small to lose one
};
template <class V>
void fields(V& v, LooResult& t) {
  v("risk", t.risk);
  v("left_out", t.left_out);
  v("skipped", t.skipped);
}
LooResult loo_risk(const Samples& samples, Noise noise, Estimator e, ConstVectorRef gamma, Monitor& monitor);

// Every sample is left out; gamma is chosen by leave-one-out among the others, from `tune_tasks` random tasks where there are
// more.
struct DoubleLooResult {
  double risk = 0;
  VectorXd chosen;  // gamma of each sample left out
};
template <class V>
void fields(V& v, DoubleLooResult& t) {
  v("risk", t.risk);
  v("chosen", t.chosen);
}
DoubleLooResult double_loo_risk(const Samples& samples, Noise noise, Estimator e, ConstVectorRef gamma, Index tune_tasks,
                                const Rng& rng, int threads, Monitor& monitor);

// MTA with a given full similarity, or, where `a` is empty, with A_rs = 2 / (ybar_r - ybar_s)^2: O(T^3) per deletion.
LooResult along_loo_risk(const Samples& samples, Noise noise, ConstMatrixRef a, ConstVectorRef gamma, Monitor& monitor);

// Estimates of all means from sample means and their variances, for one gamma.
using MeansEstimate = std::function<VectorXd(const VectorXd& mean, const VectorXd& s, double gamma)>;
MeansEstimate common_estimate(Estimator e);                        // shrink_average, constant or minimax
MeansEstimate along_estimate(ConstMatrixRef a, Monitor& monitor);  // given similarities; pairwise where empty
MeansEstimate along_estimate(const ConstSparseMap& a, Monitor& monitor);

// Half of every task's samples at random, `splits` times: sum_t (yhat_t - ybar_t)^2 against the means of all samples, averaged.
VectorXd split_risk(const Samples& samples, Noise noise, const MeansEstimate& estimate, ConstVectorRef gamma, int splits,
                    const Rng& rng, Monitor& monitor);

// The same from data as they come, by any estimator.
struct RiskData {
  VectorView y{nullptr, 0};
  VectorXi task;  // from 0
  Index tasks = 0;
  VectorXd sigma2;    // Noise::given: one per task
  Design similarity;  // Estimator::along
  Noise noise = Noise::pooled;
};
template <class V>
void fields(V& v, RiskData& t) {
  v("y", t.y);
  v("task", positions(t.task));
  v("tasks", t.tasks);
  v("noise_var", t.sigma2);
  v("similarity", t.similarity);
  v("noise", t.noise);
}
struct RiskOptions {
  Estimator estimator = Estimator::constant;
  VectorXd gamma = VectorXd::Ones(1);
  Index tune_tasks = 0;
  int splits = 1;
  int threads = 1;
};
template <class V>
void fields(V& v, RiskOptions& t) {
  v("estimator", t.estimator);
  v("gamma", t.gamma);
  v("tune_tasks", t.tune_tasks);
  v("splits", t.splits);
  v("threads", t.threads);
}
LooResult loo_risk(const RiskData& data, const RiskOptions& options, Monitor& monitor);
DoubleLooResult double_loo_risk(const RiskData& data, const RiskOptions& options, const Rng& rng, Monitor& monitor);
VectorXd split_risk(const RiskData& data, const RiskOptions& options, const Rng& rng, Monitor& monitor);

}  // namespace granary::regress
