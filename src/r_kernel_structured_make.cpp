// From R's description of a structured problem to the C++ objects, with the output that calls back into R.
#include "r_kernel_structured.h"

namespace granary::kernel {
namespace {

// R objects that stay alive as long as this does; their number is the place.
class Kept {
 public:
  Kept() = default;
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  ~Kept() {
    for (SEXP x : objects_) R_ReleaseObject(x);
  }
  SEXP operator[](int k) const { return objects_[static_cast<std::size_t>(k)]; }
  int place(SEXP x) {  // equal ones get one place
    for (std::size_t k = 0; k < objects_.size(); ++k)
      if (R_compute_identical(objects_[k], x, 16)) return static_cast<int>(k);
    R_PreserveObject(x);
    objects_.push_back(x);
    return static_cast<int>(objects_.size()) - 1;
  }

 private:
  std::vector<SEXP> objects_;
};

// Psi, loss and searches as R functions. The code of an output is its place among those seen.
class CustomOutput : public Output {
 public:
  explicit CustomOutput(SEXP problem)
      : x_(door::element(problem, "x")),
        psi_(door::element(problem, "psi")),
        loss_(door::element(problem, "loss")),
        argmax_(door::element(problem, "argmax")),
        features_(count(door::element(problem, "features"))),
        exact_(flag(door::element(problem, "exact"))) {
    SEXP y = door::element(problem, "y");
    for (R_xlen_t i = 0; y != nullptr && i < Rf_xlength(y); ++i) truth_.push_back({seen_.place(VECTOR_ELT(y, i))});
  }

  Index size() const override { return Rf_xlength(x_); }
  Index features() const override { return features_; }
  const Label& truth(Index i) const override { return truth_[static_cast<std::size_t>(i)]; }
  void add_psi(Index i, const Label& y, double factor, SparseBuilder& psi) const override {
    const VectorXd value = psi_(VECTOR_ELT(x_, i), seen_[y[0]]);
    for (Index k = 0; k < value.size(); ++k) psi.add(k, factor * value[k]);
  }
  double loss(Index i, const Label& y) const override { return y.empty() ? 0 : loss_(seen_[truth(i)[0]], seen_[y[0]]); }
  Label predict(Index i, const VectorXd& v) const override { return search(i, v, "predict", false); }
  Label most_violated(Index i, const VectorXd& v, const Search& s) const override {
    const Label y = search(i, v, s.rescale == Rescale::none ? "wrong" : name_of(s.rescale), s.root);
    return y == truth(i) ? Label() : y;
  }
  double largest_loss(Index) const override { return Convergence::unknown; }
  double radius_bound(Index) const override { return Convergence::unknown; }
  bool exact() const override { return exact_; }
  bool threadable() const override { return false; }

  SEXP object(const Label& y) const { return y.empty() ? R_NilValue : seen_[y[0]]; }

 private:
  Label search(Index i, const VectorXd& v, const std::string& mode, bool root) const {
    const Rcpp::Shield<SEXP> weights(write(v)), how(write(mode)), rooted(write(root));
    const Rcpp::Shield<SEXP> call(Rf_lang6(argmax_, weights, VECTOR_ELT(x_, i), truth_.empty() ? R_NilValue : object(truth(i)), how, rooted));
    const Rcpp::Shield<SEXP> y(Rcpp::Rcpp_fast_eval(call, R_GlobalEnv));
    if (is_null(y)) return {};
    return {seen_.place(y)};
  }

  SEXP x_;
  Callback<VectorXd, SEXP, SEXP> psi_;
  Callback<double, SEXP, SEXP> loss_;
  SEXP argmax_;
  int features_;
  bool exact_;
  mutable Kept seen_;
  std::vector<Label> truth_;
};

StructuredProblem custom(SEXP problem) {
  StructuredProblem out;
  out.output = std::make_unique<CustomOutput>(problem);
  out.space = std::make_unique<LinearSpace>(out.output->features());
  return out;
}

}  // namespace

StructuredProblem read_problem(SEXP problem) {
  SEXP type = TYPEOF(problem) == VECSXP ? door::element(problem, "type") : nullptr;
  const std::string name = type == nullptr ? "" : text(type, "type");
  if (name == "multiclass") return make_problem(read<MulticlassData>(problem, "problem"));
  if (name == "chain") return make_problem(read<ChainData>(problem, "problem"));
  if (name == "align") return make_problem(read<AlignData>(problem, "problem"));
  if (name == "cfg") return make_problem(read<CfgData>(problem, "problem"));
  if (name == "custom") return custom(problem);
  throw InputError(message("`problem` is of an unknown type \"", name, "\"."));
}

SEXP write_outputs(const Output& output, const std::vector<Label>& labels) {
  const auto* own = dynamic_cast<const CustomOutput*>(&output);
  if (own == nullptr) return write(labels);
  const Rcpp::Shield<SEXP> out(Rf_allocVector(VECSXP, static_cast<R_xlen_t>(labels.size())));
  for (std::size_t i = 0; i < labels.size(); ++i) SET_VECTOR_ELT(out, static_cast<R_xlen_t>(i), own->object(labels[i]));
  return out;
}

}  // namespace granary::kernel
