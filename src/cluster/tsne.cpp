#include "cluster/tsne.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"

namespace granary::cluster {

namespace {

ForceOptions force_options(const TsneOptions& options) {
  ForceOptions out;
  out.type = options.type;
  out.lambda = options.lambda;
  out.method = options.method;
  out.cell = options.cell;
  out.theta = options.theta;
  out.threads = options.threads;
  return out;
}

// Forces beyond doubt, for the verdict on the answer.
ForceOptions careful(ForceOptions options, Index n) {
  if (n <= exact_most) options.method = BodyMethod::exact;
  if (options.method == BodyMethod::dual_tree) options.method = BodyMethod::barnes_hut;
  options.theta = std::min(options.theta, 0.1);
  return options;
}

bool sound(const MatrixXd& y, double reach) { return y.allFinite() && y.cwiseAbs().maxCoeff() < reach; }

void advance(const MatrixXd& gradient, double momentum, TsneState& s) {
  const double* g = gradient.data();
  double *step = s.step.data(), *gain = s.gain.data(), *y = s.y.data();
  for (Index e = 0; e < s.y.size(); ++e) {
    const bool apart = (g[e] > 0) != (step[e] > 0) || g[e] == 0;
    gain[e] = std::max(apart ? gain[e] + 0.2 : gain[e] * 0.8, 0.01);
    step[e] = momentum * step[e] - s.rate * gain[e] * g[e];
    y[e] += step[e];
  }
  const VectorXd centre = s.y.rowwise().mean();
  s.y.colwise() -= centre;
}

}  // namespace

MatrixXd random_start(Index n, int k, double sd, Rng& rng) {
  MatrixXd out(n, k);
  for (Index e = 0; e < out.size(); ++e) out.data()[e] = rng.normal(0, sd);
  return out;
}

TsneState tsne_start(ConstMatrixRef y, const TsneOptions& options) {
  TsneState out;
  out.y = y.transpose();
  out.y.colwise() -= VectorXd(out.y.rowwise().mean());
  out.step = MatrixXd::Zero(out.y.rows(), out.y.cols());
  out.gain = MatrixXd::Ones(out.y.rows(), out.y.cols());
  out.rate = options.rate;
  return out;
}

TsneResult tsne_run(ConstAffinity p, TsneState start, const TsneOptions& options, const TsneWatch& watch, Monitor& monitor) {
  const Stopwatch clock;
  const auto dim = static_cast<int>(start.y.rows());
  const Index n = start.y.cols();
  if (p.cols() != n) throw InputError(message("the similarities are of ", p.cols(), " points, the map has ", n, "."));
  MapForces forces(p, dim, force_options(options));
  TsneResult out;
  TsneState state = std::move(start), good = state, best = state;
  double best_cost = std::numeric_limits<double>::infinity();
  bool stopped = false;
  MatrixXd gradient;
  const int first = state.iterations, last = first + options.max_iter;
  // A map of n points needs some square root of n; one that goes beyond this runs away.
  const double reach = std::max({1e4, 10 * std::sqrt(static_cast<double>(n)), 10 * state.y.cwiseAbs().maxCoeff()});
  while (true) {
    forces.compute(state.y, monitor);
    const bool early = state.iterations < options.exaggeration_iter;
    if ((state.iterations - first) % look_every == 0 || state.iterations == last) {
      const double cost = forces.cost(state.y, monitor), imbalance = forces.imbalance();
      out.trace.push_back({state.iterations, cost, imbalance});
      good = state;
      if (!early && cost <= best_cost) best = state, best_cost = cost;
      if (watch && state.iterations > first) stopped = !watch(state.iterations, state.y.transpose(), cost);
      if (state.iterations == last || stopped || (!early && imbalance <= options.tol)) break;
    }
    gradient.noalias() = (early ? options.exaggeration : 1) * forces.attraction - forces.repulsion;
    advance(gradient, early ? options.early_momentum : options.late_momentum, state);
    ++state.iterations;
    if (!sound(state.y, reach)) {
      if (++out.restarts > 30)
        throw NumericalError("the map leaves the range of numbers at every learning rate; look at the scale of the start.");
      state = good;
      state.rate = good.rate = state.rate / 2;
      state.step.setZero();
      state.gain.setOnes();
    }
    monitor.progress(static_cast<double>(state.iterations - first) / std::max(options.max_iter, 1));
  }
  out.state = std::isfinite(best_cost) ? best : state;

  const ForceOptions verdict = careful(force_options(options), n);
  MapForces last_look(p, dim, verdict);
  last_look.compute(out.state.y, monitor);
  out.cost = last_look.cost(out.state.y, monitor, &out.point_cost);
  out.z = last_look.z;
  out.exact = verdict.method == BodyMethod::exact || verdict.theta == 0;
  out.convergence.residual = last_look.imbalance();
  out.convergence.iterations = out.state.iterations;
  out.convergence.converged = out.convergence.residual <= balanced;
  out.convergence.reason = out.exact ? Stop::unsaid : Stop::approximate;
  out.convergence.seconds = clock.seconds();
  return out;
}

TsneGradient tsne_gradient(ConstAffinity p, ConstMatrixRef y, const ForceOptions& options, Monitor& monitor) {
  const MatrixXd points = y.transpose();
  if (p.cols() != points.cols())
    throw InputError(message("the similarities are of ", p.cols(), " points, the map has ", points.cols(), "."));
  MapForces forces(p, static_cast<int>(points.rows()), options);
  forces.compute(points, monitor);
  TsneGradient out;
  out.cost = forces.cost(points, monitor, &out.point_cost);
  out.z = forces.z;
  out.gradient = 4 * (forces.attraction - forces.repulsion).transpose();
  return out;
}

}  // namespace granary::cluster
