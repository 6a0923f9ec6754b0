#include "kernel/naive_bayes.h"

#include <cmath>
#include <utility>

namespace granary::kernel {

NaiveBayes::NaiveBayes(const SparseRows& rows, Index classes, bool mistake_driven, NaiveBayesState state)
    : rows_(rows), mistake_driven_(mistake_driven), state_(std::move(state)) {
  const Index n = rows.cols();
  if (state_.counted.size() == 0) {
    state_.ones = MatrixXd::Zero(classes, n);
    state_.counted = VectorXd::Zero(classes);
  }
  if (state_.ones.cols() != n || state_.ones.rows() != classes)
    throw InputError("The rows do not have the columns of the state.");
  log_one_.resize(classes, n);
  log_zero_.resize(classes, n);
  all_zero_.resize(classes);
  for (Index y = 0; y < classes; ++y) prepare(y);
}

// Counts are whole, so the logarithms come from a table.
void NaiveBayes::prepare(Index y) {
  const auto need = static_cast<std::size_t>(state_.counted[y]) + 3;
  for (std::size_t k = log_.size(); k < need; ++k) log_.push_back(std::log(static_cast<double>(k)));
  const bool gaps = state_.unseen.size() > 0;
  double sum = 0;
  for (Index i = 0; i < state_.ones.cols(); ++i) {
    const auto seen = static_cast<std::size_t>(state_.counted[y] - (gaps ? state_.unseen(y, i) : 0));
    const auto c = static_cast<std::size_t>(state_.ones(y, i));
    log_one_(y, i) = log_[c + 1] - log_[seen + 2];
    log_zero_(y, i) = log_[seen - c + 1] - log_[seen + 2];
    sum += log_zero_(y, i);
  }
  all_zero_[y] = sum;
}

VectorXd NaiveBayes::score(Index row) const {
  const SparseRows::Row r = rows_.row(row);
  VectorXd s =
      all_zero_.array() + ((state_.counted.array() + 1) / (state_.counted.sum() + static_cast<double>(all_zero_.size()))).log();
  for (Index k = 0; k < r.size; ++k) s += log_one_.col(r.index[k]) - log_zero_.col(r.index[k]);
  for (Index k = 0; k < r.n_missing; ++k) s -= log_zero_.col(r.missing[k]);
  return s;
}

Trial NaiveBayes::learn(Index row, int label, double /* id */) {
  const VectorXd s = score(row);
  Index best = 0;
  for (Index y = 1; y < s.size(); ++y) {
    if (s[y] > s[best] + 1e-12) best = y;  // ties go to the first class
  }
  Trial trial{best != label, best != label || !mistake_driven_};
  if (!trial.changed) return trial;
  const SparseRows::Row r = rows_.row(row);
  if (r.n_missing > 0 && state_.unseen.size() == 0) state_.unseen = MatrixXd::Zero(state_.ones.rows(), state_.ones.cols());
  state_.counted[label] += 1;
  for (Index k = 0; k < r.size; ++k) state_.ones(label, r.index[k]) += 1;
  for (Index k = 0; k < r.n_missing; ++k) state_.unseen(label, r.missing[k]) += 1;
  prepare(label);
  return trial;
}

}  // namespace granary::kernel
