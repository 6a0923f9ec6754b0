// A set of the numbers 0 .. size - 1, one bit each: a row of a graph's adjacency, a clique, a conditioning set.
//
//   for (int j : set) ...            visits the members in increasing order
//   set.and_not(other), a & b        word by word, 64 members at a time
//
// Two sets may be combined or compared only if they have the same size. Bits beyond `size` in the last word are always zero.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <vector>

namespace granary {

class Bitset {
 public:
  using Word = std::uint64_t;

  Bitset() = default;
  explicit Bitset(int size) : size_(size), words_((static_cast<std::size_t>(size) + 63) / 64, 0) {}
  Bitset(int size, const std::vector<int>& members) : Bitset(size) {
    for (int i : members) set(i);
  }

  int size() const { return size_; }
  bool test(int i) const { return words_[word_of(i)] >> (i & 63) & 1; }
  void set(int i) { words_[word_of(i)] |= Word{1} << (i & 63); }
  void reset(int i) { words_[word_of(i)] &= ~(Word{1} << (i & 63)); }
  void set(int i, bool value) { value ? set(i) : reset(i); }
  void flip(int i) { words_[word_of(i)] ^= Word{1} << (i & 63); }

  void clear() {
    for (Word& w : words_) w = 0;
  }
  void fill() {
    for (Word& w : words_) w = ~Word{0};
    trim();
  }

  int count() const {
    int total = 0;
    for (Word w : words_) total += __builtin_popcountll(w);
    return total;
  }
  bool any() const {
    for (Word w : words_) {
      if (w) return true;
    }
    return false;
  }
  bool none() const { return !any(); }

  // The smallest member, and the smallest one above i; -1 when there is none.
  int first() const { return from_word(0); }
  int next(int i) const {
    if (++i >= size_) return -1;
    const std::size_t w = word_of(i);
    const Word rest = words_[w] >> (i & 63);
    return rest ? i + __builtin_ctzll(rest) : from_word(w + 1);
  }

  Bitset& operator&=(const Bitset& other) {
    return combine(other, [](Word a, Word b) { return a & b; });
  }
  Bitset& operator|=(const Bitset& other) {
    return combine(other, [](Word a, Word b) { return a | b; });
  }
  Bitset& operator^=(const Bitset& other) {
    return combine(other, [](Word a, Word b) { return a ^ b; });
  }
  Bitset& and_not(const Bitset& other) {  // removes the members of other
    return combine(other, [](Word a, Word b) { return a & ~b; });
  }
  friend Bitset operator&(Bitset a, const Bitset& b) {
    a &= b;
    return a;
  }
  friend Bitset operator|(Bitset a, const Bitset& b) {
    a |= b;
    return a;
  }
  friend Bitset operator^(Bitset a, const Bitset& b) {
    a ^= b;
    return a;
  }
  friend Bitset operator-(Bitset a, const Bitset& b) {
    a.and_not(b);
    return a;
  }
  Bitset operator~() const {
    Bitset result(*this);
    for (Word& w : result.words_) w = ~w;
    result.trim();
    return result;
  }

  // These stop at the first word that decides, and allocate nothing.
  bool is_subset_of(const Bitset& other) const {
    assert(size_ == other.size_);
    for (std::size_t w = 0; w < words_.size(); ++w) {
      if (words_[w] & ~other.words_[w]) return false;
    }
    return true;
  }
  bool intersects(const Bitset& other) const {
    assert(size_ == other.size_);
    for (std::size_t w = 0; w < words_.size(); ++w) {
      if (words_[w] & other.words_[w]) return true;
    }
    return false;
  }
  int count_common(const Bitset& other) const {  // |a & b|
    assert(size_ == other.size_);
    int total = 0;
    for (std::size_t w = 0; w < words_.size(); ++w) total += __builtin_popcountll(words_[w] & other.words_[w]);
    return total;
  }

  friend bool operator==(const Bitset& a, const Bitset& b) { return a.size_ == b.size_ && a.words_ == b.words_; }
  friend bool operator!=(const Bitset& a, const Bitset& b) { return !(a == b); }
  // As binary numbers, lowest member least significant: a total order for sets of one size.
  friend bool operator<(const Bitset& a, const Bitset& b) {
    assert(a.size_ == b.size_);
    for (std::size_t w = a.words_.size(); w-- > 0;) {
      if (a.words_[w] != b.words_[w]) return a.words_[w] < b.words_[w];
    }
    return false;
  }

  std::size_t hash() const {
    Word h = static_cast<Word>(size_) * 0x9e3779b97f4a7c15u;
    for (Word w : words_) {
      h = (h ^ w) * 0xbf58476d1ce4e5b9u;
      h ^= h >> 29;
    }
    return static_cast<std::size_t>(h ^ (h >> 32));
  }

  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = int;
    using difference_type = std::ptrdiff_t;
    using pointer = const int*;
    using reference = int;

    Iterator() = default;
    Iterator(const Bitset& set, std::size_t word) : set_(&set), word_(word) {
      if (word_ < set.words_.size()) rest_ = set.words_[word_];
      settle();
    }
    int operator*() const { return static_cast<int>(word_ * 64) + __builtin_ctzll(rest_); }
    Iterator& operator++() {
      rest_ &= rest_ - 1;
      settle();
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.word_ == b.word_ && a.rest_ == b.rest_; }
    friend bool operator!=(const Iterator& a, const Iterator& b) { return !(a == b); }

   private:
    void settle() {
      while (rest_ == 0 && word_ < set_->words_.size()) {
        if (++word_ < set_->words_.size()) rest_ = set_->words_[word_];
      }
    }
    const Bitset* set_ = nullptr;
    std::size_t word_ = 0;
    Word rest_ = 0;  // the members of the current word still to come: a loop may remove members it has been given already
  };
  Iterator begin() const { return Iterator(*this, 0); }
  Iterator end() const { return Iterator(*this, words_.size()); }

  std::vector<int> members() const {
    std::vector<int> result;
    result.reserve(count());
    for (int i : *this) result.push_back(i);
    return result;
  }

 private:
  static std::size_t word_of(int i) { return static_cast<std::size_t>(i) >> 6; }
  int from_word(std::size_t w) const {
    for (; w < words_.size(); ++w) {
      if (words_[w]) return static_cast<int>(w * 64) + __builtin_ctzll(words_[w]);
    }
    return -1;
  }
  void trim() {
    if (size_ & 63) words_.back() &= ~Word{0} >> (64 - (size_ & 63));
  }
  template <class Op>
  Bitset& combine(const Bitset& other, Op op) {
    assert(size_ == other.size_);
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] = op(words_[w], other.words_[w]);
    return *this;
  }

  int size_ = 0;
  std::vector<Word> words_;
};

}  // namespace granary

template <>
struct std::hash<granary::Bitset> {
  std::size_t operator()(const granary::Bitset& set) const { return set.hash(); }
};
