// Exports that every clustering uses: labels of new rows by linear scores, agreement of labellings, silhouettes.
#include "core/cluster/agreement.h"
#include "core/cluster/linear_scores.h"
#include "core/cluster/principal_plane.h"
#include "r_door.h"

using namespace granary;

// The best cluster of each row (numbers from 1) under scores x'theta_h + bias_h.
// [[Rcpp::export(rng = false)]]
SEXP core_cluster_best(SEXP x, SEXP theta, SEXP bias, SEXP threads, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const LinearScores scores{matrix(theta, "theta"), vector(bias, "bias")};
    const BestScores best = best_scores(DataRows(design(x)), scores, count(threads, "threads"), monitor);
    return write_list("cluster", VectorXi(best.cluster.array() + 1), "score", best.score, "lead", best.lead);
  });
}

// Their memberships.
// [[Rcpp::export(rng = false)]]
SEXP core_cluster_membership(SEXP x, SEXP theta, SEXP bias, SEXP threads, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const LinearScores scores{matrix(theta, "theta"), vector(bias, "bias")};
    MatrixXd membership;
    soft_pass(DataRows(design(x)), VectorXd(), scores, Membership::soft, 0, &membership, count(threads, "threads"), monitor);
    return write(membership);
  });
}

// Labels from 1.
// [[Rcpp::export(rng = false)]]
SEXP core_cluster_agreement(SEXP first, SEXP second, SEXP weights, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) { return write(agreement(labels(first, "first"), labels(second, "second"), vector(weights, "weights"), monitor)); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_cluster_silhouettes(SEXP x, SEXP cluster, SEXP distance, SEXP threads, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const VectorXi label = labels(cluster, "cluster");
    const auto how = read<SilhouetteDistance>(distance, "distance");
    return write(silhouettes(DataRows(design(x)), label, label.maxCoeff() + 1, how, count(threads, "threads"), monitor));
  });
}

// Rows and centres on the plane of the two directions in which the rows vary most.
// [[Rcpp::export(rng = false)]]
SEXP core_cluster_plane(SEXP x, SEXP centers, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) { return write(principal_plane(design(x), matrix(centers, "centers"), monitor)); });
}
