#include "core/tree/grow.h"

#include <algorithm>

namespace granary {

TreeOrders::TreeOrders(const TreeColumns& columns) : keys_(columns.cols()) {
  const auto n = static_cast<std::uint32_t>(columns.rows());
  std::vector<Key> scratch;
  for (Index j = 0; j < columns.cols(); ++j) {
    const TreeColumn& column = columns[j];
    if (column.categorical || column.codes <= few) continue;
    keys_[j].resize(n);
    for (std::uint32_t i = 0; i < n; ++i) keys_[j][i] = static_cast<Key>(column[i]) << 32 | i;
    int bits = 1;
    while (column.codes >> bits) ++bits;
    sort_keys(keys_[j], scratch, n, bits);
  }
}

void sort_keys(std::vector<std::uint64_t>& keys, std::vector<std::uint64_t>& scratch, Index n, int bits) {
  if (n < 64) {
    for (Index i = 1; i < n; ++i) {
      const std::uint64_t key = keys[i];
      Index at = i;
      for (; at > 0 && keys[at - 1] > key; --at) keys[at] = keys[at - 1];
      keys[at] = key;
    }
    return;
  }
  // Digits from the lowest up; few passes where there are many rows, small digits where there are few.
  scratch.resize(std::max<std::size_t>(scratch.size(), n));
  const int widest = n < 1024 ? 7 : 11;
  const int passes = (bits + widest - 1) / widest, digit = (bits + passes - 1) / passes;
  std::vector<std::uint32_t> count(std::size_t{1} << digit);
  std::uint64_t *from = keys.data(), *to = scratch.data();
  for (int pass = 0; pass < passes; ++pass) {
    const int shift = 32 + pass * digit;
    const std::uint64_t mask = (std::uint64_t{1} << digit) - 1;
    std::fill(count.begin(), count.end(), 0u);
    for (Index i = 0; i < n; ++i) ++count[(from[i] >> shift) & mask];
    std::uint32_t sum = 0;
    for (std::uint32_t& c : count) {
      const std::uint32_t here = c;
      c = sum;
      sum += here;
    }
    for (Index i = 0; i < n; ++i) to[count[(from[i] >> shift) & mask]++] = from[i];
    std::swap(from, to);
  }
  if (from != keys.data()) std::copy(from, from + n, keys.data());
}

}  // namespace granary
