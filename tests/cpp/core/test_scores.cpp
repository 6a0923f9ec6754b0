// Scores of classes and probabilities against their definitions.
#include <cmath>

#include "core/infer/scores.h"
#include "core/random/rng.h"
#include "harness.h"

using namespace granary;

namespace {
struct Labels {
  VectorXi truth, predicted;
  VectorXd weight;
  Labels(Rng& rng, Index n, int classes) : truth(n), predicted(n), weight(n) {
    for (Index i = 0; i < n; ++i) {
      truth[i] = static_cast<int>(rng.below(static_cast<std::uint64_t>(classes)));
      predicted[i] = rng.bernoulli(0.6) ? truth[i] : static_cast<int>(rng.below(static_cast<std::uint64_t>(classes)));
      weight[i] = rng.uniform(0, 2);
    }
  }
};
}  // namespace

TEST("for two classes the scores are those of the four cells") {
  MatrixXd c(2, 2);
  c << 50, 10, 5, 35;
  const ClassScores s = class_scores(c);
  CHECK_NEAR(s.accuracy, 0.85, 1e-15);
  const double chance = (60 * 55 + 40 * 45) / 1e4;
  CHECK_NEAR(s.kappa, (0.85 - chance) / (1 - chance), 1e-14);
  CHECK_NEAR(s.mcc, (50.0 * 35 - 10 * 5) / std::sqrt(60.0 * 40 * 55 * 45), 1e-14);
  CHECK_NEAR(s.balanced, (50.0 / 60 + 35.0 / 40) / 2, 1e-14);
  CHECK_NEAR(s.f[1], 2 * 35.0 / (40 + 45), 1e-14);
  CHECK_NEAR(s.precision[1], 35.0 / 45, 1e-14);
  CHECK_NEAR(s.macro_f, (2 * 50.0 / 115 + 2 * 35.0 / 85) / 2, 1e-14);
  CHECK_NEAR(s.micro_f, 0.85, 1e-14);
  CHECK_NEAR(class_scores(c, 2).f[1], 5 * 35.0 / (4 * 40 + 45), 1e-14);
}

TEST("whole weights are repeated rows, for every score") {
  Rng rng(1);
  Labels l(rng, 40, 3);
  for (Index i = 0; i < 40; ++i) l.weight[i] = static_cast<double>(rng.below(4));
  const Index total = static_cast<Index>(l.weight.sum());
  VectorXi truth(total), predicted(total);
  MatrixXd prob(40, 3), many(total, 3);
  for (Index i = 0; i < 40; ++i) prob.row(i) = rng.dirichlet(VectorXd::Ones(3)).transpose();
  Index at = 0;
  for (Index i = 0; i < 40; ++i)
    for (int r = 0; r < static_cast<int>(l.weight[i]); ++r, ++at) {
      truth[at] = l.truth[i];
      predicted[at] = l.predicted[i];
      many.row(at) = prob.row(i);
    }
  const ClassScores a = class_scores(confusion_matrix(l.truth, l.predicted, l.weight, 3)),
                    b = class_scores(confusion_matrix(truth, predicted, VectorXd::Ones(total), 3));
  CHECK_NEAR(a.kappa, b.kappa, 1e-13);
  CHECK_NEAR(a.mcc, b.mcc, 1e-13);
  CHECK_NEAR(a.macro_f, b.macro_f, 1e-13);
  const ProbabilityScores p = probability_scores(prob, l.truth, l.weight), q = probability_scores(many, truth, VectorXd::Ones(total));
  CHECK_NEAR(p.auc, q.auc, 1e-13);
  CHECK_NEAR(p.log_loss, q.log_loss, 1e-13);
  CHECK_NEAR(p.brier, q.brier, 1e-13);
}

TEST("the correlation of Gorodkin is that of the indicator matrices") {
  Rng rng(2);
  const Labels l(rng, 50, 4);
  MatrixXd x = MatrixXd::Zero(50, 4), y = x;
  for (Index i = 0; i < 50; ++i) x(i, l.truth[i]) = y(i, l.predicted[i]) = 1;
  const MatrixXd xc = x.rowwise() - x.colwise().mean(), yc = y.rowwise() - y.colwise().mean();
  const double wanted = xc.cwiseProduct(yc).sum() / std::sqrt(xc.squaredNorm() * yc.squaredNorm());
  CHECK_NEAR(class_scores(confusion_matrix(l.truth, l.predicted, VectorXd::Ones(50), 4)).mcc, wanted, 1e-13);
}

TEST("the area under the curve counts pairs, ties half") {
  Rng rng(3);
  for (int seed = 0; seed < 5; ++seed) {
    VectorXd score(30), positive(30), weight(30);
    for (Index i = 0; i < 30; ++i) {
      score[i] = static_cast<double>(rng.below(8));
      positive[i] = rng.bernoulli(0.4) ? 1 : -1;
      weight[i] = rng.uniform();
    }
    double pairs = 0, all = 0;
    for (Index i = 0; i < 30; ++i)
      for (Index j = 0; j < 30; ++j)
        if (positive[i] > 0 && positive[j] < 0) {
          all += weight[i] * weight[j];
          pairs += weight[i] * weight[j] * (score[i] > score[j] ? 1 : score[i] == score[j] ? 0.5 : 0);
        }
    CHECK_NEAR(area_under_roc(score, positive, weight), pairs / all, 1e-13);
  }
  CHECK(std::isnan(area_under_roc(VectorXd::Ones(3), VectorXd::Ones(3), VectorXd::Ones(3))));
}

TEST("what is undefined is NaN, and what is wrong is refused") {
  MatrixXd one = MatrixXd::Zero(2, 2);
  one(0, 0) = 5;
  const ClassScores s = class_scores(one);
  CHECK_NEAR(s.accuracy, 1, 0);
  CHECK(std::isnan(s.kappa));
  CHECK(std::isnan(s.mcc));
  CHECK(std::isnan(s.f[1]));
  CHECK_NEAR(s.macro_f, 1, 0);
  CHECK_THROWS(class_scores(MatrixXd::Zero(2, 2)), InputError);
  const VectorXi truth = VectorXi::Zero(2);
  CHECK_THROWS(confusion_matrix(truth, VectorXi::Constant(2, 3), VectorXd::Ones(2), 2), InputError);
  CHECK_THROWS(confusion_matrix(truth, truth, VectorXd::Zero(2), 2), InputError);
  MatrixXd prob(2, 2);
  prob << 0.5, 0.5, 1.2, -0.2;
  CHECK_THROWS(probability_scores(prob, truth, VectorXd::Ones(2)), InputError);
  prob << 0.5, 0.5, 0.2, 0.2;
  CHECK_THROWS(probability_scores(prob, truth, VectorXd::Ones(2)), InputError);
  prob << 1, 0, 0, 1;
  CHECK(std::isfinite(probability_scores(prob, truth, VectorXd::Ones(2)).log_loss));
}
