// From R's description of a structured problem to the C++ objects, with the output that calls back into R.
#include "kernel/structured_align.h"
#include "kernel/structured_cfg.h"
#include "kernel/structured_chain.h"
#include "kernel/structured_multiclass.h"
#include "r_kernel_structured.h"

namespace granary::kernel {
namespace {

bool has(const Rcpp::List& list, const char* name) { return list.containsElementNamed(name) && !Rf_isNull(list[name]); }

// Psi, loss and searches as R functions. Outputs are kept in a table, their code is the place there; equal ones get one place.
class CustomOutput : public Output {
 public:
  explicit CustomOutput(const Rcpp::List& problem)
      : x_(problem["x"]),
        psi_(Rcpp::as<Rcpp::Function>(problem["psi"])),
        loss_(Rcpp::as<Rcpp::Function>(problem["loss"])),
        argmax_(Rcpp::as<Rcpp::Function>(problem["argmax"])),
        features_(Rcpp::as<int>(problem["features"])),
        exact_(Rcpp::as<bool>(problem["exact"])),
        identical_(Rcpp::Environment::base_env()["identical"]) {
    if (!has(problem, "y")) return;
    const Rcpp::List y = problem["y"];
    for (R_xlen_t i = 0; i < y.size(); ++i) truth_.push_back(encode(y[i]));
  }

  Index size() const override { return static_cast<Index>(x_.size()); }
  Index features() const override { return features_; }
  const Label& truth(Index i) const override { return truth_[static_cast<std::size_t>(i)]; }
  void add_psi(Index i, const Label& y, double factor, SparseBuilder& psi) const override {
    const Rcpp::NumericVector value = psi_(x_[i], seen_[static_cast<std::size_t>(y[0])]);
    for (R_xlen_t k = 0; k < value.size(); ++k) psi.add(k, factor * value[k]);
  }
  double loss(Index i, const Label& y) const override {
    if (y.empty()) return 0;
    return Rcpp::as<double>(loss_(seen_[static_cast<std::size_t>(truth(i)[0])], seen_[static_cast<std::size_t>(y[0])]));
  }
  Label predict(Index i, const VectorXd& v) const override { return search(i, v, "predict", false); }
  Label most_violated(Index i, const VectorXd& v, const Search& s) const override {
    const Label y = search(i, v,
                           s.rescale == Rescale::none     ? "wrong"
                           : s.rescale == Rescale::margin ? "margin"
                                                          : "slack",
                           s.root);
    return y == truth(i) ? Label() : y;
  }
  double largest_loss(Index) const override { return Convergence::unknown; }
  double radius_bound(Index) const override { return Convergence::unknown; }
  bool exact() const override { return exact_; }
  bool threadable() const override { return false; }

  SEXP object(const Label& y) const { return y.empty() ? R_NilValue : static_cast<SEXP>(seen_[static_cast<std::size_t>(y[0])]); }

 private:
  Label search(Index i, const VectorXd& v, const char* mode, bool root) const {
    const SEXP right = truth_.empty() ? R_NilValue : object(truth(i));
    const Rcpp::RObject y = argmax_(Rcpp::wrap(v), x_[i], right, std::string(mode), root);
    if (y.isNULL()) return {};
    return encode(y);
  }
  Label encode(const Rcpp::RObject& y) const {
    for (std::size_t k = 0; k < seen_.size(); ++k) {
      if (Rcpp::as<bool>(identical_(seen_[k], y))) return {static_cast<int>(k)};
    }
    seen_.push_back(y);
    return {static_cast<int>(seen_.size()) - 1};
  }

