#include "cluster/robust_linkage.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cluster/robust_graph.h"
#include "core/base/errors.h"
#include "core/cluster/merge_tree.h"
#include "core/base/parallel.h"
#include "core/graph/union_find.h"

namespace granary::cluster {

namespace {

// A blob of several points; points that belong to none are singletons.
struct Blob {
  std::vector<int> members;
  std::vector<BitRows::Word> mask;
  int node = 0;         // its merge, from 1
  bool touched = true;  // changed since its pairs were last tested
};

class Linkage {
 public:
  Linkage(const NeighbourOrder& order, const RobustLinkageOptions& options)
      : order_(order),
        options_(options),
        n_(static_cast<int>(order.cols())),
        wrong_(options.eps * static_cast<double>(order.cols())),
        graph_(order, wrong_, options.threads),
        single_(static_cast<std::size_t>(n_), 1) {
    out_.merge.resize(n_ - 1, 2);
    out_.height.resize(n_ - 1);
    out_.part.assign(static_cast<std::size_t>(n_ - 1), 0);
    many_singles_ = n_;
  }

  RobustLinkageResult run(Monitor& monitor) {
    const Stopwatch clock;
    int t = std::min(n_, static_cast<int>(std::floor(6 * wrong_ + 1e-9)) + 1);
    const int first = t;
    while (merges_ < n_ - 1) {
      graph_.advance(t, monitor);
      if (graph_.any_change()) {
        const int before = merges_;
        merge_blobs(t, monitor);
        merge_singles(t, monitor);
        if (options_.singletons) give_away(t);
        if (merges_ > before) {
          out_.at.push_back(t);
          out_.blobs.push_back(static_cast<int>(blobs_.size()));
          out_.singles.push_back(many_singles_);
        }
      }
      if (t == n_ && merges_ < n_ - 1) throw NumericalError("the points could not be joined.");
      t = std::min(n_, t + options_.step);
      monitor.progress(static_cast<double>(t - first) / std::max(1, n_ - first));
    }
    out_.order = leaf_order(out_.merge);
    out_.evaluations = graph_.evaluations();
    out_.convergence.converged = true;
    out_.convergence.iterations = static_cast<int>(out_.height[n_ - 2]) - first + 1;
    out_.convergence.seconds = clock.seconds();
    return out_;
  }

 private:
  bool at_least_four(double size) const { return size >= 4 * wrong_ - 1e-9; }
  bool above_four(double size) const { return size > 4 * wrong_ + 1e-9; }
  const BitRows::Word* row(int x) const { return graph_.edges().row(x); }
  Index words() const { return graph_.edges().words(); }

  std::vector<int> singles() const {
    std::vector<int> out;
    for (int x = 0; x < n_; ++x)
      if (single_[static_cast<std::size_t>(x)]) out.push_back(x);
    return out;
  }

  // ---- the tree
  // ------------------------------------------------------------------------------------------------------------------------------

  int join(int a, int b, int t, bool part) {  // nodes as in hclust; singletons first, then earlier merges
    if (a > 0 && (b < 0 || b < a)) std::swap(a, b);
    if (a < 0 && b < 0 && a < b) std::swap(a, b);
    out_.merge(merges_, 0) = a;
    out_.merge(merges_, 1) = b;
    out_.height[merges_] = t;
    out_.part[static_cast<std::size_t>(merges_)] = part;
    return ++merges_;
  }

  void add_member(Blob& blob, int x) {
    blob.members.push_back(x);
    blob.mask[static_cast<std::size_t>(x) >> 6] |= BitRows::Word{1} << (x & 63);
    single_[static_cast<std::size_t>(x)] = 0;
    --many_singles_;
  }

  // ---- median tests
  // --------------------------------------------------------------------------------------------------------------------------

  // The middle of the counts 0, 1, ... in a histogram; halfway between two where their number is even.
  static double middle(const std::vector<Index>& histogram, Index total) {
    Index seen = 0;
    double low = -1;
    for (std::size_t s = 0; s < histogram.size(); ++s) {
      seen += histogram[s];
      if (low < 0 && 2 * seen >= total) {
        low = static_cast<double>(s);
        if (2 * seen > total) return low;
      } else if (low >= 0 && histogram[s] > 0) {
        return 0.5 * (low + static_cast<double>(s));
      }
    }
    return low;
  }

