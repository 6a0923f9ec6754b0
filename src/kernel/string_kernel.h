// Kernels of texts and other sequences of tokens, by what they have in common:
//
//   gapped      subsequences of q .. p tokens, gaps allowed, weight lambda per skipped token (string_gaps.h)
//   gap_count   the same, weight lambda per gap of whatever length
//   spectrum    grams: runs of q .. p tokens without gaps (string_features.h)
//   mismatch    grams of p tokens that differ in a few places
//   substring   runs of q .. p tokens, p without end if one likes, weight lambda^length (string_suffix.h)
//
//   k(s, t) = sum_{q <= l <= p} w_l K_l(s, t)
//
// Rousu and Shawe-Taylor (JMLR 2005). Each kind has several algorithms that agree; "auto" takes the cheapest for the pair at
// hand: the dense table costs about p m n, the sparse one p |M| log n with |M| the number of matching places, which is known
// beforehand, and the trie what `grams_per_place` says.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/fields.h"
#include "core/kernel/object_kernel.h"
#include "kernel/string_features.h"
#include "kernel/string_gaps.h"
#include "kernel/string_tokens.h"

namespace granary::kernel {

enum class StringType { gapped, gap_count, spectrum, mismatch, substring };
inline Names<StringType> names(StringType) {
  return {{StringType::gapped, "gapped"},
          {StringType::gap_count, "gap_count"},
          {StringType::spectrum, "spectrum"},
          {StringType::mismatch, "mismatch"},
          {StringType::substring, "substring"}};
}

enum class StringMethod { automatic, dense, sparse, trie, automaton, pairs };
inline Names<StringMethod> names(StringMethod) {
  return {{StringMethod::automatic, "auto"}, {StringMethod::dense, "dense"},         {StringMethod::sparse, "sparse"},
          {StringMethod::trie, "trie"},      {StringMethod::automaton, "automaton"}, {StringMethod::pairs, "pairs"}};
}

// Weights of some tokens by name; all others have another.
struct TokenWeights {
  std::vector<std::string> tokens;
  std::vector<double> weights;
};
template <class V>
void fields(V& v, TokenWeights& t) {
  v("tokens", t.tokens);
  v("weights", t.weights);
}

struct StringOptions {
  StringType type = StringType::gapped;
  Token token = Token::character;
  StringMethod method = StringMethod::automatic;
  int min_length = 3, max_length = 3;  // q and p; p = 0: without end
  double lambda = 0.5;
  int max_gap = -1;  // most tokens skipped in all; -1: any number
  int mismatches = 1;
  std::vector<double> length_weights;  // w_q .. w_p; empty: 1 (lambda^l for substrings). Without end one number r: w_l = r^l
  TokenWeights match_weights, gap_weights;
  std::vector<std::string> alphabet;  // empty: whatever occurs
  bool fold_case = false;
  bool raw = false;     // matched tokens count for the span: lambda^span, K_l times lambda^(2 l)
  bool rescale = true;  // values may all be multiplied by one number: they will be normalised
};
template <class V>
void fields(V& v, StringOptions& t) {
  v("type", t.type);
  v("token", t.token);
  v("method", t.method);
  v("min_length", t.min_length);
  v("max_length", t.max_length);
  v("lambda", t.lambda);
  v("max_gap", t.max_gap);
  v("mismatches", t.mismatches);
  v("length_weights", t.length_weights);
  v("match_weights", t.match_weights);
  v("gap_weights", t.gap_weights);
  v("alphabet", t.alphabet);
  v("fold_case", t.fold_case);
  v("raw", t.raw);
  v("rescale", t.rescale);
}
void check(const StringOptions& options);  // InputError

TokenSet number_tokens(const std::vector<std::string>& texts, const StringOptions& options);
TokenSet number_tokens(const std::vector<std::vector<std::string>>& lists, const StringOptions& options);
GramModel gram_model(const StringOptions& options, const TokenSet& tokens);

class StringKernel : public ObjectKernel {
 public:
  StringKernel(TokenSet tokens, const StringOptions& options);

  Index size() const override { return static_cast<Index>(tokens_.sequences.size()); }
  void block(const std::vector<Index>& rows, const std::vector<Index>& columns, MatrixRef out, Monitor& monitor) const override;
  double operations() const override;

  StringMethod method_for(Index a, Index b) const;
  VectorXd levels(Index a, Index b, Monitor& monitor) const;  // K_1 .. K_p of a gapped kernel, as they are

 private:
  double gapped(Index a, Index b, Monitor& monitor) const;
  VectorXd gap_levels(Index a, Index b, const GapModel& model, Monitor& monitor) const;
  void substrings(const std::vector<Index>& rows, const std::vector<Index>& columns, MatrixRef out, Monitor& monitor) const;
  const Tokens& sequence(Index i) const { return tokens_.sequences[static_cast<std::size_t>(i)]; }

  StringOptions options_;
  StringMethod method_;  // automatic: by the pair
  TokenSet tokens_;
  GapModel gaps_;
  VectorXd of_length_;               // w_l scale^(p - l), l = 1 .. p
  std::vector<TokenPlaces> places_;  // for the sparse way
  std::unique_ptr<FeatureTiles> features_;
  std::unique_ptr<MismatchPairs> pairs_;
  std::vector<double> cumulative_;  // of the weights of substrings
};

// Subsequences by name, one column each, and their weights in each sequence: the kernel is the product of this matrix with
// itself.
struct StringFeatures {
  SparseMatrix matrix;
  std::vector<std::string> names;
};
template <class V>
void fields(V& v, StringFeatures& t) {
  v("matrix", t.matrix);
  v("names", t.names);
}
// Columns in alphabetical order of their tokens, which are joined by `separator` in a name.
StringFeatures string_features(const TokenSet& tokens, const StringOptions& options, const std::string& separator);

// What occurs how often, and in how many sequences.
struct TokenCounts {
  std::vector<std::string> token;
  std::vector<double> count, sequences;
};
template <class V>
void fields(V& v, TokenCounts& t) {
  v("token", t.token);
  v("count", t.count);
  v("sequences", t.sequences);
}
TokenCounts count_tokens(const TokenSet& tokens);

}  // namespace granary::kernel
