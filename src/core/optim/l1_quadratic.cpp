#include "core/optim/l1_quadratic.h"
#include "core/linalg/dense.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace granary {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double soft_threshold(double z, double mu) {
  if (z > mu) return z - mu;
  if (z < -mu) return z + mu;
  return 0;
}

double violation(double v, double gradient, double mu) {
  if (mu == infinity) return 0;
  if (v > 0) return std::abs(gradient + mu);
  if (v < 0) return std::abs(gradient - mu);
  return std::max(std::abs(gradient) - mu, 0.0);
}

// What the solver asks of S. One that is stored keeps the whole gradient up to date while coordinates move;
class StoredQuadratic {
 public:
  explicit StoredQuadratic(const ConstMatrixRef& s) : s_(s) {}
  Index size() const { return s_.cols(); }
  double diagonal(Index j) const { return s_(j, j); }

  void begin(const VectorRef&) {}
  double slope(Index j, const ConstVectorRef&, const VectorRef& gradient) const { return gradient[j]; }
  void move(Index j, double step, VectorRef& gradient) { gradient.noalias() += step * s_.col(j); }

  MatrixXd block(const std::vector<Index>& index) const {
    const Index k = static_cast<Index>(index.size());
    MatrixXd out(k, k);
    for (Index b = 0; b < k; ++b) {
      const double* column = s_.data() + s_.outerStride() * index[b];
      for (Index a = 0; a < k; ++a) out(a, b) = column[index[a]];
    }
    return out;
  }

  void gradient(const std::vector<Index>& index, const VectorXd& v, const ConstVectorRef& r, VectorRef& out) const {
    out = -r;
    for (std::size_t b = 0; b < index.size(); ++b)
      if (v[b] != 0) out.noalias() += v[b] * s_.col(index[b]);
  }

 private:
  const ConstMatrixRef& s_;
};

// one that is Z'Z / n keeps Zv, and has the gradient where it is asked for.
class GramQuadratic {
 public:
  explicit GramQuadratic(const ConstMatrixRef& z)
      : z_(z), scale_(1 / static_cast<double>(z.rows())), diagonal_(scale_ * z.colwise().squaredNorm().transpose()) {}
  Index size() const { return z_.cols(); }
  double diagonal(Index j) const { return diagonal_[j]; }

  void begin(const VectorRef& v) {
    fitted_ = VectorXd::Zero(z_.rows());
    for (Index j = 0; j < v.size(); ++j)
      if (v[j] != 0) fitted_.noalias() += v[j] * z_.col(j);
  }
  double slope(Index j, const ConstVectorRef& r, const VectorRef&) const { return scale_ * z_.col(j).dot(fitted_) - r[j]; }
  void move(Index j, double step, VectorRef&) { fitted_.noalias() += step * z_.col(j); }

  MatrixXd block(const std::vector<Index>& index) const {
    const Index k = static_cast<Index>(index.size());
    MatrixXd columns(z_.rows(), k), out = MatrixXd::Zero(k, k);
    for (Index b = 0; b < k; ++b) columns.col(b) = z_.col(index[b]);
    out.selfadjointView<Eigen::Lower>().rankUpdate(columns.transpose(), scale_);
    out.triangularView<Eigen::StrictlyUpper>() = out.transpose();
    return out;
  }

  void gradient(const std::vector<Index>& index, const VectorXd& v, const ConstVectorRef& r, VectorRef& out) {
    fitted_.setZero();
    for (std::size_t b = 0; b < index.size(); ++b)
      if (v[b] != 0) fitted_.noalias() += v[b] * z_.col(index[b]);
    out.noalias() = scale_ * (z_.transpose() * fitted_);
    out -= r;
  }

 private:
  const ConstMatrixRef& z_;
  double scale_;
  VectorXd diagonal_, fitted_;
};

// The problem on the support, in a compact copy of S.
struct Support {
  std::vector<Index> index;
  MatrixXd s;
  VectorXd v, g, mu, root;  // root_j = sqrt(S_jj)
  int sweeps = 0;

  template <class Quadratic>
  Support(const Quadratic& full, const VectorRef& v_full, const VectorRef& g_full, const ConstVectorRef& r,
          const ConstVectorRef& mu_full) {
    for (Index j = 0; j < v_full.size(); ++j)
      if (v_full[j] != 0) index.push_back(j);
    const Index k = size();
    s = full.block(index);
    v.resize(k);
    g.resize(k);
    mu.resize(k);
    root.resize(k);
    for (Index b = 0; b < k; ++b) {
      v[b] = v_full[index[b]];
      g[b] = full.slope(index[b], r, g_full);
      mu[b] = mu_full[index[b]];
      root[b] = std::sqrt(s(b, b));
    }
  }

  Index size() const { return static_cast<Index>(index.size()); }

  double residual() const {
    double largest = 0;
    for (Index j = 0; j < size(); ++j) largest = std::max(largest, violation(v[j], g[j], mu[j]) / root[j]);
    return largest;
  }

