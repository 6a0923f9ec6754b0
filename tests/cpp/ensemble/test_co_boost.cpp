#include <cmath>
#include <vector>

#include "core/base/monitor.h"
#include "ensemble/co_boost.h"
#include "ensemble/hmm_classifier.h"
#include "ensemble/late_fusion.h"
#include "ensemble/skeleton.h"
#include "harness.h"

using namespace granary;
using namespace granary::ensemble;

namespace {

struct Round {
  Eigen::MatrixXi answers;
  VectorXi y;
  VectorXd odds, weights;
};

Round random_round(Index n, Index views, int classes, std::uint64_t seed) {
  Rng rng(seed);
  Round r;
  r.answers.resize(n, views);
  r.y.resize(n);
  r.odds = rng.normals(n);
  r.weights = VectorXd::NullaryExpr(n, [&] { return rng.uniform(0.5, 2); });
  for (Index i = 0; i < n; ++i) {
    r.y[i] = static_cast<int>(rng.below(static_cast<std::uint64_t>(classes)));
    for (Index v = 0; v < views; ++v)
      r.answers(i, v) = rng.bernoulli(0.6) ? r.y[i] : static_cast<int>(rng.below(static_cast<std::uint64_t>(classes)));
  }
  return r;
}

double bound(const Round& r, int label, const VectorXd& hit, const VectorXd& miss) {
  double sum = 0;
  for (Index i = 0; i < r.y.size(); ++i) {
    double f = r.odds[i];
    for (Index v = 0; v < r.answers.cols(); ++v) f += r.answers(i, v) == label ? hit[v] : miss[v];
    sum += r.weights[i] * std::exp(r.y[i] == label ? -f : f);
  }
  return sum;
}

struct Cases {
  std::vector<MatrixXd> rows;
  std::vector<CaseView> views;
  VectorXi y;
};

// Two views of sequences; a class moves the first column of both.
void fill(Cases& out, int per_class, int classes, Index p, std::uint64_t seed, Index length = 6, double signal = 1.5) {
  Rng rng(seed);
  const Index n = per_class * classes;
  out.y.resize(n);
  for (Index i = 0; i < n; ++i) out.y[i] = static_cast<int>(i % classes);
  out.rows.assign(2, MatrixXd());
  for (MatrixXd& x : out.rows) {
    x = MatrixXd::NullaryExpr(n * length, p, [&] { return rng.normal(); });
    for (Index r = 0; r < x.rows(); ++r) x(r, 0) += signal * out.y[r / length];
  }
  for (const MatrixXd& x : out.rows) {
    CaseView view;
    view.x = Design(MatrixView(x.data(), x.rows(), x.cols()));
    for (Index i = 0; i <= n; ++i) view.begin.push_back(i * length);
    out.views.push_back(view);
  }
}

CoBoostOptions boost_options(int classes, ViewLearner learner, int rounds = 6) {
  ViewLearnerOptions one;
  one.learner = learner;
  one.k = 2;
  one.max_leaves = 3;
  CoBoostOptions o;
  o.classes = classes;
  o.n_rounds = rounds;
  o.candidates = {3, 3};
  o.sizes = {2, 2};
  o.learners = {one, one};
  return o;
}

CoBoostResult run(const Cases& c, const CoBoostOptions& o, const VectorXd& weights = VectorXd()) {
  Rng rng(7);
  Monitor silent;
  return co_boost(c.views, c.y, weights, o, rng, silent);
}

}  // namespace

