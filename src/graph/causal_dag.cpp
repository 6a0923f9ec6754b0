#include "graph/causal_dag.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace granary::graph {

namespace {

bool by_order(DagSearch search) { return search == DagSearch::top_down || search == DagSearch::bottom_up; }

// The common factor of the error variances, see the header.
double variance_scale(ConstMatrixRef g, const SearchSpace& space, const CausalDagOptions& options, const VectorXd& weights, Monitor& monitor) {
  const double n = options.n, smallest = (g.diagonal().array() / weights.array()).minCoeff();
  ScoreOptions scores = score_options(options);
  scores.weights = weights;
  scores.penalty = smallest * std::log(n) / n;
  scores.max_parents = std::min(options.max_parents, std::max(1, (options.n - 2) / 2));
  std::vector<std::vector<int>> parents;
  try {
    parents = parents_given_order(g, top_down(g, weights, space, monitor).order, space, scores, monitor);
  } catch (const InputError&) {
    return smallest;
  } catch (const NumericalError&) {
    return smallest;
  }
  const DagFit fit = fit_dag(g, parents, options.n);
  double sum = 0;
  for (Index j = 0; j < g.cols(); ++j) {
    const double df = std::max(1.0, n - 1 - static_cast<double>(parents[j].size()));
    sum += std::max(fit.residual[j], 0.0) / weights[j] * n / df;
  }
  return sum / static_cast<double>(g.cols());
}

// In units of the scale; 1 where scores are likelihoods.
double penalty_unit(ConstMatrixRef g, const SearchSpace& space, const CausalDagOptions& options, const VectorXd& weights, Monitor& monitor) {
  return options.weighting == DagWeights::likelihood ? 1 : variance_scale(g, space, options, weights, monitor);
}

double penalty_of(ConstMatrixRef g, const SearchSpace& space, const CausalDagOptions& options, Monitor& monitor) {
  if (options.penalty_rule == DagPenalty::number) return options.penalty;
  if (options.n == 0) return 0;
  const double n = options.n, extra = options.penalty_rule == DagPenalty::ebic ? 2 * std::log(static_cast<double>(g.cols())) : 0;
  return penalty_unit(g, space, options, options.weights, monitor) * (std::log(n) + extra) / n;
}

DagSearchResult order_result(ConstMatrixRef g, const SearchSpace& space, const CausalDagOptions& options, const ScoreOptions& scores,
                             Monitor& monitor) {
  const Stopwatch clock;
  const VariableOrder order =
      options.search == DagSearch::top_down ? top_down(g, scores.weights, space, monitor) : bottom_up(g, scores.weights, space, monitor);
  DagSearchResult out;
  out.parents = parents_given_order(g, order.order, space, scores, monitor);
  const VectorXd residual = fit_dag(g, out.parents, 0).residual;
  out.score = scores.likelihood ? residual.array().log().sum() : (residual.array() / scores.weights.array()).sum();
  for (const auto& set : out.parents) out.score += scores.penalty * static_cast<double>(set.size());
  out.lower_bound = Convergence::unknown;
  out.exact = false;
  std::vector<int> all(static_cast<std::size_t>(g.cols()));
  std::iota(all.begin(), all.end(), 0);
  out.components.push_back({all, options.search, false, -1, static_cast<double>(g.cols()), Convergence::unknown});
  out.seconds = clock.seconds();
  return out;
}

// Scoring takes long where there are many candidates, so what the search over subsets must refuse is refused before. A component of the
// possible arcs may still fall apart when sets are dropped, hence not every one above its limit of 25.
void refuse_wide(const SearchSpace& space, DagSearch search) {
  constexpr std::size_t hopeless = 40;
  if (search != DagSearch::subset) return;
  MixedGraph possible(space.nodes());
  for (int v = 0; v < space.nodes(); ++v) {
    for (const int u : space.may[v].members()) possible.add_undirected(u, v);
  }
  for (const auto& part : component_members(possible)) {
    if (part.size() <= hopeless) continue;
    throw InputError(message("the search over subsets needs components of at most 25 nodes, but one has ", part.size(),
                             " nodes. Use search = \"tree\" (narrow graphs), \"order\" or \"greedy\" (not exact), or a sparser graph."));
  }
}

// One search with the penalty and the weights of `out`.
void run_search(ConstMatrixRef g, const SearchSpace& space, const CausalDagOptions& options, Rng& rng, Monitor& monitor, CausalDagResult& out) {
  ScoreOptions scores = score_options(options);
  scores.penalty = out.penalty;
  scores.weights = out.weights;
  if (by_order(options.search)) {
    out.found = order_result(g, space, options, scores, monitor);
    return;
  }
  ScoreResult scored = score_parent_sets(g, space, scores, monitor);
  out.found = search_dag(scored.table, search_options(options), monitor, rng);
  out.limited = std::move(scored.limited);
  out.limits = std::move(scored.limits);
  out.singular = std::move(scored.singular);
}

void estimate_weights(ConstMatrixRef g, const SearchSpace& space, const CausalDagOptions& options, Rng& rng, Monitor& monitor,
                      CausalDagResult& out) {
  const double each = out.penalty > 0 ? out.penalty / variance_scale(g, space, options, options.weights, monitor) : 0;
  out.settled = false;
  while (out.rounds < 20 && !out.settled) {
    ++out.rounds;
    const auto before = out.found.parents;
    const VectorXd residual = fit_dag(g, before, 0).residual;
    out.weights = residual.cwiseMax(1e-8 * g.diagonal());
    out.weights /= std::exp(out.weights.array().log().mean());
    out.penalty = each > 0 ? variance_scale(g, space, options, out.weights, monitor) * each : 0;
    run_search(g, space, options, rng, monitor, out);
    out.settled = out.found.parents == before;
  }
}

}  // namespace

