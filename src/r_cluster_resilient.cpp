// Exports of clustering that survives perturbed distances.
#include "cluster/k_center.h"
#include "cluster/resilient_cluster.h"
#include "core/cluster/data_rows.h"
#include "r_door.h"

using namespace granary;
using namespace granary::cluster;

GRANARY_DEFAULTS(resilient_cluster, ResilientOptions);
GRANARY_DEFAULTS(k_center, KCenterOptions);

// [[Rcpp::export(rng = false)]]
SEXP core_resilient_cluster(SEXP d, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) { return write(resilient_cluster(matrix(d, "d"), read<ResilientOptions>(options), monitor)); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_triangle_violation(SEXP d, SEXP threads, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) { return write(triangle_violation(matrix(d, "d"), count(threads, "threads"), monitor)); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_cluster_resilience(SEXP d, SEXP cluster, SEXP options, SEXP recluster, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    const Recluster own = is_null(recluster) ? Recluster() : Recluster(Callback<VectorXi, MatrixXd>(recluster));
    return write(cluster_resilience(matrix(d, "d"), labels(cluster, "cluster"), read<ResilienceOptions>(options), own, draws, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_perturb_metric(SEXP d, SEXP alpha, SEXP law, SEXP metric, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    return write(perturb_metric(matrix(d, "d"), number(alpha, "alpha"), read<PerturbationLaw>(law, "type"), flag(metric, "metric"), draws, monitor));
  });
}

// Distances `d`, or the Euclidean ones of the rows `x`, column by column.
// [[Rcpp::export(rng = false)]]
SEXP core_k_center(SEXP d, SEXP x, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const auto how = read<KCenterOptions>(options);
    if (is_null(x)) {
      const auto all = matrix(d, "d");
      return write(k_center(all.rows(), [&](Index i) -> VectorXd { return all.col(i); }, how, monitor));
    }
    const DataRows rows(design(x));
    return write(k_center(rows.rows(), [&](Index i) -> VectorXd { return rows.squared_distances(i).cwiseSqrt(); }, how, monitor));
  });
}
