// Exports of sparse Gaussian process regression and the relevance vector machine. Conversion only: the methods are in
// process/sparse_*.h and process/rvm.h, the checks in R/sparse_gp.R and R/rvm.R.
#include "core/cluster/kmeans.h"
#include "process/rvm.h"
#include "process/sparse_fit.h"
#include "process/sparse_predict.h"
#include "process/sparse_select.h"
#include "r_glue.h"
#include "r_core_kernel.h"
#include "r_process_parameters.h"

using namespace granary;
using namespace granary::process;

namespace {

SparseMethod as_method(const std::string& name) {
  if (name == "sor") return SparseMethod::sor;
  if (name == "dtc") return SparseMethod::dtc;
  if (name == "pitc") return SparseMethod::pitc;
  if (name == "vfe") return SparseMethod::vfe;
  if (name == "nystrom") return SparseMethod::nystrom;
  if (name == "exact" || name == "sod") return SparseMethod::exact;
  return SparseMethod::fitc;  // and fic, which differs in joint predictions only
}

InducingRule as_rule(const std::string& name) {
  if (name == "random") return InducingRule::random;
  if (name == "pivchol") return InducingRule::variance;
  if (name == "info") return InducingRule::information;
  if (name == "posterior") return InducingRule::posterior;
  if (name == "evidence") return InducingRule::evidence;
  return InducingRule::kmeans;
}

// The rows of a problem, owned here: Kernel and SparseProblem want plain matrices.
struct Rows {
  MatrixXd x, targets;
  SparseProblem problem;
  Rows(const Eigen::Map<MatrixXd>& x_in, const Eigen::Map<MatrixXd>& targets_in, const std::string& method,
       const std::vector<int>& blocks, int threads)
      : x(x_in), targets(targets_in) {
    problem.x = &x;
    problem.targets = &targets;
    problem.method = as_method(method);
    problem.blocks.assign(blocks.begin(), blocks.end());
    problem.threads = threads;
  }
};

Rcpp::List as_list(const SparseState& s) {
  return Rcpp::List::create(Rcpp::Named("noise") = s.noise, Rcpp::Named("inducing") = s.inducing,
                            Rcpp::Named("jitter") = s.jitter, Rcpp::Named("lower_u") = s.lower_u, Rcpp::Named("b") = s.b,
                            Rcpp::Named("h") = s.h, Rcpp::Named("gram") = s.gram, Rcpp::Named("log_lambda") = s.log_lambda,
                            Rcpp::Named("n") = static_cast<double>(s.n),
                            Rcpp::Named("gap") = Rcpp::NumericVector::create(s.gap, s.max_gap, s.prior),
                            Rcpp::Named("lower_b") = s.lower_b, Rcpp::Named("c") = s.c, Rcpp::Named("trend") = s.trend,
                            Rcpp::Named("trend_lower") = s.trend_lower, Rcpp::Named("log_evidence") = s.log_evidence);
}

SparseState as_state(const Rcpp::List& s, const std::string& method) {
  SparseState out;
  out.method = as_method(method);
  out.noise = s["noise"];
  out.inducing = Rcpp::as<MatrixXd>(s["inducing"]);
  out.jitter = s["jitter"];
  out.lower_u = Rcpp::as<MatrixXd>(s["lower_u"]);
  out.b = Rcpp::as<MatrixXd>(s["b"]);
  out.h = Rcpp::as<MatrixXd>(s["h"]);
  out.gram = Rcpp::as<MatrixXd>(s["gram"]);
  out.log_lambda = s["log_lambda"];
  out.n = static_cast<Index>(Rcpp::as<double>(s["n"]));
  const Rcpp::NumericVector gap = s["gap"];
  out.gap = gap[0];
  out.max_gap = gap[1];
  out.prior = gap[2];
  out.lower_b = Rcpp::as<MatrixXd>(s["lower_b"]);
  out.c = Rcpp::as<MatrixXd>(s["c"]);
  out.trend = Rcpp::as<VectorXd>(s["trend"]);
  out.trend_lower = Rcpp::as<MatrixXd>(s["trend_lower"]);
  out.log_evidence = s["log_evidence"];
  return out;
}

Rcpp::List as_list(const SparsePrediction& p) {
  return Rcpp::List::create(Rcpp::Named("mean") = p.mean, Rcpp::Named("variance") = p.variance,
                            Rcpp::Named("covariance") = p.covariance, Rcpp::Named("gradient") = p.gradient);
}

}  // namespace

