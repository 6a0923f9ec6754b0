#include "kernel/structured_cfg.h"

#include <algorithm>
#include <utility>

namespace granary::kernel {

CfgOutput::CfgOutput(Grammar grammar, std::vector<std::vector<int>> sentences, std::vector<Label> trees, bool f1)
    : grammar_(std::move(grammar)), sentences_(std::move(sentences)), trees_(std::move(trees)), f1_(f1) {
  for (std::size_t i = 0; i < trees_.size(); ++i) {
    spans_.push_back(tree_spans(grammar_, trees_[i], length(static_cast<Index>(i))));
    std::sort(spans_.back().begin(), spans_.back().end());
  }
}

void CfgOutput::add_psi(Index, const Label& y, double factor, SparseBuilder& psi) const {
  for (int rule : y) psi.add(rule, factor);
}

double CfgOutput::loss(Index i, const Label& y) const {
  if (!f1_ || length(i) == 1) return y == truth(i) ? 0 : 1;
  const std::vector<Span>& right = spans_[static_cast<std::size_t>(i)];
  int common = 0;
  for (const Span& span : tree_spans(grammar_, y, length(i))) common += std::binary_search(right.begin(), right.end(), span);
  return 1 - static_cast<double>(common) / static_cast<double>(right.size());
}

Label CfgOutput::predict(Index i, const VectorXd& v) const {
  std::vector<ParseTree> best = cky(grammar_, sentences_[static_cast<std::size_t>(i)], v);
  return best.empty() ? Label() : std::move(best[0].rules);
}

Label CfgOutput::most_violated(Index i, const VectorXd& v, const Search& search) const {
  const std::vector<int>& words = sentences_[static_cast<std::size_t>(i)];
  const Label& right = truth(i);
  if (!f1_ || length(i) == 1 || search.rescale == Rescale::none) {
    for (ParseTree& tree : cky(grammar_, words, v, 2)) {
      if (tree.rules != right) return std::move(tree.rules);
    }
    return {};
  }
  const std::vector<Span>& spans = spans_[static_cast<std::size_t>(i)];
  const double share = 1 / static_cast<double>(spans.size());
  if (search.rescale == Rescale::margin && !search.root) {
    SpanBonus bonus;
    for (const Span& span : spans) bonus[span] = -share;
    Label best = std::move(cky(grammar_, words, v, 1, bonus)[0].rules);
    return best == right ? Label() : best;  // H is 0 at the truth: then nothing is violated
  }
  std::vector<ParseTree> levels = cky_matches(grammar_, words, v, spans);
  BestViolation best(search, psi(i, right).dot(v));
  for (std::size_t m = 0; m < levels.size(); ++m) {
    const ParseTree& tree = levels[m];
    if (tree.rules.empty() || tree.rules == right) continue;
    best.offer(tree.score, m == spans.size() ? 0 : 1 - static_cast<double>(m) * share, static_cast<int>(m));
  }
  if (best.id() < 0) return {};
  return std::move(levels[static_cast<std::size_t>(best.id())].rules);
}

// Section 4.5.3.
double CfgOutput::radius_bound(Index i) const {
  const double n = length(i);
  return std::sqrt(4 * n * n + 4 * (n - 1) * (n - 1));
}

}  // namespace granary::kernel
