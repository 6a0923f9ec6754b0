// Tests of conditional independence in contingency tables.
//
//   G^2 = 2 sum n_xys log(n_xys n_s / (n_xs n_ys)),     X^2 = sum (n_xys - e_xys)^2 / e_xys,   e_xys = n_xs n_ys / n_s
//   df: nominal   (|x| - 1)(|y| - 1) prod |s|
//       adjusted  sum over the strata s that occur of (|x| seen in s - 1)(|y| seen in s - 1): empty rows, columns and strata
//       carry no
//                 information
//
// The strata are numbered one variable of S at a time and only as they occur, so a set of many variables costs time and memory
// proportional to the number of rows, not to the size of the table.
#pragma once

#include <vector>

#include "core/base/fields.h"
#include "graph/independence.h"

namespace granary::graph {

struct ContingencyOptions {
  enum class Statistic { g2, x2 } statistic = Statistic::g2;
  bool adjust_df = true;
  // What to say when there are fewer than `rows_per_df` rows per degree of freedom.
  enum class Sparse { test, independent, dependent } sparse = Sparse::test;
  double rows_per_df = 10;
  std::vector<int> counts;  // how often each row stands for an observation; empty: once each
};

inline Names<ContingencyOptions::Sparse> names(ContingencyOptions::Sparse) {
  using Sparse = ContingencyOptions::Sparse;
  return {{Sparse::test, "test"}, {Sparse::independent, "independent"}, {Sparse::dependent, "dependent"}};
}

struct ContingencyResult {
  double statistic = 0, df = 0, p_value = 1;
  double rows = 0;  // in which all variables are known
};

class ContingencyTest : public IndependenceTest {
 public:
  // codes[v][row] is in 0 .. levels[v] - 1, or negative where the value is missing: such rows are left out test by test.
  ContingencyTest(std::vector<std::vector<int>> codes, std::vector<int> levels, const ContingencyOptions& options);
  int variables() const override { return static_cast<int>(codes_.size()); }
  std::unique_ptr<TestSession> session() const override;
  ContingencyResult result(int i, int j, const std::vector<int>& given) const;

 private:
  friend class ContingencySession;
  std::vector<std::vector<int>> codes_;
  std::vector<int> levels_;
  ContingencyOptions options_;
};

// Numbers the combinations of values of a growing list of variables, in order of appearance. -1: a value is missing.
class Strata {
 public:
  Strata(const std::vector<std::vector<int>>& codes, const std::vector<int>& levels) : codes_(codes), levels_(levels) {}
  // The stratum of each row. Work done for the common beginning of this list and the last one is kept.
  const std::vector<int>& of(const std::vector<int>& variables);
  int count() const { return count_; }

 private:
  const std::vector<std::vector<int>>& codes_;
  const std::vector<int>& levels_;
  std::vector<int> variables_;
  std::vector<std::vector<int>> steps_;  // steps_[t]: strata of the first t variables
  std::vector<int> counts_;
  std::vector<int> label_;
  int count_ = 1;
};

}  // namespace granary::graph
