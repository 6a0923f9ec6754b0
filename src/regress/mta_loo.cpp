#include "regress/mta_loo.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/errors.h"
#include "core/base/parallel.h"

namespace granary::regress {

bool has_grid(Estimator e) { return e == Estimator::shrink_average || e == Estimator::constant || e == Estimator::minimax; }

Samples sort_samples(ConstVectorRef y, ConstCodesRef task, Index tasks, ConstVectorRef sigma2) {
  Samples out;
  out.start.assign(tasks + 1, 0);
  for (Index i = 0; i < y.size(); ++i) ++out.start[task[i] + 1];
  std::partial_sum(out.start.begin(), out.start.end(), out.start.begin());
  out.values.resize(y.size());
  std::vector<Index> next(out.start.begin(), out.start.end() - 1);
  for (Index i = 0; i < y.size(); ++i) out.values[next[task[i]]++] = y[i];
  out.sigma2 = sigma2;
  return out;
}

namespace {

TaskMoments moments_of(const Samples& samples) {
  const Index tasks = samples.tasks();
  TaskMoments out{VectorXd(tasks), VectorXd(tasks), VectorXd(tasks)};
  for (Index t = 0; t < tasks; ++t) {
    double n = 0, mean = 0, ss = 0;
    for (Index i = samples.start[t]; i < samples.start[t + 1]; ++i) {
      const double gap = samples.values[i] - mean;
      mean += gap / ++n;
      ss += gap * (samples.values[i] - mean);
    }
    out.n[t] = n;
    out.mean[t] = mean;
    out.ss[t] = ss;
  }
  return out;
}

// Keeps the two smallest of what it has seen.
void keep_smallest(double (&two)[2], double x) {
  if (x < two[0]) {
    two[1] = two[0];
    two[0] = x;
  } else if (x < two[1]) {
    two[1] = x;
  }
}

// The smallest once `old` is replaced by `now`.
double smallest(const double (&two)[2], double old, double now) { return std::min(old == two[0] ? two[1] : two[0], now); }

double ratio_weight(double scale, double sigma2, double tau2) { return scale == 0 ? 1 : 1 / (1 + scale * (sigma2 / tau2)); }

double spread(const MeansSummary::Replaced& r, Estimator e) {
  return e == Estimator::constant ? r.variance : r.range * r.range / 2;
}

}  // namespace

MeansSummary::MeansSummary(const Samples& samples, Noise noise)
    : noise_(noise), moments_(moments_of(samples)), given_(samples.sigma2) {
  const Index tasks = samples.tasks();
  origin_ = moments_.mean.mean();
  moments_.mean.array() -= origin_;
  const double inf = std::numeric_limits<double>::infinity();
  low_[0] = low_[1] = high_[0] = high_[1] = wide_[0] = wide_[1] = inf;
  scale_.resize(tasks);
  class_of_.assign(tasks, 0);
  for (Index t = 0; t < tasks; ++t) {
    const double n = moments_.n[t], mean = moments_.mean[t];
    scale_[t] = noise == Noise::pooled  ? 1 / n
                : noise == Noise::given ? given_[t] / n
                : n > 1                 ? moments_.ss[t] / ((n - 1) * n)
                                        : inf;
    total_ss_ += moments_.ss[t];
    df_ += n - 1;
    total_n_ += n;
    total_sum_ += n * mean;
    sum_ += mean;
    sum2_ += mean * mean;
    keep_smallest(low_, mean);
    keep_smallest(high_, -mean);
    keep_smallest(wide_, -scale_[t]);
    trace_ += scale_[t];
    if (scale_[t] == 0) {
      ++exact_;
    } else {
      precision_[0] += 1 / scale_[t];
      precision_[1] += mean / scale_[t];
      precision_[2] += mean * mean / scale_[t];
    }
  }
  std::vector<int> order(tasks);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int i, int j) { return scale_[i] < scale_[j]; });
  for (int t : order) {
    if (classes_.empty() || scale_[t] != classes_.back().scale) classes_.push_back({scale_[t], 0, 0});
    class_of_[t] = static_cast<int>(classes_.size()) - 1;
    classes_.back().count += 1;
    classes_.back().sum += moments_.mean[t];
  }
}

