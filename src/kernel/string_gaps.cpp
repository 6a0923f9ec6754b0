#include "kernel/string_gaps.h"

#include <algorithm>
#include <cmath>

namespace granary::kernel {

namespace {

using Lanes = Eigen::Array<double, 4, 1>;
using LanesAt = Eigen::Map<Lanes>;
using ConstLanesAt = Eigen::Map<const Lanes>;

// Numbers below 1e-308 are slow. So every cell gets a floor that is nothing beside a sum that counts, and sums that are not
// far above it are zero.
constexpr double tiny = 1e-290, zero_below = 1e-265;
constexpr double cells_between_checks = 2e6;

double factor(const std::vector<double>& of_token, int token, double otherwise) {
  return token < 0 || of_token.empty() ? otherwise : of_token[static_cast<std::size_t>(token)];
}
double square(double x) { return x * x; }
double match_factor(const GapModel& model, int token) { return square(factor(model.match, token, 1)) * model.scale; }

Index padded(Index levels) { return (levels + 3) / 4 * 4; }
VectorXd without_floor(VectorXd sums, Index levels) {
  for (Index q = 0; q < levels; ++q)
    if (sums[q] < zero_below) sums[q] = 0;
  return sums.head(levels);
}

// prev and next hold V_0 = 1, V_1, ..., V_p for one row of the table and all columns, with a column of zeros before the first.
template <bool by_number>
VectorXd dense(const Tokens& s, const Tokens& t, const GapModel& model, Monitor& monitor) {
  const Index n = static_cast<Index>(t.size()), levels = padded(model.levels), stride = levels + 1;
  std::vector<double> prev(static_cast<std::size_t>((n + 1) * stride), 0.0), columns;
  for (Index j = 0; j <= n; ++j) prev[static_cast<std::size_t>(j * stride)] = 1;
  std::vector<double> next = prev;
  if (by_number) columns.assign(static_cast<std::size_t>((n + 1) * levels), 0.0);  // sums of row sums above
  VectorXd skip(n), match(n), sums = VectorXd::Zero(levels);
  for (Index j = 0; j < n; ++j) skip[j] = factor(model.skip, t[static_cast<std::size_t>(j)], model.lambda);
  const TokenPlaces places(t);
  double pending = 1, cells = 0;  // pending: decay of rows without a match, not yet applied to prev
  bool settled = true;            // by number: V is what it would be after one more row without a match
  for (const int token : s) {
    const TokenPlaces::Range here = places.of(token);
    const double down = factor(model.skip, token, model.lambda), weight = match_factor(model, token);
    const bool empty = here.begin == here.end;
    if (empty && (!by_number || settled)) {
      if (!by_number) pending *= down;
      continue;
    }
    settled = empty;
    match.setZero();
    for (const int* at = here.begin; at != here.end; ++at) match[*at] = weight;
    const double decay = pending * down;
    for (Index c = 0; c < levels; c += 4) {
      Lanes shifted = Lanes::Constant(pending), run = Lanes::Zero(), sum = Lanes::Zero();
      if (c == 0) shifted[0] = 1;
      for (Index j = 0; j < n; ++j) {
        const Lanes kappa = match[j] * shifted * ConstLanesAt(&prev[static_cast<std::size_t>(j * stride + c)]);
        sum += kappa;
        LanesAt to(&next[static_cast<std::size_t>((j + 1) * stride + c + 1)]);
        if constexpr (by_number) {
          LanesAt column(&columns[static_cast<std::size_t>(j * levels + c)]);
          const Lanes row = kappa + model.lambda * run;
          run += kappa;
          to = row + model.lambda * column;
          column += row;
        } else {
          const ConstLanesAt above(&prev[static_cast<std::size_t>((j + 1) * stride + c + 1)]);
          run = skip[j] * run + (kappa + tiny);
          to = decay * above + run;
        }
      }
      sums.segment(c, 4) += sum.matrix();
    }
    std::swap(prev, next);
    pending = 1;
    cells += static_cast<double>(n) * static_cast<double>(levels);
    if (cells > cells_between_checks) {
      monitor.check();
      cells = 0;
    }
  }
  return without_floor(std::move(sums), model.levels);
}

// Decay of the rows of s: from one row to a later one.
class RowDecay {
 public:
  RowDecay(const Tokens& s, const GapModel& model) : uniform_(model.skip.empty()) {
    const auto m = s.size();
    at_.resize(m + 1);
    double power = 1, sum = 0;
    for (std::size_t i = 0; i <= m; ++i) {
      at_[i] = uniform_ ? power : sum;
      if (i == m) break;
      power = power * model.lambda > tiny ? power * model.lambda : 0;
      sum += std::log(factor(model.skip, s[i], model.lambda));
    }
  }
  double between(int from, int to) const {
    return uniform_ ? at_[static_cast<std::size_t>(to - from)]
                    : std::exp(at_[static_cast<std::size_t>(to)] - at_[static_cast<std::size_t>(from)]);
  }

