// Exports of the constraint-based searches. Conversion only: the methods are in graph/pc.h and graph/fci.h, the checks in R/pc.R.
#include "graph/contingency.h"
#include "graph/fci.h"
#include "graph/mixed_test.h"
#include "graph/partial_correlation.h"
#include "r_glue.h"
#include "r_graph_convert.h"

using namespace granary;
using namespace granary::graph;

namespace {

// A test with the data it looks at.
struct OwnedTest {
  MatrixXd matrix;
  Rcpp::NumericMatrix data;  // keeps R's memory alive
  std::unique_ptr<IndependenceTest> inner, cached;
  const IndependenceTest& get() const { return cached ? *cached : *inner; }
};

std::unique_ptr<IndependenceTest> contingency_test(const Rcpp::List& spec) {
  const Rcpp::IntegerMatrix codes = spec["codes"];
  const std::string sparse = spec["sparse"];
  ContingencyOptions options;
  options.statistic =
      Rcpp::as<std::string>(spec["kind"]) == "x2" ? ContingencyOptions::Statistic::x2 : ContingencyOptions::Statistic::g2;
  options.adjust_df = Rcpp::as<bool>(spec["adjust"]);
  options.sparse = sparse == "independent" ? ContingencyOptions::Sparse::independent
                   : sparse == "dependent" ? ContingencyOptions::Sparse::dependent
                                           : ContingencyOptions::Sparse::test;
  std::vector<std::vector<int>> columns(codes.ncol(), std::vector<int>(codes.nrow()));
  for (int v = 0; v < codes.ncol(); ++v) {
    for (int r = 0; r < codes.nrow(); ++r) columns[v][r] = codes(r, v) == NA_INTEGER ? -1 : codes(r, v);
  }
  return std::make_unique<ContingencyTest>(std::move(columns), Rcpp::as<std::vector<int>>(spec["levels"]), options);
}

// `test(i, j, S)` returns a p-value, or the text of what went wrong.
std::unique_ptr<IndependenceTest> callback_test(const Rcpp::List& spec) {
  const Rcpp::Function fun = spec["fun"];
  return std::make_unique<CallbackTest>(Rcpp::as<int>(spec["variables"]), [fun](int i, int j, const std::vector<int>& given) {
    const Rcpp::RObject answer = fun(i + 1, j + 1, as_indices(given));
    if (TYPEOF(answer) == STRSXP) throw InputError(Rcpp::as<std::string>(answer));
    return Rcpp::as<double>(answer);
  });
}

void make_test(const Rcpp::List& spec, int threads, Monitor& monitor, OwnedTest& test) {
  const std::string kind = spec["kind"];
  const auto data = [&](const char* name) {
    test.data = Rcpp::as<Rcpp::NumericMatrix>(spec[name]);
    return Eigen::Map<const MatrixXd>(test.data.begin(), test.data.nrow(), test.data.ncol());
  };
  if (kind == "gauss" || kind == "spearman" || kind == "kendall") {
    const auto x = data("x");
    test.matrix =
        kind == "gauss" ? correlation_matrix(x, threads, monitor) : copula_correlation(x, kind == "kendall", threads, monitor);
    test.inner = std::make_unique<GaussTest>(test.matrix, static_cast<double>(x.rows()));
  } else if (kind == "correlation") {
    test.inner = std::make_unique<GaussTest>(data("correlation"), Rcpp::as<double>(spec["n"]));
  } else if (kind == "gauss_rows") {
    test.inner = std::make_unique<GaussRowsTest>(data("x"));
  } else if (kind == "mixed") {
    test.inner = std::make_unique<MixedTest>(data("x"), Rcpp::as<std::vector<int>>(spec["levels"]));
  } else if (kind == "oracle") {
    test.inner = std::make_unique<SeparationTest>(as_graph(Rcpp::as<int>(spec["nodes"]), spec["edges"]),
                                                  from_indices(spec["observed"]), from_indices(spec["selection"]));
  } else if (kind == "function") {
    test.inner = callback_test(spec);
  } else {
    test.inner = contingency_test(spec);
  }
  if (Rcpp::as<bool>(spec["cache"])) test.cached = std::make_unique<CachedTest>(*test.inner);
}

// Two-column matrices of ordered pairs to rows of bits; NULL to nothing.
std::vector<Bitset> as_rows(SEXP pairs, int p, bool symmetric) {
  if (Rf_isNull(pairs)) return {};
  const Rcpp::IntegerMatrix matrix(pairs);
  std::vector<Bitset> rows(p, Bitset(p));
  for (int e = 0; e < matrix.nrow(); ++e) {
    rows[matrix(e, 0) - 1].set(matrix(e, 1) - 1);
    if (symmetric) rows[matrix(e, 1) - 1].set(matrix(e, 0) - 1);
  }
  return rows;
}

Knowledge as_knowledge(const Rcpp::List& list, int p) {
  Knowledge knowledge;
  knowledge.gaps = as_rows(list["gaps"], p, true);
  knowledge.edges = as_rows(list["edges"], p, true);
  knowledge.required = as_rows(list["required"], p, false);
  knowledge.excluded = as_rows(list["excluded"], p, false);
  if (!Rf_isNull(list["tier"])) knowledge.tier = Rcpp::as<std::vector<int>>(list["tier"]);
  if (!knowledge.tier.empty()) knowledge.exclude_by_tier();
  return knowledge;
}

int as_limit(double value) {
  return value >= std::numeric_limits<int>::max() ? std::numeric_limits<int>::max() : static_cast<int>(value);
}

FciOptions as_options(const Rcpp::List& list, int threads) {
  FciOptions options;
  options.search.alpha = Rcpp::as<double>(list["alpha"]);
  options.search.stable = Rcpp::as<bool>(list["stable"]);
  options.search.max_set = as_limit(Rcpp::as<double>(list["m_max"]));
  options.search.threads = threads;
  const std::string colliders = list["colliders"];
  options.colliders.rule = colliders == "conservative" ? ColliderRule::conservative
                           : colliders == "majority"   ? ColliderRule::majority
                                                       : ColliderRule::standard;
  options.colliders.band = Rcpp::as<double>(list["band"]);
  options.colliders.max_set = as_limit(Rcpp::as<double>(list["cm_max_size"]));
  options.first_colliders = options.search.stable ? ColliderRule::conservative : ColliderRule::standard;
  options.max_possible_d_sep = as_limit(Rcpp::as<double>(list["pds_max"]));
  options.rules.lists = Rcpp::as<std::string>(list["conflicts"]) == "lists";
  options.rules.selection = Rcpp::as<bool>(list["selection"]);
  return options;
}

Rcpp::IntegerMatrix triple_matrix(const std::vector<Triple>& triples) {
  Rcpp::IntegerMatrix out(static_cast<int>(triples.size()), 3);
  for (int t = 0; t < out.nrow(); ++t) {
    for (int c = 0; c < 3; ++c) out(t, c) = triples[t][c] + 1;
  }
  return out;
}

Rcpp::List as_list(const ConstraintResult& fit, const IndependenceTest& test, const Rcpp::CharacterVector& names) {
  const auto& skeleton = fit.skeleton;
  Rcpp::NumericVector p_value(skeleton.edges.size());
  for (int e = 0; e < p_value.size(); ++e) p_value[e] = test.p_value(skeleton.edges[e].evidence);
  const auto sets = skeleton.separators.sorted();
  Rcpp::IntegerMatrix pairs(static_cast<int>(sets.size()), 2);
  Rcpp::List given(sets.size());
  Rcpp::NumericVector set_p(sets.size());
  std::vector<SEXP> alone(names.size(), nullptr);
  for (int s = 0; s < pairs.nrow(); ++s) {
    pairs(s, 0) = sets[s].i + 1;
    pairs(s, 1) = sets[s].j + 1;
    set_p[s] = sets[s].p_value;
    // Most sets have one member, and may share its vector of one name: thousands of allocations less.
    const int* members = skeleton.separators.members(sets[s]);
    const int size = sets[s].size;
    SEXP& shared = alone[size == 1 ? members[0] : 0];
    if (size == 1 && shared) {
      SET_VECTOR_ELT(given, s, shared);
      continue;
    }
    const SEXP named = Rf_allocVector(STRSXP, size);
    SET_VECTOR_ELT(given, s, named);
    for (int k = 0; k < size; ++k) SET_STRING_ELT(named, k, STRING_ELT(names, members[k]));
    if (size == 1) shared = named;
  }
  Rcpp::NumericMatrix levels(static_cast<int>(skeleton.levels.size()), 3);
  for (int l = 0; l < levels.nrow(); ++l) {
    levels(l, 0) = static_cast<double>(skeleton.levels[l].tests);
    levels(l, 1) = static_cast<double>(skeleton.levels[l].repeats);
    levels(l, 2) = static_cast<double>(skeleton.levels[l].removed);
  }
  Rcpp::IntegerMatrix conflicts(static_cast<int>(fit.conflicts.size()), 2);
  for (int c = 0; c < conflicts.nrow(); ++c) {
    conflicts(c, 0) = fit.conflicts[c].first + 1;
    conflicts(c, 1) = fit.conflicts[c].second + 1;
  }
  return Rcpp::List::create(
      Rcpp::Named("edges") = edge_matrix(fit.graph), Rcpp::Named("p_value") = p_value, Rcpp::Named("pairs") = pairs,
      Rcpp::Named("given") = given, Rcpp::Named("set_p") = set_p, Rcpp::Named("levels") = levels,
      Rcpp::Named("ambiguous") = triple_matrix(fit.ambiguous), Rcpp::Named("conflicts") = conflicts,
      Rcpp::Named("capped") = fit.capped, Rcpp::Named("out_of_data") = skeleton.out_of_data,
      Rcpp::Named("collider_tests") = static_cast<double>(fit.collider_tests),
      Rcpp::Named("later") =
          Rcpp::NumericVector::create(static_cast<double>(fit.later.tests), static_cast<double>(fit.later.removed)),
      Rcpp::Named("degenerate") = as_indices(test.degenerate()));
}

}  // namespace

