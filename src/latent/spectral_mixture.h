// Latent variable models from their second and third (fourth) moments: Anandkumar, Ge, Hsu, Kakade and Telgarsky (JMLR 2014), section 3.
//
//   whiten M2, M3 -> tensor_decompose() -> parameters -> polish by EM, if wanted
//
//   topic, lda        documents                                   latent/moments.h, topic_em.h
//   gmm, gmm_hetero   spherical Gaussians                         latent/moments.h
//   product           Gaussians with diagonal covariances: columns are split at random in three views (or the rows are rotated first)
//   latent_class      items with categories, split in three views
//   multiview         three given views
//   hmm               views are three consecutive observations, the state is that of the middle one: O = E[x2 | h], O T = E[x3 | h]
//   ica               latent/ica_moments.h
//
// Not as printed: columns are dealt to the views in equal numbers (the paper draws a view for each), and of several splits the one is taken whose worst
// conditioned E[x_u x_v'] of two views is best (the third view must tell the components apart too); with several sequences the law of the first state is that
// of their first observations and not T^-1 w.
#pragma once

#include "latent/em_fit.h"
#include "latent/ica_moments.h"
#include "latent/topic_em.h"

namespace granary::latent {

enum class SpectralModel { topic, lda, gmm, gmm_hetero, product, latent_class, multiview, hmm, ica };
inline Names<SpectralModel> names(SpectralModel) {
  return {{SpectralModel::topic, "topic"},
          {SpectralModel::lda, "lda"},
          {SpectralModel::gmm, "gmm"},
          {SpectralModel::gmm_hetero, "gmm_hetero"},
          {SpectralModel::product, "product"},
          {SpectralModel::latent_class, "latent_class"},
          {SpectralModel::multiview, "multiview"},
          {SpectralModel::hmm, "hmm"},
          {SpectralModel::ica, "ica"}};
}

struct SpectralOptions {
  SpectralModel model = SpectralModel::topic;
  int k = 1;
  double alpha0 = 1;
  bool noise = false;   // ica
  bool rotate = false;  // product
  int n_splits = 5;     // product, latent_class
  int passes = 30;      // over documents, for the second moments
  bool stream = false;  // documents cannot be held: nothing is kept for each of them
  TensorOptions tensor;
  int polish = 0;
  double polish_tol = 1e-6;
  double smooth = 0.01;
  int n_rep = 0;  // bootstrap samples for the error of the tensor
  int threads = 1;
};
template <class V>
void fields(V& v, SpectralOptions& t) {
  v("model", t.model);
  v("k", t.k);
  v("alpha0", t.alpha0);
  v("noise", t.noise);
  v("rotate", t.rotate);
  v("n_splits", t.n_splits);
  v("passes", t.passes);
  v("stream", t.stream);
  v("tensor", t.tensor);
  v("polish", t.polish);
  v("polish_tol", t.polish_tol);
  v("smooth", t.smooth);
  v("n_rep", t.n_rep);
  v("threads", t.threads);
}

struct SpectralFit {
  EmParameters parameters;  // shares, means, covariances, tables, transitions
  VectorXd weight;          // lda: alpha; else the shares
  MatrixXd means;           // k x columns: topics, means or probabilities
  VectorXd raw_weight;      // as the moments give them
  MatrixXd raw_means;
  VectorXd noise_var;       // of the components of spherical Gaussians
  int lifted = 0;           // variances of single columns that the moments give as zero or less, and that were lifted to a millionth of the column's
  VectorXi views;           // of the columns (product, latent_class)
  MatrixXd mixing, unmixing;  // ica
  VectorXd kurtosis;
  VectorXd mean, eigenvalues;
  MatrixXd whiten, unwhiten, moments;  // moments: the unfolding of M3(W, W, W), k x k^2
  double rows = 0, rows2 = 0, rows3 = 0, settled = 0, coherence = 0;
  TensorResult tensor;
  VectorXd tensor_error;  // operator norms (lower bounds) over bootstrap samples
  double loglik_before = Convergence::unknown, loglik = Convergence::unknown, words = 0;
  VectorXd objective;  // of the polish, before every pass and at the end
  Convergence polish;
  Convergence convergence;
};
template <class V>
void fields(V& v, SpectralFit& t) {
  v("parameters", t.parameters);
  v("weight", t.weight);
  v("means", t.means);
  v("raw_weight", t.raw_weight);
  v("raw_means", t.raw_means);
  v("noise_var", t.noise_var);
  v("lifted", t.lifted);
  v("views", t.views);
  v("mixing", t.mixing);
  v("unmixing", t.unmixing);
  v("kurtosis", t.kurtosis);
  v("mean", t.mean);
  v("eigenvalues", t.eigenvalues);
  v("whiten", t.whiten);
  v("unwhiten", t.unwhiten);
  v("moments", t.moments);
  v("rows", t.rows);
  v("rows2", t.rows2);
  v("rows3", t.rows3);
  v("settled", t.settled);
  v("coherence", t.coherence);
  v("tensor", t.tensor);
  v("tensor_error", any_number(t.tensor_error));
  v("loglik_before", any_number(t.loglik_before));
  v("loglik", any_number(t.loglik));
  v("words", t.words);
  v("objective", t.objective);
  v("polish", t.polish);
  v("convergence", t.convergence);
}

SpectralFit spectral_topics(const DocumentSource& source, Index words, const SpectralOptions& options, Rng& rng, Monitor& monitor);
// views: 1, 2, 3 for each column (multiview).
SpectralFit spectral_rows(const EmData& data, const VectorXi& views, const SpectralOptions& options, Rng& rng, Monitor& monitor);

EmFitOptions spectral_em_options(const SpectralOptions& options, const EmData& data, const EmParameters& parameters);

}  // namespace granary::latent
