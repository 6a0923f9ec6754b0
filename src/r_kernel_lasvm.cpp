// Exports of the online support vector machine; see R/lasvm.R.


#include "kernel/lasvm_run.h"
#include "r_glue.h"
#include "r_core_kernel_rows.h"

namespace {

using namespace granary;
using namespace granary::kernel;

// [[Rcpp::depends(RcppEigen)]]

LasvmState as_lasvm_state(const Rcpp::List& list) {
  LasvmState out;
  out.alpha = Rcpp::as<MatrixXd>(list["alpha"]);
  out.f = Rcpp::as<MatrixXd>(list["f"]);
  out.member = Rcpp::as<Eigen::MatrixXi>(list["member"]);
  out.seeded = Rcpp::as<std::vector<int>>(list["seeded"]);
  out.steps = list["steps"];
  out.kernel_values = list["kernel_values"];
  out.cache_hits = list["cache_hits"];
  out.cache_misses = list["cache_misses"];
  return out;
}

std::vector<double> counted_from_one(const std::vector<Index>& rows) {
  std::vector<double> out;
  out.reserve(rows.size());
  for (const Index row : rows) out.push_back(static_cast<double>(row) + 1);
  return out;
}

Rcpp::List as_list(const LasvmState& state) {
  return Rcpp::List::create(Rcpp::Named("alpha") = state.alpha, Rcpp::Named("f") = state.f, Rcpp::Named("member") = state.member,
                            Rcpp::Named("b") = state.b, Rcpp::Named("delta") = state.delta,
                            Rcpp::Named("objective") = state.objective, Rcpp::Named("seeded") = state.seeded,
                            Rcpp::Named("steps") = state.steps, Rcpp::Named("kernel_values") = state.kernel_values,
                            Rcpp::Named("cache_hits") = state.cache_hits, Rcpp::Named("cache_misses") = state.cache_misses,
                            Rcpp::Named("rows") = counted_from_one(state.rows));
}

LasvmPlan as_lasvm_plan(const Rcpp::List& list) {
  LasvmPlan plan;
  for (const double row : Rcpp::as<std::vector<double>>(list["order"])) plan.order.push_back(static_cast<Index>(row) - 1);
  plan.epochs = list["epochs"];
  plan.shuffle = list["shuffle"];
  plan.select = static_cast<LasvmSelection>(Rcpp::as<int>(list["select"]));
  plan.candidates = list["candidates"];
  plan.max_labels = list["max_labels"];
  plan.early_stop = list["early_stop"];
  plan.finish = list["finish"];
  plan.finish_snapshots = list["finish_snapshots"];
  plan.snapshots = Rcpp::as<std::vector<double>>(list["snapshots"]);
  return plan;
}

LasvmOptions as_lasvm_options(const Rcpp::List& list) {
  LasvmOptions options;
  options.tol = list["tol"];
  options.delta_max = list["delta_max"];
  options.seeds = list["n_seed"];
  options.bias = list["bias"];
  options.keep_all = list["retrain"];
  options.cache_bytes = Rcpp::as<double>(list["cache_mb"]) * 1048576;
  options.max_iter = list["max_iter"];
  options.threads = list["threads"];
  return options;
}

}  // namespace

// [[Rcpp::export(rng = false)]]
Rcpp::List core_lasvm_run(SEXP x, SEXP kernel, const Rcpp::IntegerVector& label, const Rcpp::NumericVector& cost, SEXP ask,
                          const Rcpp::List& start, const Rcpp::List& plan, const Rcpp::List& settings,
                          const Rcpp::NumericVector& seed, SEXP progress) {
  KernelRows rows = make_kernel_rows(x, kernel);
  LasvmData data;
  for (const int code : label) data.label.push_back(code == NA_INTEGER ? -1 : code - 1);
  data.cost = Rcpp::as<VectorXd>(cost);
  if (!Rf_isNull(ask))
    data.ask = [ask](Index row) { return Rcpp::as<int>(Rcpp::Function(ask)(static_cast<double>(row) + 1)) - 1; };
  Rng rng = make_rng(seed);
  RMonitor monitor(progress);
  const LasvmResult out =
      run_lasvm(rows, data, as_lasvm_state(start), as_lasvm_plan(plan), as_lasvm_options(settings), rng, monitor);
  Rcpp::List snapshots;
  for (const LasvmSnapshot& s : out.snapshots)
    snapshots.push_back(Rcpp::List::create(Rcpp::Named("visits") = s.visits, Rcpp::Named("labels") = s.labels,
                                           Rcpp::Named("rows") = counted_from_one(s.rows), Rcpp::Named("alpha") = s.alpha,
                                           Rcpp::Named("b") = s.b));
  std::vector<int> labels;
  for (const int code : data.label) labels.push_back(code < 0 ? NA_INTEGER : code + 1);
  return Rcpp::List::create(Rcpp::Named("state") = as_list(out.state), Rcpp::Named("visited") = counted_from_one(out.visited),
                            Rcpp::Named("wrong") = out.wrong, Rcpp::Named("changed") = out.changed,
                            Rcpp::Named("support") = out.support, Rcpp::Named("delta") = out.delta,
                            Rcpp::Named("objective") = out.objective, Rcpp::Named("labels") = out.labels,
                            Rcpp::Named("labels_used") = counted_from_one(out.labels_used), Rcpp::Named("label") = labels,
                            Rcpp::Named("snapshots") = snapshots, Rcpp::Named("stopped_early") = out.stopped_early,
                            Rcpp::Named("convergence") = granary::as_list(out.convergence));
}
