// PC, FCI, RFCI or the skeleton alone, from a test and knowledge as they are given.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "core/base/fields.h"
#include "graph/fci.h"
#include "graph/test_spec.h"

namespace granary::graph {

enum class ConstraintAlgorithm { pc, fci, rfci, skeleton };
inline Names<ConstraintAlgorithm> names(ConstraintAlgorithm) {
  return {{ConstraintAlgorithm::pc, "pc"}, {ConstraintAlgorithm::fci, "fci"}, {ConstraintAlgorithm::rfci, "rfci"},
          {ConstraintAlgorithm::skeleton, "skeleton"}};
}

struct ConstraintOptions {
  ConstraintAlgorithm algorithm = ConstraintAlgorithm::pc;
  double alpha = 0.01;
  bool stable = true;
  ColliderRule colliders = ColliderRule::majority;
  ConflictRule conflicts = ConflictRule::lists;
  double m_max = std::numeric_limits<double>::infinity();        // largest conditioning set
  double cm_max_size = std::numeric_limits<double>::infinity();  // of the collider rules
  double band = 0;
  double pds_max = std::numeric_limits<double>::infinity();  // of Possible-D-SEP
  bool possible_colliders = true;  // see FciOptions
  bool selection = false;
  int threads = 1;
};
template <class V>
void fields(V& v, ConstraintOptions& t) {
  v("algorithm", t.algorithm);
  v("alpha", t.alpha);
  v("stable", t.stable);
  v("colliders", t.colliders);
  v("conflicts", t.conflicts);
  v("m_max", t.m_max);
  v("cm_max_size", t.cm_max_size);
  v("band", t.band);
  v("pds_max", t.pds_max);
  v("possible_colliders", t.possible_colliders);
  v("selection", t.selection);
  v("threads", t.threads);
}

// Pairs in rows of two columns; tiers count from 1, none where empty.
struct KnowledgeSpec {
  Eigen::MatrixXi gaps{0, 2}, edges{0, 2}, required{0, 2}, excluded{0, 2};
  std::vector<int> tier;
};
template <class V>
void fields(V& v, KnowledgeSpec& t) {
  v("gaps", positions(t.gaps));
  v("edges", positions(t.edges));
  v("required", positions(t.required));
  v("excluded", positions(t.excluded));
  v("tier", t.tier);
}
Knowledge make_knowledge(const KnowledgeSpec& spec, int variables);

// The result as tables.
struct ConstraintReport {
  MixedGraph graph;
  std::vector<double> p_value;  // of every edge of the skeleton, in lexicographic order: the largest of its tests
  Eigen::MatrixXi pairs;        // pairs separated by a set that is not empty, the sets, and their p-values
  std::vector<std::vector<int>> given;
  std::vector<double> set_p;
  MatrixXd levels;  // per size of the sets: tests, repeats, removed edges
  Eigen::MatrixXi ambiguous, conflicts;
  bool capped = false, out_of_data = false;
  double collider_tests = 0;
  std::vector<double> later;  // tests and removals after the search
  std::vector<int> degenerate;
};
template <class V>
void fields(V& v, ConstraintReport& t) {
  v("edges", t.graph);
  v("p_value", t.p_value);
  v("pairs", positions(t.pairs));
  v("given", positions(t.given));
  v("set_p", t.set_p);
  v("levels", t.levels);
  v("ambiguous", positions(t.ambiguous));
  v("conflicts", positions(t.conflicts));
  v("capped", t.capped);
  v("out_of_data", t.out_of_data);
  v("collider_tests", t.collider_tests);
  v("later", t.later);
  v("degenerate", positions(t.degenerate));
}
ConstraintReport constraint_search(const TestSpec& spec, const KnowledgeSpec& known, const ConstraintOptions& options, Monitor& monitor);

}  // namespace granary::graph
