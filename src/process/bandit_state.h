// A bandit as R holds it between two calls: its model, and the choices made so far with the results that have come.
#pragma once

#include <vector>

#include "core/base/fields.h"
#include "core/linalg/greedy_variance.h"
#include "process/bandit.h"
#include "process/gp.h"

namespace granary::process {

struct BanditModel {
  MatrixView candidates{nullptr, 0, 0};
  KernelSpec kernel;
  double noise_var = 1, prior_mean = 0;
  bool lazy = false;

  Kernel process() const { return Kernel(kernel, candidates.cols()); }
};
template <class V>
void fields(V& v, BanditModel& t) {
  v("candidates", t.candidates);
  v("kernel", t.kernel);
  v("noise_var", t.noise_var);
  v("prior_mean", t.prior_mean);
  v("lazy", t.lazy);
}
inline void check(const BanditModel& t) { require(t.noise_var > 0, "`noise_var` is not positive."); }

struct BanditHistory {
  std::vector<Index> candidate;
  VectorXd y;  // NaN where a result is pending
};
template <class V>
void fields(V& v, BanditHistory& t) {
  v("candidate", positions(t.candidate));
  v("y", any_number(t.y));
}
inline void check(const BanditHistory& t) {
  require(static_cast<Index>(t.candidate.size()) == t.y.size(), "the history has not one result, or NA, per choice.");
}

BanditPosterior bandit_posterior(const BanditModel& model, const BanditHistory& history);

struct BanditSummary {
  VectorXd mean, variance_seen, variance_all;
  double information = 0;  // of the pending results
};
template <class V>
void fields(V& v, BanditSummary& t) {
  v("mean", t.mean);
  v("variance_seen", t.variance_seen);
  v("variance_all", t.variance_all);
  v("information", t.information);
}
BanditSummary bandit_summary(const BanditModel& model, const BanditHistory& history);

// `options.single`: at most one pick, for results that come with a delay.
std::vector<BanditPick> bandit_suggest(const BanditModel& model, const BanditHistory& history, const BanditOptions& options, Rng& rng,
                                       Monitor& monitor);

struct BanditSimulation {
  int delay = 0, rounds = 40, most = 10000, runs = 1, threads = 1;
  MatrixView f{nullptr, 0, 0};  // the true rewards, one column for all runs or one for each; none: each run draws its own
};
template <class V>
void fields(V& v, BanditSimulation& t) {
  v("delay", t.delay);
  v("n_rounds", t.rounds);
  v("max_choices", t.most);
  v("nsim", t.runs);
  v("threads", t.threads);
  v("f", t.f);
}
// One column per run; what a shorter run did not choose is missing.
struct BanditRuns {
  Eigen::MatrixXi choice, round;  // from 1
  MatrixXd regret, reward;
  VectorXd solves;
};
template <class V>
void fields(V& v, BanditRuns& t) {
  v("choice", t.choice);
  v("round", t.round);
  v("regret", t.regret);
  v("reward", t.reward);
  v("solves", t.solves);
}
BanditRuns bandit_simulate(const BanditModel& model, const BanditOptions& options, const BanditSimulation& simulation, const Rng& rng,
                           Monitor& monitor);

// The greedy choice by information, candidates repeated where that pays.
struct GreedyInformation {
  std::vector<Index> picks;
  VectorXd gains;  // 1/2 log(1 + v / noise) of each pick
};
template <class V>
void fields(V& v, GreedyInformation& t) {
  v("picks", positions(t.picks));
  v("gains", t.gains);
}
GreedyInformation greedy_information(ConstMatrixRef k, double noise, Index size, Monitor& monitor);
GreedyInformation greedy_information(const BanditModel& model, Index size, Monitor& monitor);

// The first uncertainty-sampled points after which no batch of `batch` can gain more than `limit`; InputError when 16384 are not
// enough.
std::vector<Index> bandit_initial_set(const BanditModel& model, Index batch, double limit, Monitor& monitor);

struct BanditRefit {
  VectorXd log_parameters;  // of the kernel, then of the noise
  double loglik = 0;
  std::vector<Index> on_bound;
  Convergence convergence;
};
template <class V>
void fields(V& v, BanditRefit& t) {
  v("log_parameters", t.log_parameters);
  v("loglik", t.loglik);
  v("on_bound", positions(t.on_bound));
  v("convergence", t.convergence);
}
// Kernel parameters and noise by maximum likelihood on the results, between bounds of their logarithms; starts are where they
// stand and within a factor of 20 of that.
BanditRefit bandit_refit(const BanditModel& model, const BanditHistory& history, ConstVectorRef lower, ConstVectorRef upper,
                         Monitor& monitor);

}  // namespace granary::process
