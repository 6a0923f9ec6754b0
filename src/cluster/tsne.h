// t-SNE in O(n log n): van der Maaten, Accelerating t-SNE using Tree-Based Algorithms (JMLR 2014).
//
//   minimise  KL(P || Q) = sum_ij p_ij log(p_ij / q_ij)   over positions y_i in 1, 2 or 3 dimensions        (tsne_affinity.h, tsne_forces.h)
//
// by descent with momentum and gains of each coordinate (Jacobs 1988): gain + 0.2 where gradient and last step point apart, gain
// x 0.8 otherwise, at least 0.01;
//   step = momentum step - rate gain gradient,  y = y + step, centred.
// In the first iterations P is multiplied by `exaggeration`, and the momentum is less.
//
// Differs from the paper: its condition for taking a cell as a whole (equation 4) divides by the squared distance, which would
// depend on the unit of the map; as in Barnes and Hut, and in the author's program, it is the distance. The factor 4 of the
// gradient is left out of the step, as in the author's program, to which the rate of 200 belongs. A step that leaves the range of
// numbers is taken back with half the rate. Costs while it runs have Z from the tree, which is biased low; the cost of the answer
// has Z exactly up to
// `exact_most` points, and with theta at most 0.1 beyond.
#pragma once

#include <functional>

#include "cluster/tsne_forces.h"
#include "core/base/convergence.h"
#include "core/random/rng.h"

namespace granary::cluster {

struct TsneOptions {
  int k = 2;  // dimensions
  MapType type = MapType::tsne;
  double lambda = 10;
  BodyMethod method = BodyMethod::barnes_hut;
  double theta = 0.5;
  CellSize cell = CellSize::side;
  double exaggeration = 12;
  int exaggeration_iter = 250;
  double early_momentum = 0.5, late_momentum = 0.8;
  double rate = 200;
  int max_iter = 1000;
  double tol = 0;  // imbalance of the forces (tsne_forces.h) that ends it early
  int threads = 1;
};
template <class V>
void fields(V& v, TsneOptions& t) {
  v("k", t.k);
  v("type", t.type);
  v("lambda", t.lambda);
  v("method", t.method);
  v("theta", t.theta);
  v("cell", t.cell);
  v("exaggeration", t.exaggeration);
  v("exaggeration_iter", t.exaggeration_iter);
  v("early_momentum", t.early_momentum);
  v("late_momentum", t.late_momentum);
  v("rate", t.rate);
  v("max_iter", t.max_iter);
  v("tol", t.tol);
  v("threads", t.threads);
}

// All that is needed to go on. Columns are points.
struct TsneState {
  MatrixXd y, step, gain;
  int iterations = 0;
  double rate = 0;
};
template <class V>
void fields(V& v, TsneState& t) {
  v("y", t.y);
  v("step", t.step);
  v("gain", t.gain);
  v("iterations", t.iterations);
  v("rate", t.rate);
}
inline void check(const TsneState& s) {
  require(s.y.rows() >= 1 && s.y.rows() <= 3 && s.y.cols() >= 1, "`y` is no map.");
  require(
      s.step.rows() == s.y.rows() && s.step.cols() == s.y.cols() && s.gain.rows() == s.y.rows() && s.gain.cols() == s.y.cols(),
      "`step` or `gain` has another size than the map.");
  require(s.iterations >= 0 && s.rate > 0, "`iterations` or `rate` is negative.");
}

struct TracePoint {
  int iteration = 0;
  double cost = 0;  // Z from the tree, P not exaggerated
  double imbalance = 0;
};
template <class V>
void fields(V& v, TracePoint& t) {
  v("iteration", t.iteration);
  v("cost", t.cost);
  v("imbalance", t.imbalance);
}

struct TsneResult {
  TsneState state;
  double cost = 0;
  VectorXd point_cost;
  double z = 0;
  bool exact = false;  // the cost has Z exactly
  std::vector<TracePoint> trace;
  int restarts = 0;         // halvings of the rate
  Convergence convergence;  // residual: imbalance of the forces at the answer
};
template <class V>
void fields(V& v, TsneResult& t) {
  v("state", t.state);
  v("cost", t.cost);
  v("point_cost", t.point_cost);
  v("z", t.z);
  v("exact", t.exact);
  v("trace", columns(t.trace));
  v("restarts", t.restarts);
  v("convergence", t.convergence);
}

constexpr Index exact_most = 20000;
constexpr double balanced = 0.05;  // an answer is called converged when its imbalance is at most this
constexpr int look_every = 50;

// Called every 50 iterations with their number, the map (points in rows) and its cost; false ends it.
using TsneWatch = std::function<bool(int, MatrixXd, double)>;

MatrixXd random_start(Index n, int k, double sd, Rng& rng);          // points in rows
TsneState tsne_start(ConstMatrixRef y, const TsneOptions& options);  // points in rows
// max_iter more iterations.
TsneResult tsne_run(ConstAffinity p, TsneState start, const TsneOptions& options, const TsneWatch& watch, Monitor& monitor);

// Cost and gradient of a given map (points in rows).
struct TsneGradient {
  double cost = 0, z = 0;
  VectorXd point_cost;
  MatrixXd gradient;
};
template <class V>
void fields(V& v, TsneGradient& t) {
  v("cost", t.cost);
  v("z", t.z);
  v("point_cost", t.point_cost);
  v("gradient", t.gradient);
}
TsneGradient tsne_gradient(ConstAffinity p, ConstMatrixRef y, const ForceOptions& options, Monitor& monitor);

}  // namespace granary::cluster
