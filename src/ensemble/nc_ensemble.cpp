#include "ensemble/nc_ensemble.h"

#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "ensemble/nc_training.h"

namespace granary::ensemble {
namespace {

void check_options(const NcOptions& o) {
  const double m = o.n_members;
  if (o.n_members == 1 && o.lambda != 0) throw InputError("an ensemble of one member has no lambda but 0.");
  if (o.n_members > 1 && o.penalty == NcPenalty::mean && o.lambda > m / (m - 1))
    throw InputError(
        message("lambda must be at most M / (M - 1) = ", m / (m - 1), ": beyond it the error of no member has a minimum."));
  if ((o.optimizer == NcOptimizer::exact || o.optimizer == NcOptimizer::sweeps) && o.learner != MemberKind::features)
    throw InputError("networks have no exact solution: take optimizer = \"lbfgs\" or \"sgd\".");
}

bool linear(const NcOptions& o) { return o.optimizer == NcOptimizer::exact || o.optimizer == NcOptimizer::sweeps; }

CoupledSolver solver_of(const NcOptions& o) {
  return o.optimizer == NcOptimizer::sweeps ? CoupledSolver::sweeps : CoupledSolver::automatic;
}

// The ridge of the sum over the rows.
double ridge_of(const NcOptions& o, Index rows) { return o.decay * static_cast<double>(rows); }

std::vector<MatrixXd> all_features(const NcTrainer& trainer) {
  std::vector<MatrixXd> out;
  for (Index i = 0; i < trainer.members(); ++i) out.push_back(trainer.features(i));
  return out;
}

Convergence solve_linear(NcTrainer& trainer, const NcOptions& o, bool& determined, Monitor& monitor) {
  const CoupledFit fit = solve_coupled(coupled_features(all_features(trainer), trainer.target(), trainer.row_weights()),
                                       coupling_of(o.penalty, o.lambda, trainer.members()), ridge_of(o, trainer.rows()),
                                       solver_of(o), o.tol, o.max_iter, monitor);
  determined = fit.determined;
  for (Index i = 0; i < trainer.members(); ++i) trainer.set_linear(i, fit.weights.col(i), fit.constants[i]);
  return fit.convergence;
}

Convergence joined(const std::vector<Convergence>& parts) {
  Convergence out = parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (out.converged && !parts[i].converged) {
      out.reason = parts[i].reason;
      out.message = parts[i].message;
    }
    out.converged = out.converged && parts[i].converged;
    out.iterations = std::max(out.iterations, parts[i].iterations);
    out.residual = std::max(out.residual, parts[i].residual);
  }
  return out;
}

// Members that are frozen once trained: targets of the next ones.
Convergence one_by_one(NcTrainer& trainer, const NcOptions& o, NcResult& out, Monitor& monitor) {
  VectorXd over = VectorXd::Zero(trainer.rows()), over_valid = VectorXd::Zero(trainer.target_valid().size());
  std::vector<Convergence> parts;
  for (Index i = 0; i < trainer.members(); ++i) {
    NcTrainer::Group group = trainer.alone(i);
    group.target -= o.lambda * over;
    group.target_valid -= o.lambda * over_valid;
    if (linear(o)) {
      const CoupledFit fit = solve_coupled(coupled_features({trainer.features(i)}, group.target, trainer.row_weights()), {1, 0},
                                           ridge_of(o, trainer.rows()), solver_of(o), o.tol, o.max_iter, monitor);
      trainer.set_linear(i, fit.weights.col(0), fit.constants[0]);
      out.determined = out.determined && fit.determined;
      parts.push_back(fit.convergence);
    } else {
      const NcTrainer::Ending end = trainer.train(group, o.penalty, 0, monitor);
      out.trace.insert(out.trace.end(), end.trace.begin(), end.trace.end());
      out.early = out.early || end.early;
      out.diverged = out.diverged || end.diverged;
      parts.push_back(end.convergence);
    }
    over += trainer.values(i, false) - trainer.target();
    if (over_valid.size() > 0) over_valid += trainer.values(i, true) - trainer.target_valid();
    monitor.progress(static_cast<double>(i + 1) / static_cast<double>(trainer.members()));
  }
  return joined(parts);
}

Convergence each_alone(NcTrainer& trainer, const NcOptions& o, NcResult& out, Monitor& monitor) {
  std::vector<NcTrainer::Ending> ends(static_cast<std::size_t>(trainer.members()));
  parallel_for(trainer.members(), o.threads, monitor,
               [&](Index i) { ends[static_cast<std::size_t>(i)] = trainer.train(trainer.alone(i), o.penalty, 0, monitor); });
  std::vector<Convergence> parts;
  for (const auto& end : ends) {
    out.trace.insert(out.trace.end(), end.trace.begin(), end.trace.end());
    out.early = out.early || end.early;
    out.diverged = out.diverged || end.diverged;
    parts.push_back(end.convergence);
  }
  return joined(parts);
}

}  // namespace

