// The body of TreeGrower (core/tree/grow.h), for whoever brings a score.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace granary {

// A threshold with a at or below and b above it; -Inf and Inf are values like others.
inline double half_way(double a, double b) {
  const double middle = a + (b - a) / 2;
  if (std::isfinite(middle) && middle < b) return middle;
  return std::isinf(a) ? std::numeric_limits<double>::lowest() : a;
}

template <class Score>
int TreeGrower<Score>::new_node() {
  tree_.feature.push_back(-1);
  tree_.threshold.push_back(0);
  tree_.left.push_back(-1);
  tree_.set.push_back(-1);
  tree_.missing_left.push_back(false);
  tree_.gain.push_back(0);
  tree_.rows.push_back(0);
  return tree_.nodes() - 1;
}

template <class Score>
Trees TreeGrower<Score>::grow(const std::vector<std::uint32_t>& rows, const std::uint32_t* count, Score& score, Rng& rng, Monitor& monitor) {
  count_ = count;
  score_ = &score;
  rng_ = &rng;
  rows_ = rows;
  leaves_.clear();
  tree_ = Trees();
  tree_.inputs = static_cast<int>(columns_.cols());
  tree_.outputs = static_cast<int>(score.outputs());
  tree_.start = {0};
  tree_.levels.assign(columns_.cols(), 0);
  for (Index j = 0; j < columns_.cols(); ++j)
    if (columns_[j].categorical) tree_.levels[j] = static_cast<int>(columns_[j].codes);
  least_ = 1e-12 * score.scale(rows_);
  side_.assign(columns_.rows(), 0);
  const bool stump = options_.max_leaves == 2 || options_.max_depth == 1;
  const bool everything = static_cast<Index>(rows_.size()) == columns_.rows();
  keys_.resize(columns_.cols());
  if (orders_) {
    if (!everything)
      for (std::uint32_t i : rows_) side_[i] = 1;
    for (Index j = 0; j < columns_.cols(); ++j) {
      keys_[j].clear();
      if (!sorted(j) || (stump && everything)) continue;
      if (everything) {
        keys_[j] = (*orders_)[j];
      } else {
        for (Key key : (*orders_)[j])
          if (side_[static_cast<std::uint32_t>(key)]) keys_[j].push_back(key);
      }
    }
  }

  const auto worse = [](const Node& a, const Node& b) { return a.split.value - a.whole < b.split.value - b.whole || (a.split.value - a.whole == b.split.value - b.whole && a.id > b.id); };
  std::vector<Node> open;
  const bool best_first = options_.max_leaves > 0;
  std::vector<Node> done;  // leaves
  int leaves = 1;
  const auto offer = [&](Node&& node) {
    look(node, !best_first || leaves < options_.max_leaves);
    tree_.rows[node.id] = node.rows;
    if (node.split.column < 0) {
      done.push_back(std::move(node));
      return;
    }
    open.push_back(std::move(node));
    if (best_first) std::push_heap(open.begin(), open.end(), worse);
  };
  Node root;
  root.id = new_node();
  root.to = static_cast<std::uint32_t>(rows_.size());
  offer(std::move(root));
  while (!open.empty() && (options_.max_leaves == 0 || leaves < options_.max_leaves)) {
    monitor.check();
    if (best_first) std::pop_heap(open.begin(), open.end(), worse);
    Node node = std::move(open.back());
    open.pop_back();
    const std::uint32_t middle = part(node);
    const int left = new_node();
    new_node();
    const TreeSplit& split = node.split;
    tree_.feature[node.id] = static_cast<int>(split.column);
    tree_.threshold[node.id] = split.threshold;
    tree_.left[node.id] = left;
    tree_.missing_left[node.id] = split.missing_left;
    tree_.gain[node.id] = split.value - node.whole;
    if (!split.levels.empty()) {
      tree_.set[node.id] = static_cast<int>(tree_.words.size());
      std::vector<std::uint32_t> words((split.levels.size() + 31) / 32, 0);
      for (std::size_t l = 0; l < split.levels.size(); ++l)
        if (split.levels[l]) words[l / 32] |= 1u << (l % 32);
      for (std::uint32_t w : words) tree_.words.push_back(static_cast<int>(w));
    }
    ++leaves;
    Node a, b;
    a.id = left;
    b.id = left + 1;
    a.depth = b.depth = node.depth + 1;
    a.from = node.from;
    a.to = b.from = middle;
    b.to = node.to;
    offer(std::move(a));
    offer(std::move(b));
  }
  for (Node& node : open) done.push_back(std::move(node));
  std::sort(done.begin(), done.end(), [](const Node& a, const Node& b) { return a.id < b.id; });
  tree_.value.resize(tree_.outputs, static_cast<Index>(done.size()));
  for (std::size_t leaf = 0; leaf < done.size(); ++leaf) {
    const Node& node = done[leaf];
    score.leaf(node.total.data(), tree_.value.col(static_cast<Index>(leaf)).data());
    tree_.left[node.id] = static_cast<int>(leaf);
    leaves_.push_back({static_cast<int>(leaf), node.from, node.to});
  }
  return std::move(tree_);
}