  // The median of S over all pairs of points of two sets, or -1 where it cannot be more than a quarter of them. mask: both
  // together.
  double median_common(const std::vector<int>& us, const std::vector<int>& vs, const BitRows::Word* of_u,
                       const BitRows::Word* of_v, const std::vector<BitRows::Word>& mask, Monitor& monitor) const {
    const auto size = us.size() + vs.size();
    const double least = static_cast<double>(size) / 4;
    // S(x, y) <= |F_x & C_v| + |F_y & C_u|: how many pairs can be above the quarter?
    std::vector<int> cross_u(us.size()), cross_v(vs.size());
    for (std::size_t i = 0; i < us.size(); ++i) cross_u[i] = count_both(row(us[i]), of_v, words());
    for (std::size_t j = 0; j < vs.size(); ++j) cross_v[j] = count_both(row(vs[j]), of_u, words());
    std::sort(cross_v.begin(), cross_v.end());
    Index possible = 0;
    for (const int c : cross_u)
      possible +=
          cross_v.end() - std::upper_bound(cross_v.begin(), cross_v.end(), static_cast<int>(std::floor(least + 1e-9)) - c);
    const auto total = static_cast<Index>(us.size() * vs.size());
    if (2 * possible < total) return -1;
    std::vector<std::vector<Index>> parts((us.size() + 63) / 64);
    parallel_for(static_cast<Index>(parts.size()), total > 4096 ? options_.threads : 1, monitor, [&](Index task) {
      std::vector<Index>& mine = parts[static_cast<std::size_t>(task)];
      mine.assign(size + 1, 0);
      std::vector<BitRows::Word> seen(mask.size());
      const auto from = static_cast<std::size_t>(task) * 64;
      for (std::size_t i = from; i < std::min(us.size(), from + 64); ++i) {
        for (std::size_t w = 0; w < mask.size(); ++w) seen[w] = row(us[i])[w] & mask[w];
        for (const int y : vs) ++mine[static_cast<std::size_t>(count_both(seen.data(), row(y), words()))];
      }
    });
    std::vector<Index> histogram(size + 1, 0);
    for (const auto& part : parts)
      for (std::size_t s = 0; s <= size; ++s) histogram[s] += part[s];
    const double median = middle(histogram, total);
    return median > least + 1e-9 ? median : -1;
  }

  double test_blobs(const Blob& u, const Blob& v, Monitor& monitor) const {
    std::vector<BitRows::Word> mask(u.mask);
    for (std::size_t w = 0; w < mask.size(); ++w) mask[w] |= v.mask[w];
    const bool swap = u.members.size() > v.members.size();
    const Blob &a = swap ? v : u, &b = swap ? u : v;
    return median_common(a.members, b.members, a.mask.data(), b.mask.data(), mask, monitor);
  }

  double test_single(const Blob& u, int x, Monitor& monitor) const {
    // S(x, y) is at most this
    if (4 * (count_both(row(x), u.mask.data(), words()) + 1) <= static_cast<int>(u.members.size()) + 1) return -1;
    std::vector<BitRows::Word> own(u.mask.size(), 0), mask(u.mask);
    own[static_cast<std::size_t>(x) >> 6] |= BitRows::Word{1} << (x & 63);
    mask[static_cast<std::size_t>(x) >> 6] |= BitRows::Word{1} << (x & 63);
    return median_common({x}, u.members, own.data(), u.mask.data(), mask, monitor);
  }

  // Step 4. A candidate: blob u with blob v, or with point x.
  struct Candidate {
    double ratio;
    int u, v, x;                                    // v = -1: the point
    bool operator<(const Candidate& other) const {  // the best last; of equal ones the earlier
      return ratio != other.ratio ? ratio < other.ratio : std::make_tuple(u, v, x) > std::make_tuple(other.u, other.v, other.x);
    }
  };

