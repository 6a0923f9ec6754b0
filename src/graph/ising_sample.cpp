#include "graph/ising_sample.h"

#include "core/base/errors.h"
#include "core/math/logspace.h"

namespace granary::graph {

MatrixXd ising_gibbs(ConstMatrixRef theta, Index n, int burn_in, int thin, Rng& rng, Monitor& monitor) {
  const Index p = theta.rows();
  MatrixXd coefficients = theta, out(n, p);
  coefficients.diagonal().setZero();
  VectorXd x = VectorXd::Zero(p), eta = theta.diagonal();
  for (Index row = 0; row < n; ++row) {
    const int scans = row == 0 ? burn_in + thin : thin;
    for (int scan = 0; scan < scans; ++scan) {
      monitor.check();
      for (Index j = 0; j < p; ++j) {
        const double next = rng.bernoulli(expit(eta[j])) ? 1 : 0;
        if (next != x[j]) {
          eta += (next - x[j]) * coefficients.col(j);
          x[j] = next;
        }
      }
    }
    eta = theta.diagonal() + coefficients * x;  // rounding of the running sums does not pile up
    out.row(row) = x.transpose();
    monitor.progress(static_cast<double>(row + 1) / static_cast<double>(n));
  }
  return out;
}

VectorXd ising_probabilities(ConstMatrixRef theta) {
  const Index p = theta.rows();
  if (p > 20) throw InputError(message("enumerating all states is for at most 20 variables, not ", p, "."));
  const Index states = Index{1} << p;
  VectorXd log_weight(states);
  log_weight[0] = 0;
  for (Index s = 1; s < states; ++s) {  // the state without its highest bit is known already
    Index top = 0;
    while ((s >> (top + 1)) != 0) ++top;
    double add = theta(top, top);
    for (Index k = 0; k < top; ++k) {
      if ((s >> k) & 1) add += theta(top, k);
    }
    log_weight[s] = log_weight[s ^ (Index{1} << top)] + add;
  }
  return softmax(log_weight);
}

MatrixXd ising_exact(ConstMatrixRef theta, Index n, Rng& rng) {
  const AliasTable table(ising_probabilities(theta));
  MatrixXd out(n, theta.rows());
  for (Index i = 0; i < n; ++i) {
    const int state = table.draw(rng);
    for (Index j = 0; j < theta.rows(); ++j) out(i, j) = (state >> j) & 1;
  }
  return out;
}

MatrixXd ising_sample(ConstMatrixRef theta, const IsingSampleOptions& options, Rng& rng, Monitor& monitor) {
  return options.exact ? ising_exact(theta, options.n, rng) : ising_gibbs(theta, options.n, options.burn_in, options.thin, rng, monitor);
}

}  // namespace granary::graph
