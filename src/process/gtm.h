// Generative topographic mapping: a grid of normal laws bent into the data.
//
//   p(y) = 1/K sum_k N(y | W' phi(z_k), I / beta),   z_k on a grid in [-1, 1]^q, phi normal bumps on a coarser grid and a
//   constant
//
// Bishop, Svensen, Williams (Neural Computation 1998), fitted by EM from the plane of the leading principal components. `penalty`
// is the precision of a normal prior on W. A row's place in the map is the mean of the grid under its posterior. O(K N D) per
// step.
#pragma once

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary::process {

struct GtmOptions {
  int grid = 15;     // points along each side
  int basis = 4;     // bumps along each side
  double width = 1;  // of a bump, in units of their spacing
  double penalty = 1e-3;
  int max_iter = 500;
  double tol = 1e-6;  // relative change of the log-likelihood
};
template <class V>
void fields(V& v, GtmOptions& t) {
  v("grid", t.grid);
  v("basis", t.basis);
  v("width", t.width);
  v("lambda", t.penalty);
  v("max_iter", t.max_iter);
  v("tol", t.tol);
}

struct GtmResult {
  MatrixXd x;        // N x q posterior means
  MatrixXd grid;     // K x q
  MatrixXd centres;  // K x D, W' phi(z_k)
  MatrixXd weights;  // of the basis, (bumps + 1) x D
  double noise = 0;  // 1 / beta
  double log_likelihood = 0;
  VectorXd trace;  // log-likelihood plus log prior of W, which never falls
  Convergence convergence;
};
template <class V>
void fields(V& v, GtmResult& t) {
  v("latent", t.x);
  v("grid", t.grid);
  v("centres", t.centres);
  v("noise", t.noise);
  v("loglik", t.log_likelihood);
  v("trace", t.trace);
  v("convergence", t.convergence);
}
// Where new rows go in a map that was kept.
struct GtmState {
  MatrixXd grid, raw_centres;
  double raw_noise = 1;
};
template <class V>
void fields(V& v, GtmState& t) {
  v("grid", t.grid);
  v("raw_centres", t.raw_centres);
  v("raw_noise", t.raw_noise);
}
inline void check(const GtmState& t) {
  require(t.grid.rows() == t.raw_centres.rows(), "the centres do not belong to the grid.");
  require(t.raw_noise > 0, "`raw_noise` is not positive.");
}
struct GtmPlaces {
  MatrixXd latent;
  VectorXd log_likelihood;
};
template <class V>
void fields(V& v, GtmPlaces& t) {
  v("latent", t.latent);
  v("loglik", t.log_likelihood);
}
GtmResult gtm(ConstMatrixRef y, Index q, const GtmOptions& options, Monitor& monitor);  // y centred

// Posterior means in the map of rows of y, and the log-likelihood of each.
void gtm_place(ConstMatrixRef y, ConstMatrixRef grid, ConstMatrixRef centres, double noise, MatrixXd& x,
               VectorXd& log_likelihood);

}  // namespace granary::process