  void add_candidates(int u, std::vector<Candidate>& out, Monitor& monitor) const {
    const Blob& blob = blobs_[static_cast<std::size_t>(u)];
    for (int v = 0; v < static_cast<int>(blobs_.size()); ++v) {
      const Blob& other = blobs_[static_cast<std::size_t>(v)];
      if (v == u || other.members.empty() || !above_four(static_cast<double>(blob.members.size() + other.members.size())))
        continue;
      if (v < u && other.touched) continue;  // met already from the other side
      const double median = test_blobs(blob, other, monitor);
      if (median >= 0)
        out.push_back(
            {median / static_cast<double>(blob.members.size() + other.members.size()), std::min(u, v), std::max(u, v), -1});
    }
    if (!above_four(static_cast<double>(blob.members.size()) + 1)) return;
    const std::vector<int> alone = singles();
    std::vector<double> median(alone.size());
    QuietSerial quiet;
    parallel_for(static_cast<Index>((alone.size() + 15) / 16), options_.threads, monitor, [&](Index task) {
      const auto from = static_cast<std::size_t>(task) * 16;
      for (std::size_t i = from; i < std::min(alone.size(), from + 16); ++i)
        median[i] = test_single(blob, alone[i], quiet.monitor);
    });
    for (std::size_t i = 0; i < alone.size(); ++i)
      if (median[i] >= 0) out.push_back({median[i] / (static_cast<double>(blob.members.size()) + 1), u, -1, alone[i]});
  }
  struct QuietSerial {
    Monitor monitor;
  };

  void merge_blobs(int t, Monitor& monitor) {
    std::vector<Candidate> open;
    for (Blob& blob : blobs_) blob.touched = true;
    for (int u = 0; u < static_cast<int>(blobs_.size()); ++u) {
      add_candidates(u, open, monitor);
      blobs_[static_cast<std::size_t>(u)].touched = true;
    }
    while (!open.empty()) {
      const Candidate best = *std::max_element(open.begin(), open.end());
      Blob& blob = blobs_[static_cast<std::size_t>(best.u)];
      if (best.v < 0) {
        blob.node = join(-(best.x + 1), blob.node, t, false);
        add_member(blob, best.x);
      } else {
        Blob& other = blobs_[static_cast<std::size_t>(best.v)];
        blob.node = join(other.node, blob.node, t, false);
        blob.members.insert(blob.members.end(), other.members.begin(), other.members.end());
        for (std::size_t w = 0; w < blob.mask.size(); ++w) blob.mask[w] |= other.mask[w];
        other.members.clear();
        std::fill(other.mask.begin(), other.mask.end(), 0);
      }
      // Only what the merged blob has to do with is tested again.
      open.erase(std::remove_if(open.begin(), open.end(),
                                [&](const Candidate& c) {
                                  return c.u == best.u || c.v == best.u || (best.v >= 0 && (c.u == best.v || c.v == best.v)) ||
                                         (best.v < 0 && c.v < 0 && c.x == best.x);
                                }),
                 open.end());
      for (Blob& one : blobs_) one.touched = false;
      add_candidates(best.u, open, monitor);
    }
    blobs_.erase(std::remove_if(blobs_.begin(), blobs_.end(), [](const Blob& b) { return b.members.empty(); }), blobs_.end());
  }

  // Step 5: components of H_t among singletons, found within components of F_t. A blob in H_t has been merged with what it is
  // joined to.
  void merge_singles(int t, Monitor& monitor) {
    if (!at_least_four(many_singles_) || many_singles_ < 2) return;
    std::vector<int> alone;
    for (const int x : singles())
      if (count_both(row(x), row(x), words()) > wrong_ + 1e-9) alone.push_back(x);
    UnionFind together(n_);
    {
      UnionFind in_graph(n_);
      for (int x = 0; x < n_ && in_graph.sets() > 1; ++x) {
        for (Index w = 0; w < words(); ++w)
          for (BitRows::Word bits = row(x)[w]; bits != 0; bits &= bits - 1)
            in_graph.unite(x, static_cast<int>(w * 64) + __builtin_ctzll(bits));
      }
      std::vector<std::pair<int, int>> by_component;
      for (const int x : alone) by_component.emplace_back(in_graph.find(x), x);
      std::sort(by_component.begin(), by_component.end());
      for (std::size_t from = 0; from < by_component.size();) {
        std::size_t to = from;
        std::vector<int> members;
        for (; to < by_component.size() && by_component[to].first == by_component[from].first; ++to)
          members.push_back(by_component[to].second);
        from = to;
        if (at_least_four(static_cast<double>(members.size()))) search(members, together, monitor);
      }
    }
    std::vector<std::vector<int>> found;
    for (std::vector<int>& set : together.members())
      if (set.size() > 1 && at_least_four(static_cast<double>(set.size()))) found.push_back(std::move(set));
    for (const std::vector<int>& set : found) {
      Blob blob;
      blob.mask.assign(static_cast<std::size_t>(words()), 0);
      blob.node = -(set[0] + 1);
      add_member(blob, set[0]);
      for (std::size_t i = 1; i < set.size(); ++i) {
        blob.node = join(-(set[i] + 1), blob.node, t, i + 1 < set.size());
        add_member(blob, set[i]);
      }
      blobs_.push_back(std::move(blob));
    }
  }

