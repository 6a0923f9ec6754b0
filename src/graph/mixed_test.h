// Conditional independence among discrete and continuous variables: the likelihood ratio of conditional Gaussian laws.
//
//   2 (l(i, j, S) - l(i, S) - l(j, S) + l(S))  ~  chi^2,     df the same sum of parameter counts
//
// where l(A) is the maximised log-likelihood of the homogeneous conditional Gaussian law of A (Lauritzen 1996, section 6.1): the
// discrete variables of A have one probability per cell, the continuous ones one mean per cell and a common covariance. Two
// discrete variables given discrete ones: G^2. Two continuous ones: the partial correlation within cells. One of each without S:
// one-way analysis of variance. Cells that do not occur count for no parameter. A continuous variable that is constant within the
// cells, or a linear function of others, is left out of the determinants.
#pragma once

#include <vector>

#include "core/base/types.h"
#include "graph/independence.h"

namespace granary::graph {

class MixedTest : public IndependenceTest {
 public:
  // Variable v is discrete where levels[v] > 0 (codes in x, 0 .. levels - 1) and continuous where levels[v] = 0. No missing
  // values.
  MixedTest(ConstMatrixRef x, std::vector<int> levels);
  int variables() const override { return static_cast<int>(levels_.size()); }
  std::unique_ptr<TestSession> session() const override;

 private:
  friend class MixedSession;
  MatrixXd x_;  // continuous columns standardised
  std::vector<int> levels_;
  std::vector<std::vector<int>> codes_;
};

}  // namespace granary::graph
