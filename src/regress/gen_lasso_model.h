// The smooth part of the generalized lasso, f(b) = sum_i phi(y_i, (X b)_i): designs that need only products with X and X', and
// losses.
//
//   gaussian  1/2 (y - e)^2            binomial  log(1 + exp e) - y e
//   poisson   exp e - y e              huber     1/2 r^2 for |r| <= delta, else delta (|r| - delta/2), r = y - e
#pragma once

#include <memory>
#include <string>

#include "core/base/fields.h"
#include "core/base/types.h"

namespace granary::regress {

class GenDesign {
 public:
  virtual ~GenDesign() = default;
  virtual Index rows() const = 0;
  virtual Index cols() const = 0;
  virtual void apply(ConstVectorRef b, VectorXd& out) const = 0;      // X b
  virtual void transpose(ConstVectorRef r, VectorXd& out) const = 0;  // X'r
  virtual VectorXd squares() const = 0;                               // ||X_j||^2
  virtual bool identity() const { return false; }
  virtual bool explicit_matrix() const { return false; }
  virtual MatrixXd dense() const;  // X itself, by columns where nothing better is at hand
};

std::unique_ptr<GenDesign> dense_design(ConstMatrixRef x);  // refers to x
std::unique_ptr<GenDesign> sparse_design(const SparseMatrix& x);
std::unique_ptr<GenDesign> identity_design(Index p);
// Every pixel of a rows x cols image becomes the mean of the pixels that exist in the size x size square about it; by running
// sums, so the cost does not depend on the size.
std::unique_ptr<GenDesign> blur_design(int rows, int cols, int size);
// Columns less their means, and a last column of ones if `ones`.
std::unique_ptr<GenDesign> centred_design(std::unique_ptr<GenDesign> x, bool ones, VectorXd& means);

enum class LossFamily { gaussian, binomial, poisson, huber };
inline Names<LossFamily> names(LossFamily) {
  return {{LossFamily::gaussian, "gaussian"}, {LossFamily::binomial, "binomial"}, {LossFamily::poisson, "poisson"}, {LossFamily::huber, "huber"}};
}

struct GenLoss {
  LossFamily family = LossFamily::gaussian;
  VectorXd y;
  double delta = 1;  // huber

  double value(ConstVectorRef eta) const;
  VectorXd gradient(ConstVectorRef eta) const;   // with respect to eta
  VectorXd curvature(ConstVectorRef eta) const;  // second derivative
  double curvature_bound() const;                // of the second derivative, or its size at the mean where there is none
  double dual(ConstVectorRef theta) const;       // -phi*(-theta), -infinity outside the domain
};

}  // namespace granary::regress
