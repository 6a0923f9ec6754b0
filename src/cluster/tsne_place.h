// New points among those of a map that stay where they are (an extension: not in the paper). Each minimises its own part of the
// cost, with q normalised over the map,
//
//   sum_j p_j|i log(p_j|i / q_j|i)         (elastic: sum_j p_j|i s_ij + lambda mean_j exp(-s_ij))
//
// from the weighted mean of its neighbours, by steps of F_attr - F_rep over the curvature of the attraction, halved until the
// cost falls.
#pragma once

#include "cluster/tsne_affinity.h"
#include "cluster/tsne_forces.h"

namespace granary::cluster {

struct Places {
  MatrixXd y;  // points in rows
  VectorXd cost;
  VectorXd residual;  // imbalance of the forces on each
  VectorXi iterations;
};
template <class V>
void fields(V& v, Places& t) {
  v("y", t.y);
  v("cost", t.cost);
  v("residual", t.residual);
  v("iterations", t.iterations);
}

struct PlaceOptions {
  ForceOptions force;
  double perplexity = 30;
  int max_iter = 100;
  double tol = 1e-6;
};
template <class V>
void fields(V& v, PlaceOptions& t) {
  v("force", t.force);
  v("perplexity", t.perplexity);
  v("max_iter", t.max_iter);
  v("tol", t.tol);
}

// map: points in rows; near: neighbours of the new points among them.
Places place_points(ConstMatrixRef map, const Neighbours& near, const PlaceOptions& options, Monitor& monitor);

}  // namespace granary::cluster
