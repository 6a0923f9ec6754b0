#include "ensemble/method_table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/math/special.h"
#include "core/math/student_t.h"
#include "core/math/studentized_range.h"

namespace granary::ensemble {

namespace {

const double none = std::numeric_limits<double>::quiet_NaN();

double mean_of_known(const VectorXd& v, Index& count) {
  double sum = 0;
  count = 0;
  for (Index i = 0; i < v.size(); ++i) {
    if (std::isnan(v[i])) continue;
    sum += v[i];
    ++count;
  }
  return count > 0 ? sum / static_cast<double>(count) : none;
}

// Ranks from 1, ties averaged, the smallest first. `tie_cubes` gets the sum of t^3 - t.
void rank_values(const std::vector<double>& values, std::vector<Index>& order, std::vector<double>& rank, double* tie_cubes =
    nullptr) {
  const std::size_t n = values.size();
  order.resize(n);
  rank.resize(n);
  std::iota(order.begin(), order.end(), Index(0));
  std::sort(order.begin(), order.end(), [&](Index a, Index b) {
      return values[static_cast<std::size_t>(a)] < values[static_cast<std::size_t>(b)]; });
  if (tie_cubes) *tie_cubes = 0;
  for (std::size_t i = 0; i < n;) {
    std::size_t j = i + 1;
    const double at = values[static_cast<std::size_t>(order[i])];
    while (j < n && values[static_cast<std::size_t>(order[j])] == at) ++j;
    const double shared = 0.5 * static_cast<double>(i + 1 + j), size = static_cast<double>(j - i);
    for (std::size_t l = i; l < j; ++l) rank[static_cast<std::size_t>(order[l])] = shared;
    if (tie_cubes) *tie_cubes += size * size * size - size;
    i = j;
  }
}

void check_table(ConstMatrixRef a) {
  if (a.rows() < 1 || a.cols() < 2) throw InputError("a comparison needs at least one data set and two methods.");
  for (Index j = 0; j < a.cols(); ++j)
    if (a.col(j).array().isNaN().all()) throw InputError(message("method ", j + 1, " has no value on any data set."));
  for (Index i = 0; i < a.rows(); ++i)
    if (a.row(i).array().isNaN().all()) throw InputError(message("data set ", i + 1, " has no value of any method."));
}

double best_of(ConstMatrixRef a, Index i, bool maximize) {
  double best = none;
  for (Index j = 0; j < a.cols(); ++j) {
    const double v = a(i, j);
    if (!std::isnan(v) && (std::isnan(best) || (maximize ? v > best : v < best))) best = v;
  }
  return best;
}

}  // namespace

MatrixXd ratio_to_best(ConstMatrixRef a, bool maximize) {
  MatrixXd out(a.rows(), a.cols());
  for (Index i = 0; i < a.rows(); ++i) {
    const double best = best_of(a, i, maximize);
    for (Index j = 0; j < a.cols(); ++j) {
      const double v = a(i, j);
      if (!std::isnan(v) && (v < 0 || !(best >= 0))) return MatrixXd(0, 0);
      // 0 over 0: as good as the best
      out(i, j) = std::isnan(v) ? none : v == best ? 1 : maximize ? v / best : best / v;
    }
  }
  return out;
}

MatrixXd performance_profile(ConstMatrixRef a, bool maximize, ConstVectorRef thresholds) {
  const MatrixXd ratio = ratio_to_best(a, maximize);
  if (ratio.size() == 0) throw InputError("a performance profile needs values that are not negative.");
  MatrixXd out = MatrixXd::Zero(thresholds.size(), a.cols());
  for (Index j = 0; j < a.cols(); ++j)
    for (Index t = 0; t < thresholds.size(); ++t) out(t, j) =
        static_cast<double>((ratio.col(j).array() >= thresholds[t]).count());
  return out / static_cast<double>(a.rows());
}

MethodTable method_table(ConstMatrixRef a, const MethodOptions& o) {
  check_table(a);
  const Index n = a.rows(), k = a.cols();
  MethodTable out;
  out.ranks.resize(n, k);
  std::vector<double> values(static_cast<std::size_t>(k)), rank;
  std::vector<Index> order;
  for (Index i = 0; i < n; ++i) {
    Index known = 0;
    const double filler = mean_of_known(a.row(i).transpose(), known);
    for (Index j = 0; j < k; ++j) {
      const double v = std::isnan(a(i, j)) ? filler : a(i, j);
      values[static_cast<std::size_t>(j)] = o.maximize ? -v : v;
    }
    rank_values(values, order, rank);
    for (Index j = 0; j < k; ++j) out.ranks(i, j) = rank[static_cast<std::size_t>(j)];
  }
  out.mean_rank = out.ranks.colwise().mean().transpose();
  out.mean.resize(k);
  out.sd.resize(k);
  out.failed.resize(k);
  for (Index j = 0; j < k; ++j) {
    Index known = 0;
    out.mean[j] = mean_of_known(a.col(j), known);
    double square = 0;
    for (Index i = 0; i < n; ++i)
      if (!std::isnan(a(i, j))) square += (a(i, j) - out.mean[j]) * (a(i, j) - out.mean[j]);
    out.sd[j] = known > 1 ? std::sqrt(square / static_cast<double>(known - 1)) : none;
    out.failed[j] = static_cast<double>(n - known);
  }
  const MatrixXd ratio = ratio_to_best(a, o.maximize);
  out.pama = out.reach = out.pma = VectorXd::Constant(k, none);
  VectorXd top(n);
  for (Index i = 0; i < n; ++i) top[i] = best_of(a, i, o.maximize);
  for (Index j = 0; j < k; ++j) {
    double best = 0, near = 0;
    for (Index i = 0; i < n; ++i) {
      best += a(i, j) == top[i];
      if (ratio.size() > 0) near += ratio(i, j) >= o.level;
    }
    out.pama[j] = 100 * best / static_cast<double>(n);
    if (ratio.size() == 0) continue;
    out.reach[j] = 100 * near / static_cast<double>(n);
    Index known = 0;
    out.pma[j] = 100 * mean_of_known(ratio.col(j), known);
  }
  const double rows = static_cast<double>(n), methods = static_cast<double>(k), middle = (methods + 1) / 2;
  const double spread = (out.ranks.array() - middle).square().sum();
  out.chi2_df = methods - 1;
  out.f_df1 = methods - 1;
  out.f_df2 = (methods - 1) * (rows - 1);
  if (spread > 0) {
    out.chi2 = (methods - 1) * rows * rows * (out.mean_rank.array() - middle).square().sum() / spread;
    out.chi2_p = gamma_q((methods - 1) / 2, out.chi2 / 2);
    const double rest = rows * (methods - 1) - out.chi2;
    if (n > 1) {
      out.f = rest > 1e-12 * out.chi2 ? (rows - 1) * out.chi2 / rest : std::numeric_limits<double>::infinity();
      out.f_p = std::isinf(out.f) ? 0 : beta_q(out.f_df1 / 2, out.f_df2 / 2, out.f_df1 * out.f / (out.f_df1 * out.f + out.f_df2));
    } else {
      out.f = out.f_p = none;
    }
  } else {
    out.chi2 = 0;  // all tied everywhere
    out.f = 0;
  }
  out.critical = normal_range_quantile(1 - o.alpha, k) / std::sqrt(2.0) * std::sqrt(methods * (methods + 1) / (6 * rows));
  return out;
}

VectorXd row_weights(ConstMatrixRef a, ConstVectorRef size, MethodWeight kind, const MethodOptions& o) {
  const Index n = a.rows();
  VectorXd w(n);
  if (kind == MethodWeight::complexity) {
    for (Index i = 0; i < n; ++i) {
      const double best = best_of(a, i, o.maximize) / o.scale;
      w[i] = o.maximize ? 1 - best : best;
    }
  } else {
    require(size.size() == n, "there must be one size per data set.");
    w = kind == MethodWeight::proportional ? VectorXd(size) : VectorXd(size.maxCoeff() - size.array());
  }
  const double sum = w.sum();
  if (!(w.minCoeff() >= 0)) throw InputError("weights of data sets must not be negative: is the scale of the values right?");
  if (!(sum > 0)) return VectorXd::Ones(n);  // all alike
  return w * (static_cast<double>(n) / sum);
}

std::vector<std::vector<Index>> rank_groups(ConstVectorRef rank, double critical) {
  std::vector<std::vector<Index>> out;
  Index reached = -1;
  for (Index i = 0; i < rank.size(); ++i) {
    Index j = i;
    while (j + 1 < rank.size() && rank[j + 1] - rank[i] <= critical) ++j;
    if (j > i && j > reached) out.push_back({i, j});
    reached = std::max(reached, j);
  }
  return out;
}

SignedRank signed_rank(ConstVectorRef difference) {
  std::vector<double> size;
  std::vector<char> up;
  for (Index i = 0; i < difference.size(); ++i) {
    if (difference[i] == 0 || std::isnan(difference[i])) continue;
    size.push_back(std::abs(difference[i]));
    up.push_back(difference[i] > 0);
  }
  SignedRank out;
  const std::size_t n = size.size();
  if (n == 0) return out;
  std::vector<Index> order;
  std::vector<double> rank;
  double cubes = 0;
  rank_values(size, order, rank, &cubes);
  for (std::size_t i = 0; i < n; ++i)
    if (up[i]) out.v += rank[i];
  const double count = static_cast<double>(n), total = count * (count + 1) / 2;
  if (n <= 50) {
    // law of the sum of doubled ranks with fair signs
    out.exact = true;
    std::vector<double> law(static_cast<std::size_t>(std::lround(2 * total)) + 1, 0);
    law[0] = 1;
    std::size_t top = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t step = static_cast<std::size_t>(std::lround(2 * rank[i]));
      top += step;
      for (std::size_t s = top + 1; s-- > 0;) law[s] = 0.5 * (law[s] + (s >= step ? law[s - step] : 0.0));
    }
    const std::size_t seen = static_cast<std::size_t>(std::lround(2 * std::min(out.v, total - out.v)));
    double tail = 0;
    for (std::size_t s = 0; s <= seen; ++s) tail += law[s];
    out.p = std::min(1.0, 2 * tail);
    return out;
  }
  const double away = out.v - total / 2, variance = count * (count + 1) * (2 * count + 1) / 24 - cubes / 48;
  const double z = (std::abs(away) - 0.5) / std::sqrt(variance);
  out.p = std::min(1.0, 2 * normal_cdf(-std::max(z, 0.0)));
  return out;
}

