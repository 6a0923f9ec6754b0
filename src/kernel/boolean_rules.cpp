#include "kernel/boolean_rules.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"

namespace granary::kernel {

namespace {

bool before(const BooleanRule& a, const BooleanRule& b) {
  if (std::abs(a.weight) != std::abs(b.weight)) return std::abs(a.weight) > std::abs(b.weight);
  if (a.attributes != b.attributes) return a.attributes < b.attributes;
  return a.negated < b.negated;
}

bool satisfies(const BitRows& x, Index i, const BooleanRule& rule) {
  for (std::size_t k = 0; k < rule.attributes.size(); ++k)
    if (x.test(i, rule.attributes[k]) == static_cast<bool>(rule.negated[k])) return false;
  return true;
}

class Search {
 public:
  Search(const BitRows& x, ConstVectorRef beta, const BooleanRuleOptions& o, Monitor& monitor)
      : x_(x), beta_(beta), o_(o), monitor_(monitor), g_(o.kernel.damping), top_(static_cast<std::size_t>(o.top)) {
    const int n = static_cast<int>(x.columns());
    longest_ = o.kernel.max_length == 0 ? n : std::min(n, o.kernel.max_length);
    if (o.max_length > 0) longest_ = std::min(longest_, o.max_length);
  }
  BooleanRules run() {
    std::vector<Index> rows;
    for (Index i = 0; i < x_.rows(); ++i)
      if (beta_[i] != 0) rows.push_back(i);
    if (o_.kernel.min_length == 0) visit(rows);
    extend(rows, 0);
    std::sort_heap(found_.begin(), found_.end(), before);
    return {found_, searched_};
  }

 private:
  // The weight of the conjunction in hand, kept where it is among the best.
  void visit(const std::vector<Index>& rows) {
    double sum = 0;
    for (const Index i : rows) sum += beta_[i];
    rule_.weight = sum * std::pow(g_, static_cast<double>(rule_.attributes.size()));
    if (rule_.weight == 0) return;
    if (found_.size() < top_) {
      found_.push_back(rule_);
      std::push_heap(found_.begin(), found_.end(), before);
    } else if (before(rule_, found_.front())) {
      std::pop_heap(found_.begin(), found_.end(), before);
      found_.back() = rule_;
      std::push_heap(found_.begin(), found_.end(), before);
    }
  }
  // What any longer conjunction can weigh at most.
  double bound(const std::vector<Index>& rows) const {
    double up = 0, down = 0;
    for (const Index i : rows) (beta_[i] > 0 ? up : down) += std::abs(beta_[i]);
    const double length = static_cast<double>(rule_.attributes.size());
    return std::max(up, down) * std::pow(g_, g_ <= 1 ? length : static_cast<double>(longest_));
  }
  void extend(const std::vector<Index>& rows, Index from) {
    if (static_cast<int>(rule_.attributes.size()) >= longest_) return;
    for (Index j = from; j < x_.columns(); ++j) {
      for (int negated = 0; negated <= (o_.kernel.literals == Literals::with_negations ? 1 : 0); ++negated) {
        std::vector<Index> kept;
        for (const Index i : rows)
          if (x_.test(i, j) != static_cast<bool>(negated)) kept.push_back(i);
        if (kept.empty()) continue;
        if (std::fmod(++searched_, 1024) == 0) monitor_.check();
        rule_.attributes.push_back(j);
        rule_.negated.push_back(static_cast<char>(negated));
        if (static_cast<int>(rule_.attributes.size()) >= o_.kernel.min_length) visit(kept);
        const bool full = found_.size() == top_;
        if (!full || bound(kept) >= std::abs(found_.front().weight)) extend(kept, j + 1);
        rule_.attributes.pop_back();
        rule_.negated.pop_back();
      }
    }
  }

  const BitRows& x_;
  const VectorXd beta_;
  BooleanRuleOptions o_;
  Monitor& monitor_;
  double g_, searched_ = 0;
  int longest_ = 0;
  std::size_t top_;
  BooleanRule rule_;
  std::vector<BooleanRule> found_;  // a heap, the least on top
};

}  // namespace

BooleanRules boolean_rules(const BitRows& x, ConstVectorRef beta, const BitRows& all, ConstVectorRef label,
                           const BooleanRuleOptions& o, Monitor& monitor) {
  if (o.kernel.literals == Literals::parity) throw InputError("rules are read from kernels of conjunctions, not of parities.");
  if (o.kernel.normalize || o.kernel.log)
    throw InputError("a normalised kernel is no sum of conjunctions: fit with normalize = FALSE.");
  if (o.top < 1) throw InputError("at least one rule must be asked for.");
  if (beta.size() != x.rows() || label.size() != all.rows()) throw InputError("coefficients and labels must fit the rows.");
  BooleanRules found = Search(x, beta, o, monitor).run();
  double up = 0, down = 0;
  for (Index i = 0; i < label.size(); ++i) (label[i] > 0 ? up : down) += 1;
  for (BooleanRule& rule : found.rules) {
    for (Index i = 0; i < all.rows(); ++i)
      if (satisfies(all, i, rule)) (label[i] > 0 ? rule.positive : rule.negative) += 1;
    rule.support = rule.positive + rule.negative;
    if (up > 0) rule.positive /= up;
    if (down > 0) rule.negative /= down;
  }
  return found;
}

BooleanRuleTable as_table(const BooleanRules& rules) {
  BooleanRuleTable t;
  t.searched = rules.searched;
  for (const BooleanRule& r : rules.rules) {
    std::vector<int> literal;
    for (std::size_t k = 0; k < r.attributes.size(); ++k)
      literal.push_back((r.negated[k] ? -1 : 1) * (static_cast<int>(r.attributes[k]) + 1));
    t.literal.push_back(literal);
    t.weight.push_back(r.weight);
    t.support.push_back(r.support);
    t.positive.push_back(r.positive);
    t.negative.push_back(r.negative);
  }
  return t;
}

}  // namespace granary::kernel
