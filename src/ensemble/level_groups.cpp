#include "ensemble/level_groups.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

namespace granary::ensemble {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// Proportional counts, exactly: whole numbers below 2^53 / n do not round.
bool same_shares(const double* a, double na, const double* b, double nb, Index j) {
  for (Index c = 0; c < j; ++c)
    if (a[c] * nb != b[c] * na) return false;
  return true;
}

// One class against the others: the intervals of its own grouping.
VectorXi against_others(const Items& items, Index c, double levels, int max_exact, Monitor& monitor) {
  Items two;
  two.counts.resize(2, items.size());
  two.counts.row(0) = items.counts.row(c);
  two.counts.row(1) = items.counts.colwise().sum() - items.counts.row(c);
  const GroupCost cost(GroupCostKind::modl, two.counts.rowwise().sum(), levels);
  return best_intervals(two, cost, GroupCostKind::modl, 0, std::min(max_exact, 1000), monitor).best.group;
}

// Pure items of the same class are one (Theorem 2).
VectorXi pure_units(const Items& items) {
  VectorXi unit(items.size());
  const Index j = items.counts.rows();
  std::vector<int> pure(static_cast<std::size_t>(j), -1);
  int next = 0;
  for (Index i = 0; i < items.size(); ++i) {
    Index classes = 0, last = 0;
    for (Index c = 0; c < j; ++c)
      if (items.counts(c, i) > 0) {
        ++classes;
        last = c;
      }
    if (classes == 1 && pure[static_cast<std::size_t>(last)] >= 0) {
      unit[i] = pure[static_cast<std::size_t>(last)];
      continue;
    }
    if (classes == 1) pure[static_cast<std::size_t>(last)] = next;
    unit[i] = next++;
  }
  return unit;
}

// What the units have in common with all the J groupings.
VectorXi common_refinement(const VectorXi& a, const VectorXi& b) {
  std::map<std::pair<int, int>, int> names;
  VectorXi out(a.size());
  for (Index i = 0; i < a.size(); ++i)
    out[i] = names.emplace(std::make_pair(a[i], b[i]), static_cast<int>(names.size())).first->second;
  return out;
}

// The most frequent units stay, the others are pooled by their largest class.
VectorXi cap_units(const Items& items, const VectorXi& unit, Index most) {
  const Index u = unit.maxCoeff() + 1, j = items.counts.rows();
  if (u <= most) return unit;
  MatrixXd counts = MatrixXd::Zero(j, u);
  for (Index i = 0; i < items.size(); ++i) counts.col(unit[i]) += items.counts.col(i);
  std::vector<Index> order(static_cast<std::size_t>(u));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return counts.col(a).sum() > counts.col(b).sum(); });
  VectorXi name(u);
  const Index kept = std::max<Index>(1, most - j);
  for (Index k = 0; k < u; ++k) {
    const Index one = order[static_cast<std::size_t>(k)];
    Index largest = 0;
    counts.col(one).maxCoeff(&largest);
    name[one] = static_cast<int>(k < kept ? k : kept + largest);
  }
  VectorXi out(unit.size());
  for (Index i = 0; i < unit.size(); ++i) out[i] = name[unit[i]];
  return out;
}

struct Found {
  Partition best;
  double lower = -std::numeric_limits<double>::infinity();
  bool exact = false, finished = true;
  int rounds = 0;
};

