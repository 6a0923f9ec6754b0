// Exports of multi-task averaging. Conversion only: regress/mta*.h, checks in R/mta.R.
#include "r_glue.h"
#include "regress/mta.h"
#include "regress/mta_loo.h"
#include "regress/mta_vector.h"

using namespace granary;
using namespace granary::regress;

namespace {

Noise as_noise(const std::string& noise) {
  return noise == "pooled" ? Noise::pooled : noise == "own" ? Noise::own : Noise::given;
}

Estimator as_estimator(const std::string& name) {
  if (name == "single") return Estimator::single;
  if (name == "pooled") return Estimator::pooled;
  if (name == "average") return Estimator::average;
  if (name == "james_stein") return Estimator::james_stein;
  if (name == "james_stein_effective") return Estimator::james_stein_effective;
  if (name == "shrink_average") return Estimator::shrink_average;
  return name == "constant" ? Estimator::constant : Estimator::minimax;
}

ConstSparseMap sparse_view(const Eigen::Map<Eigen::SparseMatrix<double>>& a) {
  return {a.rows(), a.cols(), a.nonZeros(), a.outerIndexPtr(), a.innerIndexPtr(), a.valuePtr()};
}

VectorXi zero_based(const Eigen::Map<Eigen::VectorXi>& codes) { return codes.array() - 1; }

Samples as_samples(const Eigen::Map<Eigen::VectorXd>& y, const Eigen::Map<Eigen::VectorXi>& task, int tasks,
                   const Eigen::Map<Eigen::VectorXd>& sigma2) {
  return sort_samples(y, zero_based(task), tasks, sigma2);
}

Rcpp::List as_means(const MeansResult& r) {
  return Rcpp::List::create(Rcpp::Named("estimate") = r.estimate, Rcpp::Named("variance") = r.variance,
                            Rcpp::Named("posterior") = r.posterior, Rcpp::Named("weight") = r.weight,
                            Rcpp::Named("target") = r.target);
}

Rcpp::List as_vector_means(const VectorMeansResult& r) {
  return Rcpp::List::create(Rcpp::Named("estimate") = r.estimate, Rcpp::Named("variance") = r.variance,
                            Rcpp::Named("target") = r.target);
}

Rcpp::List as_loo(const LooResult& r) {
  return Rcpp::List::create(Rcpp::Named("risk") = r.risk, Rcpp::Named("left_out") = static_cast<double>(r.left_out),
                            Rcpp::Named("skipped") = static_cast<double>(r.skipped));
}

}  // namespace

// [[Rcpp::export(rng = false)]]
Rcpp::List core_task_moments(const Eigen::Map<Eigen::VectorXd> y, const Eigen::Map<Eigen::VectorXi> task, int tasks) {
  const TaskMoments m = task_moments(y, zero_based(task), tasks);
  return Rcpp::List::create(Rcpp::Named("n") = m.n, Rcpp::Named("mean") = m.mean, Rcpp::Named("ss") = m.ss);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_mta_common(const Eigen::Map<Eigen::VectorXd> mean, const Eigen::Map<Eigen::VectorXd> s, double tau2) {
  return as_means(shrink_to_common(mean, s, tau2));
}

// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd core_mta_common_weights(const Eigen::Map<Eigen::VectorXd> s, double tau2) { return common_weights(s, tau2); }

// [[Rcpp::export(rng = false)]]
Rcpp::List core_mta_dense(const Eigen::Map<Eigen::MatrixXd> a, const Eigen::Map<Eigen::VectorXd> mean,
                          const Eigen::Map<Eigen::VectorXd> s, double gamma, bool with_variance, SEXP progress) {
  RMonitor monitor(progress);
  return as_means(shrink_along(ConstMatrixRef(a), mean, s, gamma, with_variance, monitor));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_mta_sparse(const Eigen::Map<Eigen::SparseMatrix<double>> a, const Eigen::Map<Eigen::VectorXd> mean,
                           const Eigen::Map<Eigen::VectorXd> s, double gamma, bool with_variance, SEXP progress) {
  RMonitor monitor(progress);
  return as_means(shrink_along(sparse_view(a), mean, s, gamma, with_variance, monitor));
}

// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd core_mta_weights(const Eigen::Map<Eigen::MatrixXd> a, const Eigen::Map<Eigen::VectorXd> s, double gamma,
                                 SEXP progress) {
  RMonitor monitor(progress);
  return along_weights(a, s, gamma, monitor);
}

// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd core_mta_pairwise_weights(const Eigen::Map<Eigen::VectorXd> centres, const Eigen::Map<Eigen::VectorXd> s,
                                          double gamma, SEXP progress) {
  RMonitor monitor(progress);
  return pairwise_weights(centres, s, gamma, monitor);
}

