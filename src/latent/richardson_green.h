// Normal mixtures under the prior of Richardson and Green (1997), as in Figures 1b and 3b of Miller and Harrison (JMLR 2014):
//
//   x ~ N(mu, 1 / tau),  mu ~ N(xi, R^2),  tau ~ gamma(2, rate beta),  beta ~ gamma(0.2, rate 10 / R^2),  xi the mid-range and R the range of the rows
//
// mu and tau are independent, so that blocks cannot be integrated out: Algorithm 8 of Neal (2000) with `auxiliary` fresh parameters per row, of which a row that was
// alone keeps its own as the first; then mu, tau and beta from their full conditionals.
#pragma once

#include "latent/partition_gibbs.h"

namespace granary::latent {

// Labels, counts and traces as of collapsed chains; `loglik` is that of the rows given their parameters. `parameters` holds for each draw mu_1, tau_1, mu_2, ..., beta.
ChainResult richardson_green(ConstVectorRef x, const PartitionPrior& prior, const ChainOptions& options, Rng& rng, Monitor& monitor);

// Mean over the draws of the predictive density at `at`.
VectorXd richardson_green_density(ConstVectorRef at, ConstVectorRef x, const PartitionPrior& prior, const Eigen::MatrixXi& partitions, ConstVectorRef theta,
                                  ConstVectorRef parameters, Rng& rng, Monitor& monitor);

}  // namespace granary::latent
