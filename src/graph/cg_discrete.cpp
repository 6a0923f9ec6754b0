#include "graph/cg_discrete.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "core/base/errors.h"
#include "core/math/logspace.h"

namespace granary::graph {

namespace {

constexpr double none = -std::numeric_limits<double>::infinity();

// log sum_{c -> s} exp(table_c), two passes so that each group has its own largest term
VectorXd log_sums(const VectorXd& table, const std::vector<int>& group, int groups) {
  VectorXd top = VectorXd::Constant(groups, none), sum = VectorXd::Zero(groups);
  for (Index c = 0; c < table.size(); ++c) top[group[c]] = std::max(top[group[c]], table[c]);
  for (Index c = 0; c < table.size(); ++c) {
    if (table[c] > none) sum[group[c]] += std::exp(table[c] - top[group[c]]);
  }
  for (int g = 0; g < groups; ++g) {
    if (top[g] > none) top[g] += std::log(sum[g]);
  }
  return top;
}

VectorXd log_maxima(const VectorXd& table, const std::vector<int>& group, int groups) {
  VectorXd top = VectorXd::Constant(groups, none);
  for (Index c = 0; c < table.size(); ++c) top[group[c]] = std::max(top[group[c]], table[c]);
  return top;
}

}  // namespace

void restrict_table(VectorXd& table, const StateSpace& space, int variable, ConstVectorRef log_likelihood) {
  const int k = space.position(variable);
  for (int c = 0; c < space.size(); ++c) table[c] += log_likelihood[space.state(c, k)];
}

DiscreteForest::DiscreteForest(std::vector<StateSpace> spaces, std::vector<int> parent, const std::vector<int>& levels)
    : spaces_(std::move(spaces)), parent_(std::move(parent)) {
  for (int i = 0; i < clusters(); ++i) {
    std::vector<int> shared;
    if (parent_[i] >= 0) {
      const std::vector<int>&a = spaces_[i].variables(), &b = spaces_[parent_[i]].variables();
      std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(shared));
    }
    separators_.emplace_back(shared, levels);
    own_to_separator_.push_back(spaces_[i].map_to(separators_[i]));
    parent_to_separator_.push_back(parent_[i] >= 0 ? spaces_[parent_[i]].map_to(separators_[i]) : std::vector<int>());
  }
}

int DiscreteForest::holder(const std::vector<int>& variables) const {
  int best = -1;
  for (int i = 0; i < clusters(); ++i) {
    const bool all = std::all_of(variables.begin(), variables.end(), [&](int v) { return spaces_[i].position(v) >= 0; });
    if (all && (best < 0 || spaces_[i].size() < spaces_[best].size())) best = i;
  }
  return best;
}

DiscreteForest::Tables DiscreteForest::unit() const {
  Tables tables;
  for (const StateSpace& space : spaces_) tables.push_back(VectorXd::Zero(space.size()));
  return tables;
}

double DiscreteForest::collect(const Tables& tables) const {
  Tables belief = tables;
  double total = 0;
  for (int i = 0; i < clusters(); ++i) {
    const VectorXd up = log_sums(belief[i], own_to_separator_[i], separators_[i].size());
    if (parent_[i] < 0) {
      total += up[0];
      continue;
    }
    VectorXd& above = belief[parent_[i]];
    for (Index c = 0; c < above.size(); ++c) above[c] += up[parent_to_separator_[i][c]];
  }
  return total;
}

double DiscreteForest::calibrate(Tables& belief) const {
  double total = 0;
  std::vector<VectorXd> up(clusters());
  std::vector<double> root_total;
  for (int i = 0; i < clusters(); ++i) {
    up[i] = log_sums(belief[i], own_to_separator_[i], separators_[i].size());
    if (parent_[i] < 0) {
      total += up[i][0];
      continue;
    }
    VectorXd& above = belief[parent_[i]];
    for (Index c = 0; c < above.size(); ++c) above[c] += up[i][parent_to_separator_[i][c]];
  }
  for (int i = clusters() - 1; i >= 0; --i) {
    if (parent_[i] < 0) {
      // the other trees multiply every marginal sum by their totals
      if (up[i][0] > none && total > none) belief[i].array() += total - up[i][0];
      continue;
    }
    const VectorXd down = log_sums(belief[parent_[i]], parent_to_separator_[i], separators_[i].size());
    for (Index c = 0; c < belief[i].size(); ++c) {
      const int s = own_to_separator_[i][c];
      if (down[s] > none)
        belief[i][c] += down[s] - up[i][s];
      else
        belief[i][c] = none;
    }
  }
  return total;
}

double DiscreteForest::maximise(const Tables& tables, std::vector<int>& state) const {
  Tables belief = tables;
  double total = 0;
  for (int i = 0; i < clusters(); ++i) {
    const VectorXd up = log_maxima(belief[i], own_to_separator_[i], separators_[i].size());
    if (parent_[i] < 0) {
      total += up[0];
      continue;
    }
    VectorXd& above = belief[parent_[i]];
    for (Index c = 0; c < above.size(); ++c) above[c] += up[parent_to_separator_[i][c]];
  }
  if (total == none) return none;
  for (int i = clusters() - 1; i >= 0; --i) {
    const int wanted = separators_[i].config(state);
    int at = -1;
    for (int c = 0; c < spaces_[i].size(); ++c) {
      if (own_to_separator_[i][c] == wanted && (at < 0 || belief[i][c] > belief[i][at])) at = c;
    }
    for (int k = 0; k < spaces_[i].dimension(); ++k) state[spaces_[i].variables()[k]] = spaces_[i].state(at, k);
  }
  return total;
}

