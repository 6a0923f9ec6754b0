#include <algorithm>
#include <functional>
#include <limits>

#include "core/base/errors.h"
#include "core/random/rng.h"
#include "harness.h"
#include "kernel/structured_generative.h"
#include "kernel/structured_problem.h"
#include "kernel/structured_chain.h"
#include "kernel/structured_crf.h"
#include "kernel/structured_multiclass.h"
#include "kernel/structured_perceptron.h"
#include "kernel/structured_svm.h"

using namespace granary;
using namespace granary::kernel;

namespace {

const std::vector<Search> searches = {
    {Rescale::none, false}, {Rescale::margin, false}, {Rescale::margin, true}, {Rescale::slack, false}, {Rescale::slack, true}};

MatrixXd tiny_x() {
  MatrixXd x(6, 2);
  x << 2, 0, 1.5, .5, 0, 2, .5, 1, -1, -1, .6, .4;
  return x;
}

MatrixXd zero_one(Index k) { return MatrixXd::Ones(k, k) - MatrixXd::Identity(k, k); }

MulticlassOutput tiny(const MatrixXd& loss) {
  return MulticlassOutput(InputFeatures::dense(tiny_x()), {0, 0, 1, 1, 2, 2}, MatrixXd::Identity(3, 3), loss);
}

MatrixXd tiny_costs() {
  MatrixXd d(3, 3);
  d << 0, 1, 2, 1, 0, 2, 2, 2, 0;
  return d;
}

StructuredSvmOptions options_for(SlackPenalty penalty, Rescale rescale, double cost, double eps) {
  StructuredSvmOptions o;
  o.penalty = penalty;
  o.rescale = rescale;
  o.cost = cost;
  o.eps = eps;
  o.max_sweeps = 10000;
  return o;
}

MatrixXd random_matrix(Rng& rng, Index rows, Index cols) {
  MatrixXd x(rows, cols);
  for (Index j = 0; j < cols; ++j) {
    for (Index i = 0; i < rows; ++i) x(i, j) = rng.normal();
  }
  return x;
}

ChainOutput random_chains(Rng& rng, const ChainModel& model, Index n, Index longest, Index p) {
  std::vector<Index> start = {0};
  for (Index i = 0; i < n; ++i) start.push_back(start.back() + 1 + i % longest);
  std::vector<int> labels;
  for (Index t = 0; t < start.back(); ++t) labels.push_back(static_cast<int>(rng.uniform() * static_cast<double>(model.labels)));
  return ChainOutput(InputFeatures::dense(random_matrix(rng, start.back(), p)), start, labels, model);
}

void for_all_sequences(Index k, Index t, const std::function<void(const Label&)>& visit) {
  Label y(static_cast<std::size_t>(t), 0);
  for (;;) {
    visit(y);
    std::size_t j = 0;
    while (j < y.size() && ++y[j] == static_cast<int>(k)) y[j++] = 0;
    if (j == y.size()) return;
  }
}

}  // namespace

TEST("structured SVM: the exact optima of the tiny multiclass problem") {
  Monitor monitor;
  for (bool full : {false, true}) {
    const MulticlassOutput plain = tiny(zero_one(3));
    LinearSpace space(plain.features());
    StructuredSvmOptions o = options_for(SlackPenalty::linear, Rescale::none, 3, 1e-7);
    o.variant = full ? Variant::full : Variant::block;
    StructuredSvmResult fit = structured_svm(plain, space, o, monitor);
    CHECK(fit.convergence.converged);
    CHECK_NEAR(fit.primal, 1.6575, 1e-6);
    const double v[] = {.45, -.25, -.20, -.20, .50, -.30};
    for (int j = 0; j < 6; ++j) CHECK_NEAR(fit.weights[j], v[j], 1e-6);

    const MulticlassOutput costs = tiny(tiny_costs());
    LinearSpace second(costs.features());
    o.rescale = Rescale::slack;
    fit = structured_svm(costs, second, o, monitor);
    CHECK_NEAR(fit.primal, 2.44041667, 1e-6);
    const double u[] = {.44166667, -.20833333, -.23333333, -.10833333, .54166667, -.43333333};
    for (int j = 0; j < 6; ++j) CHECK_NEAR(fit.weights[j], u[j], 1e-6);
    const double xi[] = {0, .35, 0, .675, 0, 3.07};
    for (int j = 0; j < 6; ++j) CHECK_NEAR(fit.slacks[j], xi[j], 1e-6);
  }
}

