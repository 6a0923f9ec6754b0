// Exports of matrix completion. Conversion only: the methods are in regress/, the checks in R/.
#include "r_glue.h"
#include "regress/completion_bounded.h"
#include "regress/completion_rademacher.h"

using namespace granary;
using namespace granary::regress;

namespace {

ObservedCells as_cells(const Rcpp::List& x) {
  return observe(Rcpp::as<std::vector<int>>(x["i"]), Rcpp::as<std::vector<int>>(x["j"]),
                 Rcpp::as<std::vector<double>>(x["value"]), Rcpp::as<int>(x["rows"]), Rcpp::as<int>(x["cols"]),
                 Rcpp::as<bool>(x["weighted"]));
}

Rcpp::List as_list(const CompletionResult& fit) {
  return Rcpp::List::create(Rcpp::Named("u") = fit.w.p, Rcpp::Named("d") = fit.w.d, Rcpp::Named("v") = fit.w.q,
                            Rcpp::Named("objective") = fit.objective, Rcpp::Named("loss") = fit.loss,
                            Rcpp::Named("gradient_norm") = fit.gradient_norm, Rcpp::Named("certified") = fit.certified,
                            Rcpp::Named("trace") = fit.trace, Rcpp::Named("convergence") = granary::as_list(fit.convergence));
}

CompletionOptions as_options(const Rcpp::List& settings, int threads) {
  CompletionOptions options;
  options.tol = settings["tol"];
  options.max_iter = settings["max_iter"];
  options.rank = Rcpp::as<int>(settings["rank"]);
  options.anderson = settings["anderson"];
  options.corrective = settings["corrective"];
  options.step = settings["step"];
  options.epochs = settings["epochs"];
  options.threads = threads;
  return options;
}

}  // namespace

// The penalty from which on the fit is zero, and what the cells amount to.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_completion_cells(Rcpp::List x, std::string model, std::vector<double> bound) {
  RMonitor monitor(R_NilValue);
  const ObservedCells cells = as_cells(x);
  const double top = model == "bounded" ? bounded_lambda_max(cells, bound[0], bound[1], monitor) : lambda_max(cells, monitor);
  return Rcpp::List::create(Rcpp::Named("lambda_max") = top, Rcpp::Named("cells") = static_cast<double>(cells.count()),
                            Rcpp::Named("observations") = cells.observations, Rcpp::Named("within") = cells.within,
                            Rcpp::Named("total") = cells.total);
}

// One fit per penalty (or, `constrained`, per trace norm), each started at the one before. `start` is NULL or list(u, d, v).
// [[Rcpp::export(rng = false)]]
Rcpp::List core_completion_path(Rcpp::List x, std::string model, std::string solver, std::vector<double> penalty,
                                bool constrained, std::vector<double> bound, Rcpp::List settings,
                                Rcpp::Nullable<Rcpp::List> start, Rcpp::NumericVector seed, int threads, SEXP progress) {
  RMonitor monitor(progress);
  const ObservedCells cells = as_cells(x);
  const CompletionOptions options = as_options(settings, threads);
  Rng rng = make_rng(seed);
  Factors from = Factors::zero(cells);
  if (start.isNotNull()) {
    const Rcpp::List s(start.get());
    from = balanced({Rcpp::as<MatrixXd>(s["u"]), Rcpp::as<VectorXd>(s["d"]), Rcpp::as<MatrixXd>(s["v"])});
  }
  Rcpp::List out(penalty.size());
  for (std::size_t k = 0; k < penalty.size(); ++k) {
    const double at = penalty[k];
    CompletionResult fit;
    if (model == "bounded") {
      fit = complete_bounded(cells, bound[0], bound[1], at, from, options, monitor);
    } else if (model == "maxabs") {
      fit = complete_maxabs(cells, bound[0], bound[1], constrained ? 0 : at, constrained ? at : 0, options, monitor);
    } else if (constrained) {
      fit = solver == "fw" ? complete_frank_wolfe(cells, at, from, options, monitor)
                           : complete_constrained(cells, at, from, options, monitor);
    } else if (solver == "sgd") {
      fit = complete_sgd(cells, at, from, options, rng, monitor);
    } else {
      fit = (solver == "softimpute" ? complete_softimpute : complete_als)(cells, at, from, options, monitor);
    }
    if (solver != "sgd" || start.isNotNull()) from = balanced(fit.w);
    out[k] = as_list(fit);
  }
  return out;
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_hard_impute(Rcpp::List x, int rank, Rcpp::List settings, int threads, SEXP progress) {
  RMonitor monitor(progress);
  return as_list(hard_impute(as_cells(x), rank, as_options(settings, threads), monitor));
}

// The gap of the trace-norm problem at any W = u diag(d) v' with orthonormal u and v.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_completion_certificate(Rcpp::List x, const Eigen::Map<Eigen::MatrixXd> u, const Eigen::Map<Eigen::VectorXd> d,
                                       const Eigen::Map<Eigen::MatrixXd> v, double lambda) {
  RMonitor monitor(R_NilValue);
  CertificateOptions ask;
  ask.tol = 1e-8;
  const Certificate seen = certify(as_cells(x), {u, d, v}, lambda, ask, monitor);
  return Rcpp::List::create(Rcpp::Named("objective") = seen.objective, Rcpp::Named("gap") = seen.gap,
                            Rcpp::Named("gradient_norm") = seen.norm);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_completion_centre(Rcpp::List x, bool rows, bool cols) {
  RMonitor monitor(R_NilValue);
  const Centre centre = fit_centre(as_cells(x), rows, cols, monitor);
  return Rcpp::List::create(Rcpp::Named("row") = centre.row, Rcpp::Named("col") = centre.col);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_mixed_dual_norm(const Eigen::Map<Eigen::MatrixXd> g, double t, double b, double tol, int max_iter) {
  RMonitor monitor(R_NilValue);
  const MixedDualNorm norm = mixed_dual_norm(g, t, b, tol, max_iter, monitor);
  return Rcpp::List::create(Rcpp::Named("value") = norm.value, Rcpp::Named("Z") = norm.z, Rcpp::Named("W") = norm.w,
                            Rcpp::Named("convergence") = granary::as_list(norm.convergence));
}

// Norms of random signs on the cells: one row per draw. With `b` > 0 one column, the dual norm of Lemma 12.
// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd core_sign_norms(Rcpp::List x, std::vector<double> thresholds, double t, double b, int draws,
                                Rcpp::NumericVector seed, int threads, SEXP progress) {
  RMonitor monitor(progress);
  const ObservedCells counts = as_cells(x);
  if (b > 0) return sign_dual_norms(counts, t, b, draws, make_rng(seed), threads, monitor);
  return sign_norms(counts, thresholds, draws, make_rng(seed), threads, monitor);
}

// [[Rcpp::export(rng = false)]]
std::vector<double> core_mean_absolute_sum(std::vector<double> h) {
  for (double& value : h) value = mean_absolute_sum(value);
  return h;
}
