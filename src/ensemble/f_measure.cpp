#include "ensemble/f_measure.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "core/base/parallel.h"

namespace granary::ensemble {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double rounding = 1e-11;

std::vector<int> falling(ConstVectorRef p) {
  std::vector<int> order(static_cast<std::size_t>(p.size()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return p[a] > p[b]; });
  return order;
}

// The best entry of the curve; of equal ones the smallest set.
void choose(FDecision& out) {
  out.k = 0;
  for (Index k = 1; k < out.curve.size(); ++k)
    if (out.curve[k] > out.curve[out.k] + rounding) out.k = static_cast<int>(k);
  out.expected = out.curve[out.k];
  out.ties = 0;
  double second = -std::numeric_limits<double>::infinity();
  for (Index k = 0; k < out.curve.size(); ++k) {
    if (std::abs(out.curve[k] - out.expected) <= rounding) ++out.ties;
    if (k != out.k && out.curve[k] > second) second = out.curve[k];
  }
  out.margin = std::isfinite(second) ? out.expected - second : nan;
}

FDecision top_set(ConstVectorRef p, const std::vector<int>& order, VectorXd curve) {
  FDecision out;
  out.curve = std::move(curve);
  choose(out);
  out.labels = VectorXi::Zero(p.size());
  for (int i = 0; i < out.k; ++i) out.labels[order[static_cast<std::size_t>(i)]] = 1;
  out.threshold = out.k > 0 ? p[order[static_cast<std::size_t>(out.k - 1)]] : nan;
  out.error = nan;
  return out;
}

double smallest_chosen(const VectorXi& labels, const VectorXd& p) {
  double least = nan;
  for (Index i = 0; i < p.size(); ++i)
    if (labels[i] == 1 && !(p[i] >= least)) least = p[i];
  return least;
}

}  // namespace

double f_value(double both, double truth, double chosen, double beta) {
  const double below = beta * beta * truth + chosen;
  return below > 0 ? (1 + beta * beta) * both / below : 1;
}

double jaccard_value(double both, double truth, double chosen, double empty) {
  const double below = truth + chosen - both;
  return below > 0 ? both / below : empty;
}

void CountLaw::add(double p) {
  if (p <= 0) return;
  if (p >= 1) {
    ++from;
    return;
  }
  value.push_back(value.back() * p);
  for (std::size_t i = value.size() - 2; i > 0; --i) value[i] = value[i] * (1 - p) + value[i - 1] * p;
  value[0] *= 1 - p;
  std::size_t low = 0;
  while (low + 1 < value.size() && value[low] < 1e-22) ++low;
  while (value.size() > low + 1 && value.back() < 1e-22) value.pop_back();
  if (low > 0) {
    value.erase(value.begin(), value.begin() + static_cast<std::ptrdiff_t>(low));
    from += static_cast<Index>(low);
  }
}

LabelSample::LabelSample(ConstMatrixRef y, ConstVectorRef weights) {
  labels = y.cols();
  const Index n = y.rows();
  if (n < 1 || labels < 1) throw InputError("the sample must have at least one row and one label.");
  ones.resize(static_cast<std::size_t>(n));
  for (Index i = 0; i < labels; ++i)
    for (Index r = 0; r < n; ++r) {
      if (y(r, i) != 0 && y(r, i) != 1) throw InputError("labels must be 0 or 1.");
      if (y(r, i) == 1) ones[static_cast<std::size_t>(r)].push_back(static_cast<int>(i));
    }
  drawn = weights.size() == 0;
  const double total = drawn ? static_cast<double>(n) : weights.sum();
  if (!(total > 0)) throw InputError("the weights of the sample must not all be 0.");
  weight.resize(static_cast<std::size_t>(n));
  for (Index r = 0; r < n; ++r) weight[static_cast<std::size_t>(r)] = (drawn ? 1 : weights[r]) / total;
}

VectorXd LabelSample::marginals() const {
  VectorXd p = VectorXd::Zero(labels);
  for (std::size_t r = 0; r < ones.size(); ++r)
    for (const int i : ones[r]) p[i] += weight[r];
  return p.cwiseMin(1);  // sums of shares round
}

