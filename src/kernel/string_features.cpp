#include "kernel/string_features.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/errors.h"
#include "core/math/special.h"

namespace granary::kernel {

namespace {

constexpr Index tile_rows = 256;

double factor(const std::vector<double>& of_token, int token, double otherwise) {
  return token < 0 || of_token.empty() ? otherwise : of_token[static_cast<std::size_t>(token)];
}

using Entries = std::vector<std::pair<int, double>>;

// All subsequences of one sequence that start at one place.
class Walk {
 public:
  Walk(const Tokens& s, const GramModel& model, GramTrie& trie, Entries& out) : s_(s), model_(model), trie_(trie), out_(out) {}
  void from(std::size_t place) {
    if (s_[place] < 0) return;
    extend(trie_.child(0, s_[place]), place, 1, 0, factor(model_.gaps.match, s_[place], 1));
  }

 private:
  void extend(int node, std::size_t place, Index length, Index gap, double weight) {
    if (length >= model_.min_length) {
      const auto q = static_cast<std::size_t>(length - model_.min_length);
      const double w = model_.of_length.empty() ? 1 : model_.of_length[q];
      if (w > 0) out_.emplace_back(node, weight * std::sqrt(w));
    }
    if (length == model_.max_length) return;
    double skipped = 1;
    for (Index g = 0; gap + g <= model_.max_gap; ++g) {
      const std::size_t next = place + 1 + static_cast<std::size_t>(g);
      if (next >= s_.size()) return;
      if (s_[next] >= 0)
        extend(trie_.child(node, s_[next]), next, length + 1, gap + g, weight * skipped * factor(model_.gaps.match, s_[next], 1));
      skipped = model_.gaps.by_number ? model_.gaps.lambda : skipped * factor(model_.gaps.skip, s_[next], model_.gaps.lambda);
    }
  }