// [[Rcpp::export(rng = false)]]
Rcpp::List core_sparse_fit(const Eigen::Map<Eigen::MatrixXd> x, const Eigen::Map<Eigen::MatrixXd> targets, std::string method,
                           std::vector<int> blocks, const Rcpp::List& kernel, const Eigen::Map<Eigen::MatrixXd> inducing,
                           const Rcpp::List& settings, int threads, SEXP progress) {
  RMonitor monitor(progress);
  const Rows rows(x, targets, method, blocks, threads);
  SparseFitOptions options;
  options.learn_kernel = settings["learn_kernel"];
  options.learn_noise = settings["learn_noise"];
  options.learn_inducing = settings["learn_inducing"];
  options.starts = Rcpp::as<MatrixXd>(settings["starts"]);
  options.lower = Rcpp::as<VectorXd>(settings["lower"]);
  options.upper = Rcpp::as<VectorXd>(settings["upper"]);
  options.prior = as_prior(settings["prior"]);
  options.box = Rcpp::as<MatrixXd>(settings["box"]);
  options.n_starts = settings["n_starts"];
  options.max_iter = settings["max_iter"];
  options.tol = settings["tol"];
  const SparseFitResult fit = sparse_fit(rows.problem, Kernel(as_kernel_spec(kernel), x.cols()), inducing, options, monitor);
  return Rcpp::List::create(Rcpp::Named("parameters") = fit.parameters, Rcpp::Named("inducing") = fit.inducing,
                            Rcpp::Named("state") = as_list(fit.state), Rcpp::Named("trace") = fit.trace,
                            Rcpp::Named("convergence") = granary::as_list(fit.convergence));
}

// Posterior of the parameters of the kernel and of the noise, where `learn_noise`; the last entry of `parameters` is the log noise.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_sparse_sample(const Eigen::Map<Eigen::MatrixXd> x, const Eigen::Map<Eigen::MatrixXd> targets, std::string method,
                              std::vector<int> blocks, const Rcpp::List& kernel, const Eigen::Map<Eigen::MatrixXd> inducing,
                              const Eigen::Map<Eigen::VectorXd> parameters, bool learn_noise, const Rcpp::List& settings,
                              const Rcpp::NumericVector& seed, SEXP progress) {
  RMonitor monitor(progress);
  const Rows rows(x, targets, method, blocks, 1);
  const MatrixXd at = inducing;
  const Kernel start(as_kernel_spec(kernel), x.cols());
  const ParameterSampleOptions options = as_sample_options(settings);
  const Index p = parameters.size() - 1;
  const LogEvidence log_evidence = [&](const VectorXd& theta, VectorXd* gradient) {
    Kernel own = start;
    own.set_parameters(theta.head(p));
    try {
      SparseGradient slope;
      const double value = sparse_state(rows.problem, own, std::exp(learn_noise ? theta[p] : parameters[p]), at, SparseJitter(),
                                        monitor, gradient == nullptr ? nullptr : &slope, false)
                               .log_evidence;
      if (gradient != nullptr) {
        gradient->head(p) = slope.parameters;
        if (learn_noise) (*gradient)[p] = slope.log_noise;
      }
      return value;
    } catch (const NumericalError&) {
      return -std::numeric_limits<double>::infinity();
    }
  };
  return as_list(sample_parameters(log_evidence, parameters.head(p + learn_noise), options, make_rng(seed), monitor), options);
}

