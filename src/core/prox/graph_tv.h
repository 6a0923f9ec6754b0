// Total variation on a graph, exactly, with the flow that certifies it:
//
//   minimise  1/2 sum_i w_i (x_i - y_i)^2 + l1 sum_i w_i |x_i| + sum_e lambda_e |x_a(e) - x_b(e)|
//
// By duality there is a flow f with |f_e| <= lambda_e such that, with r_i = w_i y_i - (net flow out of i), x_i = soft(r_i / w_i,
// l1). The nodes with x_i > c are those a maximum flow at level c cannot empty, so the solution comes from repeated bisection of
// the nodes at the mean level of each set (Chambolle and Darbon, Int. J. Comput. Vis. 2009; Hochbaum, J. ACM 2001): nodes of a
// set that does not split any more share one value, exactly. With thresholds the first two levels are just above and below zero,
// and what lies between needs no further work.
//
// The maximum flows (flow_network.h) start at the flow of the last call. The first call on a large graph that falls into few sets
// of disjoint paths, as a grid does into its rows and columns, starts at the flow of some sweeps over these. Without cycles a
// maximum flow takes one pass, and paths are solved by the dynamic program of proximal.h in linear time.
//
// The graph is analysed once, at construction: one object serves many calls, and is not to be shared between threads.
#pragma once

#include <utility>
#include <vector>

#include "core/base/convergence.h"
#include "core/graph/flow_network.h"
#include "core/base/monitor.h"
#include "core/base/types.h"

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
  // The same with sum_i threshold_i |x_i| in place of l1 sum_i w_i |x_i|. Empty: none.
  GraphTvResult solve_thresholded(ConstVectorRef y, ConstVectorRef lambda, ConstVectorRef threshold, Monitor& monitor,
                                  ConstVectorRef weights = VectorXd());

  VectorXd flow() const;  // from the first node of every edge to the second
  void set_flow(ConstVectorRef flow) {
    start_ = flow;
    warm_ = true;
  }
  void forget() { warm_ = false; }

 private:
  struct Group {
    int begin, end;
    int stage;  // 0: split above zero; 1: below zero; 2: at the mean; 3: between the thresholds
  };

  void find_paths(int degree);
  void find_forests();
  void check_input(ConstVectorRef y, ConstVectorRef lambda, ConstVectorRef threshold, ConstVectorRef weights) const;
  VectorXd uniform(double l1, ConstVectorRef weights) const;
  void run(ConstVectorRef y, ConstVectorRef lambda, ConstVectorRef threshold, ConstVectorRef weights, Monitor& monitor);
  GraphTvResult certify(ConstVectorRef y, ConstVectorRef lambda, ConstVectorRef threshold, ConstVectorRef weights) const;
  void solve_paths(ConstVectorRef y, ConstVectorRef lambda, double l1, ConstVectorRef weights);
  void prepare(ConstVectorRef y, ConstVectorRef lambda, ConstVectorRef weights, Monitor& monitor);
  void sweep(ConstVectorRef y, ConstVectorRef lambda, Monitor& monitor);
  void bisect(ConstVectorRef threshold, Monitor& monitor);
  void part(int begin, int end, int stage);
  void maximum_flow(const Group& group, Monitor& monitor);
  void forest_flow(const Group& group);

  int nodes_;
  EdgeList edges_;
  std::vector<int> first_, head_, twin_;  // arcs of node i: first_[i] .. first_[i + 1] - 1; twin is the arc back
  std::vector<int> arc_of_edge_;          // the arc from the first node of the edge
  bool paths_only_ = false;
  std::vector<int> path_order_, path_edge_, path_start_;  // nodes path by path, and the edge that leads on from each
  std::vector<int> root_order_, parent_arc_;              // without cycles: parents first, and the arc to the parent
  std::vector<GraphTv> forests_;                          // with cycles: sets of disjoint paths that make up the graph
  std::vector<std::vector<int>> forest_edges_;            // their edges' numbers

  // state of one call
  VectorXd start_;  // flow to start at
  bool warm_ = false;
  VectorXd x_, weight_, mass_, excess_;  // mass = w y - net flow out
  std::vector<double> residual_;         // per arc
  std::vector<int> label_, order_, depth_, place_, local_arc_, spare_;
  std::vector<Group> stack_;
  int labels_ = 0;
  FlowNetwork net_;
  double tiny_ = 0;
  std::vector<double> lambda_;  // per edge, of the last call
};

}  // namespace granary
