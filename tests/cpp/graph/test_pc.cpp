#include "eigen.h"
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "core/graph/markov_equivalence.h"
#include "core/graph/separation.h"
#include "core/graph/subsets.h"
#include "graph/contingency.h"
#include "graph/fci.h"
#include "graph/ida.h"
#include "graph/mixed_test.h"
#include "graph/partial_correlation.h"
#include "graph/sim_dag.h"
#include "harness.h"

using namespace granary;
using namespace granary::graph;

namespace {

std::vector<int> range(int n) {
  std::vector<int> v(n);
  for (int i = 0; i < n; ++i) v[i] = i;
  return v;
}

MatrixXd draw_data(int n, int p, Rng& rng) {
  MatrixXd x(n, p);
  for (int j = 0; j < p; ++j) {
    for (int i = 0; i < n; ++i) x(i, j) = rng.normal();
    for (int k = 0; k < j; ++k) x.col(j) += 0.3 * x.col(k);
  }
  return x;
}

// Partial correlation by least squares: the correlation of residuals.
double by_residuals(const MatrixXd& x, int i, int j, const std::vector<int>& given) {
  MatrixXd z(x.rows(), given.size() + 1);
  z.col(0).setOnes();
  for (std::size_t k = 0; k < given.size(); ++k) z.col(k + 1) = x.col(given[k]);
  const auto residual = [&](int v) {
    const VectorXd b = (z.transpose() * z).inverse() * (z.transpose() * x.col(v));
    return VectorXd(x.col(v) - z * b);
  };
  const VectorXd a = residual(i), b = residual(j);
  return a.dot(b) / (a.norm() * b.norm());
}

// Asks for all m-separations among the observed nodes, in a fixed order, until `use` returns false.
template <class Use>
bool each_separation(const MixedGraph& graph, const std::vector<int>& observed, const std::vector<int>& always, Use use) {
  const int p = static_cast<int>(observed.size());
  for (int i = 0; i < p; ++i) {
    for (int j = i + 1; j < p; ++j) {
      for (AllSubsets s(p); s.valid(); s.next()) {
        if (s.contains(i) || s.contains(j)) continue;
        Bitset given(graph.nodes(), always);
        for (int k = 0; k < p; ++k) {
          if (s.contains(k)) given.set(observed[k]);
        }
        if (!use(m_separated(graph, observed[i], observed[j], given))) return false;
      }
    }
  }
  return true;
}

std::vector<bool> separations(const MixedGraph& graph, const std::vector<int>& observed, const std::vector<int>& always) {
  std::vector<bool> answers;
  each_separation(graph, observed, always, [&](bool apart) {
    answers.push_back(apart);
    return true;
  });
  return answers;
}

bool has_separations(const MixedGraph& graph, const std::vector<bool>& wanted) {
  std::size_t at = 0;
  return each_separation(graph, range(graph.nodes()), {}, [&](bool apart) { return wanted[at++] == apart; });
}

bool ancestral(const MixedGraph& g) {
  if (!directed_cycle(g).empty()) return false;
  for (int i = 0; i < g.nodes(); ++i) {
    const Bitset above = ancestors(g, Bitset(g.nodes(), {i}));
    if (g.spouses(i).intersects(above)) return false;  // i <-> an ancestor of i
    if (g.undirected_neighbours(i).any() && g.arrows_at(i).any()) return false;
  }
  return true;
}

// The PAG by brute force: every ancestral graph on the right skeleton with the given separations; marks they all share are kept.
MixedGraph brute_force_pag(const MixedGraph& dag, const std::vector<int>& observed, const std::vector<int>& selection) {
  const int p = static_cast<int>(observed.size());
  const std::vector<bool> truth = separations(dag, observed, selection);
  std::vector<std::pair<int, int>> edges;
  std::size_t at = 0;
  for (int i = 0; i < p; ++i) {
    for (int j = i + 1; j < p; ++j) {
      const std::size_t sets = std::size_t{1} << (p - 2);
      bool apart = false;
      for (std::size_t s = 0; s < sets; ++s) apart = apart || truth[at + s];
      at += sets;
      if (!apart) edges.push_back({i, j});
    }
  }
  const std::array<std::pair<Mark, Mark>, 4> kinds{
      {{Mark::tail, Mark::arrow}, {Mark::arrow, Mark::tail}, {Mark::arrow, Mark::arrow}, {Mark::tail, Mark::tail}}};
  const int choices = selection.empty() ? 3 : 4;
  std::int64_t total = 1;
  for (std::size_t e = 0; e < edges.size(); ++e) total *= choices;
  MixedGraph pag(p);
  bool first = true;
  for (std::int64_t code = 0; code < total; ++code) {
    MixedGraph g(p);
    std::int64_t rest = code;
    for (const auto& e : edges) {
      const auto& kind = kinds[rest % choices];
      rest /= choices;
      g.set_edge(e.first, e.second, kind.first, kind.second);
    }
    if (!ancestral(g) || !has_separations(g, truth)) continue;
    for (const auto& e : edges) {
      const Mark a = g.mark(e.second, e.first), b = g.mark(e.first, e.second);
      if (first) {
        pag.set_edge(e.first, e.second, a, b);
      } else {
        if (pag.mark(e.second, e.first) != a) pag.set_mark(e.second, e.first, Mark::circle);
        if (pag.mark(e.first, e.second) != b) pag.set_mark(e.first, e.second, Mark::circle);
      }
    }
    first = false;
  }
  CHECK(!first);  // the marginal ancestral graph itself is among them
  return pag;
}

}  // namespace