// Evidence and its gradient in log parameters, log noise and inducing inputs.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_sparse_gradient(const Eigen::Map<Eigen::MatrixXd> x, const Eigen::Map<Eigen::MatrixXd> targets,
                                std::string method, std::vector<int> blocks, const Rcpp::List& kernel, double noise,
                                const Eigen::Map<Eigen::MatrixXd> inducing, bool inputs, int threads, double cache_bytes) {
  RMonitor monitor(R_NilValue);
  Rows rows(x, targets, method, blocks, threads);
  rows.problem.cache_bytes = cache_bytes;
  SparseGradient gradient;
  const SparseState state = sparse_state(rows.problem, Kernel(as_kernel_spec(kernel), x.cols()), noise, inducing, SparseJitter(),
                                         monitor, &gradient, inputs);
  return Rcpp::List::create(Rcpp::Named("log_evidence") = state.log_evidence, Rcpp::Named("parameters") = gradient.parameters,
                            Rcpp::Named("log_noise") = gradient.log_noise, Rcpp::Named("inducing") = gradient.inducing);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_sparse_add(const Rcpp::List& state, const Eigen::Map<Eigen::MatrixXd> x,
                           const Eigen::Map<Eigen::MatrixXd> targets, std::string method, std::vector<int> blocks,
                           const Rcpp::List& kernel) {
  RMonitor monitor(R_NilValue);
  const Rows rows(x, targets, method, blocks, 1);
  SparseState grown = as_state(state, method);
  sparse_add_rows(grown, rows.problem, Kernel(as_kernel_spec(kernel), x.cols()), monitor);
  return as_list(grown);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_sparse_predict(const Rcpp::List& state, std::string method, const Rcpp::List& kernel,
                               const Eigen::Map<Eigen::MatrixXd> newx, const Eigen::Map<Eigen::MatrixXd> trend, bool variance,
                               bool covariance, bool gradient, int threads, SEXP progress) {
  RMonitor monitor(progress);
  SparsePredictOptions options;
  options.variance = variance;
  options.covariance = covariance;
  options.diagonal_conditional = method == "fic";
  options.gradient = gradient;
  options.threads = threads;
  return as_list(
      sparse_predict(as_state(state, method), Kernel(as_kernel_spec(kernel), newx.cols()), newx, trend, options, monitor));
}

// Nystrom and augmented predictions look at the rows again.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_sparse_predict_rows(const Rcpp::List& state, std::string method, const Eigen::Map<Eigen::MatrixXd> x,
                                    const Eigen::Map<Eigen::MatrixXd> targets, std::vector<int> blocks, const Rcpp::List& kernel,
                                    const Eigen::Map<Eigen::MatrixXd> newx, const Eigen::Map<Eigen::MatrixXd> trend,
                                    bool variance, bool covariance, bool gradient, bool augment, int threads, SEXP progress) {
  RMonitor monitor(progress);
  const Rows rows(x, targets, method, blocks, threads);
  const Kernel k(as_kernel_spec(kernel), newx.cols());
  if (augment) return as_list(augmented_predict(as_state(state, method), rows.problem, k, newx, trend, threads, monitor));
  SparsePredictOptions options;
  options.variance = variance;
  options.covariance = covariance;
  options.gradient = gradient;
  options.threads = threads;
  return as_list(nystrom_predict(as_state(state, method), rows.problem, k, newx, trend, options, monitor));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_sparse_select(const Eigen::Map<Eigen::MatrixXd> x, const Eigen::Map<Eigen::VectorXd> y, const Rcpp::List& kernel,
                              double noise, std::string rule, int m, double tol, int threads, Rcpp::NumericVector seed,
                              SEXP progress) {
  RMonitor monitor(progress);
  SelectOptions options;
  options.rule = as_rule(rule);
  options.m = m;
  options.tol = tol;
  options.threads = threads;
  Rng rng = make_rng(seed);
  const Selection chosen = select_inducing(x, y, Kernel(as_kernel_spec(kernel), x.cols()), noise, options, rng, monitor);
  Rcpp::IntegerVector at(chosen.rows.size());
  for (std::size_t i = 0; i < chosen.rows.size(); ++i) at[i] = static_cast<int>(chosen.rows[i]) + 1;
  return Rcpp::List::create(Rcpp::Named("inducing") = chosen.inducing, Rcpp::Named("rows") = at);
}

// The block of each row, from 1.
// [[Rcpp::export(rng = false)]]
Rcpp::IntegerVector core_sparse_blocks(const Eigen::Map<Eigen::MatrixXd> x, int size, int threads, Rcpp::NumericVector seed,
                                       SEXP progress) {
  RMonitor monitor(progress);
  Rng rng = make_rng(seed);
  const VectorXi cluster = balanced_blocks(x, size, threads, rng, monitor);
  return Rcpp::IntegerVector(cluster.data(), cluster.data() + cluster.size()) + 1;
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_rvm(const Eigen::Map<Eigen::MatrixXd> phi, const Eigen::Map<Eigen::VectorXd> y, bool fast, double noise,
                    double prune, double tol, int max_iter, SEXP progress) {
  RMonitor monitor(progress);
  RvmOptions options;
  options.algorithm = fast ? RvmAlgorithm::fast : RvmAlgorithm::fixed_point;
  options.noise = noise;
  options.prune = prune;
  options.tol = tol;
  options.max_iter = max_iter;
  const RvmResult fit = rvm(phi, y, options, monitor);
  Rcpp::IntegerVector relevant(fit.relevant.size());
  for (std::size_t k = 0; k < fit.relevant.size(); ++k) relevant[k] = static_cast<int>(fit.relevant[k]) + 1;
  return Rcpp::List::create(Rcpp::Named("relevant") = relevant, Rcpp::Named("precision") = fit.precision,
                            Rcpp::Named("mean") = fit.mean, Rcpp::Named("gamma") = fit.gamma,
                            Rcpp::Named("covariance") = fit.covariance, Rcpp::Named("noise") = fit.noise,
                            Rcpp::Named("log_evidence") = fit.log_evidence, Rcpp::Named("trace") = fit.trace,
                            Rcpp::Named("convergence") = granary::as_list(fit.convergence));
}
