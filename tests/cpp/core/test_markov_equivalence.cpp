#include "core/base/errors.h"
#include "core/graph/markov_equivalence.h"
#include "harness.h"

using namespace granary;

namespace {

// All DAGs with the skeleton and v-structures of `pdag` that keep its directed edges, by trying every orientation.
std::vector<MixedGraph> extensions(const MixedGraph& pdag, const std::vector<Collider>& colliders) {
  std::vector<MarkedEdge> open;
  for (const MarkedEdge& e : pdag.edge_list()) {
    if (e.at_from == Mark::tail && e.at_to == Mark::tail) open.push_back(e);
  }
  std::vector<MixedGraph> found;
  for (unsigned code = 0; code < 1u << open.size(); ++code) {
    MixedGraph dag = pdag;
    for (std::size_t k = 0; k < open.size(); ++k) {
      code >> k & 1 ? dag.orient(open[k].from, open[k].to) : dag.orient(open[k].to, open[k].from);
    }
    if (is_dag(dag) && v_structures(dag) == colliders) found.push_back(dag);
  }
  return found;
}

// Directed where all members agree, undirected elsewhere.
MixedGraph common_part(const std::vector<MixedGraph>& members) {
  MixedGraph common = members.front();
  for (const MixedGraph& member : members) {
    for (const MarkedEdge& e : common.edge_list()) {
      if (member.mark(e.from, e.to) != e.at_to || member.mark(e.to, e.from) != e.at_from) common.add_undirected(e.from, e.to);
    }
  }
  return common;
}

MixedGraph pattern(const MixedGraph& dag) {  // skeleton with v-structures only
  MixedGraph result = skeleton(dag);
  for (const Collider& c : v_structures(dag)) {
    result.orient(c.left, c.middle);
    result.orient(c.right, c.middle);
  }
  return result;
}

MixedGraph random_small_dag(Rng& rng) {
  for (;;) {
    const int n = 3 + static_cast<int>(rng.below(4));
    const MixedGraph dag = random_dag(n, rng.uniform(0.3, 0.9), rng);
    if (dag.edges() <= 11) return dag;
  }
}

}  // namespace

TEST("v-structures are found once each, and only unshielded ones") {
  MixedGraph g(5);
  g.add_directed(3, 1);
  g.add_directed(0, 1);
  g.add_directed(2, 1);
  g.add_directed(0, 2);
  g.add_bidirected(1, 4);
  const std::vector<Collider> expected = {{0, 1, 3}, {0, 1, 4}, {2, 1, 3}, {2, 1, 4}, {3, 1, 4}};
  CHECK(v_structures(g) == expected);
  CHECK(v_structures(MixedGraph::complete(4, Mark::arrow)).empty());
}

TEST("the CPDAG is the common part of the equivalence class, and Meek's rules find it from the pattern") {
  Rng rng(1);
  int undirected = 0, directed = 0;
  for (int round = 0; round < 150; ++round) {
    const MixedGraph dag = random_small_dag(rng);
    const MixedGraph cpdag = dag_to_cpdag(dag);
    CHECK(cpdag == common_part(extensions(skeleton(dag), v_structures(dag))));
    MixedGraph closed = pattern(dag);
    const int before = closed.edges(), oriented = close_under_meek_rules(closed);
    CHECK(closed == cpdag && closed.edges() == before && oriented >= 0);
    for (const MarkedEdge& e : cpdag.edge_list()) ++(e.at_from == e.at_to ? undirected : directed);
  }
  CHECK(undirected > 100 && directed > 100);
}

TEST("at a hundred nodes Chickering's labels and Meek's closure agree, and the extension returns to the class") {
  Rng rng(2);
  for (double degree : {1.0, 3.0, 8.0, 60.0}) {
    const MixedGraph dag = random_dag(100, degree / 100, rng), cpdag = dag_to_cpdag(dag);
    MixedGraph closed = pattern(dag);
    close_under_meek_rules(closed);
    CHECK(closed == cpdag);
    const std::optional<MixedGraph> back = consistent_extension(cpdag);
    CHECK(back && is_dag(*back) && dag_to_cpdag(*back) == cpdag);
    CHECK(consistent_extension(dag) == dag);
  }
}

TEST("with background knowledge Meek's rules orient everything that is settled") {
  Rng rng(3);
  int rounds = 0;
  while (rounds < 120) {
    const MixedGraph dag = random_small_dag(rng);
    MixedGraph known = dag_to_cpdag(dag);
    const std::vector<Collider> colliders = v_structures(dag);
    int given = 0;
    for (const MarkedEdge& e : known.edge_list()) {  // tell it some of the undirected edges, as they are in `dag`
      if (e.at_from == e.at_to && rng.bernoulli(0.3)) {
        dag.directed(e.from, e.to) ? known.orient(e.from, e.to) : known.orient(e.to, e.from);
        ++given;
      }
    }
    if (given == 0) continue;
    ++rounds;
    const MixedGraph expected = common_part(extensions(known, colliders));
    close_under_meek_rules(known);
    CHECK(known == expected);
  }
}

TEST("a consistent extension is found exactly when there is one") {
  Rng rng(4);
  int found = 0, none = 0;
  for (int round = 0; round < 400; ++round) {
    const int n = 4 + static_cast<int>(rng.below(3));
    MixedGraph pdag(n);
    for (int i = 0; i < n; ++i) {
      for (int j = i + 1; j < n; ++j) {
        const double u = rng.uniform();
        if (u < 0.15) pdag.add_directed(i, j);
        if (u > 0.15 && u < 0.3) pdag.add_directed(j, i);
        if (u > 0.6) pdag.add_undirected(i, j);
      }
    }
    const std::vector<MixedGraph> all = extensions(pdag, v_structures(pdag));
    const std::optional<MixedGraph> one = consistent_extension(pdag);
    CHECK(one.has_value() == !all.empty());
    if (one) {
      bool listed = false;
      for (const MixedGraph& dag : all) listed = listed || dag == *one;
      CHECK(listed);
    }
    ++(one ? found : none);
  }
  CHECK(found > 50);
  CHECK(none > 50);
  MixedGraph square(4);
  for (int i = 0; i < 4; ++i) square.add_undirected(i, (i + 1) % 4);
  CHECK(!consistent_extension(square));
  CHECK(consistent_extension(MixedGraph(0)).has_value());
}

TEST("equivalence tools refuse other graphs") {
  CHECK_THROWS(dag_to_cpdag(MixedGraph::complete(3)), InputError);
  MixedGraph loop(3);
  for (int i = 0; i < 3; ++i) loop.add_directed(i, (i + 1) % 3);
  CHECK_THROWS(dag_to_cpdag(loop), InputError);
  CHECK_THROWS(consistent_extension(MixedGraph::complete(3, Mark::circle)), InputError);
  CHECK(!consistent_extension(loop));
}
