#include "graph/causal_dag_scores.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/linalg/spd.h"
#include "core/graph/subsets.h"

namespace granary::graph {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double singular_share = 1e-10;  // a pivot below this share of the variance counts as zero
constexpr double tie_share = 1e-12;       // of the variance: improvements below are rounding
constexpr int flat_limit = 22;            // up to here all 2^d scores are held in one array

// Walks over the sets {required} + {members in increasing order}, calling visit(mask, residual variance).
class SchurWalk {
 public:
  // `order`: first the required candidates, then the others; the target last.
  SchurWalk(ConstMatrixRef g, int node, const std::vector<int>& candidates, std::uint64_t required, int max_size)
      : d_(static_cast<int>(candidates.size())), max_size_(max_size) {
    for (int i = 0; i < d_; ++i) {
      if (required >> i & 1) order_.push_back(i);
    }
    required_ = static_cast<int>(order_.size());
    for (int i = 0; i < d_; ++i) {
      if (!(required >> i & 1)) order_.push_back(i);
    }
    std::vector<int> rows;
    for (int i : order_) rows.push_back(candidates[i]);
    rows.push_back(node);
    MatrixXd start(d_ + 1, d_ + 1);
    for (int i = 0; i <= d_; ++i) {
      for (int j = 0; j <= d_; ++j) start(i, j) = g(rows[i], rows[j]);
    }
    variance_ = start.diagonal();
    levels_.assign(d_ + 1, start);
  }

  bool singular() const { return singular_; }

  template <class Visit>
  bool run(Visit&& visit) {  // false: the required parents are linearly dependent
    std::uint64_t mask = 0;
    int depth = 0;
    for (int k = 0; k < required_; ++k) {
      if (!eliminate(depth, k)) return false;
      mask |= std::uint64_t{1} << order_[k];
      ++depth;
    }
    report(mask, depth, visit);
    descend(mask, depth, required_, visit);
    return true;
  }

 private:
  template <class Visit>
  void report(std::uint64_t mask, int depth, Visit& visit) {
    const double residual = levels_[depth](d_, d_);
    if (residual > singular_share * variance_[d_]) {
      visit(mask, residual);
    } else {
      singular_ = true;
    }
  }

  template <class Visit>
  void descend(std::uint64_t mask, int depth, int from, Visit& visit) {
    if (depth >= max_size_) return;
    for (int k = from; k < d_; ++k) {
      if (!eliminate(depth, k)) continue;
      const std::uint64_t larger = mask | std::uint64_t{1} << order_[k];
      report(larger, depth + 1, visit);
      descend(larger, depth + 1, k + 1, visit);
    }
  }

  // Puts the Schur complement of variable k, on k + 1 .. d (lower triangle), into the next level.
  bool eliminate(int depth, int k) {
    const MatrixXd& from = levels_[depth];
    MatrixXd& to = levels_[depth + 1];
    const double pivot = from(k, k);
    if (!(pivot > singular_share * variance_[k])) {
      singular_ = true;
      return false;
    }
    for (int j = k + 1; j <= d_; ++j) {
      const double factor = from(j, k) / pivot;
      for (int i = j; i <= d_; ++i) to(i, j) = from(i, j) - from(i, k) * factor;
    }
    return true;
  }

  int d_, required_ = 0, max_size_;
  std::vector<int> order_;
  VectorXd variance_;
  std::vector<MatrixXd> levels_;
  bool singular_ = false;
};

// Sorts, and leaves out candidates that no set uses.
void tidy(ParentSets& p) {
  std::uint64_t used = 0;
  std::vector<std::pair<double, std::uint64_t>> entries(p.sets.size());
  for (std::size_t k = 0; k < entries.size(); ++k) {
    entries[k] = {p.scores[k], p.sets[k]};
    used |= p.sets[k];
  }
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first < b.first;
    const int size_a = __builtin_popcountll(a.second), size_b = __builtin_popcountll(b.second);
    return size_a != size_b ? size_a < size_b : a.second < b.second;
  });
  std::vector<int> bits, candidates;
  for (std::size_t i = 0; i < p.candidates.size(); ++i) {
    if (used >> i & 1) {
      bits.push_back(static_cast<int>(i));
      candidates.push_back(p.candidates[i]);
    }
  }
  for (std::size_t k = 0; k < entries.size(); ++k) {
    std::uint64_t set = entries[k].second;
    if (bits.size() < p.candidates.size()) {
      set = 0;
      for (std::size_t i = 0; i < bits.size(); ++i) set |= (entries[k].second >> bits[i] & 1) << i;
    }
    p.sets[k] = set;
    p.scores[k] = entries[k].first;
  }
  p.candidates = std::move(candidates);
}

