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
#include "graph/multi_penalty.h"
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

auto task_of(const MatrixXd& x, Index task) { return x.middleCols(task * x.rows(), x.rows()); }
auto task_of(MatrixXd& x, Index task) { return x.middleCols(task * x.rows(), x.rows()); }
Index tasks_in(const MatrixXd& x) { return x.cols() / x.rows(); }

MatrixXd each_symmetrised(const MatrixXd& x) {
  MatrixXd out(x.rows(), x.cols());
  for (Index t = 0; t < tasks_in(x); ++t) task_of(out, t) = symmetrised(task_of(x, t));
  return out;
}

// The mean of the copies, with the zeros of every copy that makes zeros.
MatrixXd consensus(const std::vector<MatrixXd>& z, const std::vector<MixPrior>& priors) {
  MatrixXd x = z[0];
  for (std::size_t k = 1; k < z.size(); ++k) x += z[k];
  x = each_symmetrised(x / static_cast<double>(z.size()));
  for (std::size_t k = 0; k < z.size(); ++k) {
    const bool none = priors[k].kind == MixPrior::Kind::multi ? priors[k].multi.none() : priors[k].weight == 0;
    if (priors[k].kind == MixPrior::Kind::local || none) continue;
    for (Index t = 0; t < tasks_in(x); ++t) {
      auto own = task_of(x, t);
      const auto copy = task_of(z[k], t);
      for (Index j = 0; j < x.rows(); ++j) {
        for (Index i = 0; i < j; ++i) {
          if (copy(i, j) == 0 && copy(j, i) == 0) own(i, j) = own(j, i) = 0;
        }
      }
    }
  }
  return x;
}

MultiPenalty on_diagonal(const MultiPenalty& multi) {
  return multi.norm == MultiNorm::fused ? MultiPenalty{multi.norm, 0, multi.l2} : MultiPenalty{multi.norm, 0, 0};
}

// Calls visit(penalty, entry over the tasks) for every ordered pair and every diagonal entry that is charged.
template <class Visit>
void each_pair(const MatrixXd& x, const MultiPenalty& multi, Visit visit) {
  const Index p = x.rows(), tasks = tasks_in(x);
  const MultiPenalty diagonal = on_diagonal(multi);
  VectorXd entry(tasks);
  for (Index j = 0; j < p; ++j) {
    for (Index i = 0; i < p; ++i) {
      if (i == j && diagonal.none()) continue;
      for (Index t = 0; t < tasks; ++t) entry[t] = x(i, t * p + j);
      visit(i, j, i == j, entry);
    }
  }
}

MatrixXd prox_multi(const MatrixXd& c, double t, const MultiPenalty& multi) {
  const Index p = c.rows(), tasks = tasks_in(c);
  BlockSolver pairs(multi.scaled(t), static_cast<int>(tasks)), ends(on_diagonal(multi).scaled(t), static_cast<int>(tasks));
  const VectorXd ones = VectorXd::Ones(tasks);
  VectorXd z(tasks);
  MatrixXd out = c;
  each_pair(c, multi, [&](Index i, Index j, bool diagonal, const VectorXd& entry) {
    (diagonal ? ends : pairs).solve(ones.data(), entry.data(), z.data());
    for (Index k = 0; k < tasks; ++k) out(i, k * p + j) = z[k];
  });
  return out;
}

double multi_value(const MatrixXd& x, const MultiPenalty& multi) {
  const MultiPenalty diagonal = on_diagonal(multi);
  double sum = 0;
  each_pair(x, multi, [&](Index, Index, bool end, const VectorXd& entry) {
    sum += penalty_value(end ? diagonal : multi, entry.data(), static_cast<int>(entry.size()));
  });
  return sum;
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
  if (prior.kind == MixPrior::Kind::multi) return prior.multi.l1 > 0 || (prior.multi.l2 > 0 && prior.multi.norm != MultiNorm::fused);
  return prior.kind != MixPrior::Kind::local && prior.weight > 0;
}

void check_prior(const MixPrior& prior, Index p) {
  for (const double weight : {prior.weight, prior.hub.l1, prior.hub.l2, prior.hub.l3, prior.multi.l1, prior.multi.l2}) {
    if (!(weight >= 0) || !std::isfinite(weight)) throw InputError("the weight of a prior must not be negative.");
  }
  if (prior.kind == MixPrior::Kind::own && !(prior.prox && prior.penalty)) throw InputError("an own prior needs its prox and its penalty.");
  if (prior.kind == MixPrior::Kind::local && prior.op->size() != p) {
    throw InputError(message("there are ", p, " variables, but the neighbourhood is one of ", prior.op->size(), "."));
  }
}

// The proximal operator and the value of one prior over all tasks; those that learn from call to call have one of them per task.
class PriorTerm {
 public:
  PriorTerm(const MixPrior& prior, Index tasks, int threads, Monitor& monitor) : prior_(prior), threads_(threads), monitor_(monitor) {
    for (Index t = 0; t < tasks; ++t) {
      if (prior.kind == MixPrior::Kind::local) columns_.push_back(std::make_unique<LocalColumnsProx>(*prior.op));
      if (prior.kind == MixPrior::Kind::hub) hubs_.push_back(std::make_unique<HubProx>(prior.hub));
    }
  }

