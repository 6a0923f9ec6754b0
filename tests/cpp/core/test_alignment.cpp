#include <functional>

#include "core/sequence/alignment.h"
#include "core/base/errors.h"
#include "core/random/rng.h"
#include "harness.h"
#include "kernel/structured_align.h"

using namespace granary;
using namespace granary::kernel;

namespace {

// Every alignment of x and y.
void for_all_alignments(const std::vector<int>& x, const std::vector<int>& y,
                        const std::function<void(const Alignment&)>& visit) {
  std::function<void(Alignment&, std::size_t, std::size_t)> extend = [&](Alignment& a, std::size_t i, std::size_t j) {
    visit(a);
    for (int step = 0; step < 3; ++step) {
      const std::size_t ni = i + (step != insert_step), nj = j + (step != delete_step);
      if (ni > x.size() || nj > y.size()) continue;
      a.steps.push_back(step);
      extend(a, ni, nj);
      a.steps.pop_back();
    }
  };
  for (std::size_t i = 0; i <= x.size(); ++i) {
    for (std::size_t j = 0; j <= y.size(); ++j) {
      Alignment a;
      a.start_x = static_cast<int>(i);
      a.start_y = static_cast<int>(j);
      extend(a, i, j);
    }
  }
}

std::vector<int> random_sequence(Rng& rng, int length) {
  std::vector<int> x;
  for (int t = 0; t < length; ++t) x.push_back(static_cast<int>(rng.uniform() * 3));
  return x;
}

}  // namespace

TEST("smith_waterman finds the best of all alignments, with gaps of any sign") {
  Rng rng(1);
  for (int trial = 0; trial < 60; ++trial) {
    MatrixXd pairs(3, 3);
    for (Index k = 0; k < 9; ++k) pairs.data()[k] = rng.normal();
    const AlignmentScores scores = {pairs, rng.normal() - 0.5, trial % 2 == 0 ? rng.normal() - 0.5 : -0.1};
    const std::vector<int> x = random_sequence(rng, trial % 5), y = random_sequence(rng, (trial / 5) % 5);
    double best = 0;
    for_all_alignments(x, y, [&](const Alignment& a) { best = std::max(best, alignment_score(x, y, a, scores)); });
    const Alignment found = smith_waterman(x, y, scores);
    CHECK_NEAR(found.score, best, 1e-12);
    CHECK_NEAR(alignment_score(x, y, found, scores), best, 1e-12);
  }
}

TEST("smith_waterman: a worked example, and an alignment that does not fit") {
  MatrixXd pairs = MatrixXd::Constant(4, 4, -1);
  pairs.diagonal().setConstant(2);
  // ACGT against AGT: A, gap, G, T
  const Alignment a = smith_waterman({0, 1, 2, 3}, {0, 2, 3}, {pairs, -1, -1});
  CHECK_NEAR(a.score, 5, 0);
  CHECK((a.steps == std::vector<int>{0, 1, 0, 0}));
  CHECK(a.start_x == 0 && a.start_y == 0);
  const Alignment dear = smith_waterman({0, 1, 2, 3}, {0, 2, 3}, {pairs, -5, -5});
  CHECK_NEAR(dear.score, 4, 0);
  CHECK(dear.start_x == 2 && dear.start_y == 1);
  Alignment beyond = a;
  beyond.steps.push_back(0);
  CHECK_THROWS(alignment_score({0, 1, 2, 3}, {0, 2, 3}, beyond, {pairs, -1, -1}), InputError);
}

TEST("alignment output: searches agree with the enumeration over decoys and alignments") {
  Rng rng(2);
  for (bool affine : {false, true}) {
    std::vector<AlignExample> examples(4);
    for (AlignExample& e : examples) {
      e.native = random_sequence(rng, 4);
      for (int c = 0; c < 3; ++c) e.candidates.push_back(random_sequence(rng, 3 + c % 2));
      e.truth = {0, 1, 0, 0, 1, 0, 2};
    }
    const AlignOutput output(examples, 3, affine);
    VectorXd w(output.features());
    for (Index k = 0; k < w.size(); ++k) w[k] = rng.normal();
    for (Index i = 0; i < output.size(); ++i) {
      double decoys = 0, all = 0;
      for (int c = 0; c < 3; ++c) {
        const AlignExample& e = examples[static_cast<std::size_t>(i)];
        for_all_alignments(e.native, e.candidates[static_cast<std::size_t>(c)], [&](const Alignment& a) {
          Label y = {c, a.start_x, a.start_y};
          y.insert(y.end(), a.steps.begin(), a.steps.end());
          const double score = output.psi(i, y).dot(w);
          all = std::max(all, score);
          if (c != 0) decoys = std::max(decoys, score);
          CHECK(std::sqrt(dot(output.difference(i, y), output.difference(i, y))) <= output.radius_bound(i));
        });
      }
      CHECK_NEAR(output.psi(i, output.predict(i, w)).dot(w), all, 1e-12);
      const Label worst = output.most_violated(i, w, {Rescale::margin, true});
      CHECK(worst[0] != 0);
      CHECK_NEAR(output.psi(i, worst).dot(w), decoys, 1e-12);
      CHECK(output.loss(i, worst) == 1 && output.loss(i, output.truth(i)) == 0);
    }
    examples[0].truth = {0, 4, 0, 0};
    CHECK_THROWS(AlignOutput(examples, 3, affine), InputError);
  }
}
