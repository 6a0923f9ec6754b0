// Exports of the locally constant Gaussian graph, of mixed priors, of the baselines and of fused signals. Conversion only: the
// methods are in graph/, the checks in R/ggm_local.R, R/ggm_mix.R, R/ggm_baseline.R and R/fused_signal.R.
#include "graph/baselines.h"
#include "graph/fused_signal.h"
#include "graph/local.h"
#include "graph/mix.h"
#include "r_glue.h"

using namespace granary;
using namespace granary::graph;

namespace {

EdgeList as_edges(const Rcpp::IntegerMatrix& edges) {  // two columns, from 1
  EdgeList out;
  for (int m = 0; m < edges.nrow(); ++m) out.emplace_back(edges(m, 0) - 1, edges(m, 1) - 1);
  return out;
}

LocalOperator as_operator(const Rcpp::List& op) {
  const std::string type = Rcpp::as<std::string>(op["type"]);
  if (type == "rows") return LocalOperator::rows(Rcpp::as<SparseMatrix>(op["rows"]));
  const EdgeList edges = as_edges(op["edges"]);
  const int p = Rcpp::as<int>(op["p"]);
  return type == "laplacian" ? LocalOperator::laplacian(p, edges) : LocalOperator::differences(p, edges);
}

LocalMethod as_method(const std::string& method) {
  if (method == "auto") return LocalMethod::automatic;
  if (method == "fista") return LocalMethod::fista;
  if (method == "admm") return LocalMethod::admm;
  return method == "bcd" ? LocalMethod::bcd : LocalMethod::both;
}

SparseMatrix sparse(const MatrixXd& x) { return x.sparseView(0, 0); }

}  // namespace

