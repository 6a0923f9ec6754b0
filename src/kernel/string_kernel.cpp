#include "kernel/string_kernel.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "core/base/errors.h"
#include "core/math/special.h"
#include "kernel/string_suffix.h"

namespace granary::kernel {

namespace {

constexpr double longest_scaled = 1e5;  // sequences up to here have finite values whatever p, where values may be scaled
constexpr double largest_log = 600;     // of a value
constexpr double largest_excess = 550;  // so that the scaled kernel of the shortest sequences is no zero
constexpr double longest_task = 1e12;   // nanoseconds for one pair, about
constexpr double trie_entries = 2e7;    // beyond it long grams go by automaton

bool by_pairs(StringType type) { return type == StringType::gapped || type == StringType::gap_count; }

std::vector<double> unfold(const TokenWeights& given, double otherwise, const TokenSet& tokens, bool fold) {
  if (given.tokens.empty()) return {};
  std::unordered_map<std::string, double> of;
  for (std::size_t i = 0; i < given.tokens.size(); ++i) {
    std::string token = given.tokens[i];
    if (fold) {
      std::string lower;
      for (std::uint32_t code : decode_utf8(token, "a token")) lower += encode_utf8(lower_case(code));
      token = lower;
    }
    of[token] = given.weights[i];
  }
  std::vector<double> out;
  for (const std::string& symbol : tokens.alphabet) {
    const auto at = of.find(symbol);
    out.push_back(at == of.end() ? otherwise : at->second);
  }
  return out;
}

void check_weights(const TokenWeights& w, const char* what, double upper) {
  require(w.tokens.size() == w.weights.size(), message("the ", what, " weights need one name each."));
  for (std::size_t i = 0; i < w.tokens.size(); ++i)
    require(w.weights[i] >= 0 && w.weights[i] <= upper,
            message("the ", what, " weight of \"", w.tokens[i], "\" is ", w.weights[i], ", and must be from 0 to ", upper, "."));
}

}  // namespace

void check(const StringOptions& o) {
  require(o.lambda > 0 && o.lambda <= 1, "lambda must be greater than 0 and at most 1.");
  require(o.min_length >= 1, "the least length must be 1 or more.");
  require(o.max_length == 0 || o.max_length >= o.min_length, "the largest length must not be below the least.");
  const bool endless = o.max_length == 0;
  require(!endless || by_pairs(o.type) || o.type == StringType::substring,
          "only gapped subsequences and substrings can be of any length: give the largest one.");
  require(!endless || o.type == StringType::substring || (o.min_length == 1 && o.max_gap < 0),
          "subsequences of any length begin with length 1, and have any gaps.");
  require(o.type != StringType::mismatch || o.min_length == o.max_length, "grams with mismatches have one length.");
  require(o.type != StringType::mismatch || !o.alphabet.empty(),
          "grams with mismatches need an alphabet: which symbols could stand in the place of one.");
  require(o.mismatches >= 0, "the number of mismatches must be 0 or more.");
  const std::size_t lengths = endless ? 1 : static_cast<std::size_t>(o.max_length - o.min_length + 1);
  require(o.length_weights.empty() || o.length_weights.size() == lengths,
          message("there must be ", lengths, " weights of lengths."));
  for (const double w : o.length_weights) require(w >= 0 && std::isfinite(w), "weights of lengths must be 0 or more.");
  require(!o.raw || o.type == StringType::gapped, "only gaps by length can be weighted by the span.");
  check_weights(o.match_weights, "match", 1e10);
  check_weights(o.gap_weights, "gap", 1);
  require(o.gap_weights.tokens.empty() || o.type == StringType::gapped, "weights of gaps belong to the type \"gapped\".");
  require(o.match_weights.tokens.empty() || by_pairs(o.type) || o.type == StringType::spectrum,
          "match weights belong to the types \"gapped\", \"gap_count\" and \"spectrum\".");
  const StringMethod m = o.method;
  const bool fits =
      m == StringMethod::automatic ||
      (by_pairs(o.type) && ((o.max_gap < 0 && (m == StringMethod::dense || (m == StringMethod::sparse && !endless))) ||
                            (o.max_gap >= 0 && m == StringMethod::trie))) ||
      (o.type == StringType::spectrum && (m == StringMethod::trie || m == StringMethod::automaton)) ||
      (o.type == StringType::mismatch && (m == StringMethod::trie || m == StringMethod::pairs)) ||
      (o.type == StringType::substring && m == StringMethod::automaton);
  require(fits, message("the algorithm \"", name_of(m), "\" does not work for the type \"", name_of(o.type),
                        "\" with these lengths and gaps; \"auto\" always does."));
  require(m != StringMethod::automaton || o.match_weights.tokens.empty(), "the automaton knows no match weights.");
}

TokenSet number_tokens(const std::vector<std::string>& texts, const StringOptions& o) {
  return number_tokens(texts, o.token, {o.alphabet, o.fold_case});
}
TokenSet number_tokens(const std::vector<std::vector<std::string>>& lists, const StringOptions& o) {
  return number_tokens(lists, {o.alphabet, o.fold_case});
}

GramModel gram_model(const StringOptions& o, const TokenSet& tokens) {
  GramModel model;
  model.min_length = o.min_length;
  model.max_length = o.max_length;
  model.max_gap = by_pairs(o.type) ? o.max_gap : 0;
  model.mismatches = o.type == StringType::mismatch ? o.mismatches : 0;
  model.of_length = o.length_weights;
  if (o.raw && o.max_length > 0) {
    if (model.of_length.empty()) model.of_length.assign(static_cast<std::size_t>(o.max_length - o.min_length + 1), 1.0);
    for (int l = o.min_length; l <= o.max_length; ++l)
      model.of_length[static_cast<std::size_t>(l - o.min_length)] *= std::pow(o.lambda, 2 * l);
  }
  if (o.type == StringType::substring && o.length_weights.empty())
    for (int l = o.min_length; l <= o.max_length; ++l) model.of_length.push_back(std::pow(o.lambda, l));
  model.alphabet = static_cast<Index>(tokens.alphabet.size());
  model.gaps.by_number = o.type == StringType::gap_count;
  model.gaps.lambda = o.lambda;
  model.gaps.match = unfold(o.match_weights, 1, tokens, o.fold_case);
  model.gaps.skip = unfold(o.gap_weights, o.lambda, tokens, o.fold_case);
  return model;
}

StringKernel::StringKernel(TokenSet tokens, const StringOptions& options)
    : options_(options), method_(options.method), tokens_(std::move(tokens)) {
  check(options_);
  const StringOptions& o = options_;
  GramModel grams = gram_model(o, tokens_);
  gaps_ = grams.gaps;
  gaps_.levels = std::max(o.max_length, 1);
  double total = 0;
  for (const Tokens& s : tokens_.sequences) total += static_cast<double>(s.size());
  switch (o.type) {
    case StringType::gapped:
    case StringType::gap_count: {
      if (o.max_gap >= 0) method_ = StringMethod::trie;
      if (o.max_length == 0) {
        method_ = StringMethod::dense;
        gaps_.scale = (o.length_weights.empty() ? 1 : o.length_weights[0]) * (o.raw ? o.lambda * o.lambda : 1);
        break;
      }
      double heaviest = 1;
      for (const double g : o.match_weights.weights) heaviest = std::max(heaviest, g);
      for (int q = 1; o.rescale && q <= o.max_length; ++q) {
        const double excess = 2 * log_choose(longest_scaled, q) + 2 * q * std::log(heaviest) - largest_log;
        gaps_.scale = std::min(gaps_.scale, std::exp(-std::min(excess, largest_excess) / q));
      }
      of_length_ = VectorXd::Zero(o.max_length);
      for (int l = o.min_length; l <= o.max_length; ++l)
        of_length_[l - 1] = (grams.of_length.empty() ? 1 : grams.of_length[static_cast<std::size_t>(l - o.min_length)]) *
                            std::pow(gaps_.scale, o.max_length - l);
      if (method_ == StringMethod::automatic || method_ == StringMethod::sparse)
        for (const Tokens& s : tokens_.sequences) places_.emplace_back(s);
      break;
    }
    case StringType::spectrum:
      if (method_ == StringMethod::automatic)
        method_ =
            total * o.max_length > trie_entries && o.match_weights.tokens.empty() ? StringMethod::automaton : StringMethod::trie;
      break;
    case StringType::mismatch:
      if (method_ == StringMethod::automatic)
        method_ = grams_per_place(grams) * total > trie_entries ? StringMethod::pairs : StringMethod::trie;
      if (method_ == StringMethod::pairs)
        pairs_ = std::make_unique<MismatchPairs>(tokens_.sequences, o.max_length, o.mismatches, grams.alphabet);
      break;
    case StringType::substring:
      method_ = StringMethod::automaton;
      break;
  }
  if (method_ == StringMethod::trie) {
    GramTrie trie;
    features_ = std::make_unique<FeatureTiles>(gram_features(tokens_.sequences, grams, trie));
  }
  if (method_ == StringMethod::automaton) {
    const auto last = o.max_length == 0 ? tokens_.longest() : std::min<Index>(o.max_length, tokens_.longest());
    const double ratio = o.type == StringType::spectrum                   ? 1
                         : o.max_length == 0 && !o.length_weights.empty() ? o.length_weights[0]
                                                                          : o.lambda;
    cumulative_.assign(1, 0.0);
    for (Index l = 1; l <= last; ++l) {
      double w = l < o.min_length ? 0 : std::pow(ratio, static_cast<double>(l));
      if (w > 0 && o.max_length > 0 && !o.length_weights.empty())
        w = o.length_weights[static_cast<std::size_t>(l - o.min_length)];
      cumulative_.push_back(cumulative_.back() + w);
    }
  }
}

StringMethod StringKernel::method_for(Index a, Index b) const {
  if (method_ != StringMethod::automatic) return method_;
  const double m = static_cast<double>(sequence(a).size()), n = static_cast<double>(sequence(b).size());
  const double matches = places_[static_cast<std::size_t>(a)].common(places_[static_cast<std::size_t>(b)]);
  return sparse_cost(matches, std::min(m, n), gaps_.levels) < dense_cost(m, n, gaps_.levels) ? StringMethod::sparse
                                                                                             : StringMethod::dense;
}

VectorXd StringKernel::gap_levels(Index a, Index b, const GapModel& model, Monitor& monitor) const {
  // The shorter one along the columns; between equals by place, so that k(a, b) and k(b, a) are one number.
  const bool turn = sequence(a).size() < sequence(b).size() || (sequence(a).size() == sequence(b).size() && b < a);
  if (turn) std::swap(a, b);
  const double m = static_cast<double>(sequence(a).size()), n = static_cast<double>(sequence(b).size());
  const StringMethod method = method_for(a, b);
  const double cost =
      method == StringMethod::dense
          ? dense_cost(m, n, model.levels)
          : sparse_cost(places_[static_cast<std::size_t>(a)].common(places_[static_cast<std::size_t>(b)]), n, model.levels);
  if (cost > longest_task)
    throw InputError(message("sequences ", a + 1, " and ", b + 1, " have ", sequence(a).size(), " and ", sequence(b).size(),
                             " tokens: one value would take about ", std::round(cost * 1e-9 / 60),
                             " minutes. Bound the gaps (max_gap), use type \"spectrum\" or \"substring\", which are linear in "
                             "the length, or cut them."));
  if (method == StringMethod::dense) return gap_levels_dense(sequence(a), sequence(b), model, monitor);
  return gap_levels_sparse(sequence(a), sequence(b), places_[static_cast<std::size_t>(b)], model, monitor);
}

VectorXd StringKernel::levels(Index a, Index b, Monitor& monitor) const {
  GapModel model = gaps_;
  model.scale = 1;
  return gap_levels(a, b, model, monitor);
}

double StringKernel::gapped(Index a, Index b, Monitor& monitor) const {
  double value = 0;
  if (options_.max_length > 0) {
    value = gap_levels(a, b, gaps_, monitor).dot(of_length_);
  } else {
    const bool turn = sequence(a).size() < sequence(b).size() || (sequence(a).size() == sequence(b).size() && b < a);
    value = gap_all_lengths(sequence(turn ? b : a), sequence(turn ? a : b), gaps_, monitor);
  }
  if (!std::isfinite(value))
    throw NumericalError(message("the kernel of sequences ", a + 1, " and ", b + 1, " is beyond 1e308. ",
                                 options_.max_length == 0
                                     ? "Give lengths a falling weight (length_weights, one number below 1), or a largest length."
                                     : "Normalise the kernel, or lower the weights or the length."));
  return value;
}

void StringKernel::substrings(const std::vector<Index>& rows, const std::vector<Index>& columns, MatrixRef out,
                              Monitor& monitor) const {
  const auto alphabet = static_cast<Index>(tokens_.alphabet.size());
  const bool turned = 4 * rows.size() < columns.size();  // build where there is less to build
  const auto& built = turned ? rows : columns;
  const auto& matched = turned ? columns : rows;
  for (std::size_t j = 0; j < built.size(); ++j) {
    const SuffixAutomaton automaton(sequence(built[j]), alphabet, cumulative_);
    for (std::size_t i = 0; i < matched.size(); ++i) {
      (turned ? out(static_cast<Index>(j), static_cast<Index>(i)) : out(static_cast<Index>(i), static_cast<Index>(j))) =
          automaton.match(sequence(matched[i]));
      monitor.check();
    }
  }
}

void StringKernel::block(const std::vector<Index>& rows, const std::vector<Index>& columns, MatrixRef out,
                         Monitor& monitor) const {
  if (method_ == StringMethod::trie) return features_->block(rows, columns, out, monitor);
  if (method_ == StringMethod::automaton) return substrings(rows, columns, out, monitor);
  for (std::size_t j = 0; j < columns.size(); ++j)
    for (std::size_t i = 0; i < rows.size(); ++i) {
      out(static_cast<Index>(i), static_cast<Index>(j)) =
          method_ == StringMethod::pairs ? pairs_->value(rows[i], columns[j], monitor) : gapped(rows[i], columns[j], monitor);
      monitor.check();
    }
}

double StringKernel::operations() const {
  if (tokens_.sequences.empty()) return 1;
  double total = 0;
  for (const Tokens& s : tokens_.sequences) total += static_cast<double>(s.size());
  const double mean = total / static_cast<double>(tokens_.sequences.size());
  if (method_ == StringMethod::trie)
    return 1 + 0.5 * static_cast<double>(features_->rows().feature.size()) / static_cast<double>(tokens_.sequences.size());
  if (method_ == StringMethod::automaton) return 1 + 20 * mean;
  if (method_ == StringMethod::pairs) return pairs_->operations();
  return 1 + dense_cost(mean, mean, gaps_.levels);
}

StringFeatures string_features(const TokenSet& tokens, const StringOptions& options, const std::string& separator) {
  check(options);
  require(options.max_length > 0, "features need a largest length.");
  require(!by_pairs(options.type) || options.max_gap >= 0, "features of gapped subsequences need a largest gap: give `max_gap`.");
  GramTrie trie;
  const FeatureRows rows = gram_features(tokens.sequences, gram_model(options, tokens), trie);
  // The features that occur, by the spelling of their tokens.
  std::vector<int> used(rows.feature);
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  std::vector<std::vector<std::string>> spelt;
  for (const int node : used) {
    spelt.emplace_back();
    for (const int token : trie.spell(node)) spelt.back().push_back(tokens.alphabet[static_cast<std::size_t>(token)]);
  }
  std::vector<std::size_t> order(used.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return spelt[a] < spelt[b]; });
  StringFeatures out;
  std::vector<Index> column(static_cast<std::size_t>(trie.size()), -1);
  for (std::size_t k = 0; k < order.size(); ++k) {
    column[static_cast<std::size_t>(used[order[k]])] = static_cast<Index>(k);
    std::string name;
    for (const std::string& token : spelt[order[k]]) name += (name.empty() ? "" : separator) + token;
    out.names.push_back(name);
  }
  std::vector<Eigen::Triplet<double>> entries;
  for (Index r = 0; r < rows.rows(); ++r)
    for (std::size_t k = rows.start[static_cast<std::size_t>(r)]; k < rows.start[static_cast<std::size_t>(r) + 1]; ++k)
      entries.emplace_back(static_cast<int>(r), static_cast<int>(column[static_cast<std::size_t>(rows.feature[k])]),
                           rows.value[k]);
  out.matrix.resize(rows.rows(), static_cast<Index>(used.size()));
  out.matrix.setFromTriplets(entries.begin(), entries.end());
  return out;
}

TokenCounts count_tokens(const TokenSet& tokens) {
  TokenCounts out;
  out.token = tokens.alphabet;
  out.count.assign(tokens.alphabet.size(), 0.0);
  out.sequences = out.count;
  std::vector<std::size_t> last(tokens.alphabet.size(), 0);
  for (std::size_t i = 0; i < tokens.sequences.size(); ++i)
    for (const int token : tokens.sequences[i]) {
      if (token < 0) continue;
      const auto at = static_cast<std::size_t>(token);
      ++out.count[at];
      if (last[at] != i + 1) ++out.sequences[at];
      last[at] = i + 1;
    }
  return out;
}

}  // namespace granary::kernel