MeansSummary::Replaced MeansSummary::without(Index t, double y) const {
  const double all = static_cast<double>(tasks()), n = moments_.n[t], old = moments_.mean[t], gap = y - origin_ - old;
  Replaced r;
  r.task = t;
  r.n = n - 1;
  r.mean = old - gap / r.n;
  const double ss = std::max(0.0, moments_.ss[t] - gap * gap * n / r.n);
  r.scale = noise_ == Noise::pooled ? 1 / r.n : noise_ == Noise::given ? given_[t] / r.n : ss / ((r.n - 1) * r.n);
  r.sigma2 = noise_ == Noise::pooled ? std::max(0.0, total_ss_ - moments_.ss[t] + ss) / (df_ - 1) : 1;
  const double sum = sum_ - old + r.mean, sum2 = sum2_ - old * old + r.mean * r.mean;
  r.average = sum / all;
  r.pooled = (total_sum_ - (y - origin_)) / (total_n_ - 1);
  r.variance = std::max(0.0, sum2 - sum * r.average) / (all - 1);
  r.range = -smallest(high_, -old, -r.mean) - smallest(low_, old, r.mean);
  const auto swap = [&](int k) {
    const double before = scale_[t] == 0 ? 0 : std::pow(old, k) / scale_[t];
    return precision_[k] - before + (r.scale == 0 ? 0 : std::pow(r.mean, k) / r.scale);
  };
  const Index exact = exact_ - (scale_[t] == 0) + (r.scale == 0);
  const double form = std::max(0.0, swap(2) - 2 * r.average * swap(1) + r.average * r.average * swap(0));
  r.quadratic = exact > 0 || r.sigma2 == 0 ? std::numeric_limits<double>::infinity() : form / r.sigma2;
  const double widest = -smallest(wide_, -scale_[t], -r.scale);
  r.effective = widest > 0 ? (trace_ - scale_[t] + r.scale) / widest : all;
  return r;
}

double MeansSummary::common_target(const Replaced& r, double tau2) const {
  double total = 0, sum = 0;
  const auto add = [&](double scale, double count, double means) {
    const double w = tau2 > 0 ? ratio_weight(scale, r.sigma2, tau2) : scale == 0 ? 1 : 0;
    total += w * count;
    sum += w * means;
  };
  for (std::size_t k = 0; k < classes_.size(); ++k) {
    const bool own = static_cast<int>(k) == class_of_[r.task];
    add(classes_[k].scale, classes_[k].count - own, classes_[k].sum - (own ? moments_.mean[r.task] : 0));
  }
  add(r.scale, 1, r.mean);
  return total > 0 ? sum / total : r.average;
}

double MeansSummary::estimate(const Replaced& r, Estimator e, double gamma) const {
  switch (e) {
    case Estimator::single:
      return r.mean;
    case Estimator::pooled:
      return r.pooled;
    case Estimator::average:
      return r.average;
    case Estimator::shrink_average: {
      const double lambda = gamma / (1 + gamma);
      return lambda * r.mean + (1 - lambda) * r.average;
    }
    case Estimator::james_stein:
    case Estimator::james_stein_effective: {
      const double k = e == Estimator::james_stein ? static_cast<double>(tasks()) : r.effective;
      const double numerator = std::max(0.0, k - 3);
      const double keep = numerator == 0 ? 1 : r.quadratic > 0 ? std::max(0.0, 1 - numerator / r.quadratic) : 0;
      return r.average + keep * (r.mean - r.average);
    }
    case Estimator::constant:
    case Estimator::minimax: {
      const double tau2 = spread(r, e) / gamma;
      const double w = tau2 > 0 ? ratio_weight(r.scale, r.sigma2, tau2) : r.scale == 0 ? 1 : 0;
      return w == 1 ? r.mean : w * r.mean + (1 - w) * common_target(r, tau2);
    }
  }
  return r.mean;
}

LooResult loo_risk(const Samples& samples, Noise noise, Estimator e, ConstVectorRef gamma, Monitor& monitor) {
  const MeansSummary summary(samples, noise);
  LooResult out;
  out.risk = VectorXd::Zero(has_grid(e) ? gamma.size() : 1);
  for (Index t = 0; t < samples.tasks(); ++t) {
    if ((t & 63) == 0) monitor.progress(static_cast<double>(t) / static_cast<double>(samples.tasks()));
    if (!summary.can_lose(t)) {
      ++out.skipped;
      continue;
    }
    for (Index i = samples.start[t]; i < samples.start[t + 1]; ++i) {
      if ((i & 1023) == 0) monitor.check();
      const MeansSummary::Replaced r = summary.without(t, samples.values[i]);
      const double y = samples.values[i] - summary.origin(), weight = 1 / summary.count(t);
      for (Index g = 0; g < out.risk.size(); ++g) {
        const double error = y - summary.estimate(r, e, has_grid(e) ? gamma[g] : 1);
        out.risk[g] += weight * error * error;
      }
      ++out.left_out;
    }
  }
  return out;
}