TEST("structured SVM: Proposition 3, slack rescaling does not mind the units of the loss, margin rescaling does") {
  Monitor monitor;
  const MulticlassOutput one = tiny(tiny_costs()), five = tiny(5 * tiny_costs());
  for (Rescale rescale : {Rescale::slack, Rescale::margin}) {
    LinearSpace a(6), b(6);
    const VectorXd w = structured_svm(one, a, options_for(SlackPenalty::linear, rescale, 3, 1e-7), monitor).weights;
    const VectorXd v = structured_svm(five, b, options_for(SlackPenalty::linear, rescale, 0.6, 1e-7), monitor).weights;
    const double change = (w - v).cwiseAbs().maxCoeff();
    if (rescale == Rescale::slack) {
      CHECK_NEAR(change, 0, 1e-6);
    } else {
      CHECK(change > 0.1);
    }
  }
}

TEST("chain: every search agrees with the enumeration of all sequences, and scores with features") {
  Rng rng(5);
  for (int trial = 0; trial < 12; ++trial) {
    ChainModel model;
    model.labels = 2 + trial % 2;
    model.eta = 0.7;
    model.triples = trial % 3 == 1;
    model.by_input = trial % 3 == 2;
    model.first = trial % 4 == 3;
    model.hamming = trial % 5 != 4;
    const ChainOutput output = random_chains(rng, model, 5, 5, 2);
    VectorXd w(output.features());
    for (Index j = 0; j < w.size(); ++j) w[j] = rng.normal() * (trial % 2 == 0 ? 0.1 : 1);
    for (Index i = 0; i < output.size(); ++i) {
      const double true_score = output.psi(i, output.truth(i)).dot(w);
      double best_score = -1e300;
      std::vector<double> best(searches.size(), -std::numeric_limits<double>::infinity());
      for_all_sequences(model.labels, output.length(i), [&](const Label& y) {
        const SparseVector psi = output.psi(i, y);
        const double score = psi.dot(w);
        CHECK_NEAR(score, chain_score(output.scores(i, w), y), 1e-10);
        best_score = std::max(best_score, score);
        if (y == output.truth(i)) return;
        const double distance2 = dot(output.difference(i, y), output.difference(i, y));
        CHECK(std::sqrt(distance2) <= output.radius_bound(i) + 1e-9);
        CHECK(output.loss(i, y) <= output.largest_loss(i));
        for (std::size_t s = 0; s < searches.size(); ++s) {
          best[s] = std::max(best[s], searches[s].violation(output.loss(i, y), score - true_score));
        }
      });
      CHECK_NEAR(output.psi(i, output.predict(i, w)).dot(w), best_score, 1e-10);
      for (std::size_t s = 0; s < searches.size(); ++s) {
        const Label y = output.most_violated(i, w, searches[s]);
        if (y.empty()) {
          CHECK(best[s] <= 1e-12);  // nothing is violated
        } else {
          CHECK_NEAR(searches[s].violation(output.loss(i, y), output.psi(i, y).dot(w) - true_score), best[s], 1e-10);
          CHECK(y != output.truth(i));
        }
      }
    }
  }
}

