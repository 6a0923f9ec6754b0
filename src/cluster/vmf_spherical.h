// Spherical k-means (Dhillon and Modha 2001; Algorithm 3 of Banerjee, Dhillon, Ghosh and Sra, JMLR 2005): labels z of unit rows and directions mu that maximise
//
//   sum_i w_i x_i'mu_z(i) = sum_h |r_h|,    r_h = sum_{z(i) = h} w_i x_i,   mu_h = r_h / |r_h|,
//
// by Lloyd's iterations. They stop where no row is nearer to another direction, which in sparse data with small clusters can be nearly anywhere. So rows are moved
// one at a time as long as that raises the objective (first variation), which a mean of ten documents answers to although each of them is nearest to it; and where
// no single move does, by chains of moves of which the first may lower it (Kernighan and Lin; Dhillon, Guan and Kogan, ICDM 2002).
#pragma once

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "core/cluster/linear_scores.h"
#include "core/random/rng.h"

namespace granary::cluster {

enum class SphericalStart { plusplus, sample };
inline Names<SphericalStart> names(SphericalStart) { return {{SphericalStart::plusplus, "plusplus"}, {SphericalStart::sample, "sample"}}; }

struct SphericalOptions {
  int k = 1;
  bool local_search = true;
  int chain = 10;     // moves per chain
  SphericalStart start = SphericalStart::plusplus;
  MatrixXd centers;   // directions to start from; empty: by `start`
  VectorXi labels;    // or labels of the rows
  int n_starts = 10;
  int max_iter = 300;
  int threads = 1;
};
template <class V>
void fields(V& v, SphericalOptions& t) {
  v("k", t.k);
  v("local_search", t.local_search);
  v("chain", t.chain);
  v("start", t.start);
  v("centers", t.centers);
  v("labels", positions(t.labels));
  v("n_starts", t.n_starts);
  v("max_iter", t.max_iter);
  v("threads", t.threads);
}

struct SphericalResult {
  VectorXi cluster;
  MatrixXd directions;
  VectorXd size;       // weights of the clusters
  VectorXd resultant;  // |r_h| / size_h, the mean cosine in the cluster
  double objective = 0;
  std::vector<double> trace;
  VectorXd values;     // of all starts
  int moves = 0;       // of the local search
  Convergence convergence;  // solved: every row is in the cluster of its nearest direction and, with local search, no single move raises the objective
};
template <class V>
void fields(V& v, SphericalResult& t) {
  v("cluster", positions(t.cluster));
  v("directions", t.directions);
  v("size", t.size);
  v("resultant", t.resultant);
  v("objective", t.objective);
  v("trace", t.trace);
  v("values", t.values);
  v("moves", t.moves);
  v("convergence", t.convergence);
}

// x: unit rows (DataRows::normalise); weights: one per row, or empty.
SphericalResult spherical_kmeans(const DataRows& x, ConstVectorRef weights, const SphericalOptions& options, Rng& rng, Monitor& monitor);

}  // namespace granary::cluster