// [[Rcpp::export(rng = false)]]
Rcpp::List core_constraint_search(std::string algorithm, Rcpp::List spec, Rcpp::List background, Rcpp::List settings, int threads,
                                  SEXP progress) {
  RMonitor monitor(progress);
  OwnedTest owned;
  make_test(spec, threads, monitor, owned);
  const IndependenceTest& test = owned.get();
  const Knowledge knowledge = as_knowledge(background, test.variables());
  const FciOptions options = as_options(settings, threads);
  const std::string conflicts = settings["conflicts"];
  ConstraintResult result;
  if (algorithm == "fci") {
    result = fci(test, knowledge, options, monitor);
  } else if (algorithm == "rfci") {
    result = rfci(test, knowledge, options, monitor);
  } else if (algorithm == "pc") {
    const ConflictRule rule = conflicts == "lists"   ? ConflictRule::lists
                              : conflicts == "first" ? ConflictRule::first
                                                     : ConflictRule::overwrite;
    result = pc(test, knowledge, {options.search, options.colliders, rule}, monitor);
  } else {
    result.skeleton = find_skeleton(test, knowledge, options.search, monitor);
    result.graph = MixedGraph(test.variables());
    for (const EdgeStrength& edge : result.skeleton.edges) result.graph.add_undirected(edge.i, edge.j);
  }
  return as_list(result, test, spec["names"]);
}

