// Exports of robust linkage.
#include <algorithm>

#include "cluster/robust_check.h"
#include "cluster/robust_linkage.h"
#include "cluster/robust_tree.h"
#include "r_door.h"

using namespace granary;
using namespace granary::cluster;

GRANARY_DEFAULTS(robust_linkage, RobustLinkageOptions);

namespace {

VectorXi numbers_from_zero(SEXP labels) {
  VectorXi out;
  door::convert(door::Source{labels, "labels", false}, out);
  door::shift(out);
  return out;
}

}  // namespace

// values: a square matrix of similarities or distances.
// [[Rcpp::export(rng = false)]]
SEXP core_robust_linkage(SEXP values, SEXP closeness, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const auto how = read<RobustLinkageOptions>(options);
    return write(robust_linkage(neighbour_order(matrix(values), read<Closeness>(closeness, "closeness"), how.threads, monitor),
                                how, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_robust_check(SEXP values, SEXP closeness, SEXP labels, SEXP sets, SEXP most, SEXP threads) {
  return crossing(R_NilValue, [&](Monitor& monitor) {
    const int many = count(threads, "threads");
    return write(neighbourhood_check(neighbour_order(matrix(values), read<Closeness>(closeness, "closeness"), many, monitor),
                                     numbers_from_zero(labels), numbers_from_zero(sets), count(most, "most"), many, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_tree_pruning(SEXP tree, SEXP labels, SEXP k, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const auto from = read_state<ClusterTree>(tree, "tree");
    return write(is_null(labels) ? persistent_pruning(from, count(k, "k"), monitor)
                                 : best_pruning(from, numbers_from_zero(labels), count(k, "k"), monitor));
  });
}

// near: positions, one column per new point.
// [[Rcpp::export(rng = false)]]
SEXP core_tree_descend(SEXP tree, SEXP near, SEXP threads, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(VectorXi(
        descend(read_state<ClusterTree>(tree, "tree"), matrix_of_places(near, "near"), count(threads, "threads"), monitor)
            .array() +
        1));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_robust_single(SEXP distance, SEXP k, SEXP alpha, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(robust_single_linkage(full_distances(vector(distance, "distance")), count(k, "k"), number(alpha, "alpha"), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_robust_single_rows(SEXP x, SEXP k, SEXP alpha, SEXP threads, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(robust_single_linkage_rows(matrix(x), count(k, "k"), number(alpha, "alpha"), count(threads, "threads"), monitor));
  });
}

// Distances or similarities of new points (rows) to those of a tree (columns): the nearest.
// [[Rcpp::export(rng = false)]]
SEXP core_robust_near(SEXP values, SEXP closeness, SEXP k) {
  return crossing([&] {
    return write(
        Eigen::MatrixXi(nearest_columns(matrix(values), read<Closeness>(closeness, "closeness"), count(k, "k")).array() + 1));
  });
}

// m of 1 .. n without repetition, ascending.
// [[Rcpp::export(rng = false)]]
SEXP core_robust_sample(SEXP n, SEXP m, SEXP seed) {
  return crossing([&] {
    Rng draws = rng(seed);
    auto rows = draws.sample_without_replacement(count(n, "n"), count(m, "m"));
    std::sort(rows.begin(), rows.end());
    return write(positions(rows));
  });
}
