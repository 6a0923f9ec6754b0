// Exports of Bayesian optimisation. R holds the state as plain lists (see R/bo_state.R), so that it can be saved; here it becomes
// surrogates, spaces and criteria.
#include "process/bo_learn.h"
#include "process/bo_suggest.h"
#include "r_glue.h"
#include "r_core_kernel.h"

using namespace granary;
using namespace granary::process;

namespace {

BoModel as_model(const Rcpp::List& model, Index dimension) {
  BoModel out{Kernel(as_kernel_spec(model["kernel"]), dimension)};
  out.noise = Rcpp::as<double>(model["noise"]);
  out.learn_noise = Rcpp::as<bool>(model["learn_noise"]);
  const Rcpp::List trend = model["trend"];
  out.trend.constant = Rcpp::as<bool>(trend["constant"]);
  for (int column : Rcpp::as<std::vector<int>>(trend["columns"])) out.trend.columns.push_back(column - 1);
  if (!Rf_isNull(trend["features"])) {
    const Rcpp::Function features = trend["features"];
    out.trend.function = [features](const MatrixXd& x) { return Rcpp::as<MatrixXd>(features(x)); };
  }
  const Rcpp::List prior = model["prior"];
  out.prior.process = static_cast<BoProcess>(Rcpp::as<int>(prior["process"]));
  out.prior.mean = Rcpp::as<VectorXd>(prior["b"]);
  out.prior.variance = Rcpp::as<VectorXd>(prior["B"]);
  out.prior.shape = Rcpp::as<double>(prior["a"]);
  out.prior.rate = Rcpp::as<double>(prior["c"]);
  out.prior.s2 = Rcpp::as<double>(prior["s2"]);
  return out;
}

BoSpace as_space(const Rcpp::List& space) {
  BoSpace out;
  out.values = Rcpp::as<VectorXi>(space["values"]);
  out.categorical = Rcpp::as<VectorXi>(space["categorical"]);
  out.candidates = Rcpp::as<MatrixXd>(space["candidates"]);
  if (!Rf_isNull(space["feasible"])) {
    const Rcpp::Function feasible = space["feasible"];
    out.feasible = [feasible](const VectorXd& x) { return Rcpp::as<bool>(feasible(x)); };
  }
  return out;
}

BoCriterion as_criterion(const Rcpp::List& criterion) {
  BoCriterion out;
  out.type = BoCriterion::type_from(Rcpp::as<std::string>(criterion["type"]));
  out.xi = Rcpp::as<double>(criterion["xi"]);
  out.power = Rcpp::as<int>(criterion["power"]);
  out.kappa = Rcpp::as<double>(criterion["kappa"]);
  out.delta = Rcpp::as<double>(criterion["delta"]);
  out.eta = Rcpp::as<double>(criterion["eta"]);
  out.bounded = Rcpp::as<bool>(criterion["bounded"]);
  out.weights = Rcpp::as<VectorXd>(criterion["weights"]);
  const Rcpp::List children = criterion["children"];
  for (R_xlen_t i = 0; i < children.size(); ++i) out.children.push_back(as_criterion(children[i]));
  return out;
}

// One surrogate per row of theta, from the factors kept where there are any.
std::vector<BoSurrogate> as_surrogates(const Rcpp::List& model, ConstMatrixRef x, ConstVectorRef y, ConstMatrixRef theta,
                                       const Rcpp::List& factors) {
  const BoModel m = as_model(model, x.cols());
  std::vector<BoSurrogate> out;
  for (Index i = 0; i < theta.rows(); ++i) {
    Cholesky factor;
    if (i < factors.size()) factor = Cholesky::from_lower(Rcpp::as<MatrixXd>(factors[i]));
    out.push_back(m.surrogate(theta.row(i).transpose(), x, y, std::move(factor)));
  }
  return out;
}

}  // namespace

// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd core_bo_design(const Rcpp::List& space, int design, int n, const Rcpp::NumericVector& seed) {
  RMonitor monitor(R_NilValue);
  Rng rng = make_rng(seed);
  return bo_design(as_space(space), static_cast<BoDesign>(design), n, rng, monitor);
}

// `method`: 0 fixed, 1 maximum, 2 particles.
// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd core_bo_learn(const Rcpp::List& model, const Eigen::Map<Eigen::MatrixXd> x, const Eigen::Map<Eigen::VectorXd> y,
                              const Eigen::Map<Eigen::VectorXd> start, const Rcpp::List& options, int method,
                              const Rcpp::NumericVector& seed) {
  RMonitor monitor(R_NilValue);
  BoLearnOptions o;
  o.score = Rcpp::as<bool>(options["loo"]) ? BoScore::leave_one_out : BoScore::evidence;
  o.lower = Rcpp::as<VectorXd>(options["lower"]);
  o.upper = Rcpp::as<VectorXd>(options["upper"]);
  o.prior.mean = Rcpp::as<VectorXd>(options["prior_mean"]);
  o.prior.sd = Rcpp::as<VectorXd>(options["prior_sd"]);
  o.global = Rcpp::as<bool>(options["global"]);
  o.burn_in = Rcpp::as<int>(options["burn_in"]);
  o.particles = Rcpp::as<int>(options["particles"]);
  const BoModel m = as_model(model, x.cols());
  Rng rng = make_rng(seed);
  if (method == 2) return bo_sample(m, x, y, start, o, rng, monitor);
  return bo_learn(m, x, y, start, o, monitor).transpose();
}

