// Which candidates to try next when several trials run at once or results come late, rewards maximised.
//
//   ucb          argmax mu + sqrt(beta) sd, one at a time (Srinivas et al. 2010)
//   bucb         argmax mu_seen + sqrt(beta) sd_all, B at a time: GP-BUCB
//   aucb         the same; a batch closes once the information hallucinated in it reaches C,
//                G = sum 1/2 log(1 + sd_all^2 / noise)
//   aucb_local   ... once some candidate's sd_seen / sd_all exceeds exp(C)
//   uncertainty  argmax sd_all
//   sm_ucb,      simulation matching (Azimi, Fern and Fern 2010): sequential policies on simulated outcomes, then the B points
//   sm_ei        that represent where they went
//   hbbo,        expected improvement, or the rule of ucb, with the mean in place of pending results, until what those could
//   hbbo_ucb     still change exceeds a limit (Azimi, Jalali and Fern 2012)
//   ei           expected improvement, B at a time in the same way, without the limit
//   repeat, top  the first choice of ucb B times; the B largest bounds without an update: baselines
//
// Desautels, Krause and Burdick, JMLR 15 (2014). G has the factor 1/2 that the paper's Equation 3 lost.
#pragma once

#include <string>
#include <vector>

#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "core/random/rng.h"
#include "process/bandit_posterior.h"

namespace granary::process {

enum class BanditStrategy { ucb, bucb, aucb, aucb_local, uncertainty, sm_ucb, sm_ei, hbbo, hbbo_ucb, ei, repeat, top };
inline Names<BanditStrategy> names(BanditStrategy) {
  return {{BanditStrategy::bucb, "bucb"},         {BanditStrategy::aucb, "aucb"},       {BanditStrategy::aucb_local, "aucb_local"},
          {BanditStrategy::ucb, "ucb"},           {BanditStrategy::uncertainty, "uncertainty"},
          {BanditStrategy::sm_ucb, "sm_ucb"},     {BanditStrategy::sm_ei, "sm_ei"},     {BanditStrategy::hbbo, "hbbo"},
          {BanditStrategy::hbbo_ucb, "hbbo_ucb"}, {BanditStrategy::ei, "ei"},           {BanditStrategy::repeat, "repeat"},
          {BanditStrategy::top, "top"}};
}

struct BanditOptions {
  BanditStrategy strategy = BanditStrategy::bucb;
  Index batch = 5;              // B; the largest batch of the adaptive strategies
  double limit = 0;             // C of aucb and aucb_local
  Index least = 1;              // smallest batch of aucb: it does not close before
  VectorXd beta;                // beta as a function of the number of results plus one; the last entry holds beyond
  bool beta_by_choice = false;  // ... of the number of choices plus one instead
  double effect = 0.02;         // limit of hbbo
  int paths = 10;               // of simulation matching
  bool single = false;          // one pick at a time, for results that come with a delay
};
template <class V>
void fields(V& v, BanditOptions& t) {
  v("strategy", t.strategy);
  v("batch_size", t.batch);
  v("limit", any_number(t.limit));
  v("b_min", t.least);
  v("beta", any_number(t.beta));
  v("by_choice", t.beta_by_choice);
  v("effect", any_number(t.effect));
  v("paths", t.paths);
  v("single", t.single);
}

struct BanditPick {
  Index candidate;
  double mean, sd, bound, information;  // as they were when it was picked; information of its batch so far, this pick included
};
template <class V>
void fields(V& v, BanditPick& t) {
  v("candidate", positions(t.candidate));
  v("mean", t.mean);
  v("sd", t.sd);
  v("bound", t.bound);
  v("information", t.information);
}

// Picks until the batch is full or closes, and has the posterior count them as pending. Pending choices made before belong to the
// batch. Empty where a full or closed batch waits for its results.
std::vector<BanditPick> next_batch(BanditPosterior& posterior, const BanditOptions& options, Rng& rng, Monitor& monitor);

// At most one pick, for results that come with a delay: none where the strategy balks.
std::vector<BanditPick> next_pick(BanditPosterior& posterior, const BanditOptions& options, Rng& rng, Monitor& monitor);

struct BanditRun {
  std::vector<Index> choices;
  std::vector<Index> rounds;  // in which each was made, from 0
  VectorXd rewards;           // results
  long solves = 0;
};

// `rounds` opportunities to act; with batches results of a round come before the next one, with a delay of B a result comes
// before the B-th round after its choice. At most `most` choices.
BanditRun simulate_bandit(const Kernel& kernel, ConstMatrixRef candidates, ConstVectorRef f, double noise, double prior_mean,
                          bool lazy, const BanditOptions& options, Index delay, Index rounds, Index most, Rng rng,
                          Monitor& monitor);

struct InformationSets {
  std::vector<Index> a, given;
};
template <class V>
void fields(V& v, InformationSets& t) {
  v("A", positions(t.a));
  v("given", positions(t.given));
}
// I(f; y_A | y_S) = 1/2 log|I + K_A|S / noise|; candidates may be repeated.
double information_gain(ConstMatrixRef k, double noise, const std::vector<Index>& a, const std::vector<Index>& given);

// max over sets of `size` candidates, repetitions allowed, by trying all; InputError when there are more than 1e7.
struct BestInformation {
  double value = 0;
  std::vector<Index> set;
};
template <class V>
void fields(V& v, BestInformation& t) {
  v("value", t.value);
  v("set", positions(t.set));
}
BestInformation best_information(ConstMatrixRef k, double noise, Index size, Monitor& monitor);

}  // namespace granary::process
