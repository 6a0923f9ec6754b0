// Exports of the lasso. Conversion only: the solvers are in core/ and regress/, the checks in R/.
#include "core/optim/lasso.h"
#include "r_glue.h"

using namespace granary;

namespace {

VectorXd optional(const Rcpp::List& settings, const char* name) {
  const SEXP value = settings[name];
  return Rf_isNull(value) ? VectorXd() : Rcpp::as<VectorXd>(value);
}

}  // namespace

// `x` is a double matrix or a dgCMatrix.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_lasso(SEXP x, const Eigen::Map<Eigen::VectorXd> y, bool logistic, Rcpp::List settings, SEXP progress) {
  RMonitor monitor(progress);
  LassoOptions options;
  options.alpha = settings["alpha"];
  options.lambda = optional(settings, "lambda");
  options.n_lambda = settings["n_lambda"];
  options.lambda_min_ratio = settings["lambda_min_ratio"];
  options.weights = optional(settings, "weights");
  options.offset = optional(settings, "offset");
  options.penalty_factor = optional(settings, "penalty_factor");
  options.lower = optional(settings, "lower");
  options.upper = optional(settings, "upper");
  options.intercept = settings["intercept"];
  options.standardize = settings["standardize"];
  options.tol = settings["tol"];
  options.max_iter = settings["max_iter"];
  LassoPath path;
  if (Rf_isS4(x)) {
    const auto design = Rcpp::as<Eigen::Map<SparseMatrix>>(x);
    path = logistic ? lasso_logistic(ConstSparseRef(design), y, options, monitor)
                    : lasso(ConstSparseRef(design), y, options, monitor);
  } else {
    const auto design = Rcpp::as<Eigen::Map<Eigen::MatrixXd>>(x);
    path = logistic ? lasso_logistic(ConstMatrixRef(design), y, options, monitor)
                    : lasso(ConstMatrixRef(design), y, options, monitor);
  }
  return Rcpp::List::create(
      Rcpp::Named("lambda") = path.lambda, Rcpp::Named("intercept") = path.intercept,
      Rcpp::Named("coefficients") = path.coefficients, Rcpp::Named("df") = path.df, Rcpp::Named("dev_ratio") = path.dev_ratio,
      Rcpp::Named("objective") = path.objective, Rcpp::Named("residual") = path.residual, Rcpp::Named("gap") = path.gap,
      Rcpp::Named("null_deviance") = path.null_deviance, Rcpp::Named("convergence") = as_list(path.convergence));
}
