// A data set by rows: the columns where a row is not zero, with their values, and those where it is missing.
#pragma once

#include <cmath>
#include <vector>

#include "core/base/errors.h"
#include "core/base/types.h"

namespace granary::kernel {

class SparseRows {
 public:
  // The entries of one row: `index` in increasing order.
  struct Row {
    const int* index;
    const double* value;
    Index size;
    const int* missing;
    Index n_missing;
  };

  explicit SparseRows(ConstMatrixRef x) : cols_(x.cols()) {
    std::vector<Index> count(x.rows() + 1, 0), gaps(x.rows() + 1, 0);
    for (Index j = 0; j < x.cols(); ++j) {
      for (Index i = 0; i < x.rows(); ++i) count_entry(x(i, j), count[i + 1], gaps[i + 1]);
    }
    reserve(count, gaps);
    for (Index j = 0; j < x.cols(); ++j) {
      for (Index i = 0; i < x.rows(); ++i) put(i, j, x(i, j), count, gaps);
    }
  }

  explicit SparseRows(const ConstSparseMap& x) : cols_(x.cols()) {
    std::vector<Index> count(x.rows() + 1, 0), gaps(x.rows() + 1, 0);
    for (Index j = 0; j < x.cols(); ++j) {
      for (ConstSparseMap::InnerIterator it(x, j); it; ++it) count_entry(it.value(), count[it.row() + 1], gaps[it.row() + 1]);
    }
    reserve(count, gaps);
    for (Index j = 0; j < x.cols(); ++j) {
      for (ConstSparseMap::InnerIterator it(x, j); it; ++it) put(it.row(), j, it.value(), count, gaps);
    }
  }

  Index rows() const { return static_cast<Index>(start_.size()) - 1; }
  Index cols() const { return cols_; }

  Row row(Index i) const {
    const Index from = start_[i], gap = missing_start_[i];
    return {index_.data() + from, value_.data() + from, start_[i + 1] - from, missing_.data() + gap, missing_start_[i + 1] - gap};
  }

  // InputError unless every value is 0, 1 or missing.
  void require_binary() const {
    for (Index i = 0; i < rows(); ++i) {
      const Row r = row(i);
      for (Index k = 0; k < r.size; ++k) {
        if (r.value[k] != 1) {
          throw InputError(message("`x` must have 0 and 1 only, but row ", i + 1, ", column ", r.index[k] + 1, " is ", r.value[k],
                                   ".\nUse `binarize` to cut columns at a threshold, or turn factors into indicators."));
        }
      }
    }
  }

 private:
  static void count_entry(double value, Index& entries, Index& gaps) {
    if (std::isnan(value)) {
      ++gaps;
    } else if (value != 0) {
      ++entries;
    }
  }

  // Turns counts into starts; `count` and `gaps` then say where the next entry of each row goes.
  void reserve(std::vector<Index>& count, std::vector<Index>& gaps) {
    for (std::size_t i = 1; i < count.size(); ++i) {
      count[i] += count[i - 1];
      gaps[i] += gaps[i - 1];
    }
    start_ = count;
    missing_start_ = gaps;
    index_.resize(count.back());
    value_.resize(count.back());
    missing_.resize(gaps.back());
  }

  void put(Index i, Index j, double value, std::vector<Index>& next, std::vector<Index>& next_gap) {
    if (std::isnan(value)) {
      missing_[next_gap[i]++] = static_cast<int>(j);
    } else if (value != 0) {
      index_[next[i]] = static_cast<int>(j);
      value_[next[i]++] = value;
    }
  }

  Index cols_;
  std::vector<Index> start_, missing_start_;
  std::vector<int> index_, missing_;
  std::vector<double> value_;
};

}  // namespace granary::kernel
