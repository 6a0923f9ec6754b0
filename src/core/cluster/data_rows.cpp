#include "core/cluster/data_rows.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/linalg/wide_loops.h"

namespace granary {

DataRows::DataRows(const Design& x) : x_(x) {
  if (x.is_sparse()) by_rows_ = x.sparse();
}

void DataRows::check_plain(ConstMatrixRef x) {
  if (x.outerStride() != x.rows()) throw InputError("rows to be clustered must lie in memory as one matrix.");
}

VectorXd DataRows::lengths() const {
  // Scaled by the largest entry first: squares of 1e-200 or 1e200 would be lost.
  VectorXd largest = VectorXd::Zero(rows()), out = VectorXd::Zero(rows());
  if (is_sparse()) {
    for (Index i = 0; i < rows(); ++i) {
      for (ByRows::InnerIterator it(by_rows_, i); it; ++it) largest[i] = std::max(largest[i], std::abs(it.value()));
      if (!(largest[i] > 0)) continue;
      for (ByRows::InnerIterator it(by_rows_, i); it; ++it) out[i] += (it.value() / largest[i]) * (it.value() / largest[i]);
    }
    return largest.cwiseProduct(out.cwiseSqrt());
  }
  for (Index j = 0; j < cols(); ++j) largest = largest.cwiseMax(x_.dense().col(j).cwiseAbs());
  const VectorXd by = (largest.array() > 0).select(largest, 1.0);
  for (Index j = 0; j < cols(); ++j) out.array() += (x_.dense().col(j).array() / by.array()).square();
  return by.cwiseProduct(out.cwiseSqrt());
}

VectorXd DataRows::normalise() {
  const VectorXd length = lengths();
  if (((length.array() - 1).abs() <= 4e-16).all()) return length;
  if (is_sparse()) {
    for (Index i = 0; i < rows(); ++i)
      for (ByRows::InnerIterator it(by_rows_, i); it; ++it) it.valueRef() /= length[i] > 0 ? length[i] : 1;
    return length;
  }
  const VectorXd divisor = (length.array() > 0).select(length, 1.0);
  own_ = x_.dense().array().colwise() / divisor.array();
  x_ = Design(MatrixView(own_.data(), own_.rows(), own_.cols()));
  return length;
}

void DataRows::scores(Index from, ConstMatrixRef table, ConstVectorRef bias, MatrixRef out) const {
  if (!is_sparse()) {
    out.rowwise() = bias.transpose();
    out.noalias() += x_.dense().middleRows(from, out.rows()) * table.transpose();
    return;
  }
  VectorXd sum(table.rows());
  for (Index r = 0; r < out.rows(); ++r) sparse_scores(from + r, table, bias, sum, out, r);
}

void DataRows::sparse_scores(Index i, ConstMatrixRef table, ConstVectorRef bias, VectorXd& sum, MatrixRef out, Index r) const {
  std::copy(bias.data(), bias.data() + bias.size(), sum.data());
  const int begin = by_rows_.outerIndexPtr()[i], end = by_rows_.outerIndexPtr()[i + 1];
  if (table.outerStride() == table.rows()) {
    gather_columns(by_rows_.valuePtr() + begin, by_rows_.innerIndexPtr() + begin, end - begin, table.data(), table.rows(), sum.data());
  } else {
    for (ByRows::InnerIterator it(by_rows_, i); it; ++it) sum += it.value() * table.col(it.col());
  }
  for (Index h = 0; h < sum.size(); ++h) out(r, h) = sum[h];
}

void DataRows::scores(const std::vector<Index>& which, ConstMatrixRef table, ConstVectorRef bias, MatrixRef out, MatrixXd& gathered) const {
  const Index size = static_cast<Index>(which.size());
  if (!is_sparse()) {
    gathered.resize(size, cols());
    for (Index j = 0; j < cols(); ++j) {
      const double* column = x_.dense().data() + j * rows();
      for (Index r = 0; r < size; ++r) gathered(r, j) = column[which[static_cast<std::size_t>(r)]];
    }
    out.rowwise() = bias.transpose();
    out.noalias() += gathered * table.transpose();
    return;
  }
  VectorXd sum(table.rows());
  for (Index r = 0; r < size; ++r) sparse_scores(which[static_cast<std::size_t>(r)], table, bias, sum, out, r);
}

double DataRows::score(Index i, ConstMatrixRef table, Index h) const {
  if (!is_sparse()) return x_.dense().row(i).dot(table.row(h));
  double sum = 0;
  for (ByRows::InnerIterator it(by_rows_, i); it; ++it) sum += it.value() * table(h, it.col());
  return sum;
}

void DataRows::add_sums(Index from, ConstMatrixRef p, MatrixRef sums) const {
  if (!is_sparse()) {
    sums.noalias() += p.transpose() * x_.dense().middleRows(from, p.rows());
    return;
  }
  VectorXd own(p.cols());
  for (Index r = 0; r < p.rows(); ++r) {
    for (Index h = 0; h < p.cols(); ++h) own[h] = p(r, h);
    if (sums.outerStride() == sums.rows()) {
      const int begin = by_rows_.outerIndexPtr()[from + r], end = by_rows_.outerIndexPtr()[from + r + 1];
      scatter_columns(by_rows_.valuePtr() + begin, by_rows_.innerIndexPtr() + begin, end - begin, own.data(), own.size(), sums.data());
    } else {
      for (ByRows::InnerIterator it(by_rows_, from + r); it; ++it) sums.col(it.col()) += it.value() * own;
    }
  }
}

void DataRows::add_row(Index i, double weight, MatrixRef sums, Index h) const {
  if (!is_sparse()) {
    const double* entry = x_.dense().data() + i;
    for (Index j = 0; j < cols(); ++j) sums(h, j) += weight * entry[j * rows()];
    return;
  }
  for (ByRows::InnerIterator it(by_rows_, i); it; ++it) sums(h, it.col()) += weight * it.value();
}

void DataRows::add_labelled(const VectorXi& cluster, ConstVectorRef weights, MatrixRef sums) const {
  const bool weighted = weights.size() > 0;
  if (is_sparse()) {
    for (Index i = 0; i < rows(); ++i) add_row(i, weighted ? weights[i] : 1, sums, cluster[i]);
    return;
  }
  constexpr Index block = 2048;  // rows whose labels stay in the cache, beside the sums of one column
  for (Index from = 0; from < rows(); from += block) {
    const Index end = std::min(rows(), from + block);
    for (Index j = 0; j < cols(); ++j) {
      const double* column = x_.dense().data() + j * rows();
      double* sum = sums.data() + j * sums.outerStride();
      for (Index i = from; i < end; ++i) sum[cluster[i]] += weighted ? weights[i] * column[i] : column[i];
    }
  }
}

void DataRows::row(Index i, VectorRef out) const {
  if (!is_sparse()) {
    out = x_.dense().row(i).transpose();
    return;
  }
  out.setZero();
  for (ByRows::InnerIterator it(by_rows_, i); it; ++it) out[it.col()] = it.value();
}

VectorXd DataRows::squared_norms() const {
  VectorXd out = VectorXd::Zero(rows());
  if (!is_sparse()) {
    for (Index j = 0; j < cols(); ++j) out.array() += x_.dense().col(j).array().square();
    return out;
  }
  for (Index i = 0; i < rows(); ++i)
    for (ByRows::InnerIterator it(by_rows_, i); it; ++it) out[i] += it.value() * it.value();
  return out;
}

VectorXd DataRows::squared_distances(Index i) const {
  VectorXd out = VectorXd::Zero(rows());
  if (!is_sparse()) {
    constexpr Index block = 2048;  // rows whose sums stay in the cache
    for (Index from = 0; from < rows(); from += block) {
      const Index count = std::min(block, rows() - from);
      for (Index j = 0; j < cols(); ++j)
        out.segment(from, count).array() += (x_.dense().col(j).segment(from, count).array() - x_.dense()(i, j)).square();
    }
    return out;
  }
  VectorXd own(cols());
  row(i, own);
  const double norm = own.squaredNorm();
  for (Index r = 0; r < rows(); ++r) {  // |x - y|^2 = |y|^2 + sum over the entries of x of (x - y)^2 - y^2
    double entries = 0, rest = norm;
    for (ByRows::InnerIterator it(by_rows_, r); it; ++it) {
      const double y = own[it.col()], difference = it.value() - y;
      entries += difference * difference;
      rest -= y * y;
    }
    out[r] = r == i ? 0 : entries + (rest > 1e-14 * norm ? rest : 0);  // what rounding leaves of rows on the same columns
  }
  return out;
}

double DataRows::squared_distance(Index i, ConstMatrixRef table, Index h) const {
  if (!is_sparse()) {
    double sum = 0;
    for (Index j = 0; j < cols(); ++j) {
      const double difference = x_.dense()(i, j) - table(h, j);
      sum += difference * difference;
    }
    return sum;
  }
  VectorXd own(cols());
  row(i, own);
  return (own.transpose() - table.row(h)).squaredNorm();
}

}  // namespace granary
