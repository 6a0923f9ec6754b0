#include "core/lowrank/selection.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/errors.h"
#include "core/linalg/dense.h"

namespace granary {

namespace {
constexpr double infinite = std::numeric_limits<double>::infinity();
}

VectorXd leverage_scores(ConstMatrixRef v) { return v.rowwise().squaredNorm(); }

// ---- draws -----------------------------------------------------------------------------------------------------------------

// The smallest of exponential clocks with these rates ring in the order of successive draws (Efraimidis and Spirakis 2006).
std::vector<Index> draw_distinct(ConstVectorRef weights, Index count, Rng& rng) {
  std::vector<std::pair<double, Index>> clock;
  for (Index i = 0; i < weights.size(); ++i) {
    const double time = rng.exponential();
    if (weights[i] > 0) clock.emplace_back(std::log(time) - std::log(weights[i]), i);
  }
  const std::size_t most = std::min(clock.size(), static_cast<std::size_t>(std::max<Index>(0, count)));
  std::partial_sort(clock.begin(), clock.begin() + static_cast<std::ptrdiff_t>(most), clock.end());
  std::vector<Index> out;
  for (std::size_t k = 0; k < most; ++k) out.push_back(clock[k].second);
  return out;
}

std::vector<Index> draw_repeated(ConstVectorRef weights, Index count, Rng& rng) {
  const AliasTable table(weights);
  std::vector<Index> out(static_cast<std::size_t>(count));
  for (Index& i : out) i = table.draw(rng);
  return out;
}

std::vector<Index> draw_independent(ConstVectorRef weights, double count, Rng& rng) {
  const double total = weights.sum();
  std::vector<Index> out;
  for (Index i = 0; i < weights.size(); ++i)
    if (rng.uniform() < count * weights[i] / total) out.push_back(i);
  return out;
}

std::vector<Index> largest_places(ConstVectorRef weights, Index count) {
  std::vector<Index> order;
  for (Index i = 0; i < weights.size(); ++i)
    if (weights[i] > 0) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return weights[a] > weights[b]; });
  if (static_cast<Index>(order.size()) > count) order.resize(static_cast<std::size_t>(count));
  return order;
}

// ---- dual sets -------------------------------------------------------------------------------------------------------------

DualSet dual_set(ConstVectorRef x, ConstMatrixRef v, Index r, Monitor& monitor) {
  const Index n = v.rows(), k = v.cols();
  if (x.size() != n) throw InputError(message("there must be one number for each of the ", n, " vectors, not ", x.size(), "."));
  if (k < 1 || r <= k)
    throw InputError(message("a dual set needs more members than the ", k, " dimensions of the vectors, not ", r, "."));
  if (!((x.array() >= 0).all())) throw InputError("the numbers of a dual set must not be negative.");
  const MatrixXd gram = v.transpose() * v;
  if (!((gram - MatrixXd::Identity(k, k)).cwiseAbs().maxCoeff() < 1e-8))
    throw InputError("the columns of the vectors must be orthonormal: the sum of v v' must be the identity.");
  const double root = std::sqrt(static_cast<double>(k) / static_cast<double>(r)), delta = x.sum() / (1 - root);
  MatrixXd a = MatrixXd::Zero(k, k);
  VectorXd s = VectorXd::Zero(n);
  for (Index tau = 0; tau < r; ++tau) {
    monitor.check();
    const double lower = static_cast<double>(tau) - std::sqrt(static_cast<double>(r * k));
    const SymmetricEigen eigen(a);
    const VectorXd& lambda = eigen.eigenvalues();
    const double phi = (lambda.array() - lower).inverse().sum(), next = (lambda.array() - lower - 1).inverse().sum();
    const VectorXd first = (lambda.array() - lower - 1).inverse(), second = first.cwiseAbs2();
    const MatrixXd p = (v * eigen.eigenvectors()).cwiseAbs2();
    const VectorXd low = p * second / (next - phi) - p * first;
    Index best = -1;
    double longest = -infinite;
    for (Index j = 0; j < n; ++j) {
      const double up = delta > 0 ? x[j] / delta : 0, length = low[j] - up;
      if (low[j] > 0 && length > longest) {
        longest = length;
        best = j;
      }
    }
    if (best < 0) throw NumericalError("no member of the dual set is admissible: the vectors are not orthonormal enough.");
    const double t = 2 / (low[best] + (delta > 0 ? x[best] / delta : 0));
    s[best] += t;
    a.noalias() += t * v.row(best).transpose() * v.row(best);
  }
  DualSet out;
  out.weights = s * (1 - root) / static_cast<double>(r);
  out.smallest = SymmetricEigen(v.transpose() * out.weights.asDiagonal() * v, EigenParts::values).eigenvalues()[0];
  out.smallest_bound = (1 - root) * (1 - root);
  out.sum = out.weights.dot(x);
  out.sum_bound = x.sum();
  if (out.smallest < out.smallest_bound * (1 - 1e-8) - 1e-12 || out.sum > out.sum_bound * (1 + 1e-8))
    throw NumericalError("the dual set does not keep its promises: the vectors are not orthonormal enough.");
  return out;
}

