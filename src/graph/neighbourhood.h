// Neighbourhood selection: the graph of the lassos of every variable on all others.
//
//   minimise  1/2 v'S v - S_j'v + lambda sum_{k != j} sqrt(S_jj S_kk) |v_k|,   v_j = 0,      for j = 1..p
//
// which is the lasso of x_j on the other variables with all of them scaled to variance one (with `standardize`; else the penalty
// is lambda sum |v_k|). Variables j and k are joined when both (AND) or either (OR) of the two coefficients is not zero.
// Meinshausen and Buehlmann (Annals of Statistics 2006). The lassos give a graph, not a precision matrix: that is the maximum
// likelihood estimate with zeros where there is no edge, by glasso.h.
#pragma once

#include <optional>
#include <vector>

#include "graph/glasso.h"

namespace granary::graph {

enum class NeighbourRule { both, either };

inline Names<NeighbourRule> names(NeighbourRule) { return {{NeighbourRule::both, "and"}, {NeighbourRule::either, "or"}}; }

struct NeighbourOptions {
  bool standardize = true;
  double tol = 1e-8;  // of l1_quadratic.h
  int max_iter = 100000;
  int threads = 1;  // over variables
};

struct NeighbourPathOptions {
  NeighbourRule rule = NeighbourRule::both;
  bool standardize = true;
  // l1 penalty of the refit on the edges and the diagonal, in units of the mean variance. None: 0 where S is positive definite, so that
  // the likelihood has a maximum, else 0.01.
  std::optional<double> refit;
  double tol = 1e-6;  // of the refit; the regressions are solved to a hundredth of it
  int max_iter = 100000;
  int threads = 1;
  bool covariance = false;  // keep W along a path; a single fit has it anyway
};
template <class V>
void fields(V& v, NeighbourPathOptions& t) {
  v("rule", t.rule);
  v("standardize", t.standardize);
  v("refit", t.refit);
  v("tol", t.tol);
  v("max_iter", t.max_iter);
  v("threads", t.threads);
  v("covariance", t.covariance);
}

struct Neighbourhoods {
  SparseMatrix coefficients;  // column j: of the regression of variable j
  Convergence convergence;    // the worst over variables; the gap is the largest of one regression
};

// One result per lambda, in the order given (decreasing is fastest).
std::vector<Neighbourhoods> neighbourhoods(const ConstMatrixRef& s, const std::vector<double>& lambda,
                                           const NeighbourOptions& options, Monitor& monitor);

// The graph and its refit, one per lambda. A regression that stopped early is told as one of the fit.
struct NeighbourFit {
  GlassoResult fit;
  SparseMatrix coefficients;
  Convergence lasso;
  double refit = 0;  // as used
};
template <class V>
void fields(V& v, NeighbourFit& t) {  // for writing
  fields(v, t.fit);
  v("coefficients", t.coefficients);
  v("lasso", t.lasso);
  v("refit", t.refit);
}
std::vector<NeighbourFit> neighbour_path(const ConstMatrixRef& s, const std::vector<double>& lambda, const NeighbourPathOptions& options,
                                         Monitor& monitor);

// The graph as weights for the refit: `edge` where there is an edge and on the diagonal, Penalty::forbidden elsewhere.
MatrixXd neighbour_weights(const SparseMatrix& coefficients, NeighbourRule rule, double edge);

}  // namespace granary::graph
