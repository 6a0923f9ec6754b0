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

// Columns: one draw each, so that its labels stand together.
double loss_of(const int* cluster, int k, const Eigen::MatrixXi& columns, const std::vector<int>& blocks, const std::vector<double>& f) {
  const Index n = columns.rows();
  std::vector<int> size(z(k), 0), table;
  for (Index i = 0; i < n; ++i) ++size[z(cluster[i])];
  double own = 0, total = 0;
  for (const int s : size) own += f[z(s)];
  for (Index d = 0; d < columns.cols(); ++d) {
    const int b = blocks[z(d)];
    table.assign(z(b) * z(k), 0);
    const int* draw = columns.data() + d * n;
    for (Index i = 0; i < n; ++i) ++table[z(draw[i]) * z(k) + z(cluster[i])];
    double shared = 0, other = 0;
    for (int m = 0; m < b; ++m) {
      int sum = 0;
      for (int c = 0; c < k; ++c) {
        const int count = table[z(m) * z(k) + z(c)];
        sum += count;
        shared += f[z(count)];
      }
      other += f[z(sum)];
    }
    total += own + other - 2 * shared;
  }
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
  for (Index e = 0; e < tried; ++e) {
    monitor.check();
    const Index d = e * used / tried;
    if (blocks[z(d)] > cap) continue;
    const double loss = loss_of(columns.data() + d * n, blocks[z(d)], columns, blocks, f);
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
