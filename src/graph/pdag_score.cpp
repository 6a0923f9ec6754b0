#include "graph/pdag_score.h"

#include <algorithm>
#include <cmath>

#include "core/graph/markov_equivalence.h"
#include "core/linalg/dense.h"
#include "core/linalg/submatrix.h"
#include "graph/causal_dag_fit.h"

namespace granary::graph {

namespace {

constexpr double two_pi = 6.283185307179586;

// Entries of (I - B)^-T D (I - B)^-1 that are not zero, upper triangle with diagonal.
double covariance_entries(const MatrixXd& b, const VectorXd& variance) {
  const MatrixXd total = total_effects(b);
  const MatrixXd sigma = total.transpose() * variance.asDiagonal() * total;
  const VectorXd scale = sigma.diagonal().cwiseSqrt();
  double count = 0;
  for (Index j = 0; j < sigma.cols(); ++j) {
    for (Index i = 0; i <= j; ++i) count += std::abs(sigma(i, j)) > 1e-12 * scale[i] * scale[j];
  }
  return count;
}

}  // namespace

PdagScore score_pdag(const MixedGraph& pdag, ConstMatrixRef s, const PdagScoreOptions& options) {
  const int p = pdag.nodes();
  if (s.rows() != p || s.cols() != p) throw InputError("the covariance must have the variables of the graph.");
  MixedGraph open = pdag;
  for (const MarkedEdge& edge : pdag.edge_list()) {
    if (pdag.bidirected(edge.from, edge.to)) open.add_undirected(edge.from, edge.to);
  }
  PdagScore out;
  const auto dag = consistent_extension(open);
  out.extendable = dag.has_value();
  if (!dag) {
    out.loglik = out.parameters = out.score = std::numeric_limits<double>::quiet_NaN();
    return out;
  }
  MatrixXd b = MatrixXd::Zero(p, p);
  VectorXd variance = s.diagonal();
  for (int j = 0; j < p; ++j) {
    const std::vector<int> parents = dag->parents(j).members();
    if (parents.empty()) continue;
    VectorXd cross(static_cast<Index>(parents.size()));
    for (Index k = 0; k < cross.size(); ++k) cross[k] = s(parents[k], j);
    const VectorXd coefficients = PivotedQr(principal_submatrix(s, parents)).solve(cross);  // 0 for what depends on the others
    for (Index k = 0; k < cross.size(); ++k) b(parents[k], j) = coefficients[k];
    variance[j] = std::max(s(j, j) - coefficients.dot(cross), 1e-10 * s(j, j));
  }
  out.loglik = -options.n / 2 * (variance.array().log().sum() + p * std::log(two_pi) + p);
  out.parameters = options.penalty == ParameterCount::edges ? dag->edges() + 2.0 * p : covariance_entries(b, variance) + p;
  out.score = -2 * out.loglik + std::log(options.n) * out.parameters;
  return out;
}

}  // namespace granary::graph
