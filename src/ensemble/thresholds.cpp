#include "ensemble/thresholds.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <queue>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/linalg/dense.h"

namespace granary::ensemble {

namespace {

const double infinity = std::numeric_limits<double>::infinity();
const double none = std::numeric_limits<double>::quiet_NaN();

// Distinct x in order, with the cost of calling each positive or negative.
struct Blocks {
  std::vector<double> x, positive, negative;  // costs of the label -1 (the positives' weight) and of 1
  double weight = 0, scale = 0;
  std::size_t size() const { return x.size(); }
};

Blocks blocks_of(ConstVectorRef x, ConstVectorRef y, ConstVectorRef weight, const ThresholdOptions& o) {
  const Index n = x.size();
  if (y.size() != n || weight.size() != n) throw InputError(message("there must be one label and one weight per row, ", n, "."));
  require(o.false_positive > 0 && o.false_negative > 0, "costs must be above 0.");
  std::vector<Index> order;
  for (Index i = 0; i < n; ++i) {
    if (!(weight[i] >= 0)) throw InputError("weights must not be negative.");
    if (weight[i] > 0) order.push_back(i);
  }
  if (order.empty()) throw InputError("there must be at least one row with a weight.");
  std::sort(order.begin(), order.end(), [&](Index a, Index b) { return x[a] < x[b]; });
  Blocks out;
  for (const Index i : order) {
    if (out.x.empty() || out.x.back() != x[i]) {
      out.x.push_back(x[i]);
      out.positive.push_back(0);
      out.negative.push_back(0);
    }
    (y[i] > 0 ? out.positive : out.negative).back() += weight[i] * (y[i] > 0 ? o.false_negative : o.false_positive);
    out.weight += weight[i];
  }
  for (std::size_t b = 0; b < out.size(); ++b) out.scale += out.positive[b] + out.negative[b];
  return out;
}

// (cuts, error above the least possible) for ends of label b and L, from many cuts to few.
struct Step {
  Index cuts;
  double error;
};
std::vector<Step> merge_path(const Blocks& blocks, int b, int last) {
  std::vector<double> weight{infinity};
  std::vector<int> sign{b};
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const double d = blocks.positive[i] - blocks.negative[i];
    if (d == 0) continue;
    const int s = d > 0 ? 1 : -1;
    if (s == sign.back()) {
      weight.back() += std::abs(d);
    } else {
      weight.push_back(std::abs(d));
      sign.push_back(s);
    }
  }
  if (sign.back() == last && weight.size() > 1) {
    weight.back() = infinity;
  } else if (sign.back() != last) {
    weight.push_back(infinity);
    sign.push_back(last);
  }
  const std::size_t n = weight.size();
  std::vector<std::size_t> before(n), after(n);
  std::vector<char> gone(n, 0);
  using Entry = std::pair<double, std::size_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> heap;
  for (std::size_t i = 0; i < n; ++i) {
    before[i] = i == 0 ? n : i - 1;
    after[i] = i + 1;
    if (i > 0 && i + 1 < n) heap.push({weight[i], i});
  }
  Index cuts = static_cast<Index>(n) - 1;
  double error = 0;
  std::vector<Step> out{{cuts, error}};
  while (!heap.empty()) {
    const auto [w, i] = heap.top();
    heap.pop();
    if (gone[i] || w != weight[i]) continue;
    // the two neighbours and this run become one, in the place of the left one
    const std::size_t left = before[i], right = after[i];
    error += w;
    gone[i] = gone[right] = 1;
    weight[left] = weight[left] + weight[right] - w;
    after[left] = after[right];
    if (after[left] < n) before[after[left]] = left;
    cuts -= 2;
    out.push_back({cuts, error});
    if (left > 0 && after[left] < n) heap.push({weight[left], left});
  }
  return out;
}

double base_cost(const Blocks& blocks) {
  double sum = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) sum += std::min(blocks.positive[i], blocks.negative[i]);
  return sum;
}

// Least cost with at most 0, 1, ..., most cuts, first label b.
std::vector<double> least_cost(const Blocks& blocks, int b, Index most) {
  std::vector<double> out(static_cast<std::size_t>(most) + 1, infinity);
  const double base = base_cost(blocks);
  for (const int last : {-1, 1})
    for (const Step& step : merge_path(blocks, b, last))
      if (step.cuts <= most) out[static_cast<std::size_t>(step.cuts)] =
          std::min(out[static_cast<std::size_t>(step.cuts)], base + step.error);
  for (std::size_t k = 1; k < out.size(); ++k) out[k] = std::min(out[k], out[k - 1]);
  return out;
}

