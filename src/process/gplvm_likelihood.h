// The likelihood of a Gaussian process latent variable model, and its gradient.
//
//   L(X, theta) = sum_i log N(y_:i | 0, K_OO + diag(r_O) + c I),   O = O(i) the rows that column i observes
//
// With one group of columns this is -(D N / 2) log 2 pi - (D / 2) log |K| - 1/2 tr(K^-1 Y Y'), equation (6) of Lawrence,
// Probabilistic non-linear principal component analysis with Gaussian process latent variable models, JMLR 6 (2005). The gradient
// goes through
//
//   dL/dK = 1/2 (K^-1 Y Y' K^-1 - D K^-1)            (equation 10 lacks the factor 1/2)
//
// and the reverse mode of the kernel. A group costs O(N^3 + N^2 min(D, N)): where D > N, Y is replaced once and for all by the
// triangular factor of Y Y', so that a thousand pixels cost no more than N of them.
#pragma once

#include <vector>

#include "core/kernel/kernel.h"
#include "core/base/monitor.h"
#include "process/gplvm_groups.h"

namespace granary::process {

class GplvmLikelihood {
 public:
  // `nugget`: c, a floor under the noise that keeps K away from interpolation.
  GplvmLikelihood(const NoisyTargets& targets, double nugget, int threads = 1);

  // -infinity where a covariance matrix cannot be factored. The gradients, where given, are overwritten.
  double operator()(const Kernel& kernel, ConstMatrixRef x, VectorXd* d_parameters, MatrixXd* d_x, Monitor& monitor) const;

  std::size_t groups() const { return groups_.size(); }

 private:
  struct Group {
    std::vector<Index> rows;
    VectorXd noise;
    MatrixXd y;    // y y' = Y Y'
    double count;  // columns of Y
  };
  double add_group(const Group& group, const MatrixXd& k, MatrixXd* gradient) const;

  std::vector<Group> groups_;
  Index n_ = 0;
  double nugget_;
  int threads_;
};

}  // namespace granary::process
