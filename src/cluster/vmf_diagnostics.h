// How tight and how well separated clusters of directions are, and a bound on the error of labels propagated through clusters.
//
// Banerjee, Dhillon, Ghosh and Sra (JMLR 2005), (6.1) to (6.4), with mu_h the normalised sums of the unit rows of a cluster:
//
//   h_mean = mean_i x_i'mu_z(i),  h_min = min_i x_i'mu_z(i),
//   s_mean = sum_{g != h} n_g n_h mu_g'mu_h / sum_{g != h} n_g n_h,  s_max = max_{g != h} mu_g'mu_h.
//
// PAC-MDL (Blum and Langford, NIPS 2003): each cluster takes the majority label among its labelled rows, with c errors among m of them. Of the n other rows at
// most B - c are wrong, with probability 1 - delta, where B is the largest number b of errors in all with
// P(Hypergeometric(m draws from m + n, of which b are errors) <= c) >= delta L^-k, L classes, k clusters.
#pragma once

#include "core/base/fields.h"
#include "core/cluster/data_rows.h"

namespace granary::cluster {

struct Cohesion {
  double h_mean = 0, h_min = 0, s_mean = 0, s_max = 0;
  VectorXd cluster_mean, cluster_min, size;  // per cluster
};
template <class V>
void fields(V& v, Cohesion& t) {
  v("h_mean", t.h_mean);
  v("h_min", t.h_min);
  v("s_mean", any_number(t.s_mean));
  v("s_max", any_number(t.s_max));
  v("cluster_mean", t.cluster_mean);
  v("cluster_min", t.cluster_min);
  v("size", t.size);
}
Cohesion cohesion(const DataRows& unit_rows, const VectorXi& label, Index k);  // s_ is NaN for one cluster

struct PacMdl {
  double errors = 0;  // B
  double bound = 0;   // (B - c) / n, 0 without other rows
};
template <class V>
void fields(V& v, PacMdl& t) {
  v("errors", t.errors);
  v("bound", t.bound);
}
PacMdl pac_mdl(double errors, double labelled, double unlabelled, double classes, double clusters, double delta);

}  // namespace granary::cluster
