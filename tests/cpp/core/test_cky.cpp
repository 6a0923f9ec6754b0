#include <algorithm>
#include <functional>
#include <limits>

#include "core/sequence/cky.h"
#include "core/base/errors.h"
#include "core/random/rng.h"
#include "harness.h"
#include "kernel/structured_cfg.h"

using namespace granary;
using namespace granary::kernel;

namespace {

// Three nonterminals, two words, all rules but a few.
Grammar dense_grammar() {
  std::vector<Rule> rules;
  for (int a = 0; a < 3; ++a) {
    for (int b = 0; b < 3; ++b) {
      for (int c = 0; c < 3; ++c) {
        if ((a + 2 * b + c) % 4 != 0) rules.push_back({a, b, c});
      }
    }
    for (int w = 0; w < 2; ++w) {
      if (a != 2 || w != 1) rules.push_back({a, w, -1});
    }
  }
  return Grammar(rules, 3, 2, 0);
}

// All parses of words first..last as `symbol`, in preorder.
std::vector<std::vector<int>> all_parses(const Grammar& g, const std::vector<int>& words, int first, int last, int symbol) {
  std::vector<std::vector<int>> out;
  for (int r = 0; r < static_cast<int>(g.rules().size()); ++r) {
    const Rule& rule = g.rules()[static_cast<std::size_t>(r)];
    if (rule.left_hand != symbol) continue;
    if (rule.lexical()) {
      if (first == last && words[static_cast<std::size_t>(first)] == rule.first) out.push_back({r});
      continue;
    }
    for (int split = first; split < last; ++split) {
      for (const std::vector<int>& left : all_parses(g, words, first, split, rule.first)) {
        for (const std::vector<int>& right : all_parses(g, words, split + 1, last, rule.second)) {
          std::vector<int> tree = {r};
          tree.insert(tree.end(), left.begin(), left.end());
          tree.insert(tree.end(), right.begin(), right.end());
          out.push_back(tree);
        }
      }
    }
  }
  return out;
}

double weight_of(const std::vector<int>& tree, const VectorXd& w) {
  double sum = 0;
  for (int r : tree) sum += w[r];
  return sum;
}

}  // namespace

TEST("cky finds the k best of all parses, with and without bonuses") {
  Rng rng(1);
  const Grammar g = dense_grammar();
  for (int trial = 0; trial < 10; ++trial) {
    VectorXd w(static_cast<Index>(g.rules().size()));
    for (Index r = 0; r < w.size(); ++r) w[r] = rng.normal();
    std::vector<int> words;
    for (int t = 0; t < 1 + trial % 5; ++t) words.push_back(static_cast<int>(rng.uniform() * 2));
    const int n = static_cast<int>(words.size());
    std::vector<std::vector<int>> all = all_parses(g, words, 0, n - 1, 0);
    SpanBonus bonus;
    if (trial % 2 == 1) bonus = {{{0, 1, 1}, 0.7}, {{1, n - 1, 2}, -2.0}};
    const auto value = [&](const std::vector<int>& tree) {
      double sum = weight_of(tree, w);
      for (const Span& s : tree_spans(g, tree, n)) sum += bonus.count(s) > 0 ? bonus[s] : 0;
      return sum;
    };
    std::vector<double> scores;
    for (const std::vector<int>& tree : all) scores.push_back(value(tree));
    std::sort(scores.rbegin(), scores.rend());
    for (int k : {1, 2, 7}) {
      const std::vector<ParseTree> best = cky(g, words, w, k, bonus);
      CHECK(best.size() == std::min(all.size(), static_cast<std::size_t>(k)));
      for (std::size_t r = 0; r < best.size(); ++r) {
        CHECK_NEAR(best[r].score, scores[r], 1e-12);
        CHECK_NEAR(value(best[r].rules), scores[r], 1e-12);
        for (std::size_t s = 0; s < r; ++s) CHECK(best[s].rules != best[r].rules);
      }
    }
  }
}