TEST("pc: partial correlations equal correlations of residuals, in any order of sets") {
  Rng rng(1);
  Monitor monitor;
  const MatrixXd x = draw_data(40, 8, rng);
  const MatrixXd c = correlation_matrix(x, 1, monitor);
  PartialCorrelation r(c);
  for (int size = 0; size <= 5; ++size) {
    for (KSubsets s(6, size); s.valid(); s.next()) {
      std::vector<int> given;
      for (int k : s.indices()) given.push_back(k + 2);
      CHECK_NEAR(r(0, 1, given), by_residuals(x, 0, 1, given), 1e-10);
    }
  }
  CHECK(r.dependent().empty());
  CHECK_NEAR(r(3, 5, {0, 1}), by_residuals(x, 3, 5, {0, 1}), 1e-10);
  for (double scale : {1e-8, 1e8}) {
    const MatrixXd scaled = correlation_matrix(scale * x, 2, monitor);
    CHECK_NEAR((scaled - c).cwiseAbs().maxCoeff(), 0, 1e-13);
  }
  CHECK_THROWS(correlation_matrix(MatrixXd::Ones(5, 2), 1, monitor), InputError);
}

TEST("pc: singular correlation matrices are handled as by the pseudo-inverse") {
  Rng rng(2);
  Monitor monitor;
  MatrixXd x = draw_data(50, 6, rng);
  x.col(4) = x.col(2) + x.col(3);  // linear function of two
  x.col(5) = x.col(2);             // duplicate
  const MatrixXd c = correlation_matrix(x, 1, monitor);
  PartialCorrelation r(c);
  CHECK_NEAR(r(0, 1, {2, 3, 4}), by_residuals(x, 0, 1, {2, 3}), 1e-7);
  CHECK(r.dependent() == std::vector<int>{4});
  CHECK_NEAR(r(0, 1, {2, 5}), by_residuals(x, 0, 1, {2}), 1e-7);
  CHECK_NEAR(r(0, 5, {2}), 0, 0);
  CHECK_NEAR(r(0, 4, {2, 3}), 0, 0);
  GaussTest test(c, 50);
  auto session = test.session();
  CHECK(session->evidence(2, 5, {}) > test.cut(1e-12));
  session->evidence(0, 1, {2, 5});
  CHECK(test.degenerate() == std::vector<int>{5});
  CHECK(test.largest_set() == 46);
  CHECK_THROWS(GaussTest(c, 3), InputError);
}

