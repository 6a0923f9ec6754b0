#include "core/sequence/chain.h"

#include <algorithm>
#include <limits>

#include "core/sequence/chain_trellis.h"
#include "core/base/errors.h"

namespace granary {
namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

void require_shape(const ChainScores& c) {
  const std::size_t k = static_cast<std::size_t>(c.labels()), t = static_cast<std::size_t>(c.length());
  if (k == 0 || t == 0) throw InputError("a chain needs at least one label and one position.");
  if (c.pair.size() != k * k && !(t > 1 && c.pair.size() == k * k * (t - 1))) {
    throw InputError("the scores of pairs must form one K x K matrix, or one for each two neighbouring positions.");
  }
  if (!c.triple.empty() && c.triple.size() != k * k * k) throw InputError("the scores of triples must form a K x K x K array.");
}

// One entry of the table of a recursion: its score, and where it came from.
struct Entry {
  double score = minus_infinity;
  int from = -1;  // predecessor state
  int lane = -1;  // rank (k best) or number of errors at the predecessor
};

// Better score first; among equals the earlier predecessor, then the better rank.
bool before(const Entry& a, const Entry& b) {
  if (a.score != b.score) return a.score > b.score;
  if (a.from != b.from) return a.from < b.from;
  return a.lane < b.lane;
}

// table[t][state * lanes + lane]
using Table = std::vector<std::vector<Entry>>;

ChainPath trace_back(const Trellis& trellis, const Table& table, int lanes, int state, int lane) {
  const Index length = static_cast<Index>(table.size());
  ChainPath path;
  path.score = table.back()[static_cast<std::size_t>(state * lanes + lane)].score;
  path.labels.resize(table.size());
  for (Index t = length - 1; t >= 0; --t) {
    path.labels[static_cast<std::size_t>(t)] = trellis.label(t, state);
    const Entry& entry = table[static_cast<std::size_t>(t)][static_cast<std::size_t>(state * lanes + lane)];
    state = entry.from;
    lane = entry.lane;
  }
  return path;
}

// First order and one sequence: the case that training and prediction live on.
ChainPath best_path(const ChainScores& c) {
  const Index k = c.labels(), length = c.length();
  Eigen::MatrixXi from(k, length);
  VectorXd best = c.unary.col(0), next(k);
  for (Index t = 1; t < length; ++t) {
    const double* pair = c.pair_at(t - 1);
    for (Index s = 0; s < k; ++s, pair += k) {
      double top = best[0] + pair[0];
      int at = 0;
      for (Index j = 1; j < k; ++j) {
        const double value = best[j] + pair[j];
        if (value > top) {
          top = value;
          at = static_cast<int>(j);
        }
      }
      next[s] = top + c.unary(s, t);
      from(s, t) = at;
    }
    best.swap(next);
  }
  ChainPath path;
  Index last = 0;
  path.score = best.maxCoeff(&last);
  path.labels.resize(static_cast<std::size_t>(length));
  int state = static_cast<int>(last);
  for (Index t = length - 1; t >= 0; --t) {
    path.labels[static_cast<std::size_t>(t)] = state;
    if (t > 0) state = from(state, t);
  }
  return path;
}

}  // namespace

double chain_score(const ChainScores& c, const std::vector<int>& y) {
  const Index k = c.labels();
  double total = 0;
  for (std::size_t t = 0; t < y.size(); ++t) {
    total += c.unary(y[t], static_cast<Index>(t));
    if (t > 0) total += c.pair_at(static_cast<Index>(t) - 1)[y[t - 1] + k * y[t]];
    if (t > 1 && c.second_order()) total += c.triple[static_cast<std::size_t>(y[t - 2] + k * (y[t - 1] + k * y[t]))];
  }
  return total;
}

