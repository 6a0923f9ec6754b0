#include "kernel/point_cache.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/kernel/kernel_parts.h"

namespace granary::kernel {

PointCache::PointCache(const KernelSpec& kernel, Index dimension, bool sparse, bool normalise)
    : part_(kernel_detail::make_part(kernel, dimension)), sparse_(sparse), normalise_(normalise), dimension_(dimension) {
  kernel_detail::InnerView view;
  inner_ = part_->inner_view(&view);
  if (!inner_) {
    if (sparse) {
      throw InputError(
          "Sparse data needs a kernel of one part that looks at inner products or distances, such as rbf() or linear()."
          "\nUse one of these, or as.matrix() on the data.");
    }
    return;
  }
  columns_ = view.columns;
  if (columns_.empty()) {
    columns_.resize(static_cast<std::size_t>(dimension));
    std::iota(columns_.begin(), columns_.end(), Index(0));
  }
  weights_ = view.weights;
  const Index looks_at = static_cast<Index>(columns_.size());
  differences_ = view.differences && !sparse;
  by_difference_ = differences_ && looks_at <= 8;
  point_ = VectorXd::Zero(looks_at);
  if (sparse) {
    place_.assign(static_cast<std::size_t>(dimension), -1);
    for (Index k = 0; k < looks_at; ++k) place_[columns_[k]] = k;
  }
}

PointCache::PointCache(PointCache&&) noexcept = default;
PointCache::~PointCache() = default;

void PointCache::set_centre(ConstVectorRef centre) {
  if (differences_ && centre.size() == point_.size()) centre_ = centre;
}

// k from one inner product of two points that are both as long as the current one.
double PointCache::transformed(double inner, double norm) const {
  VectorXd k = VectorXd::Constant(1, inner);
  part_->from_inner(VectorXd::Constant(1, norm), norm, k);
  return k[0];
}

void PointCache::load(ConstMatrixRef x, Index i) {
  point_raw_ = x.row(i).transpose();
  if (!inner_) {
    VectorXd self(1);
    part_->diagonal(point_raw_.transpose(), false, self);
    self_ = self[0];
    return;
  }
  const Index looks_at = point_.size();
  if (differences_ && centre_.size() == 0) {
    centre_.resize(looks_at);
    for (Index k = 0; k < looks_at; ++k) centre_[k] = point_raw_[columns_[k]];
  }
  for (Index k = 0; k < looks_at; ++k) {
    const double value = point_raw_[columns_[k]];
    point_[k] = (differences_ ? value - centre_[k] : value) * weight(k);
  }
  point_norm_ = by_difference_ ? 0 : point_.squaredNorm();
  self_ = transformed(point_norm_, point_norm_);
}

void PointCache::load(const SparseRows& x, Index i) {
  for (int index : point_entry_.index) {
    if (place_[index] >= 0) point_[place_[index]] = 0;
  }
  const SparseRows::Row r = x.row(i);
  point_entry_.index.assign(r.index, r.index + r.size);
  point_entry_.value.assign(r.value, r.value + r.size);
  point_norm_ = 0;
  for (Index e = 0; e < r.size; ++e) {
    const Index k = place_[r.index[e]];
    if (k < 0) continue;
    point_[k] = r.value[e] * weight(k);
    point_norm_ += point_[k] * point_[k];
  }
  self_ = transformed(point_norm_, point_norm_);
}

const VectorXd& PointCache::row() {
  if (result_.size() < size_) result_.resize(std::max<Index>(64, 2 * size_));
  if (size_ == 0) return result_;
  auto k = result_.head(size_);
  if (!inner_) {
    Eigen::Map<MatrixXd> column(result_.data(), size_, 1);
    part_->value(stored_.topRows(size_), point_raw_.transpose(), {}, column);
  } else {
    if (sparse_) {
      for (Index i = 0; i < size_; ++i) {
        const Entry& e = entries_[i];
        double inner = 0;
        for (std::size_t n = 0; n < e.index.size(); ++n) {
          const Index c = place_[e.index[n]];
          if (c >= 0) inner += point_[c] * e.value[n] * weight(c);
        }
        k[i] = inner;
      }
    } else if (by_difference_) {
      k = -0.5 * (stored_.col(0).head(size_).array() - point_[0]).square();
      for (Index c = 1; c < point_.size(); ++c) k.array() -= 0.5 * (stored_.col(c).head(size_).array() - point_[c]).square();
    } else {
      k.noalias() = stored_.topRows(size_) * point_;
    }
    part_->from_inner(norm_.head(size_), point_norm_, k);
  }
  if (normalise_) {
    for (Index i = 0; i < size_; ++i) k[i] = self_ > 0 && self_value_[i] > 0 ? k[i] / std::sqrt(self_ * self_value_[i]) : 0;
  }
  return result_;
}

void PointCache::grow() {
  const Index capacity = std::max<Index>(16, 2 * size_);
  norm_.conservativeResize(capacity);
  self_value_.conservativeResize(capacity);
  if (sparse_) {
    entries_.resize(static_cast<std::size_t>(capacity));
    return;
  }
  raw_.conservativeResize(dimension_, capacity);
  stored_.conservativeResize(capacity, inner_ ? point_.size() : dimension_);
}

void PointCache::push() {
  if (size_ == norm_.size()) grow();
  norm_[size_] = point_norm_;
  self_value_[size_] = self_;
  if (sparse_) {
    entries_[size_] = point_entry_;
  } else {
    raw_.col(size_) = point_raw_;
    stored_.row(size_) = (inner_ ? point_ : point_raw_).transpose();
  }
  ++size_;
}

void PointCache::push_from(const PointCache& other, Index slot) {
  if (size_ == norm_.size()) grow();
  norm_[size_] = other.norm_[slot];
  self_value_[size_] = other.self_value_[slot];
  if (sparse_) {
    entries_[size_] = other.entries_[slot];
  } else {
    raw_.col(size_) = other.raw_.col(slot);
    stored_.row(size_) = other.stored_.row(slot);
  }
  ++size_;
}

void PointCache::erase(Index slot) {
  const Index last = --size_;
  if (slot == last) return;
  norm_[slot] = norm_[last];
  self_value_[slot] = self_value_[last];
  if (sparse_) {
    std::swap(entries_[slot], entries_[last]);
  } else {
    raw_.col(slot) = raw_.col(last);
    stored_.row(slot) = stored_.row(last);
  }
}

MatrixXd PointCache::points() const { return size_ == 0 ? MatrixXd(0, dimension_) : MatrixXd(raw_.leftCols(size_).transpose()); }

SparseMatrix PointCache::sparse_points() const {
  std::vector<Eigen::Triplet<double>> triplets;
  for (Index i = 0; i < size_; ++i) {
    const Entry& e = entries_[i];
    for (std::size_t n = 0; n < e.index.size(); ++n) triplets.emplace_back(i, e.index[n], e.value[n]);
  }
  SparseMatrix out(size_, dimension_);
  out.setFromTriplets(triplets.begin(), triplets.end());
  return out;
}

}  // namespace granary::kernel
