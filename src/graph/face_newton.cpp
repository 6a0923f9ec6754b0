#include "graph/face_newton.h"

#include <algorithm>
#include <cmath>

#include "core/linalg/spd_inverse.h"
#include "core/prox/proximal.h"

namespace granary::graph {

namespace {

double sign(double v) { return v > 0 ? 1 : v < 0 ? -1 : 0; }

// The face: signs, the free set as ones, and the gradient on it.
struct Face {
  MatrixXd x, signs, free, gradient;
};

Face face_of(const ConstMatrixRef& s, const Penalty& lambda, const GlassoState& state) {
  const Index p = s.rows();
  Face face{MatrixXd::Zero(p, p), MatrixXd::Zero(p, p), MatrixXd::Zero(p, p), MatrixXd::Zero(p, p)};
  for (Index j = 0; j < p; ++j) {
    for (SparseMatrix::InnerIterator it(state.upper, j); it; ++it) face.x(it.row(), j) = face.x(j, it.row()) = it.value();
  }
  for (Index j = 0; j < p; ++j) {
    for (Index i = 0; i <= j; ++i) {
      const double g = s(i, j) - state.w(i, j), l = lambda(i, j), x = face.x(i, j);
      if (x == 0 && std::abs(g) <= l) continue;
      const double z = x != 0 ? sign(x) : -sign(g);
      face.signs(i, j) = face.signs(j, i) = z;
      face.free(i, j) = face.free(j, i) = 1;
      face.gradient(i, j) = face.gradient(j, i) = g + l * z;
    }
  }
  return face;
}

// Preconditioned conjugate gradients for (W D W)_free = -G, until the residual has fallen by `eta` in the norm of the preconditioner.
MatrixXd face_direction(const Face& face, const MatrixXd& w, double eta, int most, Monitor& monitor, int& spent) {
  const Index p = w.rows();
  MatrixXd d = MatrixXd::Zero(p, p), residual = -face.gradient, half(p, p), image(p, p);
  const auto between = [&](const MatrixXd& outer, const MatrixXd& inner, MatrixXd& out) {
    half.noalias() = outer * inner;
    out.noalias() = half * outer;
    out = (0.5 * (out + out.transpose().eval())).cwiseProduct(face.free);
  };
  MatrixXd scaled(p, p);
  between(face.x, residual, scaled);
  MatrixXd along = scaled;
  double size = residual.cwiseProduct(scaled).sum();
  const double first = size;
  for (spent = 0; spent < most && size > eta * eta * first && size > 0; ++spent) {
    monitor.check();
    between(w, along, image);
    const double curvature = along.cwiseProduct(image).sum();
    if (!(curvature > 0)) break;
    const double step = size / curvature;
    d += step * along;
    residual -= step * image;
    between(face.x, residual, scaled);
    const double next = residual.cwiseProduct(scaled).sum();
    along = scaled + (next / size) * along;
    size = next;
  }
  return d;
}

// X + alpha D, entries that would leave the face at zero.
SparseMatrix step_on_face(const Face& face, const MatrixXd& d, double alpha) {
  const Index p = d.rows();
  std::vector<Eigen::Triplet<double>> entries;
  for (Index j = 0; j < p; ++j) {
    for (Index i = 0; i <= j; ++i) {
      if (face.free(i, j) == 0) continue;
      const double value = face.x(i, j) + alpha * d(i, j);
      if (sign(value) == face.signs(i, j)) entries.emplace_back(static_cast<int>(i), static_cast<int>(j), value);
    }
  }
  SparseMatrix out(p, p);
  out.setFromTriplets(entries.begin(), entries.end());
  return out;
}

// tr(G (Y - X)) for the upper triangle of Y.
double slope(const Face& face, const SparseMatrix& upper) {
  double sum = -face.gradient.cwiseProduct(face.x).sum();
  for (Index j = 0; j < upper.cols(); ++j) {
    for (SparseMatrix::InnerIterator it(upper, j); it; ++it) {
      sum += (it.row() == j ? 1 : 2) * face.gradient(it.row(), j) * it.value();
    }
  }
  return sum;
}

}  // namespace

SolverReport face_newton(const ConstMatrixRef& s, const Penalty& lambda, const GlassoOptions& options, Monitor& monitor,
                         GlassoState& state) {
  const double p = static_cast<double>(s.rows());
  SolverReport report;
  SpdInverse factor;
  MatrixXd v, product;
  double f = -state.log_det + linear_and_penalty(s, lambda, state.upper);
  while (true) {
    v = state.w;
    report.certificate = certify(s, lambda, state.upper, v, product);
    report.certified = true;
    report.residual = report.certificate.residual;
    report.trace.push_back({f, report.residual, static_cast<double>(state.upper.nonZeros()), 1, 0});
    monitor.check();
    if (report.residual <= options.tol) {
      report.converged = true;
      break;
    }
    if (report.iterations >= options.max_iter) {
      report.message = message("stopped at max_iter = ", options.max_iter, " Newton steps with residual ", report.residual);
      break;
    }
    const Face face = face_of(s, lambda, state);
    constexpr int most = 100;
    int spent = 0;
    const MatrixXd d = face_direction(face, state.w, std::clamp(0.1 * report.residual, 1e-10, 0.1), most, monitor, spent);
    ++report.iterations;
    bool accepted = false;
    for (double alpha = 1; alpha > 1e-12 && !accepted; alpha *= 0.5) {
      SparseMatrix trial = step_on_face(face, d, alpha);
      const double expected = slope(face, trial);
      if (!(expected < 0) || !factor.factorise(trial)) continue;
      const double f_trial = -factor.log_det() + linear_and_penalty(s, lambda, trial);
      if (!(f_trial <= f + options.armijo * expected)) continue;
      state.upper = std::move(trial);
      state.log_det = factor.log_det();
      factor.inverse(state.w);
      f = f_trial;
      accepted = true;
    }
    if (accepted) continue;
    if (std::isnan(report.certificate.gap)) report.certificate.gap = duality_gap(s, lambda, f, state.w);
    report.converged = report.certificate.gap <= options.tol * p;
    report.message = message("the objective cannot be decreased further in double precision; residual ", report.residual);
    report.reason = Stop::stalled;
    break;
  }
  return report;
}

}  // namespace granary::graph