Found search_groups(const Items& items, GroupCostKind kind, double levels, const LevelOptions& options, double until,
                    Monitor& monitor) {
  const GroupCost cost(kind, items.counts.rowwise().sum(), levels);
  const bool two = items.counts.rows() <= 2, small = items.size() <= most_enumerated;
  const bool exact = options.search != GroupSearch::greedy;
  Found out;
  if (options.search == GroupSearch::exact && !(two ? items.size() <= options.max_exact || kind == GroupCostKind::bic : small)) {
    throw InputError(message("search = \"exact\" takes up to ", two ? options.max_exact : static_cast<int>(most_enumerated),
                             " levels with different shares for ", items.counts.rows(), " classes, but there are ", items.size(),
                             ". Use search = \"auto\"."));
  }
  if (exact && small && options.groups > 0) {
    out.best = best_of_all(items, cost, options.groups, monitor);
    out.lower = out.best.cost;
    out.exact = true;
    return out;
  }
  const double single = make_partition(items, VectorXi::Zero(items.size()), cost).cost;
  if (exact && two) {
    Items pair = items;
    if (pair.counts.rows() == 1) {
      pair.counts.conservativeResize(2, Eigen::NoChange);
      pair.counts.row(1).setZero();
      out.best = make_partition(items, VectorXi::Zero(items.size()), cost);
      out.lower = out.best.cost;
      out.exact = true;
      return out;
    }
    const Interval found = best_intervals(pair, cost, kind, options.groups, options.max_exact, monitor);
    out.best = found.best;
    out.lower = found.lower;
    out.exact = found.exact;
    if (!out.exact) out.finished = improve(items, out.best, cost, options.groups, until, out.rounds, monitor);
    return out;
  }
  if (exact && small) {
    out.best = best_of_all(items, cost, options.groups, monitor);
    out.lower = out.best.cost;
    out.exact = true;
    return out;
  }
  const Index j = items.counts.rows();
  const double n = items.counts.sum();
  VectorXi unit =
      kind == GroupCostKind::modl ? pure_units(items) : VectorXi::LinSpaced(items.size(), 0, static_cast<int>(items.size()) - 1);
  const Index most = std::clamp<Index>(static_cast<Index>(std::sqrt(n)), std::max<Index>({2 * j, options.groups, 50}), 2000);
  std::vector<VectorXi> starts{cap_units(items, unit, std::min<Index>(most, 400))};
  if (kind == GroupCostKind::modl && j > 2) {
    VectorXi fine = VectorXi::Zero(items.size());
    for (Index c = 0; c < j; ++c) fine = common_refinement(fine, against_others(items, c, levels, options.max_exact, monitor));
    fine = cap_units(items, fine, most);
    if (options.groups == 0 || fine.maxCoeff() + 1 >= options.groups) starts.push_back(fine);
  }
  out.best.cost = std::numeric_limits<double>::infinity();
  for (const VectorXi& start : starts) {
    Partition one = merge_down(items, start, cost, options.groups, monitor);
    out.finished = improve(items, one, cost, options.groups, until, out.rounds, monitor) && out.finished;
    if (one.cost < out.best.cost) out.best = std::move(one);
  }
  if (options.groups == 0 && single < out.best.cost) out.best = make_partition(items, VectorXi::Zero(items.size()), cost);
  out.lower = entropy_bound(items, cost, kind, single, options.groups, monitor);
  out.exact = out.best.cost <= out.lower + 1e-9 * std::max(1.0, std::abs(out.lower));
  return out;
}

// Numbers of the groups by falling size; of equal ones that with the first level.
VectorXi by_size(const VectorXi& group, const VectorXd& size) {
  const Index k = size.size();
  VectorXi first = VectorXi::Constant(k, -1);
  for (Index i = group.size() - 1; i >= 0; --i) first[group[i]] = static_cast<int>(i);
  std::vector<int> order(static_cast<std::size_t>(k));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return size[a] != size[b] ? size[a] > size[b] : first[a] < first[b]; });
  VectorXi name(k), out(group.size());
  for (Index q = 0; q < k; ++q) name[order[static_cast<std::size_t>(q)]] = static_cast<int>(q);
  for (Index i = 0; i < group.size(); ++i) out[i] = name[group[i]];
  return out;
}

}  // namespace