TEST("structured SVM: certificates of every formulation, both variants, and the bounds of section 3.3") {
  Rng rng(6);
  Monitor monitor;
  ChainModel model;
  model.labels = 3;
  const ChainOutput output = random_chains(rng, model, 12, 5, 2);
  double radius = 0, loss = 0;
  for (Index i = 0; i < output.size(); ++i) {
    radius = std::max(radius, output.radius_bound(i));
    loss = std::max(loss, output.largest_loss(i));
  }
  for (SlackPenalty penalty : {SlackPenalty::linear, SlackPenalty::squared}) {
    for (Rescale rescale : {Rescale::none, Rescale::margin, Rescale::slack}) {
      StructuredSvmOptions o = options_for(penalty, rescale, 2, 1e-7);
      LinearSpace exact_space(output.features());
      const StructuredSvmResult exact = structured_svm(output, exact_space, o, monitor);
      CHECK(exact.convergence.converged);
      CHECK(!exact.heuristic);
      CHECK_NEAR(exact.primal, exact.dual, 1e-5);
      o.eps = 0.05;
      for (bool full : {false, true}) {
        o.variant = full ? Variant::full : Variant::block;
        LinearSpace space(output.features());
        const StructuredSvmResult fit = structured_svm(output, space, o, monitor);
        CHECK(fit.convergence.converged);
        CHECK(fit.primal - fit.dual <= fit.gap_bound * (1 + 1e-8));
        CHECK(fit.dual <= exact.primal + 1e-6);
        CHECK(fit.primal >= exact.dual - 1e-6);
        if (rescale != Rescale::none) {
          const double bound = penalty == SlackPenalty::linear ? fit.slacks.mean() : fit.slacks.squaredNorm() / 12;
          CHECK(fit.losses.mean() <= bound + 1e-9);
        }
        for (std::size_t s = 1; s < fit.trace.size(); ++s) CHECK(fit.trace[s].dual >= fit.trace[s - 1].dual - 1e-9);
        CHECK(static_cast<double>(fit.cuts_added) <= cut_bound(o, 12, radius, loss));
        if (full) {
          CHECK(static_cast<Index>(fit.history.size()) == fit.cuts_added);
          const double least = gain_bound(o, 12, radius, loss);
          for (const CutRecord& cut : fit.history) CHECK(cut.gain >= least * (1 - 1e-6));
        }
      }
    }
  }
}

TEST("structured SVM: hard margin, where there is one and where there is none") {
  Monitor monitor;
  MatrixXd x(4, 2);
  x << 1, 0, 2, 0, -1, 0, -3, 1;
  const MulticlassOutput fine(InputFeatures::dense(x), {0, 0, 1, 1}, MatrixXd::Identity(2, 2), zero_one(2));
  LinearSpace space(4);
  const StructuredSvmResult fit = structured_svm(fine, space, options_for(SlackPenalty::none, Rescale::none, 1, 1e-6), monitor);
  CHECK(fit.convergence.converged);
  CHECK_NEAR(fit.weights[0] - fit.weights[1], 1, 1e-5);  // u = v1 - v2 has margin 1 at (1, 0) and (-1, 0)
  CHECK_NEAR(fit.primal, 0.25, 1e-5);
  const MulticlassOutput mixed(InputFeatures::dense(x), {0, 1, 0, 1}, MatrixXd::Identity(2, 2), zero_one(2));
  LinearSpace other(4);
  CHECK_THROWS(structured_svm(mixed, other, options_for(SlackPenalty::none, Rescale::none, 1, 0.1), monitor), InputError);
  x.row(1) = x.row(0);  // one point, two classes
  const MulticlassOutput twice(InputFeatures::dense(x), {0, 1, 1, 1}, MatrixXd::Identity(2, 2), zero_one(2));
  LinearSpace third(4);
  CHECK_THROWS(structured_svm(twice, third, options_for(SlackPenalty::none, Rescale::none, 1, 0.1), monitor), InputError);
}

