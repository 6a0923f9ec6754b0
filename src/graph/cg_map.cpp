// The most probable configurations, the highest peaks, and modes: Cowell (2005), section 7.2.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/linalg/spd.h"
#include "graph/cg_state.h"

namespace granary::graph {

std::vector<DiscreteForest::Ranked> CgState::best_configurations(int k) const {
  belief();
  std::vector<DiscreteForest::Ranked> best = compiled_->forest.best(tables_, k, compiled_->network.nodes());
  const double total = compiled_->forest.collect(tables_);
  for (DiscreteForest::Ranked& one : best) one.log_value -= total;
  return best;
}

std::vector<CgPeak> CgState::highest_peaks(int k) const {
  const CgCompiled& c = *compiled_;
  belief();
  DiscreteForest::Tables tables = tables_;
  std::vector<VectorXd> weight(c.continuous());
  double constant = 0;
  for (int i = 0; i < c.continuous(); ++i) weight[i] = VectorXd::Zero(c.space[i].size());
  for (int i = 0; i < c.continuous(); ++i) {
    if (active_[i]) {
      const auto variance = lp_[i].row(lp_[i].rows() - 1);
      if (variance.minCoeff() <= 0) {
        throw InputError(message("the peak of a density needs positive variances, but \"",
                                 c.network.names[c.tree.clusters[i].variable],
                                 "\" is a function of other variables. Ask for the most probable configuration instead."));
      }
      for (Index config = 0; config < weight[i].size(); ++config) {
        weight[i][config] -= 0.5 * std::log(variance[config]) + 0.91893853320467274178;
      }
    }
    const int next = c.tree.clusters[i].parent;
    if (next < 0) {
      constant += weight[i][0];
      continue;
    }
    VectorXd& target = c.at_boundary(i) ? tables[next - c.continuous()] : weight[next];
    for (Index config = 0; config < target.size(); ++config) target[config] += weight[i][c.config_in[i][config]];
  }
  const double total = c.forest.collect(tables_);
  std::vector<CgPeak> peaks;
  for (DiscreteForest::Ranked& one : c.forest.best(tables, k, c.network.nodes())) {
    CgPeak peak{one.log_value + constant - total, std::move(one.state), value_};
    for (int i = c.continuous() - 1; i >= 0; --i) {
      if (!active_[i]) continue;
      const std::vector<int>& members = c.tree.clusters[i].continuous;
      const auto lp = lp_[i].col(c.space[i].config(peak.state));
      double mean = lp[lp.size() - 2];
      for (std::size_t j = 0; j < members.size(); ++j) {
        if (lp[j] != 0) mean += lp[j] * peak.value[members[j]];
      }
      peak.value[c.tree.clusters[i].variable] = mean;
    }
    peaks.push_back(std::move(peak));
  }
  return peaks;
}

CgState::Mode CgState::climb(const CgPeak& from, double tol, int max_iter, Monitor& monitor) const {
  const CgCompiled& c = *compiled_;
  const double evidence = log_evidence();
  Mode mode{from.value, -std::numeric_limits<double>::infinity(), 0, false};
  std::vector<int> place(c.network.nodes(), -1), tops;
  std::vector<std::vector<int>> under(c.continuous());  // the active clusters below each top
  for (int i = 0; i < c.continuous(); ++i) {
    if (!active_[i]) continue;
    const int top = c.top(i);
    if (under[top].empty()) tops.push_back(top);
    place[c.tree.clusters[i].variable] = static_cast<int>(under[top].size());
    under[top].push_back(i);
  }
  std::vector<std::vector<int>> config(c.continuous());
  for (int top : tops) {
    for (int i : under[top]) config[i] = c.configs_from_top(i);
  }
  for (; mode.iterations <= max_iter; ++mode.iterations) {
    monitor.check();
    CgState here = *this;
    for (int i = 0; i < c.continuous(); ++i) {
      if (active_[i]) here.observe_value(c.tree.clusters[i].variable, mode.value[c.tree.clusters[i].variable]);
    }
    const double now = here.log_evidence() - evidence;
    mode.converged = now - mode.log_density <= tol * (1 + std::abs(now));
    mode.log_density = now;
    if (mode.converged || mode.iterations == max_iter) break;
    const DiscreteForest::Tables belief = here.belief();
    for (int top : tops) {
      const VectorXd share = here.probabilities(c.space[top].variables(), belief);
      const Index size = static_cast<Index>(under[top].size());
      MatrixXd precision = MatrixXd::Zero(size, size);
      VectorXd right = VectorXd::Zero(size), row(size);
      for (Index k = 0; k < share.size(); ++k) {
        if (share[k] <= 0) continue;
        for (int i : under[top]) {
          const std::vector<int>& members = c.tree.clusters[i].continuous;
          const auto lp = lp_[i].col(config[i][k]);
          const Index m = static_cast<Index>(members.size());
          row.setZero();
          for (Index j = 0; j < m; ++j) {
            if (lp[j] != 0) row[place[members[j]]] = -lp[j];
          }
          row[place[c.tree.clusters[i].variable]] = 1;
          const double w = share[k] / lp[m + 1];
          precision.noalias() += w * row * row.transpose();
          right.noalias() += w * lp[m] * row;
        }
      }
      const VectorXd value = Cholesky(precision).solve(right);
      for (int i : under[top]) mode.value[c.tree.clusters[i].variable] = value[place[c.tree.clusters[i].variable]];
    }
  }
  return mode;
}

}  // namespace granary::graph
