#include "eigen.h"
#include <algorithm>
#include <limits>
#include <numeric>

#include "core/graph/elimination.h"
#include "core/linalg/spd.h"
#include "graph/causal_dag_gap.h"
#include "graph/causal_dag_greedy.h"
#include "graph/causal_dag_ranking.h"
#include "graph/causal_dag_reach.h"
#include "graph/causal_dag_search.h"
#include "harness.h"

using namespace granary;
using namespace granary::graph;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::vector<int> members_of(unsigned set) {
  std::vector<int> out;
  for (; set; set &= set - 1) out.push_back(__builtin_ctz(set));
  return out;
}

SearchSpace space_of(const MixedGraph& graph) {
  SearchSpace space;
  for (int v = 0; v < graph.nodes(); ++v) space.may.push_back(graph.neighbours(v));
  return space;
}

MatrixXd random_covariance(int p, Rng& rng, int n = 0) {
  const MatrixXd x = MatrixXd::NullaryExpr(n ? n : 3 * p, p, [&] { return rng.normal(); });
  const MatrixXd mix = MatrixXd::Identity(p, p) + 0.4 * MatrixXd::NullaryExpr(p, p, [&] { return rng.normal(); });
  return (x * mix).transpose() * (x * mix) / static_cast<double>(x.rows());
}

// A linear SEM on a DAG: covariance (I - B)^-T Omega (I - B)^-1 with B(i, j) the weight of i -> j.
MatrixXd sem(const MatrixXd& b, const VectorXd& omega) {
  const Index p = b.rows();
  const MatrixXd inverse = (MatrixXd::Identity(p, p) - b).inverse();
  return inverse.transpose() * omega.asDiagonal() * inverse;
}

ScoreOptions plain(int p, double penalty = 0) {
  ScoreOptions options;
  options.weights = VectorXd::Ones(p);
  options.penalty = penalty;
  options.max_parents = p;
  return options;
}

double total(const ScoreTable& table, const std::vector<std::vector<int>>& parents) {
  double sum = 0;
  for (std::size_t v = 0; v < table.size(); ++v) {
    std::uint64_t allowed = 0;
    for (int u : parents[v]) {
      const int bit = table[v].position(u);
      if (bit < 0) return infinity;
      allowed |= std::uint64_t{1} << bit;
    }
    for (std::size_t k = 0; k < table[v].sets.size(); ++k) {
      if (table[v].sets[k] == allowed) sum += table[v].scores[k];
    }
  }
  return sum;
}

bool acyclic(const std::vector<std::vector<int>>& parents) {
  MixedGraph graph(static_cast<int>(parents.size()));
  for (int v = 0; v < graph.nodes(); ++v) {
    for (int u : parents[v]) {
      if (graph.adjacent(u, v)) return false;
      graph.add_directed(u, v);
    }
  }
  return is_dag(graph);
}

