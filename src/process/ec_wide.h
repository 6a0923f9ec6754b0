// Trees of width L for the expectation consistent approximation: variables join one by one, each with L that are joined with each
// other already, so that the graph falls into cliques of L + 1 in a tree, and L = 1 is a spanning tree. On a grid they play the
// part of strips of width L (Opper and Winther, JMLR 2005, section 7), and more couplings are treated exactly at 2^L times the
// cost of the binary part; the Gaussian part costs what it did.
//
//   parameters = sum over cliques lambda^(C) - sum over separators lambda^(S),    log Z likewise
#pragma once

#include "process/ec_tree.h"

namespace granary::process {

// The heaviest tree of this width that is found by letting in, each time, the variable with the largest sum of |J| to a set it
// can join. A variable without couplings to those inside starts a tree of its own.
EcForest wide_forest(ConstMatrixRef j, int width);

// As the functions of ec_tree.h of the same meaning, for forests with cliques.
EcParameters wide_gaussian_parameters(const EcMoments& moments, const EcForest& forest);
double wide_gaussian_log_z(const EcMoments& moments, const EcForest& forest);
BinaryForest wide_binary_inference(const EcParameters& parameters, const EcForest& forest);  // without messages and fields

}  // namespace granary::process