// [[Rcpp::export(rng = false)]]
Rcpp::List core_local_path(const Eigen::Map<Eigen::MatrixXd> s, Rcpp::List op, std::vector<double> rho, std::vector<double> tau,
                           std::string method, double tol, int max_iter, bool keep_covariance,
                           Rcpp::Nullable<Rcpp::NumericMatrix> start, int threads, SEXP progress) {
  RMonitor monitor(progress);
  LocalOptions options;
  options.method = as_method(method);
  options.tol = tol;
  options.max_iter = max_iter;
  options.threads = threads;
  std::vector<LocalPenalty> penalties;
  for (std::size_t k = 0; k < rho.size(); ++k) penalties.push_back({rho[k], tau[k]});
  MatrixXd from;
  if (start.isNotNull()) from = Rcpp::as<MatrixXd>(start.get());
  const LocalOperator d = as_operator(op);
  const auto path = local_path(s, d, penalties, options, keep_covariance, monitor, start.isNotNull() ? &from : nullptr);
  Rcpp::List out(path.size());
  for (std::size_t k = 0; k < path.size(); ++k) {
    const LocalResult& fit = path[k];
    const double scale = fit.x.cwiseAbs().maxCoeff();
    out[k] = Rcpp::List::create(
        Rcpp::Named("precision") = sparse(fit.x), Rcpp::Named("covariance") = fit.w, Rcpp::Named("log_det") = fit.log_det,
        Rcpp::Named("objective") = fit.objective, Rcpp::Named("kkt") = fit.largest_violation,
        Rcpp::Named("isolated") = Rcpp::LogicalVector(fit.isolated.begin(), fit.isolated.end()),
        Rcpp::Named("block") = local_blocks(fit.x, d, 1e-8 * scale),
        Rcpp::Named("penalty") = local_penalty(fit.x, d, penalties[k]), Rcpp::Named("frobenius") = d.frobenius(),
        Rcpp::Named("rows") = static_cast<double>(d.matrix().rows()),
        Rcpp::Named("trace") = Rcpp::List::create(Rcpp::Named("objective") = fit.trace),
        Rcpp::Named("convergence") = granary::as_list(fit.convergence));
  }
  return out;
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_mix_fit(const Eigen::Map<Eigen::MatrixXd> s, Rcpp::List priors, double tol, int max_iter, int threads,
                        SEXP progress) {
  RMonitor monitor(progress);
  std::vector<LocalOperator> operators(priors.size());
  std::vector<MixPrior> list(priors.size());
  for (R_xlen_t k = 0; k < priors.size(); ++k) {
    const Rcpp::List prior = priors[k];
    const std::string kind = Rcpp::as<std::string>(prior["kind"]);
    if (kind == "hub") {
      const Rcpp::NumericVector l = prior["lambda"];
      const double q = Rcpp::as<double>(prior["q"]);
      list[k].kind = MixPrior::Kind::hub;
      list[k].hub = {l[0], l[1], l[2], q == 1 ? HubNorm::l1 : q == 2 ? HubNorm::l2 : HubNorm::linf};
      continue;
    }
    list[k].weight = Rcpp::as<double>(prior["weight"]);
    if (kind == "local") {
      list[k].kind = MixPrior::Kind::local;
      operators[k] = as_operator(prior["operator"]);
      list[k].op = &operators[k];
    } else if (kind == "nodes") {
      list[k].kind = MixPrior::Kind::nodes;
      list[k].norm = Rcpp::as<std::string>(prior["norm"]) == "l2" ? RowNorm::l2 : RowNorm::linf;
    } else {
      list[k].diagonal = Rcpp::as<bool>(prior["diagonal"]);
    }
  }
  MixOptions options;
  options.tol = tol;
  options.max_iter = max_iter;
  options.threads = threads;
  const MixResult fit = mix_fit(s, list, options, monitor);
  Rcpp::List v(priors.size());
  for (R_xlen_t k = 0; k < priors.size(); ++k) {
    if (fit.v[k].size() > 0) v[k] = sparse(fit.v[k]);
  }
  return Rcpp::List::create(Rcpp::Named("precision") = sparse(fit.x), Rcpp::Named("covariance") = fit.w,
                            Rcpp::Named("log_det") = fit.log_det, Rcpp::Named("objective") = fit.objective,
                            Rcpp::Named("kkt") = fit.largest_violation, Rcpp::Named("penalties") = fit.penalties,
                            Rcpp::Named("v") = v, Rcpp::Named("trace") = Rcpp::List::create(),
                            Rcpp::Named("convergence") = granary::as_list(fit.convergence));
}

// Ridge, the full inverse at rho = 0.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_ridge_precision(const Eigen::Map<Eigen::MatrixXd> s, double rho) {
  const BaselineFit fit = ridge_precision(s, rho);
  return Rcpp::List::create(Rcpp::Named("precision") = sparse(fit.x), Rcpp::Named("covariance") = fit.w,
                            Rcpp::Named("log_det") = fit.log_det, Rcpp::Named("trace") = Rcpp::List::create(),
                            Rcpp::Named("convergence") = granary::as_list(fit.convergence));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_fused_signal(const Eigen::Map<Eigen::VectorXd> y, Rcpp::IntegerMatrix edges, double rho, double tau, bool squared,
                             SEXP progress) {
  RMonitor monitor(progress);
  const FusedSignalResult fit = fused_signal(y, as_edges(edges), rho, tau, squared, monitor);
  return Rcpp::List::create(Rcpp::Named("x") = fit.x, Rcpp::Named("block") = fit.block, Rcpp::Named("objective") = fit.objective,
                            Rcpp::Named("convergence") = granary::as_list(fit.convergence));
}

// Neighbour pairs of a grid, from 1; cells where `mask` is false are left out and the others renumbered.
// [[Rcpp::export(rng = false)]]
Rcpp::IntegerMatrix core_grid_edges(std::vector<int> dims, Rcpp::LogicalVector mask) {
  dims.resize(3, 1);
  std::vector<int> number(mask.size(), -1);
  int count = 0;
  for (R_xlen_t k = 0; k < mask.size(); ++k) {
    if (mask[k]) number[k] = ++count;
  }
  std::vector<std::pair<int, int>> kept;
  for (const auto& pair : grid_edges(dims[0], dims[1], dims[2])) {
    if (number[pair.first] > 0 && number[pair.second] > 0) kept.emplace_back(number[pair.first], number[pair.second]);
  }
  Rcpp::IntegerMatrix out(static_cast<int>(kept.size()), 2);
  for (std::size_t m = 0; m < kept.size(); ++m) {
    out(static_cast<int>(m), 0) = kept[m].first;
    out(static_cast<int>(m), 1) = kept[m].second;
  }
  return out;
}
