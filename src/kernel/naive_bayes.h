// Naive Bayes over 0/1 attributes, one example at a time: attributes are independent within a class, with probabilities that are
// uniform a priori.
//
//   score_y = log (N_y + 1)/(N + k) + sum_i [x_i log (c_yi + 1)/(n_yi + 2) + (1 - x_i) log (n_yi - c_yi + 1)/(n_yi + 2)]
//
// N_y examples of class y counted, attribute i seen in n_yi of them and one in c_yi; missing attributes are left out of the sum.
// The mistake-driven version counts an example only when it was predicted wrongly.
#pragma once

#include <vector>

#include "kernel/online.h"
#include "kernel/sparse_rows.h"

namespace granary::kernel {

struct NaiveBayesState {
  MatrixXd ones;     // c: classes x attributes
  MatrixXd unseen;   // N_y - n_yi; empty while nothing was missing
  VectorXd counted;  // N_y
};
template <class V>
void fields(V& v, NaiveBayesState& t) {
  v("ones", t.ones);
  v("unseen", t.unseen);
  v("counted", t.counted);
}
inline void check(const NaiveBayesState& s) {
  require(s.ones.rows() == s.counted.size(), "`ones` and `counted` differ in their number of classes.");
  require(s.unseen.size() == 0 || (s.unseen.rows() == s.ones.rows() && s.unseen.cols() == s.ones.cols()),
          "`unseen` has the wrong size.");
  for (Index y = 0; y < s.counted.size(); ++y) {
    const double most = s.ones.cols() > 0 ? s.ones.row(y).maxCoeff() : 0, least = s.ones.cols() > 0 ? s.ones.row(y).minCoeff() : 0;
    require(least >= 0 && most <= s.counted[y] && s.counted[y] < 1e9, "the counts are no counts.");
  }
}

struct NaiveBayesOptions {
  Index classes = 2;
  bool mistake_driven = false;
};
template <class V>
void fields(V& v, NaiveBayesOptions& t) {
  v("classes", t.classes);
  v("mistake_driven", t.mistake_driven);
}

class NaiveBayes {
 public:
  NaiveBayes(const SparseRows& rows, Index classes, bool mistake_driven, NaiveBayesState state);

  VectorXd score(Index row) const;
  MatrixXd scores() const {  // a row for each row, a column for each class
    MatrixXd out(rows_.rows(), state_.counted.size());
    for (Index i = 0; i < out.rows(); ++i) out.row(i) = score(i).transpose();
    return out;
  }
  Trial learn(Index row, int label, double id);
  Index support() const { return static_cast<Index>(state_.counted.sum()); }
  const NaiveBayesState& state() const { return state_; }

 private:
  void prepare(Index y);

  const SparseRows& rows_;
  bool mistake_driven_;
  NaiveBayesState state_;
  MatrixXd log_one_, log_zero_;
  std::vector<double> log_;  // of 0, 1, 2, ...
  VectorXd all_zero_;        // sum of log_zero_ over attributes
};

}  // namespace granary::kernel
