// Exports of learning with structured outputs. Conversion only: the methods are in kernel/structured_*.h, core/chain.h,
// core/alignment.h and core/cky.h.
#include "r_kernel_structured.h"

#include "core/sequence/alignment.h"
#include "core/sequence/chain.h"
#include "kernel/structured_crf.h"
#include "kernel/structured_multiclass.h"
#include "kernel/structured_perceptron.h"
#include "kernel/structured_svm.h"

using namespace granary;
using namespace granary::kernel;

namespace {

StructuredSvmOptions as_svm_options(const Rcpp::List& list) {
  StructuredSvmOptions options;
  const std::string penalty = Rcpp::as<std::string>(list["penalty"]), rescale = Rcpp::as<std::string>(list["rescale"]);
  options.penalty = penalty == "linear"    ? SlackPenalty::linear
                    : penalty == "squared" ? SlackPenalty::squared
                                           : SlackPenalty::none;
  options.rescale = rescale == "margin" ? Rescale::margin : rescale == "slack" ? Rescale::slack : Rescale::none;
  options.cost = Rcpp::as<double>(list["cost"]);
  options.eps = Rcpp::as<double>(list["tol"]);
  options.full = Rcpp::as<std::string>(list["optimize"]) == "full";
  options.max_sweeps = Rcpp::as<int>(list["max_iter"]);
  options.prune = Rcpp::as<int>(list["prune"]);
  options.threads = Rcpp::as<int>(list["threads"]);
  return options;
}

Rcpp::DataFrame as_trace(const std::vector<SweepRecord>& records) {
  std::vector<double> dual, primal, violation;
  std::vector<int> cuts, added;
  std::vector<bool> complete;
  for (const SweepRecord& r : records) {
    dual.push_back(r.dual);
    primal.push_back(r.primal);
    violation.push_back(r.violation);
    cuts.push_back(static_cast<int>(r.cuts));
    added.push_back(static_cast<int>(r.added));
    complete.push_back(r.complete);
  }
  return Rcpp::DataFrame::create(Rcpp::Named("dual") = dual, Rcpp::Named("primal") = primal, Rcpp::Named("violation") = violation,
                                 Rcpp::Named("cuts") = cuts, Rcpp::Named("added") = added, Rcpp::Named("complete") = complete);
}

// The cuts that carry weight: example (from 1), loss, dual variable of the paper, and the output.
Rcpp::List as_cuts(const Output& output, const std::vector<std::vector<Cut>>& sets) {
  std::vector<int> example;
  std::vector<double> loss, alpha;
  std::size_t count = 0;
  for (const std::vector<Cut>& set : sets)
    for (const Cut& cut : set) count += cut.b > 0;
  Rcpp::List label(static_cast<R_xlen_t>(count));
  for (std::size_t i = 0; i < sets.size(); ++i) {
    for (const Cut& cut : sets[i]) {
      if (!(cut.b > 0)) continue;
      label[static_cast<R_xlen_t>(example.size())] = decode(output, cut.label);
      example.push_back(static_cast<int>(i) + 1);
      loss.push_back(cut.loss);
      alpha.push_back(cut.b * cut.factor);
    }
  }
  return Rcpp::List::create(Rcpp::Named("example") = example, Rcpp::Named("loss") = loss, Rcpp::Named("alpha") = alpha,
                            Rcpp::Named("output") = label);
}

}  // namespace

// [[Rcpp::export(rng = false)]]
Rcpp::List core_structured_svm(Rcpp::List problem, Rcpp::List settings, SEXP progress) {
  RMonitor monitor(progress);
  const auto output = make_output(problem);
  const auto space = make_space(problem, *output);
  const StructuredSvmResult fit = structured_svm(*output, *space, as_svm_options(settings), monitor);
  std::vector<double> violation, gain;
  for (const CutRecord& record : fit.history) {
    violation.push_back(record.violation);
    gain.push_back(record.gain);
  }
  return Rcpp::List::create(
      Rcpp::Named("weights") = fit.weights, Rcpp::Named("slacks") = fit.slacks, Rcpp::Named("losses") = fit.losses,
      Rcpp::Named("primal") = fit.primal, Rcpp::Named("dual") = fit.dual, Rcpp::Named("gap_bound") = fit.gap_bound,
      Rcpp::Named("radius") = fit.radius, Rcpp::Named("cuts") = static_cast<double>(fit.cuts),
      Rcpp::Named("cuts_added") = static_cast<double>(fit.cuts_added), Rcpp::Named("support") = static_cast<double>(fit.support),
      Rcpp::Named("heuristic") = fit.heuristic, Rcpp::Named("trace") = as_trace(fit.trace),
      Rcpp::Named("history") = Rcpp::DataFrame::create(Rcpp::Named("violation") = violation, Rcpp::Named("gain") = gain),
      Rcpp::Named("active") = as_cuts(*output, fit.working_set), Rcpp::Named("convergence") = granary::as_list(fit.convergence));
}

// The predicted outputs, and their scores <w, Psi>.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_structured_predict(Rcpp::List problem, const Eigen::Map<Eigen::VectorXd> weights, SEXP progress) {
  RMonitor monitor(progress);
  const auto output = make_output(problem);
  const VectorXd v = weights;
  Rcpp::List found(output->size());
  VectorXd scores(output->size());
  for (Index i = 0; i < output->size(); ++i) {
    monitor.check();
    const Label y = output->predict(i, v);
    scores[i] = y.empty() ? NA_REAL : output->psi(i, y).dot(v);
    found[i] = decode(*output, y);
  }
  return Rcpp::List::create(Rcpp::Named("outputs") = found, Rcpp::Named("scores") = scores);
}