  bool sweep() {  // false when nothing moved
    bool moved = false;
    for (Index j = 0; j < size(); ++j) {
      const double next = soft_threshold(s(j, j) * v[j] - g[j], mu[j]) / s(j, j);
      const double step = next - v[j];
      if (step == 0) continue;
      v[j] = next;
      g.noalias() += step * s.col(j);
      moved = true;
    }
    ++sweeps;
    return moved;
  }

  // Towards the minimiser of the quadratic that f is on the current orthant, up to the first coordinate that reaches zero.
  // Descends, because f is convex along the way.
  enum class Newton { reached, cut, singular };
  Newton newton_step() {
    std::vector<Index> live;
    for (Index j = 0; j < size(); ++j)
      if (v[j] != 0) live.push_back(j);
    const Index k = static_cast<Index>(live.size());
    if (k == 0) return Newton::reached;
    MatrixXd block(k, k);
    VectorXd slope(k);
    for (Index b = 0; b < k; ++b) {
      for (Index a = 0; a < k; ++a) block(a, b) = s(live[a], live[b]);
      slope[b] = g[live[b]] + (v[live[b]] > 0 ? mu[live[b]] : -mu[live[b]]);
    }
    const Llt factor(block);
    if (factor.info() != Eigen::Success) return Newton::singular;
    const VectorXd step = factor.solve(-slope);
    if (!step.allFinite() || !(slope.dot(step) < 0)) return Newton::singular;
    double length = 1;
    Index stops = -1;
    for (Index b = 0; b < k; ++b) {
      const double now = v[live[b]];
      if (mu[live[b]] == 0 || now * (now + length * step[b]) > 0) continue;
      length = -now / step[b];
      stops = b;
    }
    for (Index b = 0; b < k; ++b) {
      const double next = b == stops ? 0.0 : v[live[b]] + length * step[b];
      g.noalias() += (next - v[live[b]]) * s.col(live[b]);
      v[live[b]] = next;
    }
    return stops < 0 ? Newton::reached : Newton::cut;
  }

  void solve(double threshold, int max_sweeps, Monitor& monitor) {
    // A factorisation costs about k/3 sweeps; it is worth it when as many have not sufficed. Steps repeat until one is not cut
    // short, that is, until the minimum over a face of the orthant: short steps alone would stall beside the faces.
    const int patience = 10 + static_cast<int>(size() / 3);
    bool newton_works = true;
    while (sweeps < max_sweeps && residual() > threshold) {
      monitor.check();
      if (!sweep()) return;
      if (!newton_works || sweeps < patience) continue;
      Newton step;
      do {
        step = newton_step();
      } while (step == Newton::cut);
      newton_works = step != Newton::singular;
    }
  }
};

template <class Quadratic>
void check_input(const Quadratic& s, const ConstVectorRef& r, const ConstVectorRef& mu, const VectorRef& v,
                 const VectorRef& gradient) {
  const Index p = s.size();
  if (r.size() != p || mu.size() != p || v.size() != p || gradient.size() != p)
    throw InputError(message("the linear term, penalties, start and gradient must all have length ", p, "."));
  for (Index j = 0; j < p; ++j) {
    if (!(mu[j] >= 0)) throw InputError(message("penalty ", j + 1, " must be zero or positive, not ", mu[j], "."));
    if (mu[j] == infinity) {
      if (v[j] != 0) throw InputError(message("coordinate ", j + 1, " has an infinite penalty but starts at ", v[j], "."));
      continue;
    }
    if (!std::isfinite(r[j]) || !std::isfinite(v[j]) || !std::isfinite(gradient[j]))
      throw InputError(message("the linear term, start or gradient is not finite at coordinate ", j + 1, "."));
    if (!(s.diagonal(j) >= 0) || s.diagonal(j) == infinity)
      throw InputError(message("the quadratic's matrix must be positive semidefinite, but its diagonal entry ", j + 1, " is ",
                               s.diagonal(j), "."));
    if (s.diagonal(j) == 0 && std::abs(r[j]) > mu[j])
      throw InputError(message("the objective has no minimum: coordinate ", j + 1, " has no curvature and a linear term of ",
                               r[j], " above its penalty ", mu[j], "."));
  }
}

// Smallest gap over the dual points t v, t >= 0.
double duality_gap(const ConstVectorRef& r, const ConstVectorRef& mu, const VectorRef& v, const VectorRef& gradient) {
  double low = 0, high = infinity;
  for (Index j = 0; j < r.size(); ++j) {
    if (mu[j] == infinity) continue;
    const double u = gradient[j] + r[j];  // (Sv)_j; need |t u - r_j| <= mu_j
    if (u == 0) {
      if (std::abs(r[j]) > mu[j]) return Convergence::unknown;
      continue;
    }
    const double a = (r[j] - mu[j]) / u, b = (r[j] + mu[j]) / u;
    low = std::max(low, std::min(a, b));
    high = std::min(high, std::max(a, b));
  }
  if (low > high) return Convergence::unknown;
  const double curvature = v.dot(gradient + r);  // v'Sv
  return std::max(0.0, l1_quadratic_objective(r, mu, v, gradient) + 0.5 * low * low * curvature);
}