  MatrixXd prox(const MatrixXd& c, double g) {
    if (prior_.kind == MixPrior::Kind::multi) return prox_multi(c, 1 / g, prior_.multi);
    MatrixXd z(c.rows(), c.cols());
    for (Index t = 0; t < tasks_in(c); ++t) task_of(z, t) = prox_task(task_of(c, t), g, t);
    return z;
  }

  double value(const MatrixXd& x) {
    if (prior_.kind == MixPrior::Kind::multi) return multi_value(x, prior_.multi);
    double sum = 0;
    for (Index t = 0; t < tasks_in(x); ++t) {
      sum += hubs_.empty() ? penalty_of(task_of(x, t), prior_) : hubs_[static_cast<std::size_t>(t)]->value(task_of(x, t));
    }
    return sum;
  }

  MatrixXd hub_parts() const {  // V of the last value
    MatrixXd v;
    for (std::size_t t = 0; t < hubs_.size(); ++t) {
      const MatrixXd& own = hubs_[t]->last().v;
      if (t == 0) v.resize(own.rows(), own.cols() * static_cast<Index>(hubs_.size()));
      v.middleCols(static_cast<Index>(t) * own.rows(), own.cols()) = own;
    }
    return v;
  }

 private:
  MatrixXd prox_task(const MatrixXd& c, double g, Index task) {
    const std::size_t t = static_cast<std::size_t>(task);
    if (prior_.kind == MixPrior::Kind::local) return (*columns_[t])(c, g, 0, prior_.weight, threads_, monitor_);
    if (prior_.kind == MixPrior::Kind::hub) return (*hubs_[t])(c, g, monitor_);
    if (prior_.kind == MixPrior::Kind::own) return prox_own(c, 1 / g, prior_);
    if (prior_.kind == MixPrior::Kind::nodes) return prox_nodes(c, prior_.weight / g, prior_.norm);
    return prox_l1(c, prior_.weight / g, prior_.diagonal);
  }

  const MixPrior& prior_;
  int threads_;
  Monitor& monitor_;
  std::vector<std::unique_ptr<LocalColumnsProx>> columns_;
  std::vector<std::unique_ptr<HubProx>> hubs_;
};

