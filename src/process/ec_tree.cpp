#include "process/ec_tree.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/graph/union_find.h"
#include "process/ec_wide.h"

namespace granary::process {

double log_two_cosh(double x) { return std::abs(x) + std::log1p(std::exp(-2 * std::abs(x))); }

double proper_covariance(double variance_i, double variance_j, double covariance) {
  const double most = std::sqrt(variance_i * variance_j * (1 - 1e-12));
  return std::min(most, std::max(-most, covariance));
}

EcForest::EcForest(Index n, std::vector<std::pair<int, int>> with_edges)
    : edges(std::move(with_edges)), parent(n, -1), parent_edge(n, -1), degree(VectorXd::Zero(n)) {
  UnionFind sets(static_cast<int>(n));
  std::vector<std::vector<std::pair<int, int>>> neighbours(n);  // node, edge
  for (std::size_t e = 0; e < edges.size(); ++e) {
    const auto [i, j] = edges[e];
    if (i < 0 || j < 0 || i >= n || j >= n || !sets.unite(i, j)) {
      throw InputError("the edges of the tree must join different variables without closing a cycle.");
    }
    neighbours[i].push_back({j, static_cast<int>(e)});
    neighbours[j].push_back({i, static_cast<int>(e)});
    degree[i] += 1;
    degree[j] += 1;
  }
  std::vector<bool> seen(n, false);
  for (int root = 0; root < n; ++root) {
    if (seen[root]) continue;
    seen[root] = true;
    order.push_back(root);
    for (std::size_t next = order.size() - 1; next < order.size(); ++next) {
      const int i = order[next];
      for (const auto& [j, e] : neighbours[i]) {
        if (seen[j]) continue;
        seen[j] = true;
        parent[j] = i;
        parent_edge[j] = e;
        order.push_back(j);
      }
    }
  }
}

EcForest maximum_spanning_forest(ConstMatrixRef j) {
  const int n = static_cast<int>(j.rows());
  std::vector<std::pair<int, int>> pairs, chosen;
  for (int b = 0; b < n; ++b) {
    for (int a = 0; a < b; ++a) {
      if (j(a, b) != 0) pairs.push_back({a, b});
    }
  }
  std::stable_sort(pairs.begin(), pairs.end(),
                   [&](const auto& x, const auto& y) { return std::abs(j(x.first, x.second)) > std::abs(j(y.first, y.second)); });
  UnionFind sets(n);
  for (const auto& pair : pairs) {
    if (sets.unite(pair.first, pair.second)) chosen.push_back(pair);
  }
  return EcForest(n, chosen);
}

EcParameters gaussian_parameters(const EcMoments& moments, const EcForest& forest) {
  if (!forest.cliques.empty()) return wide_gaussian_parameters(moments, forest);
  const VectorXd alone = (1 - forest.degree.array()).matrix();
  EcParameters p;
  p.lambda = alone.cwiseQuotient(moments.variance);
  p.gamma = p.lambda.cwiseProduct(moments.mean);
  p.edge.resize(static_cast<Index>(forest.edges.size()));
  for (Index e = 0; e < p.edge.size(); ++e) {
    const auto [i, j] = forest.edges[e];
    const double vi = moments.variance[i], vj = moments.variance[j], c = proper_covariance(vi, vj, moments.edge[e]);
    const double det = vi * vj - c * c, mi = moments.mean[i], mj = moments.mean[j];
    p.lambda[i] += vj / det;
    p.lambda[j] += vi / det;
    p.edge[e] = -c / det;
    p.gamma[i] += (vj * mi - c * mj) / det;
    p.gamma[j] += (vi * mj - c * mi) / det;
  }
  return p;
}

double gaussian_log_z(const EcMoments& moments, const EcForest& forest) {
  if (!forest.cliques.empty()) return wide_gaussian_log_z(moments, forest);
  double log_det = ((1 - forest.degree.array()) * moments.variance.array().log()).sum();
  for (std::size_t e = 0; e < forest.edges.size(); ++e) {
    const auto [i, j] = forest.edges[e];
    const double vi = moments.variance[i], vj = moments.variance[j], c = proper_covariance(vi, vj, moments.edge[e]);
    log_det += std::log(vi * vj - c * c);
  }
  return 0.5 * log_det + 0.5 * gaussian_parameters(moments, forest).gamma.dot(moments.mean);
}

BinaryForest binary_inference(const EcParameters& parameters, const EcForest& forest) {
  if (!forest.cliques.empty()) return wide_binary_inference(parameters, forest);
  const Index n = forest.size();
  BinaryForest result;
  result.up = result.down = VectorXd::Zero(n);
  result.field = parameters.gamma;
  // atanh(tanh(a) tanh(h)) = (log cosh(a + h) - log cosh(a - h)) / 2, which never overflows.
  const auto send = [](double a, double h) { return 0.5 * (log_two_cosh(a + h) - log_two_cosh(a - h)); };
  for (Index k = n - 1; k >= 0; --k) {
    const int i = forest.order[k], p = forest.parent[i];
    if (p < 0) continue;
    result.up[i] = send(-parameters.edge[forest.parent_edge[i]], result.field[i]);
    result.field[p] += result.up[i];
  }
  EcMoments& moments = result.moments;
  moments.edge.resize(static_cast<Index>(forest.edges.size()));
  double log_z = -0.5 * parameters.lambda.sum();
  for (const int i : forest.order) {
    const int p = forest.parent[i];
    if (p < 0) continue;
    const int e = forest.parent_edge[i];
    const double coupling = -parameters.edge[e], a = result.field[i], b = result.field[p] - result.up[i];
    result.down[i] = send(coupling, b);
    result.field[i] += result.down[i];
    const double same = coupling + log_two_cosh(a + b), other = -coupling + log_two_cosh(a - b);
    const double log_pair = std::max(same, other) + std::log1p(std::exp(-std::abs(same - other)));
    log_z += log_pair;
    // P(++) P(--) - P(+-) P(-+), four times: no difference of nearly equal numbers.
    const double size = 2 * std::abs(coupling);
    moments.edge[e] = std::copysign(4 * std::exp(size - 2 * log_pair) * -std::expm1(-2 * size), coupling);
  }
  moments.mean = result.field.array().tanh();
  moments.variance.resize(n);
  for (Index i = 0; i < n; ++i) {
    const double log_cosh = log_two_cosh(result.field[i]);
    log_z += (1 - forest.degree[i]) * log_cosh;
    moments.variance[i] = std::max(smallest_spin_variance, 4 * std::exp(-2 * log_cosh));
  }
  result.log_z = log_z;
  return result;
}

EcParameters binary_parameters(const EcMoments& moments, const EcForest& forest) {
  EcParameters p;
  p.lambda = VectorXd::Zero(forest.size());
  p.gamma = ((1 - forest.degree.array()) * 0.5 * ((1 + moments.mean.array()) / (1 - moments.mean.array())).log()).matrix();
  p.edge.resize(static_cast<Index>(forest.edges.size()));
  for (Index e = 0; e < p.edge.size(); ++e) {
    const auto [i, j] = forest.edges[e];
    const double mi = moments.mean[i], mj = moments.mean[j], c = moments.edge[e] + mi * mj;
    const auto log_p = [&](int a, int b) { return std::log(0.25 * (1 + a * mi + b * mj + a * b * c)); };
    const double pp = log_p(1, 1), pm = log_p(1, -1), mp = log_p(-1, 1), mm = log_p(-1, -1);
    p.gamma[i] += 0.25 * (pp + pm - mp - mm);
    p.gamma[j] += 0.25 * (pp - pm + mp - mm);
    p.edge[e] = -0.25 * (pp - pm - mp + mm);
  }
  return p;
}

}  // namespace granary::process