TEST("the update of one class never raises the bound and leaves no derivative") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed)
    for (const Index views : {1, 2, 3, 5}) {
      const Round r = random_round(80, views, 3, seed);
      for (const double smooth : {0.0, 1.0 / 160}) {
        const BoundStep step = bound_step(r.answers, r.y, r.odds, r.weights, 1, smooth);
        CHECK_NEAR(step.before, bound(r, 1, VectorXd::Zero(views), VectorXd::Zero(views)), 1e-9 * step.before);
        CHECK_NEAR(step.after, bound(r, 1, step.hit, step.miss), 1e-9 * step.before);
        CHECK(step.after <= step.before * (1 + 1e-12));
        if (smooth == 0 && views == 5) continue;  // cells enough to be empty: some ratios have no end
        CHECK(step.residual <= 1e-9);
        if (smooth > 0) continue;
        for (Index v = 0; v < views; ++v)
          for (const bool hit : {true, false}) {
            VectorXd up_hit = step.hit, up_miss = step.miss, down_hit = step.hit, down_miss = step.miss;
            (hit ? up_hit : up_miss)[v] += 1e-4;
            (hit ? down_hit : down_miss)[v] -= 1e-4;
            CHECK_NEAR((bound(r, 1, up_hit, up_miss) - bound(r, 1, down_hit, down_miss)) / 2e-4 / step.after, 0, 1e-6);
          }
      }
    }
}

TEST("with one view the ratios are those of confidence-rated boosting") {
  const Round r = random_round(60, 1, 2, 3);
  const BoundStep step = bound_step(r.answers, r.y, r.odds, r.weights, 0, 0);
  double right[2] = {0, 0}, wrong[2] = {0, 0};
  for (Index i = 0; i < 60; ++i) {
    const int side = r.answers(i, 0) == 0 ? 1 : 0;
    if (r.y[i] == 0) right[side] += r.weights[i] * std::exp(-r.odds[i]);
    else wrong[side] += r.weights[i] * std::exp(r.odds[i]);
  }
  CHECK_NEAR(step.hit[0], 0.5 * std::log(right[1] / wrong[1]), 1e-10);
  CHECK_NEAR(step.miss[0], 0.5 * std::log(right[0] / wrong[0]), 1e-10);
}

TEST("two views that say the same share the ratio of one, equally") {
  Round r = random_round(60, 2, 3, 4);
  r.answers.col(1) = r.answers.col(0);
  Round one = r;
  one.answers = r.answers.leftCols(1).eval();
  const BoundStep both = bound_step(r.answers, r.y, r.odds, r.weights, 2, 0);
  const BoundStep alone = bound_step(one.answers, r.y, r.odds, r.weights, 2, 0);
  CHECK_NEAR(both.hit.sum(), alone.hit[0], 1e-8);
  CHECK_NEAR(both.miss.sum(), alone.miss[0], 1e-8);
  CHECK_NEAR(both.hit[0] + both.miss[0], both.hit[1] + both.miss[1], 1e-10);
}

TEST("an empty cell has a finite ratio, with smoothing and without") {
  Round r = random_round(40, 2, 2, 5);
  r.answers.col(0) = r.y;  // a view that is always right
  for (const double smooth : {0.0, 1.0 / 80}) {
    const BoundStep step = bound_step(r.answers, r.y, r.odds, r.weights, 1, smooth);
    CHECK(step.hit.allFinite() && step.miss.allFinite());
    CHECK(step.after < step.before);
    CHECK(step.residual <= 1e-9);
  }
}

TEST("probabilities have the ratios they come from, and are not made up where there are none") {
  double other = 0, own = 0;
  probabilities_of(std::log(3.0), std::log(0.5), other, own);
  CHECK_NEAR(own / other, 3, 1e-12);
  CHECK_NEAR((1 - own) / (1 - other), 0.5, 1e-12);
  probabilities_of(std::log(3.0), std::log(2.0), other, own);
  CHECK(std::isnan(other) && std::isnan(own));
}

TEST("thirteen views are refused") {
  const Round r = random_round(10, 13, 2, 1);
  CHECK_THROWS(bound_step(r.answers, r.y, r.odds, r.weights, 0, 0), InputError);
}

