// Matrix completion along penalties (or trace norms), each fit started at the one before, by the solver the model calls for.
#pragma once

#include <optional>

#include "regress/completion_bounded.h"

namespace granary::regress {

enum class CompletionModel { trace, clipped, bounded, maxabs };  // clipped: the trace norm alone, predictions cut later
inline Names<CompletionModel> names(CompletionModel) {
  return {{CompletionModel::trace, "trace"}, {CompletionModel::clipped, "clipped"}, {CompletionModel::bounded, "bounded"}, {CompletionModel::maxabs, "maxabs"}};
}

enum class CompletionSolver { als, softimpute, frank_wolfe, sgd, lbfgs, admm };
inline Names<CompletionSolver> names(CompletionSolver) {
  return {{CompletionSolver::als, "als"}, {CompletionSolver::softimpute, "softimpute"}, {CompletionSolver::frank_wolfe, "fw"},
          {CompletionSolver::sgd, "sgd"}, {CompletionSolver::lbfgs, "lbfgs"},           {CompletionSolver::admm, "admm"}};
}

// Observed cells as triplets, numbers of rows and columns from 0. `weighted`: see observe().
struct CellTriplets {
  std::vector<int> i, j;
  std::vector<double> value;
  Index rows = 0, cols = 0;
  bool weighted = true;
  ObservedCells observed() const { return observe(i, j, value, rows, cols, weighted); }
};
template <class V>
void fields(V& v, CellTriplets& t) {
  v("i", t.i);
  v("j", t.j);
  v("value", t.value);
  v("rows", t.rows);
  v("cols", t.cols);
  v("weighted", t.weighted);
}

struct CompletionPathOptions {
  CompletionOptions fit;
  CompletionModel model = CompletionModel::trace;
  CompletionSolver solver = CompletionSolver::als;
  std::vector<double> penalty;  // lambda, or (constrained) the trace norm
  bool constrained = false;
  bool early_stop = false;       // end the path where a fit has as many free numbers as there are cells, or leaves a thousandth of the sum of squares
  double lower = -1, upper = 1;  // of the values, for bounded and maxabs
};
template <class V>
void fields(V& v, CompletionPathOptions& t) {
  fields(v, t.fit);
  v("model", t.model);
  v("solver", t.solver);
  v("penalty", t.penalty);
  v("constrained", t.constrained);
  v("early_stop", t.early_stop);
  v("lower", t.lower);
  v("upper", t.upper);
}

struct CompletionPath {
  std::vector<CompletionResult> fits;
};

CompletionPath completion_path(const ObservedCells& cells, const std::optional<ThinSvd>& start, const CompletionPathOptions& options, Rng rng,
                               Monitor& monitor);

// What the cells amount to, and the penalty from which on the fit is zero.
struct CellsSummary {
  double lambda_max = 0, observations = 0, within = 0, total = 0;
  Index cells = 0;
};
template <class V>
void fields(V& v, CellsSummary& t) {
  v("lambda_max", t.lambda_max);
  v("cells", t.cells);
  v("observations", t.observations);
  v("within", t.within);
  v("total", t.total);
}
CellsSummary summarise_cells(const ObservedCells& cells, const CompletionPathOptions& options, Monitor& monitor);

}  // namespace granary::regress
