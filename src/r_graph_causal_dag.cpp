// Exports behind causal_dag(), best_dag() and dag_gap(). Conversion only: graph/causal_dag_*.h; the checks are in R/causal_dag.R.
#include <limits>

#include "core/graph/elimination.h"
#include "core/linalg/spd.h"
#include "graph/causal_dag_fit.h"
#include "graph/causal_dag_gap.h"
#include "graph/causal_dag_greedy.h"
#include "graph/causal_dag_ranking.h"
#include "graph/causal_dag_search.h"
#include "r_glue.h"
#include "r_graph_convert.h"

using namespace granary;
using namespace granary::graph;

namespace {

std::vector<Bitset> as_rows(const Rcpp::LogicalMatrix& parent_of) {  // entry (i, j): i may be a parent of j
  std::vector<Bitset> rows(parent_of.ncol(), Bitset(parent_of.nrow()));
  for (int j = 0; j < parent_of.ncol(); ++j) {
    for (int i = 0; i < parent_of.nrow(); ++i) rows[j].set(i, parent_of(i, j));
  }
  return rows;
}

SearchSpace as_space(const Rcpp::List& space) {
  SearchSpace out;
  out.may = as_rows(space["may"]);
  out.must = as_rows(space["must"]);
  if (!Rf_isNull(space["moral"])) out.moral = as_rows(space["moral"]);
  return out;
}

ScoreOptions as_scores(const Rcpp::List& settings) {
  ScoreOptions out;
  out.weights = Rcpp::as<VectorXd>(settings["weights"]);
  out.penalty = settings["penalty"];
  out.likelihood = settings["likelihood"];
  out.max_parents = settings["max_parents"];
  out.threads = settings["threads"];
  return out;
}

DagSearchOptions as_search(const Rcpp::List& settings) {
  DagSearchOptions out;
  const std::string search = settings["search"];
  out.method = search == "subset"   ? DagSearch::subset
               : search == "tree"   ? DagSearch::tree
               : search == "family" ? DagSearch::family
               : search == "order"  ? DagSearch::order
               : search == "greedy" ? DagSearch::greedy
                                    : DagSearch::automatic;
  out.max_records = settings["max_records"];
  out.restarts = settings["restarts"];
  return out;
}

Rcpp::List as_list(const std::vector<std::vector<int>>& sets) {
  Rcpp::List out(sets.size());
  for (std::size_t v = 0; v < sets.size(); ++v) out[v] = as_indices(sets[v]);
  return out;
}

std::vector<std::vector<int>> as_sets(const Rcpp::List& sets) {
  std::vector<std::vector<int>> out;
  for (R_xlen_t v = 0; v < sets.size(); ++v) out.push_back(from_indices(sets[v]));
  return out;
}

Rcpp::List as_list(const DagSearchResult& found) {
  const char* names[] = {"auto", "subset", "tree", "family", "order", "greedy"};
  const int count = static_cast<int>(found.components.size());
  Rcpp::IntegerVector size(count), width(count);
  Rcpp::CharacterVector method(count);
  Rcpp::LogicalVector exact(count);
  Rcpp::NumericVector records(count), orders(count);
  for (int c = 0; c < count; ++c) {
    size[c] = static_cast<int>(found.components[c].nodes.size());
    width[c] = found.components[c].width;
    method[c] = names[static_cast<int>(found.components[c].method)];
    exact[c] = found.components[c].exact;
    records[c] = found.components[c].records;
    orders[c] = found.components[c].orders;
  }
  return Rcpp::List::create(Rcpp::Named("parents") = as_list(found.parents), Rcpp::Named("score") = found.score,
                            Rcpp::Named("lower_bound") = found.lower_bound, Rcpp::Named("exact") = found.exact,
                            Rcpp::Named("size") = size, Rcpp::Named("width") = width, Rcpp::Named("method") = method,
                            Rcpp::Named("component_exact") = exact, Rcpp::Named("records") = records,
                            Rcpp::Named("orders") = orders, Rcpp::Named("seconds") = found.seconds);
}

Rcpp::List as_list(const DagRanking& ranking) {
  Rcpp::List dags(ranking.dags.size());
  Rcpp::NumericVector scores(ranking.dags.size());
  for (std::size_t d = 0; d < ranking.dags.size(); ++d) {
    dags[d] = as_list(ranking.dags[d].parents);
    scores[d] = ranking.dags[d].score;
  }
  return Rcpp::List::create(Rcpp::Named("parents") = dags, Rcpp::Named("scores") = scores, Rcpp::Named("exact") = ranking.exact);
}

// `sets[[v]]` a list of parent sets of node v, `scores[[v]]` their scores.
ScoreTable as_table(const Rcpp::List& sets, const Rcpp::List& scores, bool dominated) {
  ScoreTable table(sets.size());
  for (R_xlen_t v = 0; v < sets.size(); ++v) {
    const std::vector<std::vector<int>> list = as_sets(sets[v]);
    Bitset all(static_cast<int>(sets.size()));
    for (const auto& set : list) {
      for (int u : set) all.set(u);
    }
    ParentSets& entry = table[v];
    entry.candidates = all.members();
    entry.scores = Rcpp::as<std::vector<double>>(scores[v]);
    if (entry.candidates.size() > 62) {
      throw InputError(message("node ", v + 1, " has ", entry.candidates.size(), " candidate parents; at most 62 are possible."));
    }
    for (const auto& set : list) {
      std::uint64_t mask = 0;
      for (int u : set) mask |= std::uint64_t{1} << entry.position(u);
      entry.sets.push_back(mask);
    }
    drop_dominated(entry, dominated ? -std::numeric_limits<double>::infinity() : 0);
  }
  return table;
}

}  // namespace

