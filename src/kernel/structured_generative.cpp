#include "kernel/structured_generative.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"

namespace granary::kernel {

namespace {

constexpr double log_of_zero = -1e6;

double bounded_log(double p) { return p > 0 ? std::max(std::log(p), log_of_zero) : log_of_zero; }

}  // namespace

VectorXd hidden_markov(const ChainData& d, const GenerativeOptions& options) {
  const Index k = d.labels, features = d.x.dimension(), tokens = d.x.size();
  if (static_cast<Index>(d.codes.size()) != tokens || d.start.empty() || d.start.back() != tokens)
    throw InputError("there must be one label for each position of the sequences.");
  MatrixXd counted = MatrixXd::Constant(k, features, options.laplace), pairs = MatrixXd::Constant(k, k, options.laplace);
  VectorXd first = VectorXd::Constant(k, options.laplace);
  for (std::size_t i = 0; i + 1 < d.start.size(); ++i) {
    for (Index t = d.start[i]; t < d.start[i + 1]; ++t) {
      const int label = d.codes[static_cast<std::size_t>(t)];
      if (label < 0 || label >= k) throw InputError("a label has a number that none has.");
      d.x.for_each(t, [&](Index feature, double value) {
        if (value < 0) throw InputError("a hidden Markov model by counts needs features that are not negative.");
        counted(label, feature) += value;
      });
      if (t > d.start[i]) pairs(d.codes[static_cast<std::size_t>(t) - 1], label) += 1;
      if (t == d.start[i]) first[label] += 1;
    }
  }
  const Index from = options.intercept ? 1 : 0;
  const VectorXd emitted = counted.rightCols(features - from).rowwise().sum(), left = pairs.rowwise().sum();
  const double sequences = first.sum();
  VectorXd w(k * features + k * k + k);
  for (Index f = 0; f < features; ++f)
    for (Index c = 0; c < k; ++c) w[c + f * k] = f < from ? 0 : bounded_log(counted(c, f) / emitted[c]);
  for (Index b = 0; b < k; ++b)
    for (Index a = 0; a < k; ++a)
      w[k * features + a + b * k] = bounded_log(pairs(a, b) / std::max(left[a], std::numeric_limits<double>::min()));
  for (Index c = 0; c < k; ++c) w[k * features + k * k + c] = bounded_log(first[c] / sequences);
  return w;
}

VectorXd rule_shares(const CfgData& d, const GenerativeOptions& options) {
  const Index rules = static_cast<Index>(d.grammar.lhs.size());
  VectorXd count = VectorXd::Constant(rules, options.laplace), total = VectorXd::Zero(d.grammar.symbols), w(rules);
  for (const Label& tree : d.trees)
    for (const int rule : tree) {
      if (rule < 0 || rule >= rules) throw InputError("a tree has a rule that is not in the grammar.");
      count[rule] += 1;
    }
  for (Index r = 0; r < rules; ++r) total[d.grammar.lhs[static_cast<std::size_t>(r)]] += count[r];
  for (Index r = 0; r < rules; ++r) w[r] = bounded_log(count[r] / total[d.grammar.lhs[static_cast<std::size_t>(r)]]);
  return w;
}

VectorXd log_odds(const AlignData& d, const GenerativeOptions& options) {
  const Index a = d.alphabet;
  MatrixXd pairs = MatrixXd::Constant(a, a, options.laplace);
  VectorXd single = VectorXd::Constant(a, options.laplace);
  if (d.truth.size() != d.native.size() || d.candidates.size() != d.native.size())
    throw InputError("every sequence needs its alignment.");
  for (std::size_t i = 0; i < d.native.size(); ++i) {
    const std::vector<int>&x = d.native[i], &y = d.candidates[i].at(0);
    const Label& code = d.truth[i];  // (candidate, start in x, start in y, steps: 0 both, 1 x only, 2 y only)
    std::size_t at_x = static_cast<std::size_t>(code.at(1)), at_y = static_cast<std::size_t>(code.at(2));
    for (std::size_t s = 3; s < code.size(); ++s) {
      if (code[s] == 0) pairs(x.at(at_x), y.at(at_y)) += 1;
      if (code[s] != 2) ++at_x;
      if (code[s] != 1) ++at_y;
    }
    for (const int symbol : x) single[symbol] += 1;
    for (const int symbol : y) single[symbol] += 1;
  }
  const VectorXd share = single / single.sum();
  const double total = pairs.sum();
  VectorXd w(a * a + (d.affine ? 2 : 1));
  for (Index j = 0; j < a; ++j)
    for (Index i = 0; i < a; ++i)
      w[i + j * a] = pairs(i, j) > 0 ? std::max(std::log(pairs(i, j) / total) - std::log(share[i] * share[j]), log_of_zero) : log_of_zero;
  w.tail(d.affine ? 2 : 1).setConstant(options.gap);
  return w;
}

}  // namespace granary::kernel