Items compress(ConstMatrixRef counts) {
  const Index levels = counts.rows(), j = counts.cols();
  const MatrixXd rows = counts.transpose();
  VectorXd size = rows.colwise().sum().transpose();
  std::vector<Index> order(static_cast<std::size_t>(levels));
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(), [&](Index a, Index b) {
    for (Index c = 0; c < j; ++c) {
      const double left = rows(c, a) * size[b], right = rows(c, b) * size[a];
      if (left != right) return left < right;
    }
    return a < b;
  });
  Items out;
  VectorXi name(levels);
  std::vector<Index> head;
  for (std::size_t q = 0; q < order.size(); ++q) {
    const Index i = order[q];
    if (q == 0 || !same_shares(rows.col(i).data(), size[i], rows.col(order[q - 1]).data(), size[order[q - 1]], j))
      head.push_back(i);
    name[i] = static_cast<int>(head.size()) - 1;
  }
  // Items in the order of their first levels.
  VectorXi place = VectorXi::Constant(static_cast<Index>(head.size()), -1);
  int next = 0;
  out.of_level.resize(levels);
  for (Index i = 0; i < levels; ++i) {
    if (place[name[i]] < 0) place[name[i]] = next++;
    out.of_level[i] = place[name[i]];
  }
  out.counts = MatrixXd::Zero(j, next);
  for (Index i = 0; i < levels; ++i) out.counts.col(out.of_level[i]) += rows.col(i);
  return out;
}

MatrixXd level_counts(const VectorXi& level, const VectorXi& label, ConstVectorRef weights, int levels, int classes) {
  if (level.size() != label.size() || (weights.size() > 0 && weights.size() != level.size()))
    throw InputError("levels, classes and weights must be of one length.");
  MatrixXd out = MatrixXd::Zero(levels, classes);
  for (Index i = 0; i < level.size(); ++i) out(level[i], label[i]) += weights.size() > 0 ? weights[i] : 1;
  return out;
}

LevelGroups level_cost(ConstMatrixRef counts, const VectorXi& group, int groups) {
  const Index levels = counts.rows(), j = counts.cols();
  LevelGroups out;
  MatrixXd sums = MatrixXd::Zero(j, groups);
  for (Index i = 0; i < levels; ++i) sums.col(group[i]) += counts.row(i).transpose();
  const VectorXd size = sums.colwise().sum().transpose();
  if (size.size() == 0 || size.minCoeff() <= 0) throw InputError("every group needs a case.");
  const VectorXd totals = sums.rowwise().sum();
  const GroupCost cost(GroupCostKind::modl, totals, static_cast<double>(levels));
  out.group = by_size(group, size);
  out.table = MatrixXd::Zero(groups, j);
  for (Index i = 0; i < levels; ++i) out.table.row(out.group[i]) += counts.row(i);
  out.choice_cost = cost.choice();
  out.partition_cost = cost.groups(groups);
  double both = 0;
  for (Index k = 0; k < groups; ++k) {
    out.class_cost += cost.class_part(size[k]);
    both += cost(sums.col(k).data());
  }
  out.data_cost = both - out.class_cost;
  out.cost = out.choice_cost + out.partition_cost + both;
  out.null_cost = cost.choice() + cost(totals.data());
  out.lower = out.criterion = nan;
  return out;
}