  // Breadth first: every point that is reached asks those that are not yet.
  void search(const std::vector<int>& members, UnionFind& together, Monitor& monitor) const {
    std::vector<int> waiting = members;
    std::vector<char> joined(members.size());
    while (!waiting.empty()) {
      std::vector<int> front{waiting.back()};
      waiting.pop_back();
      while (!front.empty() && !waiting.empty()) {
        monitor.check();
        const int x = front.back();
        front.pop_back();
        joined.assign(waiting.size(), 0);
        parallel_for(static_cast<Index>((waiting.size() + 255) / 256), options_.threads, monitor, [&](Index task) {
          const auto begin = static_cast<std::size_t>(task) * 256;
          for (std::size_t i = begin; i < std::min(waiting.size(), begin + 256); ++i)
            joined[i] = count_both(row(x), row(waiting[i]), words()) > wrong_ + 1e-9;
        });
        std::vector<int> rest;
        for (std::size_t i = 0; i < waiting.size(); ++i) {
          if (joined[i]) {
            together.unite(x, waiting[i]);
            front.push_back(waiting[i]);
          } else {
            rest.push_back(waiting[i]);
          }
        }
        waiting.swap(rest);
      }
    }
  }

  // Step 6: singletons that are too few to form a blob go to the blob of least median rank in their order; blobs as they are
  // before any is given away.
  void give_away(int t) {
    if (many_singles_ == 0 || blobs_.empty() || many_singles_ >= std::max(4 * wrong_, 0.5 * t) - 1e-9) return;
    std::vector<std::pair<int, std::size_t>> moves;
    std::vector<int> rank(static_cast<std::size_t>(n_)), mine;
    for (const int x : singles()) {
      for (int r = 0; r < n_; ++r) rank[order_(r, x)] = r;
      double least = std::numeric_limits<double>::infinity();
      std::size_t best = 0;
      for (std::size_t b = 0; b < blobs_.size(); ++b) {
        mine.clear();
        for (const int y : blobs_[b].members) mine.push_back(rank[static_cast<std::size_t>(y)]);
        const auto half = mine.begin() + static_cast<std::ptrdiff_t>(mine.size() / 2);
        std::nth_element(mine.begin(), half, mine.end());
        double median = *half;
        if (mine.size() % 2 == 0) median = 0.5 * (median + *std::max_element(mine.begin(), half));
        if (median < least) least = median, best = b;
      }
      moves.emplace_back(x, best);
    }
    for (const auto& [x, b] : moves) {
      blobs_[b].node = join(-(x + 1), blobs_[b].node, t, false);
      add_member(blobs_[b], x);
    }
  }

  const NeighbourOrder& order_;
  RobustLinkageOptions options_;
  int n_;
  double wrong_;  // e = eps n
  CommonNeighbourGraph graph_;
  std::vector<char> single_;
  int many_singles_ = 0, merges_ = 0;
  std::vector<Blob> blobs_;
  RobustLinkageResult out_;
};

}  // namespace

RobustLinkageResult robust_linkage(const NeighbourOrder& order, const RobustLinkageOptions& options, Monitor& monitor) {
  if (!(options.eps > 0) || !(6 * options.eps < 1))
    throw InputError(message("`eps` must be above 0 and below 1/6, not ", options.eps, "."));
  if (order.cols() < 2) {
    RobustLinkageResult out;
    out.merge.resize(0, 2);
    out.order = VectorXi::Ones(order.cols());
    out.convergence.converged = true;
    return out;
  }
  return Linkage(order, options).run(monitor);
}

}  // namespace granary::cluster
