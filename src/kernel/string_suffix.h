// All substrings two sequences have in common, counted in linear time:
//
//   K(s, t) = sum_u w_|u| c_s(u) c_t(u),   c_s(u) how often u stands in s without gaps, w any weights of lengths
//
// The suffix automaton of t says for the longest match that ends at each place of s how often it, and all its suffixes, occur
// in t (Vishwanathan and Smola, NIPS 2003, do the same with suffix trees). Building takes O(n), a match O(m), whatever the
// lengths.
#pragma once

#include <vector>

#include "kernel/string_tokens.h"

namespace granary::kernel {

class SuffixAutomaton {
 public:
  // cumulative[l] = w_1 + ... + w_l; beyond its end w is zero.
  SuffixAutomaton(const Tokens& t, Index alphabet, const std::vector<double>& cumulative);
  double match(const Tokens& s) const;

 private:
  struct Edge {
    int token, to, next;  // next edge of the same state, -1 at the end
  };
  int find(int state, int token) const;
  int& edge(int state, int token);  // made where it is missing
  void extend(int token);
  double weight(int length) const;

  std::vector<int> from_root_;  // by token; -1 where there is none
  std::vector<Edge> edges_;
  std::vector<int> first_, link_, length_;
  std::vector<double> count_,
      total_;  // total: sum over the substrings that end in the state, and their suffixes, of w times count
  const std::vector<double>& cumulative_;
  int last_ = 0, separator_;
};

}  // namespace granary::kernel