MixResult solve_mix(const std::vector<MatrixView>& s, const VectorXd& weight, const std::vector<MixPrior>& priors, const MixOptions& options,
                    Monitor& monitor) {
  const Stopwatch clock;
  if (priors.empty()) throw InputError("there must be at least one prior.");
  const Index size = s[0].rows(), tasks = static_cast<Index>(s.size());
  const double p = static_cast<double>(size), infinity = std::numeric_limits<double>::infinity();
  double charged = 0;
  for (const MixPrior& prior : priors) {
    check_prior(prior, size);
    if (prior.kind == MixPrior::Kind::l1 && prior.diagonal) charged += prior.weight;
  }
  MatrixXd variance(size, tasks);
  for (Index t = 0; t < tasks; ++t) {
    variance.col(t) = s[t].diagonal().array() + charged / weight[t];
    for (Index n = 0; n < size; ++n) {
      if (variance(n, t) > 0) continue;
      throw InputError(message("variable ", n + 1, tasks > 1 ? message(" of task ", t + 1) : std::string(),
                               " has variance 0 and no prior charges its diagonal: drop the variable or add an l1 prior."));
    }
    const bool bounded = charged > 0 || std::any_of(priors.begin(), priors.end(), bounds_entries);
    if (!bounded && !std::isfinite(minus_log_det(s[t]))) {
      throw NumericalError("the covariance is singular, so the likelihood is unbounded under these priors; add an l1 prior.");
    }
  }

  std::vector<std::unique_ptr<PriorTerm>> terms;
  AdmmProblem problem;
  problem.f = [&](const MatrixXd& v, double g) -> MatrixXd {
    MatrixXd x(v.rows(), v.cols());
    for (Index t = 0; t < tasks; ++t) task_of(x, t) = prox_log_det(s[t], symmetrised(task_of(v, t)), g / weight[t]).x;
    return x;
  };
  for (const MixPrior& prior : priors) {
    terms.push_back(std::make_unique<PriorTerm>(prior, tasks, options.threads, monitor));
    PriorTerm& term = *terms.back();
    problem.g.push_back([&term](const MatrixXd& c, double g) -> MatrixXd { return term.prox(c, g); });
  }

  MixResult out;
  MatrixXd dual;
  out.objective = infinity;
  out.v.resize(priors.size());
  double best_dual = -infinity;
  const auto consider = [&](const MatrixXd& x) {
    double likelihood = 0;
    for (Index t = 0; t < tasks; ++t) {
      likelihood += weight[t] * (minus_log_det(task_of(x, t)) + s[t].cwiseProduct(task_of(x, t)).sum());
    }
    if (!std::isfinite(likelihood)) return;
    VectorXd penalties(static_cast<Index>(priors.size()));
    for (std::size_t k = 0; k < priors.size(); ++k) penalties[static_cast<Index>(k)] = terms[k]->value(x);
    const double objective = likelihood + penalties.sum();
    if (!(objective < out.objective)) return;
    out.objective = objective;
    out.penalties = penalties;
    out.x = x;
    for (std::size_t k = 0; k < priors.size(); ++k) out.v[k] = terms[k]->hub_parts();
  };
  const auto judge = [&](const AdmmState& now) {
    MatrixXd y = MatrixXd::Zero(size, size * tasks);
    double bound = 0;
    for (std::size_t k = 0; k < priors.size(); ++k) {
      const MatrixXd own = now.rho * each_symmetrised(now.u[k]);
      const bool hub = priors[k].kind == MixPrior::Kind::hub;
      for (Index t = 0; t < tasks; ++t) task_of(y, t) += hub ? into_dual_set(priors[k].hub, task_of(own, t)) : MatrixXd(task_of(own, t));
      // -g*(Y), zero for a seminorm
      if (priors[k].kind == MixPrior::Kind::own) bound += terms[k]->value(now.z[k]) - own.cwiseProduct(now.z[k]).sum();
    }
    for (Index t = 0; t < tasks; ++t) bound -= weight[t] * nodes_gap(s[t], 0, task_of(y, t) / weight[t]);
    if (bound > best_dual) {
      best_dual = bound;
      dual = y;
    }
    consider(consensus(now.z, priors));
    for (std::size_t k = 0; k < priors.size(); ++k) {  // there the cost of the hubs is known exactly
      if (priors[k].kind == MixPrior::Kind::hub || priors[k].kind == MixPrior::Kind::own) consider(now.z[k]);
    }
    return out.objective - best_dual;
  };
  problem.gap = judge;
  AdmmOptions driver;
  driver.tol = 0;
  driver.gap_tol = options.tol * p * weight.sum();
  driver.max_iter = options.max_iter;
  AdmmState start;
  const double unit = variance.mean();
  start.rho = unit * unit * weight.mean();
  MatrixXd first = MatrixXd::Zero(size, size * tasks);
  for (Index t = 0; t < tasks; ++t) task_of(first, t).diagonal() = variance.col(t).cwiseInverse();
  start.z.assign(priors.size(), first);
  start.u.assign(priors.size(), MatrixXd::Zero(size, size * tasks));
  const AdmmResult end = admm(problem, std::move(start), driver, monitor);
  if (out.x.size() == 0) throw NumericalError("no positive definite estimate was met; raise max_iter or rescale the data.");

  out.w.resize(size, size * tasks);
  out.log_det.resize(tasks);
  for (Index t = 0; t < tasks; ++t) {
    const Llt llt(task_of(out.x, t));
    task_of(out.w, t) = symmetrised(llt.solve(MatrixXd::Identity(size, size)));
    out.log_det[t] = 2 * llt.matrixLLT().diagonal().array().log().sum();
    const double violation = (task_of(out.w, t) - s[t] - task_of(dual, t) / weight[t]).cwiseAbs().maxCoeff();
    out.largest_violation = std::max(out.largest_violation, violation);
  }
  out.convergence = end.convergence;
  out.convergence.gap = out.objective - best_dual;
  out.convergence.residual = out.largest_violation / unit;
  out.convergence.converged = out.convergence.gap <= driver.gap_tol;
  if (out.convergence.converged) out.convergence.message.clear();
  out.convergence.seconds = clock.seconds();
  return out;
}

// Priors with their operators, which must stay where they are while they are used.
struct Prepared {
  explicit Prepared(const std::vector<MixPriorSpec>& given) : operators(given.size()) {
    for (std::size_t k = 0; k < given.size(); ++k) {
      list.push_back(given[k].prior);
      if (list[k].kind != MixPrior::Kind::local) continue;
      operators[k] = LocalOperator::make(given[k].op);
      list[k].op = &operators[k];
    }
  }
  std::vector<LocalOperator> operators;
  std::vector<MixPrior> list;
};

}  // namespace

MixResult mix_fit(const ConstMatrixRef& s, const std::vector<MixPrior>& priors, const MixOptions& options, Monitor& monitor) {
  const MatrixXd whole = s;
  return solve_mix({MatrixView(whole.data(), whole.rows(), whole.cols())}, VectorXd::Ones(1), priors, options, monitor);
}

MixResult mix_fit(const ConstMatrixRef& s, const std::vector<MixPriorSpec>& priors, const MixOptions& options, Monitor& monitor) {
  const Prepared ready(priors);
  return mix_fit(s, ready.list, options, monitor);
}

MixTasksResult mix_fit_tasks(const MultiProblem& tasks, const std::vector<MixPriorSpec>& priors, const MixOptions& options, Monitor& monitor) {
  const Prepared ready(priors);
  return {solve_mix(tasks.s, tasks.weight, ready.list, options, monitor)};
}

}  // namespace granary::graph