TEST("structured SVM: a linear kernel gives the linear machine, for classes with features and for chains") {
  Rng rng(7);
  Monitor monitor;
  const MatrixXd x = random_matrix(rng, 20, 3), gram = x * x.transpose(), lambda = random_matrix(rng, 4, 2);
  std::vector<int> y;
  for (int i = 0; i < 20; ++i) y.push_back(i % 4);
  const MulticlassOutput linear(InputFeatures::dense(x), y, lambda, zero_one(4));
  const MulticlassOutput kernel(InputFeatures::identity(20), y, MatrixXd::Identity(4, 4), zero_one(4), gram.diagonal());
  const MatrixXd similarity = lambda * lambda.transpose();
  LinearSpace a(linear.features());
  KernelSpace b(gram, similarity);
  const StructuredSvmOptions o = options_for(SlackPenalty::squared, Rescale::margin, 5, 1e-8);
  const StructuredSvmResult one = structured_svm(linear, a, o, monitor), two = structured_svm(kernel, b, o, monitor);
  CHECK_NEAR(one.primal, two.primal, 1e-6);
  const MatrixXd scores = gram * Eigen::Map<const MatrixXd>(two.weights.data(), 4, 20).transpose() * similarity;
  for (Index i = 0; i < 20; ++i)
    CHECK_NEAR((linear.scores(i, one.weights).transpose() - scores.row(i)).cwiseAbs().maxCoeff(), 0, 1e-4);

  ChainModel model;
  model.labels = 2;
  const std::vector<Index> start = {0, 4, 9, 12, 20};
  std::vector<int> labels;
  for (int t = 0; t < 20; ++t) labels.push_back(t / 2 % 2);
  const ChainOutput chain(InputFeatures::dense(x), start, labels, model);
  const ChainOutput tokens(InputFeatures::identity(20), start, labels, model, gram.diagonal());
  LinearSpace c(chain.features());
  const MatrixXd same = MatrixXd::Identity(2, 2);
  KernelSpace d(gram, same, 4);
  const StructuredSvmResult three = structured_svm(chain, c, o, monitor), four = structured_svm(tokens, d, o, monitor);
  CHECK_NEAR(three.primal, four.primal, 1e-6);
  CHECK_NEAR((three.weights.tail(4) - four.weights.tail(4)).cwiseAbs().maxCoeff(), 0, 1e-4);
}

TEST("structured SVM: classes are taken in while the dual is climbed, none twice, to the optimum that single cuts lead to") {
  Rng rng(5);
  Monitor monitor;
  const Index n = 150, k = 12, p = 12;
  std::vector<int> classes;
  MatrixXd x = random_matrix(rng, n, p);
  for (Index i = 0; i < n; ++i) {
    classes.push_back(static_cast<int>(i % k));
    x(i, i % k) += 1.5;
  }
  const MulticlassOutput output(InputFeatures::dense(x), classes, MatrixXd::Identity(k, k), zero_one(k));
  for (const SlackPenalty penalty : {SlackPenalty::linear, SlackPenalty::squared}) {
    StructuredSvmOptions options = options_for(penalty, Rescale::margin, 50, 1e-4);
    LinearSpace space(output.features()), again(output.features());
    const StructuredSvmResult fit = structured_svm(output, space, options, monitor);
    options.variant = Variant::full;  // Algorithm 1 (a): one cut at a time
    const StructuredSvmResult slow = structured_svm(output, again, options, monitor);
    CHECK(fit.convergence.converged);
    CHECK_NEAR(fit.dual, slow.dual, 1e-4 * slow.dual);
    CHECK_NEAR((fit.weights - slow.weights).norm(), 0, 1e-2 * slow.weights.norm());
    CHECK(fit.convergence.iterations <= 12);
    for (std::vector<Cut> cuts : fit.working_set) {
      const auto earlier = [](const Cut& a, const Cut& b) { return a.label < b.label; };
      const auto same = [](const Cut& a, const Cut& b) { return a.label == b.label; };
      std::sort(cuts.begin(), cuts.end(), earlier);
      CHECK(std::adjacent_find(cuts.begin(), cuts.end(), same) == cuts.end());
    }
  }
}

TEST("structured SVM: scales from 1e-8 to 1e8, pruning, threads, limits and bad options") {
  Rng rng(8);
  Monitor monitor;
  ChainModel model;
  model.labels = 2;
  model.eta = 0;
  const ChainOutput output = random_chains(rng, model, 10, 5, 2);
  const StructuredSvmOptions base = options_for(SlackPenalty::linear, Rescale::margin, 1, 1e-4);
  for (double scale : {1e-8, 1e8}) {  // x -> s x, w -> w / s, C -> C / s^2
    Rng again(8);
    std::vector<Index> start = {0};
    for (Index i = 0; i < 10; ++i) start.push_back(start.back() + 1 + i % 5);
    std::vector<int> labels;
    for (Index t = 0; t < start.back(); ++t) labels.push_back(static_cast<int>(again.uniform() * 2));
    const ChainOutput scaled(InputFeatures::dense(scale * random_matrix(again, start.back(), 2)), start, labels, model);
    LinearSpace a(output.features()), b(output.features());
    StructuredSvmOptions o = base;
    o.cost = 1 / (scale * scale);
    const StructuredSvmResult one = structured_svm(output, a, base, monitor), two = structured_svm(scaled, b, o, monitor);
    CHECK_NEAR((one.weights - scale * two.weights).cwiseAbs().maxCoeff(), 0, 1e-3);
    CHECK_NEAR(one.primal, two.primal * scale * scale, 1e-3);
  }
  LinearSpace a(output.features()), b(output.features()), c(output.features());
  StructuredSvmOptions o = base;
  o.prune = 1;
  CHECK_NEAR(structured_svm(output, a, o, monitor).primal, structured_svm(output, b, base, monitor).primal, 2e-4);
  o.max_sweeps = 1;
  const StructuredSvmResult early = structured_svm(output, c, o, monitor);
  CHECK(!early.convergence.converged);
  CHECK(early.primal >= early.dual);
  o = base;
  o.cost = 0;
  CHECK_THROWS(structured_svm(output, a, o, monitor), InputError);
  o.cost = 1;
  o.eps = 0;
  CHECK_THROWS(structured_svm(output, a, o, monitor), InputError);
  o.eps = 1;
  o.penalty = SlackPenalty::none;
  CHECK_THROWS(structured_svm(output, a, o, monitor), InputError);
}