  Rcpp::List x_;
  Rcpp::Function psi_, loss_, argmax_;
  int features_;
  bool exact_;
  Rcpp::Function identical_;
  mutable std::vector<Rcpp::RObject> seen_;
  std::vector<Label> truth_;
};

InputFeatures input_features(const Rcpp::List& problem) {
  if (has(problem, "gram")) return InputFeatures::identity(Rcpp::as<Rcpp::NumericMatrix>(problem["gram"]).nrow());
  const SEXP x = problem["x"];
  if (Rf_isS4(x)) return InputFeatures::sparse(Rcpp::as<Eigen::Map<SparseMatrix>>(x));
  return InputFeatures::dense(Rcpp::as<Eigen::Map<MatrixXd>>(x));
}

std::vector<int> codes(const Rcpp::List& problem, const char* name) {
  return has(problem, name) ? Rcpp::as<std::vector<int>>(problem[name]) : std::vector<int>();
}

// ||phi||^2 of the inputs of a kernel.
VectorXd kernel_norms(const Rcpp::List& problem) {
  if (!has(problem, "gram")) return VectorXd();
  return Rcpp::as<Eigen::Map<MatrixXd>>(problem["gram"]).diagonal();
}

std::unique_ptr<Output> multiclass(const Rcpp::List& problem) {
  const MatrixXd loss = Rcpp::as<MatrixXd>(problem["loss"]);
  VectorXd norms = kernel_norms(problem);
  MatrixXd lambda = Rcpp::as<MatrixXd>(problem["class_features"]);
  if (norms.size() >
      0) {  // classes are coordinates, their similarity is in the space; unit vectors are at a squared distance of 2
    double most = 0;
    for (Index a = 0; a < lambda.rows(); ++a) {
      for (Index b = 0; b < a; ++b) most = std::max(most, (lambda.row(a) - lambda.row(b)).squaredNorm());
    }
    norms *= most / 2;
    lambda = MatrixXd::Identity(loss.rows(), loss.rows());
  }
  return std::make_unique<MulticlassOutput>(input_features(problem), codes(problem, "codes"), lambda, loss, norms);
}

std::unique_ptr<Output> chain(const Rcpp::List& problem) {
  ChainModel model;
  model.labels = Rcpp::as<int>(problem["labels"]);
  model.eta = Rcpp::as<double>(problem["transition_scale"]);
  model.triples = Rcpp::as<int>(problem["order"]) == 2;
  model.by_input = Rcpp::as<bool>(problem["input_transitions"]);
  model.first = Rcpp::as<bool>(problem["first"]);
  model.hamming = Rcpp::as<std::string>(problem["loss"]) == "hamming";
  std::vector<Index> start;
  for (int s : Rcpp::as<std::vector<int>>(problem["start"])) start.push_back(s);
  return std::make_unique<ChainOutput>(input_features(problem), start, codes(problem, "codes"), model, kernel_norms(problem));
}

std::unique_ptr<Output> align(const Rcpp::List& problem) {
  const Rcpp::List native = problem["native"], candidates = problem["candidates"];
  std::vector<AlignExample> examples(static_cast<std::size_t>(native.size()));
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const R_xlen_t at = static_cast<R_xlen_t>(i);
    examples[i].native = Rcpp::as<std::vector<int>>(native[at]);
    const Rcpp::List others = candidates[at];
    for (R_xlen_t c = 0; c < others.size(); ++c) examples[i].candidates.push_back(Rcpp::as<std::vector<int>>(others[c]));
    if (has(problem, "truth")) examples[i].truth = Rcpp::as<Label>(Rcpp::as<Rcpp::List>(problem["truth"])[at]);
  }
  return std::make_unique<AlignOutput>(std::move(examples), Rcpp::as<int>(problem["alphabet"]),
                                       Rcpp::as<bool>(problem["affine"]));
}

std::vector<std::vector<int>> integer_lists(const Rcpp::List& list) {
  std::vector<std::vector<int>> out;
  for (R_xlen_t i = 0; i < list.size(); ++i) out.push_back(Rcpp::as<std::vector<int>>(list[i]));
  return out;
}

std::unique_ptr<Output> cfg(const Rcpp::List& problem) {
  std::vector<Label> trees;
  if (has(problem, "trees")) trees = integer_lists(problem["trees"]);
  return std::make_unique<CfgOutput>(as_grammar(problem["grammar"]), integer_lists(problem["sentences"]), trees,
                                     Rcpp::as<std::string>(problem["loss"]) == "f1");
}

}  // namespace

Grammar as_grammar(const Rcpp::List& grammar) {
  const std::vector<int> lhs = Rcpp::as<std::vector<int>>(grammar["lhs"]), first = Rcpp::as<std::vector<int>>(grammar["first"]),
                         second = Rcpp::as<std::vector<int>>(grammar["second"]);
  std::vector<Rule> rules;
  for (std::size_t r = 0; r < lhs.size(); ++r) rules.push_back({lhs[r], first[r], second[r]});
  return Grammar(rules, Rcpp::as<int>(grammar["symbols"]), Rcpp::as<int>(grammar["words"]), Rcpp::as<int>(grammar["start"]));
}

std::unique_ptr<Output> make_output(const Rcpp::List& problem) {
  const std::string type = Rcpp::as<std::string>(problem["type"]);
  if (type == "align") return align(problem);
  if (type == "cfg") return cfg(problem);
  if (type == "multiclass") return multiclass(problem);
  if (type == "chain") return chain(problem);
  return std::make_unique<CustomOutput>(problem);
}

namespace {

// A KernelSpace refers to its matrices; these are kept here.
class OwnedKernelSpace : public KernelSpace {
 public:
  OwnedKernelSpace(const Eigen::Map<MatrixXd>& gram, std::unique_ptr<MatrixXd> similarity, Index rest)
      : KernelSpace(gram, *similarity, rest), similarity_(std::move(similarity)) {}

 private:
  std::unique_ptr<MatrixXd> similarity_;
};

}  // namespace

std::unique_ptr<Space> make_space(const Rcpp::List& problem, const Output& output) {
  if (!has(problem, "gram")) return std::make_unique<LinearSpace>(output.features());
  const Eigen::Map<MatrixXd> gram = Rcpp::as<Eigen::Map<MatrixXd>>(problem["gram"]);
  auto similarity = std::make_unique<MatrixXd>();
  if (Rcpp::as<std::string>(problem["type"]) == "multiclass") {
    const Eigen::Map<MatrixXd> lambda = Rcpp::as<Eigen::Map<MatrixXd>>(problem["class_features"]);
    *similarity = lambda * lambda.transpose();
  } else {
    const Index k = Rcpp::as<int>(problem["labels"]);
    *similarity = MatrixXd::Identity(k, k);
  }
  const Index rest = output.features() - gram.rows() * similarity->rows();
  return std::make_unique<OwnedKernelSpace>(gram, std::move(similarity), rest);
}

SEXP decode(const Output& output, const Label& y) {
  if (const auto* custom = dynamic_cast<const CustomOutput*>(&output)) return custom->object(y);
  return Rcpp::wrap(y);
}

}  // namespace granary::kernel
