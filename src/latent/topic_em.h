// Topic models by EM: the polish of moment estimates, and what a fitted model says of documents.
//
//   single topic   log p(doc) = log sum_h w_h prod_w beta_hw^c_w                                       exact EM
//   LDA            theta ~ Dirichlet(alpha), words ~ beta theta (Blei, Ng and Jordan, JMLR 2003)        variational EM
//
// For LDA the law of theta is held to Dirichlet(gamma) and every word's topic to be independent of it; with phi at its best the bound of a document is
//
//   sum_w c_w log sum_h e_h beta_hw + log G(sum alpha) - log G(sum gamma) + sum_h [log G(gamma_h) - log G(alpha_h) + (alpha_h - gamma_h) log e_h],
//   log e_h = psi(gamma_h) - psi(sum gamma)
//
// which never exceeds log p(doc), whatever gamma. Steps over gamma, beta and alpha (Newton) each raise its sum. The topics carry a Dirichlet prior with parameters
// 1 + smooth, whose log density counts in what is raised; so no word has probability zero.
#pragma once

#include "core/base/convergence.h"
#include "latent/moments.h"

namespace granary::latent {

struct TopicModel {
  bool lda = true;
  VectorXd weight;  // alpha, or w
  MatrixXd topics;  // k x words
};

struct TopicEmOptions {
  int passes = 0;        // at most
  double tol = 1e-5;     // relative rise of the objective over a pass
  double smooth = 0.01;
  bool estimate_alpha = true;
  int inner = 100;       // steps of a document
  double inner_tol = 1e-4;  // mean change of gamma, relative to its sum
  bool keep = true;      // gamma of all documents, to go on from where passes from even shares raise the bound no more
  int threads = 1;
};

struct TopicEm {
  TopicModel model;
  VectorXd objective;  // before every pass and after the last
  double first = 0, last = 0;  // log-likelihoods (LDA: bounds) without the prior
  double words = 0;            // number of words in the documents
  Convergence convergence;     // residual: relative rise over the last pass
};
TopicEm topic_em(const DocumentSource& source, TopicModel start, const TopicEmOptions& options, Monitor& monitor);

// The model at documents: shares of topics (LDA: mean of gamma; single topic: posterior), and log-likelihoods or their bounds.
struct TopicRows {
  MatrixXd membership;  // documents x k
  VectorXd row_loglik;
};
template <class V>
void fields(V& v, TopicRows& t) {
  v("membership", t.membership);
  v("row_loglik", t.row_loglik);
}
// Documents of these lengths drawn from a model: words x documents, and the topic of each (LDA: that of most words).
struct TopicDraws {
  SparseMatrix counts;
  VectorXi cluster;
  MatrixXd share;  // LDA: documents x k
};
template <class V>
void fields(V& v, TopicDraws& t) {
  v("counts", t.counts);
  v("cluster", positions(t.cluster));
  v("share", t.share);
}
TopicDraws topic_draws(const TopicModel& model, ConstVectorRef lengths, Rng& rng, Monitor& monitor);

TopicRows topic_rows(const DocumentSource& source, const TopicModel& model, int threads, Monitor& monitor);

}  // namespace granary::latent
