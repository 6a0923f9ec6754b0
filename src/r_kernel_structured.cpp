// Exports of learning with structured outputs.
#include "r_kernel_structured.h"

#include "core/sequence/alignment.h"
#include "kernel/structured_crf.h"
#include "kernel/structured_generative.h"
#include "kernel/structured_perceptron.h"
#include "kernel/structured_svm.h"

using namespace granary;
using namespace granary::kernel;

GRANARY_DEFAULTS(structured_svm, StructuredSvmOptions);

// [[Rcpp::export(rng = false)]]
SEXP core_structured_svm(SEXP problem, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const StructuredProblem p = read_problem(problem);
    StructuredSvmResult fit = structured_svm(*p.output, *p.space, read<StructuredSvmOptions>(options), monitor);
    ActiveCuts active = fit.active();
    ListWriter out;
    fields(out, fit);
    out("active", columns(active.cuts));
    out("outputs", write_outputs(*p.output, active.labels));
    return out.list();
  });
}

// The predicted outputs, and their scores <w, Psi>.
// [[Rcpp::export(rng = false)]]
SEXP core_structured_predict(SEXP problem, SEXP weights, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const StructuredProblem p = read_problem(problem);
    const Predictions found = predict_all(*p.output, vector(weights), monitor);
    const Rcpp::Shield<SEXP> outputs(write_outputs(*p.output, found.labels));
    return write_list("outputs", static_cast<SEXP>(outputs), "scores", found.scores);
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_structured_sizes(SEXP problem) {
  return crossing([&] { return write(problem_sizes(*read_problem(problem).output)); });
}

// Most cuts, least gain.
// [[Rcpp::export(rng = false)]]
SEXP core_structured_bounds(SEXP options, SEXP n, SEXP radius, SEXP loss) {
  return crossing([&] {
    const auto o = read<StructuredSvmOptions>(options);
    return write(std::vector<double>{cut_bound(o, number(n), number(radius), number(loss)), gain_bound(o, number(n), number(radius), number(loss))});
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_structured_perceptron(SEXP problem, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const StructuredProblem p = read_problem(problem);
    Rng draws = rng(seed);
    return write(structured_perceptron(*p.output, *p.space, read<PerceptronOptions>(options), draws, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_structured_crf(SEXP problem, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(structured_crf(*read_problem(problem).output, read<CrfOptions>(options), monitor));
  });
}

// Weights of the generative model of sequences, trees, alignments.
// [[Rcpp::export(rng = false)]]
SEXP core_hidden_markov(SEXP problem, SEXP options) {
  return crossing([&] { return write(hidden_markov(read<ChainData>(problem), read<GenerativeOptions>(options))); });
}
// [[Rcpp::export(rng = false)]]
SEXP core_rule_shares(SEXP problem, SEXP options) {
  return crossing([&] { return write(rule_shares(read<CfgData>(problem), read<GenerativeOptions>(options))); });
}
// [[Rcpp::export(rng = false)]]
SEXP core_log_odds(SEXP problem, SEXP options) {
  return crossing([&] { return write(log_odds(read<AlignData>(problem), read<GenerativeOptions>(options))); });
}

// F(x_i, y) for all classes, one row per example.
// [[Rcpp::export(rng = false)]]
SEXP core_multiclass_scores(SEXP problem, SEXP weights) {
  return crossing([&] { return write(score_all(*read_problem(problem).output, vector(weights))); });
}

// Marginals of the labels under P(y|x) proportional to exp F(x, y): a T x K matrix per sequence.
// [[Rcpp::export(rng = false)]]
SEXP core_chain_marginals(SEXP problem, SEXP weights, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(chain_marginals(*read_problem(problem).output, vector(weights), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_class_features(SEXP similarity) {
  return crossing([&] { return write(class_features_of(matrix(similarity))); });
}

// Symbols from 0 on; `gaps` are the scores of the first and of further symbols beside a gap.
// [[Rcpp::export(rng = false)]]
SEXP core_smith_waterman(SEXP x, SEXP y, SEXP pairs, SEXP gaps) {
  return crossing([&] {
    return write(smith_waterman(read<std::vector<int>>(x, "x"), read<std::vector<int>>(y, "y"),
                                {matrix(pairs), vector(gaps)[0], vector(gaps)[1]}));
  });
}