TEST("structured perceptron: separates what can be separated within its mistake bound") {
  Rng rng(9);
  Monitor monitor;
  MatrixXd x(6, 2);
  x << 2, 0, 1.5, .5, 0, 2, .5, 1, -1, -1, -.6, -.9;
  const MulticlassOutput output(InputFeatures::dense(x), {0, 0, 1, 1, 2, 2}, MatrixXd::Identity(3, 3), zero_one(3));
  LinearSpace hard_space(6);
  const StructuredSvmResult hard =
      structured_svm(output, hard_space, options_for(SlackPenalty::none, Rescale::none, 1, 1e-6), monitor);
  for (bool averaged : {false, true}) {
    PerceptronOptions o;
    o.max_epochs = 1000;
    o.averaged = averaged;
    LinearSpace space(6);
    const PerceptronResult fit = structured_perceptron(output, space, o, rng, monitor);
    CHECK(fit.convergence.converged);
    int mistakes = 0;
    for (int m : fit.mistakes) mistakes += m;
    CHECK(mistakes <= 8 * hard.weights.squaredNorm() + 1e-6);  // R^2 = 2 |x|^2 = 8, 1 / gamma = |w|
    if (!averaged) {
      for (Index i = 0; i < 6; ++i) CHECK(output.predict(i, fit.weights) == output.truth(i));
    }
  }
}

TEST("conditional random field: the gradient vanishes and the likelihood is that of the enumeration") {
  Rng rng(10);
  Monitor monitor;
  for (int trial = 0; trial < 4; ++trial) {
    ChainModel model;
    model.labels = 2;
    model.eta = 0.5;
    model.triples = trial == 1;
    model.by_input = trial == 2;
    model.first = trial == 3;
    const ChainOutput output = random_chains(rng, model, 6, 4, 2);
    CrfOptions o;
    o.cost = 3;
    o.tol = 1e-9;
    const CrfResult fit = structured_crf(output, o, monitor);
    VectorXd gradient = fit.weights;
    for (Index i = 0; i < output.size(); ++i) {
      double sum = 0;
      VectorXd mean = VectorXd::Zero(output.features());
      for_all_sequences(2, output.length(i), [&](const Label& y) {
        const SparseVector psi = output.psi(i, y);
        const double p = std::exp(psi.dot(fit.weights));
        sum += p;
        for (std::size_t k = 0; k < psi.index.size(); ++k) mean[psi.index[k]] += p * psi.value[k];
      });
      const SparseVector right = output.psi(i, output.truth(i));
      CHECK_NEAR(fit.log_likelihood[i], right.dot(fit.weights) - std::log(sum), 1e-9);
      gradient += 0.5 * mean / sum;
      for (std::size_t k = 0; k < right.index.size(); ++k) gradient[right.index[k]] -= 0.5 * right.value[k];
    }
    CHECK_NEAR(gradient.cwiseAbs().maxCoeff(), 0, 1e-6);
    o.threads = 2;
    const CrfResult again = structured_crf(output, o, monitor);
    CHECK((again.weights - fit.weights).cwiseAbs().maxCoeff() == 0);
  }
}

