// Designs for the lasso: standardised columns behind dot and axpy, dense or sparse. Internal to lasso*.cpp.
//
// Column j stands for (x_j - center_j) / scale_j, rows multiplied by row_i. A dense design stores that; a sparse one stores
// row_i x_ij / scale_j and leaves the centring to its user, who keeps u = stored + shift * row instead of u.
#pragma once

#include <cmath>
#include <vector>

#include "core/base/types.h"
#include "core/linalg/engine.h"

namespace granary::lasso_detail {

struct Standardization {
  VectorXd center, scale;  // on the original scale; center is zero without an intercept
  VectorXd variance;       // of the standardised column about its center; zero marks a column that is left out
};

// Weighted mean and centred second moment (weights sum to one) to the scales of a column.
inline void standardize_column(Index j, double mean, double spread, bool intercept, bool standardize, Standardization& out) {
  const bool constant = !(spread > 1e-28 * mean * mean);
  const double sd = std::sqrt(spread);
  out.center[j] = intercept ? mean : 0;
  out.scale[j] = standardize && !constant ? sd : 1;
  const double second = intercept ? spread : spread + mean * mean;
  if (!std::isfinite(spread)) {
    out.variance[j] = spread;  // for the caller to complain about
    return;
  }
  out.variance[j] = constant && (intercept || mean == 0) ? 0 : second / (out.scale[j] * out.scale[j]);
}

class DenseColumns {
 public:
  static constexpr bool centred = true;

  DenseColumns(const ConstMatrixRef& x, const VectorXd& weights, const VectorXd& row, bool intercept, bool standardize)
      : x_(x.rows(), x.cols()) {
    const Index p = x.cols();
    standardization.center.resize(p);
    standardization.scale.resize(p);
    standardization.variance.resize(p);
    for (Index j = 0; j < p; ++j) {
      const double mean = weights.dot(x.col(j));
      x_.col(j) = x.col(j).array() - mean;
      const double spread = (weights.array() * x_.col(j).array().square()).sum();
      standardize_column(j, mean, spread, intercept, standardize, standardization);
      const double factor = 1 / standardization.scale[j];
      if (intercept) {
        x_.col(j).array() *= factor * row.array();
      } else {
        x_.col(j).array() = factor * x.col(j).array() * row.array();
      }
    }
  }

  Index rows() const { return x_.rows(); }
  Index cols() const { return x_.cols(); }
  double work_per_column() const { return static_cast<double>(rows()); }