// Minimum over all orders of the nodes, parents from the raw definition of the score.
double brute_orders(const MatrixXd& g, const SearchSpace& space, const ScoreOptions& options) {
  const int p = space.nodes();
  std::vector<std::vector<double>> f(p, std::vector<double>(1u << p, infinity));
  for (int v = 0; v < p; ++v) {
    for (unsigned set = 0; set < (1u << p); ++set) {
      std::vector<int> parents;
      bool fits = !(set >> v & 1);
      for (int u = 0; u < p; ++u) {
        if (!(set >> u & 1)) {
          fits = fits && (space.must.empty() || !space.must[v].test(u));
          continue;
        }
        parents.push_back(u);
        fits = fits && space.may[v].test(u);
      }
      if (!space.moral.empty()) {
        for (int a : parents) {
          for (int b : parents) fits = fits && (a == b || space.moral[a].test(b));
        }
      }
      if (!fits || static_cast<int>(parents.size()) > options.max_parents) continue;
      const double r = residual_variance(g, v, parents);
      f[v][set] =
          (options.likelihood ? std::log(r) : r / options.weights[v]) + options.penalty * static_cast<double>(parents.size());
    }
    for (unsigned set = 0; set < (1u << p); ++set) {
      for (int u = 0; u < p; ++u) {
        if (set >> u & 1) f[v][set] = std::min(f[v][set], f[v][set ^ (1u << u)]);
      }
    }
  }
  std::vector<int> order(p);
  std::iota(order.begin(), order.end(), 0);
  double best = infinity;
  do {
    double sum = 0;
    unsigned before = 0;
    for (int v : order) {
      sum += f[v][before];
      before |= 1u << v;
    }
    best = std::min(best, sum);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

DagSearchResult search(const ScoreTable& table, DagSearch method) {
  Monitor monitor;
  Rng rng(1);
  DagSearchOptions options;
  options.method = method;
  return search_dag(table, options, monitor, rng);
}

MixedGraph ladder(int rungs) {
  MixedGraph graph(2 * rungs);
  for (int i = 0; i < rungs; ++i) {
    graph.add_undirected(2 * i, 2 * i + 1);
    if (i > 0) {
      graph.add_undirected(2 * i - 2, 2 * i);
      graph.add_undirected(2 * i - 1, 2 * i + 1);
    }
  }
  return graph;
}

}  // namespace

TEST("reachability on bytes agrees with a closure by repeated multiplication") {
  Rng rng(3);
  for (int repeat = 0; repeat < 200; ++repeat) {
    Reach r = 0;
    bool arc[8][8] = {};
    for (int i = 0; i < 8; ++i) {
      for (int j = 0; j < 8; ++j) {
        if (i != j && rng.bernoulli(0.15)) {
          arc[i][j] = true;
          r |= Reach{1} << (8 * i + j);
        }
      }
    }
    for (int round = 0; round < 8; ++round) {
      for (int i = 0; i < 8; ++i) {
        for (int j = 0; j < 8; ++j) {
          for (int k = 0; k < 8; ++k) arc[i][j] = arc[i][j] || (arc[i][k] && arc[k][j]);
        }
      }
    }
    bool cycle = false, same = true;
    const bool closed = close(r);
    for (int i = 0; i < 8; ++i) {
      cycle = cycle || arc[i][i];
      for (int j = 0; j < 8; ++j) same = same && arc[i][j] == ((r >> (8 * i + j) & 1) == 1);
    }
    CHECK(same && closed == !cycle);
    const int slot = static_cast<int>(rng.below(7));
    Reach small = erase_node(r, 7);
    CHECK(erase_node(insert_node(small, slot), slot) == small);
  }
}

TEST("scores of all parent sets are residual variances, with required parents and penalties") {
  Rng rng(5);
  Monitor monitor;
  const int p = 6;
  for (double scale : {1.0, 1e-8, 1e8}) {
    const MatrixXd g = scale * random_covariance(p, rng);
    SearchSpace space = space_of(MixedGraph::complete(p));
    space.must.assign(p, Bitset(p));
    space.must[2].set(4);
    const ScoreResult result = score_parent_sets(g, space, plain(p), monitor);
    for (int v = 0; v < p; ++v) {
      const ParentSets& sets = result.table[v];
      CHECK(sets.sets.size() == (v == 2 ? 16u : 32u));  // nothing is dominated without a penalty
      for (std::size_t k = 0; k < sets.sets.size(); ++k) {
        CHECK_NEAR(sets.scores[k] / scale, residual_variance(g, v, sets.members(sets.sets[k])) / scale, 1e-12);
        CHECK(k == 0 || sets.scores[k - 1] <= sets.scores[k]);
      }
    }
    // With a penalty, what is left out is no better than one of its subsets.
    const ScoreResult sparse = score_parent_sets(g, space, plain(p, 0.3 * scale), monitor);
    for (int v = 0; v < p; ++v) {
      for (unsigned set = 0; set < (1u << p); ++set) {
        if ((set >> v & 1) || (v == 2 && !(set >> 4 & 1))) continue;
        std::vector<int> members;
        std::uint64_t allowed = 0;
        for (int u = 0; u < p; ++u) {
          if (!(set >> u & 1)) continue;
          members.push_back(u);
          const int bit = sparse.table[v].position(u);
          if (bit >= 0) allowed |= std::uint64_t{1} << bit;
        }
        const double own = residual_variance(g, v, members) + 0.3 * scale * members.size();
        CHECK(sparse.table[v].scores[sparse.table[v].best_within(allowed)] <= own * (1 + 1e-12));
      }
    }
  }
}

TEST("singular sets are skipped and told") {
  Rng rng(6);
  Monitor monitor;
  MatrixXd x = MatrixXd::NullaryExpr(50, 4, [&] { return rng.normal(); });
  x.col(3) = x.col(0) + x.col(1);
  const MatrixXd g = x.transpose() * x / 50;
  const ScoreResult result = score_parent_sets(g, space_of(MixedGraph::complete(4)), plain(4), monitor);
  CHECK(result.singular.size() == 4);
  for (const ParentSets& sets : result.table) {
    for (double score : sets.scores) CHECK(std::isfinite(score) && score > 0);
  }
  SearchSpace bad = space_of(MixedGraph::complete(4));
  bad.must.assign(4, Bitset(4));
  bad.must[2] = Bitset(4, {0, 1, 3});
  CHECK_THROWS(score_parent_sets(g, bad, plain(4), monitor), InputError);
}

TEST("all exact searches find the best of the 25, 543 DAGs, whatever the superstructure") {
  Monitor monitor;
  CHECK(all_dags(2).size() == 3 && all_dags(3).size() == 25 && all_dags(4).size() == 543 && all_dags(5).size() == 29281);
  Rng rng(7);
  for (int repeat = 0; repeat < 40; ++repeat) {
    const int p = repeat % 2 ? 4 : 3;
    const MatrixXd g = random_covariance(p, rng);
    const MixedGraph graph = repeat < 20 ? MixedGraph::complete(p) : random_undirected_graph(p, 0.7, rng);
    ScoreOptions options = plain(p, repeat % 4 < 2 ? 0 : 0.1);
    options.likelihood = repeat % 5 == 0;
    for (bool moral : {false, true}) {
      SearchSpace space = space_of(graph);
      if (moral) space.moral = space.may;
      double brute = infinity;
      for (const auto& dag : all_dags(p)) {
        double sum = 0;
        for (int v = 0; v < p; ++v) {
          const std::vector<int> parents = members_of(dag[v]);
          bool fits = true;
          for (int u : parents) fits = fits && graph.adjacent(u, v);
          for (int a : parents) {
            for (int b : parents) fits = fits && (!moral || a == b || graph.adjacent(a, b));
          }
          if (!fits) {
            sum = infinity;
            break;
          }
          const double r = residual_variance(g, v, parents);
          sum += (options.likelihood ? std::log(r) : r) + options.penalty * parents.size();
        }
        brute = std::min(brute, sum);
      }
      const ScoreTable table = score_parent_sets(g, space, options, monitor).table;
      for (DagSearch method : {DagSearch::subset, DagSearch::tree, DagSearch::family, DagSearch::automatic}) {
        const DagSearchResult found = search(table, method);
        CHECK_NEAR(found.score, brute, 1e-9);
        CHECK(found.exact && acyclic(found.parents));
        CHECK_NEAR(total(table, found.parents), found.score, 1e-12);
      }
    }
  }
}

TEST("subsets, tree and families agree with all orders of up to seven nodes, with required and forbidden arcs") {
  Monitor monitor;
  Rng rng(8);
  for (int repeat = 0; repeat < 24; ++repeat) {
    const int p = 5 + repeat % 3;
    const MatrixXd g = random_covariance(p, rng);
    const MixedGraph graph = random_undirected_graph(p, 3.0 / p, rng);
    ScoreOptions options = plain(p, repeat % 2 ? 0 : 0.05);
    options.max_parents = repeat % 4 == 0 ? 2 : p;
    for (int v = 0; v < p; ++v) options.weights[v] = rng.uniform(0.5, 2);
    SearchSpace space = space_of(graph);
    if (repeat % 3 == 0) {
      space.must.assign(p, Bitset(p));
      for (int v = 0; v < p; ++v) {
        for (int u = 0; u < p; ++u) {
          if (u > v && space.may[v].test(u) && rng.bernoulli(0.2) && space.must[v].count() < 2)
            space.must[v].set(u);  // along one order
          if (space.may[v].test(u) && !space.must[v].test(u) && rng.bernoulli(0.2)) space.may[v].reset(u);
        }
      }
    }
    const double brute = brute_orders(g, space, options);
    const ScoreTable table = score_parent_sets(g, space, options, monitor).table;
    for (DagSearch method : {DagSearch::subset, DagSearch::tree, DagSearch::family}) {
      const DagSearchResult found = search(table, method);
      CHECK_NEAR(found.score, brute, 1e-9);
      CHECK(acyclic(found.parents));
      CHECK_NEAR(total(table, found.parents), found.score, 1e-12);
    }
    for (DagSearch method : {DagSearch::order, DagSearch::greedy}) {
      const DagSearchResult found = search(table, method);
      CHECK(found.score >= brute - 1e-9 && acyclic(found.parents));
      CHECK(found.lower_bound <= brute + 1e-9);
      if (method == DagSearch::order) CHECK_NEAR(found.score, brute, 0.02 * std::abs(brute));
    }
  }
}

TEST("tree equals subsets on graphs of 10 to 14 nodes of small width, and on penalised complete ones") {
  Monitor monitor;
  Rng rng(9);
  for (int repeat = 0; repeat < 12; ++repeat) {
    const int p = 10 + repeat % 5;
    const MatrixXd g = random_covariance(p, rng, 200);
    MixedGraph graph = repeat < 8 ? random_undirected_graph(p, 2.2 / p, rng) : ladder(p / 2);
    const int nodes = graph.nodes();
    ScoreOptions options = plain(nodes, repeat % 2 ? 0 : 0.01);
    const ScoreTable table = score_parent_sets(g.topLeftCorner(nodes, nodes), space_of(graph), options, monitor).table;
    const DagSearchResult subset = search(table, DagSearch::subset), tree = search(table, DagSearch::tree);
    CHECK_NEAR(subset.score, tree.score, 1e-9);
    CHECK(acyclic(tree.parents));
  }
}

TEST("Theorem 7: on the population covariance the true DAG is the unique minimum, at alpha p") {
  Monitor monitor;
  Rng rng(10);
  for (int repeat = 0; repeat < 10; ++repeat) {
    const int p = 6;
    const MixedGraph dag = random_dag(p, 0.4, rng);
    MatrixXd b = MatrixXd::Zero(p, p);
    VectorXd omega(p);
    for (int v = 0; v < p; ++v) {
      omega[v] = rng.uniform(0.3, 3);
      for (int u : dag.parents(v)) b(u, v) = rng.uniform(0.3, 1.5) * (rng.bernoulli(0.5) ? 1 : -1);
    }
    const double alpha = rng.uniform(0.2, 5);
    const MatrixXd g = sem(b, alpha * omega);
    ScoreOptions options = plain(p);
    options.weights = omega;
    const ScoreTable table = score_parent_sets(g, space_of(MixedGraph::complete(p)), options, monitor).table;
    const DagSearchResult found = search(table, DagSearch::subset);
    CHECK_NEAR(found.score, alpha * p, 1e-9 * p);
    for (int v = 0; v < p; ++v) CHECK(found.parents[v] == dag.parents(v).members());  // sets that gain nothing are dropped
    const VariableOrder down = top_down(g, omega, space_of(MixedGraph::complete(p)), monitor);
    const VariableOrder up = bottom_up(g, omega, space_of(MixedGraph::complete(p)), monitor);
    for (const VariableOrder* order : {&down, &up}) {
      std::vector<int> place(p);
      for (int i = 0; i < p; ++i) place[order->order[i]] = i;
      for (int v = 0; v < p; ++v) {
        CHECK_NEAR(order->residual[v], alpha, 1e-9);
        for (int u : dag.parents(v)) CHECK(place[u] < place[v]);
      }
    }
    const auto parents = parents_given_order(g, down.order, space_of(MixedGraph::complete(p)), options, monitor);
    for (int v = 0; v < p; ++v) CHECK(parents[v] == dag.parents(v).members());
  }
}

TEST("gaps by one search per arc equal the enumeration, and equation (15) and Lemma 13") {
  Monitor monitor;
  Rng rng(11);
  for (int repeat = 0; repeat < 8; ++repeat) {
    const int p = 4;
    const MixedGraph dag = random_dag(p, 0.6, rng);
    if (dag.edges() == 0) continue;
    MatrixXd b = MatrixXd::Zero(p, p);
    VectorXd omega(p);
    std::vector<unsigned> truth(p, 0);
    for (int v = 0; v < p; ++v) {
      omega[v] = rng.uniform(0.5, 2);
      for (int u : dag.parents(v)) {
        b(u, v) = rng.uniform(0.3, 1.2);
        truth[v] |= 1u << u;
      }
    }
    const MatrixXd g = sem(b, omega);
    ScoreOptions options = plain(p);
    options.weights = omega;
    const SearchSpace space = space_of(MixedGraph::complete(p));
    const ScoreTable table = score_parent_sets(g, space, options, monitor).table;
    const auto local = [&](int v, unsigned set) {
      std::vector<int> parents;
      for (int u = 0; u < p; ++u) {
        if (set >> u & 1) parents.push_back(u);
      }
      return residual_variance(g, v, parents) / omega[v];
    };
    double brute = infinity;
    for (const auto& other : all_dags(p)) {
      bool contains = true;
      double sum = 0;
      for (int v = 0; v < p; ++v) {
        contains = contains && !(truth[v] & ~other[v]);
        sum += local(v, other[v]);
      }
      if (!contains) brute = std::min(brute, sum - p);
    }
    double gap = infinity;
    for (int v = 0; v < p; ++v) {
      for (int u : dag.parents(v)) gap = std::min(gap, best_without(table, u, v, DagSearchOptions(), monitor, rng) - p);
    }
    CHECK_NEAR(gap, brute, 1e-9);
    const double gamma = rescaled_gap(p, truth, local, space.may, monitor);
    CHECK(gamma > 0 && gamma <= gap && gamma >= gap / p - 1e-12);
  }
}

TEST("linear in p on ladders; width and refusal") {
  Monitor monitor;
  Rng rng(12);
  double per_node[2];
  int at = 0;
  for (int rungs : {25, 100}) {
    const int p = 2 * rungs;
    const MatrixXd g = random_covariance(p, rng, 3 * p);
    const ScoreTable table = score_parent_sets(g, space_of(ladder(rungs)), plain(p), monitor).table;
    const DagSearchResult found = search(table, DagSearch::tree);
    CHECK(found.exact && found.components.size() == 1 && found.components[0].width == 2 && acyclic(found.parents));
    per_node[at++] = found.components[0].records / p;
  }
  CHECK(per_node[1] < 1.2 * per_node[0]);
  const int p = 30;
  const MatrixXd g = random_covariance(p, rng, 100);
  ScoreOptions options = plain(p);
  options.max_parents = 2;
  const ScoreTable wide = score_parent_sets(g, space_of(MixedGraph::complete(p)), options, monitor).table;
  CHECK_THROWS(search(wide, DagSearch::tree), InputError);
  CHECK_THROWS(search(wide, DagSearch::family), InputError);
  CHECK_THROWS(search(wide, DagSearch::subset), InputError);
}

TEST("arcs that cannot be satisfied are an error in every search") {
  Monitor monitor;
  Rng rng(13);
  const MatrixXd g = random_covariance(3, rng);
  SearchSpace space = space_of(MixedGraph::complete(3));
  space.must.assign(3, Bitset(3));
  space.must[0].set(1);
  space.must[1].set(2);
  space.must[2].set(0);
  const ScoreTable table = score_parent_sets(g, space, plain(3), monitor).table;
  for (DagSearch method : {DagSearch::subset, DagSearch::tree, DagSearch::family, DagSearch::order, DagSearch::greedy}) {
    CHECK_THROWS(search(table, method), InputError);
  }
}

TEST("nodes with many candidates: fewer parents, and the same scores by both ways of storing") {
  Monitor monitor;
  Rng rng(14);
  const int p = 26;
  const MatrixXd g = random_covariance(p, rng, 300);
  SearchSpace space = space_of(MixedGraph::complete(p));
  ScoreOptions options = plain(p, 0.02);
  options.max_parents = 3;
  const ScoreResult result = score_parent_sets(g, space, options, monitor);
  CHECK(result.limited.empty());
  for (std::size_t k = 0; k < std::min<std::size_t>(20, result.table[0].sets.size()); ++k) {
    const std::vector<int> members = result.table[0].members(result.table[0].sets[k]);
    CHECK_NEAR(result.table[0].scores[k], residual_variance(g, 0, members) + 0.02 * members.size(), 1e-10);
  }
  ParentSets copy = result.table[0];
  drop_dominated(copy, 0);
  CHECK(copy.sets == result.table[0].sets);
  options.max_sets = 100;
  const ScoreResult limited = score_parent_sets(g, space, options, monitor);
  CHECK(limited.limited.size() == static_cast<std::size_t>(p) && limited.limits[0] == 1);
}

TEST("the same table at one and two threads") {
  Monitor monitor;
  Rng rng(15);
  const MatrixXd g = random_covariance(8, rng);
  ScoreOptions options = plain(8, 0.05);
  const ScoreTable one = score_parent_sets(g, space_of(MixedGraph::complete(8)), options, monitor).table;
  options.threads = 2;
  const ScoreTable two = score_parent_sets(g, space_of(MixedGraph::complete(8)), options, monitor).table;
  for (int v = 0; v < 8; ++v) CHECK(one[v].sets == two[v].sets && one[v].scores == two[v].scores);
}

TEST("the ranking lists all 25, 543 DAGs once, by score; the first k are the same; components are merged") {
  Monitor monitor;
  Rng rng(31);
  for (int p : {3, 4}) {
    for (double penalty : {0.0, 0.1}) {
      const MatrixXd g = random_covariance(p, rng);
      ScoreOptions options = plain(p, penalty);
      options.dominated = true;
      const ScoreTable table = score_parent_sets(g, space_of(MixedGraph::complete(p)), options, monitor).table;
      for (const ParentSets& sets : table) CHECK(sets.sets.size() == std::size_t{1} << (p - 1));
      std::vector<double> scores;
      for (const auto& dag : all_dags(p)) {
        double sum = 0;
        for (int v = 0; v < p; ++v) {
          const std::vector<int> parents = members_of(dag[v]);
          sum += residual_variance(g, v, parents) + penalty * static_cast<double>(parents.size());
        }
        scores.push_back(sum);
      }
      std::sort(scores.begin(), scores.end());
      for (DagSearch method : {DagSearch::subset, DagSearch::tree}) {
        DagSearchOptions search;
        search.method = method;
        const DagRanking all = rank_dags(table, 1000, search, monitor, rng);
        CHECK(all.exact && all.dags.size() == scores.size());
        double worst = 0;
        std::vector<std::vector<std::vector<int>>> seen;
        for (std::size_t d = 0; d < all.dags.size(); ++d) {
          worst = std::max(worst, std::abs(all.dags[d].score - scores[d]));
          seen.push_back(all.dags[d].parents);
        }
        CHECK_NEAR(worst, 0, 1e-10);
        std::sort(seen.begin(), seen.end());
        CHECK(std::unique(seen.begin(), seen.end()) == seen.end());
        const DagRanking few = rank_dags(table, 7, search, monitor, rng);
        CHECK(few.dags.size() == 7);
        for (int d = 0; d < 7; ++d) CHECK_NEAR(few.dags[d].score, scores[d], 1e-10);
      }
    }
  }
  // Two components of two nodes: nine DAGs, whose scores are the sums of those of the parts.
  const MatrixXd g = random_covariance(4, rng);
  MixedGraph two(4);
  two.add_undirected(0, 2);
  two.add_undirected(1, 3);
  ScoreOptions options = plain(4, 0.05);
  options.dominated = true;
  const ScoreTable table = score_parent_sets(g, space_of(two), options, monitor).table;
  const DagRanking ranked = rank_dags(table, 20, {}, monitor, rng);
  CHECK(ranked.dags.size() == 9);
  for (const RankedDag& dag : ranked.dags) CHECK_NEAR(dag.score, total(table, dag.parents), 1e-12);
  for (std::size_t d = 1; d < ranked.dags.size(); ++d) CHECK(ranked.dags[d - 1].score <= ranked.dags[d].score);
  CHECK_THROWS(rank_dags(table, 0, {}, monitor, rng), InputError);
}

TEST("orders that reach the optimum are counted") {
  Monitor monitor;
  Rng rng(32);
  for (int round = 0; round < 12; ++round) {
    const int p = 3 + round % 3;
    const bool flat = round % 4 == 0;  // independent variables of equal variance: every order is optimal
    const MatrixXd g = flat ? MatrixXd(MatrixXd::Identity(p, p)) : random_covariance(p, rng);
    const ScoreTable table = score_parent_sets(g, space_of(MixedGraph::complete(p)), plain(p, 0.1), monitor).table;
    std::vector<int> order(p);
    std::iota(order.begin(), order.end(), 0);
    double best = infinity;
    int count = 0, all = 0;
    do {
      double sum = 0;
      std::vector<bool> placed(p, false);
      for (int v : order) {
        std::uint64_t allowed = 0;
        for (std::size_t c = 0; c < table[v].candidates.size(); ++c) {
          if (placed[table[v].candidates[c]]) allowed |= std::uint64_t{1} << c;
        }
        sum += table[v].scores[table[v].best_within(allowed)];
        placed[v] = true;
      }
      if (sum < best - 1e-9) count = 0;
      best = std::min(best, sum);
      count += sum <= best + 1e-9;
      ++all;
    } while (std::next_permutation(order.begin(), order.end()));
    std::vector<int> nodes(p);
    std::iota(nodes.begin(), nodes.end(), 0);
    Choice chosen(p, 0);
    const double orders = subset_search(table, nodes, chosen, monitor);
    CHECK_NEAR(orders, count, 1e-9);
    if (flat) CHECK_NEAR(orders, all, 1e-9);
  }
}
