// Spans, ridge logistic regression, LogitBoost and learners that combine.
#include <cmath>
#include <limits>

#include "core/optim/ridge_softmax.h"
#include "core/random/rng.h"
#include "ensemble/field_hmm.h"
#include "ensemble/meta_learner.h"
#include "ensemble/multilabel.h"
#include "ensemble/spans.h"
#include "harness.h"

using namespace granary;
using namespace granary::ensemble;

namespace {

VectorXi ints(std::initializer_list<int> values) {
  VectorXi out(static_cast<Index>(values.size()));
  std::copy(values.begin(), values.end(), out.data());
  return out;
}

VectorXd doubles(std::initializer_list<double> values) {
  VectorXd out(static_cast<Index>(values.size()));
  std::copy(values.begin(), values.end(), out.data());
  return out;
}

}  // namespace

TEST("ridge softmax: the gradient of the penalised likelihood is 0, for two and for more classes, at any scale") {
  Rng rng(1);
  Monitor monitor;
  for (const int classes : {2, 3, 5}) {
    for (const double scale : {1e-8, 1.0, 1e8}) {
      const Index n = 120, p = 3;
      MatrixXd x(n, p);
      VectorXi y(n);
      for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j < p; ++j) x(i, j) = scale * (rng.normal() + 5);
        y[i] = static_cast<int>(rng.below(static_cast<std::uint64_t>(classes)));
      }
      RidgeSoftmaxOptions options;
      options.classes = classes;
      const double lambda = 2;
      const RidgeSoftmax fit = ridge_softmax(x, y, VectorXd(), lambda, options, monitor);
      CHECK(fit.convergence.converged);
      const MatrixXd prob = log_softmax(x, fit).array().exp();
      CHECK_NEAR((prob.rowwise().sum().array() - 1).abs().maxCoeff(), 0, 1e-12);
      for (int c = classes == 2 ? 1 : 0; c < classes; ++c) {
        const VectorXd gap = (y.array() == c).cast<double>().matrix() - prob.col(c);
        CHECK_NEAR(gap.sum() / static_cast<double>(n), 0, 1e-5);
        for (Index j = 0; j < p; ++j) {
          const double mean = x.col(j).mean(), sd = std::sqrt((x.col(j).array() - mean).square().mean());
          const double slope = ((x.col(j).array() - mean) / sd * gap.array()).sum();
          CHECK_NEAR((slope - lambda * fit.coefficients(j, classes == 2 ? 0 : c) * sd) / static_cast<double>(n), 0, 1e-5);
        }
      }
    }
  }
  CHECK_THROWS(ridge_softmax(MatrixXd::Ones(3, 1), ints({0, 0, 0}), VectorXd(), 1, {}, monitor), InputError);
}

TEST("spans: ties, silence and probabilities of one in votes") {
  Rng rng(2);
  Eigen::MatrixXi field(3, 3);
  field << 0, 0, 1, 0, 1, -1, -1, -1, 1;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  MatrixXd prob(3, 3);
  prob << 0.2, 0.3, 0.9, 1, 1, nan, nan, nan, 0.4;
  VoteOptions options;
  options.fields = 2;
  VoteResult found = vote_spans(field, prob, options, rng);
  CHECK(found.field[0] == 1);  // 1 - 0.8 * 0.7 = 0.44 against 0.9
  CHECK_NEAR(found.score[0], 0.9, 1e-12);
  CHECK(found.field[1] == 0);  // both certain: the first system
  CHECK(found.field[2] == -1);
  options.method = SpanVote::majority;
  found = vote_spans(field, prob, options, rng);
  CHECK(found.field[0] == 0 && found.field[2] == -1);
  options.missing = SpanSilence::ignore;
  found = vote_spans(field, prob, options, rng);
  CHECK(found.field[2] == 1);
}

TEST("spans: merging counts what is missed and keeps the better of two") {
  SpanTable table;
  table.doc = ints({0, 0, 0, 0, 1});
  table.start = ints({1, 1, 1, 5, 2});
  table.end = ints({3, 3, 3, 6, 3});
  table.field = ints({0, 1, 1, 0, 1});
  table.system = ints({0, 0, -1, -1, 1});
  table.score = doubles({0.2, 0.7, 0, 0, 0.5});
  Monitor monitor;
  const MergedSpans found = merge_spans(table, 2, 2, monitor);
  CHECK(found.doc.size() == 2 && found.several == 1);
  CHECK(found.field(0, 0) == 1 && found.gold[0] == 1 && found.gold[1] == -1 && found.field(1, 0) == -1);
  CHECK(found.missed[0] == 1 && found.missed[1] == 0);
}

