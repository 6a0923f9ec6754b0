#include "latent/ica_moments.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/linalg/dense.h"
#include "core/linalg/joint_diagonal.h"

namespace granary::latent {
namespace {

constexpr Index chunk = 256;

// M4 of white rows as k^2 x k^2: entry (a + k b, c + k e).
class Fourth {
 public:
  Fourth(ConstMatrixRef y, Monitor& monitor) : k_(y.cols()), m_(MatrixXd::Zero(k_ * k_, k_ * k_)) {
    const Index n = y.rows();
    MatrixXd pairs(std::min(chunk, n), k_ * k_);
    for (Index from = 0; from < n; from += chunk) {
      monitor.check();
      const Index size = std::min(chunk, n - from);
      for (Index b = 0; b < k_; ++b)
        for (Index a = 0; a < k_; ++a) pairs.col(a + k_ * b).head(size) = y.col(a).segment(from, size).cwiseProduct(y.col(b).segment(from, size));
      m_.noalias() += pairs.topRows(size).transpose() * pairs.topRows(size) / static_cast<double>(n);
    }
    for (Index a = 0; a < k_; ++a)
      for (Index b = 0; b < k_; ++b) {
        m_(a + k_ * a, b + k_ * b) -= 1;
        m_(a + k_ * b, a + k_ * b) -= 1;
        m_(a + k_ * b, b + k_ * a) -= 1;
      }
  }
  MatrixXd slice(ConstVectorRef u, ConstVectorRef v) const {
    const MatrixXd outer = u * v.transpose();
    const VectorXd s = m_ * Eigen::Map<const VectorXd>(outer.data(), outer.size());
    return Eigen::Map<const MatrixXd>(s.data(), k_, k_);
  }
  VectorXd times(ConstVectorRef u) const { return slice(u, u) * u; }
  double value(ConstVectorRef u) const { return u.dot(times(u)); }
  void add(double kappa, ConstVectorRef u) {
    const MatrixXd outer = u * u.transpose();
    const Eigen::Map<const VectorXd> flat(outer.data(), outer.size());
    m_ += kappa * flat * flat.transpose();
  }
  double norm() const { return m_.norm(); }
  Index size() const { return k_; }

