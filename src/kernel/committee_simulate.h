// Soft committee machines trained by gradient descent, run: the model of committee.h at finite N.
#pragma once

#include "core/base/monitor.h"
#include "core/random/rng.h"
#include "core/base/types.h"
#include "kernel/committee.h"

namespace granary::kernel {

struct CommitteeSimulation {
  Index inputs = 100;     // N
  Index examples = 0;     // p; 0: a new example at every update
  double start = 0.25;    // q0: each weight starts as a normal of this variance
  bool same_set = false;  // all replicates share teacher, examples and start, and differ in the order of the examples only
  int n_rep = 10;
  int threads = 1;
};
template <class V>
void fields(V& v, CommitteeSimulation& t) {
  v("N", t.inputs);
  v("p", t.examples);
  v("q0", t.start);
  v("same_set", t.same_set);
  v("n_rep", t.n_rep);
  v("threads", t.threads);
}

// Times in rows, replicates in columns; Q and R are stacked by columns in the rows.
struct CommitteeRuns {
  MatrixXd test, train;        // train is empty without a training set
  std::vector<MatrixXd> q, r;  // per replicate, entries x times
  MatrixXd kurtosis;           // L x replicates: excess kurtosis of each unit's activation over the training set at the end
  VectorXd activations;        // of the first unit of the first replicate at the end, over the training set

  static MatrixXd mean(const std::vector<MatrixXd>& parts) {
    MatrixXd sum = MatrixXd::Zero(parts[0].rows(), parts[0].cols());
    for (const MatrixXd& part : parts) sum += part / static_cast<double>(parts.size());
    return sum;
  }
};
template <class V>
void fields(V& v, CommitteeRuns& t) {  // Q and R as means over the replicates
  v("test", t.test);
  v("train", t.train);
  v("q", CommitteeRuns::mean(t.q));
  v("r", CommitteeRuns::mean(t.r));
  v("kurtosis", t.kurtosis);
  v("activations", t.activations);
}
CommitteeRuns simulate_committee(const CommitteeModel& model, const CommitteeSimulation& setting, ConstVectorRef times,
                                 Index replicates, const Rng& rng, int threads, Monitor& monitor);

}  // namespace granary::kernel
