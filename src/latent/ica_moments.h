// Independent components from fourth moments: Anandkumar, Ge, Hsu, Kakade and Telgarsky (JMLR 2014), section 3.3.
//
//   x = mean + A h (+ Gaussian noise),   E h = 0,  Var h_i = 1,   M4 = E x^4 - pairings of second moments = sum_i kappa_i a_i (x) a_i (x) a_i (x) a_i
//
// Without noise the rows are whitened by their covariance and u <- M4(I, u, u, u) climbs, with the sign of kappa tracked; `joint` diagonalises all slices
// M4(I, I, e_a, e_b) together.
// With noise the whitening is that of S = M4(I, I, e_j, e_j) summed over j, which no Gaussian noise touches: A D A' with D_i = kappa_i |a_i|^2. Where kappas have both
// signs that is no covariance, but a_i' S^+ a_i = 1 / D_i turns every sign (Arora, Ge, Moitra and Sachdeva, NIPS 2012):
//
//   M4(I, I, S^+) = sum_i a_i a_i' / |a_i|^2
//
// The length of a column cannot be told from its kurtosis: with noise columns of length one are returned.
// The paper prints the range 1..k for the indices of the pairings; it is 1..d.
#pragma once

#include "latent/moments.h"

namespace granary::latent {

struct IcaResult {
  MatrixXd mixing;      // d x k
  MatrixXd unmixing;    // k x d
  VectorXd mean;
  VectorXd kurtosis;    // kappa; with noise kappa times the fourth power of the column's length
  VectorXd eigenvalues;
  TensorResult tensor;  // residual: what the components leave of M4 in the whitened space
};
// Rows mean + A h + noise: sources of variance one, uniform (kurtosis -1.2) or, where `heavy`, exponential with a random sign (kurtosis 3).
struct IcaDraws {
  MatrixXd x, sources;
};
template <class V>
void fields(V& v, IcaDraws& t) {
  v("x", t.x);
  v("sources", t.sources);
}
IcaDraws ica_draws(Index n, ConstMatrixRef mixing, bool heavy, double noise_sd, Rng& rng);

IcaResult ica_moments(ConstMatrixRef x, Index k, bool noise, const TensorOptions& options, Rng& rng, Monitor& monitor);

}  // namespace granary::latent
