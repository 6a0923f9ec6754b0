// Exports of latent variable models and of the maps they are compared with. Conversion only: the methods are in process/gplvm*.h,
// process/isomap.h, process/mds.h and process/gtm.h, the checks in R/gplvm*.R, R/mds.R and R/dppca.R.
#include "process/gplvm.h"
#include "process/gplvm_dual.h"
#include "process/gtm.h"
#include "process/isomap.h"
#include "process/mds.h"
#include "r_glue.h"
#include "r_core_kernel.h"

using namespace granary;
using namespace granary::process;
using Rcpp::Named;

namespace {

using MatrixMap = Eigen::Map<Eigen::MatrixXd>;

NoisyTargets as_targets(const MatrixMap& y, const MatrixMap& noise) {
  NoisyTargets targets;
  targets.y = y;
  if (noise.size() > 0) targets.noise = noise;
  return targets;
}

// A fit as R holds it: see new_gplvm() in R/gplvm.R.
GplvmModel as_model(const Rcpp::List& model) {
  const MatrixMap latent = Rcpp::as<MatrixMap>(model["latent"]);
  return {Kernel(as_kernel_spec(model["kernel"]), latent.cols()),
          latent,
          as_targets(Rcpp::as<MatrixMap>(model["y"]), Rcpp::as<MatrixMap>(model["noise"])),
          0,
          Rcpp::as<bool>(model["bernoulli"]) ? OutputNoise::bernoulli : OutputNoise::gaussian,
          Rcpp::as<VectorXd>(model["offset"]),
          Rcpp::as<bool>(model["prior"])};
}

Rcpp::IntegerVector one_based(const std::vector<Index>& rows) {
  Rcpp::IntegerVector out(static_cast<R_xlen_t>(rows.size()));
  for (std::size_t k = 0; k < rows.size(); ++k) out[static_cast<R_xlen_t>(k)] = static_cast<int>(rows[k]) + 1;
  return out;
}

}  // namespace

// [[Rcpp::export(rng = false)]]
Rcpp::List core_gplvm(const Eigen::Map<Eigen::MatrixXd>& y, const Eigen::Map<Eigen::MatrixXd>& noise,
                      const Eigen::Map<Eigen::MatrixXd>& start, const Rcpp::List& kernel, const Rcpp::List& settings, int threads,
                      SEXP progress) {
  RMonitor monitor(progress);
  GplvmOptions options;
  options.noise = Rcpp::as<bool>(settings["bernoulli"]) ? OutputNoise::bernoulli : OutputNoise::gaussian;
  options.offset = Rcpp::as<VectorXd>(settings["offset"]);
  options.nugget = settings["nugget"];
  options.prior = settings["prior"];
  options.max_iter = settings["max_iter"];
  options.tol = settings["tol"];
  options.rounds = settings["rounds"];
  options.active = Rcpp::as<int>(settings["active"]);
  options.move_active = settings["move_active"];
  options.threads = threads;
  const Kernel k(as_kernel_spec(kernel), start.cols());
  const NoisyTargets targets = as_targets(y, noise);
  const GplvmResult fit = Rcpp::as<bool>(settings["sparse"]) ? gplvm_sparse(targets, start, k, options, monitor)
                                                             : gplvm_full(targets, start, k, options, monitor);
  return Rcpp::List::create(Named("latent") = fit.latent, Named("log_parameters") = fit.parameters,
                            Named("log_likelihood") = fit.log_likelihood, Named("objective") = fit.objective,
                            Named("trace") = fit.trace, Named("active") = one_based(fit.active), Named("sites") = fit.targets.y,
                            Named("site_noise") = fit.targets.noise, Named("convergence") = as_list(fit.convergence));
}

