// Half-spaces with the least number of misclassified rows: label 1 where w'x + b > 0.
//
// In the plane exactly: every partition by a line is that of a line through a row, turned a little; so for each row the others
// are sorted by
// angle and the line is turned once round, O(n^2 log n). Elsewhere a search: exact in one coefficient at a time (rows change
// sides where
// w'x + b is 0: a sweep over sorted places), from least squares, from the given start and from random directions; not exact,
// and said so.
#pragma once

#include "core/base/convergence.h"
#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "core/base/types.h"
#include "core/random/rng.h"

namespace granary::ensemble {

struct Linear01Options {
  bool exact = true;       // in one or two columns
  int n_starts = 20;       // of the search
  int max_iter = 50;       // rounds over the coefficients
  double false_positive = 1, false_negative = 1;
  int threads = 1;
};
template <class V>
void fields(V& v, Linear01Options& t) {
  v("exact", t.exact);
  v("n_starts", t.n_starts);
  v("max_iter", t.max_iter);
  v("false_positive", t.false_positive);
  v("false_negative", t.false_negative);
  v("threads", t.threads);
}

struct Linear01 {
  VectorXd coefficients;  // of the columns, of length 1
  double intercept = 0;
  double risk = 0;
  bool exact = false;
};
template <class V>
void fields(V& v, Linear01& t) {
  v("coefficients", t.coefficients);
  v("intercept", t.intercept);
  v("risk", t.risk);
  v("exact", t.exact);
}

Linear01 linear01(ConstMatrixRef x, ConstVectorRef y, ConstVectorRef weight, const Linear01Options& options, Rng& rng, Monitor&
    monitor);
double half_space_risk(ConstMatrixRef x, ConstVectorRef y, ConstVectorRef weight, ConstVectorRef w, double b,
    const Linear01Options& options);

}  // namespace granary::ensemble