  double dot(Index j, const VectorXd& u) const {
    double out = 0;
    inner(x_.data() + rows() * j, 1, u.data(), &out);
    return out;
  }
  void axpy(Index j, double a, VectorXd& u) const { u.noalias() += a * x_.col(j); }
  void axpy_weighted(Index j, double a, const VectorXd& w, VectorXd& u) const {
    u.array() += a * (w.array() * x_.col(j).array());
  }
  void moments(Index j, const VectorXd& w, double& first, double& second) const {
    const double *x = x_.data() + rows() * j, *weight = w.data();
    double s0 = 0, s1 = 0, t0 = 0, t1 = 0;  // two chains each: the additions' latency is what this loop waits for
    Index i = 0;
    for (; i + 1 < rows(); i += 2) {
      const double a = weight[i] * x[i], b = weight[i + 1] * x[i + 1];
      s0 += a;
      s1 += b;
      t0 += a * x[i];
      t1 += b * x[i + 1];
    }
    if (i < rows()) {
      s0 += weight[i] * x[i];
      t0 += weight[i] * x[i] * x[i];
    }
    first = s0 + s1;
    second = t0 + t1;
  }
  void all_dots(const VectorXd& u, VectorXd& out) const { out.noalias() = x_.transpose() * u; }
  // The same of the columns in `which`, ascending: neighbours go together.
  void some_dots(const std::vector<int>& which, const VectorXd& u, VectorXd& out) const {
    for (std::size_t k = 0; k < which.size();) {
      std::size_t end = k + 1;
      while (end < which.size() && which[end] == which[end - 1] + 1) ++end;
      const Index from = which[k], count = static_cast<Index>(end - k);
      out.segment(from, count).setZero();
      inner(x_.data() + rows() * from, count, u.data(), out.data() + from);
      k = end;
    }
  }
  // Inner products of column j with the columns in `with`.
  void gram_row(Index j, const std::vector<int>& with, VectorXd&, double* out) const {
    for (std::size_t k = 0; k < with.size(); ++k) {
      out[k] = 0;
      inner(x_.data() + rows() * with[k], 1, x_.data() + rows() * j, out + k);
    }
  }
  // out(k, l) = sum_i v_i (x_ij - mean_j)(x_ik - mean_k) for k in `with` and the l-th j in `fresh`; the means are those under v,
  // which sums to v_sum. A few columns at a time, so that they stay in the cache while the others go by.
  void weighted_rows(const std::vector<int>& fresh, const std::vector<int>& with, const VectorXd& v, const VectorXd& mean,
                     double v_sum, MatrixXd& out) const {
    constexpr Index most = 8;
    const Index size = static_cast<Index>(with.size()), count = static_cast<Index>(fresh.size());
    out.resize(size, count);
    MatrixXd work(rows(), std::min(most, count));
    VectorXd dots(work.cols());
    for (Index from = 0; from < count; from += most) {
      const Index width = std::min(most, count - from);
      for (Index l = 0; l < width; ++l) work.col(l) = v.cwiseProduct(x_.col(fresh[from + l]));
      for (Index k = 0; k < size; ++k) {
        dots.head(width).noalias() = work.leftCols(width).transpose() * x_.col(with[k]);
        for (Index l = 0; l < width; ++l) out(k, from + l) = dots[l] - v_sum * mean[fresh[from + l]] * mean[with[k]];
      }
    }
  }
  // The same for j, k in `set`.
  MatrixXd weighted_gram(const std::vector<int>& set, const VectorXd& v, const VectorXd& mean) const {
    const Index k = static_cast<Index>(set.size());
    MatrixXd z(rows(), k), g = MatrixXd::Zero(k, k);
    const VectorXd root = v.cwiseSqrt();
    for (Index m = 0; m < k; ++m) z.col(m) = (x_.col(set[m]).array() - mean[set[m]]) * root.array();
    g.selfadjointView<Eigen::Lower>().rankUpdate(z.transpose());
    g.triangularView<Eigen::StrictlyUpper>() = g.transpose();
    return g;
  }
  MatrixXd gram() const {
    MatrixXd g = MatrixXd::Zero(cols(), cols());
    g.selfadjointView<Eigen::Lower>().rankUpdate(x_.transpose());
    g.triangularView<Eigen::StrictlyUpper>() = g.transpose();
    return g;
  }

  Standardization standardization;

 private:
  // Products of some columns with u are added to out.
  void inner(const double* a, Index count, const double* u, double* out) const {
    engine().gemv('T', static_cast<int>(rows()), static_cast<int>(count), 1, a, static_cast<int>(rows()), u, 1, out, 1);
  }

  MatrixXd x_;
};

class SparseColumns {
 public:
  static constexpr bool centred = false;

  SparseColumns(const ConstSparseRef& x, const VectorXd& weights, const VectorXd& row, bool intercept, bool standardize)
      : rows_(x.rows()) {
    const Index p = x.cols();
    standardization.center.resize(p);
    standardization.scale.resize(p);
    standardization.variance.resize(p);
    start_.reserve(p + 1);
    index_.reserve(x.nonZeros());
    value_.reserve(x.nonZeros());
    start_.push_back(0);
    for (Index j = 0; j < p; ++j) {
      double mean = 0, spread = 0, covered = 0;
      for (ConstSparseRef::InnerIterator it(x, j); it; ++it) mean += weights[it.index()] * it.value();
      for (ConstSparseRef::InnerIterator it(x, j); it; ++it) {
        const double deviation = it.value() - mean;
        spread += weights[it.index()] * deviation * deviation;
        covered += weights[it.index()];
      }
      spread += std::max(0.0, 1 - covered) * mean * mean;
      standardize_column(j, mean, spread, intercept, standardize, standardization);
      for (ConstSparseRef::InnerIterator it(x, j); it; ++it) {
        index_.push_back(static_cast<int>(it.index()));
        value_.push_back(it.value() * row[it.index()] / standardization.scale[j]);
      }
      start_.push_back(static_cast<Index>(index_.size()));
    }
  }

