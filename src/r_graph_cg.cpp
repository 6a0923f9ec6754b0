// Exports of conditional Gaussian networks. Conversion only: the method is in graph/cg_*.h, the checks in R/cg_network.R.
#include "graph/cg_fit.h"
#include "graph/cg_mixture.h"
#include "graph/cg_rows.h"
#include "r_glue.h"
#include "r_graph_convert.h"

using namespace granary;
using namespace granary::graph;

namespace {

using StatePointer = Rcpp::XPtr<CgState>;

CgNetwork as_network(const Rcpp::List& spec) {
  CgNetwork network;
  network.names = Rcpp::as<std::vector<std::string>>(spec["names"]);
  const Rcpp::List states = spec["states"], discrete = spec["discrete_parents"], continuous = spec["continuous_parents"],
                   tables = spec["tables"], regressions = spec["regressions"];
  for (int v = 0; v < network.nodes(); ++v) {
    network.states.push_back(Rcpp::as<std::vector<std::string>>(states[v]));
    network.discrete_parents.push_back(from_indices(discrete[v]));
    network.continuous_parents.push_back(from_indices(continuous[v]));
    network.table.push_back(Rf_isNull(tables[v]) ? VectorXd() : Rcpp::as<VectorXd>(tables[v]));
    network.regression.push_back(Rf_isNull(regressions[v]) ? MatrixXd() : Rcpp::as<MatrixXd>(regressions[v]));
  }
  return network;
}

Rcpp::List parameters(const CgNetwork& network) {
  Rcpp::List tables(network.nodes()), regressions(network.nodes());
  for (int v = 0; v < network.nodes(); ++v) {
    if (network.discrete(v))
      tables[v] = network.table[v];
    else
      regressions[v] = network.regression[v];
  }
  return Rcpp::List::create(Rcpp::Named("tables") = tables, Rcpp::Named("regressions") = regressions);
}

// Rows of states from 1, one per configuration.
Rcpp::IntegerMatrix state_rows(const StateSpace& space, const std::vector<int>& configs) {
  Rcpp::IntegerMatrix out(static_cast<int>(configs.size()), space.dimension());
  for (int r = 0; r < out.nrow(); ++r) {
    for (int k = 0; k < out.ncol(); ++k) out(r, k) = space.state(configs[r], k) + 1;
  }
  return out;
}

std::vector<int> all_configs(const StateSpace& space) {
  std::vector<int> all(space.size());
  for (int c = 0; c < space.size(); ++c) all[c] = c;
  return all;
}

}  // namespace

// [[Rcpp::export(rng = false)]]
SEXP core_cg_compile(Rcpp::List spec, Rcpp::IntegerVector order, double max_states) {
  return StatePointer(new CgState(as_network(spec), from_indices(order), max_states), true);
}

// [[Rcpp::export(rng = false)]]
bool core_cg_alive(SEXP pointer) { return R_ExternalPtrAddr(pointer) != nullptr; }

