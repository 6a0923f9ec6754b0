// Constraint-based searches through the door: graph/constraint_search.h, graph/test_spec.h, graph/pdag_score.h.
#include "graph/constraint_search.h"
#include "graph/pdag_score.h"
#include "r_graph_door.h"

namespace granary::door {

// A test of the user's: fun(i, j, S) gives a p-value.
inline void convert(const Source& s, graph::CallbackTest::Function& t) {
  const Callback<double, int, int, std::vector<int>> call(s.value);
  t = [call](int i, int j, const std::vector<int>& given) { return call(i + 1, j + 1, lifted(given)); };
}

}  // namespace granary::door

using namespace granary;
using namespace granary::graph;

GRANARY_DEFAULTS(pc, ConstraintOptions);

// [[Rcpp::export(rng = false)]]
SEXP core_constraint_search(SEXP spec, SEXP background, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const auto test = read<TestSpec>(spec, "test");
    return write(constraint_search(test, read<KnowledgeSpec>(background, "background"), read<ConstraintOptions>(options), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_ci_test(SEXP spec, SEXP question) {
  return crossing(R_NilValue, [&](Monitor& monitor) { return write(ci_test(read<TestSpec>(spec, "test"), read<CiQuestion>(question), monitor)); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_pdag_score(SEXP graph, SEXP s, SEXP options) {
  return crossing([&] { return write(score_pdag(read<MixedGraph>(graph, "graph"), matrix(s, "S"), read<PdagScoreOptions>(options))); });
}
