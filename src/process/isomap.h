// Isomap: distances along a graph of nearest neighbours, then classical scaling.
//
// Tenenbaum, de Silva, Langford (Science 2000). The graph joins each row with its k nearest ones, both ways; its shortest paths
// stand for distances along the manifold. Where the graph falls apart k is raised until it does not. Neighbours are found by
// core/neighbours, O(N^2 k log N) for the paths.
#pragma once

#include <vector>

#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary::process {

struct IsomapResult {
  MatrixXd x;           // N x q
  VectorXd values;      // the q largest eigenvalues of -J D2 J / 2
  MatrixXd distance;    // geodesics, N x N
  int neighbours = 0;   // k that was used
  double residual = 0;  // 1 - R^2 between the geodesics and the distances in the map
};
template <class V>
void fields(V& v, IsomapResult& t) {
  v("latent", t.x);
  v("values", t.values);
  v("distance", t.distance);
  v("neighbors", t.neighbours);
  v("residual", t.residual);
}
struct IsomapOptions {
  Index q = 2;
  int neighbors = 7;
  int threads = 1;
};
template <class V>
void fields(V& v, IsomapOptions& t) {
  v("k", t.q);
  v("neighbors", t.neighbors);
  v("threads", t.threads);
}
// Missing cells are NaN: distances then are over the cells that two rows share, scaled up.
IsomapResult isomap(ConstMatrixRef y, Index q, int neighbours, int threads, Monitor& monitor);

// Places of new rows: geodesics d through the nearest training rows, then the projection of landmarks (de Silva and Tenenbaum 2002),
// x_k = sum_i latent_ik (mean of row i of D^2 - d_i^2) / (2 values_k). A training row comes out where it is.
struct IsomapState {
  MatrixView x{nullptr, 0, 0};  // NaN for missing cells
  MatrixView latent{nullptr, 0, 0}, distance{nullptr, 0, 0};
  VectorXd eigenvalues;
  int neighbors = 1;
};
template <class V>
void fields(V& v, IsomapState& t) {
  v("x", any_number(t.x));
  v("latent", t.latent);
  v("distance", t.distance);
  v("eigenvalues", t.eigenvalues);
  v("neighbors", t.neighbors);
}
void check(const IsomapState& t);
MatrixXd isomap_place(const IsomapState& state, ConstMatrixRef newdata, int threads, Monitor& monitor);

}  // namespace granary::process
