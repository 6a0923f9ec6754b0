// The lasso: core/optim/lasso.h.
#include "core/optim/lasso.h"
#include "r_door.h"

using namespace granary;

GRANARY_DEFAULTS(lasso, LassoOptions);

// `x` is a double matrix or a dgCMatrix.
// [[Rcpp::export(rng = false)]]
SEXP core_lasso(SEXP x, SEXP y, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(lasso_path(design(x), vector(y, "y"), read<LassoOptions>(options), monitor));
  });
}
