// The entrywise penalty Lambda of a Gaussian graph estimator, in the four forms a user gives it; only the last one is stored.
//
//   scalar   Lambda_ij = lambda
//   vector   Lambda_ij = sqrt(l_i l_j)
//   matrix   Lambda_ij as given
// and the diagonal is either the formula's or zero. A multiplier scales the whole, for paths over one Lambda. An entry of at
// least Penalty::forbidden means "X_ij = 0" and stays so at any multiplier, zero included.
#pragma once

#include <cmath>
#include <vector>

#include "core/base/fields.h"
#include "core/base/types.h"

namespace granary::graph {

class Penalty {
 public:
  static constexpr double forbidden = 1e70;  // far beyond any covariance, and safe to multiply

  static Penalty scalar(double lambda, bool penalize_diagonal = true) {
    Penalty out;
    out.scale_ = lambda;
    out.diagonal_ = penalize_diagonal;
    return out;
  }

  static Penalty vector(ConstVectorRef weights, bool penalize_diagonal = true) {
    Penalty out;
    out.kind_ = Kind::vector;
    out.root_ = weights.array().sqrt();
    out.diagonal_ = penalize_diagonal;
    return out;
  }

  // Keeps a view: the matrix must outlive the penalty.
  static Penalty matrix(const ConstMatrixRef& lambda, bool penalize_diagonal = true) {
    Penalty out;
    out.kind_ = Kind::matrix;
    out.data_ = lambda.data();
    out.stride_ = lambda.outerStride();
    out.diagonal_ = penalize_diagonal;
    return out;
  }

  // One number, p of them or p x p of them, whichever `values` is; a view of the last, as above.
  static Penalty of(ConstVectorRef values, Index p, bool penalize_diagonal) {
    if (values.size() == 1) return scalar(values[0], penalize_diagonal);
    if (values.size() == p) return vector(values, penalize_diagonal);
    if (values.size() != p * p) {
      throw InputError(message("the penalty must have 1, ", p, " or ", p, " x ", p, " entries, but it has ", values.size(), "."));
    }
    return matrix(MatrixView(values.data(), p, p), penalize_diagonal);
  }

  Penalty scaled(double factor) const {
    Penalty out = *this;
    out.scale_ *= factor;
    return out;
  }

  // The penalty of the variables `members` alone.
  Penalty restricted(const std::vector<int>& members) const {
    Penalty out = *this;
    if (kind_ == Kind::scalar) return out;
    out.index_.resize(members.size());
    for (std::size_t i = 0; i < members.size(); ++i) out.index_[i] = index_.empty() ? members[i] : index_[members[i]];
    return out;
  }

  bool is_scalar() const { return kind_ == Kind::scalar; }

  double operator()(Index i, Index j) const {
    if (i == j && !diagonal_) return 0;
    if (kind_ == Kind::scalar) return scale_;
    if (!index_.empty()) {
      i = index_[i];
      j = index_[j];
    }
    const double weight = kind_ == Kind::vector ? root_[i] * root_[j] : data_[i + j * stride_];
    return weight >= forbidden ? weight : scale_ * weight;
  }

 private:
  enum class Kind { scalar, vector, matrix };
  Kind kind_ = Kind::scalar;
  double scale_ = 1;
  bool diagonal_ = true;
  VectorXd root_;
  const double* data_ = nullptr;
  Index stride_ = 0;
  std::vector<int> index_;
};

// `n` penalties from `top` down to `ratio` times it, equally far apart on the log scale.
inline std::vector<double> geometric_path(double top, double ratio, int n) {
  std::vector<double> path(static_cast<std::size_t>(n), top);
  for (int k = 1; k < n; ++k) path[k] = std::exp(std::log(top) + k * std::log(ratio) / (n - 1));
  return path;
}

// Lambda as it comes, and the multiples of it for which a fit is asked.
struct PenaltyPath {
  VectorView weights{nullptr, 0};
  bool penalize_diagonal = true;
  std::vector<double> multipliers{1};

  Penalty base(Index p) const { return Penalty::of(weights, p, penalize_diagonal); }
};
template <class V>
void fields(V& v, PenaltyPath& t) {
  v("weights", t.weights);
  v("penalize_diagonal", t.penalize_diagonal);
  v("multipliers", t.multipliers);
}

// For rho ||X||_1, the diagonal included, plus tau times another norm: both are penalties, and each variance has a bound.
inline void check_penalties(const ConstMatrixRef& s, double rho, double tau) {
  if (!(rho >= 0) || !std::isfinite(rho)) throw InputError(message("rho must not be negative, got ", rho, "."));
  if (!(tau >= 0) || !std::isfinite(tau)) throw InputError(message("tau must not be negative, got ", tau, "."));
  for (Index n = 0; n < s.cols(); ++n) {
    if (s(n, n) + rho > 0) continue;
    throw InputError(message("variable ", n + 1, " has variance ", s(n, n),
                             " and rho is 0, so the likelihood has no maximum: drop the variable or use a rho above 0."));
  }
}

}  // namespace granary::graph
