// Rows of bits that are intersected and counted: neighbours of a point, its neighbours in a graph, the members of a blob.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/types.h"

namespace granary::cluster {

class BitRows {
 public:
  using Word = std::uint64_t;
  BitRows(Index rows, Index bits) : words_((bits + 63) / 64), data_(static_cast<std::size_t>(rows * words_), 0) {}

  Index words() const { return words_; }
  const Word* row(Index i) const { return data_.data() + i * words_; }
  Word* row(Index i) { return data_.data() + i * words_; }
  bool test(Index i, Index j) const { return row(i)[j >> 6] >> (j & 63) & 1; }
  void set(Index i, Index j) { row(i)[j >> 6] |= Word{1} << (j & 63); }
  void flip(Index i, Index j) { row(i)[j >> 6] ^= Word{1} << (j & 63); }

 private:
  Index words_;
  std::vector<Word> data_;
};

// Compiled for processors with an instruction for it, too.
int count_both(const std::uint64_t* a, const std::uint64_t* b, Index words);                           // |a & b|
int count_three(const std::uint64_t* a, const std::uint64_t* b, const std::uint64_t* c, Index words);  // |a & b & c|

}  // namespace granary::cluster
