// Kernels of sequences that are inner products of short vectors of features, one per node of a trie of subsequences.
//
//   contiguous   grams of length q .. p: how often they occur
//   gapped       subsequences of length q .. p with at most `max_gap` skipped tokens in all, each occurrence weighted by what
//                it skips
//   mismatch     all words of length p over the alphabet that differ from a gram of the sequence in at most `mismatches` places
//                (Leslie, Eskin, Cohen, Weston and Noble, Bioinformatics 2004)
//
// The gapped ones are the TRIE of Rousu and Shawe-Taylor (JMLR 2005), section 6: exact for the kernel truncated at max_gap.
// Here one trie serves all sequences, so that a kernel matrix costs one walk per sequence and then only products of sparse
// vectors.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/base/monitor.h"
#include "core/base/types.h"
#include "kernel/string_gaps.h"

namespace granary::kernel {

struct GramModel {
  Index min_length = 3, max_length = 3;
  Index max_gap = 0;
  Index mismatches = 0;
  GapModel gaps;                  // weights of gaps and matches; its `levels` is not looked at
  std::vector<double> of_length;  // weight w_q of each length from min_length on; empty: 1
  Index alphabet = 0;             // number of symbols, for mismatches
};

// A trie that numbers its nodes in the order they are met; node 0 is the root.
class GramTrie {
 public:
  GramTrie();
  int child(int node, int token);  // made where it is missing
  Index size() const { return static_cast<Index>(parent_.size()); }
  std::vector<int> spell(int node) const;  // its tokens

 private:
  void grow();
  std::size_t slot(std::uint64_t key) const;
  std::vector<std::uint64_t> keys_;
  std::vector<int> values_, parent_, token_;
};

// Sparse rows with ascending features.
struct FeatureRows {
  std::vector<std::size_t> start{0};
  std::vector<int> feature;
  std::vector<double> value;
  Index rows() const { return static_cast<Index>(start.size()) - 1; }
  double dot(Index a, Index b) const;
};

// sqrt(w_q) phi_u for every subsequence u of every sequence. InputError where that needs more than `max_entries` numbers.
FeatureRows gram_features(const std::vector<Tokens>& sequences, const GramModel& model, GramTrie& trie, double max_entries = 2e8);

// How many subsequences start at one place: what `gram_features` costs per token.
double grams_per_place(const GramModel& model);

// Products of many rows with many: rows are cut into tiles with a list of the features of each, so that only what is shared
// costs anything.
class FeatureTiles {
 public:
  explicit FeatureTiles(FeatureRows rows);
  const FeatureRows& rows() const { return rows_; }
  void block(const std::vector<Index>& rows, const std::vector<Index>& columns, MatrixRef out, Monitor& monitor) const;

 private:
  struct Tile {
    std::vector<int> feature;           // that occur, ascending
    std::vector<std::uint32_t> start;   // of their entries
    std::vector<std::uint16_t> column;  // within the tile
    std::vector<double> value;
  };
  void add_tile(Index row, const Tile& tile, double* out) const;
  FeatureRows rows_;
  std::vector<Tile> tiles_;
};

// The same mismatch kernel without its features, from how many pairs of grams differ in d places: sum_ab c_a c_b I(d_ab), with
// I(d) the number of words within `mismatches` of both. For alphabets or gaps of mismatches too large to list the words.
class MismatchPairs {
 public:
  MismatchPairs(const std::vector<Tokens>& sequences, Index length, Index mismatches, Index alphabet);
  double value(Index a, Index b, Monitor& monitor) const;
  double operations() const;
  static std::vector<double> shared_words(Index length, Index mismatches, Index alphabet);  // I(0), ..., I(length)

 private:
  Index length_;
  std::vector<std::vector<int>> grams_;  // of each sequence, one after the other
  std::vector<std::vector<double>> counts_;
  std::vector<double> shared_;
};

}  // namespace granary::kernel
