#include "graph/mix.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "core/optim/admm.h"
#include "core/base/errors.h"
#include "core/prox/proximal.h"
#include "core/linalg/submatrix.h"
#include "graph/hub_prox.h"
#include "core/linalg/dense.h"

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

double penalty_of(const MatrixXd& x, const MixPrior& prior) {  // not of hubs, which HubProx knows
  if (prior.kind == MixPrior::Kind::own) return prior.penalty(x);
  if (prior.kind == MixPrior::Kind::local) return local_penalty(x, *prior.op, {0, prior.weight});
  if (prior.kind == MixPrior::Kind::nodes) return prior.weight * row_norms(x, prior.norm).sum();
  return prior.weight * (x.cwiseAbs().sum() - (prior.diagonal ? 0 : x.diagonal().cwiseAbs().sum()));
}

MatrixXd prox_own(const MatrixXd& c, double t, const MixPrior& prior) {
  const MatrixXd z = prior.prox(c, t);
  if (z.rows() != c.rows() || z.cols() != c.cols() || !z.allFinite()) {
    throw InputError(message("the prox of an own prior must give a finite ", c.rows(), " x ", c.cols(), " matrix, as it was given one."));
  }
  return symmetrised(z);
}

// Whether the prior keeps every entry off the diagonal from running away. Of an own one nothing is known: let the iteration find out.
bool bounds_entries(const MixPrior& prior) {
  if (prior.kind == MixPrior::Kind::own) return true;
  if (prior.kind == MixPrior::Kind::hub) return prior.hub.l1 > 0 && prior.hub.l2 + prior.hub.l3 > 0;
  return prior.kind != MixPrior::Kind::local && prior.weight > 0;
}

void check_prior(const MixPrior& prior, Index p) {
  for (const double weight : {prior.weight, prior.hub.l1, prior.hub.l2, prior.hub.l3}) {
    if (!(weight >= 0) || !std::isfinite(weight)) throw InputError("the weight of a prior must not be negative.");
  }
  if (prior.kind == MixPrior::Kind::own && !(prior.prox && prior.penalty)) throw InputError("an own prior needs its prox and its penalty.");
  if (prior.kind == MixPrior::Kind::local && prior.op->size() != p) {
    throw InputError(message("there are ", p, " variables, but the neighbourhood is one of ", prior.op->size(), "."));
  }
}

}  // namespace