 private:
  Index k_;
  MatrixXd m_;
};

// u <- M4(I, u, u, u) / |.|, turned so that it does not swing between u and -u where kappa is negative.
void climb(const Fourth& t, VectorXd& u, const TensorOptions& o) {
  double moved = 1;
  for (int step = 0; step < o.max_iter && moved > o.tol; ++step) {
    VectorXd next = t.times(u);
    const double size = next.norm();
    if (!(size > 0)) return;
    next /= size;
    if (next.dot(u) < 0) next = -next;
    moved = (next - u).norm();
    u = next;
  }
}

// How far one more step leads, up to sign.
double change(const Fourth& t, const VectorXd& u) {
  VectorXd next = t.times(u);
  const double size = next.norm();
  if (!(size > 0)) return 1;
  next /= size;
  return std::min((next - u).norm(), (next + u).norm());
}

void decompose(const Fourth& whole, Index k, const TensorOptions& o, Rng& rng, Monitor& monitor, TensorResult& r) {
  r.values.resize(k);
  r.vectors.resize(k, k);
  r.steps = VectorXd::Zero(k);
  Fourth rest = whole;
  if (o.method == TensorMethod::joint) {
    std::vector<MatrixXd> slices;
    for (Index a = 0; a < k; ++a)
      for (Index b = a; b < k; ++b) slices.push_back(whole.slice(VectorXd::Unit(k, a), VectorXd::Unit(k, b)));
    const JointDiagonal found = joint_diagonal(std::move(slices), JointDiagonalOptions(), monitor);
    r.vectors = found.rotation;
    for (Index j = 0; j < k; ++j) r.values[j] = whole.value(r.vectors.col(j));
    r.convergence.converged = found.convergence.converged;
    r.convergence.iterations = found.convergence.iterations;
    r.convergence.residual = found.convergence.residual;
    for (Index j = 0; j < k; ++j) rest.add(-r.values[j], r.vectors.col(j));
    for (Index j = 0; j < k; ++j) {  // without the other components
      rest.add(r.values[j], r.vectors.col(j));
      r.steps[j] = change(rest, r.vectors.col(j));
      rest.add(-r.values[j], r.vectors.col(j));
    }
  } else {
    if (o.method != TensorMethod::power) throw InputError("`method` must be \"power\" or \"joint\" for fourth moments.");
    const int starts = o.n_starts > 0 ? o.n_starts : static_cast<int>(std::max<Index>(20, 3 * k));
    for (Index j = 0; j < k; ++j) {
      VectorXd best;
      double value = -1;
      for (Index s = 0; s < starts + o.candidates.cols(); ++s) {
        monitor.check();
        VectorXd u = s < o.candidates.cols() ? VectorXd(o.candidates.col(s)) : rng.normals(k);
        // Components found before are left out of the start; the tensor without them need not be.
        if (j > 0) u -= r.vectors.leftCols(j) * (r.vectors.leftCols(j).transpose() * u);
        if (!(u.norm() > 0)) continue;
        u /= u.norm();
        climb(rest, u, o);
        ++r.starts;
        if (std::abs(rest.value(u)) > value) {
          value = std::abs(rest.value(u));
          best = u;
        }
      }
      r.values[j] = rest.value(best);
      r.vectors.col(j) = best;
      r.steps[j] = change(rest, best);
      rest.add(-r.values[j], best);
    }
    r.convergence.iterations = r.starts;
    r.convergence.residual = r.steps.maxCoeff();
    r.convergence.converged = r.convergence.residual <= 1e-8;
  }
  const double size = whole.norm();
  r.residual = size > 0 ? rest.norm() / size : 0;
  r.coherence = (r.vectors.transpose() * r.vectors - MatrixXd::Identity(k, k)).cwiseAbs().maxCoeff();
  r.attraction.resize(0);
  r.curvature.resize(0);
}

[[noreturn]] void refuse_rank(Index usable, Index k, double value) {
  throw InputError(message("the moments allow at most ", usable, usable == 1 ? " component" : " components", ": eigenvalue ", usable + 1, " of ", k, " is ", value,
                           ". Use a smaller `k`."));
}

struct Whitening {
  VectorXd eigenvalues;
  MatrixXd w, b;  // d x k: w' S w = I, w'b = I
};

Whitening whitening(const MatrixXd& second, Index k) {
  const SymmetricEigen eigen(0.5 * (second + second.transpose()));
  Whitening out;
  out.eigenvalues = eigen.eigenvalues().reverse();
  for (Index j = 0; j < k; ++j)
    if (!(out.eigenvalues[j] > 1e-12 * out.eigenvalues[0])) refuse_rank(j, k, out.eigenvalues[j]);
  const MatrixXd u = eigen.eigenvectors().rowwise().reverse().leftCols(k);
  const VectorXd root = out.eigenvalues.head(k).cwiseSqrt();
  out.w = u * root.cwiseInverse().asDiagonal();
  out.b = u * root.asDiagonal();
  return out;
}

// M4(I, I, m) = sum_i kappa_i (a_i'm a_i) a_i a_i', m symmetric, of centred rows.
MatrixXd contracted(const MatrixXd& c, const MatrixXd& covariance, const MatrixXd& m) {
  const VectorXd form = (c * m).cwiseProduct(c).rowwise().sum();
  return c.transpose() * (form.asDiagonal() * c) / static_cast<double>(c.rows()) - (m * covariance).trace() * covariance - 2 * covariance * m * covariance;
}

Whitening noisy_whitening(const MatrixXd& c, const MatrixXd& covariance, Index k) {
  const Index d = c.cols();
  const MatrixXd first = contracted(c, covariance, MatrixXd::Identity(d, d));
  const SymmetricEigen eigen(0.5 * (first + first.transpose()));
  // The k eigenvalues furthest from zero, from both ends.
  const VectorXd& values = eigen.eigenvalues();
  std::vector<Index> at;
  for (Index low = 0, high = d - 1; static_cast<Index>(at.size()) < k;) at.push_back(std::abs(values[low]) > std::abs(values[high]) ? low++ : high--);
  const double largest = std::abs(values[at[0]]);
  bool rises = false, falls = false;
  for (std::size_t j = 0; j < at.size(); ++j) {
    if (!(std::abs(values[at[j]]) > 1e-12 * largest)) refuse_rank(static_cast<Index>(j), k, values[at[j]]);
    (values[at[j]] > 0 ? rises : falls) = true;
  }
  if (!falls || !rises) return whitening(falls ? MatrixXd(-first) : first, k);
  MatrixXd inverse = MatrixXd::Zero(d, d);
  for (const Index j : at) inverse += eigen.eigenvectors().col(j) * (1 / values[j]) * eigen.eigenvectors().col(j).transpose();
  return whitening(contracted(c, covariance, inverse), k);
}

}  // namespace

IcaResult ica_moments(ConstMatrixRef x, Index k, bool noise, const TensorOptions& options, Rng& rng, Monitor& monitor) {
  const Index n = x.rows(), d = x.cols();
  require(n >= 2, "independent components need at least two rows.");
  require(k >= 1 && k <= d, message("`k` must be at most the number of columns, ", d, "."));
  const double rows = static_cast<double>(n);
  IcaResult out;
  out.mean = x.colwise().mean().transpose();
  const MatrixXd c = x.rowwise() - out.mean.transpose();
  const MatrixXd covariance = c.transpose() * c / rows;
  const Whitening white = noise ? noisy_whitening(c, covariance, k) : whitening(covariance, k);
  out.eigenvalues = white.eigenvalues;
  const MatrixXd &w = white.w, &b = white.b;
  const MatrixXd y = c * w;
  if (!noise) {
    TensorOptions with = options;
    with.candidates = some_rows(c, w);
    decompose(Fourth(y, monitor), k, with, rng, monitor, out.tensor);
    out.mixing = b * out.tensor.vectors;
    out.kurtosis = out.tensor.values;
  } else {
    // M4(W, W, W, v) for one direction v is orthogonal; coefficients may have either sign, which an odd order lets turn.
    const VectorXd v = w * rng.normals(k);
    const VectorXd along = c * v;
    const MatrixXd inside = w.transpose() * covariance * w;
    const VectorXd crossed = w.transpose() * (covariance * v);
    MatrixXd t = MatrixXd::Zero(k, k * k);
    for (Index i = 0; i < n; ++i) {
      if (i % 4096 == 0) monitor.check();
      const VectorXd one = y.row(i).transpose();
      for (Index l = 0; l < k; ++l) t.middleCols(k * l, k) += (along[i] * one[l] / rows) * one * one.transpose();
    }
    for (Index l = 0; l < k; ++l)
      for (Index j = 0; j < k; ++j)
        for (Index i = 0; i < k; ++i) t(i, j + k * l) -= inside(i, j) * crossed[l] + inside(i, l) * crossed[j] + inside(j, l) * crossed[i];
    TensorOptions with = options;
    with.candidates = some_rows(c, w);
    out.tensor = tensor_decompose(Tensor3::symmetric(t), k, with, rng, monitor);
    out.mixing = b * out.tensor.vectors;
    for (Index j = 0; j < k; ++j) out.mixing.col(j) /= out.mixing.col(j).norm();
    out.kurtosis.resize(k);
    const MatrixXd back = pseudo_inverse(out.mixing);
    for (Index j = 0; j < k; ++j) {
      const VectorXd s = c * back.row(j).transpose();
      const double var = s.squaredNorm() / rows;
      out.kurtosis[j] = s.array().square().square().mean() - 3 * var * var;
    }
  }
  // The entry of largest size in every column is positive.
  for (Index j = 0; j < k; ++j) {
    Index at = 0;
    out.mixing.col(j).cwiseAbs().maxCoeff(&at);
    if (out.mixing(at, j) < 0) {
      out.mixing.col(j) *= -1;
      out.tensor.vectors.col(j) *= -1;
    }
  }
  out.unmixing = pseudo_inverse(out.mixing);
  return out;
}

IcaDraws ica_draws(Index n, ConstMatrixRef mixing, bool heavy, double noise_sd, Rng& rng) {
  IcaDraws out;
  out.sources.resize(n, mixing.cols());
  for (Index i = 0; i < out.sources.size(); ++i)
    out.sources.data()[i] = heavy ? (rng.bernoulli(0.5) ? 1 : -1) * rng.exponential() / std::sqrt(2.0) : rng.uniform(-std::sqrt(3.0), std::sqrt(3.0));
  out.x = out.sources * mixing.transpose();
  if (noise_sd > 0)
    for (Index i = 0; i < out.x.size(); ++i) out.x.data()[i] += noise_sd * rng.normal();
  return out;
}

}  // namespace granary::latent
