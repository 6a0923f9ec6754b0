// How often the leading eigenvector of a symmetric Gaussian matrix has one sign: Wolf and Shashua (JMLR 6, 2005), Theorem 10 and
// Figure 2a.
#pragma once

#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "core/random/rng.h"
#include "core/base/types.h"

namespace granary::regress {

struct PositivityOptions {
  Index n = 10;
  double mean = 1.0 / 6, sd = 1.4142135623730951 / 6;
  int replicates = 1000;
  int threads = 1;
};
template <class V>
void fields(V& v, PositivityOptions& t) {
  v("n", t.n);
  v("mean", t.mean);
  v("sd", t.sd);
  v("replicates", t.replicates);
  v("threads", t.threads);
}

// The share of `replicates` symmetric n x n matrices, entries on and below the diagonal independent N(mean, sd^2), whose leading
// eigenvector is positive up to its sign.
double positivity_share(Index n, double mean, double sd, int replicates, int threads, const Rng& rng, Monitor& monitor);

}  // namespace granary::regress
