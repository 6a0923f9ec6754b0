// The classifier as a user asks for it: the search for its parameters from several starts, then the posterior at them; and the
// chain over parameters. The model is that of gp_classify.h.
#pragma once

#include <optional>

#include "process/gp_classify.h"
#include "process/gp_parameters.h"
#include "process/gp_sampling.h"

namespace granary::process {

struct ClassifySettings {
  Link link = Link::probit;
  Inference method = Inference::ep;
  double mean = 0;
  bool learn_mean = false;
  double tol = 1e-6;
  int max_iter = 100;
  bool parallel = true;
  double damping = 0;
  int threads = 1;

  ClassifyOptions options() const;
};
template <class V>
void fields(V& v, ClassifySettings& t) {
  v("link", t.link);
  v("method", t.method);
  v("mean", t.mean);
  v("learn_mean", t.learn_mean);
  v("tol", t.tol);
  v("max_iter", t.max_iter);
  v("parallel", t.parallel);
  v("damping", t.damping);
  v("threads", t.threads);
}

struct ClassifyProblem {
  MatrixView x{nullptr, 0, 0};
  VectorView y{nullptr, 0};  // -1, 1
  KernelSpec kernel;
  ClassifySettings settings;

  ClassifyModel model() const;
};
template <class V>
void fields(V& v, ClassifyProblem& t) {
  v("x", t.x);
  v("y", t.y);
  v("kernel", t.kernel);
  v("settings", t.settings);
}
inline void check(const ClassifyProblem& t) { require(t.x.rows() == t.y.size(), "`x` has not one row per label."); }

struct ClassifyState : ClassifyProblem {
  VectorView tau{nullptr, 0}, weight{nullptr, 0};
};
template <class V>
void fields(V& v, ClassifyState& t) {
  fields(v, static_cast<ClassifyProblem&>(t));
  v("tau", t.tau);
  v("weight", t.weight);
}
inline void check(const ClassifyState& t) {
  check(static_cast<const ClassifyProblem&>(t));
  require(t.tau.size() == t.y.size() && t.weight.size() == t.y.size(), "`tau` and `weight` have not one entry per row.");
}

// The first start is `start`, the others lie within a factor of e^2 of it.
struct ClassifySearch {
  VectorXd start, lower, upper;  // logarithms; the mean, where it is learnt, comes last and as it is
  std::optional<LogPrior> prior;
  int n_starts = 3;
};
template <class V>
void fields(V& v, ClassifySearch& t) {
  v("start", t.start);
  v("lower", t.lower);
  v("upper", t.upper);
  v("prior", t.prior);
  v("n_starts", t.n_starts);
}

struct ClassifyFit {
  VectorXd parameters;  // none: they were given
  VectorXd starts;      // log evidence reached from each
  std::vector<Index> on_lower, on_upper;
  LatentPosterior posterior;
  Convergence search;
};
template <class V>
void fields(V& v, ClassifyFit& t) {
  v("parameters", t.parameters);
  v("starts", t.starts);
  v("on_lower", positions(t.on_lower));
  v("on_upper", positions(t.on_upper));
  v("posterior", t.posterior);
  v("search", t.search);
}
// Without a start parameters stay as they are.
ClassifyFit gp_classify_fit(const ClassifyProblem& problem, const ClassifySearch& search, const Rng& rng, Monitor& monitor);

ParameterSample classify_parameter_sample(const ClassifyProblem& problem, ConstVectorRef start, const ParameterSampleOptions& options,
                                          const Rng& rng, Monitor& monitor);

// For the lower bound of the evidence: the posterior, and further labels with what is predicted of them.
struct LowerBoundData {
  LatentPosterior posterior;
  VectorXd y, mean, variance;
  int nodes = 32;
};
template <class V>
void fields(V& v, LowerBoundData& t) {
  v("posterior", t.posterior);
  v("y", t.y);
  v("mean", t.mean);
  v("variance", t.variance);
  v("nodes", t.nodes);
}

}  // namespace granary::process
