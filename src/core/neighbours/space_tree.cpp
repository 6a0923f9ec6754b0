#include "core/neighbours/space_tree.h"

#include <algorithm>
#include <cmath>

namespace granary {

namespace {

constexpr int bits = 21;  // of each coordinate: 63 bits for three dimensions

std::uint64_t spread_two(std::uint64_t x) {  // a zero between any two bits
  x = (x | x << 16) & 0x0000ffff0000ffffu;
  x = (x | x << 8) & 0x00ff00ff00ff00ffu;
  x = (x | x << 4) & 0x0f0f0f0f0f0f0f0fu;
  x = (x | x << 2) & 0x3333333333333333u;
  return (x | x << 1) & 0x5555555555555555u;
}
std::uint64_t spread_three(std::uint64_t x) {  // two zeros
  x = (x | x << 32) & 0x001f00000000ffffu;
  x = (x | x << 16) & 0x001f0000ff0000ffu;
  x = (x | x << 8) & 0x100f00f00f00f00fu;
  x = (x | x << 4) & 0x10c30c30c30c30c3u;
  return (x | x << 2) & 0x1249249249249249u;
}

}  // namespace

// By least significant digits of 11 bits; digits that are the same for all are skipped.
void SpaceTree::sort_points(ConstMatrixRef points) {
  const auto n = static_cast<std::size_t>(points.cols());
  const VectorXd low = points.rowwise().minCoeff(), high = points.rowwise().maxCoeff();
  width_ = (high - low).maxCoeff();
  const double scale = width_ > 0 ? std::ldexp(1.0, bits) * (1 - 1e-9) / width_ : 0;
  width_ = width_ > 0 ? width_ / (1 - 1e-9) : 0;
  order.resize(n);
  code_.resize(n);
  spare_code_.resize(n);
  spare_order_.resize(n);
  std::uint64_t all = 0, common = ~std::uint64_t{0};
  for (std::size_t i = 0; i < n; ++i) {
    const double* y = points.data() + static_cast<Index>(i) * dim_;
    std::uint64_t whole[3] = {0, 0, 0};
    for (int j = 0; j < dim_; ++j) whole[j] = static_cast<std::uint64_t>((y[j] - low[j]) * scale);
    code_[i] = dim_ == 1   ? whole[0]
               : dim_ == 2 ? spread_two(whole[0]) | spread_two(whole[1]) << 1
                           : spread_three(whole[0]) | spread_three(whole[1]) << 1 | spread_three(whole[2]) << 2;
    all |= code_[i];
    common &= code_[i];
    order[i] = static_cast<int>(i);
  }
  constexpr int digit = 11;
  for (int shift = 0; shift < bits * dim_; shift += digit) {
    constexpr std::uint64_t mask = (1u << digit) - 1;
    if (((all ^ common) >> shift & mask) == 0) continue;
    std::array<std::uint32_t, (1u << digit) + 1> start{};
    for (std::size_t i = 0; i < n; ++i) ++start[(code_[i] >> shift & mask) + 1];
    for (std::size_t b = 0; b < (1u << digit); ++b) start[b + 1] += start[b];
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint32_t to = start[code_[i] >> shift & mask]++;
      spare_code_[to] = code_[i];
      spare_order_[to] = order[i];
    }
    code_.swap(spare_code_);
    order.swap(spare_order_);
  }
  for (int j = 0; j < dim_; ++j) {
    place[static_cast<std::size_t>(j)].resize(n);
    for (std::size_t i = 0; i < n; ++i) place[static_cast<std::size_t>(j)][i] = points(j, order[i]);
  }
}

void SpaceTree::add_node(int from, int to) {
  const auto here = static_cast<int>(next.size());
  const std::uint64_t difference = code_[static_cast<std::size_t>(from)] ^ code_[static_cast<std::size_t>(to - 1)];
  // The level at which the points part: above it they share every digit.
  const int level = difference == 0 ? bits : bits - 1 - (63 - __builtin_clzll(difference)) / dim_;
  first.push_back(from);
  last.push_back(to);
  side.push_back(std::ldexp(width_, -level));
  next.push_back(here + 1);
  if (to - from <= leaf_size_ || difference == 0) {
    leaves.push_back(here);
    bool equal = true;
    for (int j = 0; j < dim_; ++j) {
      const std::vector<double>& p = place[static_cast<std::size_t>(j)];
      for (int i = from + 1; equal && i < to; ++i) equal = p[static_cast<std::size_t>(i)] == p[static_cast<std::size_t>(from)];
    }
    if (equal) side.back() = 0;
    return;
  }
  const int shift = (bits - 1 - level) * dim_;
  const std::uint64_t children = std::uint64_t{1} << dim_;
  const std::uint64_t prefix = code_[static_cast<std::size_t>(from)] >> shift & ~(children - 1);
  int begin = from;
  for (std::uint64_t c = 0; c < children && begin < to; ++c) {
    const auto end =
        c + 1 == children
            ? to
            : static_cast<int>(std::lower_bound(code_.begin() + begin, code_.begin() + to, (prefix | (c + 1)) << shift) -
                               code_.begin());
    if (end > begin) {
      parent_.push_back(here);
      add_node(begin, end);
    }
    begin = end;
  }
  next[static_cast<std::size_t>(here)] = static_cast<int>(next.size());
}

void SpaceTree::sum_up() {
  const std::size_t m = next.size();
  count.assign(m, 0);
  for (int j = 0; j < dim_; ++j) centre[static_cast<std::size_t>(j)].assign(m, 0);
  for (std::size_t t = m; t-- > 0;) {
    const bool leaf = is_leaf(static_cast<Index>(t));
    if (leaf) count[t] = last[t] - first[t];
    for (int j = 0; j < dim_; ++j) {
      std::vector<double>& sum = centre[static_cast<std::size_t>(j)];
      const std::vector<double>& p = place[static_cast<std::size_t>(j)];
      for (int i = first[t]; leaf && i < last[t]; ++i) sum[t] += p[static_cast<std::size_t>(i)];
      if (t > 0) sum[static_cast<std::size_t>(parent_[t])] += sum[t];
    }
    if (t > 0) count[static_cast<std::size_t>(parent_[t])] += count[t];
    for (int j = 0; j < dim_; ++j) {
      std::vector<double>& sum = centre[static_cast<std::size_t>(j)];
      // Of equal points exactly their place, which an average could miss by rounding.
      sum[t] = side[t] == 0 ? place[static_cast<std::size_t>(j)][static_cast<std::size_t>(first[t])] : sum[t] / count[t];
    }
  }
}

void SpaceTree::build(ConstMatrixRef points) {
  sort_points(points);
  for (auto* v : {&first, &last, &next, &leaves, &parent_}) v->clear();
  side.clear();
  parent_.push_back(0);
  add_node(0, static_cast<int>(points.cols()));
  sum_up();
}

}  // namespace granary