 private:
  bool uniform_;
  std::vector<double> at_;
};

Index low_bit(Index h) { return h & -h; }

// Prefix sums over the columns of t for all levels. Node h stands for columns (h - low_bit(h), h]; what it holds is decayed to
// column h and to row stamp[h].
class GapTree {
 public:
  GapTree(const Tokens& t, const GapModel& model, const RowDecay* rows)
      : n_(static_cast<Index>(t.size())),
        levels_(padded(model.levels)),
        rows_(rows),
        sums_(static_cast<std::size_t>((n_ + 1) * levels_), 0.0),
        stamp_(static_cast<std::size_t>(n_ + 1), 0),
        down_(static_cast<std::size_t>(n_ + 1), 1.0),
        up_(down_) {
    if (rows_ == nullptr) return;
    // down[h] = decay over (h - low_bit(h), h], up[h] = decay over (h, h + low_bit(h)]
    std::vector<double> skip(static_cast<std::size_t>(n_ + 1), 1.0);
    for (Index h = 1; h <= n_; ++h)
      skip[static_cast<std::size_t>(h)] = factor(model.skip, t[static_cast<std::size_t>(h - 1)], model.lambda);
    const auto product_below = [&](Index from, Index to) {  // over (to, from], by whole nodes
      double product = 1;
      for (Index h = from; h > to; h -= low_bit(h)) product *= down_[static_cast<std::size_t>(h)];
      return product > tiny ? product : 0;
    };
    for (Index h = 1; h <= n_; ++h)
      down_[static_cast<std::size_t>(h)] = skip[static_cast<std::size_t>(h)] * product_below(h - 1, h - low_bit(h));
    for (Index h = 1; h <= n_; ++h) {
      const Index next = h + low_bit(h);
      if (next <= n_) up_[static_cast<std::size_t>(h)] = skip[static_cast<std::size_t>(next)] * product_below(next - 1, h);
    }
  }
  // Adds to `out` the sums over columns 1 .. to and all rows inserted, decayed to column `to` and this row.
  void query(Index to, int row, double* out) const {
    double decay = 1;
    for (Index h = to; h > 0; h -= low_bit(h)) {
      const auto at = static_cast<std::size_t>(h);
      if (stamp_[at] > 0) {
        const double w = rows_ != nullptr ? decay * rows_->between(stamp_[at], row) : 1;
        for (Index c = 0; c < levels_; c += 4)
          LanesAt(out + c) += w * ConstLanesAt(&sums_[at * static_cast<std::size_t>(levels_) + static_cast<std::size_t>(c)]);
      }
      decay *= down_[at];
      if (decay < tiny) break;  // what is further to the left counts nothing
    }
  }
  void add(Index column, int row, const double* value) {
    double decay = 1;
    for (Index h = column; h <= n_; h += low_bit(h)) {
      const auto at = static_cast<std::size_t>(h);
      const double kept = rows_ != nullptr && stamp_[at] > 0 ? rows_->between(stamp_[at], row) : 1;
      for (Index c = 0; c < levels_; c += 4) {
        LanesAt sum(&sums_[at * static_cast<std::size_t>(levels_) + static_cast<std::size_t>(c)]);
        sum = kept * sum + (decay * ConstLanesAt(value + c) + tiny);
      }
      stamp_[at] = row;
      decay *= up_[at];
    }
  }

