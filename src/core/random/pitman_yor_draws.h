// Draws from Pitman-Yor laws with discount d in [0, 1) and strength a > -d (Pitman and Yor, Annals of Probability 1997); d = 0 is the Dirichlet process.
#pragma once

#include "core/base/monitor.h"
#include "core/base/types.h"
#include "core/random/rng.h"

namespace granary {

// Weights by stick-breaking, V_i ~ Beta(1 - d, a + i d), in blocks of 1000 until less than `left` of the stick is left or `most` pieces are broken off.
struct StickWeights {
  VectorXd weights;
  double left = 0;
};
StickWeights pitman_yor_weights(double discount, double strength, double left, Index most, Rng& rng, Monitor& monitor);

// The labels 0, 1, ... of n draws in order of appearance (Chinese restaurant), O(n).
VectorXi pitman_yor_labels(Index n, double discount, double strength, Rng& rng, Monitor& monitor);

}  // namespace granary