TEST("cfg output: every search agrees with the enumeration of all parses, for both losses") {
  Rng rng(2);
  const Grammar g = dense_grammar();
  const std::vector<Search> searches = {
      {Rescale::none, false}, {Rescale::margin, false}, {Rescale::margin, true}, {Rescale::slack, false}, {Rescale::slack, true}};
  std::vector<std::vector<int>> sentences = {{0}, {0, 1}, {0, 0, 1}, {1, 0, 0, 1}, {0, 1, 0, 1, 0}};
  std::vector<Label> trees;
  for (const std::vector<int>& words : sentences) {
    const auto all = all_parses(g, words, 0, static_cast<int>(words.size()) - 1, 0);
    trees.push_back(all[static_cast<std::size_t>(rng.uniform() * static_cast<double>(all.size()))]);
  }
  for (bool f1 : {false, true}) {
    const CfgOutput output(g, sentences, trees, f1);
    for (int trial = 0; trial < 4; ++trial) {
      VectorXd w(output.features());
      for (Index r = 0; r < w.size(); ++r) w[r] = rng.normal() * (trial % 2 == 0 ? 0.1 : 1);
      for (Index i = 0; i < output.size(); ++i) {
        const std::vector<int>& words = sentences[static_cast<std::size_t>(i)];
        const int n = static_cast<int>(words.size());
        std::vector<Span> right = tree_spans(g, output.truth(i), n);
        CHECK(static_cast<int>(right.size()) == n - 1);
        double top = -1e300;
        std::vector<double> best(searches.size(), -std::numeric_limits<double>::infinity());
        for (const std::vector<int>& y : all_parses(g, words, 0, n - 1, 0)) {
          const double score = weight_of(y, w);
          CHECK_NEAR(score, output.psi(i, y).dot(w), 1e-12);
          top = std::max(top, score);
          double common = 0;
          for (const Span& s : tree_spans(g, y, n)) common += std::count(right.begin(), right.end(), s);
          const double loss = y == output.truth(i) ? 0 : !f1 || n == 1 ? 1 : 1 - common / (n - 1);
          CHECK_NEAR(loss, output.loss(i, y), 1e-12);
          if (y == output.truth(i)) continue;
          CHECK(std::sqrt(dot(output.difference(i, y), output.difference(i, y))) <= output.radius_bound(i));
          for (std::size_t s = 0; s < searches.size(); ++s) {
            if (searches[s].rescale == Rescale::slack && loss < 1e-9) continue;
            best[s] = std::max(best[s], searches[s].violation(loss, score - weight_of(output.truth(i), w)));
          }
        }
        CHECK_NEAR(weight_of(output.predict(i, w), w), top, 1e-12);
        for (std::size_t s = 0; s < searches.size(); ++s) {
          const Label y = output.most_violated(i, w, searches[s]);
          if (y.empty()) {
            CHECK(best[s] <= 1e-12);
          } else {
            const double h = searches[s].violation(output.loss(i, y), weight_of(y, w) - weight_of(output.truth(i), w));
            CHECK(std::abs(h - best[s]) < 1e-9 || (best[s] <= 0 && h <= 0));
          }
        }
      }
    }
  }
}

TEST("cky: no parse, unknown words, grammars and trees that are none") {
  const Grammar g({{0, 1, 1}, {1, 0, -1}}, 2, 1, 0);
  const VectorXd w = VectorXd::Zero(2);
  CHECK(cky(g, {0}, w).empty());
  CHECK(cky(g, {0, -1}, w).empty());
  CHECK(cky(g, {0, 0}, w).size() == 1);
  CHECK(cky_matches(g, {0, -1}, w, {}).empty());
  CHECK_THROWS(cky(g, {}, w), InputError);
  CHECK_THROWS(cky(g, {0}, w, 0), InputError);
  CHECK_THROWS(tree_spans(g, {0, 1}, 2), InputError);
  CHECK_THROWS(tree_spans(g, {1}, 1), InputError);
  CHECK_THROWS(tree_spans(g, {0, 1, 1, 1}, 3), InputError);
  CHECK_THROWS(Grammar({{0, 2, 1}}, 2, 1, 0), InputError);
  CHECK_THROWS(Grammar({{0, 0, -1}, {0, 0, -1}}, 1, 1, 0), InputError);
  CHECK_THROWS(Grammar({}, 1, 1, 1), InputError);
}
