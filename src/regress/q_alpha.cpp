#include "regress/q_alpha.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/linalg/leading_eigenpair.h"
#include "core/linalg/spectral.h"
#include "regress/q_alpha_problem.h"
#include "core/linalg/dense.h"

namespace granary::regress {

namespace {

constexpr Index dense_samples = 600;  // up to here the q x q matrix is formed and decomposed whole

// y_i = x_i' H p_i for all features.
void add_bilinear(const ConstMatrixRef& x, const MatrixXd& h, const MatrixXd& p, double factor, VectorRef y) {
  const MatrixXd t = x.transpose() * h;
  y += factor * t.cwiseProduct(p).rowwise().sum();
}

MatrixXd weighted_gram(const ConstMatrixRef& x, const ConstVectorRef& alpha) {
  const MatrixXd scaled = x * alpha.asDiagonal();
  return scaled * x.transpose();
}

class LinearProblem : public QAlphaProblem {
 public:
  LinearProblem(ConstMatrixRef x, const QAlphaOptions& options, Monitor& monitor) : x_(x), options_(options), monitor_(monitor) {}

  Index features() const override { return x_.cols(); }

  void set_basis(const MatrixXd& basis) override {
    q_ = basis;
    p_.noalias() = x_.transpose() * q_;
  }

  void product(ConstVectorRef a, VectorRef y) const override {
    const MatrixXd h = x_ * (a.asDiagonal() * p_);
    y.setZero();
    if (options_.criterion == QAlphaCriterion::energy) {
      add_bilinear(x_, h, p_, 1, y);
    } else {  // G = (MM') o (2 PP' - MM')
      add_bilinear(x_, h, p_, 2, y);
      const MatrixXd image = weighted_gram(x_, a) * x_;
      y -= image.cwiseProduct(x_).colwise().sum().transpose();
    }
  }

  MatrixXd leading_basis(const VectorXd& alpha) override { return weighted_embedding(x_, alpha, options_.k, monitor_).vectors; }

  MatrixXd next_basis(const VectorXd& alpha) override {
    const MatrixXd next = orthonormal_columns(x_ * (alpha.asDiagonal() * p_));
    return options_.method == QAlphaMethod::ritz ? ritz_basis(next, alpha) : next;
  }

  MatrixXd random_basis(Rng& rng) const override {
    MatrixXd z(x_.rows(), options_.k);
    for (Index j = 0; j < z.cols(); ++j) z.col(j) = rng.normals(z.rows());
    return orthonormal_columns(z);
  }

  VectorXd seeded_weights(Index feature) const override {
    // The small constant keeps the rest of the features in sight when the seed is like none of them.
    const VectorXd w = (x_.transpose() * x_.col(feature)).array().square() + 1e-3;
    return w.normalized();
  }

 protected:
  const ConstMatrixRef x_;
  const QAlphaOptions& options_;
  Monitor& monitor_;
  MatrixXd q_, p_;

 private:
  // Steps 4 to 8 of Definition 4: weights that are best for |Qbar' A Qbar|_F^2, and the eigenvectors of that small matrix. The
  // span of the result is that of Qbar, and the rounds see nothing but the span: they are those of the power method.
  MatrixXd ritz_basis(const MatrixXd& qbar, const VectorXd& alpha) const {
    const MatrixXd pbar = x_.transpose() * qbar;  // n x k
    LeadingEigenOptions inner;
    inner.tol = 1e-6;
    const auto small = [&](ConstVectorRef a) { return MatrixXd(pbar.transpose() * (a.asDiagonal() * pbar)); };
    const VectorXd weights = leading_eigenpair(
                                 [&](ConstVectorRef a, VectorRef y) {
                                   const MatrixXd image = pbar * small(a);
                                   y = image.cwiseProduct(pbar).rowwise().sum();
                                 },
                                 alpha, inner, monitor_)
                                 .vector;
    const SymmetricEigen s(small(weights));
    return qbar * s.eigenvectors().rowwise().reverse();
  }
};

// L_i = m_i m_i' - diag(m_i s_i) + d_i I with s_i = m_i'1, and F_ij = tr(Q' L_i' L_j Q) in place of G.
class LaplacianProblem : public LinearProblem {
 public:
  LaplacianProblem(ConstMatrixRef x, const QAlphaOptions& options, Monitor& monitor)
      : LinearProblem(x, options, monitor), sums_(x.colwise().sum().transpose()), shift_(x.cols()) {
    // Section 2.2 asks for the largest degree, and so it is taken; the listing has the largest diagonal element of m_i m_i'.
    for (Index i = 0; i < x.cols(); ++i) shift_[i] = (x.col(i) * sums_[i]).maxCoeff();
  }

