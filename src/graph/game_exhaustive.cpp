#include "graph/game_exhaustive.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/errors.h"
#include "core/math/logspace.h"

namespace granary::graph {

double mixture_weight(double share, Index rows) { return std::min(share, 1 - 1 / (2.0 * static_cast<double>(rows))); }

double game_log_likelihood(int n, double log_count, double share, double q) {
  const double log_states = n * std::log(2.0);
  if (std::isinf(log_count) || log_count >= log_states) return -log_states;
  const double log_rest = log_states + log1mexp(log_count - log_states);  // log(2^n - |NE|)
  double value = 0;
  if (share > 0) value += share * (std::log(q) - log_count);
  if (share < 1) value += (1 - share) * (std::log1p(-q) - log_rest);
  return value;
}

SamplePicking sample_picking(ConstMatrixRef x) {
  const Index m = x.rows(), n = x.cols();
  std::vector<Bitset> states;
  for (Index l = 0; l < m; ++l) {
    Bitset state(static_cast<int>(n));
    for (Index i = 0; i < n; ++i) state.set(static_cast<int>(i), x(l, i) > 0);
    states.push_back(state);
  }
  std::vector<Index> order(m);
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return states[a] < states[b]; });
  struct Group {
    Index first, count;
  };
  std::vector<Group> groups;
  for (Index k = 0; k < m; ++k) {
    if (k > 0 && states[order[k]] == states[order[k - 1]]) {
      ++groups.back().count;
    } else {
      groups.push_back({order[k], 1});
    }
  }
  std::sort(groups.begin(), groups.end(),
            [](const Group& a, const Group& b) { return a.count != b.count ? a.count > b.count : a.first < b.first; });
  SamplePicking result;
  double seen = 0, best = -std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < groups.size(); ++k) {
    result.row.push_back(groups[k].first);
    result.frequency.push_back(static_cast<double>(groups[k].count) / static_cast<double>(m));
    seen += static_cast<double>(groups[k].count);
    const double share = seen / static_cast<double>(m), q = mixture_weight(share, m);
    const double value = game_log_likelihood(static_cast<int>(n), std::log(static_cast<double>(k + 1)), share, q);
    result.path.push_back(value);
    const bool everything = n < 62 && static_cast<double>(k + 1) == std::ldexp(1.0, static_cast<int>(n));
    if (!everything && value > best) {
      best = value;
      result.picked = static_cast<Index>(k + 1);
      result.share = share;
      result.q = q;
      result.log_likelihood = value;
    }
  }
  return result;
}

LinearGames linear_games(int n, Monitor& monitor) {
  if (n < 1 || n > 4) throw InputError(message("the list of all linear games is for 1 to 4 players, not ", n, "."));
  const int states = 1 << n;
  // Integer weights up to 3 show every closed half-space on so few points.
  const int reach = 3, values = 2 * reach + 1;
  int combinations = 1;
  for (int k = 0; k < n; ++k) combinations *= values;
  struct Choice {
    std::uint32_t content;
    int code;
  };
  std::vector<std::vector<Choice>> choices(n);
  const auto entry = [&](int code, int k) {
    for (int d = 0; d < k; ++d) code /= values;
    return code % values - reach;
  };
  for (int i = 0; i < n; ++i) {
    std::vector<int> witness(std::size_t{1} << states, -1);
    for (int code = 0; code < combinations; ++code) {
      // Digits: the weights of the others in order, then the threshold.
      std::uint32_t content = 0;
      for (int s = 0; s < states; ++s) {
        int f = -entry(code, n - 1), digit = 0;
        for (int j = 0; j < n; ++j) {
          if (j != i) f += entry(code, digit++) * (s >> j & 1 ? 1 : -1);
        }
        if ((s >> i & 1 ? f : -f) >= 0) content |= 1u << s;
      }
      if (witness[content] < 0) {
        witness[content] = code;
        choices[i].push_back({content, code});
      }
    }
  }
  // The sets reached by the first k players, each with how it was reached.
  std::vector<std::uint32_t> sets(1, states == 32 ? ~0u : (1u << states) - 1);
  std::vector<std::vector<int>> codes(1);
  for (int i = 0; i < n; ++i) {
    monitor.check();
    std::vector<char> seen(std::size_t{1} << states, 0);
    std::vector<std::uint32_t> next;
    std::vector<std::vector<int>> next_codes;
    for (std::size_t s = 0; s < sets.size(); ++s) {
      for (const Choice& choice : choices[i]) {
        const std::uint32_t both = sets[s] & choice.content;
        if (seen[both]) continue;
        seen[both] = 1;
        next.push_back(both);
        next_codes.push_back(codes[s]);
        next_codes.back().push_back(choice.code);
      }
    }
    sets.swap(next);
    codes.swap(next_codes);
  }
  LinearGames result;
  result.sets = sets;
  result.games.reserve(sets.size());
  for (const auto& code : codes) {
    Game game{MatrixXd::Zero(n, n), VectorXd(n)};
    for (int i = 0; i < n; ++i) {
      int digit = 0;
      for (int j = 0; j < n; ++j) {
        if (j != i) game.w(i, j) = entry(code[i], digit++);
      }
      game.b[i] = entry(code[i], n - 1);
    }
    result.games.push_back(std::move(game));
  }
  return result;
}

ExhaustiveFit fit_exhaustive(ConstMatrixRef x, Monitor& monitor) {
  const int n = static_cast<int>(x.cols());
  if (n > 4)
    throw InputError(
        message("loss \"exhaustive\" compares all linear games of up to 4 players, not ", n, ". Use loss = \"sl\"."));
  const LinearGames all = linear_games(n, monitor);
  std::vector<double> frequency(std::size_t{1} << n, 0);
  for (Index l = 0; l < x.rows(); ++l) {
    int s = 0;
    for (int i = 0; i < n; ++i) s |= x(l, i) > 0 ? 1 << i : 0;
    frequency[s] += 1.0 / static_cast<double>(x.rows());
  }
  ExhaustiveFit best;
  best.sets = static_cast<double>(all.sets.size());
  best.log_likelihood = -std::numeric_limits<double>::infinity();
  std::size_t at = 0;
  for (std::size_t k = 0; k < all.sets.size(); ++k) {
    double share = 0, count = 0;
    for (std::size_t s = 0; s < frequency.size(); ++s) {
      if (all.sets[k] >> s & 1) {
        share += frequency[s];
        ++count;
      }
    }
    share = std::min(1.0, share);
    const double value = game_log_likelihood(n, std::log(count), share, mixture_weight(share, x.rows()));
    if (value > best.log_likelihood + 1e-12) {
      best.log_likelihood = value;
      at = k;
    }
  }
  best.game = all.games[at];
  return best;
}

}  // namespace granary::graph