  Index rows() const { return rows_; }
  Index cols() const { return static_cast<Index>(start_.size()) - 1; }
  // A gathered element costs about as much as four contiguous ones.
  double work_per_column() const {
    return 4.0 * static_cast<double>(index_.size()) / static_cast<double>(std::max<Index>(1, cols()));
  }

  double dot(Index j, const VectorXd& u) const {
    const double *v = value_.data(), *from = u.data();
    const int* i = index_.data();
    double s0 = 0, s1 = 0;
    Index k = start_[j];
    const Index end = start_[j + 1];
    for (; k + 1 < end; k += 2) {
      s0 += v[k] * from[i[k]];
      s1 += v[k + 1] * from[i[k + 1]];
    }
    if (k < end) s0 += v[k] * from[i[k]];
    return s0 + s1;
  }
  void axpy(Index j, double a, VectorXd& u) const {
    for (Index k = start_[j]; k < start_[j + 1]; ++k) u[index_[k]] += a * value_[k];
  }
  void axpy_weighted(Index j, double a, const VectorXd& w, VectorXd& u) const {
    for (Index k = start_[j]; k < start_[j + 1]; ++k) u[index_[k]] += a * w[index_[k]] * value_[k];
  }
  void moments(Index j, const VectorXd& w, double& first, double& second) const {
    first = second = 0;
    for (Index k = start_[j]; k < start_[j + 1]; ++k) {
      const double a = w[index_[k]] * value_[k];
      first += a;
      second += a * value_[k];
    }
  }
  void all_dots(const VectorXd& u, VectorXd& out) const {
    for (Index j = 0; j < cols(); ++j) out[j] = dot(j, u);
  }
  void some_dots(const std::vector<int>& which, const VectorXd& u, VectorXd& out) const {
    for (const int j : which) out[j] = dot(j, u);
  }
  void gram_row(Index j, const std::vector<int>& with, VectorXd& work, double* out) const {
    if (work.size() != rows_) work = VectorXd::Zero(rows_);
    for (Index k = start_[j]; k < start_[j + 1]; ++k) work[index_[k]] = value_[k];
    for (std::size_t k = 0; k < with.size(); ++k) out[k] = dot(with[k], work) - shift(j) * shift(with[k]);
    for (Index k = start_[j]; k < start_[j + 1]; ++k) work[index_[k]] = 0;
  }
  void weighted_rows(const std::vector<int>& fresh, const std::vector<int>& with, const VectorXd& v, const VectorXd& mean,
                     double v_sum, MatrixXd& out) const {
    out.resize(with.size(), fresh.size());
    VectorXd work = VectorXd::Zero(rows_);
    for (std::size_t l = 0; l < fresh.size(); ++l) {
      const Index j = fresh[l];
      for (Index k = start_[j]; k < start_[j + 1]; ++k) work[index_[k]] = v[index_[k]] * value_[k];
      for (std::size_t k = 0; k < with.size(); ++k) out(k, l) = dot(with[k], work) - v_sum * mean[j] * mean[with[k]];
      for (Index k = start_[j]; k < start_[j + 1]; ++k) work[index_[k]] = 0;
    }
  }
  MatrixXd weighted_gram(const std::vector<int>& set, const VectorXd& v, const VectorXd& mean) const {
    MatrixXd g;
    weighted_rows(set, set, v, mean, v.sum(), g);
    return g;
  }
  MatrixXd gram() const {
    MatrixXd g(cols(), cols());
    VectorXd work;
    std::vector<int> before;
    for (Index j = 0; j < cols(); ++j) {
      before.push_back(static_cast<int>(j));
      gram_row(j, before, work, g.col(j).data());
    }
    g.triangularView<Eigen::StrictlyLower>() = g.transpose();
    return g;
  }

  Standardization standardization;

 private:
  double shift(Index j) const { return standardization.center[j] / standardization.scale[j]; }

  Index rows_;
  std::vector<Index> start_;
  std::vector<int> index_;
  std::vector<double> value_;
};

}  // namespace granary::lasso_detail
