// Mixtures of von Mises-Fisher laws: Banerjee, Dhillon, Ghosh and Sra (JMLR 2005). Equation and algorithm numbers are theirs.
//
//   f(x) = sum_h alpha_h c_d(kappa_h) exp(kappa_h mu_h'x)        for rows x on the unit sphere of R^d (3.1)
//
//   soft (Algorithm 1)       maximise  sum_i w_i log f(x_i), by expectation-maximisation
//   hard (Algorithm 2)       maximise  sum_i w_i max_h log(alpha_h c_d(kappa_h) exp(kappa_h mu_h'x_i))
//   hybrid (section 8)       soft until the mean entropy of the memberships is small, then hard
//   stochastic               the memberships of each iteration are drawn; the best parameters met are returned
//
// Given sums r_h = sum_i w_i p_ih x_i and weights W_h, mu_h = r_h / |r_h| and A_d(kappa_h) = |r_h| / W_h (3.5, 3.6). Rows are told by the linear scores
// <x, kappa_h mu_h> + log alpha_h + log c_d(kappa_h) (core/cluster/linear_scores.h), constants relative to the uniform law (core/math/bessel.h), so that in
// a thousand dimensions nothing cancels and no high precision is needed.
//
// Differs from the paper: kappa solves (3.6) exactly unless (4.4) is asked for; it is capped at `kappa_max`, and a start in which a component has collapsed to the cap is
// taken only when every start has; a start that stays on the plateau where all components coincide is not taken for converged.
#pragma once

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "core/cluster/linear_scores.h"
#include "core/random/rng.h"