// Discrete findings first. `blocked` is the place (from 1, discrete before continuous) of the first finding that the ones before
// it rule out.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_cg_observe(SEXP pointer, Rcpp::IntegerVector discrete, Rcpp::List log_likelihood, Rcpp::IntegerVector continuous,
                           Rcpp::NumericVector values) {
  const CgState& before = *StatePointer(pointer);
  std::unique_ptr<CgState> state = std::make_unique<CgState>(before);
  const auto enter = [&](CgState& s, int k) {
    if (k < discrete.size())
      s.observe_states(discrete[k] - 1, Rcpp::as<VectorXd>(log_likelihood[k]));
    else
      s.observe_value(continuous[k - discrete.size()] - 1, values[k - discrete.size()]);
  };
  const int count = static_cast<int>(discrete.size() + continuous.size());
  for (int k = 0; k < count; ++k) enter(*state, k);
  const double evidence = state->log_evidence();
  int blocked = 0;
  if (evidence == R_NegInf) {
    CgState slow = before;
    for (int k = 0; k < count && blocked == 0; ++k) {
      enter(slow, k);
      if (slow.log_evidence() == R_NegInf) blocked = k + 1;
    }
  }
  const Rcpp::IntegerVector certain = as_indices(state->mixed_certain());
  return Rcpp::List::create(Rcpp::Named("pointer") = StatePointer(state.release(), true), Rcpp::Named("log_evidence") = evidence,
                            Rcpp::Named("blocked") = blocked, Rcpp::Named("certain") = certain);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_cg_tree(Rcpp::List spec, std::string kind, Rcpp::IntegerVector order, std::string rule) {
  const TreeKind tree_kind = kind == "elimination" ? TreeKind::elimination
                             : kind == "junction"  ? TreeKind::junction
                                                   : TreeKind::semi_elimination;
  const StrongRule strong = rule == "min_fill"     ? StrongRule::min_fill
                            : rule == "min_states" ? StrongRule::min_states
                                                   : StrongRule::best;
  const CgTree tree = build_tree(as_network(spec), tree_kind, from_indices(order), strong);
  Rcpp::List discrete(tree.clusters.size()), continuous(tree.clusters.size());
  Rcpp::IntegerVector parent(tree.clusters.size()), variable(tree.clusters.size());
  for (std::size_t k = 0; k < tree.clusters.size(); ++k) {
    discrete[k] = as_indices(tree.clusters[k].discrete);
    continuous[k] = as_indices(tree.clusters[k].continuous);
    parent[k] = tree.clusters[k].parent + 1;
    variable[k] = tree.clusters[k].variable + 1;
  }
  return Rcpp::List::create(Rcpp::Named("order") = as_indices(tree.order), Rcpp::Named("variable") = variable,
                            Rcpp::Named("discrete") = discrete, Rcpp::Named("continuous") = continuous,
                            Rcpp::Named("parent") = parent, Rcpp::Named("largest") = tree.largest,
                            Rcpp::Named("cost") = tree.cost);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_cg_regressions(SEXP pointer) {
  const CgState& state = *StatePointer(pointer);
  const CgCompiled& c = state.compiled();
  Rcpp::List out(c.continuous());
  for (int i = 0; i < c.continuous(); ++i) {
    out[i] = Rcpp::List::create(Rcpp::Named("variable") = c.tree.clusters[i].variable + 1,
                                Rcpp::Named("continuous") = as_indices(c.tree.clusters[i].continuous),
                                Rcpp::Named("discrete") = as_indices(c.tree.clusters[i].discrete),
                                Rcpp::Named("states") = state_rows(c.space[i], all_configs(c.space[i])),
                                Rcpp::Named("terms") = state.regressions(i), Rcpp::Named("active") = state.active(i));
  }
  return out;
}

// [[Rcpp::export(rng = false)]]
Eigen::VectorXd core_cg_probabilities(SEXP pointer, Rcpp::IntegerVector nodes) {
  return StatePointer(pointer)->probabilities(from_indices(nodes));
}

// Marginals of single nodes, after one propagation: a vector of probabilities, or a matrix of weights, means and standard
// deviations.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_cg_marginals(SEXP pointer, Rcpp::IntegerVector nodes) {
  const CgState& state = *StatePointer(pointer);
  const DiscreteForest::Tables belief = state.belief();
  Rcpp::List out(nodes.size());
  for (int k = 0; k < nodes.size(); ++k) {
    const int v = nodes[k] - 1;
    if (state.compiled().network.discrete(v)) {
      out[k] = state.probabilities({v}, belief);
      continue;
    }
    const CgMixture law = state.mixture({v}, belief);
    MatrixXd sd(law.weight.size(), 1);
    for (Index c = 0; c < sd.rows(); ++c) sd(c, 0) = std::sqrt(law.covariance[c](0, 0));
    out[k] = Rcpp::List::create(Rcpp::Named("weights") = law.weight, Rcpp::Named("means") = law.mean, Rcpp::Named("sds") = sd,
                                Rcpp::Named("nodes") = as_indices(law.components.variables()),
                                Rcpp::Named("states") = state_rows(law.components, law.config));
  }
  return out;
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_cg_joint(SEXP pointer, Rcpp::IntegerVector continuous, Rcpp::IntegerVector discrete) {
  const CgState& state = *StatePointer(pointer);
  const CgMixture law = state.mixture(from_indices(continuous), state.belief(), from_indices(discrete));
  const int q = static_cast<int>(continuous.size()), size = static_cast<int>(law.weight.size());
  Rcpp::NumericVector covariance(Rcpp::Dimension(q, q, size));
  for (int c = 0; c < size; ++c) std::copy_n(law.covariance[c].data(), q * q, covariance.begin() + c * q * q);
  return Rcpp::List::create(Rcpp::Named("weights") = law.weight, Rcpp::Named("means") = law.mean,
                            Rcpp::Named("covariances") = covariance,
                            Rcpp::Named("nodes") = as_indices(law.components.variables()),
                            Rcpp::Named("states") = state_rows(law.components, law.config));
}

// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd core_cg_simulate(SEXP pointer, int n, Rcpp::NumericVector seed, SEXP progress) {
  RMonitor monitor(progress);
  Rng rng = make_rng(seed);
  return StatePointer(pointer)->simulate(n, rng, monitor);
}

// States from 1 and values by node, one row per answer; `mode` climbs from each peak.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_cg_map(SEXP pointer, std::string type, int k, double tol, int max_iter, SEXP progress) {
  RMonitor monitor(progress);
  const CgState& state = *StatePointer(pointer);
  const int p = state.compiled().network.nodes();
  std::vector<CgPeak> peaks;
  std::vector<int> iterations;
  bool converged = true;
  if (type == "semimax") {
    for (const DiscreteForest::Ranked& one : state.best_configurations(k)) {
      peaks.push_back({one.log_value, one.state, VectorXd::Constant(p, NA_REAL)});
    }
  } else {
    peaks = state.highest_peaks(k);
  }
  if (type == "mode") {
    for (CgPeak& peak : peaks) {
      const CgState::Mode mode = state.climb(peak, tol, max_iter, monitor);
      peak.log_density = mode.log_density;
      peak.value = mode.value;
      iterations.push_back(mode.iterations);
      converged = converged && mode.converged;
    }
  }
  Rcpp::NumericVector value(peaks.size());
  Rcpp::NumericMatrix rows(static_cast<int>(peaks.size()), p);
  for (int r = 0; r < rows.nrow(); ++r) {
    value[r] = peaks[r].log_density;
    for (int v = 0; v < p; ++v) rows(r, v) = state.compiled().network.discrete(v) ? peaks[r].state[v] + 1 : peaks[r].value[v];
  }
  return Rcpp::List::create(Rcpp::Named("log_value") = value, Rcpp::Named("rows") = rows, Rcpp::Named("iterations") = iterations,
                            Rcpp::Named("converged") = converged);
}

// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd core_cg_predict(SEXP pointer, const Eigen::Map<Eigen::MatrixXd> rows, int target, int threads, SEXP progress) {
  RMonitor monitor(progress);
  return predict_rows(*StatePointer(pointer), rows, target - 1, threads, monitor);
}

// [[Rcpp::export(rng = false)]]
Eigen::VectorXd core_cg_row_evidence(SEXP pointer, const Eigen::Map<Eigen::MatrixXd> rows, int threads, SEXP progress) {
  RMonitor monitor(progress);
  return row_log_evidence(*StatePointer(pointer), rows, threads, monitor);
}

// [[Rcpp::export(rng = false)]]
Eigen::VectorXd core_cg_log_density(Rcpp::List spec, const Eigen::Map<Eigen::MatrixXd> rows) {
  return log_density(as_network(spec), rows);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_cg_fit(Rcpp::List spec, const Eigen::Map<Eigen::MatrixXd> rows, Rcpp::List settings, SEXP progress) {
  RMonitor monitor(progress);
  CgFitOptions options;
  options.pseudo_count = settings["pseudo_count"];
  options.shrink = settings["shrink"];
  options.pooled = settings["pooled"];
  options.unbiased = settings["unbiased"];
  options.tol = settings["tol"];
  options.max_iter = settings["max_iter"];
  options.threads = settings["threads"];
  const CgFitResult fit = fit_network(as_network(spec), rows, options, monitor);
  Rcpp::List out = parameters(fit.network);
  out["log_likelihood"] = fit.log_likelihood;
  out["parameters"] = fit.parameters;
  out["degenerate"] = fit.degenerate;
  out["convergence"] = as_list(fit.convergence);
  return out;
}

// Tables as they are used: renormalised.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_cg_check(Rcpp::List spec) {
  CgNetwork network = as_network(spec);
  check_network(network);
  return parameters(network);
}

// [[Rcpp::export(rng = false)]]
Eigen::VectorXd core_mixture(std::string what, Eigen::VectorXd weight, Eigen::VectorXd mean, Eigen::VectorXd sd,
                             Eigen::VectorXd at) {
  const NormalMixture law{weight, mean, sd};
  Eigen::VectorXd out(at.size());
  for (Eigen::Index i = 0; i < at.size(); ++i) {
    out[i] = what == "density" ? mixture_density(law, at[i])
             : what == "cdf"   ? mixture_cdf(law, at[i])
                               : mixture_quantile(law, at[i]);
  }
  return out;
}
