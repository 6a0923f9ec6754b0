// Exports of clustering with Bregman divergences.
#include "cluster/bregman_cluster.h"
#include "r_door.h"

using namespace granary;
using namespace granary::cluster;

GRANARY_DEFAULTS(bregman_cluster, BregmanOptions);

namespace {

// A family is a list of kinds of columns, or of the functions phi, gradient and inverse (or NULL) of the user,
// or the matrix of a Mahalanobis divergence.
BregmanFamily family_of(SEXP family) {
  SEXP columns = door::element(family, "columns"), inverse = door::element(family, "inverse"), a = door::element(family, "matrix");
  if (a != nullptr && !is_null(a)) return mahalanobis_family(matrix(a, "parameter"));
  if (columns != nullptr && !is_null(columns)) return BregmanFamily(read<std::vector<ColumnDivergence>>(columns, "columns"));
  return BregmanFamily(Callback<VectorXd, MatrixXd>(door::element(family, "phi")), Callback<MatrixXd, MatrixXd>(door::element(family, "gradient")),
                       inverse == nullptr || is_null(inverse) ? BregmanFamily::Table() : Callback<MatrixXd, MatrixXd>(inverse));
}

}  // namespace

// [[Rcpp::export(rng = false)]]
SEXP core_bregman_cluster(SEXP x, SEXP weights, SEXP family, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    return write(bregman_cluster(design(x), vector(weights, "weights"), family_of(family), read<BregmanOptions>(options), draws, monitor));
  });
}

// The domain of the divergence, and log b(x_i) where there is a likelihood.
// [[Rcpp::export(rng = false)]]
SEXP core_bregman_base(SEXP x, SEXP family, SEXP likelihood) {
  return crossing([&] {
    const BregmanFamily divergence = family_of(family);
    divergence.check_domain(design(x), flag(likelihood));
    return write_list("has_likelihood", divergence.has_likelihood(), "log_base", divergence.has_likelihood() ? divergence.log_base(design(x)) : VectorXd());
  });
}

// what: "divergence" (all pairs of rows), "gradient", "inverse", "phi" (a column).
// [[Rcpp::export(rng = false)]]
SEXP core_bregman_table(SEXP x, SEXP y, SEXP family, SEXP what) {
  return crossing([&] { return write(bregman_table(matrix(x), matrix(y, "y"), family_of(family), read<BregmanTable>(what, "what"))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_bregman_information(SEXP x, SEXP weights, SEXP family, SEXP cluster) {
  return crossing([&] { return write(bregman_information(design(x), vector(weights, "weights"), family_of(family), labels(cluster, "cluster"))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_bregman_rate(SEXP data, SEXP family, SEXP beta, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    const RateData from = read<RateData>(data, "data");
    return write(rate_curve(from.x, from.weights, family_of(family), numbers(beta, "beta"), from.support, read<BregmanOptions>(options), draws, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_bregman_draws(SEXP n, SEXP centers, SEXP share, SEXP family, SEXP size, SEXP seed) {
  return crossing([&] {
    Rng draws = rng(seed);
    return write(bregman_draws(count(n, "n"), matrix(centers, "centers"), vector(share, "share"), family_of(family), static_cast<std::int64_t>(number(size)), draws));
  });
}
