// Exports of the classifiers of the benchmark.
#include "ensemble/kernel_elm.h"
#include "ensemble/plain_classifiers.h"
#include "r_door.h"

using namespace granary;
using namespace granary::ensemble;

// [[Rcpp::export(rng = false)]]
SEXP core_kernel_elm(SEXP x, SEXP y, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    return write(kernel_elm(matrix(x), labels(y, "y"), read<KernelElmOptions>(options), draws, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_kernel_elm_values(SEXP x, SEXP centers, SEXP beta, SEXP gamma) {
  return crossing([&] { return write(kernel_elm_values(matrix(x), matrix(centers, "centers"), matrix(beta, "beta"),
      number(gamma, "gamma"))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_elm(SEXP x, SEXP y, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    return write(elm(matrix(x), labels(y, "y"), read<ElmOptions>(options), draws, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_elm_values(SEXP x, SEXP fit) {
  return crossing([&] { return write(elm_values(matrix(x), read_state<Elm>(fit))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_plain_classifier(SEXP x, SEXP y, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    return write(plain_classifier(matrix(x), labels(y, "y"), read<PlainOptions>(options), draws, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_plain_probabilities(SEXP x, SEXP fit, SEXP threads, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(plain_probabilities(matrix(x), read_state<PlainFit>(fit), count(threads, "threads"), monitor));
  });
}
