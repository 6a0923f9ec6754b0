#include "core/math/frequency_table.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/base/errors.h"

namespace granary {
namespace {

constexpr double largest = 9007199254740992.0;  // 2^53
constexpr int nodes = 20;                       // the singularity at zero is 3 half-widths from the centre: 5.8^-20 is below rounding
constexpr double exact_below = 16;

bool is_count(double c) { return c >= 0 && c <= largest && c == static_cast<double>(static_cast<std::int64_t>(c)); }

FrequencyTable from_sorted(const std::vector<double>& sorted) {
  std::vector<double> count, times;
  for (std::size_t i = 0; i < sorted.size();) {
    std::size_t j = i;
    while (j < sorted.size() && sorted[j] == sorted[i]) ++j;
    count.push_back(sorted[i]);
    times.push_back(static_cast<double>(j - i));
    i = j;
  }
  FrequencyTable t;
  t.count = VectorView(count.data(), static_cast<Index>(count.size()));
  t.times = VectorView(times.data(), static_cast<Index>(times.size()));
  return t;
}

// Where counts are small, as they mostly are, they are counted rather than sorted.
FrequencyTable from_tally(ConstVectorRef counts, double top) {
  std::vector<double> tally(static_cast<std::size_t>(top) + 1, 0.0);
  for (Index i = 0; i < counts.size(); ++i) ++tally[static_cast<std::size_t>(counts[i])];
  Index distinct = 0;
  for (std::size_t j = 1; j < tally.size(); ++j) distinct += tally[j] > 0;
  FrequencyTable t;
  t.count.resize(distinct);
  t.times.resize(distinct);
  Index at = 0;
  for (std::size_t j = 1; j < tally.size(); ++j) {
    if (tally[j] == 0) continue;
    t.count[at] = static_cast<double>(j);
    t.times[at++] = tally[j];
  }
  return t;
}

}  // namespace

double FrequencyTable::seen(double j) const {
  const double* end = count.data() + count.size();
  const double* at = std::lower_bound(count.data(), end, j);
  return at != end && *at == j ? times[at - count.data()] : 0;
}

CountSummary count_summary(ConstVectorRef counts) {
  CountSummary out;
  for (Index i = 0; i < counts.size(); ++i) {
    const double c = counts[i];
    if (!is_count(c)) {
      out.odd = i;
      return out;
    }
    out.total += c;
    out.distinct += c > 0;
  }
  return out;
}

FrequencyTable frequency_table(ConstVectorRef counts) {
  double top = 0;
  for (Index i = 0; i < counts.size(); ++i) {
    if (!is_count(counts[i])) throw InputError(message("counts must be whole numbers from 0 to 2^53, but element ", i + 1, " is ", counts[i], "."));
    top = std::max(top, counts[i]);
  }
  FrequencyTable t;
  if (top <= 4.0 * static_cast<double>(counts.size()) + 4096) {
    t = from_tally(counts, top);
  } else {
    std::vector<double> sorted;
    sorted.reserve(static_cast<std::size_t>(counts.size()));
    for (Index i = 0; i < counts.size(); ++i)
      if (counts[i] > 0) sorted.push_back(counts[i]);
    std::sort(sorted.begin(), sorted.end());
    t = from_sorted(sorted);
  }
  t.total = t.count.dot(t.times);
  t.distinct = t.times.sum();
  if (t.total > largest) throw InputError(message("the counts sum to ", t.total, ", more than 2^53: they cannot be held exactly."));
  return t;
}

double good_turing_coverage(const FrequencyTable& t) { return t.total > 0 ? 1 - t.seen(1) / t.total : 0; }

WeightedCounts condense(const FrequencyTable& t) {
  std::vector<double> count, times;
  const Index size = t.count.size();
  Index from = 0;
  for (; from < size && t.count[from] < exact_below; ++from) {
    count.push_back(t.count[from]);
    times.push_back(t.times[from]);
  }
  while (from < size) {
    const double low = std::exp2(std::floor(std::log2(t.count[from]))), high = 2 * low;
    Index to = from;
    while (to < size && t.count[to] < high) ++to;
    if (to - from <= nodes) {
      for (; from < to; ++from) {
        count.push_back(t.count[from]);
        times.push_back(t.times[from]);
      }
      continue;
    }
    // Barycentric Lagrange polynomials at Chebyshev points of the first kind.
    double place[nodes], bary[nodes], weight[nodes] = {};
    for (int k = 0; k < nodes; ++k) {
      const double angle = (2 * k + 1) * 3.14159265358979323846 / (2 * nodes);
      place[k] = 0.5 * (low + high) + 0.5 * (high - low) * std::cos(angle);
      bary[k] = (k % 2 == 0 ? 1 : -1) * std::sin(angle);
    }
    for (; from < to; ++from) {
      double part[nodes], sum = 0;
      for (int k = 0; k < nodes; ++k) part[k] = bary[k] / (t.count[from] - place[k]);
      for (int k = 0; k < nodes; ++k) sum += part[k];
      if (std::isfinite(sum)) {
        const double scale = t.times[from] / sum;
        for (int k = 0; k < nodes; ++k) weight[k] += scale * part[k];
      } else {  // the count is one of the points
        for (int k = 0; k < nodes; ++k)
          if (t.count[from] == place[k]) weight[k] += t.times[from];
      }
    }
    for (int k = nodes - 1; k >= 0; --k) {
      count.push_back(place[k]);
      times.push_back(weight[k]);
    }
  }
  WeightedCounts out;
  out.count = VectorView(count.data(), static_cast<Index>(count.size()));
  out.times = VectorView(times.data(), static_cast<Index>(times.size()));
  return out;
}

}  // namespace granary
