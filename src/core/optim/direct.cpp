#include "core/optim/direct.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "core/base/errors.h"

namespace granary {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Sides are powers of 1/3, those of one rectangle differ by one power at most, and so the number of cuts gives its size.
class Rectangles {
 public:
  explicit Rectangles(Index d) : d_(d) {}

  Index size() const { return static_cast<Index>(values_.size()); }
  const VectorXd& centre(Index i) const { return centres_[i]; }
  double value(Index i) const { return values_[i]; }
  int shortest_cuts(Index i) const { return *std::min_element(cuts_[i].begin(), cuts_[i].end()); }

  Index add(const VectorXd& centre, double value, std::vector<int> cuts) {
    centres_.push_back(centre);
    values_.push_back(value);
    cuts_.push_back(std::move(cuts));
    insert(size() - 1);
    return size() - 1;
  }
  std::vector<Index> longest_sides(Index i) const {
    std::vector<Index> sides;
    const int least = shortest_cuts(i);
    for (Index k = 0; k < d_; ++k)
      if (cuts_[i][k] == least) sides.push_back(k);
    return sides;
  }
  const std::vector<int>& cut(Index i, Index side) {  // one more cut along `side`
    remove(i);
    ++cuts_[i][side];
    insert(i);
    return cuts_[i];
  }

  // The potentially optimal ones.
  std::vector<Index> promising(double best, double epsilon, int most_cuts) const {
    struct Entry {
      double size, value;
      Index index;
    };
    std::vector<Entry> hull;  // from small to large
    for (auto group = groups_.rbegin(); group != groups_.rend(); ++group) {
      if (group->second.empty()) continue;
      const auto& [value, index] = *group->second.begin();
      if (shortest_cuts(index) >= most_cuts) continue;
      const Entry entry{half_diagonal(group->first), value, index};
      // Smaller rectangles that are not better can be optimal for no slope.
      while (!hull.empty() && hull.back().value >= entry.value) hull.pop_back();
      while (hull.size() > 1) {
        const Entry &a = hull[hull.size() - 2], &b = hull.back();
        if ((b.value - a.value) * (entry.size - a.size) < (entry.value - a.value) * (b.size - a.size)) break;
        hull.pop_back();
      }
      hull.push_back(entry);
    }
    std::vector<Index> chosen;
    for (std::size_t j = 0; j < hull.size(); ++j) {
      const double slope =
          j + 1 < hull.size() ? (hull[j + 1].value - hull[j].value) / (hull[j + 1].size - hull[j].size) : infinity;
      if (!(hull[j].value - slope * hull[j].size > best - epsilon * std::abs(best))) chosen.push_back(hull[j].index);
    }
    std::reverse(chosen.begin(), chosen.end());  // large ones first: they are divided even when the budget ends
    return chosen;
  }

 private:
  int total(Index i) const { return std::accumulate(cuts_[i].begin(), cuts_[i].end(), 0); }
  double half_diagonal(int total) const {
    const int full = total / static_cast<int>(d_), more = total % static_cast<int>(d_);
    const double side = std::pow(3.0, -full);
    return 0.5 * side * std::sqrt(static_cast<double>(d_ - more) + more / 9.0);
  }
  void insert(Index i) { groups_[total(i)].insert({values_[i], i}); }
  void remove(Index i) { groups_[total(i)].erase({values_[i], i}); }

  Index d_;
  std::vector<VectorXd> centres_;
  std::vector<double> values_;
  std::vector<std::vector<int>> cuts_;
  std::map<int, std::set<std::pair<double, Index>>> groups_;  // by the number of cuts
};

struct Cut {
  Index rectangle, side;
  double low, high, better;  // values below and above the centre, and the smaller one
  VectorXd below, above;
};

}  // namespace

