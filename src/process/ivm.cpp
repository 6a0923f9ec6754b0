#include "process/ivm.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/infer/ep_sites.h"
#include "core/linalg/greedy_variance.h"
#include "core/base/parallel.h"
#include "core/math/special.h"

namespace granary::process {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Site {
  double log_z, g, nu;
  double mean(double h) const { return nu > 0 ? h + g / nu : h; }
  double variance(double v) const { return nu > 0 ? std::max(1 / nu - v, 0.0) : infinity; }
};

// E Phi(y (f + offset)) for f ~ N(h, v), y = -1 or 1. The tilted law has mean h + v g and variance v - v^2 nu.
Site probit_site(double y, double h, double v, double offset) {
  if (!(v > 0)) return {normal_log_cdf(y * (h + offset)), 0, 0};
  const SiteMoments tilted = probit_moments(y, h + offset, v);
  return {tilted.log_z, (tilted.mean - h - offset) / v, std::max(v - tilted.variance, 0.0) / (v * v)};
}

double white_variance(const Kernel& kernel, ConstMatrixRef x) {
  return kernel.diagonal(x.topRows(1), true)[0] - kernel.diagonal(x.topRows(1), false)[0];
}

// The posterior of the columns of one group, given the points included so far.
struct State {
  Index column = 0;   // the first of the group
  double count = 1;   // how many
  VectorXd variance;  // v
  VectorXd mean;      // h, bernoulli only
  MatrixXd m;         // N x d, the transpose of the M above
  Index used = 0;
};

// One group and normal noise of one variance: nothing but the variances matters.
IvmResult select_plain(const Kernel& kernel, ConstMatrixRef x, const NoisyTargets& targets, Index size, double noise,
                       Monitor& monitor) {
  GreedyVarianceOptions options;
  options.max_picks = size;
  options.noise = noise;
  options.tol = 0;
  IvmResult result;
  result.active = greedy_variance(kernel, x, options, monitor).picks;
  // It stops where no variance is left, as among duplicates without noise; any rows will do then.
  std::vector<bool> taken(static_cast<std::size_t>(x.rows()), false);
  for (Index k : result.active) taken[static_cast<std::size_t>(k)] = true;
  for (Index k = 0; k < x.rows() && static_cast<Index>(result.active.size()) < size; ++k)
    if (!taken[static_cast<std::size_t>(k)]) result.active.push_back(k);
  result.sites = targets.rows(result.active);
  return result;
}

}  // namespace

