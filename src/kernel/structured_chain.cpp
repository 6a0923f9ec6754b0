#include "kernel/structured_chain.h"

#include <algorithm>
#include <utility>

namespace granary::kernel {

ChainOutput::ChainOutput(InputFeatures tokens, std::vector<Index> start, std::vector<int> labels, const ChainModel& model,
                         VectorXd norms)
    : tokens_(std::move(tokens)), start_(std::move(start)), model_(model), norms_(std::move(norms)) {
  for (Index i = 0; i < size(); ++i) {
    longest_ = std::max(longest_, length(i));
    if (!labels.empty()) truth_.emplace_back(labels.begin() + token(i, 0), labels.begin() + token(i, length(i)));
  }
}

Index ChainOutput::features() const { return first_at() + (model_.first ? model_.labels : 0); }

void ChainOutput::add_psi(Index i, const Label& y, double factor, SparseBuilder& psi) const {
  const Index k = model_.labels, length = static_cast<Index>(y.size());
  for (Index t = 0; t < length; ++t) {
    const Index now = y[static_cast<std::size_t>(t)];
    tokens_.for_each(token(i, t), [&](Index d, double value) { psi.add(now + d * k, factor * value); });
  }
  if (model_.first) psi.add(first_at() + y[0], factor);
  for (Index t = 0; t + 1 < length; ++t) {
    const Index pair = y[static_cast<std::size_t>(t)] + k * y[static_cast<std::size_t>(t) + 1];
    psi.add(pairs_at() + pair, factor * model_.eta);
    if (model_.triples && t + 2 < length) {
      psi.add(triples_at() + pair + k * k * y[static_cast<std::size_t>(t) + 2], factor * model_.eta);
    }
    if (model_.by_input) {
      const Index at = by_input_at() + pair;
      tokens_.for_each(token(i, t), [&](Index d, double value) { psi.add(at + d * k * k, factor * value); });
    }
  }
}

double ChainOutput::loss(Index i, const Label& y) const {
  const Label& right = truth(i);
  double wrong = 0;
  for (std::size_t t = 0; t < right.size(); ++t) wrong += right[t] != y[t] ? 1 : 0;
  return model_.hamming ? wrong : wrong > 0 ? 1 : 0;
}

ChainScores ChainOutput::scores(Index i, const VectorXd& v) const {
  const Index k = model_.labels, n = length(i);
  ChainScores s;
  s.unary.resize(k, n);
  for (Index t = 0; t < n; ++t) s.unary.col(t) = tokens_.scores(token(i, t), v.data(), k);
  if (model_.first) s.unary.col(0) += v.segment(first_at(), k);
  const auto scaled = [&](Index from, Index count) {
    std::vector<double> out(static_cast<std::size_t>(count));
    for (Index j = 0; j < count; ++j) out[static_cast<std::size_t>(j)] = model_.eta * v[from + j];
    return out;
  };
  s.pair = scaled(pairs_at(), k * k);
  if (model_.triples) s.triple = scaled(triples_at(), k * k * k);
  if (model_.by_input && n > 1) {
    const std::vector<double> base = s.pair;
    s.pair.resize(static_cast<std::size_t>(k * k * (n - 1)));
    for (Index t = 0; t + 1 < n; ++t) {
      const VectorXd extra = tokens_.scores(token(i, t), v.data() + by_input_at(), k * k);
      for (Index p = 0; p < k * k; ++p)
        s.pair[static_cast<std::size_t>(t * k * k + p)] = base[static_cast<std::size_t>(p)] + extra[p];
    }
  }
  return s;
}

Label ChainOutput::predict(Index i, const VectorXd& v) const {
  std::vector<ChainPath> best = viterbi(scores(i, v));
  return best.empty() ? Label() : std::move(best[0].labels);
}

Label ChainOutput::most_violated(Index i, const VectorXd& v, const Search& search) const {
  const Label& right = truth(i);
  ChainScores s = scores(i, v);
  if (!model_.hamming || search.rescale == Rescale::none) {
    for (ChainPath& path : viterbi(s, 2)) {
      if (path.labels != right) return std::move(path.labels);
    }
    return {};
  }
  if (search.rescale == Rescale::margin && !search.root) {
    for (Index t = 0; t < s.length(); ++t) {
      for (Index c = 0; c < s.labels(); ++c) s.unary(c, t) += c != right[static_cast<std::size_t>(t)] ? 1 : 0;
    }
    Label best = std::move(viterbi(s)[0].labels);
    return best == right ? Label() : best;  // H is 0 at the truth: then nothing is violated
  }
  std::vector<ChainPath> levels = viterbi_errors(s, right);
  BestViolation best(search, chain_score(s, right));
  for (std::size_t e = 1; e < levels.size(); ++e) {
    if (!levels[e].labels.empty()) best.offer(levels[e].score, static_cast<double>(e), static_cast<int>(e));
  }
  if (best.id() < 0) return {};
  return std::move(levels[static_cast<std::size_t>(best.id())].labels);
}

// Proposition 25 with the length of this sequence: every position adds a difference of norm at most sqrt(2) R, every transition
// one of at most sqrt(2) eta. The same argument serves the optional features.
double ChainOutput::radius_bound(Index i) const {
  const double n = static_cast<double>(length(i));
  double most = 0;
  for (Index t = 0; t < length(i); ++t) {
    most = std::max(most, norms_.size() > 0 ? norms_[token(i, t)] : tokens_.squared_norm(token(i, t)));
  }
  const double eta2 = model_.eta * model_.eta;
  double sum = n * n * most + (n - 1) * (n - 1) * eta2;
  if (model_.triples && n > 2) sum += (n - 2) * (n - 2) * eta2;
  if (model_.by_input) sum += (n - 1) * (n - 1) * most;
  if (model_.first) sum += 1;
  return std::sqrt(2 * sum);
}

void ChainOutput::add_expected_psi(Index i, const ChainMarginals& m, double factor, VectorRef gradient) const {
  const Index k = model_.labels, n = length(i);
  for (Index t = 0; t < n; ++t) {
    tokens_.for_each(token(i, t), [&](Index d, double value) {
      for (Index c = 0; c < k; ++c) gradient[c + d * k] += factor * value * m.unary(c, t);
    });
  }
  if (model_.first) gradient.segment(first_at(), k) += factor * m.unary.col(0);
  for (Index t = 0; t + 1 < n; ++t) {
    const double* pair = m.pair.data() + t * k * k;
    for (Index p = 0; p < k * k; ++p) gradient[pairs_at() + p] += factor * model_.eta * pair[p];
    if (!model_.by_input) continue;
    tokens_.for_each(token(i, t), [&](Index d, double value) {
      for (Index p = 0; p < k * k; ++p) gradient[by_input_at() + p + d * k * k] += factor * value * pair[p];
    });
  }
  for (std::size_t p = 0; p < m.triple.size(); ++p)
    gradient[triples_at() + static_cast<Index>(p)] += factor * model_.eta * m.triple[p];
}

}  // namespace granary::kernel