 private:
  Index n_, levels_;
  const RowDecay* rows_;  // null: nothing decays
  std::vector<double> sums_;
  std::vector<int> stamp_;
  std::vector<double> down_, up_;
};

// The kappas of one row: `levels` numbers for each of its columns.
struct MatchRow {
  const int *begin = nullptr, *end = nullptr;
  std::vector<double> kappa;
  Index size() const { return end - begin; }
};

}  // namespace

TokenPlaces::TokenPlaces(const Tokens& t) {
  std::vector<int> order;
  order.reserve(t.size());
  for (std::size_t j = 0; j < t.size(); ++j)
    if (t[j] >= 0) order.push_back(static_cast<int>(j));
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return t[static_cast<std::size_t>(a)] < t[static_cast<std::size_t>(b)]; });
  for (std::size_t k = 0; k < order.size(); ++k) {
    const int token = t[static_cast<std::size_t>(order[k])];
    if (token_.empty() || token_.back() != token) {
      token_.push_back(token);
      start_.push_back(static_cast<int>(k));
    }
  }
  start_.push_back(static_cast<int>(order.size()));
  place_ = std::move(order);
}

TokenPlaces::Range TokenPlaces::of(int token) const {
  const auto at = std::lower_bound(token_.begin(), token_.end(), token);
  if (at == token_.end() || *at != token) return {nullptr, nullptr};
  const auto k = static_cast<std::size_t>(at - token_.begin());
  return {place_.data() + start_[k], place_.data() + start_[k + 1]};
}

double TokenPlaces::common(const TokenPlaces& other) const {
  double total = 0;
  for (std::size_t a = 0, b = 0; a < token_.size() && b < other.token_.size();) {
    if (token_[a] < other.token_[b]) {
      ++a;
    } else if (other.token_[b] < token_[a]) {
      ++b;
    } else {
      total += static_cast<double>(start_[a + 1] - start_[a]) * static_cast<double>(other.start_[b + 1] - other.start_[b]);
      ++a;
      ++b;
    }
  }
  return total;
}

VectorXd gap_levels_dense(const Tokens& s, const Tokens& t, const GapModel& model, Monitor& monitor) {
  return model.by_number ? dense<true>(s, t, model, monitor) : dense<false>(s, t, model, monitor);
}

