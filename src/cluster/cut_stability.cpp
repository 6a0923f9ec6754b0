#include "cluster/cut_stability.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"

namespace granary::cluster {

double cut_count(Index nodes, Index terminals, CutProblem problem) {
  return problem == CutProblem::max_cut ? std::pow(2.0, static_cast<double>(nodes - 1)) : std::pow(static_cast<double>(terminals), static_cast<double>(nodes - terminals));
}

namespace {

// A second cut beside the first, with what each has and the other lacks, as nodes change their part.
class Rival {
 public:
  Rival(const WeightedEdges& g, const VectorXi& part, const CutStabilityOptions& options, Index k) : g_(g), at_(g), first_(part), now_(part), options_(options), k_(k) {
    scale_ = g.weight.cwiseAbs().sum();
    out_.gamma = std::numeric_limits<double>::infinity();
  }

  void move(Index v, int to) {
    if (now_[v] == to) return;
    apart_ += (to != first_[v]) - (now_[v] != first_[v]);
    at_.visit(v, [&](int other, int e) {
      const bool was = first_[v] != first_[other];
      count(was, now_[v] != now_[other], -g_.weight[e]);
      count(was, to != now_[other], g_.weight[e]);
    });
    now_[v] = to;
  }
  int part(Index v) const { return now_[v]; }

  void look() {
    const double n = static_cast<double>(g_.nodes), far = options_.delta * n;
    const double mirrored = options_.problem == CutProblem::max_cut ? n - static_cast<double>(apart_) : n;
    if (apart_ == 0 || mirrored == 0 || static_cast<double>(apart_) <= far || mirrored <= far) return;
    const double dust = 1e-13 * scale_;
    const double lost = std::abs(lost_) > dust ? lost_ : 0, won = std::abs(won_) > dust ? won_ : 0;
    const double above = options_.problem == CutProblem::max_cut ? lost : won, below = options_.problem == CutProblem::max_cut ? won : lost;
    if (below == 0 && above == 0) return;  // the same edges are cut
    const double gamma = below > 0 ? above / below : std::numeric_limits<double>::infinity();
    if (gamma < out_.gamma) {
      out_.gamma = gamma;
      out_.part = now_;
      out_.lost = lost;
      out_.won = won;
    }
  }
  CutStability result() const { return out_; }

 private:
  void count(bool in_first, bool in_now, double w) {
    if (in_first && !in_now) lost_ += w;
    if (!in_first && in_now) won_ += w;
  }

  const WeightedEdges& g_;
  Incidence at_;
  VectorXi first_, now_;
  const CutStabilityOptions& options_;
  Index k_, apart_ = 0;
  double lost_ = 0, won_ = 0, scale_ = 0;
  CutStability out_;
};

}  // namespace

CutStability cut_stability(const WeightedEdges& g, const VectorXi& part, const std::vector<Index>& terminals, const CutStabilityOptions& options, Monitor& monitor) {
  const Index n = g.nodes, k = options.problem == CutProblem::max_cut ? 2 : static_cast<Index>(terminals.size());
  if (part.size() != n) throw InputError(message("there are ", part.size(), " parts for ", n, " nodes."));
  if (n > 0 && (part.minCoeff() < 0 || part.maxCoeff() >= k)) throw InputError("the parts must be numbered 1 to the number of parts.");
  std::vector<char> fixed(static_cast<std::size_t>(n), 0);
  if (options.problem == CutProblem::multiway_cut) {
    for (Index t = 0; t < k; ++t) {
      if (part[terminals[static_cast<std::size_t>(t)]] != t) throw InputError("every terminal must be in its own part.");
      fixed[static_cast<std::size_t>(terminals[static_cast<std::size_t>(t)])] = 1;
    }
  } else if (n > 0) {
    fixed[0] = 1;  // a cut and its mirror image are one
  }
  std::vector<Index> free;
  for (Index v = 0; v < n; ++v)
    if (!fixed[static_cast<std::size_t>(v)]) free.push_back(v);

  Rival rival(g, part, options, k);
  if (options.exact) {
    // Reflected Gray code in base k: from cut to cut one node changes its part.
    std::vector<int> digit(free.size(), 0), direction(free.size(), 1);
    for (const Index v : free) rival.move(v, 0);
    rival.look();
    for (std::uint64_t step = 1;; ++step) {
      if (step % 4096 == 0) monitor.check();
      std::size_t i = 0;
      while (i < free.size() && (digit[i] + direction[i] < 0 || digit[i] + direction[i] >= k)) {
        direction[i] = -direction[i];
        ++i;
      }
      if (i == free.size()) break;
      digit[i] += direction[i];
      rival.move(free[i], digit[i]);
      rival.look();
    }
  } else {
    const auto others = [&](Index v, auto&& then) {
      const int own = rival.part(v);
      for (int t = 0; t < k; ++t) {
        if (t == own) continue;
        rival.move(v, t);
        then();
      }
      rival.move(v, own);
    };
    for (const Index v : free) {
      monitor.check();
      others(v, [&] { rival.look(); });
    }
    if (options.problem == CutProblem::max_cut && n > 0) {
      rival.move(0, 1 - part[0]);
      rival.look();
      rival.move(0, part[0]);
    }
    for (Index e = 0; e < g.size(); ++e) {
      monitor.check();
      if (fixed[static_cast<std::size_t>(g.from[e])] || fixed[static_cast<std::size_t>(g.to[e])]) continue;
      others(g.from[e], [&] { others(g.to[e], [&] { rival.look(); }); });
    }
  }
  CutStability out = rival.result();
  out.exact = options.exact;
  return out;
}

}  // namespace granary::cluster
