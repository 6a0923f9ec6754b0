// Principal components and spectral embeddings of features Z with Z Z' = K, and eigenfunctions of a kernel.
//
//   covariance   Z centred, Z_c = U S V': scores U S, variances S^2 / (n - 1); a new point has the scores V'(z - mean)
//   laplacian    degrees d = Z (Z'1), Y = D^-1/2 Z = U S V': the leading eigenvectors U of D^-1/2 K D^-1/2, with eigenvalues S^2;
//                a new point is V' z / (sqrt(d(z)) S), d(z) = z'(Z'1)
//
// Eigenfunctions of  int k(x, s) phi(s) dmu(s) = lambda phi(x)  by quadrature (Drineas and Mahoney, JMLR 2005, (34) to (39)):
// with weights w_j at nodes s_j, B = W^1/2 K W^1/2 = Q L Q', phi(s_j) = q_j / sqrt(w_j), and
// phi(x) = (1 / lambda) sum_j w_j k(x, s_j) phi(s_j).
#pragma once

#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "core/base/types.h"
#include "core/kernel/kernel.h"

namespace granary::kernel {

enum class Embedding { covariance, laplacian };
inline Names<Embedding> names(Embedding) { return {{Embedding::covariance, "covariance"}, {Embedding::laplacian, "laplacian"}}; }

struct PcaResult {
  MatrixXd scores;    // n x k
  VectorXd values;    // variances, or eigenvalues of the normalised kernel matrix
  MatrixXd rotation;  // features x k
  VectorXd mean;      // of the features, or Z'1
  double total = 0;   // sum of all variances (eigenvalues)
};
template <class V>
void fields(V& v, PcaResult& t) {
  v("scores", t.scores);
  v("values", t.values);
  v("rotation", t.rotation);
  v("mean", t.mean);
  v("total", t.total);
}
PcaResult kernel_pca(ConstMatrixRef z, Index k, Embedding type);
MatrixXd pca_scores(ConstMatrixRef z, ConstMatrixRef rotation, ConstVectorRef mean, Embedding type);

struct KernelEigenfunctions {
  VectorXd values;        // descending
  MatrixXd at_nodes;      // phi at the nodes, one column per function
  MatrixXd coefficients;  // phi(x) = k(x, nodes) coefficients
  VectorXd nodes, weights;
  double trace = 0;  // sum of all eigenvalues, int k(s, s) dmu(s)
};
template <class V>
void fields(V& v, KernelEigenfunctions& t) {
  v("values", t.values);
  v("at_nodes", t.at_nodes);
  v("coefficients", t.coefficients);
  v("nodes", t.nodes);
  v("weights", t.weights);
  v("trace", t.trace);
}
// Gauss-Legendre nodes on [a, b], or the points x with equal weights.
KernelEigenfunctions kernel_eigenfunctions(const Kernel& kernel, double a, double b, int n, Index k, int threads,
                                           Monitor& monitor);
KernelEigenfunctions kernel_eigenfunctions(const Kernel& kernel, ConstMatrixRef x, Index k, int threads, Monitor& monitor);

}  // namespace granary::kernel