NcResult nc_ensemble(ConstMatrixRef x, ConstVectorRef y, ConstVectorRef weights, const NcOptions& options, Rng& rng,
                     Monitor& monitor) {
  check_options(options);
  Stopwatch watch;
  NcTrainer trainer(x, y, weights, options, options.n_members, rng);
  NcResult out;
  out.held = trainer.held();
  out.too_few = trainer.too_few();
  if (options.penalty == NcPenalty::sequential) {
    out.convergence = one_by_one(trainer, options, out, monitor);
  } else if (linear(options)) {
    out.convergence = solve_linear(trainer, options, out.determined, monitor);
  } else if (options.lambda == 0 && options.optimizer == NcOptimizer::lbfgs) {
    out.convergence = each_alone(trainer, options, out, monitor);
  } else {
    NcTrainer::Ending end = trainer.train(trainer.all(), options.penalty, options.lambda, monitor);
    out.trace = std::move(end.trace);
    out.early = end.early;
    out.diverged = end.diverged;
    out.convergence = end.convergence;
  }
  out.model = trainer.model();
  out.members = nc_members(x, out.model, monitor);
  out.convergence.seconds = watch.seconds();
  return out;
}

MatrixXd nc_left_out(ConstMatrixRef x, ConstVectorRef y, ConstVectorRef weights, const NcOptions& options, ConstVectorRef lambdas,
                     Rng& rng, Monitor& monitor) {
  if (!linear(options) || options.penalty == NcPenalty::sequential)
    throw InputError("rows can be left out exactly only of members with fixed features that are solved together.");
  const NcTrainer trainer(x, y, weights, options, options.n_members, rng);
  const CoupledFeatures features = coupled_features(all_features(trainer), trainer.target(), trainer.row_weights());
  const double ridge = ridge_of(options, trainer.rows());
  const NcModel model = trainer.model();
  MatrixXd out(x.rows(), lambdas.size());
  for (Index at = 0; at < lambdas.size(); ++at) {
    const Coupling coupling = coupling_of(options.penalty, lambdas[at], options.n_members);
    const CoupledFit fit =
        solve_coupled(features, coupling, ridge, CoupledSolver::automatic, options.tol, options.max_iter, monitor);
    out.col(at) = coupled_left_out(features, fit, coupling, ridge, monitor).array() / model.y_scale + model.y_low;
    monitor.progress(static_cast<double>(at + 1) / static_cast<double>(lambdas.size()));
  }
  return out;
}

MatrixXd nc_members(ConstMatrixRef x, const NcModel& model, Monitor& monitor) {
  if (x.cols() != model.inputs) throw InputError(message("new rows need ", model.inputs, " columns, not ", x.cols(), "."));
  const MemberShape shape = model.shape();
  MatrixXd out(x.rows(), model.weights.cols());
  constexpr Index block = 4096;
  for (Index from = 0; from < x.rows(); from += block) {
    const Index n = std::min(block, x.rows() - from);
    const MatrixXd scaled = (x.middleRows(from, n).transpose().colwise() - model.x_low).array().colwise() * model.x_scale.array();
    for (Index i = 0; i < model.weights.cols(); ++i) {
      monitor.check();
      MemberPass pass;
      member_values(shape, scaled, model.weights.col(i), model.fixed.col(i), pass);
      out.col(i).segment(from, n) = pass.values.array() / model.y_scale + model.y_low;
    }
  }
  return out;
}

void check(const NcModel& m) {
  require(m.inputs > 0 && m.size > 0, "an ensemble needs columns and units");
  const MemberShape shape = m.shape();
  require(m.weights.rows() == shape.weights() && m.weights.cols() > 0, "`weights` does not fit the members");
  require(m.fixed.rows() == shape.fixed() && m.fixed.cols() == m.weights.cols(), "`fixed` does not fit the members");
  require(m.x_low.size() == m.inputs && m.x_scale.size() == m.inputs, "the scales do not fit the columns");
  require(m.y_scale > 0, "`y_scale` is not positive");
  if (m.learner == MemberKind::features && m.basis == MemberBasis::columns)
    for (Index i = 0; i < m.fixed.size(); ++i) {
      const double j = m.fixed.data()[i];
      require(j >= 0 && j < m.inputs && j == std::floor(j), "`fixed` names columns that are not there");
    }
}

}  // namespace granary::ensemble
