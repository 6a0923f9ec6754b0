// Trees with splits along columns or directions, a row per walk: x'theta < threshold goes left.
#pragma once

#include <vector>

#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary::ensemble {

struct TransferTrees {
  int inputs = 0, classes = 0;
  VectorXd center, scale;         // of the inputs: a split sees (x - center) / scale
  std::vector<int> start;         // first node of every tree
  std::vector<int> left;          // left child, the right one follows; of a leaf its column of `cases`
  std::vector<int> from, length;  // of every node, its direction in `column` and `weight`; length 0: a leaf
  std::vector<int> column;
  std::vector<double> weight;
  std::vector<double> threshold;
  MatrixXd cases;                 // classes x leaves: cases of the target that the leaf speaks of, own or borrowed
  std::vector<int> lender;        // leaf whose cases they are; -1: an ancestor's

  int size() const { return static_cast<int>(start.size()); }
  int nodes() const { return static_cast<int>(left.size()); }
  int end(int tree) const { return tree + 1 < size() ? start[tree + 1] : nodes(); }
  // x: one row, standardised.
  template <class Row>
  double along(int node, const Row& x) const {
    double z = 0;
    for (int k = from[node]; k < from[node] + length[node]; ++k) z += weight[k] * x[column[k]];
    return z;
  }
  template <class Row>
  int leaf(int tree, const Row& x) const {
    int node = start[tree];
    while (length[node] > 0) node = left[node] + (along(node, x) < threshold[node] ? 0 : 1);
    return left[node];
  }
};
template <class V>
void fields(V& v, TransferTrees& t) {
  v("inputs", t.inputs);
  v("classes", t.classes);
  v("center", t.center);
  v("scale", t.scale);
  v("start", t.start);
  v("left", t.left);
  v("from", t.from);
  v("length", t.length);
  v("column", positions(t.column));
  v("weight", t.weight);
  v("threshold", t.threshold);
  v("cases", t.cases);
  v("lender", positions(t.lender));
}
TransferTrees join(const std::vector<TransferTrees>& parts);
void check(const TransferTrees& t);

// Rows as columns, brought to the scale of the trees.
MatrixXd standardized(ConstMatrixRef x, const TransferTrees& trees);
// Mean over trees of (cases + smooth) / sum(cases + smooth), rows x classes.
MatrixXd transfer_predict(ConstMatrixRef x, const TransferTrees& trees, double smooth, int threads, Monitor& monitor);
// The leaf of every row in every tree.
Eigen::MatrixXi transfer_leaves(ConstMatrixRef x, const TransferTrees& trees, int threads, Monitor& monitor);
VectorXd leaf_shares(const TransferTrees& trees, int leaf, double smooth);

// Of several rows that share one label: log P(y | rows) up to a constant is sum_m log P(y | x_m), where `prior` is given (M - 1) log prior_y less, and
// with log other_y - log prior_y added where groups have another law than cases. Probabilities below `floor` count as `floor`. group: 0, ..., groups - 1.
struct GroupOptions {
  int groups = 0;
  double floor = 0;
  VectorXd prior, other;  // empty: the product alone
};
template <class V>
void fields(V& v, GroupOptions& t) {
  v("groups", t.groups);
  v("floor", t.floor);
  v("prior", t.prior);
  v("other", t.other);
}
MatrixXd group_posterior(ConstMatrixRef prob, const VectorXi& group, const GroupOptions& options);

}  // namespace granary::ensemble