namespace granary::cluster {

// (4.4), (4.1), (4.2), and the solution of A_d(kappa) = r; 0 for r = 0, infinite for r = 1.
enum class VmfEstimator { exact, banerjee, large, small };
inline Names<VmfEstimator> names(VmfEstimator) {
  return {{VmfEstimator::exact, "exact"}, {VmfEstimator::banerjee, "banerjee"}, {VmfEstimator::large, "large"}, {VmfEstimator::small, "small"}};
}
double estimate_concentration(VmfEstimator estimator, double d, double r);

enum class VmfType { soft, hard, hybrid, stochastic };
inline Names<VmfType> names(VmfType) {
  return {{VmfType::soft, "soft"}, {VmfType::hard, "hard"}, {VmfType::hybrid, "hybrid"}, {VmfType::stochastic, "stochastic"}};
}
enum class VmfKappa { free, common, fixed, balanced };  // balanced: kappa_h = kappa n / (k n_h), kappa the common one (frequency-sensitive clusters)
inline Names<VmfKappa> names(VmfKappa) {
  return {{VmfKappa::free, "free"}, {VmfKappa::common, "common"}, {VmfKappa::fixed, "fixed"}, {VmfKappa::balanced, "balanced"}};
}
enum class VmfStart { perturb, plusplus, sample };
inline Names<VmfStart> names(VmfStart) {
  return {{VmfStart::perturb, "perturb"}, {VmfStart::plusplus, "plusplus"}, {VmfStart::sample, "sample"}};
}

struct VmfParameters {
  VectorXd share;          // alpha
  MatrixXd directions;     // mu, k x columns
  VectorXd concentration;  // kappa
};
template <class V>
void fields(V& v, VmfParameters& t) {
  v("share", t.share);
  v("directions", t.directions);
  v("concentration", t.concentration);
}

struct VmfOptions {
  int k = 1;
  VmfType type = VmfType::soft;
  VmfEstimator method = VmfEstimator::exact;
  VmfKappa kappa = VmfKappa::free;
  double fixed_kappa = 0;
  bool equal_share = false;
  VmfStart start = VmfStart::perturb;
  MatrixXd centers;          // directions to start from, with a common kappa and equal shares; empty: by `start`
  VectorXi labels;           // or labels of the rows
  VmfParameters parameters;  // or all of the parameters
  double start_kappa = 10;   // of "perturb"
  double entropy = 0.05;     // hybrid: bits at which it hardens
  int n_starts = 10;
  int max_iter = 500;
  double tol = 1e-8;         // of each start: relative change of the likelihood, measured from that of the uniform law; of the answer: residual at most 100 tol
  double kappa_max = 1e8;
  int threads = 1;
};
template <class V>
void fields(V& v, VmfOptions& t) {
  v("k", t.k);
  v("type", t.type);
  v("method", t.method);
  v("kappa", t.kappa);
  v("fixed_kappa", t.fixed_kappa);
  v("equal_share", t.equal_share);
  v("start", t.start);
  v("centers", t.centers);
  v("labels", positions(t.labels));
  v("parameters", t.parameters);
  v("start_kappa", t.start_kappa);
  v("entropy", t.entropy);
  v("n_starts", t.n_starts);
  v("max_iter", t.max_iter);
  v("tol", t.tol);
  v("kappa_max", t.kappa_max);
  v("threads", t.threads);
}

struct VmfResult {
  VmfParameters parameters;
  VectorXd resultant;             // |r_h| / W_h at the returned memberships
  std::vector<bool> degenerate;   // kappa is at its cap
  VectorXi cluster;
  MatrixXd membership;            // soft and stochastic: n x k
  LinearScores scores;            // of unit rows, relative to the uniform law
  double log_uniform = 0;         // log c_d(0): what a row's score lacks of its log-density
  double objective = 0;           // what was maximised
  // (4.7, 4.8): sum_i w_i sum_h p_ih l_ih <= sum_i w_i max_h l_ih <= sum_i w_i log sum_h exp l_ih
  double complete = 0, classification = 0, loglik = 0;
  std::vector<double> trace;      // of the objective
  std::vector<double> entropy;    // mean over rows, in bits
  VectorXd values;                // objectives of all starts
  int refilled = 0;
  double direction_residual = 0;  // max_h |mu_h - r_h / |r_h||
  double resultant_residual = 0;  // max_h |A_d(kappa_h) - |r_h| / W_h|, over components whose kappa is free and below the cap
  Convergence convergence;        // residual: the largest of the two (of directions only where kappa is approximate) and of the change of a share
};
template <class V>
void fields(V& v, VmfResult& t) {
  v("parameters", t.parameters);
  v("resultant", t.resultant);
  v("degenerate", t.degenerate);
  v("cluster", positions(t.cluster));
  v("membership", t.membership);
  v("theta", t.scores.theta);
  v("bias", t.scores.bias);
  v("log_uniform", t.log_uniform);
  v("objective", t.objective);
  v("complete", t.complete);
  v("classification", t.classification);
  v("loglik", t.loglik);
  v("trace", t.trace);
  v("entropy", t.entropy);
  v("values", t.values);
  v("refilled", t.refilled);
  v("direction_residual", t.direction_residual);
  v("resultant_residual", t.resultant_residual);
  v("convergence", t.convergence);
}

// x: unit rows (DataRows::normalise); weights: one per row, or empty.
VmfResult vmf_mixture(const DataRows& x, ConstVectorRef weights, const VmfOptions& options, Rng& rng, Monitor& monitor);

// The weighted sum of unit rows, kappa from its length; se(kappa) = 1 / sqrt(n A_d'(kappa)).
struct VmfLaw {
  VectorXd direction;
  double resultant = 0, concentration = 0, std_error = 0, loglik = 0, n = 0;
};
template <class V>
void fields(V& v, VmfLaw& t) {
  v("direction", t.direction);
  v("resultant", t.resultant);
  v("concentration", t.concentration);
  v("std_error", any_number(t.std_error));
  v("loglik", t.loglik);
  v("n", t.n);
}
VmfLaw vmf_law(const DataRows& x, ConstVectorRef weights, VmfEstimator estimator, double kappa_max);

// InputError where fewer than k rows differ in direction.
void check_distinct(const DataRows& x, Index k);
// Rows far apart by 1 - cosine (core/cluster/seeding.h); fewer than k where rows coincide.
std::vector<Index> cosine_seeds(const DataRows& x, ConstVectorRef weights, Index k, Rng& rng, Monitor& monitor);

// Scores of a mixture, relative to the uniform law; a component without share has the score -1e30.
LinearScores vmf_scores(const VmfParameters& p);

// Of every unit row: the log-density under the mixture, the best component and the memberships.
struct VmfRows {
  VectorXd log_density;
  VectorXi cluster;
  MatrixXd membership;
};
template <class V>
void fields(V& v, VmfRows& t) {
  v("log_density", t.log_density);
  v("cluster", positions(t.cluster));
  v("membership", t.membership);
}
VmfRows vmf_rows(const DataRows& x, const VmfParameters& p, int threads, Monitor& monitor);

// Functions of kappa (constant: log c_d, resultant: A_d, slope: A_d') or of the mean resultant length (kappa, by an estimator, and the bounds between which it lies).
enum class VmfTable { constant, resultant, slope, kappa, lower, upper };
inline Names<VmfTable> names(VmfTable) {
  return {{VmfTable::constant, "constant"}, {VmfTable::resultant, "resultant"}, {VmfTable::slope, "slope"},
          {VmfTable::kappa, "kappa"},       {VmfTable::lower, "lower"},         {VmfTable::upper, "upper"}};
}
VectorXd vmf_table(VmfTable what, ConstVectorRef at, double d, VmfEstimator estimator);

// Rows from a mixture (Wood, Communications in Statistics 1994): W = mu'x by rejection from a transformed beta law, the rest uniform on the sphere across mu.
struct VmfDraws {
  MatrixXd x;
  VectorXi cluster;
};
template <class V>
void fields(V& v, VmfDraws& t) {
  v("x", t.x);
  v("cluster", positions(t.cluster));
}
VmfDraws vmf_draws(Index n, const VmfParameters& p, Rng& rng, Monitor& monitor);

}  // namespace granary::cluster
