// Exports of the graph family. Conversion only: the methods are in graph/, the checks in R/.
#include <map>

#include "core/linalg/moments.h"
#include "graph/glasso.h"
#include "graph/sim_ggm.h"
#include "r_glue.h"

using namespace granary;
using namespace granary::graph;
using MatrixMap = Eigen::Map<const Eigen::MatrixXd>;

namespace {

// A scalar, a vector of length p or a p x p matrix, as R gives it.
Penalty as_penalty(const Rcpp::NumericVector& lambda, Index p, bool penalize_diagonal) {
  if (lambda.size() == 1 && p != 1) return Penalty::scalar(lambda[0], penalize_diagonal);
  if (lambda.size() == p) return Penalty::vector(Eigen::Map<const VectorXd>(lambda.begin(), p), penalize_diagonal);
  return Penalty::matrix(MatrixMap(lambda.begin(), p, p), penalize_diagonal);
}

Rcpp::List as_list(const GlassoResult& fit, bool covariance) {
  Rcpp::NumericMatrix trace(static_cast<int>(fit.trace.size()), 5);
  Rcpp::colnames(trace) = Rcpp::CharacterVector{"objective", "residual", "free", "step", "sweeps"};
  for (std::size_t k = 0; k < fit.trace.size(); ++k) {
    const GlassoStep& t = fit.trace[k];
    const double line[] = {t.objective, t.residual, t.free, t.step, static_cast<double>(t.sweeps)};
    for (int c = 0; c < 5; ++c) trace(static_cast<int>(k), c) = line[c];
  }
  Rcpp::IntegerVector component(fit.state.upper.rows());
  for (std::size_t c = 0; c < fit.components.size(); ++c) {
    for (const int i : fit.components[c]) component[i] = static_cast<int>(c) + 1;
  }
  return Rcpp::List::create(Rcpp::Named("precision") = symmetric_from_upper(fit.state.upper), Rcpp::Named("covariance") = covariance ? fit.state.w : MatrixXd(),
                            Rcpp::Named("log_det") = fit.state.log_det, Rcpp::Named("objective") = fit.objective,
                            Rcpp::Named("kkt") = fit.kkt, Rcpp::Named("component") = component,
                            Rcpp::Named("trace") = trace, Rcpp::Named("convergence") = granary::as_list(fit.convergence));
}

}  // namespace

// [[Rcpp::export(rng = false)]]
Rcpp::List core_glasso_path(const Eigen::Map<Eigen::MatrixXd> s, Rcpp::NumericVector lambda, std::vector<double> multipliers,
                            bool penalize_diagonal, std::string method, std::string inner, double tol, int max_iter,
                            bool keep_covariance, Rcpp::Nullable<Rcpp::S4> start, int threads, SEXP progress) {
  RMonitor monitor(progress);
  GlassoOptions options;
  options.method = method == "quic" ? GlassoMethod::quic : method == "bcd" ? GlassoMethod::bcd : GlassoMethod::admm;
  options.inner = inner == "paper" ? InnerRule::paper : InnerRule::forcing;
  options.tol = tol;
  options.max_iter = max_iter;
  options.threads = threads;
  options.covariance = keep_covariance;
  options.warm = false;
  GlassoState from;
  if (start.isNotNull()) from = make_state(Rcpp::as<SparseMatrix>(start.get()));
  const auto path = glasso_path(s, as_penalty(lambda, s.rows(), penalize_diagonal), multipliers, options, monitor,
                                start.isNotNull() ? &from : nullptr);
  Rcpp::List out(path.size());
  for (std::size_t k = 0; k < path.size(); ++k) out[k] = as_list(path[k], keep_covariance);
  return out;
}

// The duality gap and the residuals of any X for the graphical lasso, whoever computed it.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_glasso_certificate(const Eigen::Map<Eigen::MatrixXd> s, Rcpp::NumericVector lambda, bool penalize_diagonal,
                                   Eigen::SparseMatrix<double> precision) {
  const Penalty penalty = as_penalty(lambda, s.rows(), penalize_diagonal);
  const GlassoState state = make_state(precision);
  const double objective = -state.log_det + linear_and_penalty(s, penalty, state.upper);
  MatrixXd v = state.w, product;
  const Certificate proof = certify(s, penalty, state.upper, v, product);
  return Rcpp::List::create(Rcpp::Named("objective") = objective,
                            Rcpp::Named("gap") = std::isnan(proof.gap) ? duality_gap(s, penalty, objective, state.w) : proof.gap,
                            Rcpp::Named("residual") = proof.residual, Rcpp::Named("kkt") = proof.largest);
}

// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector core_glasso_bounds(const Eigen::Map<Eigen::MatrixXd> s, Rcpp::NumericVector lambda, bool penalize_diagonal,
                                       double objective_at_start) {
  const EigenvalueBounds bounds = level_set_bounds(s, as_penalty(lambda, s.rows(), penalize_diagonal), objective_at_start);
  return Rcpp::NumericVector::create(Rcpp::Named("log_lower") = bounds.log_lower, Rcpp::Named("upper") = bounds.upper);
}

// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd core_covariance(const Eigen::Map<Eigen::MatrixXd> x) { return sample_covariance(x); }

// [[Rcpp::export(rng = false)]]
Eigen::SparseMatrix<double> core_sim_ggm(std::string type, int p, int groups, int block, int width, int rows, double density,
                                         double shift, bool unit_variance, double connected, double ratio,
                                         Rcpp::NumericVector seed) {
  static const std::map<std::string, GgmType> types = {
      {"chain", GgmType::chain},           {"band", GgmType::band}, {"random", GgmType::random},
      {"block", GgmType::block},           {"hub", GgmType::hub},   {"cluster", GgmType::cluster},
      {"scale_free", GgmType::scale_free}, {"grid", GgmType::grid}, {"confounders", GgmType::confounders},
      {"regions", GgmType::regions}};
  Rng rng = make_rng(seed);
  return sim_ggm_precision({types.at(type), p, groups, block, width, rows, density, shift, unit_variance, connected, ratio}, rng);
}

// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd core_ggm_sample(Eigen::SparseMatrix<double> precision, int n, Rcpp::NumericVector seed) {
  Rng rng = make_rng(seed);
  return sample_from_precision(precision, n, rng);
}