// The likelihood of given latent positions, with its gradients.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_gplvm_value(const Eigen::Map<Eigen::MatrixXd>& y, const Eigen::Map<Eigen::MatrixXd>& noise,
                            const Eigen::Map<Eigen::MatrixXd>& latent, const Rcpp::List& kernel, double nugget, int threads) {
  RMonitor monitor(R_NilValue);
  VectorXd parameters;
  MatrixXd dx;
  const double value = GplvmLikelihood(as_targets(y, noise), nugget, threads)(Kernel(as_kernel_spec(kernel), latent.cols()),
                                                                              latent, &parameters, &dx, monitor);
  return Rcpp::List::create(Named("value") = value, Named("parameters") = parameters, Named("latent") = dx);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_gplvm_predict(const Rcpp::List& model, const Eigen::Map<Eigen::MatrixXd>& x, bool with_noise) {
  RMonitor monitor(R_NilValue);
  MatrixXd mean, variance;
  GplvmPosterior(as_model(model)).predict(x, with_noise, mean, variance, monitor);
  return Rcpp::List::create(Named("mean") = mean, Named("variance") = variance);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_gplvm_project(const Rcpp::List& model, const Eigen::Map<Eigen::MatrixXd>& y,
                              const Eigen::Map<Eigen::MatrixXd>& train_latent, const Eigen::Map<Eigen::MatrixXd>& train_y,
                              int n_starts, int max_iter, int samples, int threads, Rcpp::NumericVector seed, SEXP progress) {
  RMonitor monitor(progress);
  Rng rng = make_rng(seed);
  ProjectOptions options;
  options.n_starts = n_starts;
  options.max_iter = max_iter;
  options.samples = samples;
  options.threads = threads;
  const Projection found = project_rows(GplvmPosterior(as_model(model)), y, train_latent, train_y, options, rng, monitor);
  return Rcpp::List::create(Named("x") = found.x, Named("log_likelihood") = found.log_likelihood,
                            Named("objective") = found.objective, Named("log_marginal") = found.log_marginal,
                            Named("log_marginal_se") = found.log_marginal_se, Named("modes") = Rcpp::wrap(found.modes),
                            Named("mode_objectives") = Rcpp::wrap(found.mode_objectives));
}

// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd core_pca_scores(const Eigen::Map<Eigen::MatrixXd>& y, int q) {
  RMonitor monitor(R_NilValue);
  return pca_scores(y, q, monitor);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_dual_pca(const Eigen::Map<Eigen::MatrixXd>& y, int q) {
  RMonitor monitor(R_NilValue);
  const DualPca fit = dual_pca(y, q, monitor);
  return Rcpp::List::create(Named("latent") = fit.x, Named("eigenvalues") = fit.eigenvalues, Named("noise") = fit.noise,
                            Named("ppca_noise") = fit.ppca_noise, Named("log_likelihood") = fit.log_likelihood);
}

// `centre`: J S J in the place of S.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_similarity_map(const Eigen::Map<Eigen::MatrixXd>& s, int q, bool centre) {
  RMonitor monitor(R_NilValue);
  MatrixXd similarity = s;
  if (centre) centre_both(similarity);
  const SimilarityMap map = similarity_map(similarity, q, monitor);
  return Rcpp::List::create(Named("latent") = map.x, Named("values") = map.values);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_isomap(const Eigen::Map<Eigen::MatrixXd>& y, int q, int neighbours, int threads, SEXP progress) {
  RMonitor monitor(progress);
  const IsomapResult fit = isomap(y, q, neighbours, threads, monitor);
  return Rcpp::List::create(Named("latent") = fit.x, Named("values") = fit.values, Named("distance") = fit.distance,
                            Named("neighbours") = fit.neighbours, Named("residual") = fit.residual);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_mds(const Eigen::Map<Eigen::MatrixXd>& distance, const Eigen::Map<Eigen::MatrixXd>& start, bool nonmetric,
                    int max_iter, double tol, SEXP progress) {
  RMonitor monitor(progress);
  MdsOptions options;
  options.nonmetric = nonmetric;
  options.max_iter = max_iter;
  options.tol = tol;
  const MdsResult fit = mds(distance, start, options, monitor);
  return Rcpp::List::create(Named("latent") = fit.x, Named("stress") = fit.stress,
                            Named("convergence") = as_list(fit.convergence));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_gtm(const Eigen::Map<Eigen::MatrixXd>& y, int q, int grid, int basis, double width, double penalty, int max_iter,
                    double tol, SEXP progress) {
  RMonitor monitor(progress);
  GtmOptions options;
  options.grid = grid;
  options.basis = basis;
  options.width = width;
  options.penalty = penalty;
  options.max_iter = max_iter;
  options.tol = tol;
  const GtmResult fit = gtm(y, q, options, monitor);
  return Rcpp::List::create(Named("latent") = fit.x, Named("grid") = fit.grid, Named("centres") = fit.centres,
                            Named("noise") = fit.noise, Named("log_likelihood") = fit.log_likelihood, Named("trace") = fit.trace,
                            Named("convergence") = as_list(fit.convergence));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_gtm_place(const Eigen::Map<Eigen::MatrixXd>& y, const Eigen::Map<Eigen::MatrixXd>& grid,
                          const Eigen::Map<Eigen::MatrixXd>& centres, double noise) {
  MatrixXd x;
  VectorXd log_likelihood;
  gtm_place(y, grid, centres, noise, x, log_likelihood);
  return Rcpp::List::create(Named("latent") = x, Named("log_likelihood") = log_likelihood);
}
