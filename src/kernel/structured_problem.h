// Structured problems as data: what each kind of output is made of, and the Output and Space that learners want.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "core/sequence/cky.h"
#include "kernel/structured_align.h"
#include "kernel/structured_cfg.h"
#include "kernel/structured_chain.h"
#include "kernel/structured_multiclass.h"
#include "kernel/structured_space.h"

namespace granary::kernel {

struct StructuredProblem {
  std::unique_ptr<Output> output;
  std::unique_ptr<Space> space;
};

// `gram`: the kernel matrix of the inputs, where there is one; it is referred to. `codes` may be empty, for prediction only.
using GramView = Eigen::Map<const MatrixXd>;

struct MulticlassData {
  std::string type;
  InputFeatures x;
  GramView gram{nullptr, 0, 0};
  std::vector<int> codes;
  MatrixXd class_features, loss;
};
template <class V>
void fields(V& v, MulticlassData& t) {
  v("type", t.type);
  v("x", t.x);
  v("gram", t.gram);
  v("codes", t.codes);
  v("class_features", t.class_features);
  v("loss", t.loss);
}

struct ChainData {
  std::string type;
  InputFeatures x;
  GramView gram{nullptr, 0, 0};
  std::vector<int> codes;
  std::vector<Index> start;
  Index labels = 0;
  double transition_scale = 1;
  int order = 1;
  bool input_transitions = false, first = false;
  std::string loss = "hamming";  // or zero-one
};
template <class V>
void fields(V& v, ChainData& t) {
  v("type", t.type);
  v("x", t.x);
  v("gram", t.gram);
  v("codes", t.codes);
  v("start", t.start);
  v("labels", t.labels);
  v("transition_scale", t.transition_scale);
  v("order", t.order);
  v("input_transitions", t.input_transitions);
  v("first", t.first);
  v("loss", t.loss);
}

struct AlignData {
  std::string type;
  std::vector<std::vector<int>> native;
  std::vector<std::vector<std::vector<int>>> candidates;
  std::vector<Label> truth;
  Index alphabet = 0;
  bool affine = false;
};
template <class V>
void fields(V& v, AlignData& t) {
  v("type", t.type);
  v("native", t.native);
  v("candidates", t.candidates);
  v("truth", t.truth);
  v("alphabet", t.alphabet);
  v("affine", t.affine);
}

// Rules as whole numbers from 0 on; `second` is -1 for rules of words.
struct GrammarData {
  std::vector<int> lhs, first, second;
  int symbols = 0, words = 0, start = 0;
};
template <class V>
void fields(V& v, GrammarData& t) {
  v("lhs", t.lhs);
  v("first", t.first);
  v("second", t.second);
  v("symbols", t.symbols);
  v("words", t.words);
  v("start", t.start);
}

struct CfgData {
  std::string type;
  GrammarData grammar;
  std::vector<std::vector<int>> sentences;
  std::vector<Label> trees;
  std::string loss = "f1";  // or zero-one
};
template <class V>
void fields(V& v, CfgData& t) {
  v("type", t.type);
  v("grammar", t.grammar);
  v("sentences", t.sentences);
  v("trees", t.trees);
  v("loss", t.loss);
}

Grammar make_grammar(const GrammarData& data);
StructuredProblem make_problem(MulticlassData data);
StructuredProblem make_problem(ChainData data);
StructuredProblem make_problem(AlignData data);
StructuredProblem make_problem(CfgData data);

// What can be asked of any problem.
struct Predictions {
  std::vector<Label> labels;
  VectorXd scores;  // <w, Psi>; NaN where there is no output
};
Predictions predict_all(const Output& output, const VectorXd& v, Monitor& monitor);
MatrixXd score_all(const Output& output, const VectorXd& v);                                    // F(x_i, y) where outputs can be listed
std::vector<MatrixXd> chain_marginals(const Output& output, const VectorXd& v, Monitor& monitor);  // T x K of each sequence

// What the theory needs to know: the largest loss and a bound on ||dPsi|| for each example.
struct ProblemSizes {
  VectorXd loss, radius;
  double features = 0;
};
template <class V>
void fields(V& v, ProblemSizes& t) {
  v("loss", any_number(t.loss));
  v("radius", any_number(t.radius));
  v("features", t.features);
}
ProblemSizes problem_sizes(const Output& output);

}  // namespace granary::kernel