// One p-value per pair (rows of `pairs`), all given the same set.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector core_ci_test(Rcpp::List spec, Rcpp::IntegerMatrix pairs, Rcpp::IntegerVector given) {
  RMonitor monitor(R_NilValue);
  OwnedTest owned;
  make_test(spec, 1, monitor, owned);
  const auto session = owned.get().session();
  const std::vector<int> set = from_indices(given);
  if (static_cast<int>(set.size()) > owned.get().largest_set()) {
    throw InputError(message("there are too few observations to condition on ", set.size(), " variables: at most ",
                             std::max(0, owned.get().largest_set()), " are possible."));
  }
  Rcpp::NumericVector p(pairs.nrow());
  for (int e = 0; e < pairs.nrow(); ++e) p[e] = owned.get().p_value(session->evidence(pairs(e, 0) - 1, pairs(e, 1) - 1, set));
  return p;
}

// Partial correlation, or the statistic and degrees of freedom of a contingency table.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector core_ci_statistic(Rcpp::List spec, int i, int j, Rcpp::IntegerVector given) {
  RMonitor monitor(R_NilValue);
  OwnedTest owned;
  make_test(spec, 1, monitor, owned);
  const std::vector<int> set = from_indices(given);
  if (const auto* table = dynamic_cast<const ContingencyTest*>(owned.inner.get())) {
    const ContingencyResult result = table->result(i - 1, j - 1, set);
    return Rcpp::NumericVector::create(Rcpp::Named("statistic") = result.statistic, Rcpp::Named("df") = result.df);
  }
  if (dynamic_cast<const GaussTest*>(owned.inner.get())) {
    const Eigen::Map<const MatrixXd> given_matrix(owned.data.begin(), owned.data.nrow(), owned.data.ncol());
    PartialCorrelation r(owned.matrix.size() > 0 ? ConstMatrixRef(owned.matrix) : ConstMatrixRef(given_matrix));
    return Rcpp::NumericVector::create(Rcpp::Named("partial_cor") = r(i - 1, j - 1, set));
  }
  return Rcpp::NumericVector(0);
}