std::vector<DiscreteForest::Ranked> DiscreteForest::best(const Tables& tables, int k, int nodes) const {
  struct Part {  // a set of configurations that the ones found so far do not meet, with its best member
    Ranked top;
    Tables tables;
    std::size_t fixed;  // so many variables are fixed in this part
  };
  std::vector<int> variables;
  for (const StateSpace& space : spaces_) variables.insert(variables.end(), space.variables().begin(), space.variables().end());
  std::sort(variables.begin(), variables.end());
  variables.erase(std::unique(variables.begin(), variables.end()), variables.end());

  std::vector<Part> parts;
  const auto add = [&](Tables part, std::size_t fixed) {
    Ranked top{none, std::vector<int>(nodes, 0)};
    top.log_value = maximise(part, top.state);
    if (top.log_value > none) parts.push_back({std::move(top), std::move(part), fixed});
  };
  add(tables, 0);
  std::vector<Ranked> found;
  while (static_cast<int>(found.size()) < k && !parts.empty()) {
    const auto at = std::max_element(parts.begin(), parts.end(),
                                     [](const Part& a, const Part& b) { return a.top.log_value < b.top.log_value; });
    Part part = std::move(*at);
    parts.erase(at);
    found.push_back(part.top);
    if (static_cast<int>(found.size()) == k) break;
    for (std::size_t j = part.fixed; j < variables.size(); ++j) {
      const int v = variables[j], cluster = holder({v}), here = spaces_[cluster].position(v),
                levels = spaces_[cluster].levels(here);
      VectorXd other = VectorXd::Zero(levels), same = VectorXd::Constant(levels, none);
      other[part.top.state[v]] = none;
      same[part.top.state[v]] = 0;
      Tables rest = part.tables;
      restrict_table(rest[cluster], spaces_[cluster], v, other);
      add(std::move(rest), j);
      restrict_table(part.tables[cluster], spaces_[cluster], v, same);
    }
  }
  return found;
}

VectorXd DiscreteForest::marginal(const Tables& tables, const StateSpace& of) const {
  if (of.dimension() == 0) return VectorXd::Constant(1, collect(tables));
  const int cluster = holder(of.variables());
  if (cluster >= 0) {
    Tables belief = tables;
    calibrate(belief);
    return log_sums(belief[cluster], spaces_[cluster].map_to(of), of.size());
  }
  // No cluster has them all: fix the first one to each of its states in turn.
  VectorXd result(of.size());
  const int v = of.variables()[0], home = holder({v});
  std::vector<int> levels(spaces_[home].variables().back() + 1, 0), rest(of.variables().begin() + 1, of.variables().end());
  levels.resize(1 + *std::max_element(of.variables().begin(), of.variables().end()), 0);
  for (int k = 0; k < of.dimension(); ++k) levels[of.variables()[k]] = of.levels(k);
  const StateSpace smaller(rest, levels);
  for (int s = 0; s < of.levels(0); ++s) {
    Tables fixed = tables;
    VectorXd only = VectorXd::Constant(of.levels(0), none);
    only[s] = 0;
    restrict_table(fixed[home], spaces_[home], v, only);
    const VectorXd part = marginal(fixed, smaller);
    for (int c = 0; c < smaller.size(); ++c) result[s + c * of.levels(0)] = part[c];
  }
  return result;
}

DiscreteSampler::DiscreteSampler(const DiscreteForest& forest, DiscreteForest::Tables tables) : forest_(forest) {
  forest_.calibrate(tables);
  for (int i = 0; i < forest_.clusters(); ++i) {
    const std::vector<int>& group = forest_.own_to_separator_[i];
    const int groups = forest_.separators_[i].size(), size = static_cast<int>(group.size());
    const VectorXd top = log_maxima(tables[i], group, groups);
    std::vector<int> begin(groups + 1, 0), entries(size);
    for (int c = 0; c < size; ++c) ++begin[group[c] + 1];
    for (int g = 0; g < groups; ++g) begin[g + 1] += begin[g];
    std::vector<int> next(begin.begin(), begin.end() - 1);
    for (int c = 0; c < size; ++c) entries[next[group[c]]++] = c;
    std::vector<double> sums(size);
    for (int g = 0; g < groups; ++g) {
      double sum = 0;
      for (int e = begin[g]; e < begin[g + 1]; ++e) {
        if (tables[i][entries[e]] > none) sum += std::exp(tables[i][entries[e]] - top[g]);
        sums[e] = sum;
      }
    }
    entries_.push_back(std::move(entries));
    begin_.push_back(std::move(begin));
    sums_.push_back(std::move(sums));
  }
}

void DiscreteSampler::draw(std::vector<int>& state, Rng& rng) const {
  for (int i = forest_.clusters() - 1; i >= 0; --i) {
    const int g = forest_.separators_[i].config(state);
    const auto from = sums_[i].begin() + begin_[i][g], to = sums_[i].begin() + begin_[i][g + 1];
    const double u = rng.uniform() * *(to - 1);
    const auto at = std::upper_bound(from, to - 1, u);  // first running sum beyond u: never an entry of probability zero
    const int c = entries_[i][static_cast<std::size_t>(at - sums_[i].begin())];
    for (int k = 0; k < forest_.spaces_[i].dimension(); ++k) {
      state[forest_.spaces_[i].variables()[k]] = forest_.spaces_[i].state(c, k);
    }
  }
}

}  // namespace granary::graph
