// Exports of latent variable models and of the maps they are compared with.
#include "process/gplvm_fit.h"
#include "process/gplvm_likelihood.h"
#include "process/gtm.h"
#include "process/isomap.h"
#include "process/mds.h"
#include "r_core_kernel.h"

using namespace granary;
using namespace granary::process;

GRANARY_DEFAULTS(gplvm, GplvmOptions);
GRANARY_DEFAULTS(gtm, GtmOptions);
GRANARY_DEFAULTS(mds, MdsFitOptions);
GRANARY_DEFAULTS(isomap, IsomapOptions);

// [[Rcpp::export(rng = false)]]
SEXP core_gplvm_start(SEXP y, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng random = rng(seed);
    return write(gplvm_start(matrix(y, "x"), read<GplvmStartOptions>(options), random, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_gplvm(SEXP data, SEXP start, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(gplvm_fit(read<GplvmData>(data, "data"), matrix(start, "init"), read<GplvmOptions>(options), monitor));
  });
}

// The likelihood of given latent positions, with its gradients.
// [[Rcpp::export(rng = false)]]
SEXP core_gplvm_value(SEXP data, SEXP latent, SEXP nugget) {
  return crossing(R_NilValue, [&](Monitor& monitor) {
    const GplvmData d = read<GplvmData>(data, "data");
    const MatrixView x = matrix(latent, "latent");
    VectorXd parameters;
    MatrixXd slope;
    const double value =
        GplvmLikelihood(d.targets(), number(nugget))(Kernel(d.kernel, x.cols()), x, &parameters, &slope, monitor);
    return write_list("value", value, "parameters", parameters, "latent", slope);
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_gplvm_predict(SEXP model, SEXP x, SEXP with_noise) {
  return crossing(R_NilValue, [&](Monitor& monitor) {
    return write(gplvm_predict(read_state<GplvmState>(model), matrix(x, "newdata"), flag(with_noise), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_gplvm_draws(SEXP model, SEXP x, SEXP nsim, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng random = rng(seed);
    return write(gplvm_draws(read_state<GplvmState>(model), matrix(x, "newdata"), count(nsim), random, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_gplvm_project(SEXP model, SEXP data, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const ProjectData d = read<ProjectData>(data, "data");
    Rng random = rng(seed);
    return write(project_rows(GplvmPosterior(read_state<GplvmState>(model).model()), d.y, d.train_latent, d.train_y,
                              read<ProjectOptions>(options), random, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_dual_pca(SEXP y, SEXP q) {
  return crossing(R_NilValue, [&](Monitor& monitor) { return write(dual_pca_fit(matrix(y, "x"), count(q, "k"), monitor)); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_dimension_kl(SEXP s, SEXP options) {
  return crossing([&] { return write(dimension_kl(matrix(s, "s"), read<DimensionKlOptions>(options))); });
}
// [[Rcpp::export(rng = false)]]
SEXP core_isomap(SEXP y, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const IsomapOptions o = read<IsomapOptions>(options);
    return write(isomap(matrix(y, "x"), o.q, o.neighbors, o.threads, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_isomap_place(SEXP state, SEXP newdata, SEXP threads, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(isomap_place(read_state<IsomapState>(state), matrix(newdata, "newdata"), count(threads, "threads"), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_mds(SEXP distance, SEXP start, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(mds_fit(matrix(distance, "x"), matrix(start, "init"), read<MdsFitOptions>(options), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_gtm(SEXP y, SEXP q, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(gtm(matrix(y, "x"), count(q, "k"), read<GtmOptions>(options), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_gtm_place(SEXP y, SEXP state) {
  return crossing([&] {
    const GtmState s = read_state<GtmState>(state);
    GtmPlaces out;
    gtm_place(matrix(y, "newdata"), s.grid, s.raw_centres, s.raw_noise, out.latent, out.log_likelihood);
    return write(out);
  });
}
