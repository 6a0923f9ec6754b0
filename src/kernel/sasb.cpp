#include "kernel/sasb.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace granary::kernel {

CountLearner::CountLearner(const SparseRows& rows, const CountOptions& options, const CountState& state)
    : rows_(rows),
      options_(options),
      n_(rows.cols()),
      excess_(state.excess),
      unseen_(state.unseen),
      t_(state.t),
      ones_(state.ones),
      grouped_(state.grouped && state.unseen.size() == 0),
      votes_(state.votes) {
  if (options.voters < 1) throw InputError("`voters` must be at least 1.");
  if (!(options.beta > 0 && options.beta < 1)) throw InputError("`beta` must be between 0 and 1.");
  if (excess_.size() == 0) excess_ = VectorXd::Zero(n_);
  if (excess_.size() != n_ || (unseen_.size() != 0 && unseen_.size() != n_)) {
    throw InputError("The rows do not have the columns of the state.");
  }
  for (Index v = 0; v < state.past.cols(); ++v) {
    past_.push_back(state.past.col(v));
    past_votes_.push_back(state.past_votes[v]);
  }
  if (grouped_) build_groups();
}

void CountLearner::build_groups() {
  low_ = static_cast<Index>(excess_.minCoeff());
  histogram_.assign(static_cast<std::size_t>(excess_.maxCoeff()) - low_ + 1, 0);
  for (Index i = 0; i < n_; ++i) ++histogram_[static_cast<Index>(excess_[i]) - low_];
}

double CountLearner::log_factorial(double k) const {
  constexpr std::size_t limit = 1 << 20;
  if (k >= limit) return std::lgamma(k + 1);
  const auto at = static_cast<std::size_t>(k);
  for (std::size_t j = log_factorials_.size(); j <= at; ++j) log_factorials_.push_back(std::lgamma(static_cast<double>(j) + 1));
  return log_factorials_[at];
}

// The logarithm of what a weight is proportional to: of pi_i; for weighted majority of the larger of the pair.
double CountLearner::log_weight(double s, double seen) const {
  if (options_.rule == CountRule::majority) return std::min(s, seen - s) * std::log(options_.beta);
  const double chosen = log_factorial(s) + log_factorial(seen - s) - log_factorial(seen);
  return unseen_.size() == 0 ? chosen : chosen + seen * std::log(2.0) - std::log(seen + 1);
}

CountLearner::Piece CountLearner::piece(double s, double seen, double top) const {
  if (options_.rule == CountRule::majority) {
    const double scale = std::log(options_.beta);
    const double own = std::exp((seen - s) * scale - top), complement = std::exp(s * scale - top);
    return {own + complement, 2 * (own - complement), complement - own};
  }
  const double weight = std::exp(log_weight(s, seen) - top), q = (s + 1) / (seen + 2);
  return {weight, weight * (2 * q - 1), weight * (1 - q)};
}

void CountLearner::prepare() {
  if (prepared_) return;
  const double base = t_ - ones_;
  const Index groups = grouped_ ? static_cast<Index>(histogram_.size()) : n_;
  const auto many = [&](Index g) { return grouped_ ? static_cast<double>(histogram_[g]) : 1.0; };
  const auto matches = [&](Index g) { return grouped_ ? base + static_cast<double>(low_ + g) : matches_of(g); };
  const auto seen = [&](Index g) { return grouped_ ? t_ : seen_of(g); };
  top_ = -std::numeric_limits<double>::infinity();
  for (Index g = 0; g < groups; ++g) {
    if (many(g) > 0) top_ = std::max(top_, log_weight(matches(g), seen(g)));
  }
  total_ = 0;
  double floor = 0;
  slope_.assign(groups, 0);
  for (Index g = 0; g < groups; ++g) {
    if (many(g) == 0) continue;
    const Piece p = piece(matches(g), seen(g), top_);
    total_ += many(g) * p.weight;
    floor += many(g) * p.floor;
    slope_[g] = p.slope;
  }
  for (double& slope : slope_) slope /= total_;
  label_rate_ = (ones_ + 1) / (t_ + 2);
  intercept_ = floor / total_ + (options_.rule == CountRule::sasb ? label_rate_ - 1 : 0);
  prepared_ = true;
}

// A missing attribute stands half-way between 0 and 1.
template <class Slope>
double CountLearner::linear(const SparseRows::Row& row, double intercept, Slope&& slope) {
  double sum = intercept;
  for (Index k = 0; k < row.size; ++k) sum += slope(row.index[k]);
  for (Index k = 0; k < row.n_missing; ++k) sum += 0.5 * slope(row.missing[k]);
  return sum;
}

