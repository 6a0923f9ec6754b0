// Exports of Dirichlet, Pitman-Yor and finite mixtures: laws of partitions, chains, exact posteriors, estimates, bounds, prediction.
#include "core/cluster/pair_agreement.h"
#include "latent/partition_bounds.h"
#include "latent/partition_estimate.h"
#include "latent/partition_exact.h"
#include "latent/partition_gibbs.h"
#include "latent/partition_predict.h"
#include "latent/richardson_green.h"
#include "r_door.h"

using namespace granary;
using namespace granary::latent;

GRANARY_DEFAULTS(dp_mixture, ChainOptions);
GRANARY_DEFAULTS(partition_estimate, EstimateOptions);

namespace {

struct Draws {  // what prediction needs of a fit
  Eigen::MatrixXi partitions;
  VectorXd theta, parameters;
  int threads = 1;
};
template <class V>
void fields(V& v, Draws& t) {
  v("partitions", positions(t.partitions));
  v("theta", t.theta);
  v("parameters", t.parameters);
  v("threads", t.threads);
}

}  // namespace

// [[Rcpp::export(rng = false)]]
SEXP core_partition_prior(SEXP prior, SEXP n, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) { return write(prior_count(read<PartitionPrior>(prior, "prior"), count(n, "n"), monitor)); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_partition_draws(SEXP prior, SEXP n, SEXP draws, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng stream = rng(seed);
    Eigen::MatrixXi out = draw_partitions(read<PartitionPrior>(prior, "prior"), count(n, "n"), count(draws, "n_draws"), stream, monitor);
    out.array() += 1;
    return write(out);
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_dp_mixture(SEXP x, SEXP family, SEXP prior, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng stream = rng(seed);
    const auto blocks = make_family(matrix(x), read<FamilySpec>(family, "hyper"));
    return write(collapsed_gibbs(*blocks, read<PartitionPrior>(prior, "prior"), read<ChainOptions>(options), stream, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_dp_mixture_rg(SEXP x, SEXP prior, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng stream = rng(seed);
    return write(richardson_green(vector(x), read<PartitionPrior>(prior, "prior"), read<ChainOptions>(options), stream, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_partition_exact(SEXP x, SEXP family, SEXP prior, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(exact_posterior(matrix(x), read<FamilySpec>(family, "hyper"), read<PartitionPrior>(prior, "prior"), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_partition_estimate(SEXP draws, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) { return write(estimate_partition(matrix_of_places(draws, "draws"), read<EstimateOptions>(options), monitor)); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_partition_similarity(SEXP draws, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) { return write(similarity(matrix_of_places(draws, "draws"), monitor)); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_partition_sizes(SEXP draws, SEXP share) {
  return crossing([&] { return write(size_profile(matrix_of_places(draws, "draws"), number(share, "share"))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_partition_bound(SEXP x, SEXP family, SEXP prior, SEXP t, SEXP exact, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const auto blocks = make_family(matrix(x), read<FamilySpec>(family, "hyper"));
    return write(count_bound(*blocks, read<PartitionPrior>(prior, "prior"), count(t, "t"), flag(exact, "exact"), monitor));
  });
}

// Rows of the fit first, then those at which the density is wanted.
// [[Rcpp::export(rng = false)]]
SEXP core_dp_density(SEXP x, SEXP family, SEXP prior, SEXP draws, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const auto blocks = make_family(matrix(x), read<FamilySpec>(family, "hyper"));
    const Draws d = read<Draws>(draws, "object");
    return write(predictive_density(*blocks, read<PartitionPrior>(prior, "prior"), d.partitions, d.theta, d.threads, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_dp_density_rg(SEXP at, SEXP x, SEXP prior, SEXP draws, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng stream = rng(seed);
    const Draws d = read<Draws>(draws, "object");
    return write(richardson_green_density(vector(at), vector(x), read<PartitionPrior>(prior, "prior"), d.partitions, d.theta, d.parameters, stream, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_dp_membership(SEXP x, SEXP family, SEXP prior, SEXP cluster) {
  return crossing([&] {
    const auto blocks = make_family(matrix(x), read<FamilySpec>(family, "hyper"));
    return write(predictive_membership(*blocks, read<PartitionPrior>(prior, "prior"), labels(cluster, "cluster")));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_dp_draw(SEXP family, SEXP prior, SEXP n, SEXP columns, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng stream = rng(seed);
    return write(draw_mixture(read<FamilySpec>(family, "hyper"), read<PartitionPrior>(prior, "prior"), count(n, "n"), count(columns, "p"), stream, monitor));
  });
}

// Rows of the fit first, then rows to be overwritten by draws.
// [[Rcpp::export(rng = false)]]
SEXP core_dp_more(SEXP x, SEXP family, SEXP prior, SEXP cluster, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng stream = rng(seed);
    const auto blocks = make_family(matrix(x), read<FamilySpec>(family, "hyper"));
    return write(draw_more(*blocks, labels(cluster, "cluster"), read<PartitionPrior>(prior, "prior"), stream, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_dp_centers(SEXP x, SEXP family, SEXP cluster) {
  return crossing([&] { return write(block_centres(*make_family(matrix(x), read<FamilySpec>(family, "hyper")), labels(cluster, "cluster"))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_cluster_pairs(SEXP truth, SEXP cluster) {
  return crossing([&] { return write(pair_agreement(labels(truth, "truth"), labels(cluster, "cluster"))); });
}
