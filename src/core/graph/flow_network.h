// A maximum flow from nodes that have too much to nodes that have too little:
//
//   maximise  what leaves the givers (excess > 0) for the takers (excess < 0)  within the residual capacities of the arcs
//
// Push-relabel (Goldberg and Tarjan, J. ACM 1988), first in first out, with depths measured from the takers, and measured anew
// after as much lifting as the measuring costs. What cannot reach a taker stays where it is, so there is no second phase, and
// afterwards depth < 0 marks the nodes on the givers' side of the cut.
#pragma once

#include <vector>

#include "core/base/monitor.h"

namespace granary {

struct FlowNetwork {
  std::vector<int> first, head, twin;  // arcs of node i: first[i] .. first[i + 1] - 1; twin is the arc back
  std::vector<double> residual;        // per arc
  std::vector<double> excess;          // per node
  std::vector<int> depth;              // result: number of arcs to the nearest taker, -1 where there is no way

  int nodes() const { return static_cast<int>(first.size()) - 1; }
  void clear();
  void solve(double tiny, Monitor& monitor);  // `tiny`: amounts and capacities up to this count as nothing

 private:
  std::vector<int> arc_, queue_;

  bool layers(double tiny);
};

}  // namespace granary
