// Columns of a design as trees look at them: every value is replaced by its rank among the distinct values of its column (a level's number where the column is
// categorical), in as few bytes as hold it. Rows are then sorted and counted by whole numbers, and what is found depends on the order of the values only.
#pragma once

#include <cstdint>
#include <vector>

#include "core/linalg/design.h"

namespace granary {

class TreeColumn {
 public:
  using Code = std::uint32_t;
  bool categorical = false;
  bool missing = false;         // some rows have none: their code is `codes`
  Code codes = 0;               // distinct values, or levels
  std::vector<double> values;   // numeric: the distinct values, rising

  Code operator[](std::size_t row) const {
    return !narrow_.empty() ? narrow_[row] : !middle_.empty() ? middle_[row] : wide_[row];
  }
  void gather(const std::uint32_t* rows, Index n, Code* out) const;
  void store(const std::vector<Code>& codes);

 private:
  std::vector<std::uint8_t> narrow_;
  std::vector<std::uint16_t> middle_;
  std::vector<Code> wide_;
};

class TreeColumns {
 public:
  TreeColumns() = default;
  // levels: of every column, 0 where it is numeric; empty: all are numeric. Categorical values are 0, 1, ..., levels - 1; NaN is missing everywhere.
  TreeColumns(const Design& x, const VectorXi& levels, int threads);

  Index rows() const { return rows_; }
  Index cols() const { return static_cast<Index>(columns_.size()); }
  const TreeColumn& operator[](Index j) const { return columns_[j]; }
  // Bytes that n x p values take at most: what to say before they are asked for.
  static double bytes(Index n, Index p);

 private:
  Index rows_ = 0;
  std::vector<TreeColumn> columns_;
};

}  // namespace granary