namespace {

// The tasks listed, without sample `drop` of the original.
Samples subset(const Samples& samples, const std::vector<int>& tasks, Index drop) {
  Samples out;
  out.start.push_back(0);
  out.sigma2.resize(samples.sigma2.size() > 0 ? static_cast<Index>(tasks.size()) : 0);
  for (std::size_t k = 0; k < tasks.size(); ++k) {
    for (Index i = samples.start[tasks[k]]; i < samples.start[tasks[k] + 1]; ++i) {
      if (i != drop) out.values.push_back(samples.values[i]);
    }
    out.start.push_back(static_cast<Index>(out.values.size()));
    if (out.sigma2.size() > 0) out.sigma2[k] = samples.sigma2[tasks[k]];
  }
  return out;
}

double best_gamma(const VectorXd& risk, ConstVectorRef gamma) {
  Index best;
  risk.minCoeff(&best);
  return gamma[best];
}

}  // namespace

DoubleLooResult double_loo_risk(const Samples& samples, Noise noise, Estimator e, ConstVectorRef gamma, Index tune_tasks,
                                const Rng& rng, int threads, Monitor& monitor) {
  const MeansSummary summary(samples, noise);
  std::vector<int> task_of(samples.values.size()), every(samples.tasks());
  std::iota(every.begin(), every.end(), 0);
  for (int t : every) std::fill(task_of.begin() + samples.start[t], task_of.begin() + samples.start[t + 1], t);
  const Index n = static_cast<Index>(samples.values.size());
  VectorXd loss = VectorXd::Zero(n), chosen = VectorXd::Constant(n, std::numeric_limits<double>::quiet_NaN());
  parallel_for(n, threads, monitor, [&](Index i) {
    const int t = task_of[i];
    if (!summary.can_lose(t)) return;
    std::vector<int> tasks = every;
    if (samples.tasks() > tune_tasks) {
      Rng mine = rng.stream(static_cast<std::uint64_t>(i));
      tasks = mine.sample_without_replacement(static_cast<int>(samples.tasks()), static_cast<int>(tune_tasks));
    }
    const LooResult inner = loo_risk(subset(samples, tasks, i), noise, e, gamma, monitor);
    // Where no task can lose a second sample nothing is to be learnt: gamma = 1, which asks for no tuning.
    chosen[i] = inner.left_out > 0 ? best_gamma(inner.risk, gamma) : 1;
    const double error =
        samples.values[i] - summary.origin() - summary.estimate(summary.without(t, samples.values[i]), e, chosen[i]);
    loss[i] = error * error / summary.count(t);
  });
  return {loss.sum(), chosen};
}

LooResult along_loo_risk(const Samples& samples, Noise noise, ConstMatrixRef a, ConstVectorRef gamma, Monitor& monitor) {
  const MeansSummary summary(samples, noise);
  const TaskMoments moments = moments_of(samples);
  LooResult out;
  out.risk = VectorXd::Zero(gamma.size());
  for (Index t = 0; t < samples.tasks(); ++t) {
    if (!summary.can_lose(t)) {
      ++out.skipped;
      continue;
    }
    for (Index i = samples.start[t]; i < samples.start[t + 1]; ++i) {
      monitor.progress(static_cast<double>(i) / static_cast<double>(samples.values.size()));
      const MeansSummary::Replaced r = summary.without(t, samples.values[i]);
      VectorXd mean = moments.mean, s(mean.size());
      mean[t] = r.mean + summary.origin();
      for (Index k = 0; k < s.size(); ++k) {
        s[k] = k == t                   ? r.sigma2 * r.scale
               : noise == Noise::pooled ? r.sigma2 / moments.n[k]
               : noise == Noise::given  ? samples.sigma2[k] / moments.n[k]
                                        : moments.ss[k] / ((moments.n[k] - 1) * moments.n[k]);
      }
      for (Index g = 0; g < gamma.size(); ++g) {
        const double estimate = a.size() == 0 ? pairwise_weights(mean, s, gamma[g], monitor).row(t).dot(mean)
                                              : shrink_along(a, mean, s, gamma[g], false, monitor).estimate[t];
        out.risk[g] += (samples.values[i] - estimate) * (samples.values[i] - estimate) / moments.n[t];
      }
      ++out.left_out;
    }
  }
  return out;
}

