// Whitened moments of latent variable models: Anandkumar, Ge, Hsu, Kakade and Telgarsky (JMLR 2014), section 3. Each model has moments of the form
//
//   M2 = sum_i s_i mu_i mu_i'      M3 = sum_i t_i mu_i (x) mu_i (x) mu_i
//
// so that with W'M2 W = I the tensor M3(W, W, W) is orthogonal, with lambda_i = t_i s_i^(-3/2) and v_i = sqrt(s_i) W'mu_i. Nothing of size d^3 is formed, and for
// documents nothing of size d x d.
//
//   topic    each document has one topic            s = t = w
//   lda      latent Dirichlet allocation, alpha0 known: s_i = alpha_i / (a0 (a0 + 1)), t_i = 2 alpha_i / (a0 (a0 + 1)(a0 + 2))
//   gmm      spherical Gaussians of one variance    s = t = w
//   gmm_hetero   spherical Gaussians of their own variances
//   views    three views, independent given the state; the means of the third are found, the others follow
#pragma once

#include "core/base/monitor.h"
#include "core/cluster/data_rows.h"
#include "core/random/rng.h"
#include "latent/tensor.h"

namespace granary::latent {

struct WhitenedMoments {
  MatrixXd whiten;       // W, d x k
  MatrixXd unwhiten;     // B = (W')^+, d x k
  Tensor3 tensor;        // M3(W, W, W)
  VectorXd mean;         // M1
  VectorXd eigenvalues;  // of M2, falling: more than k of them, to judge k by
  double noise_var = 0;  // gmm: sigma^2; gmm_hetero: its mean
  VectorXd noise_mean;   // gmm_hetero: sum_i w_i sigma_i^2 mu_i
  double rows2 = 0, rows3 = 0;  // rows that entered M2 and M3
};

// counts: documents by words. alpha0 = 0: one topic per document.
WhitenedMoments topic_moments(const SparseMatrix& counts, double alpha0, Index k, Monitor& monitor);
WhitenedMoments gaussian_moments(ConstMatrixRef x, bool hetero, Index k, Monitor& monitor);

struct ViewMoments {
  WhitenedMoments moments;
  MatrixXd first, second;  // maps that take view 1 and view 2 into the third
};
ViewMoments view_moments(ConstMatrixRef x1, ConstMatrixRef x2, ConstMatrixRef x3, Index k, Monitor& monitor);

// mu_i and s_i from lambda_i, v_i, for moments with t_i = ratio s_i (ratio 1; for LDA 2 / (a0 + 2)): s_i = (ratio / lambda_i)^2, mu_i = B v_i / sqrt(s_i).
struct Recovered {
  VectorXd s;
  MatrixXd means;  // k x d
};
Recovered recover(const WhitenedMoments& moments, const TensorResult& tensor, double ratio);

}  // namespace granary::latent
