#include "kernel/string_suffix.h"

#include <algorithm>
#include <numeric>

namespace granary::kernel {

SuffixAutomaton::SuffixAutomaton(const Tokens& t, Index alphabet, const std::vector<double>& cumulative)
    : from_root_(static_cast<std::size_t>(alphabet) + 1, -1), cumulative_(cumulative), separator_(static_cast<int>(alphabet)) {
  first_.reserve(2 * t.size() + 2);
  first_ = {-1};
  link_ = {-1};
  length_ = {0};
  count_ = {0};
  // Tokens outside the alphabet are one symbol more here; `match` never follows it.
  for (const int token : t) extend(token < 0 ? separator_ : token);
  std::vector<int> order(length_.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return length_[static_cast<std::size_t>(a)] < length_[static_cast<std::size_t>(b)]; });
  for (std::size_t k = order.size(); k-- > 1;) {
    const auto v = static_cast<std::size_t>(order[k]);
    count_[static_cast<std::size_t>(link_[v])] += count_[v];
  }
  total_.assign(length_.size(), 0.0);
  for (std::size_t k = 1; k < order.size(); ++k) {
    const auto v = static_cast<std::size_t>(order[k]), up = static_cast<std::size_t>(link_[v]);
    total_[v] = total_[up] + count_[v] * (weight(length_[v]) - weight(length_[up]));
  }
}

double SuffixAutomaton::weight(int length) const {
  if (cumulative_.empty()) return 0;
  return cumulative_[std::min(static_cast<std::size_t>(length), cumulative_.size() - 1)];
}

int SuffixAutomaton::find(int state, int token) const {
  if (state == 0) return from_root_[static_cast<std::size_t>(token)];
  for (int e = first_[static_cast<std::size_t>(state)]; e >= 0; e = edges_[static_cast<std::size_t>(e)].next)
    if (edges_[static_cast<std::size_t>(e)].token == token) return edges_[static_cast<std::size_t>(e)].to;
  return -1;
}

int& SuffixAutomaton::edge(int state, int token) {
  if (state == 0) return from_root_[static_cast<std::size_t>(token)];
  int& first = first_[static_cast<std::size_t>(state)];
  for (int e = first; e >= 0; e = edges_[static_cast<std::size_t>(e)].next)
    if (edges_[static_cast<std::size_t>(e)].token == token) return edges_[static_cast<std::size_t>(e)].to;
  edges_.push_back({token, -1, first});
  first = static_cast<int>(edges_.size()) - 1;
  return edges_.back().to;
}

void SuffixAutomaton::extend(int token) {
  const auto add_state = [&](int length, double count) {
    first_.push_back(-1);
    link_.push_back(0);
    length_.push_back(length);
    count_.push_back(count);
    return static_cast<int>(length_.size()) - 1;
  };
  const int here = add_state(length_[static_cast<std::size_t>(last_)] + 1, 1);
  int p = last_;
  last_ = here;
  for (; p >= 0 && find(p, token) < 0; p = link_[static_cast<std::size_t>(p)]) edge(p, token) = here;
  if (p < 0) return;
  const int q = find(p, token);
  if (length_[static_cast<std::size_t>(q)] == length_[static_cast<std::size_t>(p)] + 1) {
    link_[static_cast<std::size_t>(here)] = q;
    return;
  }
  const int copy = add_state(length_[static_cast<std::size_t>(p)] + 1, 0);
  for (int e = first_[static_cast<std::size_t>(q)]; e >= 0; e = edges_[static_cast<std::size_t>(e)].next) {
    const Edge old = edges_[static_cast<std::size_t>(e)];
    edges_.push_back({old.token, old.to, first_[static_cast<std::size_t>(copy)]});
    first_[static_cast<std::size_t>(copy)] = static_cast<int>(edges_.size()) - 1;
  }
  link_[static_cast<std::size_t>(copy)] = link_[static_cast<std::size_t>(q)];
  link_[static_cast<std::size_t>(q)] = copy;
  link_[static_cast<std::size_t>(here)] = copy;
  for (; p >= 0 && find(p, token) == q; p = link_[static_cast<std::size_t>(p)]) edge(p, token) = copy;
}

double SuffixAutomaton::match(const Tokens& s) const {
  double sum = 0;
  int state = 0, length = 0;
  for (const int token : s) {
    if (token < 0) {
      state = length = 0;
      continue;
    }
    int next = find(state, token);
    while (next < 0 && state > 0) {
      state = link_[static_cast<std::size_t>(state)];
      length = length_[static_cast<std::size_t>(state)];
      next = find(state, token);
    }
    if (next < 0) continue;
    state = next;
    ++length;
    const auto up = static_cast<std::size_t>(link_[static_cast<std::size_t>(state)]);
    sum += total_[up] + count_[static_cast<std::size_t>(state)] * (weight(length) - weight(length_[up]));
  }
  return sum;
}

}  // namespace granary::kernel
