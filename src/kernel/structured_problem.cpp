#include "kernel/structured_problem.h"

#include <algorithm>
#include <limits>

#include "core/base/errors.h"
#include "core/base/monitor.h"

namespace granary::kernel {

namespace {

// A KernelSpace refers to its class kernel, which is kept here.
class OwnedKernelSpace : public KernelSpace {
 public:
  OwnedKernelSpace(const GramView& gram, std::unique_ptr<MatrixXd> similarity, Index rest)
      : KernelSpace(gram, *similarity, rest), similarity_(std::move(similarity)) {}

 private:
  std::unique_ptr<MatrixXd> similarity_;
};

std::unique_ptr<Space> make_space(const Output& output, const GramView& gram, const MatrixXd& similarity) {
  if (gram.size() == 0) return std::make_unique<LinearSpace>(output.features());
  const Index rest = output.features() - gram.rows() * similarity.rows();
  return std::make_unique<OwnedKernelSpace>(gram, std::make_unique<MatrixXd>(similarity), rest);
}

VectorXd norms_of(const GramView& gram) { return gram.size() == 0 ? VectorXd() : VectorXd(gram.diagonal()); }

InputFeatures inputs_of(InputFeatures&& x, const GramView& gram) {  // of a kernel a token is its own feature
  return gram.size() == 0 ? std::move(x) : InputFeatures::identity(gram.rows());
}

void require_codes(const std::vector<int>& codes, Index most, const char* what) {
  for (const int code : codes) require(code >= 0 && code < most, message("a ", what, " has a number that none has."));
}

}  // namespace

StructuredProblem make_problem(MulticlassData d) {
  const MatrixXd similarity = d.class_features * d.class_features.transpose();
  require(d.loss.rows() == d.loss.cols() && d.loss.rows() == d.class_features.rows(), "classes and losses do not fit together.");
  require_codes(d.codes, d.loss.rows(), "class");
  VectorXd norms = norms_of(d.gram);
  MatrixXd lambda = d.class_features;
  if (norms.size() > 0) {
    // Classes are coordinates, their similarity is in the space; unit vectors are at a squared distance of 2.
    double most = 0;
    for (Index a = 0; a < lambda.rows(); ++a)
      for (Index b = 0; b < a; ++b) most = std::max(most, (lambda.row(a) - lambda.row(b)).squaredNorm());
    norms *= most / 2;
    lambda = MatrixXd::Identity(d.loss.rows(), d.loss.rows());
  }
  StructuredProblem out;
  out.output = std::make_unique<MulticlassOutput>(inputs_of(std::move(d.x), d.gram), d.codes, lambda, d.loss, norms);
  out.space = make_space(*out.output, d.gram, similarity);
  return out;
}

StructuredProblem make_problem(ChainData d) {
  require(d.loss == "hamming" || d.loss == "zero_one", message("there is no loss \"", d.loss, "\" of sequences."));
  require_codes(d.codes, d.labels, "label");
  ChainModel model;
  model.labels = d.labels;
  model.eta = d.transition_scale;
  model.triples = d.order == 2;
  model.by_input = d.input_transitions;
  model.first = d.first;
  model.hamming = d.loss == "hamming";
  StructuredProblem out;
  out.output = std::make_unique<ChainOutput>(inputs_of(std::move(d.x), d.gram), d.start, d.codes, model, norms_of(d.gram));
  out.space = make_space(*out.output, d.gram, MatrixXd::Identity(d.labels, d.labels));
  return out;
}

StructuredProblem make_problem(AlignData d) {
  require(d.candidates.size() == d.native.size() && (d.truth.empty() || d.truth.size() == d.native.size()),
          "sequences and candidates differ in number.");
  std::vector<AlignExample> examples;
  for (std::size_t i = 0; i < d.native.size(); ++i)
    examples.push_back({std::move(d.native[i]), std::move(d.candidates[i]), d.truth.empty() ? Label() : std::move(d.truth[i])});
  StructuredProblem out;
  out.output = std::make_unique<AlignOutput>(std::move(examples), d.alphabet, d.affine);
  out.space = std::make_unique<LinearSpace>(out.output->features());
  return out;
}

Grammar make_grammar(const GrammarData& d) {
  require(d.first.size() == d.lhs.size() && d.second.size() == d.lhs.size(), "the parts of the rules differ in number.");
  std::vector<Rule> rules;
  for (std::size_t r = 0; r < d.lhs.size(); ++r) rules.push_back({d.lhs[r], d.first[r], d.second[r]});
  return Grammar(rules, d.symbols, d.words, d.start);
}

StructuredProblem make_problem(CfgData d) {
  require(d.loss == "f1" || d.loss == "zero_one", message("there is no loss \"", d.loss, "\" of trees."));
  StructuredProblem out;
  out.output = std::make_unique<CfgOutput>(make_grammar(d.grammar), std::move(d.sentences), std::move(d.trees), d.loss == "f1");
  out.space = std::make_unique<LinearSpace>(out.output->features());
  return out;
}

Predictions predict_all(const Output& output, const VectorXd& v, Monitor& monitor) {
  if (v.size() != output.features()) throw InputError(message("there must be ", output.features(), " weights, not ", v.size(), "."));
  Predictions out;
  out.scores.resize(output.size());
  for (Index i = 0; i < output.size(); ++i) {
    monitor.check();
    out.labels.push_back(output.predict(i, v));
    out.scores[i] = out.labels.back().empty() ? std::numeric_limits<double>::quiet_NaN() : output.psi(i, out.labels.back()).dot(v);
  }
  return out;
}

MatrixXd score_all(const Output& output, const VectorXd& v) {
  if (v.size() != output.features()) throw InputError(message("there must be ", output.features(), " weights, not ", v.size(), "."));
  MatrixXd out(output.size(), output.outputs());
  for (Index i = 0; i < output.size(); ++i) out.row(i) = output.all_scores(i, v).transpose();
  return out;
}

std::vector<MatrixXd> chain_marginals(const Output& output, const VectorXd& v, Monitor& monitor) {
  const auto* chains = dynamic_cast<const ChainOutput*>(&output);
  if (chains == nullptr) throw InputError("marginals are of label sequences.");
  if (v.size() != output.features()) throw InputError(message("there must be ", output.features(), " weights, not ", v.size(), "."));
  std::vector<MatrixXd> out;
  for (Index i = 0; i < output.size(); ++i) {
    monitor.check();
    out.push_back(forward_backward(chains->scores(i, v)).unary.transpose());
  }
  return out;
}

ProblemSizes problem_sizes(const Output& output) {
  ProblemSizes out;
  out.loss.resize(output.size());
  out.radius.resize(output.size());
  for (Index i = 0; i < output.size(); ++i) {
    out.loss[i] = output.largest_loss(i);
    out.radius[i] = output.radius_bound(i);
  }
  out.features = static_cast<double>(output.features());
  return out;
}

}  // namespace granary::kernel
