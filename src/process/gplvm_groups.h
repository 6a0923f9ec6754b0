// Targets of a latent variable model with holes and noise of their own, and the columns that can share a factorisation.
//
// Cell (n, i) holds f_ni plus normal noise of variance r_ni on top of the noise of the kernel (Lawrence 2005, eq. 14, where
// beta_ni = 1 / r_ni). An infinite r_ni says that the cell is missing (Section 6: beta_ni = 0). Columns with equal noise see the
// same covariance matrix K_OO + diag(r_O), O the rows they observe.
#pragma once

#include <vector>

#include "core/base/types.h"

namespace granary::process {

struct NoisyTargets {
  MatrixXd y;      // N x D; missing cells may hold anything finite
  MatrixXd noise;  // N x D variances r, or 0 x 0 for none: every cell is there and has no noise of its own

  bool plain() const { return noise.size() == 0; }
  bool observed(Index n, Index i) const { return plain() || noise(n, i) < missing_from; }
  double noise_at(Index n, Index i) const { return plain() ? 0 : noise(n, i); }
  NoisyTargets rows(const std::vector<Index>& which) const;
  Index cells() const;  // that are observed

  static constexpr double missing_from = 1e12;  // a variance beyond this tells nothing about f
};

struct ColumnGroup {
  std::vector<Index> columns;
  std::vector<Index> rows;  // O
  VectorXd noise;           // r_O
  MatrixXd y;               // rows x columns
};

// Columns of equal noise together, groups in the order of their first columns. A column without any cell is in no group.
std::vector<ColumnGroup> group_columns(const NoisyTargets& targets);

MatrixXd take_rows(ConstMatrixRef x, const std::vector<Index>& rows);

}  // namespace granary::process
