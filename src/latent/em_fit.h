// Mixtures and hidden Markov models by generalised alternating minimisation: Gunawardana and Byrne (JMLR 2005). The procedures and their divergence D stand in
// core/infer/em.h; here are the models of the user, their starts, and what is said of the answer.
//
//   rows:        p(y) = sum_h w_h f_h(y)                      sequences:   p(y) = sum_z pi_z1 f_z1(y_1) prod_t T_{z_t-1, z_t} f_zt(y_t)
//
// f: Gaussian (full, diagonal, spherical or tied covariances), Poisson, multinomial, or items with categories (latent classes).
//
// The limits are likelihood stationary points where Q is not restricted (Corollary 2: log p(y) = -D there). Theorem 3 prints P_theta' on both sides of its
// condition; the right side must be P_theta.
#pragma once

#include <string>
#include <vector>

#include "core/infer/em.h"
#include "core/infer/emission_counts.h"
#include "core/infer/emission_gaussian.h"
#include "core/linalg/design.h"

namespace granary::latent {

enum class EmFamily { gaussian, poisson, multinomial, categorical };
inline Names<EmFamily> names(EmFamily) {
  return {{EmFamily::gaussian, "gaussian"}, {EmFamily::poisson, "poisson"}, {EmFamily::multinomial, "multinomial"}, {EmFamily::categorical, "categorical"}};
}
enum class EmStart { kmeans, random, parameters, membership };
inline Names<EmStart> names(EmStart) {
  return {{EmStart::kmeans, "kmeans"}, {EmStart::random, "random"}, {EmStart::parameters, "parameters"}, {EmStart::membership, "membership"}};
}

struct EmData {
  Design x;                  // rows; items as whole numbers from 1, 0 where missing
  std::vector<int> levels;   // categorical: number of levels of each item
  std::vector<Index> begin;  // sequences: first row of each, from 0, and the number of rows; empty for rows that stand alone
  VectorXd weights;          // of rows, or of sequences; or empty
};
template <class V>
void fields(V& v, EmData& t) {
  v("x", t.x);
  v("levels", t.levels);
  v("begin", t.begin);
  v("weights", t.weights);
}

struct EmParameters {
  VectorXd share;        // of the states; for sequences the law of the first
  MatrixXd transition;   // sequences: k x k, rows of sum 1
  GaussianStates gaussian;
  MatrixXd table;        // counts and categories: k x columns
};
template <class V>
void fields(V& v, EmParameters& t) {
  v("share", t.share);
  v("transition", t.transition);
  v("gaussian", t.gaussian);
  v("table", t.table);
}

struct EmFitOptions {
  EmFamily family = EmFamily::gaussian;
  CovarianceKind covariance = CovarianceKind::full;
  int k = 1;
  double prior = 0;     // rows added to each state: shares, transitions, probabilities and covariances (MAP)
  double floor = 1e-6;  // of covariances, relative to the variances of the columns
  bool equal_share = false;
  EmStart start = EmStart::kmeans;
  EmParameters parameters;  // start = parameters
  MatrixXd membership;      // start = membership: n x k
  int n_starts = 5;
  EmOptions em;
  int threads = 1;
};
template <class V>
void fields(V& v, EmFitOptions& t) {
  v("family", t.family);
  v("covariance", t.covariance);
  v("k", t.k);
  v("prior", t.prior);
  v("floor", t.floor);
  v("equal_share", t.equal_share);
  v("start", t.start);
  v("parameters", t.parameters);
  v("membership", t.membership);
  v("n_starts", t.n_starts);
  v("em", t.em);
  v("threads", t.threads);
}

struct EmFit {
  EmParameters parameters;
  MatrixXd membership;  // n x k: Q of the rows (for sequences, of their states)
  VectorXi cluster;     // best state of each row (of the best path, for sequences)
  VectorXd row_loglik;  // of rows, or of sequences
  double loglik = 0, df = 0, divergence = 0, gap = 0, score = 0, change = 0;
  int rises = 0, falls = 0, lifted = 0;
  VectorXd values;      // -D of all starts
  std::vector<EmStep> trace;
  Convergence convergence;
};
template <class V>
void fields(V& v, EmFit& t) {
  v("parameters", t.parameters);
  v("membership", t.membership);
  v("cluster", positions(t.cluster));
  v("row_loglik", t.row_loglik);
  v("loglik", t.loglik);
  v("df", t.df);
  v("divergence", t.divergence);
  v("gap", t.gap);
  v("score", t.score);
  v("change", t.change);
  v("rises", t.rises);
  v("falls", t.falls);
  v("lifted", t.lifted);
  v("values", t.values);
  v("trace", columns(t.trace));
  v("convergence", t.convergence);
}

EmFit em_fit(const EmData& data, const EmFitOptions& options, Rng& rng, Monitor& monitor);

// Memberships, best states and likelihoods of other rows under parameters found before.
struct EmRows {
  MatrixXd membership;
  VectorXi cluster;
  VectorXd row_loglik;
};
template <class V>
void fields(V& v, EmRows& t) {
  v("membership", t.membership);
  v("cluster", positions(t.cluster));
  v("row_loglik", t.row_loglik);
}
EmRows em_rows(const EmData& data, const EmFitOptions& options, Monitor& monitor);  // options.parameters

// Rows of the model, `size` the total of a multinomial row; for sequences their lengths. items: levels of each item.
struct EmDraws {
  MatrixXd x;
  VectorXi cluster;
};
template <class V>
void fields(V& v, EmDraws& t) {
  v("x", t.x);
  v("cluster", positions(t.cluster));
}
struct EmDrawPlan {
  EmFamily family = EmFamily::gaussian;
  EmParameters parameters;
  std::vector<int> levels;
  std::vector<Index> lengths;  // one for each sequence; for rows that stand alone, their number
  bool sequences = false;
  int size = 100;
};
template <class V>
void fields(V& v, EmDrawPlan& t) {
  v("family", t.family);
  v("parameters", t.parameters);
  v("levels", t.levels);
  v("lengths", t.lengths);
  v("sequences", t.sequences);
  v("size", t.size);
}
EmDraws em_draws(const EmDrawPlan& plan, Rng& rng, Monitor& monitor);

}  // namespace granary::latent