MixResult mix_fit(const ConstMatrixRef& s, const std::vector<MixPrior>& priors, const MixOptions& options, Monitor& monitor) {
  const Stopwatch clock;
  if (priors.empty()) throw InputError("there must be at least one prior.");
  double charged = 0;
  for (const MixPrior& prior : priors) {
    check_prior(prior, s.rows());
    if (prior.kind == MixPrior::Kind::l1 && prior.diagonal) charged += prior.weight;
  }
  const VectorXd variance = s.diagonal().array() + charged;
  for (Index n = 0; n < s.cols(); ++n) {
    if (!(variance[n] > 0)) {
      throw InputError(message("variable ", n + 1,
                               " has variance 0 and no prior charges its diagonal: drop the variable or add an l1 prior."));
    }
  }
  const bool bounded = charged > 0 || std::any_of(priors.begin(), priors.end(), bounds_entries);
  if (!bounded && !std::isfinite(minus_log_det(s))) {
    throw NumericalError("the covariance is singular, so the likelihood is unbounded under these priors; add an l1 prior.");
  }

  const double p = static_cast<double>(s.rows()), infinity = std::numeric_limits<double>::infinity();
  std::vector<std::unique_ptr<LocalColumnsProx>> columns(priors.size());
  std::vector<std::unique_ptr<HubProx>> hubs(priors.size());
  AdmmProblem problem;
  problem.f = [&](const MatrixXd& v, double g) -> MatrixXd { return prox_log_det(s, symmetrised(v), g).x; };
  for (std::size_t k = 0; k < priors.size(); ++k) {
    const MixPrior& prior = priors[k];
    if (prior.kind == MixPrior::Kind::local) {
      columns[k] = std::make_unique<LocalColumnsProx>(*prior.op);
      problem.g.push_back([&, k](const MatrixXd& c, double g) -> MatrixXd {
        return (*columns[k])(c, g, 0, priors[k].weight, options.threads, monitor);
      });
    } else if (prior.kind == MixPrior::Kind::hub) {
      hubs[k] = std::make_unique<HubProx>(prior.hub);
      problem.g.push_back([&, k](const MatrixXd& c, double g) -> MatrixXd { return (*hubs[k])(c, g, monitor); });
    } else if (prior.kind == MixPrior::Kind::own) {
      problem.g.push_back([&, k](const MatrixXd& c, double g) -> MatrixXd { return prox_own(c, 1 / g, priors[k]); });
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
  out.v.resize(priors.size());
  double best_dual = -infinity;
  const auto value = [&](std::size_t k, const MatrixXd& x) { return hubs[k] ? hubs[k]->value(x) : penalty_of(x, priors[k]); };
  const auto consider = [&](const MatrixXd& x) {
    const double barrier = minus_log_det(x);
    if (!std::isfinite(barrier)) return;
    VectorXd penalties(static_cast<Index>(priors.size()));
    for (std::size_t k = 0; k < priors.size(); ++k) penalties[static_cast<Index>(k)] = value(k, x);
    const double objective = barrier + s.cwiseProduct(x).sum() + penalties.sum();
    if (!(objective < out.objective)) return;
    out.objective = objective;
    out.penalties = penalties;
    out.x = x;
    for (std::size_t k = 0; k < priors.size(); ++k) {
      if (hubs[k]) out.v[k] = hubs[k]->last().v;
    }
  };
  const auto judge = [&](const AdmmState& now) {
    MatrixXd y = MatrixXd::Zero(s.rows(), s.cols());
    double conjugates = 0;  // sum of -g*(Y), zero for a seminorm
    for (std::size_t k = 0; k < priors.size(); ++k) {
      const MatrixXd own = now.rho * symmetrised(now.u[k]);
      y += hubs[k] ? into_dual_set(priors[k].hub, own) : own;
      if (priors[k].kind == MixPrior::Kind::own) conjugates += priors[k].penalty(now.z[k]) - own.cwiseProduct(now.z[k]).sum();
    }
    const double bound = conjugates - nodes_gap(s, 0, y);
    if (bound > best_dual) {
      best_dual = bound;
      dual = y;
    }
    consider(consensus(now.z, priors));
    for (std::size_t k = 0; k < priors.size(); ++k) {
      if (hubs[k] || priors[k].kind == MixPrior::Kind::own) consider(now.z[k]);  // there the cost of the hubs is known exactly
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

  const Llt llt(out.x);
  out.w = symmetrised(llt.solve(MatrixXd::Identity(s.rows(), s.cols())));
  out.log_det = 2 * llt.matrixLLT().diagonal().array().log().sum();
  out.largest_violation = (out.w - s - dual).cwiseAbs().maxCoeff();
  out.convergence = end.convergence;
  out.convergence.gap = out.objective - best_dual;
  out.convergence.residual = out.largest_violation / unit;
  out.convergence.converged = out.convergence.gap <= options.tol * p;
  if (out.convergence.converged) out.convergence.message.clear();
  out.convergence.seconds = clock.seconds();
  return out;
}

MixResult mix_fit(const ConstMatrixRef& s, const std::vector<MixPriorSpec>& priors, const MixOptions& options, Monitor& monitor) {
  std::vector<LocalOperator> operators(priors.size());
  std::vector<MixPrior> list;
  for (std::size_t k = 0; k < priors.size(); ++k) {
    list.push_back(priors[k].prior);
    if (list[k].kind != MixPrior::Kind::local) continue;
    operators[k] = LocalOperator::make(priors[k].op);
    list[k].op = &operators[k];
  }
  return mix_fit(s, list, options, monitor);
}

}  // namespace granary::graph