// Costs before and after: sums of the first i blocks under each label.
struct Sums {
  std::vector<double> negative{0}, positive{0};  // cost of calling all of them -1, 1
  explicit Sums(const Blocks& blocks) {
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      negative.push_back(negative.back() + blocks.positive[i]);
      positive.push_back(positive.back() + blocks.negative[i]);
    }
  }
  double operator()(std::size_t from, std::size_t to, int label) const {
    return label > 0 ? positive[to] - positive[from] : negative[to] - negative[from];
  }
};

int label_of(int first, std::size_t region) { return region % 2 == 0 ? first : -first; }

// forward[k][i]: least cost of the first i blocks in regions 0, ..., k in order, region k the last (it may be empty).
struct Tables {
  std::vector<std::vector<double>> forward, backward;
  double best = 0;
};
Tables dynamic_programme(const Blocks& blocks, int first, std::size_t cuts) {
  const std::size_t m = blocks.size();
  const auto cost = [&](std::size_t i, std::size_t region) {
    return label_of(first, region) > 0 ? blocks.negative[i] : blocks.positive[i];
  };
  Tables t;
  t.forward.assign(cuts + 1, std::vector<double>(m + 1, 0));
  t.backward.assign(cuts + 1, std::vector<double>(m + 1, 0));
  for (std::size_t k = 0; k <= cuts; ++k)
    for (std::size_t i = 0; i <= m; ++i) {
      const double stay = i == 0 ? (k == 0 ? 0 : infinity) : t.forward[k][i - 1] + cost(i - 1, k);
      t.forward[k][i] = k == 0 ? stay : std::min(stay, t.forward[k - 1][i]);
    }
  for (std::size_t k = cuts + 1; k-- > 0;)
    for (std::size_t i = m + 1; i-- > 0;) {
      const double stay = i == m ? (k == cuts ? 0 : infinity) : t.backward[k][i + 1] + cost(i, k);
      t.backward[k][i] = k == cuts ? stay : std::min(stay, t.backward[k + 1][i]);
    }
  t.best = t.forward[cuts][m];
  return t;
}

// The threshold of a cut before block i.
double place_of(const Blocks& blocks, std::size_t i) {
  if (i == 0) return -infinity;
  if (i == blocks.size()) return infinity;
  const double middle = blocks.x[i - 1] + (blocks.x[i] - blocks.x[i - 1]) / 2;
  return middle > blocks.x[i - 1] ? middle : blocks.x[i];
}

std::vector<std::size_t> trace(const Blocks& blocks, const Tables& t, int first, std::size_t cuts, double slack) {
  const Sums sums(blocks);
  std::vector<std::size_t> at(cuts);
  std::size_t right = blocks.size();
  for (std::size_t k = cuts; k-- > 0;) {
    std::vector<std::size_t> fits;
    for (std::size_t i = 0; i <= right; ++i) {
      const double after = k + 1 == cuts ? t.backward[k + 1][i] : sums(i, right, label_of(first, k + 1)) +
          t.backward[k + 2][right];
      if (t.forward[k][i] + after <= t.best + slack) fits.push_back(i);
    }
    // not on the cut to the right: an empty region is not wanted
    if (k + 1 < cuts && fits.size() > 1 && fits.back() == right) fits.pop_back();
    at[k] = fits[fits.size() / 2];
    right = at[k];
  }
  return at;
}

}  // namespace

