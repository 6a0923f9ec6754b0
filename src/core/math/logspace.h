// Sums of numbers known by their logarithms, and the logistic pair, without overflow or lost digits.
//
// -infinity is the log of zero and +infinity that of infinity; the empty sum is zero. NaN in, NaN out.
#pragma once

#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/base/types.h"

namespace granary {

// log(exp(a) + exp(b))
inline double log_sum_exp(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return a + b;
  const double high = a > b ? a : b, low = a > b ? b : a;
  return std::isinf(high) ? high : high + std::log1p(std::exp(low - high));
}

// log sum_i exp(x_i), one term at a time: holds the largest term and the sum relative to it.
class LogSumExp {
 public:
  void add(double x) {
    if (x <= top_) {
      if (x > -infinity) sum_ += x == top_ ? 1 : std::exp(x - top_);  // equality also covers both being +infinity
    } else if (x > top_) {
      sum_ = sum_ > 0 ? sum_ * std::exp(top_ - x) + 1 : 1;
      top_ = x;
    } else {
      sum_ = top_ = std::numeric_limits<double>::quiet_NaN();
    }
  }
  double value() const { return std::isinf(top_) ? top_ : top_ + std::log(sum_); }

 private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  double top_ = -infinity, sum_ = 0;
};

inline double log_sum_exp(ConstVectorRef x) {
  double top = -std::numeric_limits<double>::infinity();
  for (Index i = 0; i < x.size(); ++i) {
    if (std::isnan(x[i])) return x[i];
    if (x[i] > top) top = x[i];
  }
  if (std::isinf(top)) return top;
  double sum = 0;
  for (Index i = 0; i < x.size(); ++i) sum += std::exp(x[i] - top);
  return top + std::log(sum);
}

// log of the mean of exp(x_i); NaN for no terms.
inline double log_mean_exp(ConstVectorRef x) {
  if (x.size() == 0) return std::numeric_limits<double>::quiet_NaN();
  return log_sum_exp(x) - std::log(static_cast<double>(x.size()));
}

// exp(x_i) / sum_j exp(x_j). Terms at +infinity share everything equally.
inline VectorXd softmax(ConstVectorRef x) {
  const double total = log_sum_exp(x);
  if (x.size() > 0 && total == -std::numeric_limits<double>::infinity()) {
    throw InputError("softmax needs at least one entry above -infinity.");
  }
  VectorXd p(x.size());
  if (total == std::numeric_limits<double>::infinity()) {
    for (Index i = 0; i < x.size(); ++i) p[i] = x[i] == total ? 1 : 0;
  } else {
    for (Index i = 0; i < x.size(); ++i) p[i] = std::exp(x[i] - total);
  }
  const double sum = p.sum();  // within rounding of one already, unless there were infinities
  if (x.size() > 0) p /= sum;
  return p;
}

// log(1 - exp(x)) for x <= 0 (Machler 2012): the better of two forms on each side of -log 2.
inline double log1mexp(double x) { return x > -0.6931471805599453 ? std::log(-std::expm1(x)) : std::log1p(-std::exp(x)); }

// log(1 + exp(x)), the softplus.
inline double log1pexp(double x) {
  if (x > 33.3) return x;
  if (x > 18) return x + std::exp(-x);
  return std::log1p(std::exp(x));
}

// log(exp(a) - exp(b)) for a >= b; NaN when a < b.
inline double log_diff_exp(double a, double b) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (b == -infinity) return a;
  if (a == infinity) return b == infinity ? std::numeric_limits<double>::quiet_NaN() : a;
  if (a == b) return -infinity;
  return a + log1mexp(b - a);
}

// log(p / (1 - p))
inline double logit(double p) { return std::log(p) - std::log1p(-p); }

// 1 / (1 + exp(-x))
inline double expit(double x) {
  if (x < 0) {
    const double e = std::exp(x);
    return e / (1 + e);
  }
  return 1 / (1 + std::exp(-x));
}

inline double log_expit(double x) { return -log1pexp(-x); }

}  // namespace granary
