// Exports of alternating structure optimisation. Conversion only: the method is in regress/aso.h, the checks in R/aso.R.
#include "core/linalg/spectral.h"
#include "r_glue.h"
#include "regress/aso.h"

using namespace granary;
using namespace granary::regress;

namespace {

// Designs and tasks as R holds them; the matrices stay where they are.
struct Tasks {
  std::vector<ConstSparseMap> sparse;
  std::vector<Design> designs;
  std::vector<Task> tasks;

  Tasks(const Rcpp::List& x, const Rcpp::List& y, const Rcpp::IntegerVector& design, const Eigen::Map<Eigen::MatrixXd>& lambda,
        const Rcpp::List& masked) {
    sparse.reserve(static_cast<std::size_t>(x.size()));  // designs point into it
    for (R_xlen_t d = 0; d < x.size(); ++d) {
      if (Rf_isS4(x[d])) {
        const Rcpp::S4 s = x[d];
        const Rcpp::IntegerVector dim = s.slot("Dim"), p = s.slot("p"), i = s.slot("i");
        const Rcpp::NumericVector values = s.slot("x");
        sparse.emplace_back(dim[0], dim[1], values.size(), p.begin(), i.begin(), values.begin());
        designs.emplace_back(sparse.back());
      } else {
        const Rcpp::NumericMatrix m = x[d];
        designs.emplace_back(Eigen::Map<const MatrixXd>(m.begin(), m.nrow(), m.ncol()));
      }
    }
    for (R_xlen_t l = 0; l < y.size(); ++l) {
      Task task;
      task.design = design[l];
      task.y = Rcpp::as<VectorXd>(y[l]);
      task.lambda = lambda.row(l).transpose();
      task.masked = Rcpp::as<std::vector<int>>(masked[l]);
      tasks.push_back(std::move(task));
    }
  }
};

TaskOptions as_task_options(const std::string& loss, bool intercept, double tol, int max_iter) {
  TaskOptions options;
  options.loss = loss == "huber"      ? Loss::huber
                 : loss == "squared"  ? Loss::squared
                 : loss == "logistic" ? Loss::logistic
                                      : Loss::hinge2;
  options.intercept = intercept;
  options.tol = tol;
  options.max_iter = max_iter;
  return options;
}

std::vector<std::vector<int>> as_groups(const Rcpp::List& groups) {
  std::vector<std::vector<int>> out;
  for (R_xlen_t t = 0; t < groups.size(); ++t) out.push_back(Rcpp::as<std::vector<int>>(groups[t]));
  return out;
}

Rcpp::List as_list(const AsoResult& fit) {
  return Rcpp::List::create(Rcpp::Named("theta") = Rcpp::wrap(fit.structure.theta), Rcpp::Named("u") = fit.u,
                            Rcpp::Named("intercepts") = fit.intercepts, Rcpp::Named("d") = Rcpp::wrap(fit.d),
                            Rcpp::Named("path") = fit.path, Rcpp::Named("losses") = fit.losses,
                            Rcpp::Named("unfinished") = fit.unfinished,
                            Rcpp::Named("convergence") = granary::as_list(fit.convergence));
}

}  // namespace

// [[Rcpp::export(rng = false)]]
Rcpp::List core_aso(const Rcpp::List& x, const Rcpp::List& y, const Rcpp::IntegerVector& design,
                    const Eigen::Map<Eigen::MatrixXd> lambda, const Rcpp::List& masked, const Rcpp::List& groups,
                    std::vector<int> h, std::string loss, bool intercept, std::string variant, bool positive, int n_iter,
                    double tol, double task_tol, int max_iter, int threads, SEXP progress) {
  RMonitor monitor(progress);
  const Tasks data(x, y, design, lambda, masked);
  AsoOptions options;
  options.task = as_task_options(loss, intercept, task_tol, max_iter);
  options.h.assign(h.begin(), h.end());
  options.variant = variant == "joint" ? AsoVariant::joint : AsoVariant::fixed_v;
  options.positive = positive;
  options.n_iter = n_iter;
  options.tol = tol;
  options.threads = threads;
  return as_list(aso(data.designs, data.tasks, as_groups(groups), options, monitor));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_aso_target(const Rcpp::List& x, const Rcpp::List& y, const Rcpp::IntegerVector& design,
                           const Eigen::Map<Eigen::MatrixXd> lambda, const Rcpp::List& masked, const Rcpp::List& groups,
                           const Rcpp::List& theta, std::string loss, bool intercept, double task_tol, int max_iter, int threads,
                           SEXP progress) {
  RMonitor monitor(progress);
  const Tasks data(x, y, design, lambda, masked);
  Structure structure{as_groups(groups), {}};
  for (R_xlen_t t = 0; t < theta.size(); ++t) structure.theta.push_back(Rcpp::as<MatrixXd>(theta[t]));
  return as_list(
      aso_target(data.designs, data.tasks, structure, as_task_options(loss, intercept, task_tol, max_iter), threads, monitor));
}

// Value and slope of a loss, for plots and tests.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_loss(std::string loss, const Rcpp::NumericVector& prediction, const Rcpp::NumericVector& y) {
  const Loss kind = as_task_options(loss, true, 1, 1).loss;
  Rcpp::NumericVector value(prediction.size()), slope(prediction.size());
  for (R_xlen_t i = 0; i < prediction.size(); ++i) {
    value[i] = loss_value(kind, prediction[i], y[i]);
    slope[i] = loss_slope(kind, prediction[i], y[i]);
  }
  return Rcpp::List::create(Rcpp::Named("value") = value, Rcpp::Named("slope") = slope);
}

// The k leading right singular vectors of a design, dense or sparse, as it is.
// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd core_right_singular(const Rcpp::List& x, int k) {
  RMonitor monitor(R_NilValue);
  const Tasks data(x, Rcpp::List(), Rcpp::IntegerVector(), Eigen::Map<Eigen::MatrixXd>(nullptr, 0, 0), Rcpp::List());
  const Design& design = data.designs[0];
  MatrixOperator a;
  a.rows = design.rows();
  a.cols = design.cols();
  a.apply = [&](ConstVectorRef u, VectorRef y) { design.times(u, y); };
  a.transposed = [&](ConstVectorRef r, VectorRef y) { design.transposed_times(r, y); };
  return truncated_svd(a, k, {}, monitor).v;
}
