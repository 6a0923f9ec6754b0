#include "core/sequence/cky.h"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

#include "core/base/errors.h"

namespace granary {
namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

// One way to make a nonterminal over a span; lanes are ranks (k best) or numbers of matched spans.
struct Entry {
  double score = minus_infinity;
  int rule = -1, split = -1;  // the left part ends with word `split`
  int left = -1, right = -1;  // lanes of the parts
};

bool before(const Entry& a, const Entry& b) {
  if (a.score != b.score) return a.score > b.score;
  if (a.rule != b.rule) return a.rule < b.rule;
  if (a.split != b.split) return a.split < b.split;
  if (a.left != b.left) return a.left < b.left;
  return a.right < b.right;
}

// chart(first, last, symbol) -> lanes. Lists hold only what exists.
class Chart {
 public:
  Chart(int words, int symbols) : words_(words), symbols_(symbols), cells_(static_cast<std::size_t>(words * words * symbols)) {}
  std::vector<Entry>& operator()(int first, int last, int symbol) {
    return cells_[static_cast<std::size_t>((first * words_ + last) * symbols_ + symbol)];
  }
  const std::vector<Entry>& operator()(int first, int last, int symbol) const {
    return cells_[static_cast<std::size_t>((first * words_ + last) * symbols_ + symbol)];
  }

  void unfold(const Grammar& grammar, int first, int last, int symbol, int lane, std::vector<int>& rules) const {
    const Entry& entry = (*this)(first, last, symbol)[static_cast<std::size_t>(lane)];
    rules.push_back(entry.rule);
    if (first == last) return;
    const Rule& rule = grammar.rules()[static_cast<std::size_t>(entry.rule)];
    unfold(grammar, first, entry.split, rule.first, entry.left, rules);
    unfold(grammar, entry.split + 1, last, rule.second, entry.right, rules);
  }

 private:
  int words_, symbols_;
  std::vector<std::vector<Entry>> cells_;
};

void fill_words(const Grammar& grammar, const std::vector<int>& words, const VectorXd& weights, Chart& chart) {
  for (int t = 0; t < static_cast<int>(words.size()); ++t) {
    const int word = words[static_cast<std::size_t>(t)];
    if (word < 0) continue;
    for (int r : grammar.of_word(word)) {
      if (weights[r] > minus_infinity) {
        Entry entry;
        entry.score = weights[r];
        entry.rule = r;
        chart(t, t, grammar.rules()[static_cast<std::size_t>(r)].left_hand).push_back(entry);
      }
    }
  }
}

// Every rule A -> B C with B over first..split and C over the rest.
template <class Visit>
void for_rules(const Grammar& grammar, const Chart& chart, int first, int split, int last, Visit&& visit) {
  for (int b = 0; b < grammar.symbols(); ++b) {
    const std::vector<Entry>& left = chart(first, split, b);
    if (left.empty()) continue;
    for (int r : grammar.by_first(b)) {
      const Rule& rule = grammar.rules()[static_cast<std::size_t>(r)];
      const std::vector<Entry>& right = chart(split + 1, last, rule.second);
      if (!right.empty()) visit(r, rule, left, right);
    }
  }
}

void require_words(const std::vector<int>& words) {
  if (words.empty()) throw InputError("a sentence needs at least one word.");
}

}  // namespace

Grammar::Grammar(std::vector<Rule> rules, int symbols, int words, int start)
    : rules_(std::move(rules)),
      symbols_(symbols),
      start_(start),
      by_first_(static_cast<std::size_t>(symbols)),
      of_word_(static_cast<std::size_t>(words)) {
  if (start < 0 || start >= symbols) throw InputError("the start symbol must be a nonterminal of the grammar.");
  std::set<std::tuple<int, int, int>> seen;
  for (std::size_t r = 0; r < rules_.size(); ++r) {
    const Rule& rule = rules_[r];
    const bool fine = rule.left_hand >= 0 && rule.left_hand < symbols && rule.first >= 0 &&
                      rule.first < (rule.lexical() ? words : symbols) && rule.second < symbols;
    if (!fine) throw InputError("a rule names a symbol that is not in the grammar.");
    if (!seen.insert(std::make_tuple(rule.left_hand, rule.first, rule.second)).second) {
      throw InputError("every rule of a grammar must be there once only.");
    }
    if (rule.lexical()) {
      of_word_[static_cast<std::size_t>(rule.first)].push_back(static_cast<int>(r));
    } else {
      by_first_[static_cast<std::size_t>(rule.first)].push_back(static_cast<int>(r));
    }
  }
}

std::vector<Span> tree_spans(const Grammar& grammar, const std::vector<int>& rules, int length) {
  std::vector<Span> spans;
  std::size_t next = 0;
  const auto bad = [] { throw InputError("the rules do not make a tree over the sentence."); };
  int word = 0;
  // Recursive descent, by an own stack: what is still expected, with markers for the ends of spans.
  struct Task {
    int symbol;  // expected, or -1 for the end of span `span`
    std::size_t span;
  };
  std::vector<Task> stack = {{grammar.start(), 0}};
  while (!stack.empty()) {
    const Task task = stack.back();
    stack.pop_back();
    if (task.symbol < 0) {
      spans[task.span].last = word - 1;
      continue;
    }
    if (next >= rules.size() || rules[next] < 0 || rules[next] >= static_cast<int>(grammar.rules().size())) bad();
    const Rule& rule = grammar.rules()[static_cast<std::size_t>(rules[next++])];
    if (rule.left_hand != task.symbol) bad();
    if (rule.lexical()) {
      ++word;
      continue;
    }
    spans.push_back({word, word, rule.left_hand});
    stack.push_back({-1, spans.size() - 1});
    stack.push_back({rule.second, 0});
    stack.push_back({rule.first, 0});
  }
  if (next != rules.size() || word != length) bad();
  return spans;
}

