// SBSB and SASB: the symmetric Bayesian and apobayesian algorithms with a singly-variant prior for Bernoulli distributions; and
// weighted majority, which keeps the same counts.
//
// Attributes x_i and the label y are 0/1. The prior of SBSB: one attribute, each with the same chance, equals the label with a
// probability that is uniform on (0, 1); the others are fair coins; the probability of label 1 is uniform. With t trials counted,
// M of them with label 1, and s_i of the t_i trials in which attribute i was seen having x_i = y:
//
//   pi_i prop. to 2^t_i / ((t_i + 1) C(t_i, s_i)),   q_i = (s_i + 1) / (t_i + 2),   m = (M + 1) / (t + 2)
//   Q(x) = sum_i pi_i [x_i q_i + (1 - x_i)(1 - q_i)]        (1/2 in the brackets where x_i is missing)
//   P(y = 1 | x) = m Q / (m Q + (1 - m)(1 - Q)),   predict 1 iff m + Q > 1
//
// (Littlestone and Mesterharm, NIPS 9, 1996; without missing values all t_i = t and pi_i prop. to 1 / C(t, s_i) as printed.) SBSB
// counts every trial, SASB only those in which it errs. Weighted majority (Littlestone and Warmuth 1994) predicts by the vote of
// attributes and complements with weights beta^errors, their errors being t_i - s_i and s_i:
// 1 iff sum_i (2 x_i - 1)(beta^(t_i - s_i) - beta^s_i) > 0.
//
// All three are linear thresholds c_0 + sum_i c_i x_i > 0 in which c_i depends on i through its counts only, so attributes with
// equal counts share a coefficient: s_i = (t - M) + d_i, where only attributes that are 1 change d_i. With a histogram of d a
// trial costs as much as it has ones, and a change one pass over the distinct counts; 10^6 sparse attributes are no trouble.
#pragma once

#include <cmath>
#include <deque>
#include <vector>

#include "kernel/online.h"
#include "kernel/sparse_rows.h"

namespace granary::kernel {

enum class CountRule { sasb, majority };
inline Names<CountRule> names(CountRule) { return {{CountRule::sasb, "sasb"}, {CountRule::majority, "majority"}}; }
enum class CountScore { score, vote, probability };
inline Names<CountScore> names(CountScore) {
  return {{CountScore::score, "score"}, {CountScore::vote, "vote"}, {CountScore::probability, "probability"}};
}

struct CountOptions {
  CountRule rule = CountRule::sasb;
  bool mistake_driven = true;
  double beta = 0.5;  // of weighted majority
  Index voters = 1;   // V: predict by the last V hypotheses, each with one vote plus one for every trial it survived
};
template <class V>
void fields(V& v, CountOptions& t) {
  v("rule", t.rule);
  v("mistake_driven", t.mistake_driven);
  v("beta", t.beta);
  v("voters", t.voters);
}

struct CountState {
  VectorXd excess;  // d_i = s_i - (t - M)
  VectorXd unseen;  // t - t_i; empty while nothing was missing
  double t = 0, ones = 0;
  bool grouped = true;  // whether counts are still few enough to be grouped
  MatrixXd past;        // past hypotheses c_0, c_1, ..., one column each
  VectorXd past_votes;
  double votes = 1;  // of the current one
};
template <class V>
void fields(V& v, CountState& t) {
  v("excess", t.excess);
  v("unseen", t.unseen);
  v("t", t.t);
  v("ones", t.ones);
  v("grouped", t.grouped);
  v("past", t.past);
  v("past_votes", t.past_votes);
  v("votes", t.votes);
}
inline void check(const CountState& s) {
  require(s.unseen.size() == 0 || s.unseen.size() == s.excess.size(), "`unseen` has the wrong length.");
  require(s.past.cols() == s.past_votes.size() && (s.past.cols() == 0 || s.past.rows() == s.excess.size() + 1),
          "`past` has the wrong size.");
  require(s.t >= 0 && s.ones >= 0 && s.ones <= s.t && s.t == std::floor(s.t), "the counts are no counts.");
  // Matches of an attribute are between none and all trials in which it was seen.
  for (Index i = 0; i < s.excess.size(); ++i) {
    const double matches = s.t - s.ones + s.excess[i], unseen = s.unseen.size() > 0 ? s.unseen[i] : 0;
    require(matches >= 0 && unseen >= 0 && matches <= s.t && s.excess[i] == std::floor(s.excess[i]), "the counts are no counts.");
  }
}

// What a learner knows of the attributes.
struct CountDescription {
  VectorXd matches, seen, weights, coefficients;
};
template <class V>
void fields(V& v, CountDescription& t) {
  v("matches", t.matches);
  v("seen", t.seen);
  v("weights", t.weights);
  v("coefficients", t.coefficients);
}

class CountLearner {
 public:
  // `rows` must outlive the learner and be binary.
  CountLearner(const SparseRows& rows, const CountOptions& options, const CountState& state);

  Trial learn(Index row, int label, double id);
  double score(Index row);        // c_0 + sum_i c_i x_i: m + Q - 1, or the share of the weight for 1 minus that for 0
  double vote(Index row);         // share of the hypotheses' votes for 1 minus that for 0
  double probability(Index row);  // P(y = 1 | x), for sasb
  VectorXd scores(CountScore kind) {
    return score_rows(rows_.rows(), [&](Index i) {
      return kind == CountScore::probability ? probability(i) : kind == CountScore::vote ? vote(i) : score(i);
    });
  }
  CountDescription describe() { return {matches(), seen(), posterior(), coefficients()}; }
  Index support() const { return static_cast<Index>(t_); }
  CountState state() const;
  VectorXd matches() const;  // s_i
  VectorXd seen() const;     // t_i
  VectorXd posterior();      // pi_i, for sasb
  VectorXd coefficients();   // c_0, c_1, ...
  static bool says_one(double score) {
    return score > 1e-12;
  }  // ties are frequent, by symmetry, and rounding must not decide them

 private:
  struct Piece {
    double weight, slope,
        floor;  // pi_i (or the pair's weight), c_i, and what c_0 gets from i; all up to the scale of the largest weight
  };

  void prepare();
  Piece piece(double s, double seen, double top) const;
  double log_weight(double s, double seen) const;
  double log_factorial(double k) const;
  void count(const SparseRows::Row& row, bool one);
  void shift(Index i, double by);
  void build_groups();
  double seen_of(Index i) const { return unseen_.size() == 0 ? t_ : t_ - unseen_[i]; }
  double matches_of(Index i) const { return t_ - ones_ + excess_[i]; }
  double slope_of(Index i) const { return slope_[grouped_ ? static_cast<Index>(excess_[i]) - low_ : i]; }
  template <class Slope>
  static double linear(const SparseRows::Row& row, double intercept, Slope&& slope);

  const SparseRows& rows_;
  CountOptions options_;
  Index n_;
  VectorXd excess_, unseen_;
  double t_, ones_;
  bool grouped_;
  std::vector<Index> histogram_;  // of excess: how many attributes have low_ + k
  Index low_ = 0;
  bool prepared_ = false;  // whether what follows belongs to the counts
  double intercept_ = 0, label_rate_ = 0.5, total_ = 0, top_ = 0;
  std::vector<double> slope_;  // by group, else by attribute
  mutable std::vector<double> log_factorials_;
  std::deque<VectorXd> past_;
  std::deque<double> past_votes_;
  double votes_;
};

}  // namespace granary::kernel