BayesShares bayes_signed_rank(ConstVectorRef difference, double rope, double prior, int n_draws, Rng& rng) {
  std::vector<double> z{0};
  for (Index i = 0; i < difference.size(); ++i)
    if (!std::isnan(difference[i])) z.push_back(difference[i]);
  const std::size_t n = z.size();
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return z[a] < z[b]; });
  // of each place, how many others make an average above rope, and below -rope with it
  std::vector<std::size_t> from(n), until(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto value = [&](std::size_t at) { return z[order[at]]; };
    std::size_t low = 0, high = n;
    while (low < high) {
      const std::size_t mid = (low + high) / 2;
      if (value(i) + value(mid) > 2 * rope) high = mid; else low = mid + 1;
    }
    from[i] = low;
    low = 0;
    high = n;
    while (low < high) {
      const std::size_t mid = (low + high) / 2;
      if (value(i) + value(mid) < -2 * rope) low = mid + 1; else high = mid;
    }
    until[i] = low;
  }
  BayesShares out;
  std::vector<double> w(n), cumulative(n + 1);
  for (int draw = 0; draw < n_draws; ++draw) {
    for (std::size_t i = 0; i < n; ++i) w[i] = order[i] == 0 ? rng.gamma(prior) : rng.exponential();
    cumulative[0] = 0;
    for (std::size_t i = 0; i < n; ++i) cumulative[i + 1] = cumulative[i] + w[i];
    const double sum = cumulative[n];
    double above = 0, below = 0;
    for (std::size_t i = 0; i < n; ++i) {
      above += w[i] * (sum - cumulative[from[i]]);
      below += w[i] * cumulative[until[i]];
    }
    const double inside = sum * sum - above - below, most = std::max({above, below, inside});
    const double ties = static_cast<double>((above == most) + (below == most) + (inside == most));
    out.above += (above == most) / ties;
    out.below += (below == most) / ties;
    out.inside += (inside == most) / ties;
  }
  out.above /= n_draws;
  out.below /= n_draws;
  out.inside /= n_draws;
  return out;
}

