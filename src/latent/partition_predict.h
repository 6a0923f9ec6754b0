// What posterior draws of a partition say about new rows, and data from the model.
#pragma once

#include "core/base/monitor.h"
#include "latent/conjugate_family.h"
#include "latent/partition_prior.h"

namespace granary::latent {

// `family` holds the rows of the fit first, then the new ones; partitions: draws x rows of the fit. The mean over the draws of
//   sum_j (s_j + shift) m(x | x_j) + open(t) m(x), weights normalised: the density of one more row.
VectorXd predictive_density(const BlockFamily& family, const PartitionPrior& prior, const Eigen::MatrixXi& partitions, ConstVectorRef theta, int threads, Monitor& monitor);

// Probabilities that each new row belongs to cluster 1, 2, ... of one partition, or (last column) to a new one.
MatrixXd predictive_membership(const BlockFamily& family, const PartitionPrior& prior, const VectorXi& cluster);

struct MixtureDraw {
  MatrixXd x;
  VectorXi cluster;
};
template <class V>
void fields(V& v, MixtureDraw& t) {
  v("x", t.x);
  v("cluster", positions(t.cluster));
}
// n rows whose blocks follow the law and whose parameters follow the family's prior; with `given`, labels of the first rows of the family, which are kept, n more after them.
MixtureDraw draw_mixture(const FamilySpec& spec, const PartitionPrior& prior, Index n, Index columns, Rng& rng, Monitor& monitor);
MixtureDraw draw_more(BlockFamily& family, const VectorXi& given, const PartitionPrior& prior, Rng& rng, Monitor& monitor);

// Posterior means of the blocks of a partition, one row each.
MatrixXd block_centres(const BlockFamily& family, const VectorXi& cluster);

}  // namespace granary::latent