double CountLearner::score(Index row) {
  prepare();
  return linear(rows_.row(row), intercept_, [&](Index i) { return slope_of(i); });
}

double CountLearner::probability(Index row) {
  const double q = std::min(1.0, std::max(0.0, score(row) + 1 - label_rate_));
  const double one = label_rate_ * q, zero = (1 - label_rate_) * (1 - q);
  return one / (one + zero);
}

double CountLearner::vote(Index row) {
  const SparseRows::Row r = rows_.row(row);
  double sum = says_one(score(row)) ? votes_ : -votes_, all = votes_;
  for (std::size_t v = 0; v < past_.size(); ++v) {
    const VectorXd& c = past_[v];
    sum += says_one(linear(r, c[0], [&](Index i) { return c[i + 1]; })) ? past_votes_[v] : -past_votes_[v];
    all += past_votes_[v];
  }
  return sum / all;
}

Trial CountLearner::learn(Index row, int label, double /* id */) {
  const bool one = label == 1;
  const bool says = says_one(score(row));
  const bool voted = options_.voters > 1 ? says_one(vote(row)) : says;
  Trial trial{voted != one, says != one || !options_.mistake_driven};
  if (!trial.changed) {
    ++votes_;
    return trial;
  }
  if (options_.voters > 1) {
    past_.push_back(coefficients());
    past_votes_.push_back(votes_);
    if (static_cast<Index>(past_.size()) > options_.voters - 1) {
      past_.pop_front();
      past_votes_.pop_front();
    }
  }
  votes_ = 1;
  count(rows_.row(row), one);
  return trial;
}

// s_i grows where x_i equals the label. With label 1 that is d_i of the ones; with label 0 it is t - M, taken back in d_i of the
// others.
void CountLearner::count(const SparseRows::Row& row, bool one) {
  if (row.n_missing > 0) {
    if (unseen_.size() == 0) unseen_ = VectorXd::Zero(n_);
    if (grouped_) {
      grouped_ = false;
      histogram_.clear();
    }
  }
  t_ += 1;
  if (one) ones_ += 1;
  for (Index k = 0; k < row.size; ++k) shift(row.index[k], one ? 1 : -1);
  for (Index k = 0; k < row.n_missing; ++k) {
    unseen_[row.missing[k]] += 1;
    if (!one) excess_[row.missing[k]] -= 1;
  }
  prepared_ = false;
  if (!grouped_) return;
  while (histogram_.back() == 0) histogram_.pop_back();
  const auto limit = static_cast<std::size_t>(2 * n_ + 64);
  if (histogram_.size() <= limit) return;
  const auto first = std::find_if(histogram_.begin(), histogram_.end(), [](Index many) { return many > 0; });
  if (static_cast<std::size_t>(histogram_.end() - first) > limit) {
    grouped_ = false;
    histogram_.clear();
  }
}

void CountLearner::shift(Index i, double by) {
  if (grouped_) {
    Index at = static_cast<Index>(excess_[i]) - low_;
    --histogram_[at];
    at += static_cast<Index>(by);
    if (at < 0) {
      histogram_.insert(histogram_.begin(), 64, 0);  // room for more of the same
      low_ -= 64;
      at += 64;
    }
    if (at >= static_cast<Index>(histogram_.size())) histogram_.resize(at + 1, 0);
    ++histogram_[at];
  }
  excess_[i] += by;
}

VectorXd CountLearner::matches() const { return excess_.array() + (t_ - ones_); }

VectorXd CountLearner::seen() const { return unseen_.size() == 0 ? VectorXd::Constant(n_, t_) : VectorXd(t_ - unseen_.array()); }

VectorXd CountLearner::posterior() {
  prepare();
  VectorXd pi(n_);
  for (Index i = 0; i < n_; ++i) pi[i] = piece(matches_of(i), seen_of(i), top_).weight / total_;
  return pi;
}

VectorXd CountLearner::coefficients() {
  prepare();
  VectorXd c(n_ + 1);
  c[0] = intercept_;
  for (Index i = 0; i < n_; ++i) c[i + 1] = slope_of(i);
  return c;
}

CountState CountLearner::state() const {
  CountState s;
  s.excess = excess_;
  s.unseen = unseen_;
  s.t = t_;
  s.ones = ones_;
  s.grouped = grouped_;
  s.past.resize(past_.empty() ? 0 : n_ + 1, static_cast<Index>(past_.size()));
  s.past_votes.resize(static_cast<Index>(past_.size()));
  for (std::size_t v = 0; v < past_.size(); ++v) {
    s.past.col(v) = past_[v];
    s.past_votes[v] = past_votes_[v];
  }
  s.votes = votes_;
  return s;
}

}  // namespace granary::kernel
