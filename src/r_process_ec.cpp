// Exports of expectation consistent inference.
#include "graph/glasso.h"
#include "process/ec_fit.h"
#include "process/ec_gauss.h"
#include "r_door_function.h"

using namespace granary;
using namespace granary::process;

GRANARY_DEFAULTS(ec_ising, EcOptions);
GRANARY_DEFAULTS(ec_baseline, EcBaselineOptions);

// `model`: J, theta.
// [[Rcpp::export(rng = false)]]
SEXP core_ec_ising(SEXP model, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const EcModelData m = read<EcModelData>(model, "model");
    Rng random = rng(seed);
    return write(ec_ising_starts(m.j, m.theta, read<EcOptions>(options), random, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_ec_baseline(SEXP model, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const EcModelData m = read<EcModelData>(model, "model");
    Rng random = rng(seed);
    return write(ec_baseline(m.j, m.theta, read<EcBaselineOptions>(options), random, monitor));
  });
}

// Rows of spins -1, 1.
static EcPrecision graphical_lasso(const MatrixXd& c, const MatrixXd& weights, double tol, Monitor& monitor) {
  graph::GlassoOptions options;
  options.tol = tol;
  const graph::Penalty penalty = graph::Penalty::matrix(weights);
  graph::check_problem(c, penalty);
  const graph::GlassoResult fit = graph::glasso(c, penalty, options, monitor);
  return {MatrixXd(graph::symmetric_from_upper(fit.state.upper)), fit.convergence};
}

// [[Rcpp::export(rng = false)]]
SEXP core_ec_learn(SEXP x, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) { return write(ec_learn(matrix(x), read<EcLearnOptions>(options), graphical_lasso, monitor)); });
}

// `problem`: Sigma, mu and the parts of the factors.
// [[Rcpp::export(rng = false)]]
SEXP core_ec_gauss(SEXP problem, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng random = rng(seed);
    return write(ec_gauss(read<EcGaussProblem>(problem, "problem"), read<EpOptions>(options), random, monitor));
  });
}

// Probability of a box under N(mu, Sigma) by quasi-Monte Carlo.
// [[Rcpp::export(rng = false)]]
SEXP core_ec_box(SEXP problem, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const EcGaussProblem p = read<EcGaussProblem>(problem, "problem");
    const BoxOptions o = read<BoxOptions>(options);
    Rng random = rng(seed);
    return write(box_monte_carlo(p.a, p.b, p.mu, p.sigma, o.samples, o.shifts, o.threads, random, monitor));
  });
}
