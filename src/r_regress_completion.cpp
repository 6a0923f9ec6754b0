// Exports of matrix completion.
#include "r_door.h"
#include "regress/completion_path.h"
#include "regress/completion_rademacher.h"

using namespace granary;
using namespace granary::regress;

GRANARY_DEFAULTS(complete_matrix, CompletionPathOptions);

// [[Rcpp::export(rng = false)]]
SEXP core_completion_cells(SEXP x, SEXP options) {
  return crossing(R_NilValue, [&](Monitor& monitor) {
    return write(summarise_cells(read<CellTriplets>(x, "x").observed(), read<CompletionPathOptions>(options), monitor));
  });
}

// `start` is NULL or list(u, d, v).
// [[Rcpp::export(rng = false)]]
SEXP core_completion_path(SEXP x, SEXP options, SEXP start, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(completion_path(read<CellTriplets>(x, "x").observed(), read<std::optional<ThinSvd>>(start, "start"),
                                 read<CompletionPathOptions>(options), rng(seed), monitor).fits);
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_hard_impute(SEXP x, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const CompletionOptions settings = read<CompletionOptions>(options);
    return write(hard_impute(read<CellTriplets>(x, "x").observed(), settings.rank, settings, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_completion_centre(SEXP x, SEXP rows, SEXP cols) {
  return crossing(R_NilValue, [&](Monitor& monitor) {
    return write(fit_centre(read<CellTriplets>(x, "x").observed(), flag(rows), flag(cols), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_completion_scale(SEXP x, SEXP rows, SEXP cols) {
  return crossing(R_NilValue, [&](Monitor& monitor) {
    return write(fit_scale(read<CellTriplets>(x, "x").observed(), flag(rows), flag(cols), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_mixed_dual_norm(SEXP g, SEXP t, SEXP b, SEXP tol, SEXP max_iter, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(mixed_dual_norm(matrix(g), number(t), number(b), number(tol), count(max_iter), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_sign_norms(SEXP x, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(sign_norms(read<CellTriplets>(x, "x").observed(), read<SignNormOptions>(options), rng(seed), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_mean_absolute_sum(SEXP h) {
  return crossing([&] { return write(VectorXd(vector(h).unaryExpr(&mean_absolute_sum))); });
}
