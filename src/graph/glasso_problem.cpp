#include "graph/glasso_problem.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/convergence.h"
#include "core/prox/proximal.h"
#include "core/graph/union_find.h"
#include "core/linalg/dense.h"

namespace granary::graph {

double linear_and_penalty(const ConstMatrixRef& s, const Penalty& lambda, const SparseMatrix& upper) {
  double sum = 0;
  for (Index j = 0; j < upper.cols(); ++j) {
    for (SparseMatrix::InnerIterator it(upper, j); it; ++it) {
      const Index i = it.row();
      const double term = s(i, j) * it.value() + lambda(i, j) * std::abs(it.value());
      sum += i == j ? term : 2 * term;
    }
  }
  return sum;
}

double variance_unit(const ConstMatrixRef& s, const Penalty& lambda) {
  const double variance = s.diagonal().mean();
  return variance > 0 ? variance : lambda(0, 0) > 0 ? lambda(0, 0) : 1;
}

Optimality optimality(const ConstMatrixRef& s, const Penalty& lambda, const SparseMatrix& upper, const MatrixXd& w) {
  Optimality out;
  out.unit = variance_unit(s, lambda);
  for (Index j = 0; j < upper.cols(); ++j) {
    SparseMatrix::InnerIterator it(upper, j);
    for (Index i = 0; i <= j; ++i) {
      const double g = s(i, j) - w(i, j), l = lambda(i, j);
      const double x = it && it.row() == i ? it.value() : 0;
      if (it && it.row() == i) ++it;
      const double v = std::abs(x > 0 ? g + l : x < 0 ? g - l : soft_threshold(g, l));
      out.subgradient += i == j ? v : 2 * v;
      out.size += i == j ? std::abs(x) : 2 * std::abs(x);
      out.largest = std::max(out.largest, v);
    }
  }
  return out;
}

double duality_gap(const ConstMatrixRef& s, const Penalty& lambda, double objective, const MatrixXd& w) {
  const Index p = s.rows();
  MatrixXd v(p, p);
  // A tiny excess of W over the box is clipped; a larger one may leave the positive definite cone, hence the ladder towards S.
  for (const double towards_s : {0.0, 1e-3, 1e-2, 0.1, 0.3, 0.6, 1.0}) {
    for (Index j = 0; j < p; ++j) {
      v(j, j) = s(j, j) + lambda(j, j);
      for (Index i = j + 1; i < p; ++i) {
        const double l = lambda(i, j);
        v(i, j) = s(i, j) + (1 - towards_s) * std::clamp(w(i, j) - s(i, j), -l, l);
      }
    }
    const LltInPlace llt(v);
    if (llt.info() == Eigen::Success) {
      const double log_det = 2 * v.diagonal().array().log().sum();
      if (std::isfinite(log_det)) return objective - (log_det + static_cast<double>(p));
    }
  }
  return Convergence::unknown;
}

namespace {

// tr(M^2) = sum_ij M_ij M_ji, by tiles that fit the cache.
double trace_of_square(const MatrixXd& m) {
  constexpr Index tile = 32;
  const Index p = m.rows();
  double sum = 0;
  for (Index j = 0; j < p; j += tile) {
    const Index nj = std::min(tile, p - j);
    for (Index i = 0; i <= j; i += tile) {
      const Index ni = std::min(tile, p - i);
      const double part = m.block(i, j, ni, nj).cwiseProduct(m.block(j, i, nj, ni).transpose()).sum();
      sum += i == j ? part : 2 * part;
    }
  }
  return sum;
}

}  // namespace

Certificate certify(const ConstMatrixRef& s, const Penalty& lambda, const SparseMatrix& upper, MatrixXd& w, MatrixXd& product) {
  const Index p = s.rows();
  const SparseMatrix x = symmetric_from_upper(upper);
  MatrixXd& v = w;
  product.resize(p, p);
  for (Index j = 0; j < p; ++j) {
    const double* sj = s.data() + j * s.outerStride();
    double* vj = v.data() + j * p;
    if (lambda.is_scalar() && p > 1) {
      const double l = lambda(0, 1);
      for (Index i = 0; i < p; ++i) vj[i] = sj[i] + std::min(std::max(vj[i] - sj[i], -l), l);
    } else {
      for (Index i = 0; i < p; ++i) vj[i] = sj[i] + std::clamp(vj[i] - sj[i], -lambda(i, j), lambda(i, j));
    }
    for (SparseMatrix::InnerIterator it(x, j); it; ++it) {
      const Index i = it.row();
      vj[i] = sj[i] + (it.value() > 0 ? lambda(i, j) : -lambda(i, j));
    }
  }

  Certificate out;
  const VectorXd deviation = v.diagonal().cwiseSqrt();
  for (Index j = 0; j < p; ++j) {
    auto column = product.col(j);
    column.setZero();
    const int* row = x.innerIndexPtr();
    const double* value = x.valuePtr();
    int k = x.outerIndexPtr()[j];
    const int end = x.outerIndexPtr()[j + 1];
    for (; k + 4 <= end; k += 4) {  // the sum is read and written a quarter as often
      column += value[k] * v.col(row[k]) + value[k + 1] * v.col(row[k + 1]) + value[k + 2] * v.col(row[k + 2]) +
                value[k + 3] * v.col(row[k + 3]);
    }
    for (; k < end; ++k) column += value[k] * v.col(row[k]);
    column[j] -= 1;
    out.largest = std::max(out.largest, (column.array().abs() / deviation.array()).maxCoeff() * deviation[j]);
  }
  const double t = std::max(trace_of_square(product), 0.0);
  out.residual = std::sqrt(t / static_cast<double>(p));
  out.gap = t < 1 ? t / (2 * (1 - std::sqrt(t))) : Convergence::unknown;
  return out;
}

namespace {

bool unpenalised(const Penalty& lambda, Index p) {
  for (Index j = 0; j < p; ++j) {
    for (Index i = 0; i < j; ++i) {
      if (lambda(i, j) > 0) return false;
    }
  }
  return true;
}

// By Cholesky: a pivot that is rounding of the variance it came from counts as zero.
bool is_singular(const ConstMatrixRef& s, const Penalty& lambda) {
  const Index p = s.rows();
  MatrixXd v = s;
  for (Index j = 0; j < p; ++j) v(j, j) += lambda(j, j);
  const VectorXd variance = v.diagonal();
  const LltInPlace llt(v);
  if (llt.info() != Eigen::Success) return true;
  const double rounding = 10 * static_cast<double>(p) * std::numeric_limits<double>::epsilon();
  return (v.diagonal().array().square() <= rounding * variance.array()).any();
}

}  // namespace

void check_problem(const ConstMatrixRef& s, const Penalty& lambda) {
  for (Index j = 0; j < s.cols(); ++j) {
    if (!(s(j, j) + lambda(j, j) > 0)) {
      throw InputError(message("variable ", j + 1, " has variance ", s(j, j),
                               " and an unpenalised diagonal, so the likelihood has no ",
                               "maximum; drop the variable or set penalize_diagonal = TRUE"));
    }
    for (Index i = 0; i < j; ++i) {
      if (!(lambda(i, j) >= 0))
        throw InputError(message("lambda must not be negative, but entry (", i + 1, ", ", j + 1, ") is ", lambda(i, j)));
    }
  }
  // With the off-diagonal unpenalised the only dual point is S + diag(Lambda): the problem is bounded if and only if that is one.
  if (s.rows() > 1 && unpenalised(lambda, s.rows()) && is_singular(s, lambda)) {
    throw NumericalError(
        "the likelihood is unbounded: the covariance is singular and no off-diagonal entry is penalised; use a lambda above 0");
  }
}

std::vector<std::vector<int>> screen_components(const ConstMatrixRef& s, const Penalty& lambda) {
  const int p = static_cast<int>(s.rows());
  UnionFind sets(p);
  for (int j = 0; j < p && sets.sets() > 1; ++j) {
    for (int i = 0; i < j; ++i) {
      if (std::abs(s(i, j)) > lambda(i, j)) sets.unite(i, j);
    }
  }
  return sets.members();
}

SparseMatrix symmetric_from_upper(const SparseMatrix& upper) {
  std::vector<Eigen::Triplet<double>> entries;
  entries.reserve(2 * upper.nonZeros());
  for (Index j = 0; j < upper.cols(); ++j) {
    for (SparseMatrix::InnerIterator it(upper, j); it; ++it) {
      if (it.value() == 0) continue;
      const int i = static_cast<int>(it.row()), jj = static_cast<int>(j);
      entries.emplace_back(i, jj, it.value());
      if (i != jj) entries.emplace_back(jj, i, it.value());
    }
  }
  SparseMatrix out(upper.rows(), upper.cols());
  out.setFromTriplets(entries.begin(), entries.end());
  return out;
}

EigenvalueBounds level_set_bounds(const ConstMatrixRef& s, const Penalty& lambda, double objective_at_start) {
  const Index p = s.rows();
  const double gamma = s.diagonal().minCoeff();
  double beta = 0, smallest = std::numeric_limits<double>::infinity();
  for (Index j = 0; j < p; ++j) {
    for (Index i = 0; i < j; ++i) {
      beta = std::max(beta, std::abs(s(i, j)));
      smallest = std::min(smallest, lambda(i, j));
    }
  }
  const double factor = p > 1 ? 1 + beta / smallest : 1;
  const double dim = static_cast<double>(p), f0 = objective_at_start;
  // The largest root of gamma M = factor (f0 + p log M), (27): the difference is convex, so bisect to the right of its minimum.
  const auto excess = [&](double m) { return gamma * m - factor * (f0 + dim * std::log(m)); };
  double low = factor * dim / gamma, high = low;
  const double rounding =
      1e-12 * factor * (dim + std::abs(f0));  // low itself is the root when the start is the only point of the set
  if (!(gamma > 0) || !std::isfinite(factor) || !(excess(low) <= rounding)) {
    return {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  }
  while (excess(high) <= 0) high *= 2;
  for (int k = 0; k < 200 && high - low > 1e-14 * high; ++k) {
    const double middle = 0.5 * (low + high);
    (excess(middle) <= 0 ? low : high) = middle;
  }
  return {-f0 - (dim - 1) * std::log(high), high};
}

std::vector<std::vector<int>> pattern_components(const SparseMatrix& pattern) {
  UnionFind sets(static_cast<int>(pattern.cols()));
  for (Index j = 0; j < pattern.cols(); ++j) {
    for (SparseMatrix::InnerIterator it(pattern, j); it; ++it) sets.unite(static_cast<int>(it.row()), static_cast<int>(j));
  }
  return sets.members();
}

}  // namespace granary::graph
