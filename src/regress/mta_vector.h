// Multi-task averaging of vectors: ybar_t in R^d, Sigma_t = Cov(ybar_t).
//
//   vec(m) = (I + (gamma / T) Sigma (L kron I_d))^-1 vec(ybar),   Sigma = blockdiag(Sigma_t)
//
// For Sigma_t = c_t S with one S the eigenvectors of S decouple the system into d scalar ones. For A = a 11' it is solved task by
// task: with W_t = (I + gamma a Sigma_t)^-1, xi = (sum W_t)^-1 sum W_t ybar_t and m_t = W_t ybar_t + (I - W_t) xi.
//
// Feldman, Gupta and Frigyik (JMLR 2014), section 4.2.
#pragma once

#include "regress/mta.h"

namespace granary::regress {

struct VectorMeansResult {
  MatrixXd estimate, variance;  // T x d; variance: of each coordinate, diag of W Sigma W', as if A were known
  VectorXd target;              // A = a 11' only
};
template <class V>
void fields(V& v, VectorMeansResult& t) {
  v("estimate", t.estimate);
  v("variance", t.variance);
  v("target", t.target);
}

// The covariance of every mean: `scale` times `common`, or `blocks` where there are any.
struct VectorMeansData {
  MatrixView mean{nullptr, 0, 0};
  MatrixXd common, similarity;
  VectorXd scale;
  std::vector<MatrixXd> blocks;
  double tau2 = 1, gamma = 1;
};
template <class V>
void fields(V& v, VectorMeansData& t) {
  v("mean", t.mean);
  v("common", t.common);
  v("similarity", t.similarity);
  v("scale", t.scale);
  v("blocks", t.blocks);
  v("tau2", t.tau2);
  v("gamma", t.gamma);
}
VectorMeansResult shrink_vectors(const VectorMeansData& data, Monitor& monitor);

// `a` empty: A = a 11' with tau2 = 1 / (gamma a); else the T x T similarity, with `gamma`.
VectorMeansResult shrink_vectors(ConstMatrixRef mean, ConstMatrixRef common, ConstVectorRef scale, ConstMatrixRef a, double tau2,
                                 double gamma, Monitor& monitor);
VectorMeansResult shrink_vectors(ConstMatrixRef mean, const std::vector<MatrixXd>& blocks, ConstMatrixRef a, double tau2,
                                 double gamma, Monitor& monitor);

}  // namespace granary::regress