namespace {

// P(range > q) at many q: cubic interpolation of its logarithm between values on a grid, with slopes from differences.
class RangeTail {
 public:
  explicit RangeTail(Index k) : k_(k) {
    for (int i = 0; i <= cells; ++i) log_.push_back(std::log(std::max(normal_range_upper(width * i, k), 1e-300)));
  }
  double operator()(double q) const {
    const double place = q / width;
    const int i = static_cast<int>(place);
    if (i < 1 || i + 2 > cells) return normal_range_upper(q, k_);
    const double u = place - i;
    const auto at = [&](int d) { return log_[static_cast<std::size_t>(i + d)]; };
    // Lagrange's cubic through four neighbours
    return std::exp(-u * (u - 1) * (u - 2) / 6 * at(-1) + (u + 1) * (u - 1) * (u - 2) / 2 * at(0) - (u + 1) * u * (u - 2) / 2 *
        at(1) +
                    (u + 1) * u * (u - 1) / 6 * at(2));
  }

 private:
  static constexpr int cells = 1200;
  static constexpr double width = 0.01;
  Index k_;
  std::vector<double> log_;
};

PairTest one_pair(ConstMatrixRef a, Index first, Index second, const PairOptions& o, Rng rng) {
  PairTest p;
  p.first = first;
  p.second = second;
  std::vector<double> kept;
  for (Index i = 0; i < a.rows(); ++i) {
    const double d = o.maximize ? a(i, first) - a(i, second) : a(i, second) - a(i, first);
    if (std::isnan(d)) continue;
    kept.push_back(d);
    (d > 0 ? p.wins : d < 0 ? p.losses : p.ties) += 1;
    (d > 0 ? p.gain : p.loss) += std::abs(d);
  }
  const VectorXd d = Eigen::Map<const VectorXd>(kept.data(), static_cast<Index>(kept.size()));
  const double n = static_cast<double>(d.size());
  p.t = p.t_p = p.conf_low = p.conf_high = p.below = p.inside = p.above = none;
  p.difference = p.w = p.w_p = p.sign_p = none;
  if (d.size() == 0) return p;
  p.difference = d.mean();
  const SignedRank w = signed_rank(d);
  p.w = w.v;
  p.w_p = w.p;
  const double moved = p.wins + p.losses;
  p.sign_p = moved > 0 ? std::min(1.0, 2 * beta_q(std::min(p.wins, p.losses) + 1, moved - std::min(p.wins, p.losses), 0.5)) : 1;
  if (d.size() > 1) {
    const double se = std::sqrt((d.array() - p.difference).square().sum() / (n - 1) / n);
    const double half = se > 0 ? student_t_quantile(0.5 + o.conf / 2, n - 1) * se : 0;
    p.t = se > 0 ? p.difference / se : p.difference == 0 ? 0 :
        std::copysign(std::numeric_limits<double>::infinity(), p.difference);
    p.t_p = 2 * student_t_cdf(-std::abs(p.t), n - 1);
    p.conf_low = p.difference - half;
    p.conf_high = p.difference + half;
  }
  if (o.n_draws > 0) {
    const BayesShares b = bayes_signed_rank(d, o.rope, o.prior, o.n_draws, rng);
    p.below = b.below;
    p.inside = b.inside;
    p.above = b.above;
  }
  return p;
}

}  // namespace

