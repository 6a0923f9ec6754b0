// Sparse Ising models by any of the methods of this room: one penalty, a path with warm starts, or the penalty EBIC chooses.
//
//   exact      penalised likelihood by enumeration               (ising_likelihood.h)
//   pseudolik  penalised pseudo-likelihood                       (ising_pseudo.h)
//   nodewise   one logistic regression per variable              (ising_pseudo.h)
//   fbs, pg, apg   Algorithm 5.1 with estimated moments          (ising_splitting.h)
//   bp2step    the structure by nodewise, then fbs on it with beliefs
//
//   EBIC = 2 n loss + edges (log n + 4 gamma log p)
#pragma once

#include <optional>

#include "graph/ising_pseudo.h"
#include "graph/ising_splitting.h"

namespace granary::graph {

enum class IsingMethod { exact, pseudolik, nodewise, fbs, pg, apg, bp2step };
inline Names<IsingMethod> names(IsingMethod) {
  return {{IsingMethod::exact, "exact"}, {IsingMethod::pseudolik, "pseudolik"}, {IsingMethod::nodewise, "nodewise"}, {IsingMethod::fbs, "fbs"},
          {IsingMethod::pg, "pg"},       {IsingMethod::apg, "apg"},             {IsingMethod::bp2step, "bp2step"}};
}
enum class NodewiseRule { both, either };
inline Names<NodewiseRule> names(NodewiseRule) { return {{NodewiseRule::both, "and"}, {NodewiseRule::either, "or"}}; }

struct IsingFitOptions {
  IsingMethod method = IsingMethod::exact;
  std::vector<double> lambda;  // falling; empty: nodewise lets each regression choose, the others take the one EBIC chooses
  double gamma = 0.25;         // of EBIC
  int n_lambda = 30;
  double lambda_min_ratio = 0.005;
  IsingPenalty penalty = IsingPenalty::l1;
  bool field_penalty = false;
  MatrixXd mask;
  NodewiseRule rule = NodewiseRule::both;
  SplittingOptions splitting;
  double tol = 1e-6;
  int max_iter = 2000;
  int threads = 1;
};
template <class V>
void fields(V& v, IsingFitOptions& t) {
  v("method", t.method);
  v("lambda", t.lambda);
  v("gamma", t.gamma);
  v("n_lambda", t.n_lambda);
  v("lambda_min_ratio", t.lambda_min_ratio);
  v("penalty", t.penalty);
  v("field_penalty", t.field_penalty);
  v("mask", t.mask);
  v("rule", t.rule);
  v("sampler", t.splitting.sampler);
  v("samples", t.splitting.samples);
  v("sweeps", t.splitting.sweeps);
  v("beta", t.splitting.beta);
  v("r", t.splitting.r);
  v("output", t.splitting.output);
  v("tol", t.tol);
  v("max_iter", t.max_iter);
  v("threads", t.threads);
}

// One penalty. What a method does not have stays empty or NaN.
struct IsingRun {
  IsingFit fit;
  VectorXd lambda;                  // one, or one per regression
  std::optional<MatrixXd> rows;     // nodewise: before the two values of an edge are joined
  std::optional<SplittingResult> splitting;
};
template <class V>
void fields(V& v, IsingRun& t) {
  fields(v, t.fit);
  v("lambda", t.lambda);
  v("rows", t.rows);
  v("splitting", t.splitting);
}

struct EbicRow {
  double lambda = 0;
  int edges = 0;
  double ebic = 0;
};
template <class V>
void fields(V& v, EbicRow& t) {
  v("lambda", t.lambda);
  v("edges", t.edges);
  v("ebic", t.ebic);
}

struct IsingFits {
  std::vector<IsingRun> runs;   // one per penalty given, or the chosen one
  std::vector<EbicRow> table;   // of the penalties that were tried, where EBIC chose; else of the runs
};
template <class V>
void fields(V& v, IsingFits& t) {
  v("runs", t.runs);
  v("table", columns(t.table));
}

// From the smallest penalty that leaves no edge down by equal factors; a single 1 where nothing varies together.
std::vector<double> ising_grid(ConstMatrixRef x, IsingMethod method, int count, double ratio);

IsingFits ising_fit(ConstMatrixRef x, const IsingFitOptions& options, Rng rng, Monitor& monitor);

// Mean log-likelihood (NaN where a component has more than 20 variables) and mean log pseudo-likelihood of rows.
struct IsingScore {
  double likelihood = Convergence::unknown, pseudo = 0;
};
template <class V>
void fields(V& v, IsingScore& t) {
  v("likelihood", any_number(t.likelihood));
  v("pseudo", t.pseudo);
}
IsingScore ising_score(ConstMatrixRef x, const SpinModel& model, Monitor& monitor);

}  // namespace granary::graph