// Factors of K~ for each row of theta, those given carried on to the rows that are new.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_bo_factors(const Rcpp::List& model, const Eigen::Map<Eigen::MatrixXd> x, const Eigen::Map<Eigen::VectorXd> y,
                           const Eigen::Map<Eigen::MatrixXd> theta, const Rcpp::List& factors) {
  Rcpp::List lower;
  int floored = 0;
  VectorXd evidence(theta.rows()), s2(theta.rows()), nu(theta.rows());
  MatrixXd weights;
  Index at = 0;
  for (const BoSurrogate& surrogate : as_surrogates(model, x, y, theta, factors)) {
    lower.push_back(Rcpp::wrap(MatrixXd(surrogate.factor().lower())));
    floored = std::max(floored, surrogate.floored());
    evidence[at] = surrogate.log_evidence();
    s2[at] = surrogate.s2();
    nu[at] = surrogate.nu();
    weights.conservativeResize(theta.rows(), surrogate.weights().size());
    weights.row(at++) = surrogate.weights().transpose();
  }
  return Rcpp::List::create(Rcpp::Named("factors") = lower, Rcpp::Named("floored") = floored,
                            Rcpp::Named("log_evidence") = evidence, Rcpp::Named("s2") = s2, Rcpp::Named("nu") = nu,
                            Rcpp::Named("weights") = weights);
}

// Location and squared standard deviation of the mixture over theta; sd is NaN where nu <= 2.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_bo_predict(const Rcpp::List& model, const Eigen::Map<Eigen::MatrixXd> x, const Eigen::Map<Eigen::VectorXd> y,
                           const Eigen::Map<Eigen::MatrixXd> theta, const Rcpp::List& factors,
                           const Eigen::Map<Eigen::MatrixXd> at) {
  const std::vector<BoSurrogate> surrogates = as_surrogates(model, x, y, theta, factors);
  MatrixXd location(at.rows(), theta.rows()), scale(at.rows(), theta.rows());
  VectorXd nu(theta.rows());
  for (std::size_t k = 0; k < surrogates.size(); ++k) {
    const BoPrediction p = surrogates[k].predict(at);
    location.col(k) = p.location;
    scale.col(k) = p.scale;
    nu[k] = surrogates[k].nu();
  }
  return Rcpp::List::create(Rcpp::Named("location") = location, Rcpp::Named("scale") = scale, Rcpp::Named("nu") = nu);
}

// Of the first particle, for `cov` and simulate().
// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd core_bo_covariance(const Rcpp::List& model, const Eigen::Map<Eigen::MatrixXd> x,
                                   const Eigen::Map<Eigen::VectorXd> y, const Eigen::Map<Eigen::MatrixXd> theta,
                                   const Rcpp::List& factors, const Eigen::Map<Eigen::MatrixXd> at) {
  return as_surrogates(model, x, y, theta.topRows(1), factors).front().covariance(at);
}

// [[Rcpp::export(rng = false)]]
Eigen::VectorXd core_bo_value(const Rcpp::List& model, const Eigen::Map<Eigen::MatrixXd> x, const Eigen::Map<Eigen::VectorXd> y,
                              const Eigen::Map<Eigen::MatrixXd> theta, const Rcpp::List& factors, const Rcpp::List& criterion,
                              bool noisy, const Eigen::Map<Eigen::MatrixXd> at, const Rcpp::NumericVector& seed) {
  const std::vector<BoSurrogate> surrogates = as_surrogates(model, x, y, theta, factors);
  const BoCriterion c = as_criterion(criterion);
  const BoAcquisition acquisition(c, surrogates, bo_contexts(surrogates, noisy));
  Rng rng = make_rng(seed);
  return c.draws() ? acquisition.sampled_values(at, rng) : acquisition.values(at);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_bo_suggest(const Rcpp::List& model, const Eigen::Map<Eigen::MatrixXd> x, const Eigen::Map<Eigen::VectorXd> y,
                           const Eigen::Map<Eigen::MatrixXd> theta, const Rcpp::List& factors, const Rcpp::List& space,
                           const Rcpp::List& criterion, const Rcpp::List& options, const Rcpp::NumericVector& seed) {
  RMonitor monitor(R_NilValue);
  BoSuggestOptions o;
  o.n = Rcpp::as<int>(options["n"]);
  o.epsilon = Rcpp::as<double>(options["epsilon"]);
  o.force_random = Rcpp::as<bool>(options["force_random"]);
  o.noisy = Rcpp::as<bool>(options["noisy"]);
  o.cover = Rcpp::as<int>(options["cover"]);
  o.gains = Rcpp::as<VectorXd>(options["gains"]);
  o.search.evaluations_per_input = Rcpp::as<int>(options["search"]);
  Rng rng = make_rng(seed);
  const BoSuggestion s =
      bo_suggest(as_criterion(criterion), as_surrogates(model, x, y, theta, factors), as_space(space), o, rng, monitor);
  Rcpp::List nominees;
  for (const MatrixXd& rows : s.nominees) nominees.push_back(Rcpp::wrap(rows));
  return Rcpp::List::create(Rcpp::Named("x") = s.x, Rcpp::Named("value") = s.value, Rcpp::Named("used") = s.used,
                            Rcpp::Named("nominees") = nominees);
}
