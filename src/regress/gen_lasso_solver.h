// What the solvers of the generalized lasso share: scales, the f-step, the certificate, the polish. Internal to gen_lasso*.cpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/linalg/spd.h"
#include "regress/gen_lasso.h"

namespace granary::regress {

class GenSolver {
 public:
  GenSolver(const GenDesign& x, const GenLoss& loss, GenPenalty& penalty, const GenLassoOptions& options, Monitor& monitor);

  GenLassoFit alin(double lambda, const VectorXd& start, const VectorXd& mu);
  GenLassoFit fista(double lambda, const VectorXd& start);
  GenLassoFit admm(double lambda, const VectorXd& start);
  GenLassoFit sparsa(double lambda, const VectorXd& start);
  GenLassoFit tikhonov(double lambda);
  GenLassoFit identity(double lambda, const VectorXd& mu);
  GenLassoFit unpenalised(const VectorXd& start);

  VectorXd project_null(VectorXd theta) const;  // orthogonal to X null(R)
  VectorXd null_fit();                          // minimiser of f over null(R)
  bool unique() const { return unique_; }
  double scale() const { return scale_; }
  // What a gap is judged by: the objective reached, but not less than a millionth of the one at zero, where fits interpolate.
  double judged(double objective) const { return std::clamp(std::abs(objective), 1e-6 * scale_, scale_); }

 private:
  bool boxed() const { return options_.lower.size() > 0; }
  bool inside(const VectorXd& b) const;
  double smooth(const VectorXd& b, VectorXd& gradient) const;  // f and its gradient
  double smooth(const VectorXd& b) const;
  void prepare_f_step();
  VectorXd f_step(const VectorXd& z, const VectorXd& start);
  // The gap at fit.b, with fit.mu, residuals, df; fit.b becomes the proximal point there if that is as good.
  void certify(GenLassoFit& fit, double lambda);
  bool polish(VectorXd& b, double lambda, double& objective);
  void close(GenLassoFit& fit, double lambda);

  const GenDesign& x_;
  const GenLoss& loss_;
  GenPenalty& penalty_;
  const GenLassoOptions& options_;
  Monitor& monitor_;
  VectorXd d_;
  double scale_ = 1, gradient_scale_ = 1;
  MatrixXd null_image_;  // orthonormal basis of X null(R)
  bool unique_ = true;
  bool direct_ = false;
  std::unique_ptr<Cholesky> normal_;
  std::unique_ptr<DiagonalPlusLowRank> woodbury_;
  VectorXd xty_;
  MatrixXd dense_;  // for the polish
};

}  // namespace granary::regress
