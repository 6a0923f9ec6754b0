#include "graph/cg_latent.h"

#include <cmath>
#include <vector>

#include "core/base/errors.h"
#include "core/cluster/kmeans.h"
#include "core/optim/assignment.h"
#include "core/random/rng.h"

namespace granary::graph {

namespace {

// Most rows have no state, and some state has next to none.
bool seldom_seen(const CgNetwork& network, ConstMatrixRef rows, int v) {
  VectorXi seen = VectorXi::Zero(network.levels(v));
  for (Index r = 0; r < rows.rows(); ++r)
    if (!std::isnan(rows(r, v))) ++seen[static_cast<int>(rows(r, v))];
  return 2 * static_cast<Index>(seen.sum()) < rows.rows() && seen.minCoeff() < 3;
}

// Columns of numbers for what was observed, each with mean zero and about unit variance in all.
MatrixXd features(const CgNetwork& network, ConstMatrixRef rows, const std::vector<bool>& latent) {
  std::vector<VectorXd> columns;
  for (int v = 0; v < network.nodes(); ++v) {
    if (latent[v]) continue;
    const int states = network.discrete(v) ? network.levels(v) : 1;
    for (int s = 0; s < states; ++s) {
      VectorXd column = VectorXd::Zero(rows.rows());
      double sum = 0, seen = 0;
      for (Index r = 0; r < rows.rows(); ++r) {
        if (std::isnan(rows(r, v))) continue;
        column[r] = network.discrete(v) ? (static_cast<int>(rows(r, v)) == s ? 1.0 : 0.0) : rows(r, v);
        sum += column[r];
        ++seen;
      }
      for (Index r = 0; r < rows.rows(); ++r) column[r] = std::isnan(rows(r, v)) ? 0 : column[r] - sum / seen;
      columns.push_back(column);
    }
  }
  MatrixXd all(rows.rows(), static_cast<Index>(columns.size()));
  for (std::size_t k = 0; k < columns.size(); ++k) all.col(static_cast<Index>(k)) = columns[k];
  return all;
}

}  // namespace

MatrixXd fill_latent(const CgNetwork& network, ConstMatrixRef rows, Monitor& monitor) {
  MatrixXd filled = rows;
  std::vector<bool> latent(network.nodes(), false);
  bool any = false;
  for (int v = 0; v < network.nodes(); ++v) {
    latent[v] = network.discrete(v) && network.levels(v) > 1 && seldom_seen(network, rows, v);
    any = any || latent[v];
  }
  if (!any) return filled;
  const MatrixXd x = features(network, rows, latent);
  if (x.cols() == 0) {
    if (rows.array().isNaN().all()) throw InputError("no column has an observed value, so nothing can be learned.");
    return filled;
  }
  for (int v = 0; v < network.nodes(); ++v) {
    if (!latent[v]) continue;
    KMeansOptions options;
    options.k = network.levels(v);
    options.n_starts = 10;
    Rng rng(static_cast<std::uint64_t>(v) + 1);  // a start, not a draw: the same for the same data
    const KMeansResult split = kmeans(x, options, rng, monitor);
    MatrixXd agree = MatrixXd::Zero(options.k, options.k);  // part against state
    for (Index r = 0; r < rows.rows(); ++r)
      if (!std::isnan(rows(r, v))) agree(split.cluster[r], static_cast<Index>(rows(r, v))) += 1;
    const VectorXi state = assign_rows_most(agree, monitor).column;
    for (Index r = 0; r < rows.rows(); ++r)
      if (std::isnan(rows(r, v))) filled(r, v) = state[split.cluster[r]];
  }
  return filled;
}

}  // namespace granary::graph
