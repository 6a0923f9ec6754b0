// A positive semi-definite matrix G of all pairs of n points, asked for its diagonal and for some of its columns: a kernel of
// dense or sparse points, a matrix, or a function. It is never formed.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/kernel/kernel.h"
#include "core/lowrank/matrix_source.h"
#include "core/random/rng.h"

namespace granary {

class GramSource {
 public:
  virtual ~GramSource() = default;
  virtual Index size() const = 0;
  virtual VectorXd diagonal(const Work& work) const = 0;
  virtual MatrixXd columns(const std::vector<Index>& which, const Work& work) const = 0;  // G(:, which)
};

// Noise on the diagonal (white) is left out. The points must outlive the source.
std::unique_ptr<GramSource> kernel_gram(const KernelSpec& spec, const MatrixView& x);
std::unique_ptr<GramSource> kernel_gram(const KernelSpec& spec, const ConstSparseMap& x);
std::unique_ptr<GramSource> matrix_gram(const MatrixView& gram);

using GramBlock = std::function<MatrixXd(const VectorXd& rows, const VectorXd& columns)>;  // places numbered from 1
std::unique_ptr<GramSource> function_gram(Index size, GramBlock block);

// The points whose column is drawn next by the residual diagonal of what the columns before explain: the largest (pivoted
// incomplete Cholesky), or one at random in proportion (Chen, Epperly, Tropp and Webber 2025). Stops at `count`, or when what is
// left of the trace is at most tol times it.
std::vector<Index> residual_pivots(const GramSource& g, Index count, double tol, Rng* rng, const Work& work);

}  // namespace granary
