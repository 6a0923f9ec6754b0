// What a tree asks of a node. A score keeps sums over the rows left and right of a split, told row by row or in lots, and values the split. All of them are functions of
// additive statistics of the rows, `width()` numbers each:
//
//   SquareScore   (w, w y)              sum_side (sum w y)^2 / (sum w + ridge): least squares, and Newton steps with w = curvature, w y = -gradient
//   GiniScore     w by class            sum_side sum_c W_c^2 / W
//   EntropyScore  w by class            sum_side sum_c W_c log(W_c / W)
//   CostScore     costs by class        - sum_side min_c C_c: each side answers with its cheapest class
//   PairScore     C_1 - C_0             the same for two classes in one number: sum_side |C_1 - C_0| / 2
//   SetScore      costs by class        - sum_side sum_c min(C_c, 0): each side answers with all classes that cost less than nothing
//
// What is given must outlive the score. value() minus the value of the whole node is the gain of a split.
// `scale()`, the value of a perfect tree less that of the root, says which gains are rounding.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/base/types.h"

namespace granary {

class SquareScore {
 public:
  SquareScore(const VectorXd& weight, const VectorXd& target, double ridge = 0) : w_(weight.data()), y_(target.data()), ridge_(ridge) {}
  Index width() const { return 2; }
  Index outputs() const { return 1; }
  void add(double* stat, Index row) const {
    stat[0] += w_[row];
    stat[1] += w_[row] * y_[row];
  }
  void start(const double* total) {
    w_all_ = total[0];
    g_all_ = total[1];
    clear();
  }
  void clear() { w_left_ = g_left_ = 0; }
  void move(Index row) {
    const double w = w_[row], g = w * y_[row];
    w_left_ += w;
    g_left_ += g;
  }
  void move(const double* stat) {
    w_left_ += stat[0];
    g_left_ += stat[1];
  }
  double whole() const { return square(g_all_, w_all_); }
  double value() const { return square(g_left_, w_left_) + square(g_all_ - g_left_, w_all_ - w_left_); }
  double scale(const std::vector<std::uint32_t>& rows) const {
    double sum = 0;
    for (std::uint32_t i : rows) sum += w_[i] * y_[i] * y_[i];
    return sum;
  }
  double order_key(const double* stat) const { return stat[0] > 0 ? stat[1] / stat[0] : 0; }
  void leaf(const double* total, double* out) const { out[0] = total[0] + ridge_ > 0 ? total[1] / (total[0] + ridge_) : 0; }

 private:
  double square(double g, double w) const { return w + ridge_ > 0 ? g * g / (w + ridge_) : 0; }
  const double* w_;
  const double* y_;
  double ridge_;
  double w_all_ = 0, g_all_ = 0, w_left_ = 0, g_left_ = 0;
};

// Weights by class. Concentration(W) of a side is updated class by class, so that a row costs O(1) and a split too.
class ClassScore {
 public:
  ClassScore(const VectorXd& weight, const VectorXi& y, Index classes) : w_(weight.data()), y_(y.data()), k_(classes), left_(classes), all_(classes) {}
  Index width() const { return k_; }
  Index outputs() const { return k_; }
  void add(double* stat, Index row) const { stat[y_[row]] += w_[row]; }
  void leaf(const double* total, double* out) const {
    const double sum = sum_of(total);
    for (Index c = 0; c < k_; ++c) out[c] = sum > 0 ? total[c] / sum : 1.0 / static_cast<double>(k_);
  }
  // Levels by the share of the largest class of the node.
  double order_key(const double* stat) const {
    const double sum = sum_of(stat);
    return sum > 0 ? stat[best_] / sum : 0;
  }

