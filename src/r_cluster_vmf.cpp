// Exports of von Mises-Fisher mixtures and spherical k-means.
#include "cluster/vmf.h"
#include "cluster/vmf_diagnostics.h"
#include "cluster/vmf_spherical.h"
#include "core/math/bessel.h"
#include "r_door.h"

using namespace granary;
using namespace granary::cluster;

GRANARY_DEFAULTS(vmf_mixture, VmfOptions);
GRANARY_DEFAULTS(spherical_kmeans, SphericalOptions);

namespace {

VectorXi labels_of(SEXP labels) {  // from 0
  VectorXi out;
  door::convert(door::Source{labels, "cluster", false}, out);
  door::shift(out);
  return out;
}

}  // namespace

// Lengths of the rows.
// [[Rcpp::export(rng = false)]]
SEXP core_row_lengths(SEXP x) {
  return crossing([&] { return write(DataRows(design(x)).lengths()); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_vmf_mixture(SEXP x, SEXP weights, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    DataRows rows(design(x));
    rows.normalise();
    return write(vmf_mixture(rows, vector(weights, "weights"), read<VmfOptions>(options), draws, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_spherical_kmeans(SEXP x, SEXP weights, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    DataRows rows(design(x));
    rows.normalise();
    return write(spherical_kmeans(rows, vector(weights, "weights"), read<SphericalOptions>(options), draws, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_vmf_law(SEXP x, SEXP weights, SEXP method, SEXP kappa_max) {
  return crossing([&] {
    DataRows rows(design(x));
    rows.normalise();
    return write(vmf_law(rows, vector(weights, "weights"), read<VmfEstimator>(method, "method"), number(kappa_max, "kappa_max")));
  });
}

// Log-densities of rows, which are scaled to length 1, under a mixture, and memberships.
// [[Rcpp::export(rng = false)]]
SEXP core_vmf_rows(SEXP x, SEXP parameters, SEXP threads, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    DataRows rows(design(x));
    rows.normalise();
    const VmfRows found = vmf_rows(rows, read<VmfParameters>(parameters, "parameters"), count(threads, "threads"), monitor);
    return write(found);
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_vmf_draws(SEXP n, SEXP parameters, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    return write(vmf_draws(count(n, "n"), read<VmfParameters>(parameters, "parameters"), draws, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_cluster_cohesion(SEXP x, SEXP cluster) {
  return crossing([&] {
    DataRows rows(design(x));
    rows.normalise();
    const VectorXi label = labels_of(cluster);
    return write(cohesion(rows, label, label.maxCoeff() + 1));
  });
}

// what: a calculator of von Mises-Fisher laws, for each element of `at` (kappa or mean resultant length).
// [[Rcpp::export(rng = false)]]
SEXP core_vmf_table(SEXP what, SEXP at, SEXP d, SEXP method) {
  return crossing([&] { return write(vmf_table(read<VmfTable>(what, "what"), vector(at, "at"), number(d, "d"), read<VmfEstimator>(method, "method"))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_pac_mdl(SEXP counts, SEXP delta) {
  return crossing([&] {
    const VectorView c = vector(counts, "counts");
    return write(pac_mdl(c[0], c[1], c[2], c[3], c[4], number(delta, "delta")));
  });
}
