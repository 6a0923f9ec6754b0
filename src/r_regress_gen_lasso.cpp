// Exports of the generalized lasso. Conversion only: the method is in regress/gen_lasso*.{h,cpp}, the checks are in
// R/gen_lasso.R.
#include "r_glue.h"
#include "regress/gen_lasso.h"

using namespace granary;
using namespace granary::regress;

namespace {

struct GenProblem {
  std::unique_ptr<Design> x;
  Loss loss;
  std::unique_ptr<GenPenalty> penalty;
  VectorXd means;
};

std::unique_ptr<Design> as_design(const Rcpp::List& design) {
  const std::string type = Rcpp::as<std::string>(design["type"]);
  if (type == "dense") return dense_design(Rcpp::as<Eigen::Map<MatrixXd>>(design["x"]));
  if (type == "sparse") return sparse_design(Rcpp::as<SparseMatrix>(design["x"]));
  if (type == "identity") return identity_design(Rcpp::as<int>(design["p"]));
  const std::vector<int> dim = design["dim"];
  return blur_design(dim[0], dim[1], Rcpp::as<int>(design["size"]));
}

GenProblem as_problem(const Rcpp::List& design, const VectorXd& y, const Rcpp::List& loss, const Rcpp::List& penalty) {
  GenProblem problem;
  problem.x = as_design(design);
  if (Rcpp::as<bool>(design["centre"]))
    problem.x = centred_design(std::move(problem.x), Rcpp::as<bool>(design["ones"]), problem.means);
  problem.loss.y = y;
  const std::string family = Rcpp::as<std::string>(loss["family"]);
  problem.loss.family = family == "binomial"  ? LossFamily::binomial
                        : family == "poisson" ? LossFamily::poisson
                        : family == "huber"   ? LossFamily::huber
                                              : LossFamily::gaussian;
  problem.loss.delta = Rcpp::as<double>(loss["delta"]);
  problem.penalty =
      std::make_unique<GenPenalty>(GenPenalty::Rows(Rcpp::as<SparseMatrix>(penalty["matrix"])),
                                   Rcpp::as<std::vector<int>>(penalty["blocks"]), Rcpp::as<MatrixXd>(penalty["null"]));
  return problem;
}

}  // namespace

// [[Rcpp::export(rng = false)]]
Rcpp::List core_gen_lasso_limits(Rcpp::List design, const Eigen::Map<Eigen::VectorXd> y, Rcpp::List loss, Rcpp::List penalty,
                                 SEXP progress) {
  RMonitor monitor(progress);
  GenProblem problem = as_problem(design, y, loss, penalty);
  const GenLassoPath path = gen_lasso_limits(*problem.x, problem.loss, *problem.penalty, monitor);
  return Rcpp::List::create(Rcpp::Named("lambda_max") = path.lambda_max, Rcpp::Named("exact") = path.lambda_max_exact,
                            Rcpp::Named("unique") = path.unique);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_gen_lasso_path(Rcpp::List design, const Eigen::Map<Eigen::VectorXd> y, Rcpp::List loss, Rcpp::List penalty,
                               std::vector<double> lambda, Rcpp::List settings, SEXP progress) {
  RMonitor monitor(progress);
  GenProblem problem = as_problem(design, y, loss, penalty);
  GenLassoOptions options;
  options.method = static_cast<GenMethod>(Rcpp::as<int>(settings["method"]));
  options.update = static_cast<GenUpdate>(Rcpp::as<int>(settings["update"]));
  options.gamma = settings["gamma"];
  options.tol = settings["tol"];
  options.max_iter = settings["max_iter"];
  options.polish = settings["polish"];
  options.lower = Rcpp::as<VectorXd>(settings["lower"]);
  options.upper = Rcpp::as<VectorXd>(settings["upper"]);
  options.start = Rcpp::as<VectorXd>(settings["start"]);
  const GenLassoPath path = gen_lasso_path(*problem.x, problem.loss, *problem.penalty, lambda, options, monitor);
  Rcpp::List fits(path.fits.size());
  for (std::size_t k = 0; k < path.fits.size(); ++k) {
    const GenLassoFit& fit = path.fits[k];
    fits[k] =
        Rcpp::List::create(Rcpp::Named("b") = fit.b, Rcpp::Named("mu") = fit.mu, Rcpp::Named("objective") = fit.objective,
                           Rcpp::Named("df") = fit.df,
                           Rcpp::Named("kkt") = Rcpp::NumericVector::create(fit.stationarity, fit.feasibility, fit.slackness),
                           Rcpp::Named("n_serious") = fit.serious, Rcpp::Named("n_null") = fit.null_steps,
                           Rcpp::Named("trace") = fit.trace, Rcpp::Named("convergence") = granary::as_list(fit.convergence));
  }
  return Rcpp::List::create(Rcpp::Named("fits") = fits, Rcpp::Named("unique") = path.unique,
                            Rcpp::Named("means") = problem.means);
}
