// Exports of sparse Gaussian process regression and the relevance vector machine.
#include "process/rvm.h"
#include "process/sparse_learn.h"
#include "r_core_kernel.h"

using namespace granary;
using namespace granary::process;

GRANARY_DEFAULTS(sparse_gp, SparseLearnOptions);
GRANARY_DEFAULTS(rvm, RvmOptions);

// [[Rcpp::export(rng = false)]]
SEXP core_sparse_gp(SEXP data, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(sparse_learn(read<SparseData>(data, "data"), read<SparseLearnOptions>(options), rng(seed), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_sparse_sample(SEXP data, SEXP start, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(sparse_parameter_sample(read<SparseData>(data, "data"), read<SparseSampleData>(start, "start"),
                                         read<ParameterSampleOptions>(options), rng(seed), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_sparse_add(SEXP fit, SEXP data) {
  return crossing(R_NilValue, [&](Monitor& monitor) {
    return write(sparse_grow(read_state<SparseKept>(fit), read<SparseData>(data, "data"), monitor));
  });
}

// `data`: the rows of the fit where the prediction looks at them again, else NULL.
// [[Rcpp::export(rng = false)]]
SEXP core_sparse_predict(SEXP fit, SEXP data, SEXP points, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const auto rows = read<std::optional<SparseData>>(data, "data");
    return write(sparse_prediction(read_state<SparseKept>(fit), rows ? &*rows : nullptr, read<SparsePoints>(points, "points"),
                                   read<SparsePredictOptions>(options), monitor));
  });
}

// The block of each row.
// [[Rcpp::export(rng = false)]]
SEXP core_sparse_blocks(SEXP x, SEXP size, SEXP threads, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng random = rng(seed);
    VectorXi blocks = balanced_blocks(matrix(x), count(size), count(threads), random, monitor);
    return write(positions(blocks));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_rvm(SEXP data, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(rvm_fit(read<RvmData>(data, "data"), read<RvmOptions>(options), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_rvm_predict(SEXP state, SEXP newx, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(rvm_predict(read_state<RvmState>(state), matrix(newx, "newdata"), read<RvmPredictOptions>(options), monitor));
  });
}