// best(S) = min over subsets of S: each set is compared with what its subsets of one member less reach.
template <class Lookup, class Store>
void keep_improving(const std::vector<std::uint64_t>& sets, const std::vector<double>& scores, double tol, Lookup&& lookup,
                    Store&& store, ParentSets& out) {
  for (std::size_t k = 0; k < sets.size(); ++k) {
    double below = infinity;
    for (std::uint64_t rest = sets[k]; rest; rest &= rest - 1) below = std::min(below, lookup(sets[k] & ~(rest & (~rest + 1))));
    if (scores[k] < below - tol) {
      out.sets.push_back(sets[k]);
      out.scores.push_back(scores[k]);
    }
    store(sets[k], std::min(below, scores[k]));
  }
}

}  // namespace

int ParentSets::position(int node) const {
  const auto at = std::lower_bound(candidates.begin(), candidates.end(), node);
  return at != candidates.end() && *at == node ? static_cast<int>(at - candidates.begin()) : -1;
}

int ParentSets::best_within(std::uint64_t allowed) const {
  for (std::size_t k = 0; k < sets.size(); ++k) {
    if (!(sets[k] & ~allowed)) return static_cast<int>(k);
  }
  return -1;
}

std::vector<int> ParentSets::members(std::uint64_t set) const {
  std::vector<int> out;
  for (; set; set &= set - 1) out.push_back(candidates[__builtin_ctzll(set)]);
  return out;
}

void drop_dominated(ParentSets& p, double tol) {
  if (p.candidates.size() > 62)
    throw InputError(message("a node can have at most 62 candidate parents, not ", p.candidates.size(), "."));
  std::vector<std::size_t> order(p.sets.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const int size_a = __builtin_popcountll(p.sets[a]), size_b = __builtin_popcountll(p.sets[b]);
    if (size_a != size_b) return size_a < size_b;
    return p.sets[a] != p.sets[b] ? p.sets[a] < p.sets[b] : p.scores[a] < p.scores[b];
  });
  // A table may have gaps, so that a subset is not reached by taking off one member at a time: compare with all kept so far.
  ParentSets out;
  out.candidates = p.candidates;
  for (std::size_t at : order) {
    if (!(p.scores[at] < infinity)) continue;
    bool dominated = false;
    for (std::size_t k = 0; k < out.sets.size() && !dominated; ++k) {
      dominated = out.sets[k] == p.sets[at] || (!(out.sets[k] & ~p.sets[at]) && out.scores[k] <= p.scores[at] + tol);
    }
    if (dominated) continue;
    out.sets.push_back(p.sets[at]);
    out.scores.push_back(p.scores[at]);
  }
  tidy(out);
  p = std::move(out);
}