TEST("pc: Spearman and Kendall correlations of a copula") {
  Rng rng(3);
  Monitor monitor;
  MatrixXd x = draw_data(30, 3, rng);
  x(0, 0) = x(1, 0);  // a tie
  const MatrixXd tau = copula_correlation(x, true, 1, monitor);
  double both = 0, one = 0, other = 0;
  for (int a = 0; a < 30; ++a) {
    for (int b = a + 1; b < 30; ++b) {
      const auto sign = [&](int v) { return x(a, v) > x(b, v) ? 1 : x(a, v) < x(b, v) ? -1 : 0; };
      both += sign(0) * sign(1);
      one += sign(0) * sign(0);
      other += sign(1) * sign(1);
    }
  }
  CHECK_NEAR(tau(0, 1), std::sin(std::acos(-1.0) / 2 * both / std::sqrt(one * other)), 1e-12);
  const MatrixXd rho = copula_correlation(x, false, 1, monitor);
  const MatrixXd grown = copula_correlation(x.array().exp().matrix(), false, 1, monitor);
  CHECK_NEAR((rho - grown).cwiseAbs().maxCoeff(), 0, 1e-12);
}

TEST("pc: tests per row with missing values use complete rows only") {
  Rng rng(4);
  Monitor monitor;
  MatrixXd x = draw_data(60, 4, rng);
  const GaussRowsTest full(x);
  const MatrixXd c = correlation_matrix(x, 1, monitor);
  const GaussTest plain(c, 60);
  CHECK_NEAR(full.session()->evidence(0, 1, {2, 3}), plain.session()->evidence(0, 1, {2, 3}), 1e-9);
  MatrixXd holed = x;
  holed(0, 0) = holed(1, 2) = std::nan("");
  const GaussRowsTest some(holed);
  const MatrixXd complete = x.bottomRows(58), known = x.bottomRows(59);
  const MatrixXd c58 = correlation_matrix(complete, 1, monitor), c59 = correlation_matrix(known, 1, monitor);
  CHECK_NEAR(some.session()->evidence(0, 1, {2}), GaussTest(c58, 58).session()->evidence(0, 1, {2}), 1e-9);
  CHECK_NEAR(some.session()->evidence(0, 1, {3}), GaussTest(c59, 59).session()->evidence(0, 1, {3}), 1e-9);
}

TEST("pc: G-squared and chi-squared against a table worked by hand") {
  // 2 x 2: 10 20 / 30 40
  std::vector<int> x, y, s;
  const auto put = [&](int a, int b, int c, int count) {
    for (int k = 0; k < count; ++k) {
      x.push_back(a);
      y.push_back(b);
      s.push_back(c);
    }
  };
  put(0, 0, 0, 10);
  put(0, 1, 0, 20);
  put(1, 0, 0, 30);
  put(1, 1, 0, 40);
  put(0, 0, 1, 5);  // in the second stratum x does not vary
  put(0, 1, 1, 5);
  ContingencyOptions options;
  const ContingencyTest g2({x, y, s}, {2, 2, 2}, options);
  const double expected[] = {12, 18, 28, 42}, seen[] = {10, 20, 30, 40};
  double g = 0, c = 0;
  for (int k = 0; k < 4; ++k) {
    g += 2 * seen[k] * std::log(seen[k] / expected[k]);
    c += (seen[k] - expected[k]) * (seen[k] - expected[k]) / expected[k];
  }
  const ContingencyResult r = g2.result(0, 1, {2});
  CHECK_NEAR(r.statistic, g, 1e-12);
  CHECK_NEAR(r.df, 1, 0);  // adjusted: the second stratum has none
  CHECK_NEAR(r.p_value, std::erfc(std::sqrt(g / 2)), 1e-12);
  options.statistic = ContingencyOptions::Statistic::x2;
  options.adjust_df = false;
  const ContingencyResult pearson = ContingencyTest({x, y, s}, {2, 2, 2}, options).result(0, 1, {2});
  CHECK_NEAR(pearson.statistic, c, 1e-12);
  CHECK_NEAR(pearson.df, 2, 0);
  options.sparse = ContingencyOptions::Sparse::dependent;
  options.rows_per_df = 1000;
  CHECK_NEAR(ContingencyTest({x, y, s}, {2, 2, 2}, options).result(0, 1, {2}).p_value, 0, 0);
  CHECK_THROWS(ContingencyTest({x, y}, {1, 2}, options), InputError);
}