ThresholdFit thresholds(ConstVectorRef x, ConstVectorRef y, ConstVectorRef weight, const ThresholdOptions& o) {
  require(o.k >= 0, "the number of cuts must not be negative.");
  const Blocks blocks = blocks_of(x, y, weight, o);
  ThresholdFit out;
  out.distinct = static_cast<Index>(blocks.size());
  const Index most = static_cast<Index>(blocks.size()) + 1;
  std::vector<double> negative, positive;
  if (o.first != FirstLabel::positive) negative = least_cost(blocks, -1, most);
  if (o.first != FirstLabel::negative) positive = least_cost(blocks, 1, most);
  const double slack = 1e-12 * blocks.scale;
  std::vector<double> best(static_cast<std::size_t>(most) + 1, infinity);
  for (std::size_t k = 0; k < best.size(); ++k)
    best[k] = std::min(negative.empty() ? infinity : negative[k], positive.empty() ? infinity : positive[k]);
  std::size_t last = 0;
  for (std::size_t k = 1; k < best.size(); ++k)
    if (best[k] < best[last] - slack) last = k;
  out.path.resize(static_cast<Index>(last) + 1);
  for (std::size_t k = 0; k <= last; ++k) out.path[static_cast<Index>(k)] = best[k] / blocks.weight;
  std::size_t cuts = std::min<std::size_t>(static_cast<std::size_t>(o.k), last);
  while (cuts > 0 && best[cuts - 1] <= best[cuts] + slack) --cuts;
  out.first = negative.empty() || (!positive.empty() && positive[cuts] < negative[cuts] - slack) ? 1 : -1;
  const Tables t = dynamic_programme(blocks, out.first, cuts);
  const std::vector<std::size_t> at = trace(blocks, t, out.first, cuts, slack);
  out.risk = t.best / blocks.weight;
  out.thresholds.resize(static_cast<Index>(cuts));
  out.low = out.high = out.thresholds;
  std::vector<double> from, to;
  const auto left_of = [&](std::size_t i) { return i == 0 ? -infinity : blocks.x[i - 1]; };
  const auto right_of = [&](std::size_t i) { return i == blocks.size() ? infinity : blocks.x[i]; };
  for (std::size_t k = 0; k < cuts; ++k) {
    const Index row = static_cast<Index>(k);
    out.thresholds[row] = place_of(blocks, at[k]);
    std::size_t open = blocks.size() + 1;
    out.low[row] = infinity;
    out.high[row] = -infinity;
    for (std::size_t i = 0; i <= blocks.size() + 1; ++i) {
      const bool fits = i <= blocks.size() && t.forward[k][i] + t.backward[k + 1][i] <= t.best + slack;
      if (fits && open > blocks.size()) open = i;
      if (fits) {
        out.low[row] = std::min(out.low[row], left_of(i));
        out.high[row] = std::max(out.high[row], right_of(i));
      }
      if (!fits && open <= blocks.size()) {
        out.cut.push_back(static_cast<int>(k));
        from.push_back(left_of(open));
        to.push_back(right_of(i - 1));
        open = blocks.size() + 1;
      }
    }
  }
  out.from = Eigen::Map<const VectorXd>(from.data(), static_cast<Index>(from.size()));
  out.to = Eigen::Map<const VectorXd>(to.data(), static_cast<Index>(to.size()));
  return out;
}

VectorXd threshold_labels(ConstVectorRef x, ConstVectorRef cuts, int first) {
  VectorXd out(x.size());
  for (Index i = 0; i < x.size(); ++i) {
    const Index below = (cuts.array() <= x[i]).count();
    out[i] = label_of(first, static_cast<std::size_t>(below));
  }
  return out;
}

double threshold_risk(ConstVectorRef x, ConstVectorRef y, ConstVectorRef weight, ConstVectorRef cuts, const ThresholdOptions& o,
    int first) {
  const VectorXd label = threshold_labels(x, cuts, first);
  double sum = 0;
  for (Index i = 0; i < x.size(); ++i)
    if ((label[i] > 0) != (y[i] > 0)) sum += weight[i] * (y[i] > 0 ? o.false_negative : o.false_positive);
  return sum / weight.sum();
}

MatrixXd resampled_thresholds(ConstVectorRef x, ConstVectorRef y, ConstVectorRef weight, const ThresholdOptions& o,
                              const ResampleOptions& r, Rng& rng, Monitor& monitor) {
  const Index n = x.size();
  require(r.size >= 1 && (r.replace || r.size <= n), "a resample has between one and all rows.");
  MatrixXd out = MatrixXd::Constant(r.n_draws, o.k, none);
  const Rng root = rng;
  parallel_for(r.n_draws, r.threads, monitor, [&](Index draw) {
    monitor.check();
    Rng own = root.stream(static_cast<std::uint64_t>(draw));
    std::vector<int> rows;
    if (r.replace) {
      for (Index i = 0; i < r.size; ++i) rows.push_back(static_cast<int>(own.below(static_cast<std::uint64_t>(n))));
    } else {
      rows = own.sample_without_replacement(static_cast<int>(n), static_cast<int>(r.size));
    }
    VectorXd xs(r.size), ys(r.size), ws(r.size);
    for (Index i = 0; i < r.size; ++i) {
      xs[i] = x[rows[static_cast<std::size_t>(i)]];
      ys[i] = y[rows[static_cast<std::size_t>(i)]];
      ws[i] = weight[rows[static_cast<std::size_t>(i)]];
    }
    const ThresholdFit fit = thresholds(xs, ys, ws, o);
    if (fit.thresholds.size() == o.k) out.row(draw) = fit.thresholds.transpose();
  });
  return out;
}

