// Exports of Bayesian networks as inner products: graph/bn_kernel*.h.
#include "graph/bn_kernel.h"
#include "graph/bn_kernel_linear.h"
#include "graph/bn_kernel_shatter.h"
#include "r_graph_door.h"

using namespace granary;
using namespace granary::graph;

namespace {

// list(nodes, edges, levels, groups), as bn_spec() makes it; groups of patterns per node, none where each is its own.
struct BnSpec {
  GraphParts graph;
  std::vector<int> levels;
  std::vector<std::vector<int>> groups;
};
template <class V>
void fields(V& v, BnSpec& t) {
  fields(v, t.graph);
  v("levels", t.levels);
  v("groups", positions(t.groups));
}
void check(const BnSpec& t) { check(t.graph); }

BnStructure structure_of(SEXP spec) {
  BnSpec from = read<BnSpec>(spec, "graph");
  BnStructure out = make_structure(graph_of(from.graph), from.levels);
  if (!from.groups.empty()) set_groups(out, std::move(from.groups));
  return out;
}

using CodeMatrix = Eigen::MatrixXi;

}  // namespace

// [[Rcpp::export(rng = false)]]
SEXP core_bn_features(SEXP spec, SEXP basis, SEXP x, SEXP limit) {
  return crossing(R_NilValue, [&](Monitor& monitor) {
    const BnStructure s = structure_of(spec);
    const BnColumns found = bn_columns(s, read<BnBasis>(basis, "basis"), read<Index>(limit), monitor);
    return write_list("columns", found, "features", bn_features(s, found, read<CodeMatrix>(x, "x"), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_bn_kernel(SEXP spec, SEXP basis, SEXP x, SEXP y, SEXP threads, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(bn_kernel_matrix(structure_of(spec), read<BnBasis>(basis, "basis"), read<CodeMatrix>(x, "x"), read<CodeMatrix>(y, "y"),
                                  count(threads), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_bn_tables(SEXP spec, SEXP x, SEXP alpha) {
  return crossing([&] { return write(bn_tables(bn_counts(structure_of(spec), read<CodeMatrix>(x, "x"), {}), number(alpha))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_bn_weights(SEXP spec, SEXP basis, SEXP p, SEXP q, SEXP limit) {
  return crossing(R_NilValue, [&](Monitor& monitor) {
    const BnStructure s = structure_of(spec);
    const BnColumns found = bn_columns(s, read<BnBasis>(basis, "basis"), read<Index>(limit), monitor);
    return write_list("columns", found, "weights", bn_weights(s, found, read<BnTables>(p, "tables"), read<BnTables>(q, "tables")));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_bn_log_density(SEXP spec, SEXP tables, SEXP x) {
  return crossing([&] { return write(bn_log_density(structure_of(spec), read<BnTables>(tables, "tables"), read<CodeMatrix>(x, "x"))); });
}

// `start` is empty, or intercept and weights.
// [[Rcpp::export(rng = false)]]
SEXP core_linear_fit(SEXP features, SEXP y, SEXP options, SEXP start, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(fit_linear(ConstSparseRef(sparse(features)), vector(y, "y"), read<LinearOptions>(options), vector(start), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_bn_tree(SEXP x, SEXP levels, SEXP classes, SEXP n_classes) {
  return crossing(R_NilValue, [&](Monitor& monitor) {
    return write(chow_liu_tree(read<CodeMatrix>(x, "x"), read<std::vector<int>>(levels), read<std::vector<int>>(classes), count(n_classes), monitor));
  });
}

// |U|.
// [[Rcpp::export(rng = false)]]
SEXP core_bn_union(SEXP spec) {
  return crossing(R_NilValue, [&](Monitor& monitor) {
    const BnStructure s = structure_of(spec);
    return write(union_size(family_union(s, monitor), s.levels));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_bn_shatter(SEXP spec, SEXP type, SEXP labels, SEXP paper) {
  return crossing([&] { return write(shatter(structure_of(spec), read<ShatterType>(type, "type"), read<std::vector<int>>(labels), flag(paper))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_bn_shatter_all(SEXP spec, SEXP type, SEXP points, SEXP paper) {
  return crossing(R_NilValue, [&](Monitor& monitor) {
    return write(shatter_failures(structure_of(spec), read<ShatterType>(type, "type"), count(points), flag(paper), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_bn_concepts(SEXP spec, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) { return write(enumerate_concepts(structure_of(spec), monitor)); });
}

// (w, b) of a half-space for two probabilities, or the other way round.
// [[Rcpp::export(rng = false)]]
SEXP core_half_space(SEXP a, SEXP b, SEXP forward) {
  return crossing([&] { return write(half_space_rows(vector(a), vector(b), flag(forward))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_sbn_fit(SEXP x, SEXP order, SEXP rule, SEXP options, SEXP threads, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const std::vector<Index> at = places(order);
    return write(fit_sigmoid_network(matrix(x), std::vector<int>(at.begin(), at.end()), read<SigmoidOrder>(rule), read<LinearOptions>(options),
                                     count(threads), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_sbn_log_density(SEXP network, SEXP x) {
  return crossing([&] { return write(sigmoid_log_density(read_state<SigmoidNetwork>(network), matrix(x))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_sbn_sample(SEXP network, SEXP n, SEXP seed) {
  return crossing(R_NilValue, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    return write(sigmoid_sample(read_state<SigmoidNetwork>(network), count(n), draws, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_parity_network(SEXP a) {
  return crossing([&] { return write(parity_network(read<std::vector<int>>(a))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_modified_log_density(SEXP network, SEXP x) {
  return crossing([&] { return write(modified_log_density(read_state<ModifiedNetwork>(network), matrix(x))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_sign_rank(SEXP signs, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    return write(sign_rank_bounds(matrix(signs), read<SignRankOptions>(options), draws, monitor));
  });
}
