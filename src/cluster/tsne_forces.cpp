#include "cluster/tsne_forces.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/base/parallel.h"

namespace granary::cluster {

namespace {

constexpr Index rows_per_task = 256;

// sum_i part(i) for i = 0 .. n - 1, in blocks, so that the order of the sum does not depend on the threads.
template <class Part>
double block_sum(Index n, int threads, Monitor& monitor, const Part& part) {
  const Index tasks = (n + rows_per_task - 1) / rows_per_task;
  VectorXd sums = VectorXd::Zero(tasks);
  parallel_for(tasks, threads, monitor, [&](Index task) {
    for (Index i = task * rows_per_task; i < std::min(n, (task + 1) * rows_per_task); ++i) sums[task] += part(i);
  });
  return sums.sum();
}

}  // namespace

BodyOptions body_options(const ForceOptions& options) {
  BodyOptions out;
  out.kernel = options.type == MapType::tsne ? BodyKernel::student : BodyKernel::gaussian;
  out.method = options.method;
  out.cell = options.cell;
  out.theta = options.theta;
  out.threads = options.threads;
  return out;
}

MapForces::MapForces(ConstAffinity p, int dim, const ForceOptions& options)
    : start_(p.outerIndexPtr()),
      row_(p.innerIndexPtr()),
      p_(p.valuePtr()),
      n_(p.cols()),
      options_(options),
      tree_(dim, map_leaf_size) {
  if (dim < 1 || dim > 3) throw InputError(message("a map has 1, 2 or 3 dimensions, not ", dim, "."));
  if (p.rows() != p.cols()) throw InputError("the similarities must be a square matrix.");
  entropy_ = VectorXd::Zero(n_);
  share_ = VectorXd::Zero(n_);
  for (Index i = 0; i < n_; ++i) {
    for (Index e = start_[i]; e < start_[i + 1]; ++e) {
      share_[i] += p_[e];
      if (p_[e] > 0) entropy_[i] += p_[e] * std::log(p_[e]);
    }
  }
}

void MapForces::compute(ConstMatrixRef y, Monitor& monitor) {
  const auto dim = static_cast<int>(y.rows());
  attraction.resize(dim, n_);
  const bool student = options_.type == MapType::tsne;
  parallel_for((n_ + rows_per_task - 1) / rows_per_task, options_.threads, monitor, [&](Index task) {
    for (Index i = task * rows_per_task; i < std::min(n_, (task + 1) * rows_per_task); ++i)
      map_loops::attraction(dim, student, p_ + start_[i], row_ + start_[i], start_[i + 1] - start_[i], y.data(),
                            y.data() + i * dim, attraction.data() + i * dim);
  });
  tree_.build(y);
  body_sums(tree_, body_options(options_), sums_, monitor);
  z = block_sum(n_, 1, monitor, [&](Index i) { return sums_.mass[i]; });
  const double pairs = static_cast<double>(n_) * (static_cast<double>(n_) - 1);
  const double factor = options_.type == MapType::elastic ? options_.lambda / std::max(pairs, 1.0) : z > 0 ? 1 / z : 0;
  repulsion = factor * sums_.force;
}

double MapForces::cost(ConstMatrixRef y, Monitor& monitor, VectorXd* of_points) const {
  const auto dim = static_cast<int>(y.rows());
  const bool student = options_.type == MapType::tsne, elastic = options_.type == MapType::elastic;
  const double pairs = std::max(static_cast<double>(n_) * (static_cast<double>(n_) - 1), 1.0);
  const double log_z = z > 0 ? std::log(z) : 0;
  if (of_points != nullptr) of_points->resize(n_);
  return block_sum(n_, options_.threads, monitor, [&](Index i) {
    double mine = map_loops::stress(dim, student, p_ + start_[i], row_ + start_[i], start_[i + 1] - start_[i], y.data(),
                                    y.data() + i * dim);
    mine += elastic ? options_.lambda * sums_.mass[i] / pairs : entropy_[i] + share_[i] * log_z;
    if (of_points != nullptr) (*of_points)[i] = mine;
    return mine;
  });
}

double MapForces::imbalance() const {
  const double size = attraction.norm() + repulsion.norm();
  return size > 0 ? (attraction - repulsion).norm() / size : 0;
}

}  // namespace granary::cluster
