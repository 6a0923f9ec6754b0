// Exports of the support vector machines.
#include <memory>

#include "core/base/parallel.h"
#include "kernel/svm.h"
#include "kernel/svm_probability.h"
#include "r_glue.h"
#include "r_core_kernel_rows.h"

using namespace granary;
using namespace granary::kernel;

namespace {

SvmType as_type(const std::string& name) {
  if (name == "regression") return SvmType::regression;
  if (name == "one_class") return SvmType::one_class;
  if (name == "nu_classification") return SvmType::nu_classification;
  if (name == "nu_regression") return SvmType::nu_regression;
  return SvmType::classification;
}

SmoOptions as_options(const Rcpp::List& settings) {
  SmoOptions options;
  options.tol = settings["tol"];
  options.max_iter = settings["max_iter"];
  const std::string rule = settings["wss"];
  options.working_set = rule == "wss1"            ? WorkingSet::first_order
                        : rule == "wss2_feasible" ? WorkingSet::feasible
                        : rule == "full"          ? WorkingSet::all_pairs
                                                  : WorkingSet::second_order;
  options.shrink = settings["shrink"];
  options.cache_bytes = Rcpp::as<double>(settings["cache_mb"]) * 1048576;
  options.single_precision = settings["single"];
  options.trace = settings["trace"];
  return options;
}

std::vector<Index> as_rows(SEXP rows) {
  std::vector<Index> out;
  for (const int row : Rcpp::as<std::vector<int>>(rows)) out.push_back(row - 1);
  return out;
}

SvmTask as_task(const Rcpp::List& task) {
  SvmTask out;
  out.rows = as_rows(task["rows"]);
  out.y = Rcpp::as<VectorXd>(task["y"]);
  out.weight = Rcpp::as<VectorXd>(task["weight"]);
  out.start = Rcpp::as<VectorXd>(task["start"]);
  out.start_cost = task["start_cost"];
  out.held_out = as_rows(task["held_out"]);
  return out;
}

Rcpp::LogicalVector as_flags(const std::vector<char>& flags) { return Rcpp::LogicalVector(flags.begin(), flags.end()); }

Rcpp::List solver_list(const SmoResult& r) {
  return Rcpp::List::create(Rcpp::Named("objective") = r.objective, Rcpp::Named("violation") = r.violation,
                            Rcpp::Named("iterations") = r.iterations, Rcpp::Named("kernel_values") = r.kernel_values,
                            Rcpp::Named("cache_hits") = r.cache_hits, Rcpp::Named("cache_misses") = r.cache_misses,
                            Rcpp::Named("cache_small") = r.cache_small, Rcpp::Named("ratio") = r.ratio,
                            Rcpp::Named("trace") = r.trace, Rcpp::Named("convergence") = as_list(r.convergence));
}

Rcpp::List as_list(const SvmSolution& s) {
  return Rcpp::List::create(Rcpp::Named("coefficients") = s.coefficients, Rcpp::Named("offset") = s.offset,
                            Rcpp::Named("decision") = s.decision, Rcpp::Named("held_out") = s.held_out,
                            Rcpp::Named("bounded") = as_flags(s.bounded), Rcpp::Named("identified") = as_flags(s.identified),
                            Rcpp::Named("rho") = s.rho, Rcpp::Named("epsilon") = s.epsilon,
                            Rcpp::Named("solver") = solver_list(s.solver));
}

Eigen::Map<const MatrixXd> as_const_map(SEXP x) {
  const Eigen::Map<MatrixXd> map(Rcpp::as<Eigen::Map<MatrixXd>>(x));
  return Eigen::Map<const MatrixXd>(map.data(), map.rows(), map.cols());
}

}  // namespace

