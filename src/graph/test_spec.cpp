#include "graph/test_spec.h"

#include <algorithm>

#include "graph/mixed_test.h"
#include "graph/partial_correlation.h"

namespace granary::graph {

namespace {

std::unique_ptr<IndependenceTest> contingency(const TestSpec& spec) {
  ContingencyOptions options;
  options.statistic = spec.kind == TestKind::x2 ? ContingencyOptions::Statistic::x2 : ContingencyOptions::Statistic::g2;
  options.adjust_df = spec.adjust;
  options.sparse = spec.sparse;
  options.counts = spec.counts;
  if (static_cast<Index>(spec.levels.size()) != spec.codes.cols()) throw InputError("there must be one number of levels per variable.");
  std::vector<std::vector<int>> columns;
  for (Index v = 0; v < spec.codes.cols(); ++v) {
    columns.emplace_back(spec.codes.col(v).data(), spec.codes.col(v).data() + spec.codes.rows());
    for (const int code : columns.back()) require(code >= -1 && code < spec.levels[v], "a code is outside the levels of its variable.");
  }
  return std::make_unique<ContingencyTest>(std::move(columns), spec.levels, options);
}

}  // namespace

MadeTest::MadeTest(const TestSpec& spec, int threads, Monitor& monitor) {
  double n = static_cast<double>(spec.x.rows());
  switch (spec.kind) {
    case TestKind::gauss:
      correlation_ = correlation_matrix(spec.x, threads, monitor);
      break;
    case TestKind::spearman:
    case TestKind::kendall:
      correlation_ = copula_correlation(spec.x, spec.kind == TestKind::kendall, threads, monitor);
      break;
    case TestKind::correlation:
      correlation_ = spec.correlation;
      n = spec.n;
      break;
    case TestKind::gauss_rows:
      inner_ = std::make_unique<GaussRowsTest>(spec.x);
      break;
    case TestKind::mixed:
      inner_ = std::make_unique<MixedTest>(spec.x, spec.levels);
      break;
    case TestKind::oracle:
      inner_ = std::make_unique<SeparationTest>(spec.graph, spec.observed, spec.selection);
      break;
    case TestKind::own:
      inner_ = std::make_unique<CallbackTest>(spec.variables, spec.fun);
      break;
    case TestKind::g2:
    case TestKind::x2:
      inner_ = contingency(spec);
      break;
  }
  if (!inner_) inner_ = std::make_unique<GaussTest>(correlation_, n);
  if (spec.cache) cached_ = std::make_unique<CachedTest>(*inner_);
}

CiAnswer ci_test(const TestSpec& spec, const CiQuestion& q, Monitor& monitor) {
  const MadeTest made(spec, 1, monitor);
  const IndependenceTest& test = made.get();
  if (static_cast<int>(q.given.size()) > test.largest_set()) {
    throw InputError(message("there are too few observations to condition on ", q.given.size(), " variables: at most ",
                             std::max(0, test.largest_set()), " are possible."));
  }
  CiAnswer out;
  const std::unique_ptr<TestSession> session = made.inner().session();
  out.p_value = test.p_value(session->evidence(q.i, q.j, q.given));
  const TestDetail detail = session->detail();
  if (const auto* table = dynamic_cast<const ContingencyTest*>(&made.inner())) {
    const ContingencyResult found = table->result(q.i, q.j, q.given);
    out.name = "chi_squared";
    out.statistic = found.statistic;
    out.df = found.df;
  } else if (detail.law != TestDetail::Law::none) {
    out.name = detail.law == TestDetail::Law::normal ? "z" : "chi_squared";
    out.statistic = detail.statistic;
    out.df = detail.df;
    out.correlation = detail.correlation;
  }
  return out;
}

}  // namespace granary::graph
