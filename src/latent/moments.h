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

#include <functional>

#include "core/base/monitor.h"
#include "core/linalg/design.h"
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
  double rows = 0, rows2 = 0, rows3 = 0;  // rows, and those that entered M2 and M3
  MatrixXd starts;     // k x some: whitened rows, or the longest documents, which point near components
  double settled = 0;  // topics: residual of the leading pairs of M2, relative to the first
};

// Documents in pieces, words x documents: false at the end, after which it begins again.
using DocumentSource = std::function<bool(Design& piece)>;
DocumentSource one_piece(const Design& documents);

// A fixed number of parts, so that sums do not depend on the number of threads.
constexpr Index document_parts = 8;
void over_documents(const ConstSparseMap& piece, int threads, Monitor& monitor, const std::function<void(Index part, Index from, Index to)>& body);

struct TopicMomentOptions {
  Index words = 0;
  double alpha0 = 0;    // 0: one topic per document
  int oversample = 10;  // columns of the sketch beyond k
  int passes = 30;      // at most so many products with M2; they end when the leading pairs have settled to `tol`, relative to the first
  double tol = 1e-6;
  int threads = 1;
};
// M2 is met only as its product with a few vectors, summed over documents: subspace iteration (Halko, Martinsson and Tropp 2011). A vocabulary of at most
// 200 words is met whole.
WhitenedMoments topic_moments(const DocumentSource& source, const TopicMomentOptions& options, Index k, Rng& rng, Monitor& monitor);
WhitenedMoments gaussian_moments(ConstMatrixRef x, bool hetero, Index k, Monitor& monitor);

// Three views that are independent given the state. After the decomposition the means of any function of a view follow in the order of the components,
// E[f(x_v) | h] = E[f(x_v) p'] (A^+)' diag(1 / w) with a partner p of another view that has the means A.
struct ViewMoments {
  WhitenedMoments moments;
  MatrixXd first, second;  // maps that take view 1 and view 2 into the third
  VectorXd singular;       // of E[x1 x2']
};
ViewMoments view_moments(ConstMatrixRef x1, ConstMatrixRef x2, ConstMatrixRef x3, Index k, Monitor& monitor);
MatrixXd aligned_means(ConstMatrixRef f, ConstMatrixRef partner, ConstMatrixRef means, ConstVectorRef share);  // k x columns of f; means: k x d
MatrixXd pseudo_inverse(ConstMatrixRef a);

// W'x of at most 16 rows, evenly spaced: starts of power steps.
MatrixXd some_rows(ConstMatrixRef x, ConstMatrixRef whiten);

// Error of M3(W, W, W), from moments of `n` bootstrap samples: operator norms (lower bounds) of their tensors less the tensor at hand. The whitening of a sample is
// its own, W_b, B_b; its tensor is turned by the orthogonal factor of W'B_b, that is, W_b is taken as W (W'M2_b W)^(-1/2), so errors of M2 count too.
// Infinity where the moments of a sample do not allow k components.
VectorXd tensor_errors(const WhitenedMoments& moments, int n, const std::function<WhitenedMoments()>& sample, Rng& rng, Monitor& monitor);

// mu_i and s_i from lambda_i, v_i, for moments with t_i = ratio s_i (ratio 1; for LDA 2 / (a0 + 2)): s_i = (ratio / lambda_i)^2, mu_i = B v_i / sqrt(s_i).
struct Recovered {
  VectorXd s;
  MatrixXd means;  // k x d
};
Recovered recover(const WhitenedMoments& moments, const TensorResult& tensor, double ratio);

}  // namespace granary::latent
