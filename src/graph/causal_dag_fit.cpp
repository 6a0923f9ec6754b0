#include "graph/causal_dag_fit.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/graph/graph.h"
#include "core/optim/l1_quadratic.h"
#include "core/linalg/spd.h"
#include "graph/causal_dag_scores.h"

namespace granary::graph {

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

MatrixXd block(ConstMatrixRef g, const std::vector<int>& nodes) {
  const Index k = static_cast<Index>(nodes.size());
  MatrixXd out(k, k);
  for (Index i = 0; i < k; ++i) {
    for (Index j = 0; j < k; ++j) out(i, j) = g(nodes[i], nodes[j]);
  }
  return out;
}

// Diagonal of G_SS^-1, by way of correlations.
VectorXd inverse_diagonal(ConstMatrixRef g, const std::vector<int>& nodes) {
  const MatrixXd inner = block(g, nodes);
  const VectorXd scale = inner.diagonal().cwiseSqrt().cwiseInverse();
  const Cholesky factor(MatrixXd(scale.asDiagonal() * inner * scale.asDiagonal()));
  const MatrixXd root = factor.solve_lower(MatrixXd(MatrixXd::Identity(inner.rows(), inner.cols())));
  return root.colwise().squaredNorm().transpose().cwiseProduct(scale.cwiseAbs2());
}

SearchSpace only(int p, int node, const std::vector<int>& parents, const std::vector<int>& required) {
  SearchSpace space;
  space.may.assign(p, Bitset(p));
  space.must.assign(p, Bitset(p));
  for (int u : parents) space.may[node].set(u);
  for (int u : required) space.must[node].set(u);
  return space;
}

MixedGraph arcs_of(ConstMatrixRef b) {
  MixedGraph graph(static_cast<int>(b.rows()));
  for (int i = 0; i < graph.nodes(); ++i) {
    for (int j = 0; j < graph.nodes(); ++j) {
      if (i == j || b(i, j) == 0) continue;
      if (graph.adjacent(i, j)) throw InputError(message("`B` has arcs both ways between nodes ", j + 1, " and ", i + 1, "."));
      graph.add_directed(i, j);
    }
  }
  return graph;
}

}  // namespace

MatrixXd incomplete_moments(ConstMatrixRef x, bool pairwise) {
  const Index n = x.rows(), p = x.cols();
  MatrixXd z = MatrixXd::Zero(n, p), seen = MatrixXd::Zero(n, p);
  VectorXd share(p);
  for (Index j = 0; j < p; ++j) {
    double sum = 0;
    Index count = 0;
    for (Index i = 0; i < n; ++i) {
      if (std::isnan(x(i, j))) continue;
      sum += x(i, j);
      seen(i, j) = 1;
      ++count;
    }
    if (count < 2) throw InputError(message("column ", j + 1, " has fewer than two observed values."));
    for (Index i = 0; i < n; ++i) {
      if (seen(i, j) > 0) z(i, j) = x(i, j) - sum / static_cast<double>(count);
    }
    share[j] = static_cast<double>(count) / static_cast<double>(n);
  }
  MatrixXd moments = z.transpose() * z;
  if (pairwise) {
    const MatrixXd counts = seen.transpose() * seen;
    for (Index j = 0; j < p; ++j) {
      for (Index k = 0; k < p; ++k) {
        if (counts(j, k) < 2)
          throw InputError(message("columns ", j + 1, " and ", k + 1, " are observed together in fewer than two rows."));
        moments(j, k) /= counts(j, k);
      }
    }
    return moments;
  }
  for (Index j = 0; j < p; ++j) {
    for (Index k = 0; k < p; ++k) moments(j, k) /= static_cast<double>(n) * (j == k ? share[j] : share[j] * share[k]);
  }
  return moments;
}

DagFit fit_dag(ConstMatrixRef g, const std::vector<std::vector<int>>& parents, int n) {
  DagFit out;
  const int p = static_cast<int>(parents.size());
  out.residual.resize(p);
  for (int v = 0; v < p; ++v) {
    const VectorXd b = regression(g, v, parents[v]);
    double residual = g(v, v);
    for (std::size_t i = 0; i < parents[v].size(); ++i) residual -= b[i] * g(parents[v][i], v);
    out.residual[v] = residual;
    if (parents[v].empty()) continue;
    const double df = n - 1.0 - static_cast<double>(parents[v].size());
    const VectorXd inverse = inverse_diagonal(g, parents[v]);
    for (std::size_t i = 0; i < parents[v].size(); ++i) {
      out.arcs.push_back({parents[v][i], v, b[i], df > 0 && residual > 0 ? std::sqrt(residual / df * inverse[i]) : unknown});
    }
  }
  return out;
}

