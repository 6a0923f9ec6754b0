// Exports of the Nystrom approximation and of what works on its features.
#include "kernel/kernel_pca.h"
#include "kernel/kernel_ridge.h"
#include "kernel/nystrom.h"
#include "r_core_kernel_rows.h"
#include "r_core_source.h"

using namespace granary;
using namespace granary::kernel;

GRANARY_DEFAULTS(nystrom, NystromOptions);
GRANARY_DEFAULTS(kernel_ridge, RidgeOptions);

// [[Rcpp::export(rng = false)]]
SEXP core_nystrom(SEXP x, SEXP kernel, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    return write(nystrom(*gram_source(x, kernel), read<NystromOptions>(options), draws, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_nystrom_points(SEXP x, SEXP points, SEXP kernel, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const Kernel k(read<KernelSpec>(kernel, "kernel"), matrix(x).cols());
    const NystromOptions settings = read<NystromOptions>(options);
    return write(nystrom_points(k.cross(matrix(x), matrix(points), settings.threads, monitor),
                                k.cross(matrix(points), matrix(points)), k.diagonal(matrix(x), false), settings, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_nystrom_kmeans(SEXP x, SEXP kernel, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    MatrixXd centres;
    const Kernel k(read<KernelSpec>(kernel, "kernel"), matrix(x).cols());
    const NystromResult found = nystrom_kmeans(k, matrix(x), read<NystromOptions>(options), centres, draws, monitor);
    return write_list("found", found, "centers", centres);
  });
}

// The kernel of new rows with the landmarks: a row for each new one.
// [[Rcpp::export(rng = false)]]
SEXP core_landmark_kernel(SEXP newdata, SEXP points, SEXP kernel, SEXP threads, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    if (is_sparse(newdata) || is_sparse(points))
      return write(MatrixXd(cross_kernel(make_kernel_rows(points, kernel), newdata).transpose()));
    const Kernel k(read<KernelSpec>(kernel, "kernel"), matrix(points).cols());
    return write(k.cross(matrix(newdata), matrix(points), count(threads), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_kernel_diagonal(SEXP x, SEXP kernel, SEXP threads, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(gram_source(x, kernel)->diagonal(Work{count(threads), monitor}));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_nystrom_error(SEXP x, SEXP kernel, SEXP features, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    return write(nystrom_error(*gram_source(x, kernel), matrix(features), read<NystromErrorOptions>(options), draws, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_nystrom_bound(SEXP k, SEXP value, SEXP delta, SEXP spectral, SEXP beta, SEXP columns) {
  return crossing([&] {
    return write(flag(columns) ? nystrom_columns(count(k), number(value), number(delta), flag(spectral), number(beta))
                               : nystrom_eps(count(k), number(value), number(delta), flag(spectral), number(beta)));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_kernel_ridge(SEXP z, SEXP parametric, SEXP y, SEXP weights, SEXP options) {
  return crossing([&] {
    return write(kernel_ridge(matrix(z), matrix(parametric), vector(y), vector(weights), read<RidgeOptions>(options)));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_ridge_variance(SEXP z, SEXP parametric, SEXP left, SEXP covariance, SEXP noise_var, SEXP lambda) {
  return crossing([&] {
    return write(ridge_variance(matrix(z), matrix(parametric), vector(left), matrix(covariance), number(noise_var),
                                number(lambda)));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_kernel_pca(SEXP z, SEXP k, SEXP type) {
  return crossing([&] { return write(kernel_pca(matrix(z), count(k), read<Embedding>(type, "type"))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_pca_scores(SEXP z, SEXP rotation, SEXP mean, SEXP type) {
  return crossing([&] { return write(pca_scores(matrix(z), matrix(rotation), vector(mean), read<Embedding>(type, "type"))); });
}

// On [a, b] with n nodes.
// [[Rcpp::export(rng = false)]]
SEXP core_eigenfunctions(SEXP kernel, SEXP range, SEXP n, SEXP k, SEXP threads, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const Kernel made(read<KernelSpec>(kernel, "kernel"), 1);
    return write(kernel_eigenfunctions(made, vector(range)[0], vector(range)[1], count(n), count(k), count(threads), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_eigenfunctions_at(SEXP kernel, SEXP x, SEXP k, SEXP threads, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const Kernel made(read<KernelSpec>(kernel, "kernel"), matrix(x).cols());
    return write(kernel_eigenfunctions(made, matrix(x), count(k), count(threads), monitor));
  });
}