DirectResult direct(const BatchObjective& f, ConstVectorRef lower, ConstVectorRef upper, const DirectOptions& options,
                    Monitor& monitor) {
  const Index d = lower.size();
  if (d == 0 || upper.size() != d) throw InputError("a box needs a lower and an upper bound for each of one or more variables.");
  if (!((upper - lower).array() > 0).all() || !lower.allFinite() || !upper.allFinite())
    throw InputError("each lower bound of a box must be finite and below its upper bound.");
  if (options.max_evaluations < 1) throw InputError("dividing rectangles needs at least one evaluation.");
  const Stopwatch watch;
  const VectorXd width = upper - lower;
  DirectResult result;
  result.points.resize(options.max_evaluations, d);
  result.values.resize(options.max_evaluations);
  result.value = infinity;
  Index count = 0;
  double worst = -infinity;

  // Values of points of the unit cube; in what comes back the infeasible ones have the worst value so far.
  const auto evaluate = [&](const MatrixXd& unit) {
    MatrixXd points = unit * width.asDiagonal();
    points.rowwise() += lower.transpose();
    VectorXd values = f(points);
    if (values.size() != points.rows()) throw InputError("the function must return one value per point.");
    for (Index i = 0; i < values.size(); ++i) {
      const bool feasible = std::isfinite(values[i]);
      result.points.row(count) = points.row(i);
      result.values[count++] = feasible ? values[i] : infinity;
      if (!feasible) continue;
      worst = std::max(worst, values[i]);
      if (values[i] < result.value) {
        result.value = values[i];
        result.x = points.row(i).transpose();
      }
    }
    for (Index i = 0; i < values.size(); ++i)
      if (!std::isfinite(values[i])) values[i] = std::isfinite(worst) ? worst : 0;
    return values;
  };

  Rectangles rectangles(d);
  const VectorXd middle = VectorXd::Constant(d, 0.5);
  rectangles.add(middle, evaluate(middle.transpose())[0], std::vector<int>(d, 0));
  const int most_cuts = std::max(1, static_cast<int>(std::floor(-std::log(options.min_side) / std::log(3.0))));

  int sweep = 0;
  for (; count < options.max_evaluations; ++sweep) {
    monitor.check();
    const double best = std::isfinite(result.value) ? result.value : 0;
    const std::vector<Index> chosen = rectangles.promising(best, options.epsilon, most_cuts);
    if (chosen.empty()) {
      result.convergence.converged = true;
      break;
    }
    std::vector<Cut> cuts;
    for (Index i : chosen) {
      const double step = std::pow(3.0, -(rectangles.shortest_cuts(i) + 1));
      for (Index k : rectangles.longest_sides(i)) {
        if (count + 2 * static_cast<Index>(cuts.size() + 1) > options.max_evaluations) break;
        Cut cut{i, k, 0, 0, 0, rectangles.centre(i), rectangles.centre(i)};
        cut.below[k] -= step;
        cut.above[k] += step;
        cuts.push_back(std::move(cut));
      }
    }
    if (cuts.empty()) break;  // not even one pair is left in the budget
    MatrixXd samples(2 * static_cast<Index>(cuts.size()), d);
    for (std::size_t c = 0; c < cuts.size(); ++c) {
      samples.row(2 * c) = cuts[c].below.transpose();
      samples.row(2 * c + 1) = cuts[c].above.transpose();
    }
    const VectorXd values = evaluate(samples);
    for (std::size_t c = 0; c < cuts.size(); ++c) {
      cuts[c].low = values[2 * c];
      cuts[c].high = values[2 * c + 1];
      cuts[c].better = std::min(cuts[c].low, cuts[c].high);
    }
    std::stable_sort(cuts.begin(), cuts.end(), [](const Cut& a, const Cut& b) {
      return a.rectangle != b.rectangle ? a.rectangle < b.rectangle : a.better < b.better;
    });
    for (const Cut& cut : cuts) {
      const std::vector<int> sides = rectangles.cut(cut.rectangle, cut.side);
      rectangles.add(cut.below, cut.low, sides);
      rectangles.add(cut.above, cut.high, sides);
    }
  }
  result.points.conservativeResize(count, Eigen::NoChange);
  result.values.conservativeResize(count);
  result.convergence.iterations = sweep;
  result.convergence.seconds = watch.seconds();
  if (!result.convergence.converged) result.convergence.message = "the budget of evaluations was used";
  return result;
}

}  // namespace granary