SizeTable size_table(const LabelSample& sample) {
  std::vector<int> column(static_cast<std::size_t>(sample.labels) + 1, -1);
  for (const auto& row : sample.ones) column[row.size()] = 0;
  SizeTable out;
  std::vector<double> sizes;
  for (std::size_t s = 1; s < column.size(); ++s)
    if (column[s] == 0) {
      column[s] = static_cast<int>(sizes.size());
      sizes.push_back(static_cast<double>(s));
    }
  out.size = Eigen::Map<const VectorXd>(sizes.data(), static_cast<Index>(sizes.size()));
  out.p = MatrixXd::Zero(sample.labels, out.size.size());
  for (std::size_t r = 0; r < sample.ones.size(); ++r) {
    const auto& row = sample.ones[r];
    if (row.empty()) out.none += sample.weight[r];
    for (const int i : row) out.p(i, column[row.size()]) += sample.weight[r];
  }
  return out;
}

MatrixXd delta_matrix(ConstMatrixRef p, ConstVectorRef size, double beta) {
  const Index m = p.rows();
  const double b2 = beta * beta;
  MatrixXd w(size.size(), m);
  for (Index k = 0; k < m; ++k)
    for (Index s = 0; s < size.size(); ++s) w(s, k) = (1 + b2) / (b2 * size[s] + static_cast<double>(k + 1));
  return p * w;
}

FDecision f_gfm(ConstMatrixRef delta, double none) {
  const Index m = delta.rows();
  if (delta.cols() != m || m < 1) throw InputError("delta must be a square matrix with one row per label.");
  FDecision out;
  out.curve.resize(m + 1);
  out.curve[0] = none;
  std::vector<double> column(static_cast<std::size_t>(m));
  for (Index k = 1; k <= m; ++k) {
    for (Index i = 0; i < m; ++i) column[static_cast<std::size_t>(i)] = delta(i, k - 1);
    if (k < m) std::nth_element(column.begin(), column.begin() + (k - 1), column.end(), std::greater<double>());
    out.curve[k] = std::accumulate(column.begin(), column.begin() + k, 0.0);
  }
  choose(out);
  out.labels = VectorXi::Zero(m);
  if (out.k > 0) {
    const std::vector<int> order = falling(delta.col(out.k - 1));
    for (int i = 0; i < out.k; ++i) out.labels[order[static_cast<std::size_t>(i)]] = 1;
  }
  out.consistent = out.curve.maxCoeff() <= 1 + 1e-9 && delta.minCoeff() >= -1e-12;
  out.threshold = out.error = nan;
  return out;
}

FDecision f_independent(ConstVectorRef p, const FOptions& options, Monitor& monitor) {
  const Index m = p.size();
  const double b2 = options.beta * options.beta;
  const std::vector<int> order = falling(p);
  VectorXd curve = VectorXd::Constant(m + 1, nan);
  curve[0] = 1;
  for (Index i = 0; i < m; ++i) curve[0] *= 1 - p[i];
  const double mean = p.sum(), variance = (p.array() * (1 - p.array())).sum();
  // Sizes that their bounds exclude.
  Index first = 1, last = m;
  if (m > options.max_curve) {
    double best = curve[0], sum = 0;
    VectorXd upper(m + 1);
    upper[0] = curve[0];
    for (Index k = 1; k <= m; ++k) {
      sum += p[order[static_cast<std::size_t>(k - 1)]];
      const double kk = static_cast<double>(k), top = (1 + b2) * sum, at = b2 * mean + kk;
      best = std::max(best, top / (at + b2));
      upper[k] = top / at * (1 + b2 * b2 * variance / (at * kk));
    }
    while (first < m && upper[first] < best) ++first;
    while (last > first && upper[last] < best) --last;
  }
  CountLaw all;
  for (Index i = 0; i < m; ++i) {
    if ((i & 63) == 0) monitor.check();
    all.add(p[order[static_cast<std::size_t>(i)]]);
  }
  // joint[s]: sum_{i <= k} P(y_i = 1, s_y = s)
  const Index width = static_cast<Index>(all.value.size());
  std::vector<double> joint(static_cast<std::size_t>(width), 0.0);
  for (Index k = 1; k <= last; ++k) {
    if ((k & 63) == 0) monitor.check();
    const double pk = p[order[static_cast<std::size_t>(k - 1)]];
    if (pk <= 0) {  // no more than the set before, divided by more
      if (k >= first) {
        double sum = 0;
        for (Index s = 0; s < width; ++s)
          sum += joint[static_cast<std::size_t>(s)] / (b2 * static_cast<double>(all.from + s) + static_cast<double>(k));
        curve[k] = (1 + b2) * sum;
      }
      continue;
    }
    if (pk >= 1) {
      for (Index s = 0; s < width; ++s) joint[static_cast<std::size_t>(s)] += all.value[static_cast<std::size_t>(s)];
    } else if (pk <= 0.5) {
      const double scale = 1 / (1 - pk), ratio = pk * scale;
      double before = 0;  // P(s - 1 others)
      for (Index s = 0; s < width; ++s) {
        joint[static_cast<std::size_t>(s)] += pk * before;
        before = std::max(0.0, all.value[static_cast<std::size_t>(s)] * scale - ratio * before);
      }
    } else {
      const double scale = 1 / pk, ratio = (1 - pk) * scale;
      double others = 0;  // P(s others), from above
      for (Index s = width - 1; s >= 0; --s) {
        others = std::max(0.0, all.value[static_cast<std::size_t>(s)] * scale - ratio * others);  // now P(s - 1 others)
        joint[static_cast<std::size_t>(s)] += pk * others;
      }
    }
    if (k < first) continue;
    double sum = 0;
    for (Index s = 0; s < width; ++s)
      sum += joint[static_cast<std::size_t>(s)] / (b2 * static_cast<double>(all.from + s) + static_cast<double>(k));
    curve[k] = (1 + b2) * sum;
  }
  return top_set(p, order, std::move(curve));
}

