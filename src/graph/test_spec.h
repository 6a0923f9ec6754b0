// A test of conditional independence as it is given: which one, and the data it looks at.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "core/base/types.h"
#include "graph/contingency.h"
#include "graph/independence.h"

namespace granary::graph {

enum class TestKind { gauss, spearman, kendall, correlation, gauss_rows, mixed, oracle, own, g2, x2 };
inline Names<TestKind> names(TestKind) {
  return {{TestKind::gauss, "gauss"}, {TestKind::spearman, "spearman"}, {TestKind::kendall, "kendall"},
          {TestKind::correlation, "correlation"}, {TestKind::gauss_rows, "gauss_rows"}, {TestKind::mixed, "mixed"},
          {TestKind::oracle, "oracle"}, {TestKind::own, "function"}, {TestKind::g2, "g2"}, {TestKind::x2, "x2"}};
}

struct TestSpec {
  TestKind kind = TestKind::gauss;
  MatrixView x{nullptr, 0, 0};            // gauss, spearman, kendall, gauss_rows, mixed
  MatrixView correlation{nullptr, 0, 0};  // correlation, of `n` observations
  double n = 0;
  Eigen::MatrixXi codes;  // g2, x2: 0 .. levels - 1, -1 where missing
  std::vector<int> levels;
  std::vector<int> counts;  // of each row; empty: once each
  bool adjust = true;
  ContingencyOptions::Sparse sparse = ContingencyOptions::Sparse::test;
  MixedGraph graph;  // oracle
  std::vector<int> observed, selection;
  CallbackTest::Function fun;  // own, of so many variables
  int variables = 0;
  bool cache = false;  // remember answers
};
template <class V>
void fields(V& v, TestSpec& t) {
  v("kind", t.kind);
  v("x", t.x);
  v("correlation", t.correlation);
  v("n", t.n);
  v("codes", t.codes);
  v("levels", t.levels);
  v("counts", t.counts);
  v("adjust", t.adjust);
  v("sparse", t.sparse);
  v("graph", t.graph);
  v("observed", positions(t.observed));
  v("selection", positions(t.selection));
  v("fun", t.fun);
  v("variables", t.variables);
  v("cache", t.cache);
}

// The test with what it needs. The data of the spec must outlive it.
class MadeTest {
 public:
  MadeTest(const TestSpec& spec, int threads, Monitor& monitor);
  const IndependenceTest& get() const { return cached_ ? *cached_ : *inner_; }
  const IndependenceTest& inner() const { return *inner_; }
  ConstMatrixRef correlation() const { return correlation_; }  // of the Gaussian tests; empty for others

 private:
  MatrixXd correlation_;
  std::unique_ptr<IndependenceTest> inner_, cached_;
};

struct CiQuestion {
  int i = 0, j = 1;
  std::vector<int> given;
};
template <class V>
void fields(V& v, CiQuestion& t) {
  v("i", positions(t.i));
  v("j", positions(t.j));
  v("given", positions(t.given));
}

// p-value with the statistic behind it, where there is one: the normal score of a partial correlation, or chi-squared with its degrees of freedom.
struct CiAnswer {
  double p_value = 1;
  std::string name;  // of the statistic, "" where there is none
  double statistic = 0, df = 0, correlation = 0;
};
template <class V>
void fields(V& v, CiAnswer& t) {
  v("p_value", t.p_value);
  v("name", t.name);
  v("statistic", t.statistic);
  v("df", t.df);
  v("correlation", t.correlation);
}
CiAnswer ci_test(const TestSpec& spec, const CiQuestion& question, Monitor& monitor);

}  // namespace granary::graph
