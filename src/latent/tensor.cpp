#include "latent/tensor.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/linalg/dense.h"
#include "core/linalg/joint_diagonal.h"

namespace granary::latent {
namespace {

VectorXd random_unit(Index k, Rng& rng) {
  VectorXd u = rng.normals(k);
  return u / u.norm();
}

// u <- T(I, u, u) / |.|, at most n times. A tensor whose value at u is negative is turned first, so that steps do not swing between u and -u.
double power_steps(const Tensor3& t, VectorXd& u, int n, double tol) {
  double moved = 0;
  for (int i = 0; i < n; ++i) {
    VectorXd next = t.times(u);
    const double size = next.norm();
    if (!(size > 0)) return 0;
    next /= size;
    moved = std::min((next - u).norm(), (next + u).norm());
    u = next;
    if (moved < tol) break;
  }
  if (t.value(u) < 0) u = -u;
  return moved;
}

// Where steps swing, u <- T(I, u, u) + shift u climbs all the same.
double shifted_steps(const Tensor3& t, VectorXd& u, int n, double tol) {
  const double shift = 2 * t.norm();
  double moved = 0;
  for (int i = 0; i < n; ++i) {
    VectorXd next = t.times(u) + shift * u;
    next /= next.norm();
    moved = (next - u).norm();
    u = next;
    if (moved < tol) break;
  }
  return moved;
}

bool accepted(const Tensor3& t, const VectorXd& u, Index left) {
  return std::abs(t.value(u)) >= std::max(t.norm() / (2 * std::sqrt(static_cast<double>(left))), t.slice(u).norm() / 1.05);
}

void by_power(const Tensor3& tensor, Index components, const TensorOptions& o, Rng& rng, Monitor& monitor, TensorResult& r) {
  const Index k = tensor.size();
  const int starts = o.n_starts > 0 ? o.n_starts : static_cast<int>(std::max<Index>(20, 3 * k));
  const Index given = o.candidates.cols();
  Tensor3 rest = tensor;
  for (Index j = 0; j < components; ++j) {
    VectorXd best;
    double value = -1;
    const bool rule = o.method == TensorMethod::power_stop;
    const int most = rule ? 10 * starts : starts;
    for (int s = 0; s < most + static_cast<int>(given); ++s) {
      monitor.check();
      VectorXd u = s < static_cast<int>(given) ? VectorXd(o.candidates.col(s)) : random_unit(k, rng);
      if (!(u.norm() > 0)) continue;
      u /= u.norm();
      if (o.method == TensorMethod::ball) {
        shifted_steps(rest, u, o.max_iter, o.tol);
      } else {
        power_steps(rest, u, o.max_iter, o.tol);
      }
      ++r.starts;
      const double now = rest.value(u);
      if (now > value) {
        value = now;
        best = u;
      }
      if (rule && accepted(rest, u, components - j)) {
        best = u;
        break;
      }
    }
    if (best.size() == 0) throw NumericalError("the tensor has no component left with a positive value.");
    if (power_steps(rest, best, o.max_iter, o.tol) > 1e-6) shifted_steps(rest, best, 20 * o.max_iter, o.tol);
    const double lambda = rest.value(best);
    r.values[j] = lambda;
    r.vectors.col(j) = best;
    rest.add(-lambda, best);
  }
}

// How the rotation ended; slices by themselves take no steps.
Convergence by_slices(const Tensor3& tensor, Index components, const TensorOptions& o, Rng& rng, Monitor& monitor, TensorResult& r) {
  const Index k = tensor.size();
  Convergence how;
  how.converged = true;
  MatrixXd basis;
  if (o.method == TensorMethod::joint) {
    std::vector<MatrixXd> slices;
    for (Index m = 0; m < std::max<Index>(2 * k, 10); ++m) slices.push_back(tensor.slice(random_unit(k, rng)));
    const JointDiagonal found = joint_diagonal(std::move(slices), JointDiagonalOptions(), monitor);
    basis = found.rotation;
    how = found.convergence;
  } else if (o.method == TensorMethod::jennrich) {
    basis = SymmetricEigen(tensor.slice(random_unit(k, rng))).eigenvectors();
  } else {
    basis = Svd(tensor.unfolded(), SvdParts::thin).matrixU();
  }
  std::vector<std::pair<double, Index>> order;
  for (Index j = 0; j < k; ++j) order.emplace_back(-std::abs(tensor.value(basis.col(j))), j);
  std::sort(order.begin(), order.end());
  for (Index j = 0; j < components; ++j) {
    VectorXd u = basis.col(order[static_cast<std::size_t>(j)].second);
    if (tensor.value(u) < 0) u = -u;
    r.values[j] = tensor.value(u);
    r.vectors.col(j) = u;
  }
  return how;
}

// What can be said of each component from the tensor itself (sections 4.1 and 4.2).
void judge(const Tensor3& tensor, bool one_by_one, TensorResult& r) {
  const Index k = tensor.size(), m = r.values.size();
  Tensor3 rest = tensor;
  if (!one_by_one)
    for (Index j = 0; j < m; ++j) rest.add(-r.values[j], r.vectors.col(j));
  r.attraction.resize(m);
  r.curvature.resize(m);
  r.steps.resize(m);
  for (Index j = 0; j < m; ++j) {
    const VectorXd u = r.vectors.col(j);
    if (!one_by_one) rest.add(r.values[j], u);
    VectorXd next = rest.times(u);
    const double size = next.norm();
    r.steps[j] = size > 0 ? (next / size - u).norm() : 1;
    rest.add(-r.values[j], u);
    const MatrixXd p = MatrixXd::Identity(k, k) - u * u.transpose();
    const MatrixXd inside = p * tensor.slice(u) * p;
    const VectorXd e = SymmetricEigen(inside, EigenParts::values).eigenvalues();
    const double lambda = std::max(std::abs(r.values[j]), 1e-300);
    r.attraction[j] = 2 / lambda * e.cwiseAbs().maxCoeff();
    r.curvature[j] = k > 1 ? (6 * e[k - 1] - 3 * lambda) / lambda : -3;
  }
  r.residual = rest.norm() / std::max(tensor.norm(), 1e-300);
  const MatrixXd gram = r.vectors.transpose() * r.vectors - MatrixXd::Identity(m, m);
  r.coherence = gram.cwiseAbs().maxCoeff();
}

}  // namespace

Tensor3 Tensor3::symmetric(ConstMatrixRef a) {
  const Index k = a.rows();
  require(a.cols() == k * k, "the unfolding of a tensor must be k x k^2.");
  Tensor3 t(k);
  for (Index l = 0; l < k; ++l)
    for (Index j = 0; j < k; ++j)
      for (Index i = 0; i < k; ++i)
        t.unfolded_(i, j + k * l) =
            (a(i, j + k * l) + a(i, l + k * j) + a(j, i + k * l) + a(j, l + k * i) + a(l, i + k * j) + a(l, j + k * i)) / 6;
  return t;
}

MatrixXd Tensor3::slice(ConstVectorRef u) const {
  MatrixXd out = MatrixXd::Zero(k_, k_);
  for (Index l = 0; l < k_; ++l) out += u[l] * unfolded_.middleCols(k_ * l, k_);
  return out;
}

VectorXd Tensor3::times(ConstVectorRef u) const { return slice(u) * u; }

double Tensor3::value(ConstVectorRef u) const { return u.dot(times(u)); }

void Tensor3::add(double lambda, ConstVectorRef u) {
  const MatrixXd square = lambda * u * u.transpose();
  for (Index l = 0; l < k_; ++l) unfolded_.middleCols(k_ * l, k_) += u[l] * square;
}

Tensor3 Tensor3::turned(ConstMatrixRef q) const {
  Tensor3 out(k_);
  for (Index c = 0; c < k_; ++c) {
    const MatrixXd inside = q * unfolded_.middleCols(k_ * c, k_) * q.transpose();
    for (Index l = 0; l < k_; ++l) out.unfolded_.middleCols(k_ * l, k_) += q(l, c) * inside;
  }
  return out;
}

double operator_norm(const Tensor3& tensor, int starts, Rng& rng, Monitor& monitor) {
  double best = 0;
  if (!(tensor.norm() > 0)) return best;
  for (int s = 0; s < starts; ++s) {
    monitor.check();
    VectorXd u = random_unit(tensor.size(), rng);
    power_steps(tensor, u, 100, 1e-10);
    best = std::max(best, tensor.value(u));
    shifted_steps(tensor, u, 200, 1e-10);  // climbs from where plain steps swing
    best = std::max(best, tensor.value(u));
  }
  return best;
}

TensorResult tensor_decompose(const Tensor3& tensor, Index components, const TensorOptions& options, Rng& rng, Monitor& monitor) {
  const Stopwatch clock;
  const Index k = tensor.size();
  require(components >= 1 && components <= k, message("a tensor of size ", k, " has between 1 and ", k, " components, not ", components, "."));
  require(tensor.unfolded().allFinite(), "the tensor must be finite.");
  require(options.candidates.size() == 0 || options.candidates.rows() == k, "starts must have as many entries as the tensor's side.");
  TensorResult r;
  r.values.resize(components);
  r.vectors.resize(k, components);
  const bool one_by_one = options.method == TensorMethod::power || options.method == TensorMethod::power_stop || options.method == TensorMethod::ball;
  if (one_by_one) {
    by_power(tensor, components, options, rng, monitor, r);
  } else {
    r.convergence = by_slices(tensor, components, options, rng, monitor, r);
  }
  judge(tensor, one_by_one, r);
  if (one_by_one) {
    r.convergence.iterations = r.starts;
    r.convergence.residual = r.steps.maxCoeff();
    r.convergence.converged = r.convergence.residual <= 1e-8;
  }
  // What diagonalises slices of a tensor that is not orthogonal is no fixed point of its steps; `steps` and `residual` say how far it is from that.
  if (!(r.values.minCoeff() > 1e-13 * tensor.norm())) r.convergence.converged = false;
  if (!r.convergence.converged) r.convergence.message = "a component is no fixed point of the tensor, or has no positive value";
  r.convergence.seconds = clock.seconds();
  return r;
}

}  // namespace granary::latent
