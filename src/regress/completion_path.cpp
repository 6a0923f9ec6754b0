#include "regress/completion_path.h"

namespace granary::regress {
namespace {

CompletionResult fit_at(const ObservedCells& cells, double at, const Factors& from, const CompletionPathOptions& options, Rng& rng,
                        Monitor& monitor) {
  if (options.model == CompletionModel::bounded)
    return complete_bounded(cells, options.lower, options.upper, at, from, options.fit, monitor);
  if (options.model == CompletionModel::maxabs)
    return complete_maxabs(cells, options.lower, options.upper, options.constrained ? 0 : at, options.constrained ? at : 0, options.fit, monitor);
  switch (options.solver) {
    case CompletionSolver::frank_wolfe:
      return complete_frank_wolfe(cells, at, from, options.fit, monitor);
    case CompletionSolver::sgd:
      return complete_sgd(cells, at, from, options.fit, rng, monitor);
    case CompletionSolver::softimpute:
      return complete_softimpute(cells, at, from, options.fit, monitor);
    default:
      return (options.constrained ? complete_constrained : complete_als)(cells, at, from, options.fit, monitor);
  }
}

}  // namespace

CompletionPath completion_path(const ObservedCells& cells, const std::optional<ThinSvd>& start, const CompletionPathOptions& options, Rng rng,
                               Monitor& monitor) {
  Factors from = start ? balanced(*start) : Factors::zero(cells);
  // Stochastic gradients start at random where no start is given: the fit before is no better a place for their large first steps.
  const bool warm = options.solver != CompletionSolver::sgd || start;
  CompletionPath path;
  for (const double at : options.penalty) {
    path.fits.push_back(fit_at(cells, at, from, options, rng, monitor));
    const CompletionResult& last = path.fits.back();
    const Index rank = last.w.d.size();
    // Smaller penalties only interpolate, at a cost that grows with the rank.
    if (options.early_stop && (rank * (cells.rows + cells.cols - rank) >= cells.count() || last.loss <= 1e-3 * cells.total)) break;
    if (warm) from = balanced(path.fits.back().w);
  }
  return path;
}

CellsSummary summarise_cells(const ObservedCells& cells, const CompletionPathOptions& options, Monitor& monitor) {
  CellsSummary out;
  out.lambda_max = options.model == CompletionModel::bounded ? bounded_lambda_max(cells, options.lower, options.upper, monitor)
                                                             : lambda_max(cells, monitor);
  out.observations = cells.observations;
  out.within = cells.within;
  out.total = cells.total;
  out.cells = cells.count();
  return out;
}

}  // namespace granary::regress
