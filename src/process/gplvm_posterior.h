// What a fitted latent variable model says about points of the latent space, and where in it new rows belong.
//
// Given the active rows I with latent positions X_I, a point x has (Lawrence 2005, equations 12, 20, 21), for each group of
// columns,
//
//   mu(x) = Y_I' A^-1 k_I(x),   s2(x) = k(x, x) - k_I(x)' A^-1 k_I(x),   A = K_II + diag(r_I) + c I
//
// and a row y belongs where log p(y_obs | x) - |x|^2 / 2 is largest. p is N(mu, s2), or Phi(+-(mu + offset) / sqrt(1 + s2)) for
// binary columns. Cells of y that are NaN do not count.
#pragma once

#include <vector>

#include "core/base/fields.h"
#include "core/kernel/kernel.h"
#include "core/optim/lbfgs.h"
#include "core/base/monitor.h"
#include "core/random/rng.h"
#include "core/linalg/spd.h"
#include "process/ivm.h"

namespace granary::process {

struct GplvmModel {
  Kernel kernel;
  MatrixXd latent;       // X_I
  NoisyTargets targets;  // of the active rows; for binary columns their sites
  double nugget = 0;     // c
  OutputNoise noise = OutputNoise::gaussian;
  VectorXd offset;    // of binary columns
  bool prior = true;  // N(0, I) on x
};

class GplvmPosterior {
 public:
  explicit GplvmPosterior(const GplvmModel& model);

  // Means and variances of the outputs at the rows of x, both rows(x) x D; for binary columns those of f. `with_noise`: of an
  // observation, white noise included.
  void predict(ConstMatrixRef x, bool with_noise, MatrixXd& mean, MatrixXd& variance, Monitor& monitor) const;

  // Joint draws of f at the rows of x, white part included: one matrix per draw.
  std::vector<MatrixXd> draws(ConstMatrixRef x, int count, Rng& rng, Monitor& monitor) const;

  // A row y made ready: which columns it has, and what can be computed once.
  struct Row {
    VectorXd y, noise;  // D; noise of the cells, or empty
    struct Part {
      std::vector<Index> columns;  // places within the group
      MatrixXd alpha;              // of those columns, where they are not all
      VectorXd projected;          // alpha y
      double squared = 0;          // y'y
    };
    std::vector<Part> parts;
  };
  Row prepare(ConstVectorRef y, ConstVectorRef noise = VectorXd()) const;

  // log p(y | x); `gradient` in x, where given, is overwritten. -infinity where it cannot be computed.
  double log_likelihood(const Row& row, const VectorXd& x, VectorXd* gradient) const;

  // argmax of log p(y | x) - |x|^2 / 2 (without the last term if the model has no prior) from `start`; its value.
  double place(const Row& row, VectorXd& x, const LbfgsOptions& options, Monitor& monitor) const;

  Index dimension() const { return model_.latent.cols(); }
  bool prior() const { return model_.prior; }

 private:
  struct Group {
    std::vector<Index> rows, columns;
    Cholesky factor;   // of A
    MatrixXd inverse;  // A^-1
    MatrixXd alpha;    // A^-1 Y, rows x columns
    MatrixXd gram;     // alpha alpha' when there are more columns than rows
  };
  GplvmModel model_;
  std::vector<Group> groups_;
};

// The latent positions of new rows.
struct ProjectOptions {
  int n_starts = 10;  // half of them at the latent positions of the nearest training rows, half at random
  int max_iter = 200;
  double tol = 1e-7;
  int samples = 0;  // draws for an importance sampling estimate of log p(y), x integrated out; 0: none
  int threads = 1;
};
template <class V>
void fields(V& v, ProjectOptions& t) {
  v("n_starts", t.n_starts);
  v("max_iter", t.max_iter);
  v("tol", t.tol);
  v("n_draws", t.samples);
  v("threads", t.threads);
}
struct Projection {
  MatrixXd x;               // n x q, the best mode of each row
  VectorXd log_likelihood;  // log p(y_obs | x) there
  VectorXd objective;       // with the prior
  VectorXd log_marginal;    // estimates of log p(y_obs); empty without samples
  VectorXd log_marginal_se;
  std::vector<MatrixXd> modes;            // of each row: distinct modes, best first
  std::vector<VectorXd> mode_objectives;  // theirs
};
template <class V>
void fields(V& v, Projection& t) {
  v("x", t.x);
  v("loglik", t.log_likelihood);
  v("objective", t.objective);
  v("log_marginal", t.log_marginal);
  v("log_marginal_se", t.log_marginal_se);
  v("modes", t.modes);
  v("mode_objectives", t.mode_objectives);
}
// `train_latent`, `train_y` (NaN where missing): all rows of the training data, for the starts.
Projection project_rows(const GplvmPosterior& posterior, ConstMatrixRef y, ConstMatrixRef train_latent, ConstMatrixRef train_y,
                        const ProjectOptions& options, Rng& rng, Monitor& monitor);

}  // namespace granary::process