std::vector<ParseTree> cky(const Grammar& grammar, const std::vector<int>& words, const VectorXd& weights, int k,
                           const SpanBonus& bonus) {
  require_words(words);
  if (k < 1) throw InputError("the number of best trees must be at least 1.");
  const int n = static_cast<int>(words.size());
  Chart chart(n, grammar.symbols());
  fill_words(grammar, words, weights, chart);
  for (int width = 2; width <= n; ++width) {
    for (int first = 0; first + width <= n; ++first) {
      const int last = first + width - 1;
      for (int split = first; split < last; ++split) {
        for_rules(grammar, chart, first, split, last,
                  [&](int r, const Rule& rule, const std::vector<Entry>& left, const std::vector<Entry>& right) {
                    if (weights[r] == minus_infinity) return;
                    std::vector<Entry>& cell = chart(first, last, rule.left_hand);
                    // the pairs (a, b) of ranks with (a + 1)(b + 1) <= k can be among the k best
                    for (int a = 0; a < static_cast<int>(left.size()); ++a) {
                      for (int b = 0; b < static_cast<int>(right.size()) && (a + 1) * (b + 1) <= k; ++b) {
                        const double score =
                            weights[r] + left[static_cast<std::size_t>(a)].score + right[static_cast<std::size_t>(b)].score;
                        const Entry entry = {score, r, split, a, b};
                        if (static_cast<int>(cell.size()) < k) {
                          cell.push_back(entry);
                          std::push_heap(cell.begin(), cell.end(), before);  // the worst on top
                        } else if (before(entry, cell.front())) {
                          std::pop_heap(cell.begin(), cell.end(), before);
                          cell.back() = entry;
                          std::push_heap(cell.begin(), cell.end(), before);
                        }
                      }
                    }
                  });
      }
      for (int symbol = 0; symbol < grammar.symbols(); ++symbol) {
        std::vector<Entry>& cell = chart(first, last, symbol);
        std::sort(cell.begin(), cell.end(), before);
        const auto extra = bonus.find({first, last, symbol});
        if (extra == bonus.end()) continue;
        for (Entry& entry : cell) entry.score += extra->second;
      }
    }
  }
  std::vector<ParseTree> trees;
  const std::vector<Entry>& top = chart(0, n - 1, grammar.start());
  for (int lane = 0; lane < static_cast<int>(top.size()); ++lane) {
    ParseTree tree;
    tree.score = top[static_cast<std::size_t>(lane)].score;
    chart.unfold(grammar, 0, n - 1, grammar.start(), lane, tree.rules);
    trees.push_back(std::move(tree));
  }
  return trees;
}

std::vector<ParseTree> cky_matches(const Grammar& grammar, const std::vector<int>& words, const VectorXd& weights,
                                   const std::vector<Span>& spans) {
  require_words(words);
  const int n = static_cast<int>(words.size());
  const std::set<Span> wanted(spans.begin(), spans.end());
  // Lanes: number of matched spans inside; at most those of the given tree that lie within the span.
  const auto within = [&](int first, int last) {
    int count = 0;
    for (const Span& span : wanted) count += span.first >= first && span.last <= last;
    return count;
  };
  Chart chart(n, grammar.symbols());
  fill_words(grammar, words, weights, chart);
  for (int width = 2; width <= n; ++width) {
    for (int first = 0; first + width <= n; ++first) {
      const int last = first + width - 1, lanes = within(first, last) + 1;
      for (int split = first; split < last; ++split) {
        for_rules(grammar, chart, first, split, last,
                  [&](int r, const Rule& rule, const std::vector<Entry>& left, const std::vector<Entry>& right) {
                    std::vector<Entry>& cell = chart(first, last, rule.left_hand);
                    const int own = wanted.count({first, last, rule.left_hand}) > 0 ? 1 : 0;
                    for (int a = 0; a < static_cast<int>(left.size()); ++a) {
                      const double half = weights[r] + left[static_cast<std::size_t>(a)].score;
                      if (half == minus_infinity) continue;
                      for (int b = 0; b < static_cast<int>(right.size()); ++b) {
                        const double score = half + right[static_cast<std::size_t>(b)].score;
                        if (score == minus_infinity) continue;
                        if (cell.empty()) cell.resize(static_cast<std::size_t>(lanes));
                        const Entry entry = {score, r, split, a, b};
                        Entry& best = cell[static_cast<std::size_t>(a + b + own)];
                        if (before(entry, best)) best = entry;
                      }
                    }
                  });
      }
    }
  }
  const std::vector<Entry>& top = chart(0, n - 1, grammar.start());
  std::vector<ParseTree> trees(top.size());
  for (std::size_t lane = 0; lane < top.size(); ++lane) {
    if (top[lane].rule < 0) continue;
    trees[lane].score = top[lane].score;
    chart.unfold(grammar, 0, n - 1, grammar.start(), static_cast<int>(lane), trees[lane].rules);
  }
  return trees;
}

}  // namespace granary