  const Tokens& s_;
  const GramModel& model_;
  GramTrie& trie_;
  Entries& out_;
};

// The words within `left` mismatches of a gram.
void add_neighbours(const int* gram, Index length, Index left, int node, double count, const GramModel& model, GramTrie& trie,
                    Entries& out) {
  if (length == 0) {
    out.emplace_back(node, count);
    return;
  }
  for (int a = 0; a < model.alphabet; ++a)
    if (a == *gram || left > 0)
      add_neighbours(gram + 1, length - 1, left - (a != *gram), trie.child(node, a), count, model, trie, out);
}

std::map<std::vector<int>, double> count_grams(const Tokens& s, Index length) {
  std::map<std::vector<int>, double> counts;
  const auto k = static_cast<std::size_t>(length);
  for (std::size_t i = 0; i + k <= s.size(); ++i) {
    const auto from = s.begin() + static_cast<std::ptrdiff_t>(i), to = from + static_cast<std::ptrdiff_t>(k);
    if (std::all_of(from, to, [](int token) { return token >= 0; })) ++counts[std::vector<int>(from, to)];
  }
  return counts;
}

double choose(double n, double k) { return std::exp(log_choose(n, k)); }

void append(FeatureRows& rows, Entries& entries) {
  std::sort(entries.begin(), entries.end());  // equal features by value: sums do not depend on the order of walks
  for (std::size_t k = 0; k < entries.size(); ++k) {
    const bool repeated = k > 0 && entries[k].first == entries[k - 1].first;
    if (repeated) {
      rows.value.back() += entries[k].second;
    } else {
      rows.feature.push_back(entries[k].first);
      rows.value.push_back(entries[k].second);
    }
  }
  rows.start.push_back(rows.feature.size());
}

}  // namespace

// ---- the trie -----------------------------------------------------------------------------------------------------------------

GramTrie::GramTrie() : keys_(1024, 0), values_(1024, 0), parent_{-1}, token_{-1} {}

std::size_t GramTrie::slot(std::uint64_t key) const {
  std::uint64_t h = key * 0x9e3779b97f4a7c15u;
  h ^= h >> 32;
  const std::size_t mask = keys_.size() - 1;
  auto at = static_cast<std::size_t>(h) & mask;
  while (keys_[at] != 0 && keys_[at] != key) at = (at + 1) & mask;
  return at;
}

int GramTrie::child(int node, int token) {
  const std::uint64_t key = (static_cast<std::uint64_t>(node) << 32 | static_cast<std::uint32_t>(token)) + 1;
  std::size_t at = slot(key);
  if (keys_[at] == key) return values_[at];
  if (2 * parent_.size() > keys_.size()) {
    grow();
    at = slot(key);
  }
  if (parent_.size() >= 2147483647u)
    throw InputError("the sequences have more than 2^31 different subsequences of these lengths. Ask for shorter ones.");
  keys_[at] = key;
  values_[at] = static_cast<int>(parent_.size());
  parent_.push_back(node);
  token_.push_back(token);
  return values_[at];
}

void GramTrie::grow() {
  std::vector<std::uint64_t> keys(2 * keys_.size(), 0);
  std::vector<int> values(keys.size(), 0);
  keys.swap(keys_);
  values.swap(values_);
  for (std::size_t k = 0; k < keys.size(); ++k) {
    if (keys[k] == 0) continue;
    const std::size_t at = slot(keys[k]);
    keys_[at] = keys[k];
    values_[at] = values[k];
  }
}

std::vector<int> GramTrie::spell(int node) const {
  std::vector<int> tokens;
  for (; node > 0; node = parent_[static_cast<std::size_t>(node)]) tokens.push_back(token_[static_cast<std::size_t>(node)]);
  std::reverse(tokens.begin(), tokens.end());
  return tokens;
}

// ---- features -----------------------------------------------------------------------------------------------------------------

double grams_per_place(const GramModel& model) {
  const auto k = static_cast<double>(model.max_length);
  double total = 0;
  if (model.mismatches > 0) {
    for (Index d = 0; d <= std::min(model.mismatches, model.max_length); ++d)
      total += choose(k, static_cast<double>(d)) *
               std::pow(std::max<double>(0, static_cast<double>(model.alphabet) - 1), static_cast<double>(d));
    return total;
  }
  for (Index q = 1; q <= model.max_length; ++q)  // ways to spread at most max_gap gaps over q - 1 places
    total += choose(static_cast<double>(q - 1 + model.max_gap), static_cast<double>(q - 1));
  return total;
}

FeatureRows gram_features(const std::vector<Tokens>& sequences, const GramModel& model, GramTrie& trie, double max_entries) {
  FeatureRows rows;
  double bound = 0;
  const double per_place = grams_per_place(model);
  for (const Tokens& s : sequences) bound += static_cast<double>(s.size()) * per_place;
  if (bound > max_entries && (model.max_gap > 0 || model.mismatches > 0))
    throw InputError(message("these sequences have up to ", bound, " subsequences to list, and ", max_entries,
                             " is the most that is held. Lower the length, the gap or the number of mismatches."));
  Entries entries;
  for (const Tokens& s : sequences) {
    entries.clear();
    if (model.mismatches > 0) {
      for (const auto& [gram, count] : count_grams(s, model.max_length))
        add_neighbours(gram.data(), model.max_length, model.mismatches, 0, count, model, trie, entries);
    } else {
      Walk walk(s, model, trie, entries);
      for (std::size_t i = 0; i < s.size(); ++i) walk.from(i);
    }
    append(rows, entries);
    if (static_cast<double>(rows.feature.size()) > max_entries)
      throw InputError(
          message("these sequences have more than ", max_entries, " different subsequences to hold. Lower the length."));
  }
  return rows;
}

double FeatureRows::dot(Index a, Index b) const {
  std::size_t i = start[static_cast<std::size_t>(a)], j = start[static_cast<std::size_t>(b)];
  const std::size_t i_end = start[static_cast<std::size_t>(a) + 1], j_end = start[static_cast<std::size_t>(b) + 1];
  double sum = 0;
  while (i < i_end && j < j_end) {
    const int f = feature[i], g = feature[j];
    if (f == g) sum += value[i] * value[j];
    i += f <= g;
    j += g <= f;
  }
  return sum;
}

// ---- many products ------------------------------------------------------------------------------------------------------------

FeatureTiles::FeatureTiles(FeatureRows rows) : rows_(std::move(rows)) {
  for (Index first = 0; first < rows_.rows(); first += tile_rows) {
    const Index last = std::min(first + tile_rows, rows_.rows());
    struct Entry {
      int feature;
      std::uint16_t column;
      double value;
    };
    std::vector<Entry> entries;
    for (Index r = first; r < last; ++r)
      for (std::size_t k = rows_.start[static_cast<std::size_t>(r)]; k < rows_.start[static_cast<std::size_t>(r) + 1]; ++k)
        entries.push_back({rows_.feature[k], static_cast<std::uint16_t>(r - first), rows_.value[k]});
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.feature < b.feature; });
    Tile tile;
    for (const Entry& e : entries) {
      if (tile.feature.empty() || tile.feature.back() != e.feature) {
        tile.feature.push_back(e.feature);
        tile.start.push_back(static_cast<std::uint32_t>(tile.column.size()));
      }
      tile.column.push_back(e.column);
      tile.value.push_back(e.value);
    }
    tile.start.push_back(static_cast<std::uint32_t>(tile.column.size()));
    tiles_.push_back(std::move(tile));
  }
}

