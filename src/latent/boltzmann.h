// Boltzmann machines with hidden nodes, by EM and by mean-field variational EM: Gunawardana and Byrne (JMLR 2005), section 4.4.
//
//   p(s; theta) = exp(sum_i b_i s_i + sum_i<j J_ij s_i s_j) / z(theta),   s in {0, 1}^n
//
// In a row, some nodes are seen and the others hidden (any pattern). Forward step: the law of the hidden nodes given the seen ones, exact by enumeration,
// or the nearest product law, whose means solve
//
//   mu_i = logistic(b_i + sum_j J_ij mu_j)
//
// coordinate by coordinate, each of which lowers D. Backward step: the convex problem  log z(theta) - <S / N, theta> + lambda / 2 |J|^2, with z by
// enumeration of the 2^n states: n <= 20.
//
// A mean-field limit is not a likelihood stationary point: there grad log p(y) = E[s_i s_j | seen] - mu_i mu_j, summed over rows (the paper's Example 3 has
// the opposite sign; differences of the likelihood show this one). `bias` holds it.
#pragma once

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "core/infer/em.h"
#include "core/random/rng.h"

namespace granary::latent {

enum class BoltzmannMethod { exact, mean_field };
inline Names<BoltzmannMethod> names(BoltzmannMethod) { return {{BoltzmannMethod::exact, "exact"}, {BoltzmannMethod::mean_field, "mean_field"}}; }

struct BoltzmannOptions {
  BoltzmannMethod method = BoltzmannMethod::exact;
  double lambda = 0;    // ridge on the couplings, per row
  int n_starts = 5;     // of the whole fit, hidden nodes being interchangeable; and of each mean-field forward step
  MatrixXd J;           // start: couplings (n x n) and b; empty for random ones
  VectorXd b;
  double limit = 30;    // |b|, |J| stay below: a pattern never seen would drive them to infinity
  double tol = 1e-8;
  int max_iter = 500;
};
template <class V>
void fields(V& v, BoltzmannOptions& t) {
  v("method", t.method);
  v("lambda", t.lambda);
  v("n_starts", t.n_starts);
  v("J", t.J);
  v("b", t.b);
  v("limit", t.limit);
  v("tol", t.tol);
  v("max_iter", t.max_iter);
}

struct BoltzmannResult {
  MatrixXd J;      // symmetric, zero diagonal
  VectorXd b;
  MatrixXd mean;   // rows x n: E s under Q; what was seen where it was
  double loglik = 0, divergence = 0, gap = 0;
  double score = 0;      // largest entry of the derivative of the penalised log-likelihood per row
  MatrixXd bias;         // n x n, diagonal for b: (E[s s' | seen] - E_Q[s s']) summed over rows, per row
  int rises = 0;
  VectorXd values;       // -D of all starts
  std::vector<EmStep> trace;
  Convergence convergence;
};
template <class V>
void fields(V& v, BoltzmannResult& t) {
  v("J", t.J);
  v("b", t.b);
  v("mean", t.mean);
  v("loglik", t.loglik);
  v("divergence", t.divergence);
  v("gap", t.gap);
  v("score", t.score);
  v("bias", t.bias);
  v("rises", t.rises);
  v("values", t.values);
  v("trace", columns(t.trace));
  v("convergence", t.convergence);
}

// rows: 0 or 1, and -1 where a node is hidden.
BoltzmannResult boltzmann_fit(ConstMatrixRef rows, ConstVectorRef weights, const BoltzmannOptions& options, Rng& rng, Monitor& monitor);

// E s and log p(seen) of each row, exactly or by mean field (then -D of the row instead).
struct BoltzmannRows {
  MatrixXd mean;
  VectorXd loglik, divergence;
};
template <class V>
void fields(V& v, BoltzmannRows& t) {
  v("mean", t.mean);
  v("loglik", t.loglik);
  v("divergence", t.divergence);
}
BoltzmannRows boltzmann_rows(ConstMatrixRef rows, const BoltzmannOptions& options, Rng& rng, Monitor& monitor);  // options.J, options.b

MatrixXd boltzmann_draws(Index n, ConstMatrixRef J, ConstVectorRef b, Rng& rng);  // exact, by the table of all states

}  // namespace granary::latent