TEST("pc: the mixed test is G-squared, a partial correlation, or analysis of variance") {
  Rng rng(5);
  const int n = 80;
  MatrixXd x(n, 4);
  std::vector<std::vector<int>> codes(2, std::vector<int>(n));
  for (int r = 0; r < n; ++r) {
    codes[0][r] = static_cast<int>(rng.below(3));
    codes[1][r] = static_cast<int>(rng.below(2));
    x(r, 0) = codes[0][r];
    x(r, 1) = codes[1][r];
    x(r, 2) = rng.normal() + 0.3 * codes[0][r];
    x(r, 3) = rng.normal() + 0.3 * x(r, 2);
  }
  const MixedTest mixed(x, {3, 2, 0, 0});
  auto session = mixed.session();
  CHECK_NEAR(-session->evidence(0, 1, {}), ContingencyTest(codes, {3, 2}, {}).result(0, 1, {}).p_value, 1e-10);
  // Two continuous: -n log(1 - r^2) on one degree of freedom.
  const double r = by_residuals(x, 2, 3, {});
  CHECK_NEAR(-session->evidence(2, 3, {}), std::erfc(std::sqrt(-n * std::log(1 - r * r) / 2)), 1e-10);
  // One of each: n log(total / within), here with two groups, so one degree of freedom.
  double sum[2] = {0, 0}, size[2] = {0, 0}, within = 0;
  for (int k = 0; k < n; ++k) {
    sum[codes[1][k]] += x(k, 2);
    size[codes[1][k]] += 1;
  }
  for (int k = 0; k < n; ++k) within += std::pow(x(k, 2) - sum[codes[1][k]] / size[codes[1][k]], 2);
  const double total = (x.col(2).array() - x.col(2).mean()).square().sum();
  CHECK_NEAR(-session->evidence(1, 2, {}), std::erfc(std::sqrt(n * std::log(total / within) / 2)), 1e-10);
}

TEST("pc: every version returns the CPDAG under an oracle") {
  Monitor monitor;
  Rng rng(6);
  for (int round = 0; round < 300; ++round) {
    const MixedGraph dag = random_dag(7, 0.2 + 0.3 * rng.uniform(), rng);
    const SeparationTest test(dag, range(7), {});
    const MixedGraph truth = dag_to_cpdag(dag);
    for (bool stable : {true, false}) {
      for (ColliderRule colliders : {ColliderRule::standard, ColliderRule::conservative, ColliderRule::majority}) {
        for (ConflictRule conflicts : {ConflictRule::lists, ConflictRule::overwrite, ConflictRule::first}) {
          PcOptions options;
          options.search.stable = stable;
          options.colliders.rule = colliders;
          options.conflicts = conflicts;
          const ConstraintResult fit = pc(test, {}, options, monitor);
          CHECK(fit.graph == truth);
          CHECK(fit.ambiguous.empty() && fit.conflicts.empty());
        }
      }
    }
  }
}