std::vector<ChainPath> viterbi(const ChainScores& c, int k) {
  require_shape(c);
  if (k < 1) throw InputError("the number of best sequences must be at least 1.");
  if (k == 1 && !c.second_order()) {
    ChainPath path = best_path(c);
    if (path.score == minus_infinity) return {};
    return {std::move(path)};
  }
  const Trellis trellis(c);
  const Index length = c.length();
  Table table(static_cast<std::size_t>(length));
  std::vector<Entry> candidates;
  for (Index t = 0; t < length; ++t) {
    std::vector<Entry>& now = table[static_cast<std::size_t>(t)];
    now.resize(static_cast<std::size_t>(trellis.states(t) * k));
    for (int s = 0; s < trellis.states(t); ++s) {
      const double node = trellis.node(t, s);
      if (t == 0) {
        now[static_cast<std::size_t>(s * k)].score = node;
        continue;
      }
      const std::vector<Entry>& old = table[static_cast<std::size_t>(t - 1)];
      candidates.clear();
      for (int j = 0; j < trellis.predecessors(t); ++j) {
        const int from = trellis.predecessor(t, s, j);
        const double step = node + trellis.edge(t, s, j);
        for (int rank = 0; rank < k; ++rank) {
          const double score = old[static_cast<std::size_t>(from * k + rank)].score;
          if (score == minus_infinity || step == minus_infinity) break;
          candidates.push_back({score + step, from, rank});
        }
      }
      const std::size_t keep = std::min(candidates.size(), static_cast<std::size_t>(k));
      std::partial_sort(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(keep), candidates.end(), before);
      std::copy_n(candidates.begin(), keep, now.begin() + s * k);
    }
  }
  std::vector<Entry> ends;  // `from` and `lane` are here the last state and its rank
  for (int s = 0; s < trellis.states(length - 1); ++s) {
    for (int rank = 0; rank < k; ++rank) {
      const double score = table.back()[static_cast<std::size_t>(s * k + rank)].score;
      if (score > minus_infinity) ends.push_back({score, s, rank});
    }
  }
  const std::size_t keep = std::min(ends.size(), static_cast<std::size_t>(k));
  std::partial_sort(ends.begin(), ends.begin() + static_cast<std::ptrdiff_t>(keep), ends.end(), before);
  std::vector<ChainPath> paths;
  for (std::size_t r = 0; r < keep; ++r) paths.push_back(trace_back(trellis, table, k, ends[r].from, ends[r].lane));
  return paths;
}

std::vector<ChainPath> viterbi_errors(const ChainScores& c, const std::vector<int>& truth) {
  require_shape(c);
  const Index length = c.length();
  if (static_cast<Index>(truth.size()) != length) throw InputError("the given labels must be as many as the positions.");
  const Trellis trellis(c);
  // score[state * lanes + e]: best with e errors so far; a predecessor has e errors less one if this label is wrong, so only its
  // state is kept.
  const Index lanes = length + 1;
  std::vector<std::vector<int>> from(static_cast<std::size_t>(length));
  std::vector<double> now, old;
  for (Index t = 0; t < length; ++t) {
    const int states = trellis.states(t);
    old.swap(now);
    now.assign(static_cast<std::size_t>(states * lanes), minus_infinity);
    from[static_cast<std::size_t>(t)].assign(now.size(), -1);
    for (int s = 0; s < states; ++s) {
      const Index wrong = trellis.label(t, s) != truth[static_cast<std::size_t>(t)] ? 1 : 0;
      const double node = trellis.node(t, s);
      double* mine = now.data() + s * lanes + wrong;
      int* source = from[static_cast<std::size_t>(t)].data() + s * lanes + wrong;
      if (t == 0) mine[0] = node;
      for (int j = 0; j < trellis.predecessors(t); ++j) {
        const int before = trellis.predecessor(t, s, j);
        const double step = node + trellis.edge(t, s, j);
        const double* theirs = old.data() + before * lanes;
        for (Index e = 0; e <= t; ++e) {
          const double score = theirs[e] + step;
          const bool better = score > mine[e];
          mine[e] = better ? score : mine[e];
          source[e] = better ? before : source[e];
        }
      }
    }
  }
  std::vector<ChainPath> levels(static_cast<std::size_t>(lanes));
  for (Index e = 0; e < lanes; ++e) {
    int at = -1;
    double top = minus_infinity;
    for (int s = 0; s < trellis.states(length - 1); ++s) {
      const double score = now[static_cast<std::size_t>(s * lanes + e)];
      if (score > top) {
        top = score;
        at = s;
      }
    }
    if (at < 0) continue;
    ChainPath& path = levels[static_cast<std::size_t>(e)];
    path.score = top;
    path.labels.resize(static_cast<std::size_t>(length));
    Index left = e;
    for (Index t = length - 1; t >= 0; --t) {
      const int label = trellis.label(t, at);
      path.labels[static_cast<std::size_t>(t)] = label;
      const int before = from[static_cast<std::size_t>(t)][static_cast<std::size_t>(at * lanes + left)];
      left -= label != truth[static_cast<std::size_t>(t)] ? 1 : 0;
      at = before;
    }
  }
  return levels;
}

}  // namespace granary