LocalFit local_fit(ConstVectorRef x, ConstVectorRef y, ConstVectorRef weight, ConstVectorRef at, double slope_width,
    double density_width,
                   Index nearest) {
  require(slope_width > 0 && density_width > 0, "widths must be above 0.");
  const Index m = at.size(), n = x.size();
  LocalFit out;
  out.prob = out.slope = out.density = out.left = out.right = VectorXd::Constant(m, none);
  const double total = weight.sum();
  for (Index k = 0; k < m; ++k) {
    MatrixXd gram = MatrixXd::Zero(3, 3);
    VectorXd right = VectorXd::Zero(3);
    double density = 0;
    std::vector<std::pair<double, Index>> below, above;
    for (Index i = 0; i < n; ++i) {
      if (weight[i] == 0) continue;
      const double d = x[i] - at[k], u = d / slope_width, z = d / density_width;
      density += weight[i] * std::exp(-0.5 * z * z);
      (d < 0 ? below : above).push_back({std::abs(d), i});
      if (std::abs(u) >= 1) continue;
      const double w = weight[i] * (1 - u * u);
      const Eigen::Matrix<double, 3, 1> basis(1, u, u * u);
      gram += w * basis * basis.transpose();
      right += w * (y[i] > 0) * basis;
    }
    out.density[k] = density / (total * density_width * std::sqrt(2 * 3.14159265358979323846));
    const Llt factor(gram);
    if (factor.info() == Eigen::Success && factor.matrixLLT()(2, 2) > 1e-6 * std::sqrt(gram(0, 0))) {
      const VectorXd b = factor.solve(right);
      out.prob[k] = b[0];
      out.slope[k] = b[1] / slope_width;
    }
    const auto share = [&](std::vector<std::pair<double, Index>>& side) {
      const std::size_t take = std::min<std::size_t>(static_cast<std::size_t>(nearest), side.size());
      if (take == 0) return none;
      std::partial_sort(side.begin(), side.begin() + static_cast<std::ptrdiff_t>(take), side.end());
      double sum = 0, up = 0;
      for (std::size_t i = 0; i < take; ++i) {
        sum += weight[side[i].second];
        up += weight[side[i].second] * (y[side[i].second] > 0);
      }
      return up / sum;
    };
    out.left[k] = share(below);
    out.right[k] = share(above);
  }
  return out;
}

CutProfile cut_profile(ConstVectorRef x, ConstVectorRef y, ConstVectorRef weight, ConstVectorRef cuts, Index cut,
                       const ThresholdOptions& o, int first) {
  require(cut >= 0 && cut < cuts.size(), "there is no such cut.");
  const Blocks blocks = blocks_of(x, y, weight, o);
  const double low = cut == 0 ? -infinity : cuts[cut - 1], high = cut + 1 == cuts.size() ? infinity : cuts[cut + 1];
  const int left = label_of(first, static_cast<std::size_t>(cut));
  std::vector<double> place, excess;
  double cost = 0;
  // all between the neighbouring cuts called as right of this one, then one block after the other as left of it
  for (std::size_t i = 0; i <= blocks.size(); ++i) {
    if (i > 0) {
      const double at = blocks.x[i - 1];
      if (at >= low && at < high) {
        const double as_left = left > 0 ? blocks.negative[i - 1] : blocks.positive[i - 1],
                     as_right = left > 0 ? blocks.positive[i - 1] : blocks.negative[i - 1];
        cost += as_left - as_right;
      }
    }
    const double here = i < blocks.size() ? blocks.x[i] : infinity;
    if ((i == 0 || blocks.x[i - 1] >= low || here >= low) && (i == 0 || blocks.x[i - 1] < high)) {
      place.push_back(i == 0 ? -infinity : blocks.x[i - 1]);
      excess.push_back(cost);
    }
  }
  CutProfile out;
  out.place = Eigen::Map<const VectorXd>(place.data(), static_cast<Index>(place.size()));
  out.excess = Eigen::Map<const VectorXd>(excess.data(), static_cast<Index>(excess.size()));
  out.excess.array() -= out.excess.minCoeff();
  return out;
}

}  // namespace granary::ensemble
