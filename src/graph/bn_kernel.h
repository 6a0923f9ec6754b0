// Bayesian networks as inner products: the log-odds of two networks on one DAG is linear in features of x.
//
//   log P(x)/Q(x) = sum_i sum_a M_ia(x) log( P(x_i | a) / Q(x_i | a) ),     M_ia(x) = 1 where the parents of i show pattern a
//
//   indicator basis   M_ia and M_ia 1[x_i = v], v = 1 .. L_i - 1, for every node and pattern (or group of patterns)
//   monomial basis    prod_{j in S} 1[x_j = v_j], v_j >= 1, for S in U = union of the power sets of the families {i} u P_i
//
// Nakamura, Schmitt, Schmitt, Simon (JMLR 6, 2005), Theorems 9 and 11, where L_i = 2. Nodes with more levels are ours: level 0 is
// the reference, and all formulas carry over with prod (L_j - 1) monomials for a set S.
//
// That S lies in U is an alternating sum over the intersections A_t of families,
//   1[S in U] = sum_t c_t 1[S subset of A_t],
// which merging equal A_t keeps short (cliques minus separators of the junction tree, where the families form one). It gives both
//   |U| = sum_t c_t prod_{j in A_t} L_j      and the monomial kernel      k(x, y) = sum_t c_t 2^{|A_t n s|},  s = {j: x_j = y_j >
//   0}.
#pragma once

#include "core/base/fields.h"

#include <utility>
#include <vector>

#include "core/graph/bitset.h"
#include "core/graph/graph.h"
#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary::graph {

using Codes = Eigen::Ref<const Eigen::MatrixXi>;  // rows x nodes, values 0 .. levels - 1

struct BnStructure {
  std::vector<std::vector<int>> parents;  // increasing
  std::vector<int> levels;
  std::vector<int> order;  // parents before children
  // group[i][pattern] in 0 .. groups[i] - 1 where patterns of the parents share parameters; empty: each pattern is its own group.
  std::vector<std::vector<int>> group;

  int nodes() const { return static_cast<int>(parents.size()); }
  Index patterns(int i) const;               // product of the parents' levels; InputError beyond 2^22
  int groups(int i) const;                   // d_i
  int pattern(int i, const int* row) const;  // first parent fastest
  int group_of(int i, const int* row) const;
};

// InputError for a cycle, an edge that is not directed, or levels below 2.
BnStructure make_structure(const MixedGraph& dag, const std::vector<int>& levels);
void set_groups(BnStructure& structure, std::vector<std::vector<int>> group);  // checks lengths and that every group occurs

enum class BnBasis { monomial, indicator, symmetric };
inline Names<BnBasis> names(BnBasis) {
  return {{BnBasis::monomial, "monomial"}, {BnBasis::indicator, "indicator"}, {BnBasis::symmetric, "symmetric"}};
}
// symmetric: M_ia and 1[x_i = v] for every v, as a kernel only

// One column of features: for a monomial its nodes and their values, for an indicator its node, group and value (0: M_ia alone).
struct BnColumn {
  std::vector<int> nodes, values;
  int group = -1;
};
struct BnColumns {
  BnBasis basis = BnBasis::monomial;
  std::vector<BnColumn> columns;
};
template <class V>
void fields(V& v, BnColumns& t) {
  std::vector<std::vector<int>> nodes, values;
  std::vector<int> group;
  for (const BnColumn& column : t.columns) {
    nodes.push_back(column.nodes);
    values.push_back(column.values);
    group.push_back(column.group);
  }
  v("nodes", positions(nodes));
  v("values", values);
  v("group", positions(group));
}
// InputError when there would be more than `limit`.
BnColumns bn_columns(const BnStructure& structure, BnBasis basis, Index limit, Monitor& monitor);
SparseMatrix bn_features(const BnStructure& structure, const BnColumns& columns, Codes x, Monitor& monitor);

// The alternating sum above.
struct FamilyUnion {
  std::vector<Bitset> sets;
  std::vector<double> coefficients;
};
FamilyUnion family_union(const BnStructure& structure, Monitor& monitor, std::size_t limit = 200000);
double union_size(const FamilyUnion& families, const std::vector<int>& levels);

MatrixXd bn_kernel_matrix(const BnStructure& structure, BnBasis basis, Codes x, Codes y, int threads, Monitor& monitor);

// Conditional tables: table[i] has one row per group of patterns and one column per level, rows summing to one.
using BnTables = std::vector<MatrixXd>;
std::vector<MatrixXd> bn_counts(const BnStructure& structure, Codes x, const std::vector<char>& use);
BnTables bn_tables(const std::vector<MatrixXd>& counts, double alpha);  // (count + alpha) / (total + alpha L); unseen: uniform
VectorXd bn_log_density(const BnStructure& structure, const BnTables& tables, Codes x);

// Weights w with features * w = log P - log Q: by Moebius inversion within every family for monomials.
VectorXd bn_weights(const BnStructure& structure, const BnColumns& columns, const BnTables& p, const BnTables& q);

// Maximum spanning tree of the mutual informations of all pairs within the classes (Chow and Liu 1968; Friedman et al. 1997 with
// classes), rooted at node 0.
MixedGraph chow_liu_tree(Codes x, const std::vector<int>& levels, const std::vector<int>& classes, int n_classes,
                         Monitor& monitor);

}  // namespace granary::graph