// ---- by what is left ---------------------------------------------------------------------------------------------------------

VectorXd residual_squares(const MatrixSource& a, ConstVectorRef squares, ConstMatrixRef q, const Work& work) {
  if (q.cols() == 0) return squares;
  const VectorXd explained = a.transposed_times(q, work).rowwise().squaredNorm();
  // rounding of |a|^2 - |Q'a|^2 is of the order of |a|^2 eps
  return (squares - explained).array().max(0.0) * ((squares - explained).array() > 1e-13 * squares.array()).cast<double>();
}

std::vector<Index> pivot_columns(const MatrixSource& a, Index count, const Work& work) {
  VectorXd left = a.column_squares(work);
  const VectorXd squares = left;
  const Index most = std::min(count, std::min(a.rows(), a.cols()));
  MatrixXd q(a.rows(), most);
  std::vector<Index> out;
  while (static_cast<Index>(out.size()) < most) {
    work.monitor.check();
    Index best = 0;
    if (!(left.maxCoeff(&best) > 1e-13 * squares.maxCoeff())) break;
    const Index done = static_cast<Index>(out.size());
    VectorXd column = a.some_columns({best}, work);
    const double length = column.norm();
    for (int twice = 0; twice < 2; ++twice)
      if (done > 0) column -= q.leftCols(done) * (q.leftCols(done).transpose() * column).eval();
    if (!(column.norm() > 1e-13 * length)) {  // what was left of it was rounding
      left[best] = 0;
      continue;
    }
    q.col(done) = column.normalized();
    out.push_back(best);
    left -= a.transposed_times(q.col(done), work).cwiseAbs2();
    left = left.cwiseMax(0.0);
    left[best] = 0;
  }
  return out;
}

// ---- plans -------------------------------------------------------------------------------------------------------------------

namespace {

double inflation(Index k, Index dual) {
  if (dual <= k) return infinite;
  const double rest = 1 - std::sqrt(static_cast<double>(k) / static_cast<double>(dual));
  return 1 + 1 / (rest * rest);
}

// The member of from .. to with the smallest value of a function that falls and then rises.
template <class F>
ColumnSplit smallest_of(Index from, Index to, F&& f) {
  ColumnSplit best{0, infinite};
  while (to - from > 3) {
    const Index one = from + (to - from) / 3, two = to - (to - from) / 3;
    if (f(one) <= f(two)) {
      to = two - 1;
    } else {
      from = one + 1;
    }
  }
  for (Index c = from; c <= to; ++c)
    if (f(c) < best.eps) best = {c, f(c)};
  return best;
}

}  // namespace

double split_bound(Index k, Index c, Index dual) {
  if (dual <= k || dual >= c) return infinite;
  return static_cast<double>(k) / static_cast<double>(c - dual) * inflation(k, dual);
}

double row_bound(Index k, Index columns, Index r, Index dual) {
  if (dual <= k || dual >= r) return infinite;
  return static_cast<double>(columns) / static_cast<double>(r - dual) * inflation(k, dual);
}

ColumnSplit split_columns(Index k, Index c) {
  return smallest_of(k + 1, c - 1, [&](Index dual) { return split_bound(k, c, dual); });
}

ColumnSplit split_rows(Index k, Index columns, Index r) {
  return smallest_of(k + 1, r - 1, [&](Index dual) { return row_bound(k, columns, r, dual); });
}

}  // namespace granary