LevelGroups level_groups(ConstMatrixRef counts, const LevelOptions& options, Monitor& monitor) {
  const Stopwatch watch;
  const double levels = static_cast<double>(counts.rows());
  if (counts.rows() < 1 || counts.cols() < 1 || counts.rowwise().sum().minCoeff() <= 0)
    throw InputError("every level needs a case.");
  if (options.groups > counts.rows()) throw InputError("there cannot be more groups than levels.");
  // The columns of classes that do not occur count for nothing in the data, but they do in J: none is left out.
  Items items = compress(counts);
  // More groups than different shares, or few levels in exactly so many groups: levels stand for themselves.
  if (options.groups > items.size() || (options.groups > 0 && counts.rows() <= most_enumerated)) {
    items.counts = counts.transpose();
    items.of_level = VectorXi::LinSpaced(counts.rows(), 0, static_cast<int>(counts.rows()) - 1);
  }
  const double until =
      options.time_limit > 0
          ? std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count() + options.time_limit
          : std::numeric_limits<double>::infinity();
  Found found;
  double criterion = nan;
  switch (options.method) {
    case GroupMethod::modl:
      found = search_groups(items, GroupCostKind::modl, levels, options, until, monitor);
      break;
    case GroupMethod::bic:
      found = search_groups(items, GroupCostKind::bic, levels, options, until, monitor);
      break;
    case GroupMethod::none: {
      const GroupCost cost(GroupCostKind::entropy, items.counts.rowwise().sum(), levels);
      found.best = make_partition(items, VectorXi::LinSpaced(items.size(), 0, static_cast<int>(items.size()) - 1), cost);
      break;
    }
    default:
      found.best = group_by_chi2(items, options, criterion, levels, monitor);
      break;
  }
  VectorXi group(counts.rows());
  for (Index i = 0; i < counts.rows(); ++i)
    group[i] = options.method == GroupMethod::none ? static_cast<int>(i) : found.best.group[items.of_level[i]];
  LevelGroups out = level_cost(
      counts, group, options.method == GroupMethod::none ? static_cast<int>(counts.rows()) : static_cast<int>(found.best.size()));
  out.items = static_cast<int>(items.size());
  out.exact = found.exact;
  out.criterion = options.method == GroupMethod::modl  ? out.cost
                  : options.method == GroupMethod::bic ? found.best.cost
                                                       : criterion;
  const double choice = options.method == GroupMethod::modl ? out.choice_cost : 0;
  const bool scored = options.method == GroupMethod::modl || options.method == GroupMethod::bic;
  out.lower = scored ? found.lower + choice : nan;
  out.convergence.converged = found.finished;
  out.convergence.iterations = found.rounds;
  out.convergence.gap = scored ? std::max(0.0, out.criterion - out.lower) : nan;
  out.convergence.seconds = watch.seconds();
  if (!found.finished) out.convergence.message = "time ran out: single levels may still want to move";
  return out;
}

double level_divergence(ConstMatrixRef counts, ConstMatrixRef share) {
  const double n = counts.sum(), j = static_cast<double>(counts.cols());
  double out = 0;
  for (Index i = 0; i < counts.rows(); ++i) {
    const double size = counts.row(i).sum();
    double sum = 0;
    for (Index c = 0; c < counts.cols(); ++c) {
      const double p = share(i, c), q = (counts(i, c) + 1) / (size + j);
      if (p > 0) sum += p * std::log(p / q);
    }
    out += size / n * sum;
  }
  return out;
}

MatrixXd level_bayes(const Eigen::MatrixXi& group, const std::vector<MatrixXd>& tables, ConstVectorRef classes, double smooth) {
  const Index n = group.rows(), j = classes.size();
  if (static_cast<Index>(tables.size()) != group.cols()) throw InputError("there must be one table per factor.");
  MatrixXd out(n, j);
  const double total = classes.sum();
  for (Index i = 0; i < n; ++i) {
    for (Index c = 0; c < j; ++c) {
      double value = std::log(classes[c] / total);
      for (Index f = 0; f < group.cols(); ++f) {
        const MatrixXd& table = tables[static_cast<std::size_t>(f)];
        if (group(i, f) < 0) continue;
        value += std::log((table(group(i, f), c) + smooth) / (classes[c] + smooth * static_cast<double>(table.rows())));
      }
      out(i, c) = classes[c] > 0 ? value : -std::numeric_limits<double>::infinity();
    }
    const double top = out.row(i).maxCoeff();
    if (!std::isfinite(top)) {  // no class has been seen with these groups: what they say cannot be told apart
      out.row(i) = classes.transpose() / total;
      continue;
    }
    out.row(i) = (out.row(i).array() - top).exp();
    out.row(i) /= out.row(i).sum();
  }
  return out;
}

}  // namespace granary::ensemble
