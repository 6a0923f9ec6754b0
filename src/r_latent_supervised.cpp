// Exports of supervised clustering and of the concentration of Dirichlet processes.
#include "latent/concentration.h"
#include "latent/supervised_baseline.h"
#include "latent/supervised_cluster.h"
#include "r_door.h"

using namespace granary;
using namespace granary::latent;

GRANARY_DEFAULTS(supervised_cluster, SupervisedOptions);

namespace {

VectorXi groups(SEXP x, const char* what) { return labels(x, what); }  // 0, "unknown", becomes -1

struct GammaLaw {
  double shape = 1, rate = 1;
};
template <class V>
void fields(V& v, GammaLaw& t) {
  v("shape", t.shape);
  v("rate", t.rate);
}

}  // namespace

// label: 0 where a row is to be clustered.
// [[Rcpp::export(rng = false)]]
SEXP core_supervised_cluster(SEXP x, SEXP label, SEXP domain, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng stream = rng(seed);
    return write(supervised_cluster(matrix(x), groups(label, "cluster"), groups(domain, "group"), read<SupervisedOptions>(options), stream, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_pairwise_cluster(SEXP x, SEXP cluster, SEXP newx, SEXP folds, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng stream = rng(seed);
    return write(pairwise_cluster(matrix(x), labels(cluster, "cluster"), matrix(newx), count(folds, "folds"), 200000, stream, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_concentration(SEXP n, SEXP k, SEXP law, SEXP draws, SEXP seed) {
  return crossing([&] {
    Rng stream = rng(seed);
    const GammaLaw prior = read<GammaLaw>(law, "prior");
    return write(concentration_draws(vector(n, "n"), vector(k, "k"), prior.shape, prior.rate, count(draws, "n_draws"), stream));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_concentration_density(SEXP at, SEXP n, SEXP k, SEXP law) {
  return crossing([&] {
    const GammaLaw prior = read<GammaLaw>(law, "prior");
    return write(concentration_log_density(vector(at, "at"), vector(n, "n"), vector(k, "k"), prior.shape, prior.rate));
  });
}