void FeatureTiles::add_tile(Index row, const Tile& tile, double* out) const {
  std::size_t i = rows_.start[static_cast<std::size_t>(row)], j = 0;
  const std::size_t i_end = rows_.start[static_cast<std::size_t>(row) + 1], j_end = tile.feature.size();
  while (i < i_end && j < j_end) {
    const int f = rows_.feature[i], g = tile.feature[j];
    if (f == g) {
      const double v = rows_.value[i];
      for (std::uint32_t k = tile.start[j]; k < tile.start[j + 1]; ++k) out[tile.column[k]] += v * tile.value[k];
    }
    i += f <= g;
    j += g <= f;
  }
}

void FeatureTiles::block(const std::vector<Index>& rows, const std::vector<Index>& columns, MatrixRef out,
                         Monitor& monitor) const {
  std::vector<std::vector<Index>> wanted(tiles_.size());  // places in `columns`, by tile
  for (std::size_t c = 0; c < columns.size(); ++c)
    wanted[static_cast<std::size_t>(columns[c] / tile_rows)].push_back(static_cast<Index>(c));
  VectorXd sums(tile_rows);
  for (std::size_t t = 0; t < tiles_.size(); ++t) {
    if (wanted[t].empty()) continue;
    const bool whole = wanted[t].size() > 12;  // else one by one
    for (std::size_t r = 0; r < rows.size(); ++r) {
      if (whole) {
        sums.setZero();
        add_tile(rows[r], tiles_[t], sums.data());
      }
      for (const Index c : wanted[t]) {
        const Index column = columns[static_cast<std::size_t>(c)];
        out(static_cast<Index>(r), c) = whole ? sums[column % tile_rows] : rows_.dot(rows[r], column);
      }
      if (r % 16 == 0) monitor.check();
    }
  }
}

// ---- mismatches by pairs ------------------------------------------------------------------------------------------------------

std::vector<double> MismatchPairs::shared_words(Index length, Index mismatches, Index alphabet) {
  // Where both grams differ (d places) a word agrees with the first in x, with the second in y, with neither in z; where they
  // agree it differs in r.
  std::vector<double> shared;
  const auto a = static_cast<double>(alphabet);
  for (Index d = 0; d <= length; ++d) {
    double total = 0;
    for (Index x = 0; x <= d; ++x)
      for (Index y = 0; x + y <= d; ++y)
        for (Index r = 0; r <= length - d; ++r) {
          const Index z = d - x - y;
          if (y + z + r > mismatches || x + z + r > mismatches) continue;
          total += choose(static_cast<double>(d), static_cast<double>(x)) *
                   choose(static_cast<double>(d - x), static_cast<double>(y)) * std::pow(a - 2, static_cast<double>(z)) *
                   choose(static_cast<double>(length - d), static_cast<double>(r)) * std::pow(a - 1, static_cast<double>(r));
        }
    shared.push_back(std::round(total));
  }
  return shared;
}

MismatchPairs::MismatchPairs(const std::vector<Tokens>& sequences, Index length, Index mismatches, Index alphabet)
    : length_(length), shared_(shared_words(length, mismatches, alphabet)) {
  for (const Tokens& s : sequences) {
    grams_.emplace_back();
    counts_.emplace_back();
    for (const auto& [gram, count] : count_grams(s, length)) {
      grams_.back().insert(grams_.back().end(), gram.begin(), gram.end());
      counts_.back().push_back(count);
    }
  }
}

double MismatchPairs::value(Index a, Index b, Monitor& monitor) const {
  const auto& ga = grams_[static_cast<std::size_t>(a)];
  const auto& gb = grams_[static_cast<std::size_t>(b)];
  const auto& ca = counts_[static_cast<std::size_t>(a)];
  const auto& cb = counts_[static_cast<std::size_t>(b)];
  std::vector<double> pairs(static_cast<std::size_t>(length_) + 1, 0.0);  // by distance
  for (std::size_t i = 0; i < ca.size(); ++i) {
    const int* x = &ga[i * static_cast<std::size_t>(length_)];
    for (std::size_t j = 0; j < cb.size(); ++j) {
      const int* y = &gb[j * static_cast<std::size_t>(length_)];
      std::size_t d = 0;
      for (Index k = 0; k < length_; ++k) d += x[k] != y[k];
      pairs[d] += ca[i] * cb[j];
    }
    if (i % 256 == 0) monitor.check();
  }
  double total = 0;
  for (std::size_t d = 0; d < pairs.size(); ++d) total += pairs[d] * shared_[d];
  return total;
}

double MismatchPairs::operations() const {
  double grams = 1;
  for (const auto& counts : counts_) grams += static_cast<double>(counts.size());
  return std::pow(grams / std::max<double>(1, static_cast<double>(counts_.size())), 2) * static_cast<double>(length_);
}

}  // namespace granary::kernel