TEST("generative weights are logarithms of shares of counts") {
  ChainData chain;  // labels 0 0 1 | 1 0 over three features, the first constant
  MatrixXd x(5, 3);
  x << 1, 1, 0, 1, 1, 0, 1, 0, 2, 1, 0, 1, 1, 1, 1;
  chain.x = InputFeatures::dense(x);
  chain.codes = {0, 0, 1, 1, 0};
  chain.start = {0, 3, 5};
  chain.labels = 2;
  GenerativeOptions options;
  options.intercept = true;
  const VectorXd w = hidden_markov(chain, options);
  CHECK(w.size() == 2 * 3 + 4 + 2 && w[0] == 0 && w[1] == 0);
  CHECK_NEAR(w[2], std::log(4.0 / 6), 1e-12);            // feature 2 under label 0: 3 of 4, with one added to each
  CHECK_NEAR(w[4], std::log(2.0 / 6), 1e-12);            // feature 3 under label 0
  CHECK_NEAR(w[3], std::log(1.0 / 5), 1e-12);            // feature 2 under label 1: none of 3
  CHECK_NEAR(w[6], std::log(2.0 / 4), 1e-12);            // from 0 to 0
  CHECK_NEAR(w[7], std::log(2.0 / 3), 1e-12);            // from 1 to 0
  CHECK_NEAR(w[10], std::log(2.0 / 4), 1e-12);           // first label 0
  options.laplace = 0;
  CHECK(hidden_markov(chain, options)[3] == -1e6);
  x(0, 1) = -1;
  chain.x = InputFeatures::dense(x);
  CHECK_THROWS(hidden_markov(chain, options), InputError);

  CfgData cfg;
  cfg.grammar.lhs = {0, 0, 1};
  cfg.grammar.first = {1, 0, 0};
  cfg.grammar.second = {1, 1, -1};
  cfg.grammar.symbols = 2;
  cfg.trees = {{0, 2, 2}, {1, 0, 2, 2, 2}, {0, 2, 2}};
  const VectorXd shares = rule_shares(cfg, options);
  CHECK_NEAR(shares[0], std::log(3.0 / 4), 1e-12);
  CHECK_NEAR(shares[1], std::log(1.0 / 4), 1e-12);
  CHECK(shares[2] == 0);

  AlignData align;
  align.native = {{0, 1, 1}};
  align.candidates = {{{0, 1}}};
  align.truth = {{0, 0, 0, 0, 1, 0}};  // pair, x alone, pair
  align.alphabet = 2;
  const VectorXd odds = log_odds(align, options);
  CHECK_NEAR(odds[0], std::log(0.5) - std::log(0.4 * 0.4), 1e-12);
  CHECK_NEAR(odds[3], std::log(0.5) - std::log(0.6 * 0.6), 1e-12);
  CHECK(odds[1] == -1e6 && odds.size() == 5 && odds[4] == -0.2);
}

TEST("problems as data refuse what does not fit together") {
  MulticlassData classes;
  classes.x = InputFeatures::dense(MatrixXd::Ones(2, 1));
  classes.class_features = MatrixXd::Identity(2, 2);
  classes.loss = MatrixXd::Ones(2, 2) - MatrixXd::Identity(2, 2);
  classes.codes = {0, 2};
  CHECK_THROWS(make_problem(classes), InputError);
  classes.codes = {0, 1};
  Monitor monitor;
  const StructuredProblem fine = make_problem(classes);
  CHECK(predict_all(*fine.output, VectorXd::Unit(2, 1), monitor).labels[0] == Label({1}));
  CHECK_THROWS(predict_all(*fine.output, VectorXd::Zero(3), monitor), InputError);
  CHECK_THROWS(chain_marginals(*fine.output, VectorXd::Zero(2), monitor), InputError);
  ChainData chain;
  chain.loss = "squared";
  CHECK_THROWS(make_problem(chain), InputError);
  MatrixXd similarity(2, 2);
  similarity << 2, 1, 1, 2;
  const MatrixXd lambda = class_features_of(similarity);
  CHECK((lambda * lambda.transpose() - similarity).cwiseAbs().maxCoeff() < 1e-12);
  similarity(0, 0) = -1;
  CHECK_THROWS(class_features_of(similarity), InputError);
}