TEST("pc: fci is the PAG of all equivalent ancestral graphs, by enumeration") {
  Monitor monitor;
  Rng rng(7);
  int superset = 0, equal = 0;
  for (int round = 0; round < 200; ++round) {
    const int hidden = 1 + static_cast<int>(rng.below(3)), seen = 4 + (round % 8 == 0);
    const int nodes = seen + hidden;
    const MixedGraph dag = random_dag(nodes, 0.25 + 0.25 * rng.uniform(), rng);
    std::vector<int> order = rng.permutation(nodes);
    std::vector<int> observed(order.begin(), order.begin() + seen);
    std::sort(observed.begin(), observed.end());
    const SeparationTest test(dag, observed, {});
    const MixedGraph truth = brute_force_pag(dag, observed, {});
    for (bool stable : {true, false}) {
      for (ColliderRule colliders : {ColliderRule::standard, ColliderRule::conservative, ColliderRule::majority}) {
        for (bool lists : {true, false}) {
          FciOptions options;
          options.search.stable = stable;
          options.colliders.rule = colliders;
          options.first_colliders = stable ? ColliderRule::conservative : ColliderRule::standard;
          options.rules.lists = lists;
          CHECK(fci(test, {}, options, monitor).graph == truth);
          const MixedGraph fast = rfci(test, {}, options, monitor).graph;
          for (int i = 0; i < seen; ++i) superset += !truth.neighbours(i).is_subset_of(fast.neighbours(i));
          equal += fast == truth;
        }
      }
    }
  }
  CHECK(superset == 0);
  CHECK(equal == 200 * 12);  // with so few nodes RFCI loses nothing
}

TEST("pc: the rules for selection bias, by enumeration") {
  Monitor monitor;
  Rng rng(8);
  for (int round = 0; round < 40; ++round) {
    // Four observed nodes; five selection nodes, each with two of them as parents.
    MixedGraph dag(9);
    for (int i = 0; i < 4; ++i) {
      for (int j = i + 1; j < 4; ++j) {
        if (rng.bernoulli(0.2)) dag.add_directed(i, j);
      }
    }
    std::vector<int> selection;
    for (int s = 4; s < 9; ++s) {
      for (int parent : rng.sample_without_replacement(4, 2)) dag.add_directed(parent, s);
      selection.push_back(s);
    }
    const SeparationTest test(dag, range(4), selection);
    FciOptions options;
    options.rules.selection = true;
    const MixedGraph truth = brute_force_pag(dag, range(4), selection);
    for (bool lists : {true, false}) {
      options.rules.lists = lists;
      CHECK(fci(test, {}, options, monitor).graph == truth);
    }
  }
  // A chordless cycle of undirected edges through selection: R5.
  MixedGraph cycle(10);
  for (int k = 0; k < 5; ++k) {
    cycle.add_directed(k, 5 + k);
    cycle.add_directed((k + 1) % 5, 5 + k);
  }
  FciOptions options;
  options.rules.selection = true;
  const MixedGraph ring = fci(SeparationTest(cycle, range(5), {5, 6, 7, 8, 9}), {}, options, monitor).graph;
  CHECK(ring.edges() == 5 && ring.all_undirected());
}

TEST("pc: larger graphs with hidden variables: fci agrees between versions, rfci has no edge less") {
  Monitor monitor;
  Rng rng(9);
  int same = 0, rounds = 0;
  for (int round = 0; round < 30; ++round) {
    const MixedGraph dag = random_dag(14, 0.18, rng);
    const std::vector<int> hidden = choose_latents(dag, rng);
    if (hidden.empty()) continue;
    std::vector<int> observed;
    for (int i = 0; i < 14; ++i) {
      if (std::find(hidden.begin(), hidden.end(), i) == hidden.end()) observed.push_back(i);
    }
    const SeparationTest test(dag, observed, {});
    FciOptions options;
    const MixedGraph one = fci(test, {}, options, monitor).graph;
    options.colliders.rule = ColliderRule::majority;
    options.rules.lists = false;
    options.search.stable = false;
    options.first_colliders = ColliderRule::standard;
    CHECK(fci(test, {}, options, monitor).graph == one);
    const MixedGraph fast = rfci(test, {}, FciOptions(), monitor).graph;
    for (int i = 0; i < one.nodes(); ++i) CHECK(one.neighbours(i).is_subset_of(fast.neighbours(i)));
    same += fast == one;
    ++rounds;
  }
  CHECK(rounds > 10);
  CHECK(same >= rounds - 2);
}