FDecision jaccard_independent(ConstVectorRef p, double empty, Monitor& monitor) {
  const Index m = p.size();
  const std::vector<int> order = falling(p);
  VectorXd curve(m + 1), sum(m + 1);
  sum[0] = 0;
  for (Index i = 0; i < m; ++i) sum[i + 1] = sum[i] + p[order[static_cast<std::size_t>(i)]];
  CountLaw tail;
  for (Index k = m; k >= 0; --k) {
    if ((k & 63) == 0) monitor.check();
    double inverse = 0;
    for (std::size_t s = 0; s < tail.value.size(); ++s) {
      const double below = static_cast<double>(k + tail.from + static_cast<Index>(s));
      if (below > 0) inverse += tail.value[s] / below;
    }
    curve[k] = k > 0 ? sum[k] * inverse : empty * tail.at(0);
    if (k > 0) tail.add(p[order[static_cast<std::size_t>(k - 1)]]);
  }
  return top_set(p, order, std::move(curve));
}

FDecision f_categorical(ConstVectorRef p, double beta) {
  const Index m = p.size();
  const double b2 = beta * beta;
  const std::vector<int> order = falling(p);
  VectorXd curve(m + 1);
  curve[0] = 0;
  double sum = 0;
  for (Index k = 1; k <= m; ++k) {
    sum += p[order[static_cast<std::size_t>(k - 1)]];
    curve[k] = (1 + b2) * sum / (b2 + static_cast<double>(k));
  }
  return top_set(p, order, std::move(curve));
}

FDecision f_lewis(ConstVectorRef p, double beta) {
  const Index m = p.size();
  const double b2 = beta * beta, mean = p.sum();
  const std::vector<int> order = falling(p);
  VectorXd curve(m + 1);
  curve[0] = 1;
  for (Index i = 0; i < m; ++i) curve[0] *= 1 - p[i];
  double sum = 0;
  for (Index k = 1; k <= m; ++k) {
    sum += p[order[static_cast<std::size_t>(k - 1)]];
    curve[k] = (1 + b2) * sum / (b2 * mean + static_cast<double>(k));
  }
  FDecision out = top_set(p, order, std::move(curve));
  out.exact = false;
  return out;
}

