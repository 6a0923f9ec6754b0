// Sparse Gaussian process regression as a user asks for it: inducing inputs are selected, parameters learnt, greedy selections
// made again with what was learnt, and inducing inputs that repeat others left out where nothing is lost by it.
//
// Section 9 of Quinonero-Candela and Rasmussen (JMLR 6, 2005). With more than 20000 rows a sample first shows where the
// parameters are.
#pragma once

#include <optional>
#include <vector>

#include "core/base/fields.h"
#include "process/sparse_fit.h"
#include "process/sparse_predict.h"
#include "process/sparse_select.h"

namespace granary::process {

struct SparseData {
  MatrixView x{nullptr, 0, 0}, targets{nullptr, 0, 0};  // targets: [y F]
  std::vector<int> blocks;                              // of each row, for PITC; empty: none
  KernelSpec kernel;
  SparseMethod method = SparseMethod::fitc;
  int threads = 1;
};
template <class V>
void fields(V& v, SparseData& t) {
  v("x", t.x);
  v("targets", t.targets);
  v("blocks", t.blocks);
  v("kernel", t.kernel);
  v("method", t.method);
  v("threads", t.threads);
}
inline void check(const SparseData& t) {
  require(t.x.rows() == t.targets.rows(), "`x` has not one row per response.");
  require(t.blocks.empty() || static_cast<Index>(t.blocks.size()) == t.x.rows(), "`blocks` has not one entry per row.");
}

// Rows in the order of their blocks, owned here, and the problem over them.
class SparseRows {
 public:
  explicit SparseRows(const SparseData& data, const std::vector<Index>* subset = nullptr);
  SparseRows(const SparseRows&) = delete;
  SparseRows& operator=(const SparseRows&) = delete;
  const SparseProblem& problem() const { return problem_; }

 private:
  MatrixXd x_, targets_;
  SparseProblem problem_;
};

struct SparseLearnOptions {
  InducingRule select = InducingRule::kmeans;
  Index m = 100;               // inducing inputs to select; rows of the subset of data
  MatrixXd inducing;           // given ones, where it has rows
  bool subset = false;         // an exact process on m selected rows
  bool test = false;           // inducing inputs are the rows to predict: none is left out
  bool learn = true, learn_noise = true, learn_inducing = false;
  VectorXd residual;           // response less its trend, for the greedy selections
  MatrixXd starts;             // log parameters of the kernel, then log noise: one start per column
  VectorXd lower, upper;
  std::optional<LogPrior> prior;
  int n_starts = 1, max_iter = 200;
  double tol = 1e-5;
};
template <class V>
void fields(V& v, SparseLearnOptions& t) {
  v("select", t.select);
  v("m", t.m);
  v("given", t.inducing);
  v("subset", t.subset);
  v("test", t.test);
  v("learn", t.learn);
  v("learn_noise", t.learn_noise);
  v("learn_inducing", t.learn_inducing);
  v("residual", t.residual);
  v("starts", t.starts);
  v("lower", t.lower);
  v("upper", t.upper);
  v("prior", t.prior);
  v("n_starts", t.n_starts);
  v("max_iter", t.max_iter);
  v("tol", t.tol);
}

struct SparseLearnResult {
  VectorXd parameters;
  SparseState state;
  VectorXd trace;
  std::vector<Index> rows;  // selected, where rows were
  int dropped = 0;
  std::vector<Index> on_bound;
  Convergence convergence;
};
template <class V>
void fields(V& v, SparseLearnResult& t) {
  v("parameters", t.parameters);
  v("state", t.state);
  v("trace", t.trace);
  v("rows", positions(t.rows));
  v("dropped", t.dropped);
  v("on_bound", positions(t.on_bound));
  v("convergence", t.convergence);
}
SparseLearnResult sparse_learn(const SparseData& data, const SparseLearnOptions& options, const Rng& rng, Monitor& monitor);

// Inducing inputs that say something beyond the others, by pivoted Cholesky: the rest only make their covariance singular.
std::vector<Index> independent_inputs(const Kernel& kernel, ConstMatrixRef inducing, Monitor& monitor);

// Where inducing inputs may move: the range of the data and a tenth beyond.
MatrixXd inducing_box(ConstMatrixRef x);

// Posterior of the parameters of the kernel and, where `learn_noise`, of the noise; the last entry of `parameters` is the log noise.
struct SparseSampleData {
  MatrixXd inducing;
  VectorXd parameters;
  bool learn_noise = true;
};
template <class V>
void fields(V& v, SparseSampleData& t) {
  v("inducing", t.inducing);
  v("parameters", t.parameters);
  v("learn_noise", t.learn_noise);
}
ParameterSample sparse_parameter_sample(const SparseData& data, const SparseSampleData& at, const ParameterSampleOptions& options,
                                        const Rng& rng, Monitor& monitor);

// A fit that was kept.
struct SparseKept {
  SparseState state;
  KernelSpec kernel;

  Kernel process() const { return Kernel(kernel, state.inducing.cols()); }
};
template <class V>
void fields(V& v, SparseKept& t) {
  v("state", t.state);
  v("kernel", t.kernel);
}

struct SparsePoints {
  MatrixView x{nullptr, 0, 0}, trend{nullptr, 0, 0};
};
template <class V>
void fields(V& v, SparsePoints& t) {
  v("x", t.x);
  v("trend", t.trend);
}
// `rows`: those of the fit, which Nystrom and augmented predictions look at again; null for all others.
SparsePrediction sparse_prediction(const SparseKept& fit, const SparseData* rows, const SparsePoints& at,
                                   const SparsePredictOptions& options, Monitor& monitor);

SparseState sparse_grow(const SparseKept& fit, const SparseData& rows, Monitor& monitor);

}  // namespace granary::process