// Sums of a node, and its best split where one is allowed. Once the last split is spent none is looked for.
template <class Score>
void TreeGrower<Score>::look(Node& node, bool splits) {
  node.total.assign(score_->width(), 0.0);
  for (std::uint32_t i = node.from; i < node.to; ++i) {
    score_->add(node.total.data(), rows_[i]);
    node.rows += times(rows_[i]);
  }
  if (!splits || node.rows < options_.min_node || node.rows < 2.0 * options_.min_leaf || node.to - node.from < 2) return;
  if (options_.max_depth > 0 && node.depth >= options_.max_depth) return;
  score_->start(node.total.data());
  node.whole = score_->whole();
  TreeSplit best;
  best.value = node.whole;
  const Index p = columns_.cols();
  if (options_.mtry <= 0 || options_.mtry >= p) {
    for (Index j = 0; j < p; ++j) search(node, j, best);
  } else {
    if (static_cast<Index>(drawn_.size()) != p) {
      drawn_.resize(p);
      std::iota(drawn_.begin(), drawn_.end(), 0);
    }
    for (int t = 0; t < options_.mtry; ++t) {  // the first mtry of a random order; what came before only shuffled it
      std::swap(drawn_[t], drawn_[t + static_cast<int>(rng_->below(p - t))]);
      search(node, drawn_[t], best);
    }
  }
  if (best.column >= 0) settle(node, best.column, best);
  node.split = std::move(best);
}

template <class Score>
void TreeGrower<Score>::search(const Node& node, Index j, TreeSplit& best) {
  const TreeColumn& column = columns_[j];
  if (column.codes + (column.missing ? 1 : 0) < 2) return;
  const std::uint32_t n = node.to - node.from;
  if (options_.cuts > 0 && !column.categorical) return search_cuts(node, j, best);
  if (sorted(j)) return search_keys(node, j, (keys_[j].empty() ? (*orders_)[j] : keys_[j]).data() + node.from, best);
  codes_.resize(n);
  column.gather(rows_.data() + node.from, n, codes_.data());
  if (column.categorical || 2 * static_cast<std::uint64_t>(column.codes) <= n) return search_lots(node, j, best);
  own_.resize(std::max<std::size_t>(own_.size(), n));
  std::uint32_t low = codes_[0], high = codes_[0];
  for (std::uint32_t c : codes_) {
    low = std::min(low, c);
    high = std::max(high, c);
  }
  if (low == high) return;
  for (std::uint32_t i = 0; i < n; ++i) own_[i] = static_cast<Key>(codes_[i] - low) << 32 | rows_[node.from + i];
  int bits = 1;
  while ((high - low) >> bits) ++bits;
  sort_keys(own_, scratch_, n, bits);
  if (low > 0)
    for (std::uint32_t i = 0; i < n; ++i) own_[i] += static_cast<Key>(low) << 32;
  search_keys(node, j, own_.data(), best);
}