// A list of tasks, each solved at all points: list(list(solution, ...), ...). kernel = NULL: x is the kernel matrix.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_svm_fit(SEXP x, SEXP kernel, const std::string& type, const Rcpp::List& tasks, const Rcpp::NumericVector& cost,
                        const Rcpp::NumericVector& nu, const Rcpp::NumericVector& epsilon, const Rcpp::List& settings,
                        int threads, SEXP progress) {
  RMonitor monitor(progress);
  const SmoOptions options = as_options(settings);
  std::vector<SvmPoint> points;
  for (R_xlen_t k = 0; k < cost.size(); ++k) points.push_back({cost[k], nu[k], epsilon[k]});
  std::vector<SvmTask> wanted;
  for (R_xlen_t k = 0; k < tasks.size(); ++k) wanted.push_back(as_task(tasks[k]));
  const KernelSpec spec = Rf_isNull(kernel) ? KernelSpec() : as_kernel_spec(Rcpp::as<Rcpp::List>(kernel));
  const SparseMatrix sparse = is_sparse(x) ? Rcpp::as<SparseMatrix>(x) : SparseMatrix();
  const SvmData data = Rf_isNull(kernel) ? SvmData(as_const_map(x))
                       : is_sparse(x)    ? SvmData(spec, sparse)
                                         : SvmData(spec, as_const_map(x));
  std::vector<std::vector<SvmSolution>> found(wanted.size());
  parallel_for(static_cast<Index>(wanted.size()), threads, monitor,
               [&](Index k) { found[k] = solve_svm(as_type(type), data, wanted[k], points, options, monitor); });
  Rcpp::List out(found.size());
  for (std::size_t k = 0; k < found.size(); ++k) {
    Rcpp::List path(found[k].size());
    for (std::size_t p = 0; p < found[k].size(); ++p) path[p] = as_list(found[k][p]);
    out[k] = path;
  }
  return out;
}

// The raw programme: 1/2 b'Kb - linear'b between the bounds, with the sum of `start` kept.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_svm_qp(const Eigen::Map<Eigen::MatrixXd> k, const Eigen::Map<Eigen::VectorXd> linear,
                       const Eigen::Map<Eigen::VectorXd> lower, const Eigen::Map<Eigen::VectorXd> upper,
                       const Eigen::Map<Eigen::VectorXd> start, double sum, const Rcpp::List& settings, SEXP progress) {
  RMonitor monitor(progress);
  SmoProblem problem;
  problem.sheets.push_back({linear, lower, upper, feasible_start(start, lower, upper, sum)});
  KernelRows rows(Eigen::Map<const MatrixXd>(k.data(), k.rows(), k.cols()));
  const SmoResult r = solve_smo(problem, rows, as_options(settings), monitor);
  return Rcpp::List::create(Rcpp::Named("beta") = r.beta[0], Rcpp::Named("f") = r.f, Rcpp::Named("multiplier") = r.multiplier[0],
                            Rcpp::Named("identified") = as_flags(r.pinned[0]), Rcpp::Named("solver") = solver_list(r));
}

// Decision values without offsets: a row for each row of z, a column for each machine.
// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd core_svm_decision(SEXP support, SEXP kernel, const Eigen::Map<Eigen::MatrixXd> coefficients, SEXP z, int threads,
                                  SEXP progress) {
  RMonitor monitor(progress);
  const KernelRows rows = make_kernel_rows(support, kernel);
  if (is_sparse(z)) return decision_values(rows, coefficients, Rcpp::as<SparseMatrix>(z), threads, monitor);
  return decision_values(rows, coefficients, ConstMatrixRef(Rcpp::as<Eigen::Map<MatrixXd>>(z)), threads, monitor);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_svm_platt(const Eigen::Map<Eigen::VectorXd> decision, const Eigen::Map<Eigen::VectorXd> label,
                          const Eigen::Map<Eigen::VectorXd> weight) {
  const Sigmoid s = fit_sigmoid(decision, label, weight);
  return Rcpp::List::create(Rcpp::Named("slope") = s.slope, Rcpp::Named("intercept") = s.intercept,
                            Rcpp::Named("convergence") = granary::as_list(s.convergence));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_svm_isotonic(const Eigen::Map<Eigen::VectorXd> decision, const Eigen::Map<Eigen::VectorXd> label,
                             const Eigen::Map<Eigen::VectorXd> weight) {
  const Steps steps = fit_isotonic(decision, label, weight);
  return Rcpp::List::create(Rcpp::Named("at") = steps.at, Rcpp::Named("value") = steps.value);
}

// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd core_svm_couple(const Eigen::Map<Eigen::MatrixXd> pairs, int classes) { return couple_pairs(pairs, classes); }