std::vector<PairTest> pair_tests(ConstMatrixRef a, ConstVectorRef mean_rank, const PairOptions& o, std::uint64_t seed, Monitor&
    monitor) {
  require(o.first.size() == o.second.size(), "pairs have two methods each.");
  const Index k = a.cols();
  const double unit = std::sqrt(static_cast<double>(k) * static_cast<double>(k + 1) / (6 * static_cast<double>(a.rows())));
  const RangeTail tail(k);
  std::vector<PairTest> out(o.first.size());
  const Rng root(seed);
  parallel_for(static_cast<Index>(out.size()), o.threads, monitor, [&](Index at) {
    if (at % 64 == 0 || o.n_draws > 0) monitor.check();
    const std::size_t p = static_cast<std::size_t>(at);
    require(o.first[p] >= 0 && o.first[p] < k && o.second[p] >= 0 && o.second[p] < k, "a pair names a method that is not there.");
    out[p] = one_pair(a, o.first[p], o.second[p], o, root.stream(static_cast<std::uint64_t>(at)));
    out[p].rank_difference = mean_rank[o.first[p]] - mean_rank[o.second[p]];
    out[p].nemenyi_p = tail(std::abs(out[p].rank_difference) / unit * std::sqrt(2.0));
  });
  return out;
}

}  // namespace granary::ensemble
