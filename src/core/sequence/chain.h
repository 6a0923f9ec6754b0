// Label sequences y^1..y^T over K labels with scores that add up along the chain, of first or second order.
//
//   S(y) = sum_t unary(y^t, t) + sum_t pair_t(y^t, y^(t+1)) + sum_t triple(y^t, y^(t+1), y^(t+2))
//
//   viterbi          the k best sequences, O(T K^2 k) or, with triples, O(T K^3 k) (Forney 1973; Schwartz and Chow 1990)
//   viterbi_errors   the best sequence with exactly e labels other than a given one, for e = 0..T: O(T^2 K^2)
//   forward_backward log sum_y exp S(y), and the marginals under P(y) = exp S(y) / sum: what a conditional random field needs
//
// Max-sum and log-sum-exp in doubles, so long chains neither overflow nor underflow; -infinity forbids. Among equal scores the
// lowest label at the last position where two sequences differ comes first.
#pragma once

#include <vector>

#include "core/base/fields.h"
#include "core/base/types.h"

namespace granary {

struct ChainScores {
  MatrixXd unary;              // K x T
  std::vector<double> pair;    // K x K, row = earlier label, column-major; one for all t, or T - 1 of them one after the other
  std::vector<double> triple;  // empty, or K x K x K with the earliest label running fastest

  Index labels() const { return unary.rows(); }
  Index length() const { return unary.cols(); }
  bool second_order() const { return !triple.empty(); }
  // Of the labels at positions t and t + 1.
  const double* pair_at(Index t) const {
    const Index size = labels() * labels();
    return pair.data() + (static_cast<Index>(pair.size()) > size ? t * size : 0);
  }
};

struct ChainPath {
  double score = 0;
  std::vector<int> labels;
};
template <class V>
void fields(V& v, ChainPath& t) {
  v("score", t.score);
  v("labels", positions(t.labels));
}

double chain_score(const ChainScores& scores, const std::vector<int>& labels);

// In decreasing order of score; fewer than k where there are fewer sequences with a score above -infinity.
std::vector<ChainPath> viterbi(const ChainScores& scores, int k = 1);

// Element e: the best sequence that differs from `truth` in e places; no labels where there is none.
std::vector<ChainPath> viterbi_errors(const ChainScores& scores, const std::vector<int>& truth);

struct ChainMarginals {
  double log_partition = 0;
  MatrixXd unary;              // K x T
  std::vector<double> pair;    // K x K x (T - 1), always one per position
  std::vector<double> triple;  // empty, or K x K x K, summed over positions
};

ChainMarginals forward_backward(const ChainScores& scores);

}  // namespace granary
