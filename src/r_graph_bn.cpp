// Exports of Bayesian networks as inner products. Conversion only: the methods are in graph/bn_kernel*.h, the checks in
// R/bn_kernel.R.
#include "graph/bn_kernel.h"
#include "graph/bn_kernel_linear.h"
#include "graph/bn_kernel_shatter.h"
#include "r_glue.h"
#include "r_graph_convert.h"

using namespace granary;
using namespace granary::graph;

namespace {

using IntMap = Eigen::Map<Eigen::MatrixXi>;

// `spec`: list(nodes, edges, levels, groups), as R/bn_kernel.R makes it.
BnStructure as_structure(const Rcpp::List& spec) {
  BnStructure s =
      make_structure(granary::as_graph(Rcpp::as<int>(spec["nodes"]), spec["edges"]), Rcpp::as<std::vector<int>>(spec["levels"]));
  if (!Rf_isNull(spec["groups"])) {
    std::vector<std::vector<int>> group;
    for (SEXP one : Rcpp::List(spec["groups"])) {
      group.push_back(Rf_isNull(one) ? std::vector<int>() : from_indices(Rcpp::IntegerVector(one)));
    }
    set_groups(s, std::move(group));
  }
  return s;
}

BnBasis as_basis(const std::string& name) {
  return name == "monomial" ? BnBasis::monomial : name == "symmetric" ? BnBasis::symmetric : BnBasis::indicator;
}

Rcpp::List as_list(const BnColumns& columns) {
  Rcpp::List nodes(columns.columns.size()), values(columns.columns.size());
  Rcpp::IntegerVector group(columns.columns.size());
  for (std::size_t c = 0; c < columns.columns.size(); ++c) {
    nodes[c] = as_indices(columns.columns[c].nodes);
    values[c] = Rcpp::wrap(columns.columns[c].values);
    group[c] = columns.columns[c].group + 1;
  }
  return Rcpp::List::create(Rcpp::Named("nodes") = nodes, Rcpp::Named("values") = values, Rcpp::Named("group") = group);
}

std::vector<MatrixXd> as_tables(const Rcpp::List& tables) {
  std::vector<MatrixXd> out;
  for (SEXP table : tables) out.push_back(Rcpp::as<MatrixXd>(table));
  return out;
}

LinearOptions linear_options(const Rcpp::List& settings) {
  LinearOptions options;
  options.loss = Rcpp::as<std::string>(settings["loss"]) == "svm" ? LinearLoss::squared_hinge : LinearLoss::logistic;
  options.lambda = settings["lambda"];
  options.l1 = settings["l1"];
  options.intercept = settings["intercept"];
  options.tol = settings["tol"];
  options.max_iter = settings["max_iter"];
  return options;
}

SigmoidNetwork as_network(const Rcpp::List& network) {
  return {from_indices(network["order"]), Rcpp::as<VectorXd>(network["bias"]), Rcpp::as<MatrixXd>(network["weights"])};
}

Rcpp::List as_list(const Shattering& s) {
  return Rcpp::List::create(Rcpp::Named("points") = s.points, Rcpp::Named("odds") = s.odds,
                            Rcpp::Named("p") = Rcpp::wrap(s.log2_p), Rcpp::Named("q") = Rcpp::wrap(s.log2_q),
                            Rcpp::Named("wrong") = s.wrong);
}

}  // namespace

// [[Rcpp::export(rng = false)]]
Rcpp::List core_bn_features(Rcpp::List spec, std::string basis, const Eigen::Map<Eigen::MatrixXi> x, double limit) {
  RMonitor monitor(R_NilValue);
  const BnStructure s = as_structure(spec);
  const BnColumns columns = bn_columns(s, as_basis(basis), static_cast<Index>(limit), monitor);
  Rcpp::List out = as_list(columns);
  out["features"] = bn_features(s, columns, x, monitor);
  return out;
}

// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd core_bn_kernel(Rcpp::List spec, std::string basis, const Eigen::Map<Eigen::MatrixXi> x,
                               const Eigen::Map<Eigen::MatrixXi> y, int threads, SEXP progress) {
  RMonitor monitor(progress);
  return bn_kernel_matrix(as_structure(spec), as_basis(basis), x, y, threads, monitor);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_bn_tables(Rcpp::List spec, const Eigen::Map<Eigen::MatrixXi> x, double alpha) {
  return Rcpp::wrap(bn_tables(bn_counts(as_structure(spec), x, {}), alpha));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_bn_weights(Rcpp::List spec, std::string basis, Rcpp::List p, Rcpp::List q, double limit) {
  RMonitor monitor(R_NilValue);
  const BnStructure s = as_structure(spec);
  const BnColumns columns = bn_columns(s, as_basis(basis), static_cast<Index>(limit), monitor);
  Rcpp::List out = as_list(columns);
  out["weights"] = bn_weights(s, columns, as_tables(p), as_tables(q));
  return out;
}

// [[Rcpp::export(rng = false)]]
Eigen::VectorXd core_bn_log_density(Rcpp::List spec, Rcpp::List tables, const Eigen::Map<Eigen::MatrixXi> x) {
  return bn_log_density(as_structure(spec), as_tables(tables), x);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_linear_fit(const Eigen::Map<Eigen::SparseMatrix<double>> features, Eigen::VectorXd y, Rcpp::List settings,
                           Eigen::VectorXd start, SEXP progress) {
  RMonitor monitor(progress);
  const LinearFit fit = fit_linear(features, y, linear_options(settings), start, monitor);
  return Rcpp::List::create(Rcpp::Named("intercept") = fit.intercept, Rcpp::Named("weights") = fit.weights,
                            Rcpp::Named("loss") = fit.loss, Rcpp::Named("objective") = fit.objective,
                            Rcpp::Named("convergence") = granary::as_list(fit.convergence));
}

// [[Rcpp::export(rng = false)]]
Rcpp::IntegerMatrix core_bn_tree(const Eigen::Map<Eigen::MatrixXi> x, std::vector<int> levels, std::vector<int> classes,
                                 int n_classes) {
  RMonitor monitor(R_NilValue);
  return edge_matrix(chow_liu_tree(x, levels, classes, n_classes, monitor));
}

// |U|, and the sets and coefficients of inclusion and exclusion behind it.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_bn_union(Rcpp::List spec) {
  RMonitor monitor(R_NilValue);
  const BnStructure s = as_structure(spec);
  const FamilyUnion families = family_union(s, monitor);
  Rcpp::List sets(families.sets.size());
  for (std::size_t t = 0; t < families.sets.size(); ++t) sets[t] = as_indices(families.sets[t].members());
  return Rcpp::List::create(Rcpp::Named("size") = union_size(families, s.levels), Rcpp::Named("sets") = sets,
                            Rcpp::Named("coefficients") = families.coefficients);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_bn_shatter(Rcpp::List spec, std::string type, std::vector<int> labels, bool paper) {
  const BnStructure s = as_structure(spec);
  if (type == "logistic") return as_list(shatter_logistic(s.nodes(), labels, paper));
  if (type == "naive") return as_list(shatter_naive(s.nodes(), labels));
  const VectorXd constants = shatter_constants(s, paper);
  Rcpp::List out = as_list(shatter_tables(s, labels, constants));
  out["constants"] = constants;
  return out;
}

// How many of the 2^m dichotomies fail, m the number of points.
// [[Rcpp::export(rng = false)]]
double core_bn_shatter_all(Rcpp::List spec, std::string type, int points, bool paper) {
  RMonitor monitor(R_NilValue);
  const BnStructure s = as_structure(spec);
  const VectorXd constants = shatter_constants(s, paper);
  double failures = 0;
  for (std::uint32_t mask = 0; mask < std::uint32_t{1} << points; ++mask) {
    monitor.check();
    std::vector<int> labels(points);
    for (int k = 0; k < points; ++k) labels[k] = mask >> k & 1 ? 1 : -1;
    const Shattering one = type == "logistic" ? shatter_logistic(s.nodes(), labels, paper)
                           : type == "naive"  ? shatter_naive(s.nodes(), labels)
                                              : shatter_tables(s, labels, constants);
    failures += one.wrong > 0;
  }
  return failures;
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_bn_concepts(Rcpp::List spec, SEXP progress) {
  RMonitor monitor(progress);
  const ConceptClass found = enumerate_concepts(as_structure(spec), monitor);
  return Rcpp::List::create(Rcpp::Named("points") = found.points,
                            Rcpp::Named("concepts") = std::vector<double>(found.concepts.begin(), found.concepts.end()),
                            Rcpp::Named("vc") = found.vc, Rcpp::Named("witness") = as_indices(found.witness),
                            Rcpp::Named("programs") = found.programs);
}

// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd core_half_space(std::vector<double> a, std::vector<double> b, bool forward) {
  MatrixXd out(a.size(), 2);
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (forward) {
      const HalfSpace h = to_half_space(a[i], b[i]);
      out.row(i) << h.w, h.b;
    } else {
      const BernoulliPair pair = from_half_space(a[i], b[i]);
      out.row(i) << pair.p, pair.q;
    }
  }
  return out;
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_sbn_fit(const Eigen::Map<Eigen::MatrixXd> x, Rcpp::IntegerVector order, bool choose, Rcpp::List settings,
                        int threads, SEXP progress) {
  RMonitor monitor(progress);
  const SigmoidFit fit = fit_sigmoid_network(x, from_indices(order), choose ? SigmoidOrder::score : SigmoidOrder::given,
                                             linear_options(settings), threads, monitor);
  return Rcpp::List::create(Rcpp::Named("order") = as_indices(fit.network.order), Rcpp::Named("bias") = fit.network.bias,
                            Rcpp::Named("weights") = fit.network.weights, Rcpp::Named("log_likelihood") = fit.log_likelihood,
                            Rcpp::Named("convergence") = granary::as_list(fit.convergence));
}

// [[Rcpp::export(rng = false)]]
Eigen::VectorXd core_sbn_log_density(Rcpp::List network, const Eigen::Map<Eigen::MatrixXd> x) {
  return sigmoid_log_density(as_network(network), x);
}

// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd core_sbn_sample(Rcpp::List network, int n, Rcpp::NumericVector seed) {
  RMonitor monitor(R_NilValue);
  Rng rng = make_rng(seed);
  return sigmoid_sample(as_network(network), n, rng, monitor);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_parity_network(std::vector<int> a) {
  const ModifiedNetwork network = parity_network(a);
  return Rcpp::List::create(Rcpp::Named("weights") = network.weights, Rcpp::Named("top") = network.top);
}

// [[Rcpp::export(rng = false)]]
Eigen::VectorXd core_modified_log_density(Eigen::MatrixXd weights, Eigen::VectorXd top, const Eigen::Map<Eigen::MatrixXd> x) {
  return modified_log_density({weights, top}, x);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_sign_rank(const Eigen::Map<Eigen::MatrixXd> signs, int max_dimension, int restarts, int max_iter,
                          Rcpp::NumericVector seed, SEXP progress) {
  RMonitor monitor(progress);
  Rng rng = make_rng(seed);
  SignRankOptions options;
  options.max_dimension = max_dimension;
  options.restarts = restarts;
  options.max_iter = max_iter;
  const SignRankBounds b = sign_rank_bounds(signs, options, rng, monitor);
  return Rcpp::List::create(Rcpp::Named("forster") = b.forster, Rcpp::Named("norm") = b.norm, Rcpp::Named("vc") = b.vc,
                            Rcpp::Named("vc_complete") = b.vc_complete, Rcpp::Named("rank") = b.rank,
                            Rcpp::Named("upper") = b.upper, Rcpp::Named("left") = b.left, Rcpp::Named("right") = b.right);
}
