#include "graph/ida.h"

#include <algorithm>

#include "core/linalg/dense.h"
#include "core/base/errors.h"
#include "core/graph/subsets.h"

namespace granary::graph {

namespace {

// Coefficients of the first variable of `predictors` for each target.
VectorXd first_coefficient(ConstMatrixRef cov, const std::vector<int>& predictors, const std::vector<int>& targets) {
  const Index k = static_cast<Index>(predictors.size()), m = static_cast<Index>(targets.size());
  VectorXd scale(k);
  for (Index a = 0; a < k; ++a) scale[a] = std::sqrt(cov(predictors[a], predictors[a]));
  MatrixXd left(k, k), right(k, m);
  for (Index a = 0; a < k; ++a) {
    for (Index b = 0; b < k; ++b) left(a, b) = cov(predictors[a], predictors[b]) / (scale[a] * scale[b]);
    for (Index b = 0; b < m; ++b) right(a, b) = cov(predictors[a], targets[b]) / scale[a];
  }
  // Pivoted QR gives the regression on a basis where parents are linearly dependent.
  return PivotedQr(left).solve(right).row(0).transpose() / scale[0];
}

}  // namespace

PossibleEffects possible_effects(const MixedGraph& pdag, ConstMatrixRef covariance, const EffectQuestion& question, Monitor& monitor) {
  const auto& [cause, targets] = question;
  if (covariance.rows() != pdag.nodes() || covariance.cols() != pdag.nodes()) {
    throw InputError(message("the covariance matrix must be ", pdag.nodes(), " x ", pdag.nodes(), " like the graph, not ",
                             covariance.rows(), " x ", covariance.cols(), "."));
  }
  for (int node = 0; node < pdag.nodes(); ++node) {
    if (!(covariance(node, node) > 0)) throw InputError(message("variable ", node + 1, " has no positive variance."));
  }
  const Bitset parents = pdag.parents(cause);
  const std::vector<int> siblings = pdag.undirected_neighbours(cause).members();
  const int count = static_cast<int>(siblings.size());

  PossibleEffects result;
  std::vector<VectorXd> rows;
  std::vector<int> set;
  for (int size = 0; size <= count; ++size) {
    bool any = false;
    for (KSubsets subset(count, size); subset.valid(); subset.next()) {
      monitor.check();
      subset.pick(siblings, set);
      const Bitset into = parents | Bitset(pdag.nodes(), set);
      const bool possible = std::all_of(set.begin(), set.end(), [&](int s) {
        Bitset others = into;
        others.reset(s);
        return others.is_subset_of(pdag.neighbours(s));
      });
      if (!possible) continue;
      any = true;
      std::vector<int> predictors = into.members();
      result.parents.push_back(predictors);
      predictors.insert(predictors.begin(), cause);
      VectorXd effect = first_coefficient(covariance, predictors, targets);
      for (std::size_t t = 0; t < targets.size(); ++t) {
        if (into.test(targets[t])) effect[static_cast<Index>(t)] = 0;
        if (targets[t] == cause) effect[static_cast<Index>(t)] = 1;
      }
      rows.push_back(effect);
    }
    if (size > 0 && !any) break;  // the possible sets are cliques: without one of this size there is none larger
  }
  result.effects.resize(static_cast<Index>(rows.size()), static_cast<Index>(targets.size()));
  for (std::size_t r = 0; r < rows.size(); ++r) result.effects.row(static_cast<Index>(r)) = rows[r].transpose();
  return result;
}

}  // namespace granary::graph