TEST("pc: the same on one and two threads, with and without cache") {
  Monitor monitor;
  Rng rng(10);
  SimDagOptions sim;
  sim.nodes = 40;
  sim.neighbours = 3;
  const WeightedDag dag = simulate_dag(sim, rng);
  const MatrixXd x = simulate_rows(dag, 60, VectorXd::Ones(40), rng);
  const MatrixXd c = correlation_matrix(x, 1, monitor);
  const GaussTest test(c, 60);
  const CachedTest cached(test);
  FciOptions options;
  options.search.alpha = 0.05;
  options.colliders.rule = ColliderRule::majority;
  FciOptions two = options;
  two.search.threads = 2;
  const ConstraintResult a = fci(test, {}, options, monitor), b = fci(test, {}, two, monitor), d = fci(cached, {}, two, monitor);
  CHECK(a.graph == b.graph && a.graph == d.graph);
  CHECK(a.later.tests == b.later.tests && a.ambiguous == b.ambiguous);
  CHECK(cached.size() > 0);
  CHECK((correlation_matrix(x, 2, monitor) - c).cwiseAbs().maxCoeff() == 0);
}

TEST("pc: alpha 0 empties the graph, alpha 1 keeps it complete, too few rows stop the search") {
  Monitor monitor;
  Rng rng(11);
  const MatrixXd x = draw_data(7, 6, rng);
  const MatrixXd c = correlation_matrix(x, 1, monitor);
  const GaussTest test(c, 7);
  SearchOptions options;
  options.alpha = 0;
  CHECK(find_skeleton(test, {}, options, monitor).edges.empty());
  options.alpha = 1;
  const Skeleton all = find_skeleton(test, {}, options, monitor);
  CHECK(all.edges.size() == 15);
  CHECK(all.out_of_data);
  CHECK(all.levels.size() == 4);  // sizes 0 to n - 4 = 3
  options.max_set = 2;
  CHECK(!find_skeleton(test, {}, options, monitor).out_of_data);
  options.alpha = 2;
  CHECK_THROWS(find_skeleton(test, {}, options, monitor), InputError);
}

TEST("pc: background knowledge is kept, and rule 4 follows from it") {
  Monitor monitor;
  // a - c, c -> d, d -> b, a - b, a - d: with c -> d and d -> b known rule 4 gives a -> b.
  const int a = 0, b = 1, c = 2, d = 3;
  std::vector<Bitset> adjacent(4, Bitset(4));
  for (const auto& e : {std::pair<int, int>{a, c}, {c, d}, {d, b}, {a, b}, {a, d}}) {
    adjacent[e.first].set(e.second);
    adjacent[e.second].set(e.first);
  }
  Knowledge known;
  known.required.assign(4, Bitset(4));
  known.required[c].set(d);
  known.required[d].set(b);
  const PdagOrientation oriented = orient_pdag(adjacent, {}, TripleSet(4), known, ConflictRule::lists, monitor);
  CHECK(oriented.graph.directed(a, b));
  CHECK(oriented.graph.undirected(a, c));

  Rng rng(12);
  for (int round = 0; round < 40; ++round) {  // true knowledge under an oracle: never a wrong direction
    const MixedGraph dag = random_dag(7, 0.4, rng);
    const std::vector<int> order = topological_order(dag);
    Knowledge tiers;
    tiers.tier.resize(7);
    for (int k = 0; k < 7; ++k) tiers.tier[order[k]] = k / 3;
    tiers.exclude_by_tier();
    const MixedGraph graph = pc(SeparationTest(dag, range(7), {}), tiers, {}, monitor).graph;
    MixedGraph expected = dag_to_cpdag(dag);
    for (int i = 0; i < 7; ++i) {
      for (int j : dag.children(i)) {
        if (tiers.tier[i] < tiers.tier[j]) expected.orient(i, j);
      }
    }
    close_under_meek_rules(expected);
    CHECK(graph == expected);
    const MixedGraph pag = fci(SeparationTest(dag, range(7), {}), tiers, {}, monitor).graph;
    for (int i = 0; i < 7; ++i) {
      for (int j : pag.neighbours(i)) {
        if (tiers.tier[i] > tiers.tier[j]) CHECK(pag.mark(j, i) == Mark::arrow);
        if (pag.mark(j, i) == Mark::tail) CHECK(ancestors(dag, Bitset(7, {j})).test(i));
        if (pag.mark(j, i) == Mark::arrow) CHECK(!ancestors(dag, Bitset(7, {j})).test(i));
      }
    }
  }
}

