#include "cluster/robust_graph.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/errors.h"
#include "core/base/parallel.h"

namespace granary::cluster {

NeighbourOrder neighbour_order(ConstMatrixRef values, Closeness closeness, int threads, Monitor& monitor) {
  const Index n = values.rows();
  if (n > 65535) throw InputError(message("robust linkage of ", n, " rows needs more memory than there is; use `sample`."));
  NeighbourOrder out(n, n);
  parallel_for(n, threads, monitor, [&](Index x) {
    std::vector<std::uint16_t> all(static_cast<std::size_t>(n));
    std::iota(all.begin(), all.end(), std::uint16_t{0});
    std::swap(all[0], all[static_cast<std::size_t>(x)]);
    const double* v = values.col(x).data();
    const double sign = closeness == Closeness::similarity ? -1 : 1;
    std::sort(all.begin() + 1, all.end(), [&](std::uint16_t a, std::uint16_t b) {
      const bool lost_a = std::isnan(v[a]), lost_b = std::isnan(v[b]);
      if (lost_a != lost_b) return lost_b;
      if (!lost_a && v[a] != v[b]) return sign * v[a] < sign * v[b];
      return a < b;
    });
    std::copy(all.begin(), all.end(), out.col(x).data());
  });
  return out;
}

Eigen::MatrixXi nearest_columns(ConstMatrixRef values, Closeness closeness, int k) {
  Eigen::MatrixXi out(k, values.rows());
  const double sign = closeness == Closeness::similarity ? -1 : 1;
  std::vector<std::pair<double, int>> all(static_cast<std::size_t>(values.cols()));
  for (Index i = 0; i < values.rows(); ++i) {
    for (Index j = 0; j < values.cols(); ++j) {
      const double v = sign * values(i, j);
      all[static_cast<std::size_t>(j)] = {std::isnan(v) ? std::numeric_limits<double>::infinity() : v, static_cast<int>(j)};
    }
    std::partial_sort(all.begin(), all.begin() + k, all.end());
    for (int r = 0; r < k; ++r) out(r, i) = all[static_cast<std::size_t>(r)].second;
  }
  return out;
}

Eigen::MatrixXi common_neighbours(const NeighbourOrder& order, int t) {
  const Index n = order.cols();
  BitRows near(n, n);
  for (Index x = 0; x < n; ++x)
    for (int r = 0; r < t; ++r) near.set(x, order(r, x));
  Eigen::MatrixXi out(n, n);
  for (Index x = 0; x < n; ++x)
    for (Index y = 0; y < n; ++y) out(x, y) = count_both(near.row(x), near.row(y), near.words());
  return out;
}

CommonNeighbourGraph::CommonNeighbourGraph(const NeighbourOrder& order, double wrong, int threads)
    : order_(order),
      n_(order.cols()),
      allowed_(2 * wrong + 1e-9),
      threads_(threads),
      near_(n_, n_),
      edges_(n_, n_),
      due_(static_cast<std::size_t>(n_) + 1),
      changed_(static_cast<std::size_t>(n_), 1) {
  for (Index x = 0; x < n_; ++x) edges_.set(x, x);
}

void CommonNeighbourGraph::look(int x, int y, std::vector<std::uint32_t>& flips,
                                std::vector<std::pair<int, std::uint32_t>>& later) const {
  const int deficit = t_ - count_both(near_.row(x), near_.row(y), near_.words());
  const bool edge = deficit <= allowed_;
  const auto pair = static_cast<std::uint32_t>(static_cast<Index>(x) * n_ + y);
  if (edge != edges_.test(x, y)) flips.push_back(pair);
  // Both points gain one neighbour when t does: the deficit moves by at most 1.
  const double room = edge ? allowed_ - deficit : deficit - allowed_;
  const int wait = std::max(1, static_cast<int>(edge ? std::floor(room) + 1 : std::ceil(room)));
  if (t_ + wait <= n_) later.emplace_back(t_ + wait, pair);
}

void CommonNeighbourGraph::advance(int t, Monitor& monitor) {
  constexpr std::size_t block = 4096;
  for (Index x = 0; x < n_; ++x)
    for (int r = t_; r < t; ++r) near_.set(x, order_(r, x));
  const bool first = t_ == 0;
  std::vector<std::uint32_t> pairs;
  for (int s = t_ + 1; !first && s <= t; ++s) {
    std::vector<std::uint32_t>& here = due_[static_cast<std::size_t>(s)];
    pairs.insert(pairs.end(), here.begin(), here.end());
    std::vector<std::uint32_t>().swap(here);
  }
  t_ = t;
  // Blocks of pairs, or the rows of the upper triangle the first time; what they find is put together in their order.
  const std::size_t tasks = first ? static_cast<std::size_t>(n_) : (pairs.size() + block - 1) / block;
  std::vector<std::vector<std::uint32_t>> flips(tasks);
  std::vector<std::vector<std::pair<int, std::uint32_t>>> later(tasks);
  parallel_for(static_cast<Index>(tasks), threads_, monitor, [&](Index task) {
    const auto at = static_cast<std::size_t>(task);
    if (first) {
      for (int y = static_cast<int>(task) + 1; y < n_; ++y) look(static_cast<int>(task), y, flips[at], later[at]);
      return;
    }
    for (std::size_t i = at * block; i < std::min(pairs.size(), (at + 1) * block); ++i)
      look(static_cast<int>(pairs[i] / static_cast<std::uint32_t>(n_)),
           static_cast<int>(pairs[i] % static_cast<std::uint32_t>(n_)), flips[at], later[at]);
  });
  evaluations_ += first ? 0.5 * static_cast<double>(n_) * static_cast<double>(n_ - 1) : static_cast<double>(pairs.size());
  std::fill(changed_.begin(), changed_.end(), static_cast<char>(first));
  any_change_ = first;
  for (std::size_t at = 0; at < tasks; ++at) {
    for (const std::uint32_t pair : flips[at]) {
      const Index x = pair / static_cast<std::uint32_t>(n_), y = pair % static_cast<std::uint32_t>(n_);
      edges_.flip(x, y);
      edges_.flip(y, x);
      changed_[static_cast<std::size_t>(x)] = changed_[static_cast<std::size_t>(y)] = 1;
      any_change_ = true;
    }
    for (const auto& [when, pair] : later[at]) due_[static_cast<std::size_t>(when)].push_back(pair);
  }
}

}  // namespace granary::cluster