MeansEstimate common_estimate(Estimator e) {
  return [e](const VectorXd& mean, const VectorXd& s, double gamma) -> VectorXd {
    const double average = mean.mean();
    if (e == Estimator::shrink_average) return average + gamma / (1 + gamma) * (mean.array() - average);
    const double range = mean.maxCoeff() - mean.minCoeff(), free = static_cast<double>(mean.size() - 1);
    const double variance = free > 0 ? (mean.array() - average).square().sum() / free : 0;
    return shrink_to_common(mean, s, (e == Estimator::constant ? variance : range * range / 2) / gamma).estimate;
  };
}

MeansEstimate along_estimate(ConstMatrixRef a, Monitor& monitor) {
  return [&monitor, a = MatrixXd(a)](const VectorXd& mean, const VectorXd& s, double gamma) -> VectorXd {
    if (a.size() > 0) return shrink_along(a, mean, s, gamma, false, monitor).estimate;
    return mean[0] + (pairwise_weights(mean, s, gamma, monitor) * (mean.array() - mean[0]).matrix()).array();
  };
}

MeansEstimate along_estimate(const ConstSparseMap& a, Monitor& monitor) {
  return [&monitor, a](const VectorXd& mean, const VectorXd& s, double gamma) {
    return shrink_along(a, mean, s, gamma, false, monitor).estimate;
  };
}

VectorXd split_risk(const Samples& samples, Noise noise, const MeansEstimate& estimate, ConstVectorRef gamma, int splits,
                    const Rng& rng, Monitor& monitor) {
  const TaskMoments full = moments_of(samples);
  const Index tasks = samples.tasks();
  VectorXd risk = VectorXd::Zero(gamma.size());
  for (int split = 0; split < splits; ++split) {
    Rng mine = rng.stream(static_cast<std::uint64_t>(split));
    Samples half;
    half.start.push_back(0);
    for (Index t = 0; t < tasks; ++t) {
      if ((t & 1023) == 0) monitor.progress(static_cast<double>(split) / splits);
      const int n = static_cast<int>(samples.size_of(t));
      for (int k : mine.sample_without_replacement(n, std::max(1, n / 2)))
        half.values.push_back(samples.values[samples.start[t] + k]);
      half.start.push_back(static_cast<Index>(half.values.size()));
    }
    const TaskMoments m = moments_of(half);
    // Pooled: the variance of the half, unless every task was left with one sample.
    const double df = (m.n.array() - 1).sum();
    const double pooled = df > 0 ? m.ss.sum() / df : full.ss.sum() / (full.n.array() - 1).sum();
    VectorXd s(tasks);
    for (Index t = 0; t < tasks; ++t) {
      const double sigma2 = noise == Noise::pooled  ? pooled
                            : noise == Noise::given ? samples.sigma2[t]
                                                    : full.ss[t] / (full.n[t] - 1);
      s[t] = sigma2 / m.n[t];
    }
    for (Index g = 0; g < gamma.size(); ++g) {
      risk[g] += (estimate(m.mean, s, gamma[g]) - full.mean).squaredNorm() / splits;
    }
  }
  return risk;
}

namespace {
Samples samples_of(const RiskData& data) { return sort_samples(data.y, data.task, data.tasks, data.sigma2); }
}  // namespace

LooResult loo_risk(const RiskData& data, const RiskOptions& options, Monitor& monitor) {
  const Samples samples = samples_of(data);
  if (options.estimator != Estimator::along) return loo_risk(samples, data.noise, options.estimator, options.gamma, monitor);
  if (data.similarity.is_sparse()) return along_loo_risk(samples, data.noise, MatrixXd(data.similarity.sparse()), options.gamma, monitor);
  return along_loo_risk(samples, data.noise, data.similarity.dense(), options.gamma, monitor);
}

DoubleLooResult double_loo_risk(const RiskData& data, const RiskOptions& options, const Rng& rng, Monitor& monitor) {
  return double_loo_risk(samples_of(data), data.noise, options.estimator, options.gamma, options.tune_tasks, rng, options.threads, monitor);
}

VectorXd split_risk(const RiskData& data, const RiskOptions& options, const Rng& rng, Monitor& monitor) {
  const Design& a = data.similarity;
  const MeansEstimate estimate = options.estimator != Estimator::along ? common_estimate(options.estimator)
                                 : a.is_sparse()                       ? along_estimate(a.sparse(), monitor)
                                                                       : along_estimate(ConstMatrixRef(a.dense()), monitor);
  return split_risk(samples_of(data), data.noise, estimate, options.gamma, options.splits, rng, monitor);
}

}  // namespace granary::regress
