// The loop every online classifier runs in: predict an example, be told its class, learn, note what happened.
#pragma once

#include <vector>

#include "core/base/errors.h"
#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary::kernel {

// What one example did.
struct Trial {
  bool wrong = false;    // the prediction before learning
  bool changed = false;  // the state
};

// What a run did, one entry per example in the order visited.
struct OnlineRun {
  std::vector<char> wrong, changed;
  std::vector<int> support;
};

// What comes with the rows of a piece of a stream.
struct OnlinePiece {
  std::vector<int> label;  // of each row, from 0
  std::vector<int> order;  // rows to visit
  VectorXd id;             // number of each of these in the stream
};
template <class V>
void fields(V& v, OnlinePiece& t) {
  v("y", positions(t.label));
  v("order", positions(t.order));
  v("id", t.id);
}

// A run and the state it ended in.
template <class State>
struct OnlineResult {
  State state;
  OnlineRun run;
};
template <class V, class State>
void fields(V& v, OnlineResult<State>& t) {
  v("state", t.state);
  v("wrong", t.run.wrong);
  v("changed", t.run.changed);
  v("support", t.run.support);
}

// Learner: Trial learn(Index row, int label, double id), Index support(). `labels` has one entry per row of the piece, `order`
// the rows to visit, `id` the number of each of these in the stream.
template <class Learner>
OnlineRun run_online(Learner& learner, Index rows, const std::vector<int>& labels, const std::vector<int>& order,
                     ConstVectorRef id, Monitor& monitor) {
  if (static_cast<Index>(labels.size()) != rows) throw InputError("There must be one label per row.");
  if (static_cast<Index>(order.size()) != id.size()) throw InputError("There must be one number per row to visit.");
  OnlineRun run;
  run.wrong.reserve(order.size());
  run.changed.reserve(order.size());
  run.support.reserve(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) {
    const Index row = order[k];
    if (row < 0 || row >= rows) throw InputError("The order visits a row that is not there.");
    if (labels[row] < 0) throw InputError("The order visits a row without a label.");
    const Trial trial = learner.learn(row, labels[row], id[k]);
    run.wrong.push_back(trial.wrong);
    run.changed.push_back(trial.changed);
    run.support.push_back(static_cast<int>(learner.support()));
    if (k % 64 == 0) monitor.progress(static_cast<double>(k) / order.size());
  }
  return run;
}

template <class Learner>
OnlineRun run_online(Learner& learner, Index rows, const OnlinePiece& piece, Monitor& monitor) {
  return run_online(learner, rows, piece.label, piece.order, piece.id, monitor);
}

// score(i) of each row.
template <class Score>
VectorXd score_rows(Index rows, Score&& score) {
  VectorXd out(rows);
  for (Index i = 0; i < rows; ++i) out[i] = score(i);
  return out;
}

}  // namespace granary::kernel
