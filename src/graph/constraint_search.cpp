#include "graph/constraint_search.h"

namespace granary::graph {

namespace {

int as_limit(double value) {
  return value >= std::numeric_limits<int>::max() ? std::numeric_limits<int>::max() : static_cast<int>(value);
}

// Ordered pairs to rows of bits; nothing where there are none.
std::vector<Bitset> bit_rows(const Eigen::MatrixXi& pairs, int p, bool symmetric) {
  if (pairs.rows() == 0) return {};
  if (pairs.cols() != 2 || pairs.minCoeff() < 0 || pairs.maxCoeff() >= p) throw InputError("knowledge names a variable that does not exist.");
  std::vector<Bitset> rows(p, Bitset(p));
  for (Index e = 0; e < pairs.rows(); ++e) {
    rows[pairs(e, 0)].set(pairs(e, 1));
    if (symmetric) rows[pairs(e, 1)].set(pairs(e, 0));
  }
  return rows;
}

FciOptions fci_options(const ConstraintOptions& given) {
  FciOptions out;
  out.search.alpha = given.alpha;
  out.search.stable = given.stable;
  out.search.max_set = as_limit(given.m_max);
  out.search.threads = given.threads;
  out.colliders.rule = given.colliders;
  out.colliders.band = given.band;
  out.colliders.max_set = as_limit(given.cm_max_size);
  out.first_colliders = given.stable ? ColliderRule::conservative : ColliderRule::standard;
  out.max_possible_d_sep = as_limit(given.pds_max);
  out.possible_colliders = given.possible_colliders;
  out.rules.lists = given.conflicts == ConflictRule::lists;
  out.rules.selection = given.selection;
  return out;
}

ConstraintResult skeleton_alone(const IndependenceTest& test, const Knowledge& knowledge, const SearchOptions& options, Monitor& monitor) {
  ConstraintResult out;
  out.skeleton = find_skeleton(test, knowledge, options, monitor);
  out.graph = MixedGraph(test.variables());
  for (const EdgeStrength& edge : out.skeleton.edges) out.graph.add_undirected(edge.i, edge.j);
  return out;
}

ConstraintResult search(const IndependenceTest& test, const Knowledge& knowledge, const ConstraintOptions& given, Monitor& monitor) {
  const FciOptions options = fci_options(given);
  switch (given.algorithm) {
    case ConstraintAlgorithm::fci:
      return fci(test, knowledge, options, monitor);
    case ConstraintAlgorithm::rfci:
      return rfci(test, knowledge, options, monitor);
    case ConstraintAlgorithm::pc:
      return pc(test, knowledge, {options.search, options.colliders, given.conflicts}, monitor);
    case ConstraintAlgorithm::skeleton:
      break;
  }
  return skeleton_alone(test, knowledge, options.search, monitor);
}

ConstraintReport report(ConstraintResult&& found, const IndependenceTest& test) {
  ConstraintReport out;
  const Skeleton& skeleton = found.skeleton;
  for (const EdgeStrength& edge : skeleton.edges) out.p_value.push_back(test.p_value(edge.evidence));
  const auto sets = skeleton.separators.sorted();
  out.pairs.resize(static_cast<Index>(sets.size()), 2);
  for (std::size_t s = 0; s < sets.size(); ++s) {
    out.pairs.row(static_cast<Index>(s)) << sets[s].i, sets[s].j;
    const int* members = skeleton.separators.members(sets[s]);
    out.given.emplace_back(members, members + sets[s].size);
    out.set_p.push_back(sets[s].p_value);
  }
  out.levels.resize(static_cast<Index>(skeleton.levels.size()), 3);
  for (Index l = 0; l < out.levels.rows(); ++l) {
    const LevelCount& level = skeleton.levels[l];
    out.levels.row(l) << static_cast<double>(level.tests), static_cast<double>(level.repeats), static_cast<double>(level.removed);
  }
  out.ambiguous.resize(static_cast<Index>(found.ambiguous.size()), 3);
  for (Index t = 0; t < out.ambiguous.rows(); ++t) out.ambiguous.row(t) << found.ambiguous[t][0], found.ambiguous[t][1], found.ambiguous[t][2];
  out.conflicts.resize(static_cast<Index>(found.conflicts.size()), 2);
  for (Index c = 0; c < out.conflicts.rows(); ++c) out.conflicts.row(c) << found.conflicts[c].first, found.conflicts[c].second;
  out.capped = found.capped;
  out.out_of_data = skeleton.out_of_data;
  out.collider_tests = static_cast<double>(found.collider_tests);
  out.later = {static_cast<double>(found.later.tests), static_cast<double>(found.later.removed)};
  out.degenerate = test.degenerate();
  out.graph = std::move(found.graph);
  return out;
}

}  // namespace

Knowledge make_knowledge(const KnowledgeSpec& spec, int variables) {
  Knowledge out;
  out.gaps = bit_rows(spec.gaps, variables, true);
  out.edges = bit_rows(spec.edges, variables, true);
  out.required = bit_rows(spec.required, variables, false);
  out.excluded = bit_rows(spec.excluded, variables, false);
  out.tier = spec.tier;
  if (out.tier.empty()) return out;
  if (static_cast<int>(out.tier.size()) != variables) throw InputError("there must be one tier per variable.");
  out.exclude_by_tier();
  return out;
}

ConstraintReport constraint_search(const TestSpec& spec, const KnowledgeSpec& known, const ConstraintOptions& options, Monitor& monitor) {
  const MadeTest made(spec, options.threads, monitor);
  const IndependenceTest& test = made.get();
  return report(search(test, make_knowledge(known, test.variables()), options, monitor), test);
}

}  // namespace granary::graph