VectorXd gap_levels_sparse(const Tokens& s, const Tokens& t, const TokenPlaces& places, const GapModel& model, Monitor& monitor) {
  const Index levels = padded(model.levels);
  const RowDecay decay(s, model);
  GapTree tree(t, model, model.by_number ? nullptr : &decay);
  // By number: the tree lags one row behind, for the row just above is a neighbour and no gap; `above` is that row, `columns`
  // the column sums of the tree.
  MatchRow row, above;
  std::vector<double> columns(model.by_number ? t.size() * static_cast<std::size_t>(levels) : 0, 0.0),
      found(static_cast<std::size_t>(levels));
  VectorXd sums = VectorXd::Zero(levels);
  const double lambda = model.lambda;
  double work = 0;
  for (std::size_t i = 0; i < s.size(); ++i) {
    const TokenPlaces::Range here = places.of(s[i]);
    row.begin = here.begin;
    row.end = here.end;
    row.kappa.assign(static_cast<std::size_t>(row.size() * levels), 0.0);
    const double weight = match_factor(model, s[i]);
    std::vector<double> before(model.by_number ? static_cast<std::size_t>(levels) : 0,
                               0.0);  // sum of `above` over columns below j - 1
    Index passed = 0;
    for (Index k = 0; k < row.size(); ++k) {
      const Index j = row.begin[k];  // column j + 1 of the tree
      std::fill(found.begin(), found.end(), 0.0);
      if (!model.by_number) {
        tree.query(j, static_cast<int>(i), found.data());
      } else {
        tree.query(j - 1, 1, found.data());
        for (; passed < above.size() && above.begin[passed] < j - 1; ++passed)
          for (Index l = 0; l < levels; ++l)
            before[static_cast<std::size_t>(l)] += above.kappa[static_cast<std::size_t>(passed * levels + l)];
        const bool neighbour = passed < above.size() && above.begin[passed] == j - 1;
        for (Index l = 0; l < levels; ++l) {
          const auto at = static_cast<std::size_t>(l);
          const double column = j > 0 ? columns[static_cast<std::size_t>((j - 1) * levels + l)] : 0;
          const double corner = neighbour ? above.kappa[static_cast<std::size_t>(passed * levels + l)] : 0;
          found[at] = lambda * lambda * found[at] + lambda * (before[at] + column) + corner;
        }
      }
      double* kappa = &row.kappa[static_cast<std::size_t>(k * levels)];
      kappa[0] = weight;
      for (Index l = 1; l < levels; ++l) kappa[l] = weight * found[static_cast<std::size_t>(l - 1)];
      for (Index l = 0; l < levels; ++l) sums[l] += kappa[l];
    }
    const auto insert = [&](const MatchRow& from, int stamp) {
      for (Index k = 0; k < from.size(); ++k)
        tree.add(from.begin[k] + 1, stamp, &from.kappa[static_cast<std::size_t>(k * levels)]);
    };
    if (!model.by_number) {
      insert(row, static_cast<int>(i) + 1);
    } else {
      insert(above, 1);
      for (Index k = 0; k < above.size(); ++k)
        for (Index l = 0; l < levels; ++l)
          columns[static_cast<std::size_t>(above.begin[k] * levels + l)] += above.kappa[static_cast<std::size_t>(k * levels + l)];
      std::swap(row, above);
    }
    work += static_cast<double>(row.size() + 1) * static_cast<double>(levels) * 20;
    if (work > cells_between_checks) {
      monitor.check();
      work = 0;
    }
  }
  return without_floor(std::move(sums), model.levels);
}

double gap_all_lengths(const Tokens& s, const Tokens& t, const GapModel& model, Monitor& monitor) {
  const std::size_t n = t.size();
  std::vector<double> v(n + 1, 0.0), columns(n + 1, 0.0);
  std::vector<double> skip(n);
  for (std::size_t j = 0; j < n; ++j) skip[j] = factor(model.skip, t[j], model.lambda);
  double sum = 0, cells = 0;
  for (const int token : s) {
    const double down = factor(model.skip, token, model.lambda), weight = match_factor(model, token);
    double run = 0, corner = 0;  // corner: v of the row above, one column to the left
    for (std::size_t j = 0; j < n; ++j) {
      const double kappa = token >= 0 && token == t[j] ? weight * (1 + corner) : 0;
      corner = v[j];
      sum += kappa;
      if (model.by_number) {
        const double row = kappa + model.lambda * run;
        run += kappa;
        v[j] = row + model.lambda * columns[j];
        columns[j] += row;
      } else {
        run = skip[j] * run + (kappa + tiny);
        v[j] = down * v[j] + run;
      }
    }
    cells += static_cast<double>(n);
    if (cells > cells_between_checks) {
      monitor.check();
      cells = 0;
    }
  }
  return sum < zero_below ? 0 : sum;
}

double dense_cost(double m, double n, Index levels) { return 1.6 * m * n * static_cast<double>(padded(levels) / 4); }
double sparse_cost(double matches, double n, Index levels) {
  return matches * (1 + std::log2(n + 1)) * (3.5 + 0.65 * static_cast<double>(padded(levels) / 4));
}

}  // namespace granary::kernel