ScoreOptions score_options(const CausalDagOptions& options) {
  ScoreOptions out;
  out.weights = options.weights;
  out.penalty = options.penalty;
  out.likelihood = options.weighting == DagWeights::likelihood;
  out.max_parents = options.n > 0 ? std::max(0, std::min(options.max_parents, options.n - 2)) : options.max_parents;
  out.threads = options.threads;
  return out;
}

DagSearchOptions search_options(const CausalDagOptions& options) {
  DagSearchOptions out;
  out.method = by_order(options.search) ? DagSearch::automatic : options.search;
  out.max_records = options.max_records;
  out.restarts = options.restarts;
  return out;
}

SearchSpace make_space(const SpaceSpec& spec) {
  const auto rows = [](const Eigen::MatrixXi& parent_of) {
    std::vector<Bitset> out(static_cast<std::size_t>(parent_of.cols()), Bitset(static_cast<int>(parent_of.rows())));
    for (Index j = 0; j < parent_of.cols(); ++j) {
      for (Index i = 0; i < parent_of.rows(); ++i) out[j].set(static_cast<int>(i), parent_of(i, j) != 0);
    }
    return out;
  };
  const Index p = spec.may.cols();
  for (const Eigen::MatrixXi* each : {&spec.may, &spec.must, &spec.moral}) {
    if (each == &spec.moral && each->size() == 0) continue;
    require(each->rows() == p && each->cols() == p, "the space of possible arcs must be given by square matrices of one size.");
  }
  SearchSpace out;
  out.may = rows(spec.may);
  out.must = rows(spec.must);
  if (spec.moral.size() > 0) out.moral = rows(spec.moral);
  return out;
}

CausalDagResult causal_dag(ConstMatrixRef g, const SearchSpace& space, const CausalDagOptions& options, Rng& rng, Monitor& monitor) {
  require(space.nodes() == g.cols() && options.weights.size() == g.cols(), "the space and the weights must fit the covariance.");
  refuse_wide(space, options.search);
  CausalDagResult out;
  out.weights = options.weights;
  out.penalty = penalty_of(g, space, options, monitor);
  run_search(g, space, options, rng, monitor, out);
  if (options.weighting == DagWeights::estimate) estimate_weights(g, space, options, rng, monitor, out);
  out.parents = out.found.parents;
  for (int v = 0; v < static_cast<int>(out.parents.size()); ++v) {
    if (options.n == 0 || options.prune == PruneRule::none || out.parents[v].empty()) continue;
    out.parents[v] = prune_parents(g, options.n, v, out.parents[v], space.must[v].members(), options.prune, options.alpha, monitor);
  }
  out.fit = fit_dag(g, out.parents, options.n);
  return out;
}

std::vector<ArcAlternative> arc_alternatives(ConstMatrixRef g, const SearchSpace& space, const std::vector<std::vector<int>>& parents,
                                             const CausalDagOptions& options, Monitor& monitor, Rng& rng) {
  const ScoreOptions scores = score_options(options);
  const ScoreTable table = score_parent_sets(g, space, scores, monitor).table;
  return arc_alternatives(g, space, table, parents, scores, search_options(options), monitor, rng);
}

DagRanking rank_dags(ConstMatrixRef g, const SearchSpace& space, const CausalDagOptions& options, Monitor& monitor, Rng& rng) {
  ScoreOptions scores = score_options(options);
  scores.dominated = true;
  return rank_dags(score_parent_sets(g, space, scores, monitor).table, options.k, search_options(options), monitor, rng);
}

}  // namespace granary::graph
