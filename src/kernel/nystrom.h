// A kernel matrix by a few of its columns: G ~ Z Z' with k columns, and the feature map z(x) behind it.
//
// Drineas and Mahoney (JMLR 2005), Algorithms 2 and 3: draw landmarks I by probabilities p, D = diag(1 / sqrt(c p_i)),
//   C = G(:, I) D,  W = D G(I, I) D = V L V',  G~_k = C W_k^+ C' = Z Z',  Z = C V_k L_k^-1/2.
// Repeated draws are merged: with multiplicity m the scale sqrt(m / (c p)) gives the same Z Z'.
//
// With k >= rank(W) the answer depends on the set of landmarks alone. With k below it the paper truncates W (`Truncate::w`), and
// there the scaling matters; cutting the full-rank answer to its best rank k (`Truncate::g`) costs O(n c^2) like the rest, is
// never worse in the trace norm, and is the default here.
#pragma once

#include <vector>

#include "core/base/fields.h"
#include "core/lowrank/gram_source.h"
#include "core/random/rng.h"

namespace granary::kernel {

enum class Sampling {
  uniform,     // without replacement
  uniform_wr,  // with: Algorithm 1
  trace,       // G_ii / tr G: what the proof of Theorem 3 uses
  diag2,       // G_ii^2, as printed in (16)
  column,      // squared lengths of the columns, which takes all of G
  inverse,     // 1 / G_ii
  leverage,    // ridge leverage scores from a uniform pilot
  adaptive,    // one after the other, by the residual diagonal
  greedy,      // the largest of it: pivoted incomplete Cholesky
  prob,        // probabilities of the user's
  given        // landmarks of the user's
};
inline Names<Sampling> names(Sampling) {
  return {{Sampling::uniform, "uniform"},   {Sampling::uniform_wr, "uniform_wr"},
          {Sampling::trace, "trace"},       {Sampling::diag2, "diag2"},
          {Sampling::column, "column"},     {Sampling::inverse, "inverse"},
          {Sampling::leverage, "leverage"}, {Sampling::adaptive, "adaptive"},
          {Sampling::greedy, "greedy"},     {Sampling::prob, "prob"},
          {Sampling::given, "given"}};
}
enum class Truncate { g, w };
inline Names<Truncate> names(Truncate) { return {{Truncate::g, "G"}, {Truncate::w, "W"}}; }

struct NystromOptions {
  Index c = 100;
  Index k = 0;  // 0: as many as there are
  Sampling sampling = Sampling::uniform;
  Truncate truncate = Truncate::g;
  double tol = 1e-10;   // eigenvalues of W below it times the largest are dropped
  double rank_tol = 0;  // adaptive, greedy: stop when this share of the trace is left
  bool clip = false;    // drop negative eigenvalues of W without complaint
  std::vector<Index> landmarks;
  VectorXd prob;
  int threads = 1;
};
template <class V>
void fields(V& v, NystromOptions& t) {
  v("c", t.c);
  v("k", t.k);
  v("sampling", t.sampling);
  v("truncate", t.truncate);
  v("tol", t.tol);
  v("rank_tol", t.rank_tol);
  v("clip", t.clip);
  v("landmarks", positions(t.landmarks));
  v("prob", t.prob);
  v("threads", t.threads);
}

struct NystromResult {
  std::vector<Index> landmarks;  // distinct, in the order drawn; none where they are points of their own
  std::vector<int> drawn;        // how often each
  VectorXd prob, scale;          // p of all points (empty where there is none), D
  VectorXd values;               // eigenvalues of W that were kept
  MatrixXd map;                  // landmarks x k: z(x) = map' k(landmarks, x)
  MatrixXd features;             // Z, n x k
  VectorXd eigenvalues;          // of Z Z', descending
  VectorXd residual;             // G_ii - |z_i|^2
  double trace = 0, trace_error = 0;
  double beta = 0;       // min p_i / (G_ii / tr G); 0 where there are no probabilities
  Index rank = 0;        // of W, numerically
  double lowest = 0;     // smallest eigenvalue of G(I, I) over its largest
  bool reduced = false;  // k was above the rank
  bool tied = false;     // the eigenvalues of W tie at k: G~_k is not unique
};
template <class V>
void fields(V& v, NystromResult& t) {
  v("landmarks", positions(t.landmarks));
  v("drawn", t.drawn);
  v("prob", t.prob);
  v("scale", t.scale);
  v("values", t.values);
  v("map", t.map);
  v("features", t.features);
  v("eigenvalues", t.eigenvalues);
  v("residual", t.residual);
  v("trace", t.trace);
  v("trace_error", t.trace_error);
  v("beta", t.beta);
  v("rank", t.rank);
  v("lowest", t.lowest);
  v("reduced", t.reduced);
  v("tied", t.tied);
}

// InputError where G turns out not to be positive semi-definite and `clip` is not set.
NystromResult nystrom(const GramSource& g, const NystromOptions& options, Rng& rng, Monitor& monitor);
// With points of one's own as landmarks: `cross` is k(x, landmarks), `inner` their kernel matrix.
NystromResult nystrom_points(MatrixXd cross, const MatrixXd& inner, ConstVectorRef diagonal, const NystromOptions& options,
                             Monitor& monitor);

// Centres of c clusters of the rows as landmarks, by k-means; they come back, one per row.
NystromResult nystrom_kmeans(const Kernel& kernel, ConstMatrixRef x, const NystromOptions& options, MatrixXd& centres, Rng& rng,
                             Monitor& monitor);

// How good it is, from G itself. `columns` 0: all of G, block by block; else as many columns drawn at random, scaled up.
struct NystromError {
  double frobenius = 0, spectral = 0, trace = 0;
  double best_frobenius = 0, best_spectral = 0, best_trace = 0;  // of the best matrix of the same rank; NaN where n is above 2000
  bool sampled = false;
};
template <class V>
void fields(V& v, NystromError& t) {
  v("frobenius", t.frobenius);
  v("spectral", any_number(t.spectral));
  v("trace", t.trace);
  v("best_frobenius", any_number(t.best_frobenius));
  v("best_spectral", any_number(t.best_spectral));
  v("best_trace", any_number(t.best_trace));
  v("sampled", t.sampled);
}
struct NystromErrorOptions {
  Index columns = 0;
  int threads = 1;
};
template <class V>
void fields(V& v, NystromErrorOptions& t) {
  v("columns", t.columns);
  v("threads", t.threads);
}
NystromError nystrom_error(const GramSource& g, ConstMatrixRef features, const NystromErrorOptions& options, Rng& rng,
                           Monitor& monitor);

// Theorem 3, with tr(G) in the place of the printed sum of G_ii^2:
//   |G - G~_k|_F <= |G - G_k|_F + eps tr(G)  for c >= 64 k / eps^4 (in expectation), 64 k eta^2 / eps^4 (probability 1 - delta)
//   |G - G~_k|_2 <= |G - G_k|_2 + eps tr(G)  for c >= 4 / eps^2, 4 eta^2 / eps^2;  eta = 1 + sqrt(8 log(1 / delta))
// delta = 1: in expectation. For probabilities p >= beta G_ii / tr G, c grows by 1 / beta.
double nystrom_columns(Index k, double eps, double delta, bool spectral, double beta);
double nystrom_eps(Index k, double c, double delta, bool spectral, double beta);
double nystrom_eta(double delta);

}  // namespace granary::kernel
