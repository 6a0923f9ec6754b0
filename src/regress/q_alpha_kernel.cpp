#include <algorithm>

#include "core/base/errors.h"
#include "core/linalg/spd.h"
#include "core/linalg/spectral.h"
#include "regress/q_alpha_problem.h"

namespace granary::regress {

namespace {

// Subspaces Q = Phi'E through E; Q'Q = E'VE = I.
class KernelProblem : public QAlphaProblem {
 public:
  KernelProblem(ConstMatrixRef v, const QAlphaOptions& options, Monitor& monitor) : v_(v), options_(options), monitor_(monitor) {}

  bool orthonormal() const override { return false; }
  Index features() const override { return v_.rows(); }

  void set_basis(const MatrixXd& basis) override { p_.noalias() = v_ * basis; }

  void product(ConstVectorRef a, VectorRef y) const override {
    const MatrixXd h = v_ * (a.asDiagonal() * p_);
    y = h.cwiseProduct(p_).rowwise().sum();
    if (options_.criterion == QAlphaCriterion::gap) {
      y *= 2;
      y.noalias() -= v_.cwiseAbs2() * a;
    }
  }

  // Phi' D^1/2 U L^-1/2 with D^1/2 V D^1/2 = U L U' are the leading eigenvectors of A_alpha.
  MatrixXd leading_basis(const VectorXd& alpha) override {
    const VectorXd root = alpha.cwiseMax(0).cwiseSqrt();
    const MatrixXd w = root.asDiagonal() * v_ * root.asDiagonal();
    const EigenPairs top = top_eigenpairs(w, options_.k, Which::largest, {}, monitor_);
    if (!(top.values[options_.k - 1] > 1e-12 * top.values[0])) {
      throw InputError(message("the kernel matrix has fewer than k = ", options_.k,
                               " positive eigenvalues; use a smaller k or another kernel."));
    }
    return root.asDiagonal() * top.vectors * top.values.cwiseSqrt().cwiseInverse().asDiagonal();
  }

  MatrixXd next_basis(const VectorXd& alpha) override { return orthonormal(alpha.asDiagonal() * p_); }

  MatrixXd random_basis(Rng& rng) const override {
    MatrixXd z(v_.rows(), options_.k);
    for (Index j = 0; j < z.cols(); ++j) z.col(j) = rng.normals(z.rows());
    return orthonormal(z);
  }

  VectorXd seeded_weights(Index feature) const override {
    const VectorXd w = v_.col(feature).array().square() + 1e-3 * v_(feature, feature) * v_(feature, feature);
    return w.normalized();
  }

 private:
  // F R^-1 with R'R = F'VF: the kernel version of QR.
  MatrixXd orthonormal(const MatrixXd& f) const {
    const MatrixXd k = f.transpose() * (v_ * f);
    const Cholesky factor = cholesky_with_jitter(0.5 * (k + k.transpose()));
    return factor.solve_lower(f.transpose().eval()).transpose();
  }

  const ConstMatrixRef v_;
  const QAlphaOptions& options_;
  Monitor& monitor_;
  MatrixXd p_;
};

}  // namespace

QAlphaResult q_alpha_kernel(ConstMatrixRef v, const QAlphaOptions& options, const Rng& rng, Monitor& monitor) {
  if (v.rows() != v.cols() || !is_symmetric(v)) throw InputError("the kernel matrix must be square, symmetric and finite.");
  if (options.k < 1 || options.k > v.rows()) {
    throw InputError(
        message("the number of clusters k must be between 1 and the number of features, ", v.rows(), ", got ", options.k, "."));
  }
  if (options.method != QAlphaMethod::power || options.spectrum != QAlphaSpectrum::standard) {
    throw InputError("with a kernel only the power method on the standard spectrum is defined.");
  }
  return climb([&]() -> std::unique_ptr<QAlphaProblem> { return std::make_unique<KernelProblem>(v, options, monitor); }, options,
               rng, monitor);
}

}  // namespace granary::regress
