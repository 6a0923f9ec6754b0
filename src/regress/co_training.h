// Co-training and self-training: classifiers that label rows for each other, or one for itself.
//
//   repeat: fill a pool of unlabelled rows at random; every classifier picks `add` rows of it: a class is drawn with the shares
//   of the labelled rows, then the row most confidently given to that class; they join the labelled rows; train again.
//
// Blum and Mitchell (COLT 1998) as Ando and Zhang (JMLR 6, 2005), Section 5.2.5, use it. A classifier sees the columns of its
// view; one view with all columns is self-training.
#pragma once

#include "core/random/rng.h"
#include "regress/aso.h"

namespace granary::regress {

struct CoTrainingData {
  Design labelled, unlabelled;
  std::vector<int> classes;              // of the labelled rows, from 0
  std::vector<std::vector<char>> views;  // which columns
};
template <class V>
void fields(V& v, CoTrainingData& t) {
  v("labelled", t.labelled);
  v("unlabelled", t.unlabelled);
  v("classes", positions(t.classes));
  v("views", t.views);
}

struct CoTrainingOptions {
  int pool = 10000, add = 1000, max_rounds = 50;
  double lambda = 1e-4;
  TaskLoss loss = TaskLoss::huber;
  bool normalize = true;  // rows of every view to unit length
  int threads = 1;
};
template <class V>
void fields(V& v, CoTrainingOptions& t) {
  v("pool", t.pool);
  v("add", t.add);
  v("max_rounds", t.max_rounds);
  v("lambda", t.lambda);
  v("loss", t.loss);
  v("normalize", t.normalize);
  v("threads", t.threads);
}

struct CoTrainingResult {
  std::vector<AsoResult> fits;      // one per view, one task per class (of two classes: for the second)
  std::vector<int> counts;          // labelled rows before and after each round
  std::vector<Index> rows;          // unlabelled rows in the order they were taken
  std::vector<int> classes;         // what they were taken for, from 0
  Convergence convergence;
};
template <class V>
void fields(V& v, CoTrainingResult& t) {
  v("fits", t.fits);
  v("counts", t.counts);
  v("rows", positions(t.rows));
  v("classes", positions(t.classes));
  v("convergence", t.convergence);
}

CoTrainingResult co_training(const CoTrainingData& data, const CoTrainingOptions& options, Rng rng, Monitor& monitor);

}  // namespace granary::regress
