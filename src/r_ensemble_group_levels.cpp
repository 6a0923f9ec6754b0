// Exports of grouping of levels.
#include "ensemble/level_groups.h"
#include "r_door.h"

using namespace granary;
using namespace granary::ensemble;

GRANARY_DEFAULTS(group_levels, LevelOptions);

// [[Rcpp::export(rng = false)]]
SEXP core_group_levels(SEXP counts, SEXP options, SEXP progress) {
  return crossing(
      progress, [&](Monitor& monitor) { return write(level_groups(matrix(counts, "x"), read<LevelOptions>(options), monitor)); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_level_counts(SEXP level, SEXP label, SEXP weights, SEXP levels, SEXP classes) {
  return crossing([&] {
    return write(level_counts(labels(level, "x"), labels(label, "y"), vector(weights, "weights"), count(levels, "levels"),
                              count(classes, "classes")));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_level_cost(SEXP counts, SEXP group, SEXP groups) {
  return crossing([&] { return write(level_cost(matrix(counts, "x"), labels(group, "group"), count(groups, "groups"))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_partition_counts(SEXP levels, SEXP k) {
  return crossing([&] { return write(partition_counts(number(levels, "n"), count(k, "k"))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_level_divergence(SEXP counts, SEXP share) {
  return crossing([&] { return write(level_divergence(matrix(counts, "x"), matrix(share, "share"))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_level_bayes(SEXP group, SEXP tables, SEXP classes, SEXP smooth) {
  return crossing([&] {
    return write(level_bayes(matrix_of_places(group, "group"), read<std::vector<MatrixXd>>(tables, "tables"),
                             vector(classes, "classes"), number(smooth, "smooth")));
  });
}
