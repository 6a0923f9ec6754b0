#include <algorithm>
#include <cmath>

#include "core/optim/admm.h"
#include "core/prox/proximal.h"
#include "core/linalg/spectral.h"
#include "regress/completion_bounded.h"
#include "core/linalg/dense.h"

namespace granary::regress {

namespace {

Svd full_svd(const MatrixXd& a) {
  return Svd(a, SvdParts::thin);
}
VectorXd singular_values(const MatrixXd& a) { return Svd(a).singularValues(); }

}  // namespace

CompletionResult complete_maxabs(const ObservedCells& cells, double lo, double hi, double lambda, double t,
                                 const CompletionOptions& options, Monitor& monitor) {
  const bool constrained = t > 0;
  if (!constrained && !(lambda > 0)) throw InputError("lambda must be positive: without a penalty the completion is not unique.");
  if (!(lo < hi)) throw InputError("the lower bound must be below the upper one.");
  const double nearest = std::max(0.0, std::max(lo, -hi));  // a constant matrix of this size has the least trace norm in the box
  if (constrained && t < nearest * std::sqrt(static_cast<double>(cells.rows * cells.cols)) * (1 - 1e-12)) {
    throw InputError("no matrix with entries inside the bounds has so small a trace norm; raise it.");
  }
  const Stopwatch clock;
  const MatrixXd weight = [&] {
    std::vector<double> w(cells.by_col.weight);
    return MatrixXd(on_cells(cells, w));
  }();
  const MatrixXd data = MatrixXd(on_cells(cells, cells.by_col.value));

  AdmmProblem problem;
  problem.f = [&](const MatrixXd& v, double rho) -> MatrixXd {
    return ((2 * weight.array() * data.array() + rho * v.array()) / (2 * weight.array() + rho)).max(lo).min(hi).matrix();
  };
  problem.g = {[&](const MatrixXd& v, double rho) -> MatrixXd {
    monitor.check();
    return constrained ? project_nuclear_ball(v, t) : prox_nuclear(v, lambda / rho).x;
  }};
  const auto loss_of = [&](const MatrixXd& w) { return (weight.array() * (data - w).array().square()).sum(); };
  // x obeys the bounds; where zero does too, scaling it into the ball keeps them.
  const auto feasible = [&](const AdmmState& state) -> MatrixXd {
    if (!constrained) return state.x;
    const double norm = singular_values(state.x).sum();
    return norm > t && lo <= 0 && hi >= 0 ? MatrixXd(state.x * (t / norm)) : state.x;
  };
  // Weak duality: for ||Z||_sp <= lambda, min over the box of loss(W) + <Z, W>, entry by entry; minus t ||Z||_sp when
  // constrained.
  problem.gap = [&](const AdmmState& state) {
    MatrixXd z = state.rho * state.u[0];
    const double norm = singular_values(z)[0];
    if (!constrained && norm > lambda) z *= lambda / norm;
    double dual = constrained ? -t * norm : 0;
    for (Index j = 0; j < z.cols(); ++j) {
      for (Index i = 0; i < z.rows(); ++i) {
        const double w = weight(i, j), x = data(i, j);
        const double at = w > 0 ? std::min(hi, std::max(lo, x - z(i, j) / (2 * w))) : (z(i, j) > 0 ? lo : hi);
        dual += w * (x - at) * (x - at) + z(i, j) * at;
      }
    }
    const MatrixXd best = feasible(state);
    return loss_of(best) + (constrained ? 0 : lambda * singular_values(best).sum()) - dual;
  };
  AdmmOptions settings;
  settings.tol = 1e-12;
  settings.max_iter = options.max_iter;
  settings.rho = 1;  // the curvature of the loss is 2 w
  settings.gap_tol = options.tol * gap_scale(cells, 0.5 * cells.total);
  CompletionResult result;
  AdmmResult found = admm(problem, MatrixXd::Zero(cells.rows, cells.cols).cwiseMax(lo).cwiseMin(hi), settings, monitor);
  const MatrixXd w = feasible(found);
  const auto svd = full_svd(w);
  const VectorXd& d = svd.singularValues();
  Index keep = 0;
  while (keep < d.size() && d[keep] > 1e-12 * d[0]) ++keep;
  result.w = {svd.matrixU().leftCols(keep), d.head(keep), svd.matrixV().leftCols(keep)};
  fix_signs(result.w.q, result.w.p);
  result.loss = loss_of(w);
  result.objective = result.loss + (constrained ? 0 : lambda * d.sum());
  result.convergence = found.convergence;
  Convergence& end = result.convergence;
  end.gap = std::max(0.0, end.gap);
  end.residual = end.gap / gap_scale(cells, result.objective);
  result.gradient_norm = found.rho * singular_values(found.u[0])[0];
  result.certified = end.converged = end.gap <= options.tol * gap_scale(cells, std::max(result.objective, 0.5 * cells.total));
  end.message = end.converged ? "" : "the iteration limit was reached";
  end.seconds = clock.seconds();
  return result;
}

MixedDualNorm mixed_dual_norm(ConstMatrixRef g, double t, double b, double tol, int max_iter, Monitor& monitor) {
  if (!(t > 0) || !(b > 0)) throw InputError("both radii must be positive.");
  const Stopwatch clock;
  MixedDualNorm result;
  const double scale = g.cwiseAbs().maxCoeff();
  result.z = MatrixXd::Zero(g.rows(), g.cols());
  result.w = result.z;
  if (scale == 0) {
    result.convergence.converged = true;
    result.convergence.gap = 0;
    return result;
  }
  const MatrixXd unit = g / scale;  // the norm is homogeneous
  const auto upper = [&](const MatrixXd& z) { return b * (unit - z).cwiseAbs().sum() + t * singular_values(z)[0]; };
  const auto lower_point = [&](const AdmmState& state) -> MatrixXd {
    MatrixXd w = (-state.rho * state.u[0]).cwiseMax(-b).cwiseMin(b);
    const double norm = singular_values(w).sum();
    return norm > t ? MatrixXd(w * (t / norm)) : w;
  };
  AdmmProblem problem;
  // The spectral norm's prox by Moreau: what projection onto the ball of its dual leaves.
  problem.f = [&](const MatrixXd& v, double rho) -> MatrixXd { return v - project_nuclear_ball(v, t / rho); };
  problem.g = {[&](const MatrixXd& v, double rho) -> MatrixXd {
    monitor.check();
    return unit + soft_threshold(v - unit, b / rho);
  }};
  problem.gap = [&](const AdmmState& state) { return upper(state.z[0]) - unit.cwiseProduct(lower_point(state)).sum(); };
  AdmmOptions settings;
  settings.tol = 1e-13;
  settings.max_iter = max_iter;
  settings.rho = std::max(b, t / std::sqrt(static_cast<double>(g.size())));
  settings.gap_tol = tol * std::min(b * unit.cwiseAbs().sum(), t * singular_values(unit)[0]) * 0.5;
  const AdmmResult found = admm(problem, result.z, settings, monitor);
  result.z = scale * found.z[0];
  result.w = lower_point(found);
  // Either part alone is a decomposition too.
  const MatrixXd zero = MatrixXd::Zero(g.rows(), g.cols());
  double value = upper(found.z[0]);
  for (const MatrixXd& candidate : {zero, unit}) {
    const double here = upper(candidate);
    if (here < value) {
      value = here;
      result.z = scale * candidate;
    }
  }
  result.value = scale * value;
  result.convergence = found.convergence;
  result.convergence.gap = std::max(0.0, result.value - g.cwiseProduct(result.w).sum());
  result.convergence.residual = result.convergence.gap / result.value;
  result.convergence.converged = result.convergence.residual <= tol;
  result.convergence.message = result.convergence.converged ? "" : "the iteration limit was reached";
  result.convergence.seconds = clock.seconds();
  return result;
}

}  // namespace granary::regress