ParentSets score_node(ConstMatrixRef g, const SearchSpace& space, int node, const ScoreOptions& options, int* limit,
                      bool* singular) {
  ParentSets all;
  all.candidates = space.may[node].members();
  const int d = static_cast<int>(all.candidates.size());
  if (d > 62) {
    throw InputError(message(
        "node ", node + 1, " has ", d,
        " candidate parents, but exact and greedy searches allow at most 62 per node. Use a sparser graph (a smaller alpha, "
        "a larger lambda) or search = \"topdown\"."));
  }
  std::uint64_t required = 0;
  int required_count = 0;
  for (int i = 0; i < d; ++i) {
    if (!space.must.empty() && space.must[node].test(all.candidates[i])) {
      required |= std::uint64_t{1} << i;
      ++required_count;
    }
  }
  int size = std::min(options.max_parents, d);
  if (required_count > size) {
    throw InputError(message("node ", node + 1, " has ", required_count,
                             " required parents, more than max_parents = ", options.max_parents, "."));
  }
  double count = 0;
  for (int k = 0; k <= size - required_count; ++k) {
    count += static_cast<double>(choose(d - required_count, k));
    if (count > options.max_sets && d > flat_limit) {
      size = std::max(k - 1, 0) + required_count;
      break;
    }
  }
  *limit = size;
  std::vector<std::uint64_t> around(d, 0);  // for moral families: which candidates are adjacent
  if (!space.moral.empty()) {
    for (int i = 0; i < d; ++i) {
      for (int j = 0; j < d; ++j) {
        if (i != j && space.moral[all.candidates[i]].test(all.candidates[j])) around[i] |= std::uint64_t{1} << j;
      }
    }
  }
  const auto is_family = [&](std::uint64_t set) {
    if (space.moral.empty()) return true;
    for (std::uint64_t rest = set; rest; rest &= rest - 1) {
      const int i = __builtin_ctzll(rest);
      if (set & ~around[i] & ~(std::uint64_t{1} << i)) return false;
    }
    return true;
  };
  const double weight = options.likelihood ? 1 : options.weights[node];
  const auto score = [&](std::uint64_t set, double residual) {
    return (options.likelihood ? std::log(residual) : residual / weight) + options.penalty * __builtin_popcountll(set);
  };
  const double tol = options.dominated ? -infinity : tie_share * (options.likelihood ? 1 : g(node, node) / weight);

  SchurWalk walk(g, node, all.candidates, required, size);
  ParentSets out;
  out.candidates = all.candidates;
  bool possible;
  if (d <= flat_limit) {
    std::vector<double> flat(std::size_t{1} << d, infinity);
    possible = walk.run([&](std::uint64_t set, double residual) {
      if (is_family(set)) flat[set] = score(set, residual);
    });
    for (std::size_t set = 0; set < flat.size(); ++set) {  // subsets of a set are smaller numbers: they are done already
      double below = infinity;
      for (std::size_t rest = set; rest; rest &= rest - 1) below = std::min(below, flat[set & ~(rest & (~rest + 1))]);
      if (flat[set] < below - tol) {
        out.sets.push_back(set);
        out.scores.push_back(flat[set]);
      } else {
        flat[set] = below;
      }
    }
  } else {
    std::vector<double> scores;
    possible = walk.run([&](std::uint64_t set, double residual) {
      if (!is_family(set)) return;
      all.sets.push_back(set);
      scores.push_back(score(set, residual));
    });
    // Every member that may be taken off leaves a set that was scored too, unless it was singular; by size, smallest first.
    std::vector<std::size_t> order(all.sets.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return __builtin_popcountll(all.sets[a]) < __builtin_popcountll(all.sets[b]);
    });
    std::vector<std::uint64_t> sets;
    std::vector<double> values;
    for (std::size_t at : order) {
      sets.push_back(all.sets[at]);
      values.push_back(scores[at]);
    }
    std::unordered_map<std::uint64_t, double> best;  // looked up only, so its order does not matter
    best.reserve(sets.size());
    keep_improving(
        sets, values, tol,
        [&](std::uint64_t set) {
          const auto at = best.find(set);
          return at == best.end() ? infinity : at->second;
        },
        [&](std::uint64_t set, double value) { best[set] = value; }, out);
  }
  *singular = walk.singular();
  if (!possible || out.sets.empty()) {
    throw InputError(
        message("no parent set of node ", node + 1, " can be scored: ",
                required_count > 0
                    ? "its required parents are linearly dependent, determine it completely, or are no family of the moral graph."
                    : "its variance is not positive."));
  }
  tidy(out);
  return out;
}

