// Total variation on a graph, exactly, with the flow that certifies it:
//
//   minimise  1/2 sum_i w_i (x_i - y_i)^2 + l1 sum_i w_i |x_i| + sum_e lambda_e |x_a(e) - x_b(e)|
//
// By duality there is a flow f with |f_e| <= lambda_e such that, with r_i = w_i y_i - (net flow out of i), x_i = soft(r_i / w_i,
// l1). The nodes with x_i > c are those a maximum flow at level c cannot empty, so the solution comes from repeated bisection of
// the nodes at the mean level of each set (Chambolle and Darbon, Int. J. Comput. Vis. 2009; Hochbaum, J. ACM 2001): nodes of a
// set that does not split any more share one value, exactly. With l1 > 0 the first two levels are l1 and -l1, and what lies
// between them is zero and needs no further work. The maximum flows are Dinic's, and start at the flow of the last call.
// Components that are paths are solved by the dynamic program of proximal.h instead, in linear time.
//
// The graph is analysed once, at construction: one object serves many calls, and is not to be shared between threads.
#pragma once

#include <utility>
#include <vector>

#include "convergence.h"
#include "monitor.h"
#include "types.h"

namespace granary {

using EdgeList = std::vector<std::pair<int, int>>;  // nodes count from 0; neither loops nor pairs given twice

// The 4-neighbour grid of rows x cols cells, numbered down the columns as R does; 6 neighbours with several slices.
EdgeList grid_edges(int rows, int cols, int slices = 1);

struct GraphTvResult {
  VectorXd x;
  std::vector<int> block;  // nodes with one label are joined and were given one value; zeros within the l1 band are one each
  double gap = 0;          // objective minus the value of the dual at the flow: bounds the distance to the minimum
  double objective = 0;
};

class GraphTv {
 public:
  GraphTv(int nodes, EdgeList edges);  // InputError for loops, pairs out of range and pairs given twice

  int nodes() const { return nodes_; }
  const EdgeList& edges() const { return edges_; }
  bool all_paths() const { return paths_only_; }

  // `lambda`: one entry per edge, or one for all; `weights` empty: ones. The flow of the last call, scaled to the new lambda, is
  // where the next one starts.
  GraphTvResult solve(ConstVectorRef y, ConstVectorRef lambda, double l1, Monitor& monitor, ConstVectorRef weights = VectorXd());
  void solve(ConstVectorRef y, double lambda, double l1, Monitor& monitor, VectorRef x);  // unit weights, x only

  VectorXd flow() const;  // from the first node of every edge to the second
  void set_flow(ConstVectorRef flow) {
    start_ = flow;
    warm_ = true;
  }
  void forget() { warm_ = false; }

 private:
  struct Group {
    int begin, end;
    int stage;  // 0: split at l1; 1: at -l1; 2: at the mean
  };

  void check_input(ConstVectorRef y, ConstVectorRef lambda, double l1, ConstVectorRef weights) const;
  void run(ConstVectorRef y, ConstVectorRef lambda, double l1, ConstVectorRef weights, Monitor& monitor);
  void solve_paths(ConstVectorRef y, ConstVectorRef lambda, double l1, ConstVectorRef weights);
  void prepare(ConstVectorRef y, ConstVectorRef lambda, ConstVectorRef weights);
  void bisect(double l1, Monitor& monitor);
  void maximum_flow(const Group& group, Monitor& monitor);
  bool layers(const Group& group);
  void drain(int from);

  int nodes_;
  EdgeList edges_;
  std::vector<int> first_, head_, twin_;  // arcs of node i: first_[i] .. first_[i + 1] - 1; twin is the arc back
  std::vector<int> arc_of_edge_;          // the arc from the first node of the edge
  bool paths_only_ = false;
  std::vector<int> path_order_, path_edge_, path_start_;  // nodes path by path, and the edge that leads on from each

  // state of one call
  VectorXd start_;  // flow to start at
  bool warm_ = false;
  VectorXd x_, weight_, mass_, excess_;  // mass = w y - net flow out
  std::vector<double> residual_;         // per arc
  std::vector<int> label_, order_, depth_, arc_, queue_, path_, spare_;
  double centre_ = 0, tiny_ = 0;
  std::vector<double> lambda_;  // per edge, of the last call
};

}  // namespace granary
