// Exports of the measures of dependence and their tests.
#include "core/kernel/kernel_features.h"
#include "kernel/dependence.h"
#include "kernel/dependence_test.h"
#include "kernel/dependence_variable.h"
#include "r_glue.h"
#include "r_core_kernel.h"

using namespace granary;
using namespace granary::kernel;

namespace {

// Each a list with `x`, `kernel` (NULL for a kernel matrix) and `window` (NULL where there is none).
std::vector<DependenceVariable> as_variables(const Rcpp::List& list) {
  std::vector<DependenceVariable> result;
  for (R_xlen_t i = 0; i < list.size(); ++i) {
    const Rcpp::List item = list[i];
    DependenceVariable v;
    v.x = Rcpp::as<Eigen::Map<Eigen::MatrixXd>>(item["x"]);
    if (!Rf_isNull(item["kernel"])) v.kernel = std::make_unique<Kernel>(as_kernel_spec(item["kernel"]), v.x.cols());
    if (!Rf_isNull(item["window"])) v.window = std::make_unique<Kernel>(as_kernel_spec(item["window"]), v.x.cols());
    result.push_back(std::move(v));
  }
  return result;
}

DependenceOptions as_options(const Rcpp::List& list) {
  DependenceOptions options;
  options.measure = static_cast<Measure>(Rcpp::as<int>(list["measure"]));
  options.variances = static_cast<Variances>(Rcpp::as<int>(list["variances"]));
  options.kappa = Rcpp::as<double>(list["kappa"]);
  options.theta = Rcpp::as<double>(list["theta"]);
  options.nu = Rcpp::as<double>(list["nu"]);
  return options;
}

KernelFeaturesOptions as_rank(const Rcpp::List& list) {
  KernelFeaturesOptions rank;
  rank.tol = Rcpp::as<double>(list["rank_tol"]);
  rank.max_rank = Rcpp::as<int>(list["max_rank"]);
  return rank;
}

// Features and, where a rule is asked for, nu.
std::vector<KernelFeatures> prepare(const std::vector<DependenceVariable>& variables, const Rcpp::List& settings,
                                    DependenceOptions& options, int threads, Monitor& monitor) {
  const KernelFeaturesOptions rank = as_rank(settings);
  std::vector<KernelFeatures> features = variable_features(variables, rank, threads, monitor);
  const int rule = Rcpp::as<int>(settings["nu_rule"]);
  if (rule >= 0) options.nu = choose_nu(variables, features, static_cast<NuRule>(rule), rank, monitor);
  return features;
}

Rcpp::IntegerVector one_based(const std::vector<Index>& pivots) {
  Rcpp::IntegerVector result(pivots.size());
  for (std::size_t i = 0; i < pivots.size(); ++i) result[i] = static_cast<int>(pivots[i]) + 1;
  return result;
}

}  // namespace

// [[Rcpp::export(rng = false)]]
Rcpp::List core_dependence(const Rcpp::List& variables, const Rcpp::List& settings, int threads, SEXP progress) {
  RMonitor monitor(progress);
  const std::vector<DependenceVariable> data = as_variables(variables);
  DependenceOptions options = as_options(settings);
  std::vector<KernelFeatures> features = prepare(data, settings, options, threads, monitor);
  const Features z = centred_values(features);
  const Dependence result = dependence(z, options, monitor);
  Rcpp::List witness(z.size());
  for (std::size_t i = 0; i < z.size(); ++i) {
    witness[i] = Rcpp::List::create(
        Rcpp::Named("values") = VectorXd(z[i] * result.weights[i]), Rcpp::Named("pivots") = one_based(features[i].pivots),
        Rcpp::Named("coefficients") = features[i].coefficients(result.weights[i]),
        Rcpp::Named("constant") = features[i].mean.dot(result.weights[i]),
        Rcpp::Named("residual") = features[i].trace > 0 ? features[i].residual / features[i].trace : 0.0);
  }
  return Rcpp::List::create(Rcpp::Named("value") = result.value, Rcpp::Named("spectrum") = result.spectrum,
                            Rcpp::Named("norms") = result.norms, Rcpp::Named("nu") = options.nu,
                            Rcpp::Named("witness") = witness);
}

// `joint`: the joint HSIC of all variables instead of the measure.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_permutation_test(const Rcpp::List& variables, const Rcpp::List& settings, bool joint, int permutations,
                                 const Rcpp::NumericVector& seed, int threads, SEXP progress) {
  RMonitor monitor(progress);
  const std::vector<DependenceVariable> data = as_variables(variables);
  DependenceOptions options = as_options(settings);
  const Rng rng = make_rng(seed);
  PermutationTest test;
  if (joint) {
    test = joint_permutation_test(kernel_matrices(data, threads, monitor), permutations, rng, threads, monitor);
  } else if (options.measure == Measure::hsic && data.size() == 2) {
    const PairInput pair = pair_input(data, as_rank(settings), threads, monitor);
    test = pair.matrices.empty() ? permutation_test(pair.features, options, permutations, rng, threads, monitor)
                                 : permutation_test(pair.matrices[0], pair.matrices[1], permutations, rng, threads, monitor);
  } else {
    std::vector<KernelFeatures> features = prepare(data, settings, options, threads, monitor);
    test = permutation_test(centred_values(features), options, permutations, rng, threads, monitor);
  }
  return Rcpp::List::create(Rcpp::Named("statistic") = test.statistic, Rcpp::Named("p_value") = test.p_value,
                            Rcpp::Named("permuted") = test.permuted);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_gamma_test(const Rcpp::List& variables, const Rcpp::List& settings, int threads, SEXP progress) {
  RMonitor monitor(progress);
  const PairInput pair = pair_input(as_variables(variables), as_rank(settings), threads, monitor);
  const GammaTest test = pair.matrices.empty() ? gamma_test(pair.features[0], pair.features[1])
                                               : gamma_test_matrices(pair.matrices[0], pair.matrices[1]);
  return Rcpp::List::create(Rcpp::Named("statistic") = test.statistic, Rcpp::Named("p_value") = test.p_value,
                            Rcpp::Named("mean") = test.mean, Rcpp::Named("variance") = test.variance,
                            Rcpp::Named("shape") = test.shape, Rcpp::Named("scale") = test.scale);
}

// [[Rcpp::export(rng = false)]]
double core_median_distance(const Eigen::Map<Eigen::MatrixXd> x) { return median_distance(x); }

// [[Rcpp::export(rng = false)]]
Rcpp::List core_incomplete_cholesky(const Rcpp::List& variable, double tol, int max_rank, bool centred, SEXP progress) {
  RMonitor monitor(progress);
  const std::vector<DependenceVariable> data = as_variables(Rcpp::List::create(variable));
  KernelFeaturesOptions options;
  options.tol = tol;
  options.max_rank = max_rank;
  options.centred = centred;
  const KernelFeatures f = variable_features(data, options, 1, monitor)[0];
  return Rcpp::List::create(Rcpp::Named("factor") = f.values, Rcpp::Named("pivots") = one_based(f.pivots),
                            Rcpp::Named("mean") = f.mean, Rcpp::Named("root") = f.root, Rcpp::Named("trace") = f.trace,
                            Rcpp::Named("residual") = f.residual);
}
