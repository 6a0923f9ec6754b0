// The conjunctions a kernel machine weighs most. A machine f(z) = sum_i beta_i k(x_i, z) with a kernel of conjunctions is a
// sum of rules
//
//   f(z) = sum_T w_T z_T,   w_T = g^|T| sum_i beta_i x_iT,   x_T = 1 where x satisfies all literals of T, else 0.
//
// With P+ the sum of positive beta over rows that satisfy T and P- that of negative ones, no longer conjunction weighs more than
// max_l g^l max(P+, P-): a search by depth drops what cannot reach the best found so far, and misses nothing.
#pragma once

#include <vector>

#include "core/base/monitor.h"
#include "core/kernel/kernel_boolean.h"

namespace granary::kernel {

struct BooleanRule {
  std::vector<Index> attributes;  // ascending
  std::vector<char> negated;      // which of them are
  double weight = 0;
  double support = 0;                 // rows that satisfy it
  double positive = 0, negative = 0;  // share of each class that does
};

struct BooleanRules {
  std::vector<BooleanRule> rules;  // by size of the weight, ties by their attributes
  double searched = 0;             // conjunctions looked at
};

struct BooleanRuleOptions {
  BooleanSpec kernel;
  int top = 20;
  int max_length = 0;  // 0: as the kernel
};
template <class V>
void fields(V& v, BooleanRuleOptions& t) {
  v("kernel", t.kernel);
  v("top", t.top);
  v("max_length", t.max_length);
}

// `all` and `label` are for support and coverage; the machine stands on `x`.
BooleanRules boolean_rules(const BitRows& x, ConstVectorRef coefficients, const BitRows& all, ConstVectorRef label,
                           const BooleanRuleOptions& options, Monitor& monitor);

// As columns of a table; `literal` has the attributes from 1, negative where negated.
struct BooleanRuleTable {
  std::vector<std::vector<int>> literal;
  std::vector<double> weight, support, positive, negative;
  double searched = 0;
};
template <class V>
void fields(V& v, BooleanRuleTable& t) {
  v("literal", t.literal);
  v("weight", t.weight);
  v("support", t.support);
  v("positive", t.positive);
  v("negative", t.negative);
  v("searched", t.searched);
}
BooleanRuleTable as_table(const BooleanRules& rules);

}  // namespace granary::kernel
