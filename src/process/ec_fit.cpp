#include "process/ec_fit.h"

#include <algorithm>
#include <cmath>

#include "core/linalg/dense.h"
#include "core/infer/spin_moments.h"
#include "process/ec_baseline.h"

namespace granary::process {

EcFit ec_ising_starts(ConstMatrixRef j, ConstVectorRef theta, const EcOptions& options, Rng& rng, Monitor& monitor) {
  EcFit out;
  const auto better = [](const EcResult& a, const EcResult& b) {
    return a.convergence.converged != b.convergence.converged ? a.convergence.converged : a.log_z > b.log_z;
  };
  const double size =
      std::max({theta.size() > 0 ? theta.cwiseAbs().maxCoeff() : 0.0, j.size() > 0 ? j.cwiseAbs().maxCoeff() : 0.0, 0.5});
  for (int k = 0; k < options.n_starts; ++k) {
    EcOptions own = options;
    if (k > 0) {
      own.start.resize(theta.size());
      for (Index i = 0; i < theta.size(); ++i) own.start[i] = rng.bernoulli(0.5) ? 2 * size : -2 * size;
    }
    EcResult found = ec_ising(j, theta, own, monitor);
    out.starts.push_back({found.log_z, found.convergence.converged});
    if (k == 0 || better(found, out.best)) out.best = std::move(found);
  }
  return out;
}

EcBaselineResult ec_baseline(ConstMatrixRef j, ConstVectorRef theta, const EcBaselineOptions& options, Rng& rng, Monitor& monitor) {
  if (options.method == EcBaseline::tap) {
    TapResult found = tap(j, theta, TapOptions(), monitor);
    if (!found.stable)
      found.convergence.message += message(found.convergence.message.empty() ? "" : "; ", "the linear response is not positive definite");
    return {std::move(found.mean), std::move(found.covariance), found.log_z, found.convergence};
  }
  MomentOptions moments;
  moments.samples = options.samples;
  moments.sweeps = options.sweeps;
  moments.max_iter = 1000;
  moments.diagnose = true;
  const MomentMethod method = options.method == EcBaseline::exact        ? MomentMethod::exact
                              : options.method == EcBaseline::mean_field ? MomentMethod::mean_field
                              : options.method == EcBaseline::bethe      ? MomentMethod::belief
                                                                         : MomentMethod::gibbs;
  const MatrixXd w = 0.5 * j;  // there an edge counts once in each direction
  require_spin_model(w, theta);
  MatrixXd chains;
  const MomentResult found = spin_moments(w, theta, method, moments, chains, rng, monitor);
  EcBaselineResult out{found.mean, found.second - found.mean * found.mean.transpose(), found.log_partition, found.convergence};
  if (options.method == EcBaseline::mean_field) out.covariance = mean_field_response(j, found.mean);
  return out;
}

namespace {

EcPrecision precision_of(const MatrixXd& c, const EcLearnOptions& options, const std::vector<std::pair<int, int>>& free,
                         const EcPrecisionSolver& penalised, Monitor& monitor) {
  const Index n = c.rows();
  if (options.penalty > 0 && n > 1) {
    MatrixXd weights = MatrixXd::Constant(n, n, options.penalty);
    weights.diagonal().setZero();
    for (const auto& [a, b] : free) weights(a, b) = weights(b, a) = 0;
    return penalised(c, weights, options.tol, monitor);
  }
  const VectorXd scale = c.diagonal().cwiseSqrt().cwiseInverse();
  const MatrixXd correlation = scale.asDiagonal() * c * scale.asDiagonal();
  const SymmetricEigen parts(correlation, EigenParts::values);
  if (!(parts.eigenvalues()[0] > 1e-10 * parts.eigenvalues()[n - 1]))
    throw InputError(
        "The covariance of `x` cannot be inverted: some columns determine others, or there are too few rows.\nUse `lambda` > 0.");
  EcPrecision out{scale.asDiagonal() * Llt(correlation).solve(MatrixXd::Identity(n, n)) * scale.asDiagonal(), {}};
  out.convergence.converged = true;
  out.convergence.message = "solved directly";
  return out;
}

}  // namespace

EcLearnResult ec_learn(ConstMatrixRef x, const EcLearnOptions& options, const EcPrecisionSolver& penalised, Monitor& monitor) {
  const Index n = x.rows(), p = x.cols();
  require(options.method != EcMethod::restricted, "an Ising model is learnt by \"factorized\" or \"tree\".");
  const VectorXd mean = x.colwise().mean().transpose();
  const MatrixXd second = x.transpose() * x / static_cast<double>(n), c = second - mean * mean.transpose();
  EcLearnResult out;
  const auto solve = [&] {
    const EcPrecision found = precision_of(c, options, out.edges, penalised, monitor);
    EcMoments moments{mean, c.diagonal(), VectorXd(static_cast<Index>(out.edges.size()))};
    for (std::size_t e = 0; e < out.edges.size(); ++e) moments.edge[static_cast<Index>(e)] = c(out.edges[e].first, out.edges[e].second);
    const EcParameters r = ec_inverse(moments, EcForest(p, out.edges));
    MatrixXd lambda = r.lambda.asDiagonal();
    for (std::size_t e = 0; e < out.edges.size(); ++e) {
      const auto& [a, b] = out.edges[e];
      lambda(a, b) = lambda(b, a) = r.edge[static_cast<Index>(e)];
    }
    out.j = lambda - found.p;
    const double tiny = 1e-14 * out.j.cwiseAbs().maxCoeff();
    out.j = (out.j.array().abs() < tiny).select(0, out.j);
    out.j.diagonal().setZero();
    out.j = (0.5 * (out.j + out.j.transpose())).eval();
    out.theta = found.p * mean - r.gamma;
    out.convergence = found.convergence;
  };
  solve();
  if (options.method == EcMethod::tree && p > 1) {
    out.edges = maximum_spanning_forest(out.j).edges;
    solve();
  }
  EcOptions how;
  how.method = options.method;
  how.own_forest = options.method == EcMethod::tree;
  how.forest = out.edges;
  const EcResult at = ec_ising(out.j, out.theta, how, monitor);
  out.log_z = at.log_z;
  out.inference = at.convergence;
  out.loglik = static_cast<double>(n) * (out.theta.dot(mean) + 0.5 * out.j.cwiseProduct(second).sum() - at.log_z);
  return out;
}

}  // namespace granary::process
