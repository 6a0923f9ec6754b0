#include "latent/label_posterior.h"

#include <cmath>
#include <numeric>

#include "core/base/errors.h"
#include "core/math/logspace.h"
#include "core/optim/assignment.h"

namespace granary::latent {
namespace {

// The component of every block: the assignment with the largest memberships, the components left over after them.
VectorXi named(const VectorXi& block, int blocks, ConstMatrixRef reference) {
  const Index k = reference.cols();
  MatrixXd gain = MatrixXd::Zero(blocks, k);
  for (Index i = 0; i < block.size(); ++i) gain.row(block[i]) += reference.row(i);
  Monitor quiet;
  const VectorXi chosen = assign_rows_most(gain, quiet).column;
  VectorXi name(k);
  VectorXi taken = VectorXi::Zero(k);
  for (int b = 0; b < blocks; ++b) taken[name[b] = chosen[b]] = 1;
  Index next = blocks;
  for (int h = 0; h < static_cast<int>(k); ++h)
    if (taken[h] == 0) name[next++] = h;
  return name;
}

}  // namespace

LabelPosterior label_posterior(const BlockFamily& family, double gamma, const Eigen::MatrixXi& partitions, ConstMatrixRef reference, Monitor& monitor) {
  const Index n = partitions.cols(), draws = partitions.rows(), more = family.rows() - n, k = reference.cols();
  if (draws < 1 || reference.rows() != n || k < 1) throw InputError(message("the reference must have one row for each of the ", n, " rows, and there must be a draw."));
  if (!(gamma > 0)) throw InputError("`gamma` must be positive.");
  LabelPosterior out;
  out.membership = MatrixXd::Zero(n, k);
  out.predicted = MatrixXd::Zero(more, k);
  out.labels.resize(draws, n);
  const std::unique_ptr<BlockFamily> work = family.clone();
  work->slots(static_cast<int>(k));
  std::vector<int> slots(static_cast<std::size_t>(k));
  std::iota(slots.begin(), slots.end(), 0);
  std::vector<double> value(slots.size());
  for (Index d = 0; d < draws; ++d) {
    monitor.check();
    const VectorXi block = partitions.row(d).transpose();
    const int blocks = block.maxCoeff() + 1;
    if (blocks > k) throw InputError(message("draw ", d + 1, " has ", blocks, " blocks, but the reference has ", k, " components."));
    const VectorXi name = named(block, blocks, reference);
    VectorXd size = VectorXd::Zero(k);
    for (Index i = 0; i < n; ++i) {
      const int h = name[block[i]];
      out.labels(d, i) = h;
      out.membership(i, h) += 1;
      size[h] += 1;
    }
    if (more == 0) continue;
    for (int h = 0; h < static_cast<int>(k); ++h) work->clear(h);
    for (Index i = 0; i < n; ++i) work->add(i, out.labels(d, i));
    for (Index r = 0; r < more; ++r) {
      work->log_predictives(n + r, slots.data(), static_cast<int>(k), value.data());
      VectorXd weight(k);
      for (Index h = 0; h < k; ++h) weight[h] = std::log(size[h] + gamma) + value[static_cast<std::size_t>(h)];
      out.predicted.row(r) += softmax(weight).transpose();
    }
  }
  out.membership /= static_cast<double>(draws);
  out.predicted /= static_cast<double>(draws);
  return out;
}

}  // namespace granary::latent
