// Blind kriging: the trend is found in the data (Joseph, Hung and Sudjianto, J. Mech. Des. 2008).
//
// Each input is coded to z in [-1, 1]; its effects of degree 1..m are the polynomials that are orthogonal on the m + 1 levels
// -1, ..., 1, with squared length m + 1 (m = 2: sqrt(3/2) z and sqrt(1/2) (3 z^2 - 2)); with the products of two effects of
// different inputs they are the candidates U. A prior puts variance
//
//   r_k = u_k' Psi u_k / 1' Psi 1,   Psi_ab = psi(levels a, b)
//
// on the effect u_k, psi the correlation of that input (m = 2: 3(1 - psi(2)) / (3 + 4 psi(1) + 2 psi(2)), ...); the product of
// two effects has the product of their variances. With V the trend so far,
//
//   b = diag(r) U' C^-1 (y - V beta) = diag(r) U' alpha
//
// is the posterior mean of what is left out, and the effect of the largest |b| joins. The error that decides how many are kept
// is that of leaving one out,  cvpe = sqrt(mean (alpha_i / H_ii)^2).
//
// Parameters stay as they are, so C is factored once: a new column, made orthogonal to the others in the metric C^-1, changes
// alpha and the diagonal of H by rank one. O(n^3 + steps n (n + candidates)).
#pragma once

#include <string>
#include <vector>

#include "process/gp.h"

namespace granary::process {

struct BlindEffects {
  MatrixXd polynomials;                       // column k: coefficients of 1, z, z^2, ... of the effect of degree k + 1
  std::vector<std::pair<Index, Index>> term;  // (input, degree) of the first factor
  std::vector<std::pair<Index, Index>> with;  // of the second; input -1 where there is none
};
BlindEffects blind_effects(Index inputs, Index degree);
// Of the candidates at points coded to [-1, 1].
MatrixXd effect_columns(const BlindEffects& effects, ConstMatrixRef z);
// The prior variances r. `correlation[j](lag)`: of input j at a lag in units of z, in [0, 2].
VectorXd effect_variances(const BlindEffects& effects, const std::vector<std::function<double(double)>>& correlation);

struct BlindPath {
  std::vector<Index> chosen;  // candidates in the order they joined
  VectorXd cvpe;              // with the first 0, 1, 2, ... of them
};
// From a process with its starting trend; at most `max_terms` steps. Candidates that depend on the trend so far are passed over.
BlindPath blind_forward(const GaussianProcess& gp, ConstMatrixRef candidates, ConstVectorRef variances, Index max_terms,
                        Monitor& monitor);

}  // namespace granary::process