namespace {

FDecision modes(ConstVectorRef p, FTarget target) {
  FDecision out;
  out.labels = VectorXi::Zero(p.size());
  double right = 0, all = 1, margin = 1;
  for (Index i = 0; i < p.size(); ++i) {
    out.labels[i] = p[i] > 0.5;
    out.k += out.labels[i];
    right += std::max(p[i], 1 - p[i]);
    all *= std::max(p[i], 1 - p[i]);
    margin = std::min(margin, std::abs(2 * p[i] - 1));
    if (p[i] == 0.5) ++out.ties;
  }
  out.expected = target == FTarget::subset ? all : right / static_cast<double>(p.size());
  out.threshold = smallest_chosen(out.labels, p);
  out.margin = margin;
  out.error = nan;
  return out;
}

// Expected value of a decision under a list of label vectors, and its standard error where they are draws.
struct Expectation {
  double mean = 0, error = nan;
};
Expectation expectation(const LabelSample& sample, const VectorXi& h, const FOptions& options) {
  const double chosen = h.sum();
  double mean = 0, square = 0;
  for (std::size_t r = 0; r < sample.ones.size(); ++r) {
    double both = 0, value = 0;
    for (const int i : sample.ones[r]) both += h[i];
    const double truth = static_cast<double>(sample.ones[r].size()), m = static_cast<double>(sample.labels);
    switch (options.target) {
      case FTarget::f:
        value = f_value(both, truth, chosen, options.beta);
        break;
      case FTarget::jaccard:
        value = jaccard_value(both, truth, chosen, options.empty);
        break;
      case FTarget::hamming:
        value = 1 - (truth + chosen - 2 * both) / m;
        break;
      case FTarget::subset:
        value = both == truth && truth == chosen ? 1 : 0;
        break;
    }
    mean += sample.weight[r] * value;
    square += sample.weight[r] * value * value;
  }
  Expectation out{mean, nan};
  const double n = static_cast<double>(sample.ones.size());
  if (sample.drawn && n > 1) out.error = std::sqrt(std::max(0.0, square - mean * mean) / (n - 1));
  return out;
}

VectorXi as_vector(const std::vector<int>& ones, Index m) {
  VectorXi h = VectorXi::Zero(m);
  for (const int i : ones) h[i] = 1;
  return h;
}

// The most probable vector; of equal ones the first met.
FDecision joint_mode(const LabelSample& sample) {
  std::vector<std::size_t> order(sample.ones.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return sample.ones[a] < sample.ones[b]; });
  double best = -1, second = -1;
  std::size_t mode = 0, first_row = 0;
  int ties = 0;
  for (std::size_t i = 0; i < order.size();) {
    double mass = 0;
    const std::size_t head = order[i];
    for (; i < order.size() && sample.ones[order[i]] == sample.ones[head]; ++i) mass += sample.weight[order[i]];
    const bool tied = std::abs(mass - best) <= rounding;
    ties = mass > best + rounding ? 1 : tied ? ties + 1 : ties;
    if (mass > best + rounding || (tied && head < first_row)) {
      second = std::max(second, best);
      best = mass;
      mode = first_row = head;
    } else {
      second = std::max(second, mass);
    }
  }
  FDecision out;
  out.labels = as_vector(sample.ones[mode], sample.labels);
  out.k = static_cast<int>(sample.ones[mode].size());
  out.expected = best;
  out.ties = ties;
  out.margin = second >= 0 ? best - second : nan;
  return out;
}

FDecision sizes_best(const SizeTable& sizes, double beta) {
  if (sizes.size.size() == 0) return f_gfm(MatrixXd::Zero(sizes.p.rows(), sizes.p.rows()), sizes.none);
  return f_gfm(delta_matrix(sizes.p, sizes.size, beta), sizes.none);
}

// Best of the sets {k most probable labels} under the joint law itself.
FDecision best_threshold(const LabelSample& sample, const FOptions& options) {
  const VectorXd p = sample.marginals();
  const std::vector<int> order = falling(p);
  VectorXi rank(sample.labels);
  for (std::size_t k = 0; k < order.size(); ++k) rank[order[k]] = static_cast<int>(k);
  VectorXd curve = VectorXd::Zero(sample.labels + 1);
  std::vector<double> hits(order.size() + 1);
  for (std::size_t r = 0; r < sample.ones.size(); ++r) {
    std::fill(hits.begin(), hits.end(), 0.0);
    for (const int i : sample.ones[r]) hits[static_cast<std::size_t>(rank[i]) + 1] = 1;
    const double truth = static_cast<double>(sample.ones[r].size());
    double both = 0;
    for (std::size_t k = 0; k < hits.size(); ++k) {
      both += hits[k];
      curve[static_cast<Index>(k)] += sample.weight[r] * f_value(both, truth, static_cast<double>(k), options.beta);
    }
  }
  FDecision out = top_set(p, order, std::move(curve));
  out.exact = false;
  return out;
}