TEST("errors stay below the bound in every round, which never rises, for all learners") {
  for (const ViewLearner learner : {ViewLearner::hmm, ViewLearner::lda, ViewLearner::naive_bayes, ViewLearner::tree}) {
    Cases c;
    fill(c, 12, 3, 4, 11, learner == ViewLearner::hmm ? 6 : 1, 2.5);
    const CoBoostResult found = run(c, boost_options(3, learner));
    CHECK(found.vote_error.size() == 6);
    CHECK(found.convergence.converged);
    for (Index t = 0; t < found.bound.rows(); ++t)
      for (Index k = 0; k < 3; ++k) {
        CHECK(found.wrong(t, k) <= found.bound(t, k) * (1 + 1e-12));
        if (t > 0) CHECK(found.bound(t, k) <= found.bound(t - 1, k) * (1 + 1e-9));
      }
    CHECK_NEAR(found.weights.sum(), 1, 1e-12);
    CHECK_NEAR(found.bound(0, 0), 36, 1e-12);
    CHECK(found.vote_error[5] < 0.25);
    Monitor silent;
    CoBoostAsk ask;
    ask.staged = true;
    const CoBoostScores scores = co_boost_scores(found.model, c.views, ask, silent);
    CHECK_NEAR((scores.votes - found.votes).cwiseAbs().maxCoeff(), 0, 1e-12);
    CHECK_NEAR((scores.log_odds - found.log_odds).cwiseAbs().maxCoeff(), 0, 1e-9);
    for (Index t = 0; t < 6; ++t) {
      double wrong = 0;
      for (Index i = 0; i < 36; ++i) wrong += scores.staged(i, t) != c.y[i];
      CHECK_NEAR(wrong / 36, found.vote_error[t], 1e-12);
    }
  }
}

TEST("the answer does not depend on the number of threads") {
  Cases c;
  fill(c, 8, 2, 5, 3);
  CoBoostOptions o = boost_options(2, ViewLearner::hmm);
  const CoBoostResult one = run(c, o);
  o.threads = 2;
  const CoBoostResult two = run(c, o);
  CHECK((one.log_odds - two.log_odds).cwiseAbs().maxCoeff() == 0);
}

TEST("other numbers for the classes give the same answers under other numbers") {
  Cases c;
  fill(c, 10, 3, 4, 8, 1);
  const CoBoostOptions o = boost_options(3, ViewLearner::naive_bayes);
  const CoBoostResult before = run(c, o);
  const int turned[3] = {2, 0, 1};
  for (Index i = 0; i < c.y.size(); ++i) c.y[i] = turned[c.y[i]];
  const CoBoostResult after = run(c, o);
  for (int k = 0; k < 3; ++k) CHECK_NEAR((before.votes.col(k) - after.votes.col(turned[k])).cwiseAbs().maxCoeff(), 0, 1e-9);
}

TEST("learners no better than chance end it, and nothing is made up") {
  Cases c;
  fill(c, 10, 2, 3, 5, 1, 0);
  for (MatrixXd& x : c.rows) x.setOnes();  // in place: the views look at it
  const CoBoostResult found = run(c, boost_options(2, ViewLearner::naive_bayes));
  CHECK(found.end == CoEnd::no_edge);
  CHECK(found.model.members.empty());
  CHECK(found.dropped == 2);
  Monitor silent;
  const CoBoostScores scores = co_boost_scores(found.model, c.views, CoBoostAsk(), silent);
  CHECK_NEAR((scores.votes.array() - 0.5).abs().maxCoeff(), 0, 1e-12);
}

