#include "mix.h"

#include <Eigen/Cholesky>
#include <cmath>
#include <limits>
#include <memory>

#include "../core/admm.h"
#include "../core/errors.h"
#include "../core/proximal.h"
#include "../core/submatrix.h"

namespace granary::graph {

namespace {

MatrixXd prox_l1(const MatrixXd& c, double threshold, bool diagonal) {
  MatrixXd z = soft_threshold(c, threshold);
  if (!diagonal) z.diagonal() = c.diagonal();
  return z;
}

MatrixXd prox_nodes(const MatrixXd& c, double threshold, RowNorm norm) {
  MatrixXd z(c.rows(), c.cols());
  VectorXd column;
  for (Index n = 0; n < c.cols(); ++n) {
    column = c.col(n);
    column[n] = 0;
    z.col(n) = norm == RowNorm::l2 ? prox_group_l2(column, threshold) : prox_group_linf(column, threshold);
    z(n, n) = c(n, n);
  }
  return z;
}

// The mean of the copies, with the zeros of every copy that makes zeros.
MatrixXd consensus(const std::vector<MatrixXd>& z, const std::vector<MixPrior>& priors) {
  MatrixXd x = z[0];
  for (std::size_t k = 1; k < z.size(); ++k) x += z[k];
  x = symmetrised(x / static_cast<double>(z.size()));
  for (std::size_t k = 0; k < z.size(); ++k) {
    if (priors[k].kind == MixPrior::Kind::local || priors[k].weight == 0) continue;
    for (Index j = 0; j < x.cols(); ++j) {
      for (Index i = 0; i < j; ++i) {
        if (z[k](i, j) == 0 && z[k](j, i) == 0) x(i, j) = x(j, i) = 0;
      }
    }
  }
  return x;
}

}  // namespace

double mix_penalty(const MatrixXd& x, const MixPrior& prior) {
  if (prior.kind == MixPrior::Kind::local) return local_penalty(x, *prior.op, {0, prior.weight});
  if (prior.kind == MixPrior::Kind::nodes) return prior.weight * row_norms(x, prior.norm).sum();
  return prior.weight * (x.cwiseAbs().sum() - (prior.diagonal ? 0 : x.diagonal().cwiseAbs().sum()));
}

MixResult mix_fit(const ConstMatrixRef& s, const std::vector<MixPrior>& priors, const MixOptions& options, Monitor& monitor) {
  const Stopwatch clock;
  if (priors.empty()) throw InputError("there must be at least one prior.");
  double charged = 0;
  for (const MixPrior& prior : priors) {
    if (!(prior.weight >= 0) || !std::isfinite(prior.weight)) throw InputError("the weight of a prior must not be negative.");
    if (prior.kind == MixPrior::Kind::l1 && prior.diagonal) charged += prior.weight;
    if (prior.kind == MixPrior::Kind::local && prior.op->size() != s.rows()) {
      throw InputError(message("there are ", s.rows(), " variables, but the neighbourhood is one of ", prior.op->size(), "."));
    }
  }
  const VectorXd variance = s.diagonal().array() + charged;
  for (Index n = 0; n < s.cols(); ++n) {
    if (!(variance[n] > 0)) {
      throw InputError(message("variable ", n + 1,
                               " has variance 0 and no prior charges its diagonal: drop the variable or add an l1 prior."));
    }
  }
  bool bounded = charged > 0;  // else some prior must keep the entries off the diagonal from running away
  for (const MixPrior& prior : priors) bounded = bounded || (prior.kind != MixPrior::Kind::local && prior.weight > 0);
  if (!bounded && !std::isfinite(minus_log_det(s))) {
    throw NumericalError("the covariance is singular, so the likelihood is unbounded under these priors; add an l1 prior.");
  }

  const double p = static_cast<double>(s.rows()), infinity = std::numeric_limits<double>::infinity();
  std::vector<std::unique_ptr<LocalColumnsProx>> columns(priors.size());
  AdmmProblem problem;
  problem.f = [&](const MatrixXd& v, double g) -> MatrixXd { return prox_log_det(s, symmetrised(v), g).x; };
  for (std::size_t k = 0; k < priors.size(); ++k) {
    const MixPrior& prior = priors[k];
    if (prior.kind == MixPrior::Kind::local) {
      columns[k] = std::make_unique<LocalColumnsProx>(*prior.op);
      problem.g.push_back([&, k](const MatrixXd& c, double g) -> MatrixXd {
        return (*columns[k])(c, g, 0, priors[k].weight, options.threads, monitor);
      });
    } else if (prior.kind == MixPrior::Kind::nodes) {
      problem.g.push_back(
          [&, k](const MatrixXd& c, double g) -> MatrixXd { return prox_nodes(c, priors[k].weight / g, priors[k].norm); });
    } else {
      problem.g.push_back(
          [&, k](const MatrixXd& c, double g) -> MatrixXd { return prox_l1(c, priors[k].weight / g, priors[k].diagonal); });
    }
  }

  MixResult out;
  MatrixXd dual;
  out.objective = infinity;
  double best_dual = -infinity;
  const auto judge = [&](const AdmmState& now) {
    MatrixXd y = now.u[0];
    for (std::size_t k = 1; k < priors.size(); ++k) y += now.u[k];
    y = now.rho * symmetrised(y);
    const double bound = -nodes_gap(s, 0, y);
    if (bound > best_dual) {
      best_dual = bound;
      dual = y;
    }
    const MatrixXd x = consensus(now.z, priors);
    const double barrier = minus_log_det(x);
    if (std::isfinite(barrier)) {
      double objective = barrier + s.cwiseProduct(x).sum();
      for (const MixPrior& prior : priors) objective += mix_penalty(x, prior);
      if (objective < out.objective) {
        out.objective = objective;
        out.x = x;
      }
    }
    return out.objective - best_dual;
  };
  problem.gap = judge;
  AdmmOptions driver;
  driver.tol = 0;
  driver.gap_tol = options.tol * p;
  driver.max_iter = options.max_iter;
  AdmmState start;
  const double unit = variance.mean();
  start.rho = unit * unit;
  start.z.assign(priors.size(), variance.cwiseInverse().asDiagonal());
  start.u.assign(priors.size(), MatrixXd::Zero(s.rows(), s.cols()));
  const AdmmResult end = admm(problem, std::move(start), driver, monitor);
  if (out.x.size() == 0) throw NumericalError("no positive definite estimate was met; raise max_iter or rescale the data.");

  const Eigen::LLT<MatrixXd> llt(out.x);
  out.w = symmetrised(llt.solve(MatrixXd::Identity(s.rows(), s.cols())));
  out.log_det = 2 * llt.matrixLLT().diagonal().array().log().sum();
  out.penalties.resize(static_cast<Index>(priors.size()));
  for (std::size_t k = 0; k < priors.size(); ++k) out.penalties[static_cast<Index>(k)] = mix_penalty(out.x, priors[k]);
  out.largest_violation = (out.w - s - dual).cwiseAbs().maxCoeff();
  out.convergence = end.convergence;
  out.convergence.gap = out.objective - best_dual;
  out.convergence.residual = out.largest_violation / unit;
  out.convergence.converged = out.convergence.gap <= options.tol * p;
  if (out.convergence.converged) out.convergence.message.clear();
  out.convergence.seconds = clock.seconds();
  return out;
}

}  // namespace granary::graph
