// Partial correlations and the Gaussian test of conditional independence.
//
//   r_ij|S = (c_ij - v_i'v_j) / sqrt((1 - v_i'v_i)(1 - v_j'v_j)),   v_i = L^-1 c_Si,   L L' = C_SS
//   z = sqrt(n - |S| - 3) atanh r,   two-sided p-value of N(0, 1)
//
// L grows row by row, and so do v_i and v_j: going from one set to the next costs only the rows after their common beginning.
// A variable of S that is a linear function of those before it adds nothing and is left out, which is what the pseudo-inverse
// would do; if i or j itself is such a function of S nothing of it is left to depend on anything, and r = 0. Both are noted.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "core/base/monitor.h"
#include "core/base/types.h"
#include "graph/independence.h"

namespace granary::graph {

// Of one pair (i, j), for one set after the other.
class PartialCorrelation {
 public:
  explicit PartialCorrelation(ConstMatrixRef correlation) : c_(correlation) {}
  double operator()(int i, int j, const std::vector<int>& given);
  // The variables that the last call found to be functions of the others.
  const std::vector<int>& dependent() const { return dependent_; }

 private:
  void reserve(std::size_t size);
  ConstMatrixRef c_;
  int i_ = -1, j_ = -1;
  std::vector<int> given_;
  std::vector<char> used_;  // 0: the variable depends on those before it
  MatrixXd factor_;         // row t of L is column t
  VectorXd v_i_, v_j_;
  std::vector<int> dependent_;
};

class GaussTest : public IndependenceTest {
 public:
  // `correlation` must outlive the test; n is the number of observations behind it.
  GaussTest(ConstMatrixRef correlation, double n);
  int variables() const override { return static_cast<int>(c_.rows()); }
  std::unique_ptr<TestSession> session() const override;
  double cut(double alpha) const override;
  double p_value(double evidence) const override;
  int largest_set() const override;
  std::vector<int> degenerate() const override;

 private:
  friend class GaussSession;
  ConstMatrixRef c_;
  double n_;
  std::unique_ptr<std::atomic<char>[]> noted_;
};

// The same from data with missing values (NaN): each test uses the rows in which its own variables are all known.
class GaussRowsTest : public IndependenceTest {
 public:
  explicit GaussRowsTest(ConstMatrixRef x) : x_(x) {}
  int variables() const override { return static_cast<int>(x_.cols()); }
  std::unique_ptr<TestSession> session() const override;
  double cut(double alpha) const override;
  double p_value(double evidence) const override;
  int largest_set() const override { return static_cast<int>(x_.rows()) - 4; }

 private:
  friend class GaussRowsSession;
  ConstMatrixRef x_;
};

// Columns centred and scaled first, in blocks so that no second p x p matrix is needed.
MatrixXd correlation_matrix(ConstMatrixRef x, int threads, Monitor& monitor);
// The correlation of the normal variables behind a Gaussian copula: 2 sin(pi rho / 6) of Spearman's rho, sin(pi tau / 2) of
// Kendall's tau-b. Need not be positive definite.
MatrixXd copula_correlation(ConstMatrixRef x, bool kendall, int threads, Monitor& monitor);

}  // namespace granary::graph
