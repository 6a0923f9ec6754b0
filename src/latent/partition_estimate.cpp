#include "latent/partition_estimate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"

namespace granary::latent {

namespace {

std::size_t z(Index i) { return static_cast<std::size_t>(i); }

std::vector<double> loss_table(PartitionLoss loss, Index n) {
  std::vector<double> f(z(n) + 2, 0);
  for (std::size_t x = 1; x < f.size(); ++x) f[x] = loss == PartitionLoss::vi ? static_cast<double>(x) * std::log(static_cast<double>(x)) : static_cast<double>(x) * static_cast<double>(x);
  return f;
}

double unit(PartitionLoss loss, Index n) { return loss == PartitionLoss::vi ? static_cast<double>(n) : static_cast<double>(n) * static_cast<double>(n); }

// The loss between one partition and another.
class PairLoss {
 public:
  PairLoss(Index n, const std::vector<double>& f) : n_(n), f_(f) {}

  double operator()(const int* a, int k, const int* b, int blocks) {
    // Neighbouring rows are often alike: two tables in turn, or every count would wait for the one before.
    const std::size_t cells = z(k) * z(blocks);
    table_.assign(2 * cells, 0);
    int* even = table_.data();
    int* odd = even + cells;
    Index i = 0;
    for (; i + 1 < n_; i += 2) {
      ++even[z(b[i]) * z(k) + z(a[i])];
      ++odd[z(b[i + 1]) * z(k) + z(a[i + 1])];
    }
    if (i < n_) ++even[z(b[i]) * z(k) + z(a[i])];
    size_.assign(z(k), 0);
    double shared = 0, sizes = 0;
    for (int m = 0; m < blocks; ++m) {
      int sum = 0;
      for (int c = 0; c < k; ++c) {
        const int count = even[z(m) * z(k) + z(c)] + odd[z(m) * z(k) + z(c)];
        sum += count;
        size_[z(c)] += count;
        shared += f_[z(count)];
      }
      sizes += f_[z(sum)];
    }
    for (const int s : size_) sizes += f_[z(s)];
    return sizes - 2 * shared;
  }

