// Grouping the levels of a factor by their classes: the most probable partition (Boulle, JMLR 2005), and grouping by other
// criteria (level_cost.h).
//
//   compress   levels with proportional counts become one item; no grouping that parts them is better
//   exact      two classes: dynamic programming over the items in the order of their shares, with a bound on what more groups
//   could give; up to `max_exact` items.
//              More classes: every partition of at most 12 items
//   heuristic  two classes and many items: the intervals of least entropy for every K (exact, in linear time each), the best of
//   them improved.
//              More classes: units from the J problems "one class against the others" (2.4.2), the rarest beyond sqrt(n) pooled
//              by majority class; merging pairs down to one group, the best partition on the way (2.4.1, 2.4.3); all items at
//              once to the group that suits them best (digamma, monotone); single items; and merges that are taken back unless
//              moves make them pay (2.4.3)
//   bound      log I + min_K [log B(I, K) + a bound of the entropy of K groups], exact for two classes, for more by one class
//   against the
//              others; a single group is compared as it is
//
// chaid merges the pair whose classes differ least (largest p-value of chi-square) while p > alpha; chaid_exhaustive goes down to
// two groups and takes the partition with the smallest p-value times S(I, K) on the way; khiops the smallest p-value, tschuprow
// the largest T = sqrt(chi2 / (n sqrt((K - 1)(J - 1)))), gain_ratio the largest information gain over the entropy of the groups.
#pragma once

#include <vector>

#include "core/base/convergence.h"
#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "ensemble/level_cost.h"

namespace granary::ensemble {

enum class GroupMethod { modl, chaid, chaid_exhaustive, bic, khiops, tschuprow, gain_ratio, none };
inline Names<GroupMethod> names(GroupMethod) {
  return {{GroupMethod::modl, "modl"},
          {GroupMethod::chaid, "chaid"},
          {GroupMethod::chaid_exhaustive, "chaid_exhaustive"},
          {GroupMethod::bic, "bic"},
          {GroupMethod::khiops, "khiops"},
          {GroupMethod::tschuprow, "tschuprow"},
          {GroupMethod::gain_ratio, "gain_ratio"},
          {GroupMethod::none, "none"}};
}

enum class GroupSearch { automatic, exact, greedy };
inline Names<GroupSearch> names(GroupSearch) {
  return {{GroupSearch::automatic, "auto"}, {GroupSearch::exact, "exact"}, {GroupSearch::greedy, "greedy"}};
}

struct LevelOptions {
  GroupMethod method = GroupMethod::modl;
  GroupSearch search = GroupSearch::automatic;
  int groups = 0;         // exactly so many; 0: as many as pay
  double alpha = 0.05;    // chaid
  int max_exact = 5000;   // items of the exact search for two classes
  double time_limit = 0;  // seconds for improving; 0: none
};
template <class V>
void fields(V& v, LevelOptions& t) {
  v("method", t.method);
  v("search", t.search);
  v("groups", t.groups);
  v("alpha", t.alpha);
  v("max_exact", t.max_exact);
  v("time_limit", t.time_limit);
}

struct LevelGroups {
  VectorXi group;   // of every level, from 0, groups by falling size
  MatrixXd table;   // groups x classes
  double cost = 0;  // the criterion of modl (also for other methods), and its parts
  double choice_cost = 0, partition_cost = 0, class_cost = 0, data_cost = 0;
  double null_cost = 0;  // one group
  double lower = 0;      // no grouping costs less
  double criterion = 0;  // of the method
  int items = 0;         // levels with different shares
  bool exact = false;
  Convergence convergence;  // gap = cost - lower; iterations = rounds of improvement
};
template <class V>
void fields(V& v, LevelGroups& t) {
  v("group", positions(t.group));
  v("table", t.table);
  v("cost", t.cost);
  v("choice_cost", t.choice_cost);
  v("partition_cost", t.partition_cost);
  v("class_cost", t.class_cost);
  v("data_cost", t.data_cost);
  v("null_cost", t.null_cost);
  v("lower", any_number(t.lower));
  v("criterion", any_number(t.criterion));
  v("items", t.items);
  v("exact", t.exact);
  v("convergence", t.convergence);
}

// counts: levels x classes, whole numbers, every level with a case.
LevelGroups level_groups(ConstMatrixRef counts, const LevelOptions& options, Monitor& monitor);

// Counts of codes from 0: levels x classes. weights: whole numbers, or empty.
MatrixXd level_counts(const VectorXi& level, const VectorXi& label, ConstVectorRef weights, int levels, int classes);

// The criterion of modl of a given grouping.
LevelGroups level_cost(ConstMatrixRef counts, const VectorXi& group, int groups);

// Kullback-Leibler divergence from the classes of the groups to those of new cases: sum_i n'_i / n' sum_j p_ij log(p_ij / q_ij),
// q_ij = (n'_ij + 1) / (n'_i + J). share: of every level of the new table its group's shares (rows).
double level_divergence(ConstMatrixRef counts, ConstMatrixRef share);

// Naive Bayes on grouped factors: P(class) prod_f (n_gj + smooth) / (n_j + smooth K_f). group: rows x factors, -1 for a level
// that was never seen, which says nothing.
MatrixXd level_bayes(const Eigen::MatrixXi& group, const std::vector<MatrixXd>& tables, ConstVectorRef classes, double smooth);

// ---- inside --------------------------------------------------------------------------------

// Items: what is grouped, columns of counts (classes x items), and the levels of each.
struct Items {
  MatrixXd counts;
  VectorXi of_level;
  Index size() const { return counts.cols(); }
};
Items compress(ConstMatrixRef counts);

// A partition of items with its counts.
struct Partition {
  VectorXi group;
  MatrixXd counts;  // classes x groups
  double cost = 0;  // with the penalty of K
  Index size() const { return counts.cols(); }
};
Partition make_partition(const Items& items, const VectorXi& group, const GroupCost& cost);

// level_exact.cpp
struct Interval {
  Partition best;
  double lower = 0;
  bool exact = false;
};
Interval best_intervals(const Items& items, const GroupCost& cost, GroupCostKind kind, int groups, int max_exact,
                        Monitor& monitor);
// No grouping has a smaller cost, with the choice of K left out; single: the cost of one group.
double entropy_bound(const Items& items, const GroupCost& cost, GroupCostKind kind, double single, int groups, Monitor& monitor);
Partition best_of_all(const Items& items, const GroupCost& cost, int groups, Monitor& monitor);
inline constexpr Index most_enumerated = 12;

// level_search.cpp. Merges pairs down to one group; visit(partition counts, group of unit) after every merge.
Partition merge_down(const Items& items, const VectorXi& unit, const GroupCost& cost, int groups, Monitor& monitor);
// True where no move of an item is left that pays.
bool improve(const Items& items, Partition& at, const GroupCost& cost, int groups, double until, int& rounds, Monitor& monitor);

// level_chi2.cpp
Partition group_by_chi2(const Items& items, const LevelOptions& options, double& criterion, double levels, Monitor& monitor);

}  // namespace granary::ensemble