TEST("logitboost: two classes by one tree a round are three lines of arithmetic") {
  MatrixXd x(4, 1);
  x << 1, 2, 3, 4;
  const VectorXi y = ints({0, 0, 1, 1});
  LogitBoostOptions options;
  options.n_rounds = 1;
  Rng rng(3);
  Monitor monitor;
  const Design design(MatrixView(x.data(), 4, 1));
  const LogitBoostFit fit = logitboost(design, y, VectorXd(), options, rng, monitor);
  const MatrixXd p = logitboost_predict(design, fit, 1, 1, monitor);
  CHECK_NEAR(p(0, 1), 1 / (1 + std::exp(2.0)), 1e-12);
  CHECK_NEAR(p(3, 1), 1 / (1 + std::exp(-2.0)), 1e-12);
  check(fit);
  LogitBoostFit broken = fit;
  broken.rounds = 7;
  CHECK_THROWS(check(broken), InputError);
}

TEST("meta-learners: probabilities for every kind, classes without a case, columns per class") {
  Rng rng(4);
  Monitor monitor;
  MatrixXd x(90, 6);
  VectorXi y(90);
  for (Index i = 0; i < 90; ++i) {
    y[i] = static_cast<int>(i % 3);
    for (Index j = 0; j < 6; ++j) x(i, j) = (j % 3 == y[i] ? 0.6 : 0.2) + 0.1 * rng.normal();
  }
  for (const auto& [kind, name] : names(MetaKind())) {
    MetaOptions options;
    options.kind = kind;
    options.classes = 4;  // the last has no case
    Rng own(5);
    const MetaFit fit = meta_fit(x, y, VectorXd(), options, own, monitor);
    check(fit);
    const MatrixXd p = meta_predict(x, fit, 1, monitor);
    double right = 0;
    for (Index i = 0; i < 90; ++i) {
      Index best = 0;
      p.row(i).maxCoeff(&best);
      right += best == y[i];
      CHECK_NEAR(p.row(i).sum(), 1, 1e-9);
    }
    CHECK(right >= 80);
    options.classes = 3;
    options.columns = {{0, 3}, {1, 4}, {2, 5}};
    const MetaFit parts = meta_fit(x, y, VectorXd(), options, own, monitor);
    check(parts);
    CHECK_NEAR((meta_predict(x, parts, 1, monitor).rowwise().sum().array() - 1).abs().maxCoeff(), 0, 1e-9);
    (void)name;
  }
}

TEST("field model: laws sum to 1, and instances outside their text are refused") {
  const VectorXi word = ints({6, 7, 8, 6, 7, 9, 6, 7, 8});
  FieldHmmOptions options;
  options.before = options.inside = options.after = 2;
  options.words = 10;
  const FieldHmm fit = field_hmm_fit(word, {0, 3, 6, 9}, ints({2, 5, 8}), ints({3, 6, 9}), options);
  CHECK_NEAR(fit.initial.array().exp().sum(), 1, 1e-12);
  for (Index s = 0; s < fit.transition.rows(); ++s) {
    CHECK_NEAR(fit.transition.row(s).array().exp().sum(), 1, 1e-12);
    CHECK_NEAR(fit.emission.row(s).array().exp().sum(), 1, 1e-9);
  }
  Monitor monitor;
  const FoundSpans found = field_hmm_extract(word, {0, 3, 6, 9}, fit, monitor);
  CHECK(found.doc.size() == 3 && found.start[0] == 2 && found.end[0] == 3);
  CHECK_THROWS(field_hmm_fit(word, {0, 9}, ints({8}), ints({10}), options), InputError);
}

TEST("multilabel: the exact mode of a chain is that of all vectors") {
  Rng rng(6);
  Monitor monitor;
  MatrixXd x(80, 2), y(80, 4);
  for (Index i = 0; i < 80; ++i) {
    for (Index j = 0; j < 2; ++j) x(i, j) = rng.normal();
    for (Index j = 0; j < 4; ++j) y(i, j) = rng.uniform() < 0.3 + 0.4 * (j > 0 ? y(i, j - 1) : x(i, 0) > 0) ? 1 : 0;
  }
  MultilabelOptions options;
  options.lambda = {1};
  const MultilabelFit fit = multilabel_fit(x, y, options, rng, monitor);
  check(fit);
  for (Index i = 0; i < 10; ++i) {
    const VectorXd scores = chain_scores(fit.chains[0], x.row(i).transpose());
    const ChainMode mode = chain_mode(fit.chains[0], scores, ModeSearch::exact, 1, 100000);
    double best = 0, total = 0;
    for (int v = 0; v < 16; ++v) {
      double p = 1;
      VectorXd before(6);
      before.head(2) = x.row(i).transpose();
      for (Index s = 0; s < 4; ++s) {
        const int value = (v >> s) & 1;
        const LabelModel& step = fit.chains[0].step[static_cast<std::size_t>(s)];
        const double one = 1 / (1 + std::exp(-step.fit.intercept[0] - step.fit.coefficients.col(0).dot(before.head(2 + s))));
        p *= value == 1 ? one : 1 - one;
        before[2 + s] = value;
      }
      total += p;
      best = std::max(best, p);
    }
    CHECK_NEAR(total, 1, 1e-12);
    CHECK_NEAR(mode.probability, best, 1e-12);
    CHECK(mode.finished);
  }
}