 private:
  Index n_;
  const std::vector<double>& f_;
  std::vector<int> table_, size_;
};

// Columns: one draw each, so that its labels stand together.
double loss_of(const int* cluster, int k, const Eigen::MatrixXi& columns, const std::vector<int>& blocks, const std::vector<double>& f) {
  PairLoss loss(columns.rows(), f);
  double total = 0;
  for (Index d = 0; d < columns.cols(); ++d) total += loss(cluster, k, columns.data() + d * columns.rows(), blocks[z(d)]);
  return total / static_cast<double>(columns.cols());
}

std::vector<int> block_counts(const Eigen::MatrixXi& columns) {
  std::vector<int> out;
  for (Index d = 0; d < columns.cols(); ++d) {
    if (columns.col(d).minCoeff() < 0) throw InputError("labels of draws must be numbers from 1.");
    out.push_back(columns.col(d).maxCoeff() + 1);
  }
  return out;
}

}  // namespace

double mean_loss(const VectorXi& cluster, const Eigen::MatrixXi& draws, PartitionLoss loss) {
  if (cluster.size() != draws.cols()) throw InputError("the partition and the draws have different numbers of rows.");
  const Eigen::MatrixXi columns = draws.transpose();
  return loss_of(cluster.data(), cluster.maxCoeff() + 1, columns, block_counts(columns), loss_table(loss, cluster.size())) / unit(loss, cluster.size());
}

PartitionEstimate estimate_partition(const Eigen::MatrixXi& draws, const EstimateOptions& options, Monitor& monitor) {
  const Index n = draws.cols(), all = draws.rows();
  if (n < 1 || all < 1) throw InputError("there are no draws to estimate a partition from.");
  if (options.max_draws < 1 || options.k_max < 0) throw InputError("`max_draws` must be at least 1 and `k_max` must not be negative.");
  const Stopwatch watch;
  const Index used = std::min<Index>(all, options.max_draws);
  Eigen::MatrixXi columns(n, used);
  std::vector<Index> from;
  for (Index d = 0; d < used; ++d) {
    from.push_back(d * all / used);
    columns.col(d) = draws.row(from.back()).transpose();
  }
  const std::vector<int> blocks = block_counts(columns);
  const std::vector<double> f = loss_table(options.loss, n);
  const int most = *std::max_element(blocks.begin(), blocks.end());
  const int cap = options.k_max > 0 ? options.k_max : static_cast<int>(std::min<Index>(n, most + 1));

  // The best draw among as many as can be afforded.
  const double cost = static_cast<double>(used) * static_cast<double>(n) + 1;
  const Index tried = std::min<Index>(used, std::max<Index>(20, static_cast<Index>(3e8 / cost)));
  PartitionEstimate out;
  out.draws = used;
  out.draw_loss = std::numeric_limits<double>::infinity();
  VectorXi cluster = VectorXi::Zero(n);
  int k = 1;
  std::vector<Index> candidates;
  std::vector<char> is_candidate(z(used), 0);
  for (Index e = 0; e < tried; ++e) {
    const Index d = e * used / tried;
    if (blocks[z(d)] > cap || is_candidate[z(d)]) continue;
    candidates.push_back(d);
    is_candidate[z(d)] = 1;
  }
  PairLoss between(n, f);
  VectorXd sums = VectorXd::Zero(used);  // of candidates: over all draws; the loss between two of them counts for both
  for (const Index d : candidates) {
    monitor.check();
    for (Index o = 0; o < used; ++o) {
      if (o == d || (is_candidate[z(o)] && o < d)) continue;
      const double loss = between(columns.data() + d * n, blocks[z(d)], columns.data() + o * n, blocks[z(o)]);
      sums[d] += loss;
      if (is_candidate[z(o)]) sums[o] += loss;
    }
  }
  for (const Index d : candidates) {
    const double loss = sums[d] / static_cast<double>(used);
    if (loss < out.draw_loss) {
      out.draw_loss = loss;
      out.draw = from[z(d)];
      cluster = columns.col(d);
      k = blocks[z(d)];
    }
  }
  if (!std::isfinite(out.draw_loss)) out.draw_loss = loss_of(cluster.data(), 1, columns, blocks, f);

  // count[d] of block b and cluster c at (b * cap + c)
  std::vector<std::vector<int>> count(z(used));
  for (Index d = 0; d < used; ++d) {
    count[z(d)].assign(z(blocks[z(d)]) * z(cap), 0);
    for (Index i = 0; i < n; ++i) ++count[z(d)][z(columns(i, d)) * z(cap) + z(cluster[i])];
  }
  std::vector<int> size(z(cap), 0);
  for (Index i = 0; i < n; ++i) ++size[z(cluster[i])];
  std::vector<double> step(f.size(), 0);  // f(x + 1) - f(x)
  for (std::size_t x = 0; x + 1 < f.size(); ++x) step[x] = f[x + 1] - f[x];
  std::vector<double> gain(z(cap));
  bool moved = true;
  const double enough = 1e-10 * unit(options.loss, n) / static_cast<double>(n);
  while (moved && out.convergence.iterations < options.max_iter) {
    moved = false;
    ++out.convergence.iterations;
    for (Index i = 0; i < n; ++i) {
      monitor.check();
      const int old = cluster[i];
      --size[z(old)];
      std::fill(gain.begin(), gain.end(), 0.0);
      for (Index d = 0; d < used; ++d) {
        int* row = count[z(d)].data() + z(columns(i, d)) * z(cap);
        --row[old];
        for (int c = 0; c < cap; ++c) gain[z(c)] += step[z(row[c])];
      }
      int best = old;
      double least = step[z(size[z(old)])] - 2 * gain[z(old)] / static_cast<double>(used) - enough;
      bool empty_seen = false;
      for (int c = 0; c < cap; ++c) {
        if (size[z(c)] == 0) {
          if (empty_seen) continue;
          empty_seen = true;
        }
        const double value = step[z(size[z(c)])] - 2 * gain[z(c)] / static_cast<double>(used);
        if (value < least) {
          least = value;
          best = c;
        }
      }
      moved |= best != old;
      cluster[i] = best;
      ++size[z(best)];
      for (Index d = 0; d < used; ++d) ++count[z(d)][z(columns(i, d)) * z(cap) + z(best)];
    }
  }
  k = cluster.maxCoeff() + 1;
  const double scale = unit(options.loss, n);
  out.loss = loss_of(cluster.data(), k, columns, blocks, f) / scale;
  out.draw_loss /= scale;
  if (out.loss > out.draw_loss && blocks[0] > 0) {  // only by rounding: the moves never raise the loss
    out.loss = out.draw_loss;
    cluster = draws.row(out.draw).transpose();
  }
  std::vector<int> name(z(cluster.maxCoeff()) + 1, -1);
  int next = 0;
  out.cluster = cluster;
  for (Index i = 0; i < n; ++i) {
    int& to = name[z(cluster[i])];
    if (to < 0) to = next++;
    out.cluster[i] = to;
  }
  out.convergence.converged = !moved;
  out.convergence.seconds = watch.seconds();
  return out;
}

MatrixXd similarity(const Eigen::MatrixXi& draws, Monitor& monitor) {
  const Index n = draws.cols();
  if (n > 10000) throw InputError(message("the similarities of ", n, " rows would take ", static_cast<double>(n * n) * 8 / 1e9, " GB; partition_estimate() does without them."));
  MatrixXd out = MatrixXd::Zero(n, n);
  std::vector<std::vector<Index>> members;
  for (Index d = 0; d < draws.rows(); ++d) {
    members.clear();
    for (Index i = 0; i < n; ++i) {
      const std::size_t b = z(draws(d, i));
      if (b >= members.size()) members.resize(b + 1);
      members[b].push_back(i);
    }
    for (const auto& block : members) {
      monitor.check();
      for (const Index j : block)
        for (const Index i : block) {
          if (i < j) continue;
          out(i, j) += 1;
        }
    }
  }
  out /= static_cast<double>(draws.rows());
  for (Index j = 0; j < n; ++j)
    for (Index i = 0; i < j; ++i) out(i, j) = out(j, i);
  return out;
}

SizeProfile size_profile(const Eigen::MatrixXi& draws, double share) {
  const Index n = draws.cols();
  SizeProfile out{VectorXd::Zero(n), VectorXi::Zero(draws.rows())};
  std::vector<int> size;
  for (Index d = 0; d < draws.rows(); ++d) {
    size.assign(z(draws.row(d).maxCoeff()) + 1, 0);
    for (Index i = 0; i < n; ++i) ++size[z(draws(d, i))];
    for (const int s : size) {
      if (s == 0) continue;
      out.expected[s - 1] += 1.0 / static_cast<double>(draws.rows());
      out.pruned[d] += s >= share * static_cast<double>(n);
    }
  }
  return out;
}

}  // namespace granary::latent