// Rows in order; those without a value last.
template <class Score>
void TreeGrower<Score>::search_keys(const Node& node, Index j, const Key* keys, TreeSplit& best) {
  const std::uint32_t n = node.to - node.from, none = columns_[j].codes;
  std::uint32_t known = n;
  double unknown_rows = 0;
  missing_.assign(score_->width(), 0.0);
  while (known > 0 && static_cast<std::uint32_t>(keys[known - 1] >> 32) == none) {
    --known;
    const auto row = static_cast<std::uint32_t>(keys[known]);
    score_->add(missing_.data(), row);
    unknown_rows += times(row);
  }
  const auto sweep = [&](bool missing_left) {
    score_->clear();
    double left = 0;
    if (missing_left) {
      score_->move(missing_.data());
      left = unknown_rows;
    }
    const bool to_end = known < n && !missing_left;
    for (std::uint32_t i = 0; i < known; ++i) {
      const auto row = static_cast<std::uint32_t>(keys[i]);
      const auto code = static_cast<std::uint32_t>(keys[i] >> 32);
      score_->move(static_cast<Index>(row));
      left += times(row);
      const bool ends = i + 1 == known;
      if (ends ? !to_end : static_cast<std::uint32_t>(keys[i + 1] >> 32) == code) continue;
      if (!enough(left, node.rows)) continue;
      const double value = score_->value();
      if (value > best.value + least_) {
        best.value = value;
        best.column = j;
        best.code = code;
        best.missing_left = missing_left;
        best.missing_met = known < n;
        best.levels.clear();
        const auto& values = columns_[j].values;
        best.threshold = ends ? std::numeric_limits<double>::max() : half_way(values[code], values[static_cast<std::uint32_t>(keys[i + 1] >> 32)]);
      }
    }
  };
  sweep(false);
  if (known < n) sweep(true);
}

// Rows counted by rank or level (codes_ holds them).
template <class Score>
void TreeGrower<Score>::search_lots(const Node& node, Index j, TreeSplit& best) {
  const TreeColumn& column = columns_[j];
  const Index q = score_->width(), lots = column.codes;
  lots_.assign((lots + 1) * q, 0.0);
  lot_rows_.assign(lots + 1, 0.0);
  for (std::uint32_t i = node.from; i < node.to; ++i) {
    const std::uint32_t code = codes_[i - node.from];
    score_->add(lots_.data() + code * q, rows_[i]);
    lot_rows_[code] += times(rows_[i]);
  }
  std::vector<std::uint32_t> order;
  for (std::uint32_t c = 0; c < column.codes; ++c)
    if (lot_rows_[c] > 0) order.push_back(c);
  if (column.categorical) {
    std::vector<double> key(column.codes);
    for (std::uint32_t c : order) key[c] = score_->order_key(lots_.data() + c * q);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return key[a] < key[b]; });
  }
  sweep_lots(node, j, lots, order, best);
}

// Lots in order; the lot after the last holds the rows without a value.
template <class Score>
void TreeGrower<Score>::sweep_lots(const Node& node, Index j, Index lots, const std::vector<std::uint32_t>& order, TreeSplit& best) {
  const TreeColumn& column = columns_[j];
  const Index q = score_->width();
  const double unknown_rows = lot_rows_[lots];
  const auto sweep = [&](bool missing_left) {
    score_->clear();
    double left = 0;
    if (missing_left) {
      score_->move(lots_.data() + lots * q);
      left = unknown_rows;
    }
    for (std::size_t at = 0; at < order.size(); ++at) {
      score_->move(lots_.data() + order[at] * q);
      left += lot_rows_[order[at]];
      const bool ends = at + 1 == order.size();
      if (ends && (unknown_rows == 0 || missing_left)) continue;
      if (!enough(left, node.rows)) continue;
      const double value = score_->value();
      if (!(value > best.value + least_)) continue;
      best.value = value;
      best.column = j;
      best.missing_left = missing_left;
      best.missing_met = unknown_rows > 0;
      best.levels.clear();
      if (column.categorical) {
        best.levels.assign(column.codes, false);
        for (std::size_t l = 0; l <= at; ++l) best.levels[order[l]] = true;
      } else {
        best.code = order[at];
        best.threshold = ends ? std::numeric_limits<double>::max() : half_way(column.values[order[at]], column.values[order[at + 1]]);
      }
    }
  };
  sweep(false);
  if (unknown_rows > 0) sweep(true);
}

