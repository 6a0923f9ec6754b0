// Exports of comparisons of many methods.
#include "core/math/studentized_range.h"
#include "ensemble/method_table.h"
#include "r_door.h"

using namespace granary;
using namespace granary::ensemble;

// [[Rcpp::export(rng = false)]]
SEXP core_method_table(SEXP x, SEXP options) {
  return crossing([&] { return write(method_table(matrix(x), read<MethodOptions>(options))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_method_pairs(SEXP x, SEXP ranks, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    return write_columns(pair_tests(matrix(x), vector(ranks, "ranks"), read<PairOptions>(options), draws(), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_method_profile(SEXP x, SEXP maximize, SEXP at) {
  return crossing([&] { return write(performance_profile(matrix(x), flag(maximize, "maximize"), vector(at, "at"))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_row_weights(SEXP x, SEXP size, SEXP kind, SEXP options) {
  return crossing([&] {
    return write(row_weights(matrix(x), vector(size, "size"), value_of<MethodWeight>(text(kind, "kind"), "kind"),
        read<MethodOptions>(options)));
  });
}

// Places in the order of the ranks count from 1 in R.
// [[Rcpp::export(rng = false)]]
SEXP core_rank_groups(SEXP ranks, SEXP critical) {
  return crossing([&] {
    std::vector<std::vector<Index>> groups = rank_groups(vector(ranks, "ranks"), number(critical, "critical"));
    return write(positions(groups));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_range_quantile(SEXP p, SEXP k) {
  return crossing([&] { return write(normal_range_quantile(number(p, "p"), count(k, "k"))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_range_upper(SEXP q, SEXP k) {
  return crossing([&] { return write(normal_range_upper(number(q, "q"), count(k, "k"))); });
}