  void product(ConstVectorRef a, VectorRef y) const override {
    const MatrixXd w = times(a, q_);
    y.setZero();
    add_bilinear(x_, w, p_, 1, y);
    const VectorXd rows = w.cwiseProduct(q_).rowwise().sum();
    y -= sums_.cwiseProduct(x_.transpose() * rows);
    y += shift_ * rows.sum();
  }

  MatrixXd leading_basis(const VectorXd& alpha) override {
    const Index q = x_.rows();
    if (q <= dense_samples) {
      MatrixXd l = weighted_gram(x_, alpha);
      l.diagonal() += diagonal(alpha);
      return top_eigenpairs(l, options_.k, Which::largest_magnitude, {}, monitor_).vectors;
    }
    const VectorXd own = diagonal(alpha);
    return top_eigenpairs(
               [&](ConstVectorRef v, VectorRef y) {
                 const VectorXd inner = alpha.cwiseProduct(x_.transpose() * v);
                 y = x_ * inner + own.cwiseProduct(v);
               },
               q, options_.k, Which::largest_magnitude, {}, monitor_)
        .vectors;
  }

  MatrixXd next_basis(const VectorXd& alpha) override { return orthonormal_columns(times(alpha, q_)); }

  // One d for all features: the largest degree of the weighted graph over the sum of the weights. The paper moves it in every round,
  // and with it the objective; here it stays until the rounds are at rest, so that they climb, and they end where it moves no more.
  bool moves() const override { return true; }
  double resume(const VectorXd& alpha) override {
    const double total = alpha.sum();
    if (!(total > 0)) return 0;
    const double d = (x_ * alpha.cwiseProduct(sums_)).maxCoeff() / total;
    const double moved = (shift_.array() - d).abs().maxCoeff() / std::max(1.0, std::abs(d));  // features have unit length
    shift_.setConstant(d);
    return std::isfinite(moved) ? moved : 0;
  }

 private:
  VectorXd diagonal(const ConstVectorRef& a) const { return (a.dot(shift_) - (x_ * a.cwiseProduct(sums_)).array()).matrix(); }
  MatrixXd times(const ConstVectorRef& a, const MatrixXd& q) const {
    MatrixXd w = x_ * (a.asDiagonal() * (x_.transpose() * q));
    w += diagonal(a).asDiagonal() * q;
    return w;
  }

  VectorXd sums_, shift_;
};

}  // namespace

Standardised standardise_features(ConstMatrixRef x, bool centre) {
  Standardised out;
  const Index n = x.cols();
  out.x = x;
  out.centre = VectorXd::Zero(n);
  out.scale = VectorXd::Ones(n);
  out.constant.assign(static_cast<std::size_t>(n), false);
  for (Index j = 0; j < n; ++j) {
    auto column = out.x.col(j);
    const double largest = column.cwiseAbs().maxCoeff();
    if (centre && largest > 0) {
      out.centre[j] = largest * (column / largest).mean();
      column.array() -= out.centre[j];
    }
    const double left = column.cwiseAbs().maxCoeff();
    if (!(left > 1e-13 * largest) || left == 0) {
      column.setZero();
      out.constant[static_cast<std::size_t>(j)] = true;
      continue;
    }
    column /= left;  // first, so that squares neither overflow nor vanish
    const double norm = column.norm();
    column /= norm;
    out.scale[j] = left * norm;
  }
  return out;
}

Embedding weighted_embedding(ConstMatrixRef x, ConstVectorRef alpha, Index k, Monitor& monitor) {
  const Index q = x.rows();
  EigenPairs pairs;
  if (q <= dense_samples || k >= x.cols()) {
    pairs = top_eigenpairs(weighted_gram(x, alpha), k, Which::largest_magnitude, {}, monitor);
  } else {
    pairs = top_eigenpairs(
        [&](ConstVectorRef v, VectorRef y) {
          const VectorXd inner = alpha.cwiseProduct(x.transpose() * v);
          y.noalias() = x * inner;
        },
        q, k, Which::largest_magnitude, {}, monitor);
  }
  return {std::move(pairs.vectors), std::move(pairs.values)};
}

QAlphaResult q_alpha(ConstMatrixRef x, const QAlphaOptions& options, const Rng& rng, Monitor& monitor) {
  if (options.k < 1 || options.k > x.rows()) {
    throw InputError(
        message("the number of clusters k must be between 1 and the number of samples, ", x.rows(), ", got ", options.k, "."));
  }
  if (x.cols() < 1 || !x.allFinite()) throw InputError("the features must be finite, and at least one.");
  const ProblemMaker make = [&]() -> std::unique_ptr<QAlphaProblem> {
    if (options.spectrum == QAlphaSpectrum::laplacian) return std::make_unique<LaplacianProblem>(x, options, monitor);
    return std::make_unique<LinearProblem>(x, options, monitor);
  };
  return climb(make, options, rng, monitor);
}

}  // namespace granary::regress
