#include "regress/chain_penalty.h"

#include <vector>

#include "core/base/errors.h"

namespace granary::regress {

namespace {

// Rows of D^(order), each with order + 1 entries from its own column on.
MatrixXd difference_entries(ConstVectorRef t, int order) {
  const Index p = t.size();
  MatrixXd rows = MatrixXd::Ones(1, p);  // D^(0): column i of `rows` has the entries of row i
  for (int k = 1; k <= order; ++k) {
    MatrixXd next = MatrixXd::Zero(k + 1, p - k);
    for (Index i = 0; i < p - k; ++i) {
      // D^(1) diag(scale) D^(k - 1); the scale of first differences is 1
      const double here = k == 1 ? 1 : (k - 1) / (t[i + k - 1] - t[i]);
      const double there = k == 1 ? 1 : (k - 1) / (t[i + k] - t[i + 1]);
      next.col(i).head(k) -= here * rows.col(i);
      next.col(i).tail(k) += there * rows.col(i + 1);
    }
    rows = next;
  }
  return rows;
}

// Orthonormal polynomials: each from the one before times t, so that no power of t is ever formed.
MatrixXd polynomials(ConstVectorRef t, int count) {
  const Index p = t.size();
  const double middle = t.mean();
  const double width = (t.array() - middle).abs().maxCoeff();
  const VectorXd x = (t.array() - middle) / (width > 0 ? width : 1);
  MatrixXd out(p, count);
  for (int j = 0; j < count; ++j) {
    VectorXd q = j == 0 ? VectorXd::Ones(p) : VectorXd(x.cwiseProduct(out.col(j - 1)));
    for (int twice = 0; twice < 2; ++twice) {
      const VectorXd along = out.leftCols(j).transpose() * q;
      q -= out.leftCols(j) * along;
    }
    out.col(j) = q / q.norm();
  }
  return out;
}

}  // namespace

ChainPenalty chain_penalty(ConstVectorRef position, const ChainOptions& options) {
  const Index p = options.p;
  const int order = options.order;
  if (order < 1 || order >= p) throw InputError(message("`order` must be at least 1 and below ", p, "."));
  if (position.size() != 0 && position.size() != p) throw InputError(message("`pos` must have ", p, " positions."));
  VectorXd t = position;
  if (t.size() == 0) {
    t.resize(p);
    for (Index i = 0; i < p; ++i) t[i] = static_cast<double>(i + 1);
  }
  const MatrixXd entries = difference_entries(t, order);
  std::vector<Eigen::Triplet<double>> cells;
  cells.reserve(static_cast<std::size_t>(entries.size()));
  for (Index i = 0; i < p - order; ++i)
    for (int k = 0; k <= order; ++k) cells.emplace_back(static_cast<int>(i), static_cast<int>(i + k), entries(k, i));
  ChainPenalty out;
  out.matrix.resize(p - order, p);
  out.matrix.setFromTriplets(cells.begin(), cells.end());
  out.null = polynomials(t, order);
  return out;
}

}  // namespace granary::regress
