#include <algorithm>
#include <limits>

#include "core/sequence/chain.h"
#include "core/base/errors.h"
#include "core/math/logspace.h"
#include "core/random/rng.h"
#include "harness.h"

using namespace granary;

namespace {

ChainScores random_scores(Rng& rng, Index k, Index t, bool second, bool by_position) {
  ChainScores s;
  s.unary.resize(k, t);
  for (Index j = 0; j < t; ++j) {
    for (Index c = 0; c < k; ++c) s.unary(c, j) = rng.normal();
  }
  s.pair.resize(static_cast<std::size_t>(k * k * (by_position && t > 1 ? t - 1 : 1)));
  for (double& v : s.pair) v = rng.normal();
  if (second) s.triple.resize(static_cast<std::size_t>(k * k * k));
  for (double& v : s.triple) v = rng.normal();
  return s;
}

// All K^T sequences, best first.
std::vector<ChainPath> enumerate(const ChainScores& s) {
  std::vector<ChainPath> all;
  std::vector<int> y(static_cast<std::size_t>(s.length()), 0);
  for (;;) {
    ChainPath path;
    path.labels = y;
    const Index k = s.labels();
    for (std::size_t t = 0; t < y.size(); ++t) {
      path.score += s.unary(y[t], static_cast<Index>(t));
      if (t > 0) path.score += s.pair_at(static_cast<Index>(t) - 1)[y[t - 1] + k * y[t]];
      if (t > 1 && s.second_order()) path.score += s.triple[static_cast<std::size_t>(y[t - 2] + k * y[t - 1] + k * k * y[t])];
    }
    all.push_back(path);
    std::size_t t = 0;
    while (t < y.size() && ++y[t] == static_cast<int>(k)) y[t++] = 0;
    if (t == y.size()) break;
  }
  std::sort(all.begin(), all.end(), [](const ChainPath& a, const ChainPath& b) { return a.score > b.score; });
  return all;
}

}  // namespace

TEST("viterbi finds the k best of all sequences, in both orders") {
  Rng rng(1);
  for (int trial = 0; trial < 40; ++trial) {
    const Index k = 1 + trial % 3, t = 1 + trial % 5;
    const ChainScores s = random_scores(rng, k, t, trial % 2 == 1, trial % 4 > 1);
    const std::vector<ChainPath> all = enumerate(s);
    for (int count : {1, 2, 5, 300}) {
      const std::vector<ChainPath> best = viterbi(s, count);
      CHECK(best.size() == std::min(all.size(), static_cast<std::size_t>(count)));
      for (std::size_t r = 0; r < best.size(); ++r) {
        CHECK_NEAR(best[r].score, all[r].score, 1e-12);
        CHECK(best[r].labels == all[r].labels);
        CHECK_NEAR(chain_score(s, best[r].labels), all[r].score, 1e-12);
      }
    }
  }
}

TEST("viterbi by number of errors agrees with enumeration") {
  Rng rng(2);
  for (int trial = 0; trial < 40; ++trial) {
    const Index k = 1 + trial % 3, t = 1 + trial % 5;
    const ChainScores s = random_scores(rng, k, t, trial % 2 == 1, trial % 4 > 1);
    std::vector<int> truth;
    for (Index j = 0; j < t; ++j) truth.push_back(static_cast<int>(rng.uniform() * static_cast<double>(k)));
    std::vector<double> best(static_cast<std::size_t>(t) + 1, -std::numeric_limits<double>::infinity());
    for (const ChainPath& path : enumerate(s)) {
      std::size_t wrong = 0;
      for (std::size_t j = 0; j < truth.size(); ++j) wrong += truth[j] != path.labels[j];
      best[wrong] = std::max(best[wrong], path.score);
    }
    const std::vector<ChainPath> levels = viterbi_errors(s, truth);
    CHECK(levels.size() == truth.size() + 1);
    for (std::size_t e = 0; e < levels.size(); ++e) {
      CHECK(levels[e].labels.empty() == std::isinf(best[e]));
      if (!levels[e].labels.empty()) CHECK_NEAR(levels[e].score, best[e], 1e-12);
    }
  }
}

TEST("forward-backward sums over all sequences") {
  Rng rng(3);
  for (int trial = 0; trial < 24; ++trial) {
    const Index k = 1 + trial % 3, t = 1 + trial % 5;
    const ChainScores s = random_scores(rng, k, t, trial % 2 == 1, trial % 4 > 1);
    LogSumExp sum;
    const std::vector<ChainPath> all = enumerate(s);
    for (const ChainPath& path : all) sum.add(path.score);
    const ChainMarginals m = forward_backward(s);
    CHECK_NEAR(m.log_partition, sum.value(), 1e-10);
    MatrixXd unary = MatrixXd::Zero(k, t);
    std::vector<double> pair(m.pair.size(), 0.0), triple(m.triple.size(), 0.0);
    for (const ChainPath& path : all) {
      const double p = std::exp(path.score - sum.value());
      for (std::size_t j = 0; j < path.labels.size(); ++j) {
        const Index a = path.labels[j];
        unary(a, static_cast<Index>(j)) += p;
        if (j + 1 < path.labels.size())
          pair[static_cast<std::size_t>(static_cast<Index>(j) * k * k + a + k * path.labels[j + 1])] += p;
        if (j + 2 < path.labels.size() && !triple.empty()) {
          triple[static_cast<std::size_t>(a + k * path.labels[j + 1] + k * k * path.labels[j + 2])] += p;
        }
      }
    }
    CHECK_NEAR((unary - m.unary).cwiseAbs().maxCoeff(), 0, 1e-10);
    for (std::size_t j = 0; j < pair.size(); ++j) CHECK_NEAR(pair[j], m.pair[j], 1e-10);
    for (std::size_t j = 0; j < triple.size(); ++j) CHECK_NEAR(triple[j], m.triple[j], 1e-10);
  }
}

TEST("chains: long sequences, forbidden transitions, ties and wrong shapes") {
  Rng rng(4);
  ChainScores s = random_scores(rng, 3, 20000, false, false);
  s.unary *= 1e8;
  CHECK(std::isfinite(viterbi(s)[0].score));
  CHECK_NEAR(forward_backward(s).log_partition / viterbi(s)[0].score, 1, 1e-8);
  s = random_scores(rng, 2, 4, false, false);
  s.pair[0 + 2 * 1] = -std::numeric_limits<double>::infinity();  // 0 -> 1
  for (const ChainPath& path : viterbi(s, 20)) {
    for (std::size_t t = 1; t < 4; ++t) CHECK(!(path.labels[t - 1] == 0 && path.labels[t] == 1));
  }
  s.unary.setZero();
  s.pair.assign(4, 0.0);
  CHECK(viterbi(s)[0].labels == std::vector<int>(4, 0));
  CHECK(viterbi(s, 2)[0].labels == std::vector<int>(4, 0));
  s.unary.setConstant(-std::numeric_limits<double>::infinity());
  CHECK(viterbi(s).empty());
  CHECK(viterbi(s, 2).empty());
  s.pair.resize(3);
  CHECK_THROWS(viterbi(s), InputError);
  s.pair.resize(4);
  CHECK_THROWS(viterbi(s, 0), InputError);
  CHECK_THROWS(viterbi_errors(s, {0, 1}), InputError);
}