 protected:
  void begin(const double* total) {
    best_ = 0;
    w_all_ = 0;
    for (Index c = 0; c < k_; ++c) {
      all_[c] = total[c];
      w_all_ += total[c];
      if (total[c] > total[best_]) best_ = c;
    }
  }
  double total_weight(const std::vector<std::uint32_t>& rows) const {
    double sum = 0;
    for (std::uint32_t i : rows) sum += w_[i];
    return sum;
  }
  double sum_of(const double* stat) const {
    double sum = 0;
    for (Index c = 0; c < k_; ++c) sum += stat[c];
    return sum;
  }
  const double* w_;
  const int* y_;
  Index k_, best_ = 0;
  std::vector<double> left_, all_;
  double w_all_ = 0, w_left_ = 0;
};

class GiniScore : public ClassScore {
 public:
  using ClassScore::ClassScore;
  void start(const double* total) {
    begin(total);
    squares_all_ = 0;
    for (Index c = 0; c < k_; ++c) squares_all_ += all_[c] * all_[c];
    clear();
  }
  void clear() {
    std::fill(left_.begin(), left_.end(), 0.0);
    w_left_ = squares_left_ = 0;
    squares_right_ = squares_all_;
  }
  void move(Index row) { shift(y_[row], w_[row]); }
  void move(const double* stat) {
    for (Index c = 0; c < k_; ++c)
      if (stat[c] != 0) shift(c, stat[c]);
  }
  double whole() const { return w_all_ > 0 ? squares_all_ / w_all_ : 0; }
  double value() const {
    const double right = w_all_ - w_left_;
    return (w_left_ > 0 ? squares_left_ / w_left_ : 0) + (right > 0 ? squares_right_ / right : 0);
  }
  double scale(const std::vector<std::uint32_t>& rows) const { return total_weight(rows); }

 private:
  void shift(Index c, double w) {
    squares_left_ += w * (2 * left_[c] + w);
    squares_right_ -= w * (2 * (all_[c] - left_[c]) - w);
    left_[c] += w;
    w_left_ += w;
  }
  double squares_all_ = 0, squares_left_ = 0, squares_right_ = 0;
};

class EntropyScore : public ClassScore {
 public:
  using ClassScore::ClassScore;
  void start(const double* total) {
    begin(total);
    logs_all_ = 0;
    for (Index c = 0; c < k_; ++c) logs_all_ += x_log_x(all_[c]);
    clear();
  }
  void clear() {
    std::fill(left_.begin(), left_.end(), 0.0);
    w_left_ = logs_left_ = 0;
    logs_right_ = logs_all_;
  }
  void move(Index row) { shift(y_[row], w_[row]); }
  void move(const double* stat) {
    for (Index c = 0; c < k_; ++c)
      if (stat[c] != 0) shift(c, stat[c]);
  }
  double whole() const { return logs_all_ - x_log_x(w_all_); }
  double value() const { return logs_left_ - x_log_x(w_left_) + logs_right_ - x_log_x(w_all_ - w_left_); }
  double scale(const std::vector<std::uint32_t>& rows) const { return total_weight(rows); }

 private:
  static double x_log_x(double x) { return x > 0 ? x * std::log(x) : 0; }
  void shift(Index c, double w) {
    const double right = all_[c] - left_[c];
    logs_left_ += x_log_x(left_[c] + w) - x_log_x(left_[c]);
    logs_right_ += x_log_x(right - w) - x_log_x(right);
    left_[c] += w;
    w_left_ += w;
  }
  double logs_all_ = 0, logs_left_ = 0, logs_right_ = 0;
};

// costs: classes x rows (the costs of a row side by side), of answering each class there.
class CostScore {
 public:
  explicit CostScore(const MatrixXd& costs) : costs_(costs.data()), k_(costs.rows()), stride_(costs.rows()), left_(costs.rows()), all_(costs.rows()) {}
  Index width() const { return k_; }
  Index outputs() const { return k_; }
  void add(double* stat, Index row) const {
    const double* c = costs_ + row * stride_;
    for (Index l = 0; l < k_; ++l) stat[l] += c[l];
  }
  void start(const double* total) {
    for (Index l = 0; l < k_; ++l) all_[l] = total[l];
    best_ = std::min_element(all_.begin(), all_.end()) - all_.begin();
    clear();
  }
  void clear() { std::fill(left_.begin(), left_.end(), 0.0); }
  void move(Index row) {
    const double* c = costs_ + row * stride_;
    for (Index l = 0; l < k_; ++l) left_[l] += c[l];
  }
  void move(const double* stat) {
    for (Index l = 0; l < k_; ++l) left_[l] += stat[l];
  }
  double whole() const { return -all_[best_]; }
  double value() const {
    double left = left_[0], right = all_[0] - left_[0];
    for (Index l = 1; l < k_; ++l) {
      left = std::min(left, left_[l]);
      right = std::min(right, all_[l] - left_[l]);
    }
    return -left - right;
  }
  double scale(const std::vector<std::uint32_t>& rows) const {
    double sum = 0;
    for (std::uint32_t i : rows) {
      const double* c = costs_ + i * stride_;
      double low = c[0], high = c[0];
      for (Index l = 1; l < k_; ++l) {
        low = std::min(low, c[l]);
        high = std::max(high, c[l]);
      }
      sum += high - low;
    }
    return sum;
  }
  // How much the node's own answer costs beyond the best other one.
  double order_key(const double* stat) const {
    double other = std::numeric_limits<double>::infinity();
    for (Index l = 0; l < k_; ++l)
      if (l != best_) other = std::min(other, stat[l]);
    return stat[best_] - other;
  }
  void leaf(const double* total, double* out) const {  // 1 for the cheapest class, the first of equals
    Index best = 0;
    for (Index l = 1; l < k_; ++l)
      if (total[l] < total[best]) best = l;
    for (Index l = 0; l < k_; ++l) out[l] = l == best ? 1 : 0;
  }