std::vector<int> prune_parents(ConstMatrixRef g, int n, int node, const std::vector<int>& parents,
                               const std::vector<int>& required, PruneRule rule, double alpha, Monitor& monitor) {
  const int p = static_cast<int>(g.rows());
  const auto is_required = [&](int u) { return std::find(required.begin(), required.end(), u) != required.end(); };
  std::vector<int> set = parents;
  if (rule == PruneRule::t_test) {
    while (!set.empty()) {
      const double df = n - 1.0 - static_cast<double>(set.size());
      if (!(df > 0)) return set;  // no degrees of freedom, no test
      const VectorXd b = regression(g, node, set), inverse = inverse_diagonal(g, set);
      const double residual = residual_variance(g, node, set);
      if (!(residual > 0)) return set;
      int weakest = -1;
      double smallest = 0;
      for (std::size_t i = 0; i < set.size(); ++i) {
        if (is_required(set[i])) continue;
        const double t = std::abs(b[i]) / std::sqrt(residual / df * inverse[i]);
        if (weakest < 0 || t < smallest) {
          weakest = static_cast<int>(i);
          smallest = t;
        }
      }
      if (weakest < 0) return set;
      const double p_value = 2 * boost::math::cdf(boost::math::complement(boost::math::students_t(df), smallest));
      if (p_value <= alpha) return set;
      set.erase(set.begin() + weakest);
    }
    return set;
  }
  ScoreOptions options;
  options.likelihood = true;
  options.penalty = std::log(static_cast<double>(n)) / n;
  options.max_parents = static_cast<int>(parents.size());
  int limit = 0;
  bool singular = false;
  if (rule == PruneRule::bic) {
    const ParentSets best = score_node(g, only(p, node, parents, required), node, options, &limit, &singular);
    return best.members(best.sets.front());
  }
  // Lasso on correlations; unpenalised where required.
  const MatrixXd inner = block(g, parents);
  const VectorXd scale = inner.diagonal().cwiseSqrt().cwiseInverse();
  const MatrixXd s = scale.asDiagonal() * inner * scale.asDiagonal();
  VectorXd cross(parents.size());
  for (std::size_t i = 0; i < parents.size(); ++i) cross[i] = g(parents[i], node) * scale[i] / std::sqrt(g(node, node));
  const auto criterion = [&](const std::vector<int>& members) {
    return std::log(std::max(residual_variance(g, node, members), 1e-300)) +
           options.penalty * static_cast<double>(members.size());
  };
  set.clear();
  for (int u : parents) {
    if (is_required(u)) set.push_back(u);
  }
  double best = criterion(set);
  const double top = cross.cwiseAbs().maxCoeff();
  for (int step = 0; step < 40; ++step) {
    VectorXd mu = VectorXd::Constant(cross.size(), top * std::pow(10.0, -3.0 * step / 39));
    for (std::size_t i = 0; i < parents.size(); ++i) {
      if (is_required(parents[i])) mu[i] = 0;
    }
    const VectorXd v = l1_quadratic(s, cross, mu, L1QuadraticOptions(), monitor).v;
    std::vector<int> members;
    for (std::size_t i = 0; i < parents.size(); ++i) {
      if (v[i] != 0 || is_required(parents[i])) members.push_back(parents[i]);
    }
    const double value = criterion(members);
    if (value < best) {
      best = value;
      set = members;
    }
  }
  return set;
}

MatrixXd simulate_sem(ConstMatrixRef b, ConstVectorRef sd, int n, const std::string& errors, double df, Rng& rng) {
  const std::vector<int> order = topological_order(arcs_of(b));
  const Index p = b.rows();
  MatrixXd x(n, p);
  for (Index j = 0; j < p; ++j) {
    for (int i = 0; i < n; ++i) {
      double e;
      if (errors == "uniform") {
        e = rng.uniform(-std::sqrt(3.0), std::sqrt(3.0));
      } else if (errors == "laplace") {
        e = (rng.bernoulli(0.5) ? 1 : -1) * rng.exponential() / std::sqrt(2.0);
      } else if (errors == "t") {
        e = rng.student_t(df) * std::sqrt((df - 2) / df);
      } else {
        e = rng.normal();
      }
      x(i, j) = sd[j] * e;
    }
  }
  for (int j : order) {
    for (Index i = 0; i < p; ++i) {
      if (b(i, j) != 0) x.col(j) += b(i, j) * x.col(i);
    }
  }
  return x;
}

MatrixXd total_effects(ConstMatrixRef b) {
  const std::vector<int> order = topological_order(arcs_of(b));
  const Index p = b.rows();
  MatrixXd total = MatrixXd::Identity(p, p);
  for (int j : order) {
    for (Index i = 0; i < p; ++i) {
      if (b(i, j) != 0) total.col(j) += b(i, j) * total.col(i);
    }
  }
  return total;
}

MatrixXd simulate_sem(ConstMatrixRef b, const SimSemOptions& options, Rng& rng) {
  MatrixXd x = simulate_sem(b, options.sd, options.n, name_of(options.errors), options.df, rng);
  double* value = x.data();
  for (Index k = 0; k < x.size() && options.noise > 0; ++k) value[k] += std::sqrt(options.noise) * rng.normal();
  for (Index k = 0; k < x.size() && options.missing > 0; ++k) {
    if (rng.bernoulli(options.missing)) value[k] = std::numeric_limits<double>::quiet_NaN();
  }
  return x;
}

}  // namespace granary::graph
