#include "graph/pc.h"

namespace granary::graph {

ConstraintResult pc(const IndependenceTest& test, const Knowledge& knowledge, const PcOptions& options, Monitor& monitor) {
  ConstraintResult result;
  result.skeleton = find_skeleton(test, knowledge, options.search, monitor);
  const auto& adjacent = result.skeleton.adjacent;
  ColliderJudge judge(test, adjacent, result.skeleton.separators, knowledge, options.search, options.colliders, nullptr, monitor);
  const std::vector<Triple> triples = unshielded_triples(adjacent);
  judge.prepare(triples);
  std::vector<Triple> colliders;
  TripleSet ambiguous(test.variables());
  for (const Triple& t : triples) {
    const Verdict verdict = judge(t[0], t[1], t[2]);
    if (verdict == Verdict::collider) colliders.push_back(t);
    if (verdict == Verdict::ambiguous) {
      ambiguous.insert(t[0], t[1], t[2]);
      result.ambiguous.push_back(t);
    }
  }
  result.capped = judge.capped();
  result.collider_tests = judge.tests();
  PdagOrientation oriented = orient_pdag(adjacent, colliders, ambiguous, knowledge, options.conflicts, monitor);
  result.graph = std::move(oriented.graph);
  result.conflicts = std::move(oriented.conflicts);
  return result;
}

}  // namespace granary::graph