// A few thresholds drawn between the smallest and the largest value of the node.
template <class Score>
void TreeGrower<Score>::search_cuts(const Node& node, Index j, TreeSplit& best) {
  const TreeColumn& column = columns_[j];
  const std::uint32_t n = node.to - node.from;
  codes_.resize(n);
  column.gather(rows_.data() + node.from, n, codes_.data());
  std::uint32_t low = column.codes, high = 0;
  for (std::uint32_t c : codes_)
    if (c < column.codes) {
      low = std::min(low, c);
      high = std::max(high, c);
    }
  if (low >= high) return;
  const double from = column.values[low], to = column.values[high];
  std::vector<std::pair<std::uint32_t, double>> cuts;  // last rank to the left, threshold
  for (int t = 0; t < options_.cuts; ++t) {
    double at = from + rng_->uniform() * (to - from);
    if (!std::isfinite(at) || at >= to) at = from;
    const auto above = std::upper_bound(column.values.begin() + low, column.values.begin() + high, at);
    cuts.emplace_back(static_cast<std::uint32_t>(above - column.values.begin()) - 1, at);
  }
  std::sort(cuts.begin(), cuts.end());
  const Index q = score_->width(), lots = static_cast<Index>(cuts.size());
  lots_.assign((lots + 2) * q, 0.0);
  lot_rows_.assign(lots + 2, 0.0);
  for (std::uint32_t i = 0; i < n; ++i) {
    Index lot = lots + 1;
    if (codes_[i] < column.codes) {
      lot = 0;
      while (lot < lots && codes_[i] > cuts[lot].first) ++lot;
    }
    score_->add(lots_.data() + lot * q, rows_[node.from + i]);
    lot_rows_[lot] += times(rows_[node.from + i]);
  }
  const double unknown_rows = lot_rows_[lots + 1];
  for (const bool missing_left : {false, true}) {
    if (missing_left && unknown_rows == 0) break;
    score_->clear();
    double left = 0;
    if (missing_left) {
      score_->move(lots_.data() + (lots + 1) * q);
      left = unknown_rows;
    }
    for (Index lot = 0; lot < lots; ++lot) {
      score_->move(lots_.data() + lot * q);
      left += lot_rows_[lot];
      if (!enough(left, node.rows)) continue;
      const double value = score_->value();
      if (!(value > best.value + least_)) continue;
      best.value = value;
      best.column = j;
      best.code = cuts[lot].first;
      best.threshold = cuts[lot].second;
      best.missing_left = missing_left;
      best.missing_met = unknown_rows > 0;
      best.levels.clear();
    }
  }
}

// Where nothing was missing, what is missing later goes with the larger side. Levels that the node has not met go where missing values go.
template <class Score>
void TreeGrower<Score>::settle(const Node& node, Index j, TreeSplit& best) const {
  const TreeColumn& column = columns_[j];
  if (!best.missing_met) {
    double left = 0;
    for (std::uint32_t i = node.from; i < node.to; ++i) {
      const std::uint32_t code = column[rows_[i]];
      if (best.levels.empty() ? code <= best.code : best.levels[code]) left += times(rows_[i]);
    }
    best.missing_left = 2 * left > node.rows;
  }
  if (best.levels.empty() || !best.missing_left) return;
  std::vector<bool> met(column.codes + 1, false);
  for (std::uint32_t i = node.from; i < node.to; ++i) met[column[rows_[i]]] = true;
  for (std::uint32_t l = 0; l < column.codes; ++l)
    if (!met[l]) best.levels[l] = true;
}

// Rows to the left first, each side in the order it had; the same in every sorted column.
template <class Score>
std::uint32_t TreeGrower<Score>::part(const Node& node) {
  const TreeSplit& split = node.split;
  const TreeColumn& column = columns_[split.column];
  const std::uint32_t n = node.to - node.from;
  spare_.clear();
  std::uint32_t at = node.from;
  codes_.resize(n);
  column.gather(rows_.data() + node.from, n, codes_.data());
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::uint32_t code = codes_[i], row = rows_[node.from + i];
    const bool left = code == column.codes ? split.missing_left : split.levels.empty() ? code <= split.code : split.levels[code];
    side_[row] = left;
    if (left) {
      rows_[at++] = row;
    } else {
      spare_.push_back(row);
    }
  }
  std::copy(spare_.begin(), spare_.end(), rows_.begin() + at);
  const bool stump = options_.max_leaves == 2 || options_.max_depth == 1;
  if (orders_ && !stump) {
    for (Index j = 0; j < columns_.cols(); ++j) {
      if (!sorted(j)) continue;
      Key* keys = keys_[j].data() + node.from;
      scratch_.resize(std::max<std::size_t>(scratch_.size(), n));
      std::uint32_t a = 0, b = 0;
      for (std::uint32_t i = 0; i < n; ++i) {
        const Key key = keys[i];
        if (side_[static_cast<std::uint32_t>(key)]) {
          keys[a++] = key;
        } else {
          scratch_[b++] = key;
        }
      }
      std::copy(scratch_.begin(), scratch_.begin() + b, keys + a);
    }
  }
  return at;
}

}  // namespace granary