ScoreResult score_parent_sets(ConstMatrixRef g, const SearchSpace& space, const ScoreOptions& options, Monitor& monitor) {
  const int p = space.nodes();
  ScoreResult result;
  result.table.resize(p);
  std::vector<int> limit(p, 0);
  std::vector<char> singular(p, 0);
  parallel_for(p, options.threads, monitor, [&](Index v) {
    bool skipped = false;
    result.table[v] = score_node(g, space, static_cast<int>(v), options, &limit[v], &skipped);
    singular[v] = skipped;
  });
  for (int v = 0; v < p; ++v) {
    if (singular[v]) result.singular.push_back(v);
    if (limit[v] < std::min(options.max_parents, space.may[v].count())) {
      result.limited.push_back(v);
      result.limits.push_back(limit[v]);
    }
  }
  return result;
}

ParentSets keep_sets(const ParentSets& sets, const std::function<bool(std::uint64_t)>& wanted) {
  ParentSets out;
  out.candidates = sets.candidates;
  for (std::size_t k = 0; k < sets.sets.size(); ++k) {
    if (!wanted(sets.sets[k])) continue;
    out.sets.push_back(sets.sets[k]);
    out.scores.push_back(sets.scores[k]);
  }
  tidy(out);
  return out;
}

ParentSets filter_sets(const ParentSets& sets, int parent, bool keep) {
  const int bit = sets.position(parent);
  if (bit < 0 && !keep) return sets;
  return keep_sets(sets, [&](std::uint64_t set) { return (bit >= 0 && (set >> bit & 1)) == keep; });
}

VectorXd regression(ConstMatrixRef g, int node, const std::vector<int>& parents) {
  const Index k = static_cast<Index>(parents.size());
  if (k == 0) return VectorXd(0);
  MatrixXd inner(k, k);
  VectorXd cross(k), scale(k);
  for (Index i = 0; i < k; ++i) scale[i] = 1 / std::sqrt(g(parents[i], parents[i]));
  for (Index i = 0; i < k; ++i) {
    cross[i] = g(parents[i], node) * scale[i];
    for (Index j = 0; j < k; ++j) inner(i, j) = g(parents[i], parents[j]) * scale[i] * scale[j];
  }
  try {
    return Cholesky(inner).solve(cross).cwiseProduct(scale);
  } catch (const NumericalError&) {
    throw InputError(
        message("the parents of node ", node + 1, " are linearly dependent, so its coefficients are not determined."));
  }
}

double residual_variance(ConstMatrixRef g, int node, const std::vector<int>& parents) {
  const VectorXd b = regression(g, node, parents);
  double residual = g(node, node);
  for (std::size_t i = 0; i < parents.size(); ++i) residual -= b[i] * g(parents[i], node);
  return residual;
}

ScoreTable make_table(const ScoreSpec& spec, bool dominated) {
  const int p = static_cast<int>(spec.sets.size());
  require(spec.scores.size() == spec.sets.size(), "there must be scores for every node.");
  ScoreTable table(spec.sets.size());
  for (int v = 0; v < p; ++v) {
    const auto& list = spec.sets[v];
    require(spec.scores[v].size() == list.size(), message("node ", v + 1, " must have one score per parent set."));
    Bitset all(p);
    for (const auto& set : list) {
      for (const int u : set) {
        require(u >= 0 && u < p, message("a parent set of node ", v + 1, " names a node that does not exist."));
        all.set(u);
      }
    }
    ParentSets& entry = table[v];
    entry.candidates = all.members();
    entry.scores = spec.scores[v];
    if (entry.candidates.size() > 62) {
      throw InputError(message("node ", v + 1, " has ", entry.candidates.size(), " candidate parents; at most 62 are possible."));
    }
    for (const auto& set : list) {
      std::uint64_t mask = 0;
      for (const int u : set) mask |= std::uint64_t{1} << entry.position(u);
      entry.sets.push_back(mask);
    }
    drop_dominated(entry, dominated ? -std::numeric_limits<double>::infinity() : 0);
  }
  return table;
}

}  // namespace granary::graph
