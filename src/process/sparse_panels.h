// The rows of a sparse problem, one panel at a time. Internal to process/sparse_*.cpp.
#pragma once

#include <algorithm>
#include <vector>

#include "core/base/parallel.h"
#include "process/sparse_system.h"

namespace granary::process {

constexpr Index panel_rows = 192;  // a few matrices of m x 192 stay in cache
constexpr Index lanes = 8;  // rows are dealt to so many independent sums, whatever the number of threads

struct RowRange {
  Index from = 0, count = 0;
};

// Blocks for PITC, one block when exact, else panels of equal size.
inline std::vector<RowRange> row_ranges(const SparseProblem& problem) {
  std::vector<RowRange> out;
  const Index n = problem.x->rows();
  if (problem.method == SparseMethod::exact) return {RowRange{0, n}};
  if (problem.method == SparseMethod::pitc) {
    for (std::size_t k = 0; k + 1 < problem.blocks.size(); ++k)
      if (problem.blocks[k + 1] > problem.blocks[k])
        out.push_back({problem.blocks[k], problem.blocks[k + 1] - problem.blocks[k]});
    return out;
  }
  for (Index from = 0; from < n; from += panel_rows) out.push_back({from, std::min(panel_rows, n - from)});
  return out;
}

// body(lane, range index) for every range; ranges of one lane come in order and one after the other.
template <class Body>
void for_ranges(std::size_t ranges, int threads, Monitor& monitor, Body&& body) {
  parallel_for(lanes, threads, monitor, [&](Index lane) {
    for (std::size_t r = static_cast<std::size_t>(lane); r < ranges; r += lanes) {
      monitor.check();
      body(lane, r);
    }
  });
}

// (1, -b)': y - F b is a row of targets times this.
inline VectorXd residual_weights(const SparseState& state) {
  VectorXd weights(1 + state.trend.size());
  weights[0] = 1;
  weights.tail(state.trend.size()) = -state.trend;
  return weights;
}

// Lambda of one panel: diagonal, or the factor of a block.
struct PanelNoise {
  VectorXd lambda;  // empty for a block
  MatrixXd lower;   // Lambda = L L'
  double log_determinant() const;
  // X Lambda^-1/2 for X with one column per row of the panel (X L^-T for a block).
  MatrixXd whiten(const MatrixXd& x) const;
  MatrixXd solve(const MatrixXd& x) const;  // X Lambda^-1
};

// K_uf and V of a panel, its gaps k_ii - q_ii and its Lambda.
struct Panel {
  MatrixXd v;    // L_u^-1 K_uf
  VectorXd gap;  // not below zero
  double prior = 0;
  PanelNoise noise;
};
void fill_panel(Panel& panel, const SparseProblem& problem, const RowRange& rows, const Kernel& kernel, double noise,
                const MatrixXd& inducing, const MatrixXd& inverse_u, bool have_v);

}  // namespace granary::process