 private:
  const double* costs_;
  Index k_, stride_, best_ = 0;
  std::vector<double> left_, all_;
};

// costs as for CostScore, but the answer is a set of classes and costs what all of them do.
class SetScore {
 public:
  explicit SetScore(const MatrixXd& costs) : costs_(costs.data()), k_(costs.rows()), left_(costs.rows()), all_(costs.rows()) {}
  Index width() const { return k_; }
  Index outputs() const { return k_; }
  void add(double* stat, Index row) const {
    const double* c = costs_ + row * k_;
    for (Index l = 0; l < k_; ++l) stat[l] += c[l];
  }
  void start(const double* total) {
    for (Index l = 0; l < k_; ++l) all_[l] = total[l];
    best_ = std::min_element(all_.begin(), all_.end()) - all_.begin();
    clear();
  }
  void clear() { std::fill(left_.begin(), left_.end(), 0.0); }
  void move(Index row) { move(costs_ + row * k_); }
  void move(const double* stat) {
    for (Index l = 0; l < k_; ++l) left_[l] += stat[l];
  }
  double whole() const {
    double sum = 0;
    for (const double c : all_) sum -= std::min(c, 0.0);
    return sum;
  }
  double value() const {
    double sum = 0;
    for (Index l = 0; l < k_; ++l) sum -= std::min(left_[l], 0.0) + std::min(all_[l] - left_[l], 0.0);
    return sum;
  }
  double scale(const std::vector<std::uint32_t>& rows) const {
    double sum = 0;
    for (std::uint32_t i : rows)
      for (Index l = 0; l < k_; ++l) sum += std::abs(costs_[i * k_ + l]);
    return sum;
  }
  double order_key(const double* stat) const { return stat[best_]; }
  void leaf(const double* total, double* out) const {
    for (Index l = 0; l < k_; ++l) out[l] = total[l] < 0 ? 1 : 0;
  }

 private:
  const double* costs_;
  Index k_, best_ = 0;
  std::vector<double> left_, all_;
};

// more: of every row, what the second class costs beyond the first.
class PairScore {
 public:
  explicit PairScore(const VectorXd& more) : more_(more.data()) {}
  Index width() const { return 1; }
  Index outputs() const { return 2; }
  void add(double* stat, Index row) const { stat[0] += more_[row]; }
  void start(const double* total) {
    all_ = total[0];
    clear();
  }
  void clear() { left_ = 0; }
  void move(Index row) { left_ += more_[row]; }
  void move(const double* stat) { left_ += stat[0]; }
  double whole() const { return std::abs(all_) / 2; }
  double value() const { return (std::abs(left_) + std::abs(all_ - left_)) / 2; }
  double scale(const std::vector<std::uint32_t>& rows) const {
    double sum = 0;
    for (std::uint32_t i : rows) sum += std::abs(more_[i]);
    return sum;
  }
  double order_key(const double* stat) const { return stat[0]; }
  void leaf(const double* total, double* out) const {
    out[0] = total[0] >= 0 ? 1 : 0;  // the first of equals
    out[1] = 1 - out[0];
  }

 private:
  const double* more_;
  double all_ = 0, left_ = 0;
};

}  // namespace granary
