// How often a symbol was seen how often: the frequencies of frequencies of a sample, on which every estimator of what was not seen works.
//
//   m_j = number of symbols seen j times,   N = sum_j j m_j draws,   K = sum_j m_j symbols
//
// so that sums over symbols cost the number of distinct counts. Where even those are many, condense() replaces them: in every octave
// [2^b, 2^(b+1)) a function that is analytic in the count away from zero is a polynomial in it to double precision, so its sum over the
// counts of the octave is a weighted sum over 20 Chebyshev nodes, whatever the function. A million distinct counts become a few hundred.
#pragma once

#include "core/base/types.h"

namespace granary {

struct FrequencyTable {
  VectorXd count;       // the distinct counts, rising, all above 0
  VectorXd times;       // m of each
  double total = 0;     // N
  double distinct = 0;  // K

  double seen(double j) const;          // m_j, 0 where no symbol was seen j times
  double coincidences() const { return total - distinct; }
};

// What is known of counts after one look at them: `odd` is the place of the first that is no whole number from 0 to 2^53, or -1.
struct CountSummary {
  Index odd = -1;
  double total = 0, distinct = 0;
};
CountSummary count_summary(ConstVectorRef counts);

// From counts, one per symbol; zeros are left out. InputError for what is no whole number from 0 to 2^53, and where the total passes 2^53.
FrequencyTable frequency_table(ConstVectorRef counts);

// Good and Turing's estimate of the probability of what was seen, 1 - m_1 / N; with all counts 1 it is zero.
double good_turing_coverage(const FrequencyTable& t);

struct WeightedCounts {
  VectorXd count;
  VectorXd times;  // weights may be negative
};
// sum_i times_i f(count_i) is that over the table, to about 1e-14 of the sum of |f|, for f analytic in Re(count) > 0. Small tables are returned as they are.
WeightedCounts condense(const FrequencyTable& t);

}  // namespace granary