TEST("late fusion finds the view that knows, and given shares are kept") {
  Cases c;
  fill(c, 15, 2, 3, 9, 4);
  Rng noise(1);
  c.rows[1] = c.rows[1].unaryExpr([&](double) { return noise.normal(); }).eval();
  CaseView& second = c.views[1];
  second.x = Design(MatrixView(c.rows[1].data(), c.rows[1].rows(), c.rows[1].cols()));
  LateFusionOptions o;
  o.classes = 2;
  o.learners = boost_options(2, ViewLearner::hmm).learners;
  VectorXi folds(30);
  for (Index i = 0; i < 30; ++i) folds[i] = static_cast<int>(i / 2 % 5);
  Rng rng(2);
  Monitor silent;
  const LateFusionResult found = late_fusion(c.views, c.y, VectorXd(), folds, o, rng, silent);
  CHECK(found.lattice.rows() == 11);
  CHECK(found.model.share[0] > 0.5);
  CHECK(found.view_error[0] < found.view_error[1]);
  CHECK_NEAR(found.error.minCoeff(), found.error[static_cast<Index>(std::lround(10 * found.model.share[0]))], 1e-12);
  const MatrixXd p = late_fusion_posterior(found.model, c.views, 1, silent);
  CHECK_NEAR((p.rowwise().sum().array() - 1).abs().maxCoeff(), 0, 1e-12);
  o.share = {1, 3};
  CHECK_NEAR(late_fusion(c.views, c.y, VectorXd(), VectorXi(), o, rng, silent).model.share[1], 0.75, 1e-12);
}

TEST("a class gets fewer states than it has rows") {
  Cases c;
  fill(c, 2, 2, 1, 3, 1);
  HmmClassifierOptions o;
  o.learner.k = 5;
  Rng rng(1);
  Monitor silent;
  const HmmClassifierResult found = hmm_classifier(c.views[0], c.y, VectorXd(), o, rng, silent);
  CHECK(found.states[0] == 2 && found.states[1] == 2);
  const HmmClassScores scores = hmm_class_scores(found.member, c.views[0], 1, silent);
  CHECK_NEAR((scores.posterior.rowwise().sum().array() - 1).abs().maxCoeff(), 0, 1e-12);
}

TEST("features of a body do not depend on place, direction or size") {
  Rng rng(3);
  const MatrixXd frames = MatrixXd::NullaryExpr(4, 15, [&] { return rng.normal(); });
  SkeletonOptions o;
  o.origin = 1;
  o.plane = {0, 2, 4};
  o.pairs.resize(4, 2);
  o.pairs << 0, 1, 1, 2, 2, 3, 3, 4;
  const MatrixXd plain = skeleton_features(frames, o);
  CHECK(plain.cols() == 2 * (15 + 12));
  // a turn about an axis askew, a shift and another size
  MatrixXd turn(3, 3);
  const double a = 0.7, b = -1.1;
  turn << std::cos(a), -std::sin(a), 0, std::sin(a), std::cos(a), 0, 0, 0, 1;
  MatrixXd tilt(3, 3);
  tilt << 1, 0, 0, 0, std::cos(b), -std::sin(b), 0, std::sin(b), std::cos(b);
  const MatrixXd both = turn * tilt;
  MatrixXd moved(4, 15);
  for (Index t = 0; t < 4; ++t)
    for (Index j = 0; j < 5; ++j) moved.block(t, 3 * j, 1, 3) = (
        2.5 * (both * frames.block(t, 3 * j, 1, 3).transpose())).transpose().array() + 7;
  CHECK_NEAR((skeleton_features(moved, o) - plain).cwiseAbs().maxCoeff(), 0, 1e-9);
  for (Index t = 0; t < 4; ++t) {
    CHECK_NEAR(plain.block(t, 3, 1, 3).norm(), 0, 1e-12);                     // the origin
    CHECK_NEAR(plain(t, 2) - plain(t, 8), 0, 1e-9);                           // the plane lies across the third axis
    CHECK_NEAR(plain(t, 2) - plain(t, 14), 0, 1e-9);
    double length = 0;
    for (Index r = 0; r < 4; ++r) length += plain.block(t, 15 + 3 * r, 1, 3).norm();
    CHECK_NEAR(length, 1, 1e-9);
    CHECK_NEAR(plain(t, 27), t == 0 ? 0 : plain(t, 0) - plain(t - 1, 0), 1e-12);
  }
  SkeletonOptions line = o;
  line.plane = {0, 1, 1};
  CHECK_THROWS(skeleton_features(frames, line), InputError);
}
