// What the rounds of Q-alpha need of a problem: products with G at the current subspace, and the next subspace.
#pragma once

#include <functional>
#include <memory>

#include "regress/q_alpha.h"

namespace granary::regress {

class QAlphaProblem {
 public:
  virtual ~QAlphaProblem() = default;
  virtual Index features() const = 0;

  virtual void set_basis(const MatrixXd& basis) = 0;
  virtual void product(ConstVectorRef a, VectorRef y) const = 0;  // G a, at the basis that was set
  virtual MatrixXd leading_basis(const VectorXd& alpha) = 0;      // the best basis for alpha
  virtual MatrixXd next_basis(const VectorXd& alpha) = 0;         // one orthogonal iteration from the current one
  virtual bool orthonormal() const { return true; }               // are the columns of a basis?
  // A problem may depend on the weights it is met at: resume() sets it up for alpha, and says by how much that changed it, relatively.
  virtual bool moves() const { return false; }
  virtual double resume(const VectorXd& /* alpha */) { return 0; }
  virtual MatrixXd random_basis(Rng& rng) const = 0;
  virtual VectorXd seeded_weights(Index feature) const = 0;  // squared similarity to one feature
};

using ProblemMaker = std::function<std::unique_ptr<QAlphaProblem>()>;

// The rounds from every start; `n_start` of the options, the first from `leading_basis` of equal weights.
QAlphaResult climb(const ProblemMaker& make, const QAlphaOptions& options, const Rng& rng, Monitor& monitor);

// Orthonormal columns with the span of z.
MatrixXd orthonormal_columns(const MatrixXd& z);

}  // namespace granary::regress