// What the theory needs to know of a problem: the largest loss and a bound on ||dPsi|| for each example.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_structured_sizes(Rcpp::List problem) {
  const auto output = make_output(problem);
  VectorXd loss(output->size()), radius(output->size());
  for (Index i = 0; i < output->size(); ++i) {
    loss[i] = output->largest_loss(i);
    radius[i] = output->radius_bound(i);
  }
  return Rcpp::List::create(Rcpp::Named("loss") = loss, Rcpp::Named("radius") = radius,
                            Rcpp::Named("features") = static_cast<double>(output->features()));
}

// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector core_structured_bounds(Rcpp::List settings, double n, double radius, double loss) {
  const StructuredSvmOptions options = as_svm_options(settings);
  return Rcpp::NumericVector::create(cut_bound(options, n, radius, loss), gain_bound(options, n, radius, loss));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_structured_perceptron(Rcpp::List problem, int max_epochs, bool averaged, bool shuffle, Rcpp::NumericVector seed,
                                      SEXP progress) {
  RMonitor monitor(progress);
  const auto output = make_output(problem);
  const auto space = make_space(problem, *output);
  Rng rng = make_rng(seed);
  PerceptronOptions options;
  options.max_epochs = max_epochs;
  options.averaged = averaged;
  options.shuffle = shuffle;
  const PerceptronResult fit = structured_perceptron(*output, *space, options, rng, monitor);
  return Rcpp::List::create(Rcpp::Named("weights") = fit.weights, Rcpp::Named("mistakes") = fit.mistakes,
                            Rcpp::Named("convergence") = granary::as_list(fit.convergence));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_structured_crf(Rcpp::List problem, double cost, double tol, int max_iter, int threads, SEXP progress) {
  RMonitor monitor(progress);
  const auto output = make_output(problem);
  CrfOptions options;
  options.cost = cost;
  options.tol = tol;
  options.max_iter = max_iter;
  options.threads = threads;
  const CrfResult fit = structured_crf(dynamic_cast<const ChainOutput&>(*output), options, monitor);
  return Rcpp::List::create(Rcpp::Named("weights") = fit.weights, Rcpp::Named("objective") = fit.objective,
                            Rcpp::Named("log_likelihood") = fit.log_likelihood,
                            Rcpp::Named("convergence") = granary::as_list(fit.convergence));
}

// F(x_i, y) for all classes, one row per example.
// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd core_multiclass_scores(Rcpp::List problem, const Eigen::Map<Eigen::VectorXd> weights) {
  const auto output = make_output(problem);
  const auto& classes = dynamic_cast<const MulticlassOutput&>(*output);
  const VectorXd v = weights;
  MatrixXd scores(classes.size(), Rcpp::as<Eigen::Map<Eigen::MatrixXd>>(problem["loss"]).rows());
  for (Index i = 0; i < classes.size(); ++i) scores.row(i) = classes.scores(i, v).transpose();
  return scores;
}

// Marginals of the labels under P(y|x) proportional to exp F(x, y): a T x K matrix per sequence.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_chain_marginals(Rcpp::List problem, const Eigen::Map<Eigen::VectorXd> weights, SEXP progress) {
  RMonitor monitor(progress);
  const auto output = make_output(problem);
  const auto& chains = dynamic_cast<const ChainOutput&>(*output);
  const VectorXd v = weights;
  Rcpp::List result(chains.size());
  for (Index i = 0; i < chains.size(); ++i) {
    monitor.check();
    result[i] = Rcpp::wrap(MatrixXd(forward_backward(chains.scores(i, v)).unary.transpose()));
  }
  return result;
}

// unary: T x K.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_viterbi(const Eigen::Map<Eigen::MatrixXd> unary, std::vector<double> pair, std::vector<double> triple, int k) {
  ChainScores scores;
  scores.unary = unary.transpose();
  scores.pair = std::move(pair);
  scores.triple = std::move(triple);
  const std::vector<ChainPath> paths = viterbi(scores, k);
  Eigen::MatrixXi labels(scores.length(), static_cast<Index>(paths.size()));
  VectorXd values(static_cast<Index>(paths.size()));
  for (std::size_t r = 0; r < paths.size(); ++r) {
    for (Index t = 0; t < scores.length(); ++t) {
      labels(t, static_cast<Index>(r)) = paths[r].labels[static_cast<std::size_t>(t)] + 1;
    }
    values[static_cast<Index>(r)] = paths[r].score;
  }
  return Rcpp::List::create(Rcpp::Named("labels") = labels, Rcpp::Named("score") = values);
}

// Symbols from 0 on.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_smith_waterman(std::vector<int> x, std::vector<int> y, const Eigen::Map<Eigen::MatrixXd> pairs, double gap_open,
                               double gap_extend) {
  const Alignment a = smith_waterman(x, y, {pairs, gap_open, gap_extend});
  return Rcpp::List::create(Rcpp::Named("score") = a.score, Rcpp::Named("start") = std::vector<int>{a.start_x, a.start_y},
                            Rcpp::Named("steps") = a.steps);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_cky(Rcpp::List grammar, std::vector<int> words, const Eigen::Map<Eigen::VectorXd> weights, int k) {
  Rcpp::List trees;
  std::vector<double> scores;
  for (const ParseTree& tree : cky(as_grammar(grammar), words, weights, k)) {
    trees.push_back(Rcpp::wrap(tree.rules));
    scores.push_back(tree.score);
  }
  return Rcpp::List::create(Rcpp::Named("trees") = trees, Rcpp::Named("score") = scores);
}
