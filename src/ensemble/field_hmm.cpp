#include "ensemble/field_hmm.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/sequence/chain.h"

namespace granary::ensemble {

namespace {

constexpr double never = -std::numeric_limits<double>::infinity();

// Numbers of states: 0 background, then before, inside, after.
struct Shape {
  explicit Shape(const FieldHmmOptions& o) : a(o.before), b(o.inside), c(o.after) {}
  int a, b, c;
  int states() const { return 1 + a + b + c; }
  int prefix(int i) const { return 1 + i; }
  int target(int i) const { return 1 + a + i; }
  int suffix(int i) const { return 1 + a + b + i; }
  bool is_target(int s) const { return s >= 1 + a && s < 1 + a + b; }
  bool allowed(int from, int to) const {
    const bool enters = to == (a > 0 ? prefix(0) : target(0));
    if (from == 0) return to == 0 || enters || to == target(0) || (to > 0 && to < 1 + a);
    if (from < 1 + a) return to == from + 1;  // the last leads into the instance
    if (from < 1 + a + b)
      return (to == from + 1 && is_target(to)) || (from == target(b - 1) && to == from) || to == (c > 0 ? suffix(0) : 0) ||
             to == 0;
    return (to == from + 1 && to < states()) || (from == states() - 1 && to == 0) || enters || to == 0;
  }
};

}  // namespace

void check(const FieldHmm& t) {
  require(t.how.before >= 0 && t.how.inside >= 1 && t.how.after >= 0 && t.how.words >= t.how.shapes && t.how.shapes >= 1,
          "its shape is none");
  const Index k = Shape(t.how).states();
  require(t.initial.size() == k && t.transition.rows() == k && t.transition.cols() == k && t.emission.rows() == k &&
              t.emission.cols() == t.how.words,
          "its tables do not belong to its states");
}

FieldHmm field_hmm_fit(const VectorXi& word, const std::vector<int>& begin, const VectorXi& start, const VectorXi& end,
                       const FieldHmmOptions& options) {
  const Shape shape(options);
  const Index k = shape.states(), n = word.size();
  std::vector<int> state(static_cast<std::size_t>(n), 0), inside(static_cast<std::size_t>(n), 0),
      first(static_cast<std::size_t>(n), 0);
  for (Index i = 0; i < start.size(); ++i) {
    if (start[i] < 0 || end[i] > n || start[i] >= end[i]) throw InputError("an instance lies outside its text.");
    for (int t = start[i]; t < end[i]; ++t) {
      state[static_cast<std::size_t>(t)] = shape.target(std::min(t - start[i], shape.b - 1));
      inside[static_cast<std::size_t>(t)] = 1;
    }
    first[static_cast<std::size_t>(start[i])] = 1;
  }
  // Tokens before an instance first, then those behind one, so that between two the nearer end of a gap leads in.
  for (std::size_t d = 0; d + 1 < begin.size(); ++d) {
    const int from = begin[d], to = begin[d + 1];
    for (int t = from; t < to; ++t) {
      if (!first[static_cast<std::size_t>(t)]) continue;
      for (int back = 1; back <= shape.a && t - back >= from && !inside[static_cast<std::size_t>(t - back)]; ++back)
        state[static_cast<std::size_t>(t - back)] = shape.prefix(shape.a - back);
    }
    for (int t = from; t + 1 < to; ++t) {
      if (!inside[static_cast<std::size_t>(t)] || inside[static_cast<std::size_t>(t + 1)]) continue;
      for (int ahead = 1; ahead <= shape.c && t + ahead < to && state[static_cast<std::size_t>(t + ahead)] == 0; ++ahead)
        state[static_cast<std::size_t>(t + ahead)] = shape.suffix(ahead - 1);
    }
  }
  FieldHmm out;
  out.how = options;
  out.instances = static_cast<int>(start.size());
  out.initial = VectorXd::Zero(k);
  out.transition = MatrixXd::Zero(k, k);
  out.emission = MatrixXd::Zero(k, options.words);
  for (std::size_t d = 0; d + 1 < begin.size(); ++d)
    for (int t = begin[d]; t < begin[d + 1]; ++t) {
      const int s = state[static_cast<std::size_t>(t)];
      out.emission(s, word[t]) += 1;
      if (t == begin[d])
        out.initial[s] += 1;
      else
        out.transition(state[static_cast<std::size_t>(t - 1)], s) += 1;
    }
  // To ratios, with a little of what the words are in all text for every state.
  const VectorXd text = out.emission.colwise().sum().transpose().array() + 1;
  const VectorXd shares = text / text.sum();
  const double weight = options.smooth * static_cast<double>(options.shapes);
  for (Index s = 0; s < k; ++s) {
    const double total = out.emission.row(s).sum();
    for (Index w = 0; w < options.words; ++w)
      out.emission(s, w) =
          std::log((out.emission(s, w) + (weight > 0 ? weight * shares[w] : 0)) / std::max(total + weight, 1e-300));
    double all = 0;
    for (Index to = 0; to < k; ++to) {
      if (shape.allowed(static_cast<int>(s), static_cast<int>(to))) out.transition(s, to) += options.smooth;
      all += out.transition(s, to);
    }
    for (Index to = 0; to < k; ++to)
      out.transition(s, to) = out.transition(s, to) > 0 ? std::log(out.transition(s, to) / all) : never;
  }
  out.initial.array() += options.smooth;
  for (int i = 1; i < shape.b; ++i)
    if (out.initial[shape.target(i)] <= options.smooth)
      out.initial[shape.target(i)] = 0;  // no document begins within an instance
  for (int i = 0; i < shape.c; ++i)
    if (out.initial[shape.suffix(i)] <= options.smooth) out.initial[shape.suffix(i)] = 0;
  const double all = out.initial.sum();
  for (Index s = 0; s < k; ++s) out.initial[s] = out.initial[s] > 0 ? std::log(out.initial[s] / all) : never;
  return out;
}

FoundSpans field_hmm_extract(const VectorXi& word, const std::vector<int>& begin, const FieldHmm& hmm, Monitor& monitor) {
  const Shape shape(hmm.how);
  const Index k = shape.states();
  FoundSpans out;
  for (std::size_t d = 0; d + 1 < begin.size(); ++d) {
    monitor.check();
    const int length = begin[d + 1] - begin[d];
    if (length == 0) continue;
    ChainScores scores;
    scores.unary.resize(k, length);
    for (int t = 0; t < length; ++t) scores.unary.col(t) = hmm.emission.col(word[begin[d] + t]);
    scores.unary.col(0) += hmm.initial;
    scores.pair.assign(hmm.transition.data(), hmm.transition.data() + k * k);
    const std::vector<ChainPath> best = viterbi(scores, 1);
    if (best.empty()) continue;
    const std::vector<int>& path = best[0].labels;
    for (int t = 0; t < length;) {
      if (path[static_cast<std::size_t>(t)] != shape.target(0)) {
        ++t;
        continue;
      }
      int end = t + 1;
      while (end < length && shape.is_target(path[static_cast<std::size_t>(end)]) &&
             path[static_cast<std::size_t>(end)] != shape.target(0))
        ++end;
      // One state for all tokens of the instance: a run of it is one instance.
      if (shape.b == 1)
        while (end < length && path[static_cast<std::size_t>(end)] == shape.target(0)) ++end;
      double score = 0;
      for (int s = t; s < end; ++s) {
        const int now = path[static_cast<std::size_t>(s)];
        score += hmm.emission(now, word[begin[d] + s]) - hmm.emission(0, word[begin[d] + s]);
        if (s > t) score += hmm.transition(path[static_cast<std::size_t>(s - 1)], now) - hmm.transition(0, 0);
      }
      out.doc.push_back(static_cast<int>(d));
      out.start.push_back(t);
      out.end.push_back(end);
      out.score.push_back(score / static_cast<double>(end - t));
      t = end;
    }
  }
  return out;
}

}  // namespace granary::ensemble