TEST("pc: possible effects contain the true one, and are one coefficient in a DAG") {
  Monitor monitor;
  Rng rng(13);
  SimDagOptions sim;
  sim.nodes = 6;
  sim.neighbours = 3;
  for (int round = 0; round < 20; ++round) {
    const WeightedDag dag = simulate_dag(sim, rng);
    MatrixXd a = MatrixXd::Zero(6, 6);
    for (const auto& arrow : dag.arrows) a(arrow.to, arrow.from) = arrow.weight;
    const MatrixXd total = (MatrixXd::Identity(6, 6) - a).inverse(), cov = total * total.transpose();
    const MixedGraph cpdag = dag_to_cpdag(dag.graph);
    for (int x = 0; x < 6; ++x) {
      const PossibleEffects sure = possible_effects(dag.graph, cov, {x, range(6)}, monitor);
      CHECK(sure.effects.rows() == 1);
      for (int y = 0; y < 6; ++y) CHECK_NEAR(sure.effects(0, y), total(y, x), 1e-8);
      const PossibleEffects several = possible_effects(cpdag, cov, {x, range(6)}, monitor);
      double nearest = 1e9;
      for (Index r = 0; r < several.effects.rows(); ++r) {
        nearest = std::min(nearest, (several.effects.row(r) - sure.effects.row(0)).cwiseAbs().maxCoeff());
      }
      CHECK_NEAR(nearest, 0, 1e-8);
    }
  }
  CHECK_THROWS(possible_effects(MixedGraph(3), MatrixXd::Identity(2, 2), {0, {1}}, monitor), InputError);
}

TEST("pc: simulated DAGs have the stated degree and covariance") {
  Rng rng(14);
  SimDagOptions options;
  options.nodes = 400;
  options.neighbours = 4;
  const WeightedDag dag = simulate_dag(options, rng);
  CHECK_NEAR(2.0 * dag.graph.edges() / 400, 4, 0.5);
  CHECK(is_dag(dag.graph));
  for (const auto& arrow : dag.arrows) CHECK(arrow.from < arrow.to && arrow.weight >= 0.1 && arrow.weight <= 1);
  WeightedDag small{MixedGraph(2), {{0, 1, 0.5}}};
  small.graph.add_directed(0, 1);
  const MatrixXd x = simulate_rows(small, 20000, VectorXd::Ones(2), rng);
  CHECK_NEAR(x.col(1).squaredNorm() / 20000, 1.25, 0.05);
  CHECK_NEAR(x.col(0).dot(x.col(1)) / 20000, 0.5, 0.03);
  options.neighbours = 1000;
  CHECK_THROWS(simulate_dag(options, rng), InputError);
}

TEST("pc: a user's test that gives no p-value stops the search") {
  Monitor monitor;
  const CallbackTest bad(3, [](int, int, const std::vector<int>&) { return std::nan(""); });
  CHECK_THROWS(find_skeleton(bad, {}, {}, monitor), InputError);
  CHECK_THROWS(SeparationTest(MixedGraph(3), {0, 0}, {}), InputError);
}
