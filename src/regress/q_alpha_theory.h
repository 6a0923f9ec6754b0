// How often the leading eigenvector of a symmetric Gaussian matrix has one sign: Wolf and Shashua (JMLR 6, 2005), Theorem 10 and
// Figure 2a.
#pragma once

#include "core/base/monitor.h"
#include "core/random/rng.h"
#include "core/base/types.h"

namespace granary::regress {

// The share of `replicates` symmetric n x n matrices, entries on and below the diagonal independent N(mean, sd^2), whose leading
// eigenvector is positive up to its sign.
double positivity_share(Index n, double mean, double sd, int replicates, int threads, const Rng& rng, Monitor& monitor);

}  // namespace granary::regress
