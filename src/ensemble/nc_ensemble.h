// Regression ensembles whose members are trained together: negative correlation learning.
//
//   minimise  1/N sum_n { sum_i 1/2 (f_i - t)^2 - lambda sum_i 1/2 (f_i - fbar)^2 } + decay / 2 ||w||^2,    fbar = 1/M sum_i f_i
//
// Brown, Wyatt and Tino (JMLR 2005), (17) times M. Its gradient in f_i is (f_i - t) - lambda (f_i - fbar), that of their (27) and
// Figure 1, and it is the gradient of one function: any optimiser will do. In the outputs its Hessian has the eigenvalues 1 -
// lambda (M - 1 times) and 1, so beyond lambda = 1 it falls without end as soon as two members can move apart. lambda = 0:
// members on their own; lambda = 1: one large model.
//
//   mean         the above
//   target       sum_i 1/2 (f_i - t)^2 + lambda sum_{i < j} (f_i - t)(f_j - t)    (Liu and Yao 1997; the same family, with
//                lambda M / (1 + lambda (M - 1)) for lambda)
//   sequential   members one after the other: 1/2 (f_i - t)^2 + lambda (f_i - t) sum_{j < i} (f_j - t), those before frozen
//                (Rosen 1996): least squares for
//                t - lambda sum_{j < i} (f_j - t)
//
//   exact, sweeps   members with fixed features (ensemble/nc_features.h)
//   lbfgs           all weights at once; members that do not see each other (lambda = 0, sequential) each by itself
//   sgd             Figure 1: row by row, fbar held at its value at the start of the row
//
// Early stopping: the error of held-out rows is looked at every `every` epochs (evaluations of lbfgs) and training ends when it
// is above its value `window` epochs earlier. The weights returned are the best seen.
#pragma once

#include "core/base/convergence.h"
#include "ensemble/nc_features.h"
#include "ensemble/nc_members.h"

namespace granary::ensemble {

enum class NcPenalty { mean, target, sequential };
inline Names<NcPenalty> names(NcPenalty) {
  return {{NcPenalty::mean, "mean"}, {NcPenalty::target, "target"}, {NcPenalty::sequential, "sequential"}};
}

enum class NcOptimizer { exact, sweeps, lbfgs, sgd };
inline Names<NcOptimizer> names(NcOptimizer) {
  return {
      {NcOptimizer::exact, "exact"}, {NcOptimizer::sweeps, "sweeps"}, {NcOptimizer::lbfgs, "lbfgs"}, {NcOptimizer::sgd, "sgd"}};
}

struct NcOptions {
  MemberKind learner = MemberKind::mlp;
  MemberBasis basis = MemberBasis::fourier;
  NcPenalty penalty = NcPenalty::mean;
  NcOptimizer optimizer = NcOptimizer::lbfgs;
  int n_members = 10;
  int size = 4;  // units of a member
  double lambda = 0.9;
  double decay = 0;
  double width = 1;  // of bumps and waves, over the median distance of two rows
  double validation = 0.25;
  int every = 20, window = 200;
  int max_iter = 1000;
  double tol = 1e-4;     // on the gradient, relative to that at the start
  double rate = 0.1;     // sgd
  bool shuffle = false;  // sgd: rows in a new order each epoch
  double anneal = 0;     // lambda rises from 0 over this share of the epochs
  bool standardize = true;
  int threads = 1;
};
template <class V>
void fields(V& v, NcOptions& t) {
  v("learner", t.learner);
  v("basis", t.basis);
  v("penalty", t.penalty);
  v("optimizer", t.optimizer);
  v("n_members", t.n_members);
  v("size", t.size);
  v("lambda", t.lambda);
  v("decay", t.decay);
  v("width", t.width);
  v("validation", t.validation);
  v("every", t.every);
  v("window", t.window);
  v("max_iter", t.max_iter);
  v("tol", t.tol);
  v("rate", t.rate);
  v("shuffle", t.shuffle);
  v("anneal", t.anneal);
  v("standardize", t.standardize);
  v("threads", t.threads);
}

// What predicts.
struct NcModel {
  MemberKind learner = MemberKind::mlp;
  MemberBasis basis = MemberBasis::fourier;
  int inputs = 0, size = 0;
  MatrixXd weights, fixed;  // one column per member
  VectorXd x_low, x_scale;  // x as members see it: (x - low) * scale
  double y_low = 0, y_scale = 1;
  MemberShape shape() const { return {learner, basis, inputs, size}; }
};
template <class V>
void fields(V& v, NcModel& t) {
  v("learner", t.learner);
  v("basis", t.basis);
  v("inputs", t.inputs);
  v("size", t.size);
  v("weights", t.weights);
  v("fixed", t.fixed);
  v("x_low", t.x_low);
  v("x_scale", t.x_scale);
  v("y_low", t.y_low);
  v("y_scale", t.y_scale);
}
void check(const NcModel& m);

struct NcTrace {
  int member = 0;  // 0: all together
  int epoch = 0;
  double train = 0, valid = Convergence::unknown;  // mean squared errors, in the units of y
};
template <class V>
void fields(V& v, NcTrace& t) {
  v("member", t.member);
  v("epoch", t.epoch);
  v("train", t.train);
  v("valid", any_number(t.valid));
}

struct NcResult {
  NcModel model;
  MatrixXd members;         // predictions, rows x members
  std::vector<Index> held;  // rows held out
  std::vector<NcTrace> trace;
  bool early = false;    // stopped by the held-out rows
  bool too_few = false;  // rows to hold any out
  bool diverged = false;
  bool determined = true;
  VectorXd left_out;  // exact: predictions of each row without it, where asked for
  Convergence convergence;
};
template <class V>
void fields(V& v, NcResult& t) {
  v("model", t.model);
  v("members", t.members);
  v("held", positions(t.held));
  v("trace", columns(t.trace));
  v("early", t.early);
  v("too_few", t.too_few);
  v("diverged", t.diverged);
  v("determined", t.determined);
  v("left_out", t.left_out);
  v("convergence", t.convergence);
}

// weights: of the rows, empty for equal.
NcResult nc_ensemble(ConstMatrixRef x, ConstVectorRef y, ConstVectorRef weights, const NcOptions& options, Rng& rng,
                     Monitor& monitor);

// Members with fixed features at several lambda: predictions of every row by an ensemble that has not seen it, rows x lambdas.
MatrixXd nc_left_out(ConstMatrixRef x, ConstVectorRef y, ConstVectorRef weights, const NcOptions& options, ConstVectorRef lambdas,
                     Rng& rng, Monitor& monitor);

MatrixXd nc_members(ConstMatrixRef x, const NcModel& model, Monitor& monitor);  // rows x members

Coupling coupling_of(NcPenalty penalty, double lambda, Index members);

}  // namespace granary::ensemble