// [[Rcpp::export(rng = false)]]
Eigen::VectorXd core_linear_risk(const Eigen::Map<Eigen::VectorXd> mu, const Eigen::Map<Eigen::VectorXd> s,
                                 const Eigen::Map<Eigen::MatrixXd> w) {
  return linear_risk(mu, s, w);
}

// [[Rcpp::export(rng = false)]]
Eigen::VectorXd core_common_risk(const Eigen::Map<Eigen::VectorXd> mu, const Eigen::Map<Eigen::VectorXd> s, double tau2) {
  return common_risk(mu, s, tau2);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_mta_vectors_common(const Eigen::Map<Eigen::MatrixXd> mean, const Eigen::Map<Eigen::MatrixXd> common,
                                   const Eigen::Map<Eigen::VectorXd> scale, const Eigen::Map<Eigen::MatrixXd> a, double tau2,
                                   double gamma, SEXP progress) {
  RMonitor monitor(progress);
  return as_vector_means(shrink_vectors(mean, common, scale, a, tau2, gamma, monitor));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_mta_vectors_blocks(const Eigen::Map<Eigen::MatrixXd> mean, Rcpp::List blocks, const Eigen::Map<Eigen::MatrixXd> a,
                                   double tau2, double gamma, SEXP progress) {
  RMonitor monitor(progress);
  std::vector<MatrixXd> from;
  for (SEXP block : blocks) from.push_back(Rcpp::as<MatrixXd>(block));
  return as_vector_means(shrink_vectors(mean, from, a, tau2, gamma, monitor));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_loo_risk(const Eigen::Map<Eigen::VectorXd> y, const Eigen::Map<Eigen::VectorXi> task, int tasks,
                         const Eigen::Map<Eigen::VectorXd> sigma2, std::string noise, std::string estimator,
                         const Eigen::Map<Eigen::MatrixXd> a, const Eigen::Map<Eigen::VectorXd> gamma, SEXP progress) {
  RMonitor monitor(progress);
  const Samples samples = as_samples(y, task, tasks, sigma2);
  if (estimator == "along") return as_loo(along_loo_risk(samples, as_noise(noise), a, gamma, monitor));
  return as_loo(loo_risk(samples, as_noise(noise), as_estimator(estimator), gamma, monitor));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_double_loo_risk(const Eigen::Map<Eigen::VectorXd> y, const Eigen::Map<Eigen::VectorXi> task, int tasks,
                                const Eigen::Map<Eigen::VectorXd> sigma2, std::string noise, std::string estimator,
                                const Eigen::Map<Eigen::VectorXd> gamma, int tune_tasks, Rcpp::NumericVector seed, int threads,
                                SEXP progress) {
  RMonitor monitor(progress);
  const DoubleLooResult r = double_loo_risk(as_samples(y, task, tasks, sigma2), as_noise(noise), as_estimator(estimator), gamma,
                                            tune_tasks, make_rng(seed), threads, monitor);
  return Rcpp::List::create(Rcpp::Named("risk") = r.risk, Rcpp::Named("chosen") = r.chosen);
}

// [[Rcpp::export(rng = false)]]
Eigen::VectorXd core_split_risk(const Eigen::Map<Eigen::VectorXd> y, const Eigen::Map<Eigen::VectorXi> task, int tasks,
                                const Eigen::Map<Eigen::VectorXd> sigma2, std::string noise, std::string estimator,
                                const Eigen::Map<Eigen::MatrixXd> a, const Eigen::Map<Eigen::VectorXd> gamma, int splits,
                                Rcpp::NumericVector seed, SEXP progress) {
  RMonitor monitor(progress);
  const MeansEstimate estimate = estimator == "along" ? along_estimate(a, monitor) : common_estimate(as_estimator(estimator));
  return split_risk(as_samples(y, task, tasks, sigma2), as_noise(noise), estimate, gamma, splits, make_rng(seed), monitor);
}

// [[Rcpp::export(rng = false)]]
Eigen::VectorXd core_split_risk_sparse(const Eigen::Map<Eigen::VectorXd> y, const Eigen::Map<Eigen::VectorXi> task, int tasks,
                                       const Eigen::Map<Eigen::VectorXd> sigma2, std::string noise,
                                       const Eigen::Map<Eigen::SparseMatrix<double>> a, const Eigen::Map<Eigen::VectorXd> gamma,
                                       int splits, Rcpp::NumericVector seed, SEXP progress) {
  RMonitor monitor(progress);
  return split_risk(as_samples(y, task, tasks, sigma2), as_noise(noise), along_estimate(sparse_view(a), monitor), gamma, splits,
                    make_rng(seed), monitor);
}
