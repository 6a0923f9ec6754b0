// Exports of low-rank approximations by columns and rows.
#include "kernel/cur.h"
#include "kernel/sampled_svd.h"
#include "r_core_source.h"

using namespace granary;
using namespace granary::kernel;

GRANARY_DEFAULTS(cur, CurOptions);

// [[Rcpp::export(rng = false)]]
SEXP core_cur(SEXP x, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    return write(cur(*matrix_source(x), read<CurOptions>(options), draws, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_column_leverage(SEXP x, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    return write(column_leverage(*matrix_source(x), read<CurOptions>(options), draws, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_cur_plan(SEXP k, SEXP eps) {
  return crossing([&] { return write(plan_cur(count(k), number(eps))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_cur_error(SEXP k, SEXP c, SEXP r) {
  return crossing([&] { return write(plan_error(count(k), count(c), count(r))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_dual_set(SEXP x, SEXP v, SEXP r, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) { return write(dual_set(vector(x), matrix(v, "v"), count(r), monitor)); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_sampled_svd(SEXP x, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    return write(sampled_svd(*matrix_source(x), read<SampledSvdOptions>(options), draws, monitor));
  });
}
