// Parsing with a weighted context-free grammar in Chomsky normal form.
//
//   the weight of a tree is the sum of the weights of its rules  A -> B C  and  A -> word
//
//   cky          the k best trees, O(N^3 |G| k log k) (Younger 1967)
//   cky_matches  the best tree with exactly m labelled spans in common with a given tree, for m = 0, 1, ...
//   both take a bonus per labelled span, for losses that add up over spans
//
// A tree is coded by its rules in preorder (root, left part, right part), which with the sentence says all. Only spans of two
// words or more count as labelled spans. Rules of weight -infinity are never used. Among equal weights: the lower rule, the
// earlier split, the better ranked parts.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "core/base/fields.h"
#include "core/base/types.h"

namespace granary {

struct Rule {
  int left_hand = 0;            // A
  int first = -1, second = -1;  // B, C; a word's number and -1 for A -> word
  bool lexical() const { return second < 0; }
};

class Grammar {
 public:
  Grammar(std::vector<Rule> rules, int symbols, int words, int start);

  const std::vector<Rule>& rules() const { return rules_; }
  int symbols() const { return symbols_; }
  int start() const { return start_; }
  const std::vector<int>& by_first(int b) const { return by_first_[static_cast<std::size_t>(b)]; }  // numbers of rules A -> b C
  const std::vector<int>& of_word(int word) const { return of_word_[static_cast<std::size_t>(word)]; }  // A -> word

 private:
  std::vector<Rule> rules_;
  int symbols_, start_;
  std::vector<std::vector<int>> by_first_, of_word_;
};

// A labelled span: words first..last (inclusive), nonterminal.
struct Span {
  int first, last, symbol;
  bool operator<(const Span& o) const {
    return first != o.first ? first < o.first : last != o.last ? last < o.last : symbol < o.symbol;
  }
  bool operator==(const Span& o) const { return first == o.first && last == o.last && symbol == o.symbol; }
};

struct ParseTree {
  double score = 0;
  std::vector<int> rules;  // preorder; empty: none
};
template <class V>
void fields(V& v, ParseTree& t) {
  v("score", t.score);
  v("rules", t.rules);
}

// Spans of two words and more, in preorder. InputError where the rules do not make a tree over `length` words.
std::vector<Span> tree_spans(const Grammar& grammar, const std::vector<int>& rules, int length);

using SpanBonus = std::map<Span, double>;

// Words: numbers, or -1 for a word without a rule. No tree where there is no parse.
std::vector<ParseTree> cky(const Grammar& grammar, const std::vector<int>& words, const VectorXd& weights, int k = 1,
                           const SpanBonus& bonus = SpanBonus());

// Element m: the best tree with m spans among `spans`.
std::vector<ParseTree> cky_matches(const Grammar& grammar, const std::vector<int>& words, const VectorXd& weights,
                                   const std::vector<Span>& spans);

}  // namespace granary