// [[Rcpp::export(rng = false)]]
Rcpp::List core_causal_dag(const Eigen::Map<Eigen::MatrixXd> g, Rcpp::List space, Rcpp::List settings, Rcpp::NumericVector seed,
                           SEXP progress) {
  RMonitor monitor(progress);
  Rng rng = make_rng(seed);
  const ScoreResult scores = score_parent_sets(g, as_space(space), as_scores(settings), monitor);
  Rcpp::List out = as_list(search_dag(scores.table, as_search(settings), monitor, rng));
  out["limited"] = as_indices(scores.limited);
  out["limits"] = Rcpp::wrap(scores.limits);
  out["singular"] = as_indices(scores.singular);
  return out;
}

// The price of doing without each arc, of turning it, of leaving the pair apart.
// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd core_arc_alternatives(const Eigen::Map<Eigen::MatrixXd> g, Rcpp::List space, Rcpp::List settings,
                                      Rcpp::List parents, Rcpp::NumericVector seed, SEXP progress) {
  RMonitor monitor(progress);
  Rng rng = make_rng(seed);
  const SearchSpace where = as_space(space);
  const ScoreOptions options = as_scores(settings);
  const ScoreTable table = score_parent_sets(g, where, options, monitor).table;
  const auto arcs = arc_alternatives(g, where, table, as_sets(parents), options, as_search(settings), monitor, rng);
  MatrixXd out(arcs.size(), 5);
  for (std::size_t a = 0; a < arcs.size(); ++a) {
    out.row(a) << arcs[a].from + 1, arcs[a].to + 1, arcs[a].without, arcs[a].reversed, arcs[a].absent;
  }
  return out;
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_best_dag(Rcpp::List sets, Rcpp::List scores, Rcpp::List settings, Rcpp::NumericVector seed, SEXP progress) {
  RMonitor monitor(progress);
  Rng rng = make_rng(seed);
  return as_list(search_dag(as_table(sets, scores, false), as_search(settings), monitor, rng));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_rank_dags(const Eigen::Map<Eigen::MatrixXd> g, Rcpp::List space, Rcpp::List settings, int k,
                          Rcpp::NumericVector seed, SEXP progress) {
  RMonitor monitor(progress);
  Rng rng = make_rng(seed);
  ScoreOptions options = as_scores(settings);
  options.dominated = true;
  const ScoreTable table = score_parent_sets(g, as_space(space), options, monitor).table;
  return as_list(rank_dags(table, k, as_search(settings), monitor, rng));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_rank_scores(Rcpp::List sets, Rcpp::List scores, Rcpp::List settings, int k, Rcpp::NumericVector seed,
                            SEXP progress) {
  RMonitor monitor(progress);
  Rng rng = make_rng(seed);
  return as_list(rank_dags(as_table(sets, scores, true), k, as_search(settings), monitor, rng));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_dag_order(const Eigen::Map<Eigen::MatrixXd> g, Rcpp::List space, Rcpp::List settings, bool down, bool parents) {
  RMonitor monitor(R_NilValue);
  const SearchSpace where = as_space(space);
  const ScoreOptions options = as_scores(settings);
  const VariableOrder found = down ? top_down(g, options.weights, where, monitor) : bottom_up(g, options.weights, where, monitor);
  std::vector<std::vector<int>> chosen;
  if (parents) chosen = parents_given_order(g, found.order, where, options, monitor);
  return Rcpp::List::create(Rcpp::Named("order") = as_indices(found.order), Rcpp::Named("residual") = found.residual,
                            Rcpp::Named("parents") = as_list(chosen));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_dag_fit(const Eigen::Map<Eigen::MatrixXd> g, Rcpp::List parents, int n) {
  const DagFit fit = fit_dag(g, as_sets(parents), n);
  MatrixXd arcs(fit.arcs.size(), 4);
  for (std::size_t a = 0; a < fit.arcs.size(); ++a) {
    arcs.row(a) << fit.arcs[a].from + 1, fit.arcs[a].to + 1, fit.arcs[a].coefficient, fit.arcs[a].se;
  }
  return Rcpp::List::create(Rcpp::Named("arcs") = arcs, Rcpp::Named("residual") = fit.residual);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_dag_prune(const Eigen::Map<Eigen::MatrixXd> g, int n, Rcpp::List parents, Rcpp::List required, std::string rule,
                          double alpha) {
  RMonitor monitor(R_NilValue);
  std::vector<std::vector<int>> sets = as_sets(parents);
  const std::vector<std::vector<int>> keep = as_sets(required);
  const PruneRule how = rule == "bic" ? PruneRule::bic : rule == "lasso" ? PruneRule::lasso : PruneRule::t_test;
  for (std::size_t v = 0; v < sets.size(); ++v) {
    if (!sets[v].empty()) sets[v] = prune_parents(g, n, static_cast<int>(v), sets[v], keep[v], how, alpha, monitor);
  }
  return as_list(sets);
}

// [[Rcpp::export(rng = false)]]
double core_rescaled_gap(const Eigen::Map<Eigen::MatrixXd> g, Rcpp::List space, Eigen::VectorXd weights, Rcpp::List parents) {
  RMonitor monitor(R_NilValue);
  const std::vector<std::vector<int>> sets = as_sets(parents);
  std::vector<unsigned> truth;
  for (const auto& set : sets) {
    unsigned mask = 0;
    for (int u : set) mask |= 1u << u;
    truth.push_back(mask);
  }
  const int p = static_cast<int>(sets.size());
  const auto local = [&](int v, unsigned set) {
    std::vector<int> members;
    for (int u = 0; u < p; ++u) {
      if (set >> u & 1) members.push_back(u);
    }
    return residual_variance(g, v, members) / weights[v];
  };
  return rescaled_gap(p, truth, local, as_space(space).may, monitor);
}

// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd core_incomplete_moments(const Eigen::Map<Eigen::MatrixXd> x, bool pairwise) {
  return incomplete_moments(x, pairwise);
}

// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd core_nearest_psd(const Eigen::Map<Eigen::MatrixXd> a, double floor) { return nearest_psd(a, floor); }

// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd core_sim_sem(const Eigen::Map<Eigen::MatrixXd> b, Eigen::VectorXd sd, int n, std::string errors, double df,
                             Rcpp::NumericVector seed) {
  Rng rng = make_rng(seed);
  return simulate_sem(b, sd, n, errors, df, rng);
}

// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd core_total_effects(const Eigen::Map<Eigen::MatrixXd> b) { return total_effects(b); }

// The bags, the width of the elimination order (an upper bound of the treewidth, exact for chordal graphs), and the nice tree.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_tree_decomposition(int nodes, Rcpp::IntegerMatrix edges, std::string rule) {
  RMonitor monitor(R_NilValue);
  const MixedGraph graph = as_graph(nodes, edges);
  const Triangulation cover = triangulate(
      graph, elimination_order(graph, rule == "min_fill" ? EliminationRule::min_fill : EliminationRule::min_degree, monitor));
  const JunctionTree tree = junction_tree(cover);
  const std::vector<NiceNode> nice = nice_tree_decomposition(tree);
  Rcpp::IntegerMatrix links(static_cast<int>(tree.links.size()), 2);
  for (int l = 0; l < links.nrow(); ++l) {
    links(l, 0) = tree.links[l].a + 1;
    links(l, 1) = tree.links[l].b + 1;
  }
  const char* kinds[] = {"leaf", "introduce", "forget", "join"};
  Rcpp::CharacterVector kind(nice.size());
  Rcpp::IntegerMatrix shape(static_cast<int>(nice.size()), 3);
  Rcpp::List bags(nice.size());
  for (std::size_t t = 0; t < nice.size(); ++t) {
    kind[t] = kinds[static_cast<int>(nice[t].kind)];
    shape(t, 0) = nice[t].vertex + 1;
    shape(t, 1) = nice[t].left + 1;
    shape(t, 2) = nice[t].right + 1;
    bags[t] = as_indices(nice[t].bag);
  }
  return Rcpp::List::create(Rcpp::Named("bags") = as_list(cover.cliques), Rcpp::Named("links") = links,
                            Rcpp::Named("order") = as_indices(cover.order), Rcpp::Named("width") = cover.width,
                            Rcpp::Named("chordal") = is_chordal(graph), Rcpp::Named("kind") = kind, Rcpp::Named("shape") = shape,
                            Rcpp::Named("nice_bags") = bags);
}