// The best of every vector drawn and every h^(k): a heuristic, but exact where the best vector is among them.
FDecision jaccard_sample(const LabelSample& sample, const FOptions& options, Monitor& monitor) {
  const SizeTable sizes = size_table(sample);
  std::vector<std::vector<int>> candidates = sample.ones;
  if (sizes.size.size() > 0) {
    const MatrixXd delta = delta_matrix(sizes.p, sizes.size, 1);
    for (Index k = 1; k <= sample.labels; ++k) {
      std::vector<int> order = falling(delta.col(k - 1));
      order.resize(static_cast<std::size_t>(k));
      std::sort(order.begin(), order.end());
      candidates.push_back(std::move(order));
    }
  }
  candidates.emplace_back();
  std::stable_sort(candidates.begin(), candidates.end());
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  FDecision out;
  out.expected = -1;
  for (const auto& candidate : candidates) {
    monitor.check();
    const VectorXi h = as_vector(candidate, sample.labels);
    const double value = expectation(sample, h, options).mean;
    if (value > out.expected + rounding) {
      out.margin = out.expected >= 0 ? value - out.expected : nan;
      out.expected = value;
      out.labels = h;
      out.ties = 1;
    } else {
      if (std::abs(value - out.expected) <= rounding) ++out.ties;
      out.margin = std::isnan(out.margin) ? out.expected - value : std::min(out.margin, out.expected - value);
    }
  }
  out.k = out.labels.sum();
  out.exact = false;
  return out;
}

}  // namespace

FDecision decide_marginals(ConstVectorRef p, const FOptions& options, Monitor& monitor) {
  switch (options.target) {
    case FTarget::hamming:
      return modes(p, FTarget::hamming);
    case FTarget::subset:
      return modes(p, FTarget::subset);
    case FTarget::jaccard:
      return jaccard_independent(p, options.empty, monitor);
    case FTarget::f:
      break;
  }
  if (options.method == FMethod::categorical) return f_categorical(p, options.beta);
  if (options.method == FMethod::lewis) return f_lewis(p, options.beta);
  return f_independent(p, options, monitor);
}

FDecisions decide_rows(ConstMatrixRef p, const FOptions& options, Monitor& monitor) {
  const Index n = p.rows();
  FDecisions out;
  out.labels.resize(n, p.cols());
  out.expected.resize(n);
  out.threshold.resize(n);
  out.margin.resize(n);
  out.k.resize(n);
  out.ties.resize(n);
  parallel_for(n, options.threads, monitor, [&](Index i) {
    const FDecision one = decide_marginals(p.row(i).transpose(), options, monitor);
    out.labels.row(i) = one.labels.transpose();
    out.expected[i] = one.expected;
    out.threshold[i] = one.threshold;
    out.margin[i] = one.margin;
    out.k[i] = one.k;
    out.ties[i] = one.ties;
  });
  return out;
}

FDecision decide_sample(const LabelSample& sample, const FOptions& options, Monitor& monitor) {
  FDecision out;
  const VectorXd p = sample.marginals();
  if (options.target == FTarget::jaccard) {
    out = jaccard_sample(sample, options, monitor);
  } else if (options.target == FTarget::subset) {
    out = joint_mode(sample);
  } else if (options.target == FTarget::hamming) {
    out = modes(p, FTarget::hamming);
  } else if (options.method == FMethod::threshold) {
    out = best_threshold(sample, options);
  } else if (options.method == FMethod::automatic || options.method == FMethod::gfm) {
    out = sizes_best(size_table(sample), options.beta);
  } else {  // a plug-in: what it expects is not what it gets
    out = decide_marginals(p, options, monitor);
    out.exact = false;
  }
  const Expectation truth = expectation(sample, out.labels, options);
  out.expected = truth.mean;
  out.error = truth.error;
  out.threshold = smallest_chosen(out.labels, p);
  return out;
}

FDecision decide_delta(ConstMatrixRef delta, double none) { return f_gfm(delta, none); }

FDecision decide_sizes(ConstMatrixRef p, ConstVectorRef size, double none, double beta) {
  FDecision out = f_gfm(delta_matrix(p, size, beta), none);
  out.threshold = smallest_chosen(out.labels, p.rowwise().sum());
  return out;
}

}  // namespace granary::ensemble