template <class Quadratic>
Convergence minimise(Quadratic s, const ConstVectorRef& r, const ConstVectorRef& mu, VectorRef& v, VectorRef& gradient,
                     const L1QuadraticOptions& options, Monitor& monitor) {
  const Stopwatch watch;
  check_input(s, r, mu, v, gradient);
  const Index p = s.size();

  std::vector<Index> open;  // coordinates that may move, and their scales
  VectorXd inverse_root = VectorXd::Zero(p);
  double scale = 0;
  for (Index j = 0; j < p; ++j) {
    if (mu[j] == infinity) continue;
    if (s.diagonal(j) == 0) {  // r_j is within the penalty: zero is optimal
      v[j] = 0;
      continue;
    }
    open.push_back(j);
    inverse_root[j] = 1 / std::sqrt(s.diagonal(j));
    scale = std::max(scale, std::abs(r[j]) * inverse_root[j]);
  }

  const auto residual = [&] {
    double largest = 0;
    for (const Index j : open) largest = std::max(largest, violation(v[j], gradient[j], mu[j]) * inverse_root[j]);
    return largest;
  };
  const auto full_sweep = [&] {
    bool moved = false;
    s.begin(v);
    for (const Index j : open) {
      const double next = soft_threshold(s.diagonal(j) * v[j] - s.slope(j, r, gradient), mu[j]) / s.diagonal(j);
      const double step = next - v[j];
      if (step == 0) continue;
      v[j] = next;
      s.move(j, step, gradient);
      moved = true;
    }
    return moved;
  };

  Convergence convergence;
  const double threshold = options.tol * scale;
  double reached = residual();
  while (reached > threshold && convergence.iterations < options.max_iter) {
    monitor.check();
    ++convergence.iterations;
    const bool moved = full_sweep();
    Support support(s, v, gradient, r, mu);
    // Tighter inside, so that the fresh gradient still passes the test outside.
    support.solve(0.1 * threshold, options.max_iter - convergence.iterations, monitor);
    convergence.iterations += support.sweeps;
    for (Index b = 0; b < support.size(); ++b) v[support.index[b]] = support.v[b];
    s.gradient(support.index, support.v, r, gradient);
    const double before = reached;
    reached = residual();
    if (!std::isfinite(reached))
      throw NumericalError("coordinate descent diverged: the quadratic's matrix is not positive semidefinite.");
    if (!moved && reached >= before) break;  // at the limit of the arithmetic
  }
  convergence.residual = scale > 0 ? reached / scale : 0;
  convergence.converged = reached <= threshold;
  convergence.gap = duality_gap(r, mu, v, gradient);
  if (!convergence.converged)
    convergence.message = message("stopped after ", convergence.iterations, " sweeps with residual ", convergence.residual);
  convergence.seconds = watch.seconds();
  return convergence;
}

}  // namespace

double l1_quadratic_objective(ConstVectorRef r, ConstVectorRef mu, ConstVectorRef v, ConstVectorRef gradient) {
  double value = 0;
  for (Index j = 0; j < v.size(); ++j)
    if (v[j] != 0) value += v[j] * (0.5 * (gradient[j] - r[j]) + (v[j] > 0 ? mu[j] : -mu[j]));
  return value;
}

Convergence l1_quadratic(ConstMatrixRef s, ConstVectorRef r, ConstVectorRef mu, VectorRef v, VectorRef gradient,
                         const L1QuadraticOptions& options, Monitor& monitor) {
  if (s.rows() != s.cols())
    throw InputError(message("the quadratic's matrix must be square, not ", s.rows(), " x ", s.cols(), "."));
  return minimise(StoredQuadratic(s), r, mu, v, gradient, options, monitor);
}

Convergence l1_quadratic_gram(ConstMatrixRef z, ConstVectorRef r, ConstVectorRef mu, VectorRef v, VectorRef gradient,
                              const L1QuadraticOptions& options, Monitor& monitor) {
  if (z.rows() == 0) throw InputError("the matrix behind the quadratic must have rows.");
  return minimise(GramQuadratic(z), r, mu, v, gradient, options, monitor);
}

L1QuadraticResult l1_quadratic(ConstMatrixRef s, ConstVectorRef r, ConstVectorRef mu, const L1QuadraticOptions& options,
                               Monitor& monitor) {
  L1QuadraticResult result;
  result.v = VectorXd::Zero(r.size());
  result.gradient = -r;
  result.convergence = l1_quadratic(s, r, mu, result.v, result.gradient, options, monitor);
  result.objective = l1_quadratic_objective(r, mu, result.v, result.gradient);
  return result;
}

}  // namespace granary
