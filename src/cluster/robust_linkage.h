// Robust median neighbourhood linkage: Balcan, Liang and Gupta, Robust Hierarchical Clustering (JMLR 2014), Algorithms 1 and 3.
//
// Of n points only the order matters in which each sees the others. With e = eps n, eps = alpha + nu the share of wrong
// neighbours and bad points, and N_t(x) the t nearest to x, x itself the first:
//
//   F_t on points: x ~ y iff |N_t(x) & N_t(y)| >= t - 2 e
//   H_t on blobs:  two singletons are joined iff they have more than e common neighbours in F_t; other blobs iff the median over x in C_u, y in C_v of
//                  |N_F(x) & N_F(y) & (C_u + C_v)| is more than (|C_u| + |C_v|) / 4
//
// for t = floor(6 e) + 1, ..., n: merge the pair of H_t, not two singletons, of more than 4 e points with the largest median /
// (|C_u| + |C_v|), as long as there is one; merge what is left of components of H_t with at least 4 e points; give singletons
// that are too few to form a blob (fewer than max(4 e, t / 2)) to the blob of least median rank. The height of a merge is its t.
//
// How it is done. A pair has |N_t(x) & N_t(y)| = t - D_t, and the deficit D_t changes by at most 1 when t does: a pair with
// deficit D is looked at again only when it may have crossed 2 e, after
// |D - 2 e| steps. Counts are those of bits. A median test is made only where a bound allows it to succeed: with c(x) the
// F-neighbours of x in the other blob, S(x, y) <= c(x) + c(y). Singletons are searched for components within components of F_t
// only, for an edge of H_t joins points of one of them.
//
// Differs from the paper: x is its own nearest neighbour and ties are broken by the order given (the paper leaves both open);
// singletons are given away by the median of ranks instead of similarities, so that the tree depends on the order alone; `step`
// may raise t by more than 1.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/convergence.h"
#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary::cluster {

struct RobustLinkageOptions {
  double eps = 0.02;
  bool singletons = true;  // give away singletons that are too few
  int step = 1;
  int threads = 1;
};
template <class V>
void fields(V& v, RobustLinkageOptions& t) {
  v("eps", t.eps);
  v("singletons", t.singletons);
  v("step", t.step);
  v("threads", t.threads);
}

struct RobustLinkageResult {
  Eigen::MatrixXi merge;   // n - 1 x 2, as in R's hclust: -i for point i (from 1), m for merge m (from 1)
  VectorXd height;         // t of each merge
  VectorXi order;          // of the leaves, from 1
  std::vector<char> part;  // whether a merge is only a part of the next one that contains it: several blobs became one at once
  std::vector<int> blobs, singles, at;  // blobs and singletons left after each t at which something was merged
  double evaluations = 0;               // pairs of points compared
  Convergence convergence;
};
template <class V>
void fields(V& v, RobustLinkageResult& t) {
  v("merge", t.merge);
  v("height", t.height);
  v("order", t.order);
  v("part", t.part);
  v("blobs", t.blobs);
  v("singles", t.singles);
  v("at", t.at);
  v("evaluations", t.evaluations);
  v("convergence", t.convergence);
}

// Order in which every point sees all points, nearest first, itself in front: column x, points from 0. At most 65535 points.
using NeighbourOrder = Eigen::Matrix<std::uint16_t, Eigen::Dynamic, Eigen::Dynamic>;
enum class Closeness { similarity, distance };
inline Names<Closeness> names(Closeness) { return {{Closeness::similarity, "similarity"}, {Closeness::distance, "distance"}}; }
// Ties by number; NaN, "not known", comes last.
NeighbourOrder neighbour_order(ConstMatrixRef values, Closeness closeness, int threads, Monitor& monitor);

// The k columns nearest to each row of a table, nearest first: k x rows, from 0.
Eigen::MatrixXi nearest_columns(ConstMatrixRef values, Closeness closeness, int k);

RobustLinkageResult robust_linkage(const NeighbourOrder& order, const RobustLinkageOptions& options, Monitor& monitor);

// |N_t(x) & N_t(y)| of all pairs at one t, by definition.
Eigen::MatrixXi common_neighbours(const NeighbourOrder& order, int t);

}  // namespace granary::cluster
