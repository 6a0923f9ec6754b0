// The sum-product half of core/chain.h.
#include <cmath>
#include <limits>

#include "core/sequence/chain.h"
#include "core/sequence/chain_trellis.h"
#include "core/base/errors.h"
#include "core/math/logspace.h"

namespace granary {

ChainMarginals forward_backward(const ChainScores& c) {
  const Trellis trellis(c);
  const Index length = c.length(), k = c.labels();
  if (length == 0 || k == 0) throw InputError("a chain needs at least one label and one position.");
  const int states = trellis.states(length - 1);
  constexpr double zero = -std::numeric_limits<double>::infinity();
  MatrixXd forward = MatrixXd::Constant(states, length, zero), backward = MatrixXd::Constant(states, length, zero);
  for (int s = 0; s < trellis.states(0); ++s) forward(s, 0) = trellis.node(0, s);
  VectorXd terms(k);
  for (Index t = 1; t < length; ++t) {
    const int count = trellis.predecessors(t);
    for (int s = 0; s < trellis.states(t); ++s) {
      for (int j = 0; j < count; ++j) terms[j] = forward(trellis.predecessor(t, s, j), t - 1) + trellis.edge(t, s, j);
      forward(s, t) = trellis.node(t, s) + log_sum_exp(terms.head(count));
    }
  }
  for (int s = 0; s < states; ++s) backward(s, length - 1) = 0;
  for (Index t = length - 1; t > 0; --t) {  // push, as the successors of a state are not listed
    std::vector<LogSumExp> sums(static_cast<std::size_t>(trellis.states(t - 1)));
    for (int s = 0; s < trellis.states(t); ++s) {
      const double later = trellis.node(t, s) + backward(s, t);
      for (int j = 0; j < trellis.predecessors(t); ++j) {
        sums[static_cast<std::size_t>(trellis.predecessor(t, s, j))].add(later + trellis.edge(t, s, j));
      }
    }
    for (int s = 0; s < trellis.states(t - 1); ++s) backward(s, t - 1) = sums[static_cast<std::size_t>(s)].value();
  }

  ChainMarginals m;
  m.log_partition = log_sum_exp(forward.col(length - 1));
  m.unary = MatrixXd::Zero(k, length);
  m.pair.assign(static_cast<std::size_t>(k * k * std::max<Index>(length - 1, 0)), 0.0);
  if (c.second_order()) m.triple.assign(c.triple.size(), 0.0);
  for (Index t = 0; t < length; ++t) {
    for (int s = 0; s < trellis.states(t); ++s) {
      const double p = std::exp(forward(s, t) + backward(s, t) - m.log_partition);
      m.unary(trellis.label(t, s), t) += p;
      if (t > 0 && c.second_order()) m.pair[static_cast<std::size_t>((t - 1) * k * k + s / k + k * (s % k))] += p;
      if (t == 0 || (c.second_order() && t == 1)) continue;
      const double later = trellis.node(t, s) + backward(s, t) - m.log_partition;
      for (int j = 0; j < trellis.predecessors(t); ++j) {
        const double joint = std::exp(forward(trellis.predecessor(t, s, j), t - 1) + trellis.edge(t, s, j) + later);
        if (c.second_order()) {
          m.triple[static_cast<std::size_t>(j + k * (s / k + k * (s % k)))] += joint;
        } else {
          m.pair[static_cast<std::size_t>((t - 1) * k * k + j + k * s)] += joint;
        }
      }
    }
  }
  return m;
}

}  // namespace granary
