#include "graph/ising_fit.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"

namespace granary::graph {
namespace {

int edges_of(const MatrixXd& w) {
  int count = 0;
  for (Index j = 0; j < w.cols(); ++j)
    for (Index i = 0; i < j; ++i) count += w(i, j) != 0;
  return count;
}

EbicRow criterion(const IsingRun& run, double lambda, Index rows, double gamma) {
  const double n = static_cast<double>(rows), p = static_cast<double>(run.fit.model.b.size());
  EbicRow row;
  row.lambda = lambda;
  row.edges = edges_of(run.fit.model.w);
  row.ebic = 2 * n * run.fit.loss + row.edges * (std::log(n) + 4 * gamma * std::log(p));
  return row;
}

IsingObjective objective_of(const IsingFitOptions& options, double lambda) {
  IsingObjective objective;
  objective.rho = lambda;
  objective.penalty = options.penalty;
  objective.field_penalty = options.field_penalty;
  objective.mask = options.mask;
  return objective;
}

IsingRun by_regressions(ConstMatrixRef x, const IsingFitOptions& options, std::optional<double> lambda, Monitor& monitor) {
  const double tol = std::max(options.tol, 1e-7);
  const NodewiseResult found = lambda ? nodewise(x, *lambda, options.threads, tol, monitor)
                                      : nodewise_ebic(x, options.gamma, 100, options.threads, tol, monitor);
  IsingRun run;
  run.fit.model = join_nodewise(found, options.rule == NodewiseRule::both);
  run.fit.loss = found.loss;
  run.fit.convergence = found.convergence;
  run.lambda = found.rho;
  run.rows = found.coefficients;
  return run;
}

IsingRun by_splitting(ConstMatrixRef x, const IsingFitOptions& options, double lambda, Rng& rng, Monitor& monitor) {
  IsingObjective objective = objective_of(options, lambda);
  SplittingOptions splitting = options.splitting;
  splitting.tol = options.tol;
  splitting.accelerated = options.method == IsingMethod::apg;
  if (options.method == IsingMethod::pg || options.method == IsingMethod::apg) splitting.r = 0;
  if (options.method == IsingMethod::bp2step) {
    const NodewiseResult structure = nodewise(x, lambda, options.threads, 1e-6, monitor);
    const MatrixXd w = join_nodewise(structure, options.rule == NodewiseRule::both).w;
    objective.mask = w.unaryExpr([](double v) { return v != 0 ? 1.0 : 0.0; });
    splitting.sampler = MomentMethod::belief;
  }
  IsingRun run;
  run.splitting = ising_splitting(ising_data(x), objective, splitting, rng, monitor);
  run.fit = run.splitting->fit;
  return run;
}

IsingRun run_at(ConstMatrixRef x, const IsingFitOptions& options, double lambda, const SpinModel& start, Rng& rng, Monitor& monitor) {
  IsingRun run;
  switch (options.method) {
    case IsingMethod::exact: {
      IsingLikelihoodOptions solver;
      solver.tol = options.tol;
      solver.max_iter = options.max_iter;
      run.fit = ising_likelihood(ising_data(x), objective_of(options, lambda), start, solver, monitor);
      break;
    }
    case IsingMethod::pseudolik: {
      IsingPseudoOptions solver;
      solver.tol = options.tol;
      solver.max_iter = options.max_iter;
      run.fit = ising_pseudo(x, objective_of(options, lambda), start, solver, monitor);
      break;
    }
    case IsingMethod::nodewise:
      return by_regressions(x, options, lambda, monitor);
    default:
      run = by_splitting(x, options, lambda, rng, monitor);
  }
  run.lambda = VectorXd::Constant(1, lambda);
  return run;
}

// Without a penalty the likelihood of separable rows has no maximum: estimates grow with every digit of the tolerance. Two digits
// more tell: where a maximum exists they change next to nothing; and a log odds ratio 8 w beyond 24 is no estimate. The answer is
// then the one at the penalty 1e-6, which caps the couplings (near 3.5) and does not depend on the tolerance.
void cap_unbounded(ConstMatrixRef x, const IsingFitOptions& options, IsingRun& run, Rng& rng, Monitor& monitor) {
  const bool solver = options.method == IsingMethod::exact || options.method == IsingMethod::pseudolik;
  if ((!solver && options.method != IsingMethod::nodewise) || run.lambda.maxCoeff() > 0) return;
  bool unbounded = run.fit.model.w.cwiseAbs().maxCoeff() > 3;
  if (!unbounded && solver && run.fit.convergence.converged) {
    IsingFitOptions finer = options;
    finer.tol = options.tol / 100;
    const IsingRun next = run_at(x, finer, 0, run.fit.model, rng, monitor);
    unbounded = std::max((next.fit.model.w - run.fit.model.w).cwiseAbs().maxCoeff(),
                         (next.fit.model.b - run.fit.model.b).cwiseAbs().maxCoeff()) >= 0.05;
  }
  if (!unbounded) return;
  IsingFitOptions capped = options;
  capped.tol = std::min(options.tol, 1e-9);
  capped.max_iter = std::max(options.max_iter, 2000);
  const VectorXd asked = run.lambda;
  run = run_at(x, capped, 1e-6, SpinModel(), rng, monitor);
  run.lambda = asked;
  run.fit.convergence.converged = false;
  run.fit.convergence.reason = Stop::unbounded;
  run.fit.convergence.message = "without a penalty these rows have no finite estimate; the one given is that of the penalty 1e-6, which caps the couplings";
}

// Down the path with warm starts; three fits in a row past the best by a clear margin end it.
double choose_by_ebic(ConstMatrixRef x, const IsingFitOptions& options, SpinModel& start, std::vector<EbicRow>& table, Rng& rng,
                      Monitor& monitor) {
  IsingFitOptions rough = options;
  rough.tol = std::max(options.tol, 1e-4);  // enough to rank penalties; the one chosen is then solved to `tol`
  SpinModel now;
  EbicRow best;
  const double margin = 2 * std::log(static_cast<double>(x.rows()));
  int beyond = 0;
  for (const double lambda : ising_grid(x, options.method, options.n_lambda, options.lambda_min_ratio)) {
    const IsingRun run = run_at(x, rough, lambda, now, rng, monitor);
    now = run.fit.model;
    table.push_back(criterion(run, lambda, x.rows(), options.gamma));
    if (table.size() == 1 || table.back().ebic < best.ebic) {
      best = table.back();
      start = now;
    }
    beyond = table.back().ebic > best.ebic + margin ? beyond + 1 : 0;
    if (beyond >= 3 && table.size() > 5) break;
  }
  return best.lambda;
}

}  // namespace

std::vector<double> ising_grid(ConstMatrixRef x, IsingMethod method, int count, double ratio) {
  const VectorXd m = x.colwise().mean();
  MatrixXd s = x.transpose() * x / static_cast<double>(x.rows()) - m * m.transpose();
  s.diagonal().setZero();
  const double top = s.cwiseAbs().maxCoeff() * (method == IsingMethod::exact ? 1 : 2);
  if (!(top > 0)) return {1.0};
  std::vector<double> grid;
  for (int k = 0; k < count; ++k) grid.push_back(top * std::exp(count == 1 ? 0 : std::log(ratio) * k / (count - 1)));
  return grid;
}

IsingFits ising_fit(ConstMatrixRef x, const IsingFitOptions& options, Rng rng, Monitor& monitor) {
  IsingFits out;
  if (options.lambda.empty() && options.method == IsingMethod::nodewise) {
    out.runs.push_back(by_regressions(x, options, std::nullopt, monitor));
    return out;
  }
  SpinModel start;
  if (options.lambda.empty()) {
    IsingFitOptions base = options;
    const bool own = options.method == IsingMethod::exact || options.method == IsingMethod::pseudolik;
    if (!own) base.method = x.cols() <= 16 ? IsingMethod::exact : IsingMethod::pseudolik;
    SpinModel chosen;
    const double lambda = choose_by_ebic(x, base, chosen, out.table, rng, monitor);
    out.runs.push_back(run_at(x, options, lambda, own ? chosen : SpinModel(), rng, monitor));
    return out;
  }
  for (const double lambda : options.lambda) {
    out.runs.push_back(run_at(x, options, lambda, start, rng, monitor));
    cap_unbounded(x, options, out.runs.back(), rng, monitor);
    start = out.runs.back().fit.model;
    out.table.push_back(criterion(out.runs.back(), lambda, x.rows(), options.gamma));
  }
  return out;
}

IsingScore ising_score(ConstMatrixRef x, const SpinModel& model, Monitor& monitor) {
  require_spin_model(model.w, model.b);
  if (x.cols() != model.b.size()) throw InputError("rows must have one value per variable of the model.");
  IsingScore out;
  out.pseudo = -pseudo_loss(x, model);
  if (!model.w.allFinite() || largest_component(model.w) > 20) return out;
  const double n = static_cast<double>(x.rows());
  out.likelihood = (x.cwiseProduct(x * model.w).sum() + (x * model.b).sum()) / n - exact_log_partition(model.w, model.b, monitor);
  return out;
}

}  // namespace granary::graph