IvmResult ivm_select(const Kernel& kernel, ConstMatrixRef x, const NoisyTargets& targets, const IvmOptions& options,
                     Monitor& monitor) {
  const Index n = x.rows(), size = std::min(options.size, n);
  const bool probit = options.noise == OutputNoise::bernoulli;
  const double own = (n > 0 ? white_variance(kernel, x) : 0) + options.nugget;
  if (!probit && targets.plain() && n > 0) return select_plain(kernel, x, targets, size, own, monitor);
  // White noise is part of f under a probit, and noise under a normal law.
  VectorXd prior = kernel.diagonal(x, false);
  if (probit) prior.array() += own;

  std::vector<State> states;
  const auto add_state = [&](Index column, double count) {
    State state;
    state.column = column;
    state.count = count;
    state.variance = prior;
    if (probit) state.mean = VectorXd::Zero(n);
    state.m.resize(n, size);
    states.push_back(std::move(state));
  };
  if (probit) {
    for (Index i = 0; i < targets.y.cols(); ++i) add_state(i, 1);
  } else {
    for (const ColumnGroup& group : group_columns(targets))
      add_state(group.columns.front(), static_cast<double>(group.columns.size()));
  }

  const auto site_of = [&](const State& state, Index row) -> Site {
    const Index i = state.column;
    if (!targets.observed(row, i)) return {0, 0, 0};
    if (!probit) return {0, 0, 1 / (state.variance[row] + own + targets.noise_at(row, i))};
    return probit_site(targets.y(row, i), state.mean[row], state.variance[row], options.offset.size() ? options.offset[i] : 0);
  };

  IvmResult result;
  NoisyTargets sites;
  if (probit) {
    sites.y = MatrixXd::Zero(size, targets.y.cols());
    sites.noise = MatrixXd::Constant(size, targets.y.cols(), infinity);
  }
  std::vector<bool> taken(static_cast<std::size_t>(n), false);
  VectorXd column(n), s(n);
  for (Index step = 0; step < size; ++step) {
    monitor.check();
    Index best = -1;
    double best_gain = -1;
    for (Index row = 0; row < n; ++row) {
      if (taken[static_cast<std::size_t>(row)]) continue;
      double gain = 0;
      for (const State& state : states) gain -= 0.5 * state.count * std::log1p(-site_of(state, row).nu * state.variance[row]);
      if (!(gain <= best_gain)) {
        best_gain = gain;
        best = row;
      }
    }
    taken[static_cast<std::size_t>(best)] = true;
    result.active.push_back(best);
    kernel.cross(x, x.row(best), column);
    if (probit) column[best] = prior[best];
    for (State& state : states) {
      const Site site = site_of(state, best);
      result.log_evidence += site.log_z;
      if (probit) {
        sites.y(step, state.column) = site.mean(state.mean[best]);
        sites.noise(step, state.column) = site.variance(state.variance[best]);
      }
      if (site.nu <= 0) continue;
      s = column;
      s.noalias() -= state.m.leftCols(state.used) * state.m.row(best).head(state.used).transpose();
      state.variance = (state.variance - site.nu * s.cwiseAbs2()).cwiseMax(0);
      if (probit) state.mean += site.g * s;
      state.m.col(state.used++) = std::sqrt(site.nu) * s;
    }
  }
  result.sites = probit ? std::move(sites) : targets.rows(result.active);
  return result;
}

namespace {

constexpr Index block = 64;

// Sites of one column; `a`, the prior covariance (lower triangle), is used up.
double filter_column(MatrixXd& a, const NoisyTargets& targets, Index i, double offset, NoisyTargets& sites) {
  const Index n = a.rows();
  VectorXd h = VectorXd::Zero(n);
  double log_z = 0;
  for (Index first = 0; first < n; first += block) {
    const Index last = std::min(n, first + block);
    for (Index c = first; c < last; ++c) {
      const Index rest = n - c - 1, inside = last - c - 1;
      if (!targets.observed(c, i)) {
        a.col(c).tail(rest).setZero();
        continue;
      }
      const double v = std::max(a(c, c), 0.0);
      const Site site = probit_site(targets.y(c, i), h[c], v, offset);
      log_z += site.log_z;
      sites.y(c, i) = site.mean(h[c]);
      sites.noise(c, i) = site.variance(v);
      auto s = a.col(c).tail(rest);
      h.tail(rest) += site.g * s;
      s *= std::sqrt(site.nu);
      for (Index k = 0; k < inside; ++k) {
        const Index at = c + 1 + k;
        a.col(at).tail(n - at) -= s[k] * s.tail(n - at);
      }
    }
    const Index rest = n - last;
    if (rest > 0)
      a.bottomRightCorner(rest, rest).selfadjointView<Eigen::Lower>().rankUpdate(a.block(last, first, rest, last - first), -1.0);
  }
  return log_z;
}

}  // namespace

AdfResult adf_pass(const Kernel& kernel, ConstMatrixRef x, const NoisyTargets& targets, const IvmOptions& options, int threads,
                   Monitor& monitor) {
  const Index n = x.rows(), d = targets.y.cols();
  MatrixXd k = kernel.matrix(x);
  k.diagonal().array() += options.nugget;
  AdfResult result;
  result.sites.y = MatrixXd::Zero(n, d);
  result.sites.noise = MatrixXd::Constant(n, d, infinity);
  VectorXd evidence(d);
  parallel_for(d, threads, monitor, [&](Index i) {
    MatrixXd a = k;
    evidence[i] = filter_column(a, targets, i, options.offset.size() ? options.offset[i] : 0, result.sites);
  });
  result.log_evidence = evidence.sum();
  return result;
}

}  // namespace granary::process
