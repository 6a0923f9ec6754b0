// Weights of features by how much they support a few clusters of the samples.
//
//   maximise  tr(Q' A_alpha^2 Q)  over  |alpha| = 1, Q'Q = I (q x k),   A_alpha = sum_i alpha_i m_i m_i'
//
// for n features m_i over q samples, centred and of unit length. For fixed Q the objective is alpha' G alpha with
// G_ij = (m_i'm_j)(m_i'QQ'm_j), for fixed alpha the best Q are the k leading eigenvectors of A_alpha, and the objective is then
// the sum of the squares of its k leading eigenvalues. Nothing asks for alpha >= 0 or for sparsity; both come out by themselves.
//
// Wolf and Shashua (JMLR 6, 2005); numbers of definitions below are theirs. The paper forms G, n x n, and calls n^2 unavoidable.
// But (G a)_i = m_i' H p_i with p_i = Q'm_i and H = sum_j a_j m_j p_j' (q x k): O(nqk) per product, and G is never formed.
#pragma once

#include <memory>
#include <vector>

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "core/random/rng.h"
#include "core/base/types.h"

namespace granary::regress {

enum class QAlphaMethod {
  power,  // Definition 2: one orthogonal iteration per round
  basic,  // exact eigenvectors in every round
  ritz    // Definition 4
};
inline Names<QAlphaMethod> names(QAlphaMethod) {
  return {{QAlphaMethod::power, "power"}, {QAlphaMethod::basic, "basic"}, {QAlphaMethod::ritz, "ritz"}};
}
enum class QAlphaCriterion { energy, gap };         // gap: minus the squares of the other eigenvalues
inline Names<QAlphaCriterion> names(QAlphaCriterion) { return {{QAlphaCriterion::energy, "energy"}, {QAlphaCriterion::gap, "gap"}}; }
enum class QAlphaSpectrum { standard, laplacian };  // laplacian: Definition 5
inline Names<QAlphaSpectrum> names(QAlphaSpectrum) {
  return {{QAlphaSpectrum::standard, "standard"}, {QAlphaSpectrum::laplacian, "laplacian"}};
}

struct QAlphaOptions {
  Index k = 2;
  QAlphaMethod method = QAlphaMethod::power;
  QAlphaCriterion criterion = QAlphaCriterion::energy;
  QAlphaSpectrum spectrum = QAlphaSpectrum::standard;
  int n_start = 10;   // the first from the leading eigenvectors of M'M; others random or seeded by a feature
  double tol = 1e-8;  // on the change of alpha, or a hundredth of it on the relative change of the objective
  int max_iter = 500;
  int threads = 1;
};
template <class V>
void fields(V& v, QAlphaOptions& t) {
  v("k", t.k);
  v("method", t.method);
  v("criterion", t.criterion);
  v("spectrum", t.spectrum);
  v("n_starts", t.n_start);
  v("tol", t.tol);
  v("max_iter", t.max_iter);
  v("threads", t.threads);
}

struct QAlphaResult {
  VectorXd alpha;  // sum(alpha) >= 0
  MatrixXd basis;  // Q (for a kernel E, with Q = Phi'E)
  double objective = 0;
  double eigen_gap = 0;       // 1 - second / first eigenvalue of G: near 0, alpha is not well determined
  VectorXd start_objectives;  // where each start ended
  std::vector<double> path;   // objective after each round, of the best start
  Convergence convergence;    // residual = |G alpha - objective alpha| / objective
};
template <class V>
void fields(V& v, QAlphaResult& t) {
  v("alpha", t.alpha);
  v("basis", t.basis);
  v("objective", t.objective);
  v("eigen_gap", t.eigen_gap);
  v("start_objectives", t.start_objectives);
  v("path", t.path);
  v("convergence", t.convergence);
}

// Samples x features, as in R, each column centred if asked for and scaled to unit length. A column that does not vary (or is
// zero) becomes zero and is marked.
struct Standardised {
  MatrixXd x;
  VectorXd centre, scale;  // x = (raw - centre) / scale
  std::vector<bool> constant;
};
template <class V>
void fields(V& v, Standardised& t) {
  v("x", t.x);
  v("centre", t.centre);
  v("scale", t.scale);
  v("constant", t.constant);
}
Standardised standardise_features(ConstMatrixRef x, bool centre);

// `x`: q x n, columns m_i.
QAlphaResult q_alpha(ConstMatrixRef x, const QAlphaOptions& options, const Rng& rng, Monitor& monitor);

// The features through an n x n kernel matrix V alone (Definition 14): G = V o (V E E'V). The paper replaces E by E R^-1; its own
// derivation gives D_alpha V E R^-1 with R'R = (D_alpha V E)' V (D_alpha V E), which is what moves the subspace. Only the power
// method.
QAlphaResult q_alpha_kernel(ConstMatrixRef v, const QAlphaOptions& options, const Rng& rng, Monitor& monitor);

// The k leading eigenvectors of A_alpha, by magnitude of the eigenvalue, and these.
struct Embedding {
  MatrixXd vectors;
  VectorXd values;
};
template <class V>
void fields(V& v, Embedding& t) {
  v("vectors", t.vectors);
  v("values", t.values);
}
Embedding weighted_embedding(ConstMatrixRef x, ConstVectorRef alpha, Index k, Monitor& monitor);

}  // namespace granary::regress
