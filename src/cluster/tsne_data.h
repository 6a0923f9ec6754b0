// From data to the similarities of t-SNE: rows (dense or sparse), distances of all pairs, an own metric, or neighbours that are
// known.
#pragma once

#include <optional>

#include "cluster/tsne_affinity.h"
#include "core/base/fields.h"
#include "core/linalg/design.h"

namespace granary::cluster {

// The leading principal components: positions = (x - centre) rotation, divided by `unit`, the largest number among what is left
// of x after centring. As in the author's program rows of more than `most` columns are reduced to that many components; others
// are only centred.
struct ReducedRows {
  MatrixXd rows;
  VectorXd centre;
  MatrixXd rotation;  // columns x components; 0 x 0 where nothing was reduced
  double unit = 1;
};
template <class V>
void fields(V& v, ReducedRows& t) {
  v("rows", t.rows);
  v("center", t.centre);
  v("rotation", t.rotation);
  v("unit", t.unit);
}
ReducedRows reduce_rows(const Design& x, int most, Monitor& monitor);
// further rows in the same way
MatrixXd reduce_more(const Design& x, ConstVectorRef centre, ConstMatrixRef rotation, double unit);
// k columns of principal components with a first one of standard deviation `sd`; columns that the rows do not fill are zero.
MatrixXd principal_start(const Design& x, int k, double sd, Monitor& monitor);

// One of these is given.
struct MapSource {
  std::optional<Design> x;
  Metric metric = Metric::euclidean;
  VectorXd dist;          // the lower triangle of the distances of n rows
  Eigen::MatrixXi index;  // neighbours, k x n, with their
  MatrixXd distance;
  PairDistance own;  // an own metric
  Index n = 0;
};
// neighbours: how many; 0 for all others.
Neighbours source_neighbours(const MapSource& source, int neighbours, int threads, Monitor& monitor);

// How well a map keeps what is near near. For the rows i of a sample, with r(i, j) the rank of j among the others by distance
// from i and U_i the k nearest:
//
//   trustworthiness  1 - 2 / (m k (2 n - 3 k - 1)) sum_i sum_{j in U_i(map), not in U_i(data)} (r_data(i, j) - k)      (Venna and Kaski 2001)
//   continuity       the same with map and data exchanged
//   preservation     mean share of U_i(data) that is in U_i(map)
struct MapQuality {
  double trustworthiness = 0, continuity = 0, preservation = 0;
};
template <class V>
void fields(V& v, MapQuality& t) {
  v("trustworthiness", t.trustworthiness);
  v("continuity", t.continuity);
  v("preservation", t.preservation);
}
// map: points in rows. `which`: the sample. O(sample x n (columns + k)).
MapQuality map_quality(const MapSource& source, ConstMatrixRef map, int k, const std::vector<int>& which, int threads,
                       Monitor& monitor);

}  // namespace granary::cluster
