// Supervised clustering with two Dirichlet processes: Daume and Marcu (JMLR 2005). Section numbers are theirs.
//
//   c ~ CRP(alpha_p) in each domain of rows,  d ~ CRP(alpha_t) over all rows,  p_k ~ N(0, s2 I),  t_lf ~ gamma(a, rate b),  r_n ~ N(p_{c_n}, diag(1 / t_{d_n}))
//
// The clusters c of training rows are known; those of the others, and the reference types d of all rows, are drawn.
//
//   scdp1   conjugate; the law of t is fixed (4.1)
//   scdp2   the law of t_f is renewed in every sweep so that its mean is half the mean, and its variance the variance, of (p_jf - p_kf)^2 / 2 over pairs of clusters (5.1)
//   scdp3   t_f given the means is gamma(a, rate b + lambda sum_{j<k} (p_jf - p_kf)^2) (5.2)
//
// Differs from the paper: (3) is taken for what it is, the density of t given p, and normalised: the powers of G_p in it, whose exponents are garbled, are then constants,
// the law of p no longer depends on an order of the clusters, and t stays conjugate. Only p needs Metropolis steps, and new clusters the auxiliary draws of Algorithm 8.
// `collapse` draws the clusters with their means integrated out (Algorithm 3), which mixes better; not in the paper, and not for scdp3.
#pragma once

#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "core/random/rng.h"

namespace granary::latent {

enum class SupervisedType { scdp1, scdp2, scdp3 };
inline Names<SupervisedType> names(SupervisedType) {
  return {{SupervisedType::scdp1, "scdp1"}, {SupervisedType::scdp2, "scdp2"}, {SupervisedType::scdp3, "scdp3"}};
}

struct SupervisedOptions {
  SupervisedType type = SupervisedType::scdp1;
  bool collapse = false;
  double mean_var = 1;                    // s2
  double shape = 1, rate = 1;             // a, b
  double alpha_shape = 1, alpha_rate = 1; // gamma laws of both concentrations
  double alpha_cluster = 0, alpha_type = 0;  // known concentrations; 0: learnt
  bool one_type = false;                  // a single type with all precisions 1
  double lambda = 1;
  int auxiliary = 8;
  int n_draws = 1500, burn_in = 500, thin = 1, chains = 2;
  int threads = 1;
};
template <class V>
void fields(V& v, SupervisedOptions& t) {
  v("type", t.type);
  v("collapse", t.collapse);
  v("mean_var", t.mean_var);
  v("shape", t.shape);
  v("rate", t.rate);
  v("alpha_shape", t.alpha_shape);
  v("alpha_rate", t.alpha_rate);
  v("alpha_cluster", t.alpha_cluster);
  v("alpha_type", t.alpha_type);
  v("one_type", t.one_type);
  v("lambda", t.lambda);
  v("auxiliary", t.auxiliary);
  v("n_draws", t.n_draws);
  v("burn_in", t.burn_in);
  v("thin", t.thin);
  v("chains", t.chains);
  v("threads", t.threads);
}

struct SupervisedResult {  // draws of the first chain, then of the second, ...
  Eigen::MatrixXi clusters;         // draws x rows to be clustered: numbers of training clusters, then of new ones by first appearance
  Eigen::MatrixXi types;            // draws x all rows, by first appearance
  VectorXi n_clusters, n_types;     // clusters that hold rows to be clustered; types
  VectorXd alpha_cluster, alpha_type, loglik;
  MatrixXd weights;                 // precisions of the types of the draw with the largest likelihood, one row each
  VectorXi weight_sizes;
  VectorXd mean_weights;            // mean over draws and rows of the precision of a row's type
  VectorXi best;                    // clusters of that draw
  VectorXi best_types;
  VectorXd effective_clusters, effective_loglik;
  double seconds = 0;
};
template <class V>
void fields(V& v, SupervisedResult& t) {
  v("clusters", positions(t.clusters));
  v("types", positions(t.types));
  v("n_clusters", t.n_clusters);
  v("n_types", t.n_types);
  v("alpha_cluster", t.alpha_cluster);
  v("alpha_type", t.alpha_type);
  v("loglik", t.loglik);
  v("weights", t.weights);
  v("weight_sizes", t.weight_sizes);
  v("mean_weights", t.mean_weights);
  v("best", positions(t.best));
  v("best_types", positions(t.best_types));
  v("effective_clusters", t.effective_clusters);
  v("effective_loglik", t.effective_loglik);
  v("seconds", t.seconds);
}

// r: n x F; label: 0, 1, ... for training rows, -1 for rows to be clustered; domain: 0, 1, ...: rows of different domains are never in one cluster.
SupervisedResult supervised_cluster(ConstMatrixRef r, const VectorXi& label, const VectorXi& domain, const SupervisedOptions& options, Rng& rng, Monitor& monitor);

}  // namespace granary::latent
