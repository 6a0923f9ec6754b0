#include "graph/bn_kernel.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/base/errors.h"
#include "core/base/parallel.h"

namespace granary::graph {

namespace {

constexpr Index max_patterns = Index{1} << 22;

std::vector<int> row_of(Codes x, Index r) {
  std::vector<int> row(x.cols());
  for (Index j = 0; j < x.cols(); ++j) row[j] = x(r, j);
  return row;
}

Bitset family(const BnStructure& s, int i) {
  Bitset set(s.nodes(), s.parents[i]);
  set.set(i);
  return set;
}

}  // namespace

Index BnStructure::patterns(int i) const {
  Index count = 1;
  for (int j : parents[i]) {
    count *= levels[j];
    if (count > max_patterns) {
      throw InputError(message("Node ", i + 1, " has ", parents[i].size(), " parents with more than ", max_patterns,
                               " patterns, too many for a table. Remove parents, or use bn_kernel(), which needs no table."));
    }
  }
  return count;
}

int BnStructure::groups(int i) const {
  if (group.empty() || group[i].empty()) return static_cast<int>(patterns(i));
  return 1 + *std::max_element(group[i].begin(), group[i].end());
}

int BnStructure::pattern(int i, const int* row) const {
  int index = 0, stride = 1;
  for (int j : parents[i]) {
    index += stride * row[j];
    stride *= levels[j];
  }
  return index;
}

int BnStructure::group_of(int i, const int* row) const {
  const int a = pattern(i, row);
  return group.empty() || group[i].empty() ? a : group[i][a];
}

BnStructure make_structure(const MixedGraph& dag, const std::vector<int>& levels) {
  if (!dag.all_directed()) throw InputError("The graph must be a DAG, but it has edges that are not directed.");
  if (static_cast<int>(levels.size()) != dag.nodes()) {
    throw InputError(message("The graph has ", dag.nodes(), " nodes, but there are ", levels.size(), " variables."));
  }
  BnStructure s;
  s.order = topological_order(dag);
  s.levels = levels;
  for (int i = 0; i < dag.nodes(); ++i) {
    if (levels[i] < 2) throw InputError(message("Node ", i + 1, " has ", levels[i], " level; a network needs at least two."));
    s.parents.push_back(dag.parents(i).members());
  }
  return s;
}

void set_groups(BnStructure& s, std::vector<std::vector<int>> group) {
  if (static_cast<int>(group.size()) != s.nodes()) {
    throw InputError(message("groups must have one element per node, ", s.nodes(), ", not ", group.size(), "."));
  }
  for (int i = 0; i < s.nodes(); ++i) {
    if (group[i].empty()) continue;
    const Index need = s.patterns(i);
    if (static_cast<Index>(group[i].size()) != need) {
      throw InputError(message("groups[[", i + 1, "]] must give a group for each of the ", need, " patterns of the parents, not ",
                               group[i].size(), "."));
    }
    const int most = *std::max_element(group[i].begin(), group[i].end());
    std::vector<char> seen(most + 1, 0);
    for (int g : group[i]) {
      if (g < 0) throw InputError(message("groups[[", i + 1, "]] must hold numbers from 1 on."));
      seen[g] = 1;
    }
    for (int g = 0; g <= most; ++g) {
      if (!seen[g])
        throw InputError(
            message("groups[[", i + 1, "]] must use every number from 1 to ", most + 1, ", but ", g + 1, " is unused."));
    }
  }
  s.group = std::move(group);
}

BnColumns bn_columns(const BnStructure& s, BnBasis basis, Index limit, Monitor& monitor) {
  const auto refuse = [&](double size) {
    throw InputError(message("The feature map would have ", size, " columns, more than ", limit,
                             ". Use bn_kernel(), which needs no features, or a sparser graph."));
  };
  BnColumns out;
  out.basis = basis;
  if (basis != BnBasis::monomial) {
    double total = 0;
    for (int i = 0; i < s.nodes(); ++i) total += static_cast<double>(s.groups(i)) * s.levels[i];
    if (total > static_cast<double>(limit)) refuse(total);
    for (int i = 0; i < s.nodes(); ++i) {
      for (int g = 0; g < s.groups(i); ++g) {
        for (int v = 0; v < s.levels[i]; ++v) out.columns.push_back({{i}, {v}, g});
      }
    }
    return out;
  }
  if (!s.group.empty()) throw InputError("Groups of patterns need the indicator basis: their monomials are not free parameters.");
  double bound = 1;
  for (int i = 0; i < s.nodes(); ++i) bound += static_cast<double>(s.patterns(i)) * (s.levels[i] - 1);
  if (bound > static_cast<double>(limit)) refuse(bound);  // monomials that contain i and lie in its own family are all new
  // Sorted by size, then by nodes, then by values: the intercept first, main effects next.
  std::map<std::pair<std::vector<int>, std::vector<int>>, char> seen;
  for (int i : s.order) {
    monitor.check();
    std::vector<int> members = s.parents[i];
    members.insert(std::upper_bound(members.begin(), members.end(), i), i);
    std::vector<int> value(members.size(), 0);
    for (;;) {
      std::pair<std::vector<int>, std::vector<int>> key;
      for (std::size_t k = 0; k < members.size(); ++k) {
        if (value[k] == 0) continue;
        key.first.push_back(members[k]);
        key.second.push_back(value[k]);
      }
      seen.emplace(std::move(key), 0);
      if (static_cast<Index>(seen.size()) > limit) refuse(static_cast<double>(seen.size()));
      std::size_t k = 0;
      while (k < members.size() && ++value[k] == s.levels[members[k]]) value[k++] = 0;
      if (k == members.size()) break;
    }
  }
  for (const auto& entry : seen) out.columns.push_back({entry.first.first, entry.first.second, -1});
  std::stable_sort(out.columns.begin(), out.columns.end(),
                   [](const BnColumn& a, const BnColumn& b) { return a.nodes.size() < b.nodes.size(); });
  return out;
}

SparseMatrix bn_features(const BnStructure& s, const BnColumns& columns, Codes x, Monitor& monitor) {
  std::vector<Eigen::Triplet<double>> entries;
  if (columns.basis == BnBasis::monomial) {
    for (std::size_t c = 0; c < columns.columns.size(); ++c) {
      if (c % 64 == 0) monitor.check();
      const BnColumn& column = columns.columns[c];
      for (Index r = 0; r < x.rows(); ++r) {
        bool on = true;
        for (std::size_t k = 0; on && k < column.nodes.size(); ++k) on = x(r, column.nodes[k]) == column.values[k];
        if (on) entries.emplace_back(static_cast<int>(r), static_cast<int>(c), 1.0);
      }
    }
  } else {
    std::vector<int> start(s.nodes() + 1, 0);
    for (int i = 0; i < s.nodes(); ++i) start[i + 1] = start[i] + s.groups(i) * s.levels[i];
    for (Index r = 0; r < x.rows(); ++r) {
      monitor.check();
      const std::vector<int> row = row_of(x, r);
      for (int i = 0; i < s.nodes(); ++i) {
        const int base = start[i] + s.group_of(i, row.data()) * s.levels[i];
        entries.emplace_back(static_cast<int>(r), base, 1.0);
        if (row[i] > 0) entries.emplace_back(static_cast<int>(r), base + row[i], 1.0);
      }
    }
  }
  SparseMatrix out(x.rows(), static_cast<Index>(columns.columns.size()));
  out.setFromTriplets(entries.begin(), entries.end());
  return out;
}

FamilyUnion family_union(const BnStructure& s, Monitor& monitor, std::size_t limit) {
  std::map<Bitset, double> terms;
  for (int i : s.order) {
    monitor.check();
    const Bitset f = family(s, i);
    std::map<Bitset, double> change;
    for (const auto& term : terms) change[term.first & f] -= term.second;
    change[f] += 1;
    for (const auto& term : change) {
      double& value = terms[term.first];
      value += term.second;
      if (value == 0) terms.erase(term.first);
    }
    if (terms.size() > limit) {
      throw InputError(message("The families of this graph overlap in more than ", limit,
                               " ways, too many for inclusion and exclusion. Use the indicator basis."));
    }
  }
  FamilyUnion out;
  for (const auto& term : terms) {
    out.sets.push_back(term.first);
    out.coefficients.push_back(term.second);
  }
  return out;
}

double union_size(const FamilyUnion& families, const std::vector<int>& levels) {
  double total = 0;
  for (std::size_t t = 0; t < families.sets.size(); ++t) {
    double size = 1;
    for (int j : families.sets[t]) size *= levels[j];
    total += families.coefficients[t] * size;
  }
  return total;
}

MatrixXd bn_kernel_matrix(const BnStructure& s, BnBasis basis, Codes x, Codes y, int threads, Monitor& monitor) {
  const int p = s.nodes();
  const auto transposed = [p](Codes codes) {  // a row of data is read as a whole
    std::vector<std::vector<int>> rows(codes.rows(), std::vector<int>(p));
    for (int j = 0; j < p; ++j) {
      for (Index r = 0; r < codes.rows(); ++r) rows[r][j] = codes(r, j);
    }
    return rows;
  };
  const auto left = transposed(x), right = transposed(y);
  FamilyUnion families;
  if (basis == BnBasis::monomial) {
    if (!s.group.empty())
      throw InputError("Groups of patterns need the indicator basis: their monomials are not free parameters.");
    families = family_union(s, monitor);
  }
  MatrixXd k(x.rows(), y.rows());
  parallel_for(x.rows(), threads, monitor, [&](Index r) {
    const int* a = left[r].data();
    Bitset agree(p), shared(p);
    for (Index c = 0; c < y.rows(); ++c) {
      const int* b = right[c].data();
      agree.clear();
      shared.clear();
      for (int j = 0; j < p; ++j) {
        if (a[j] != b[j]) continue;
        agree.set(j);
        if (a[j] > 0) shared.set(j);
      }
      double total = 0;
      if (basis == BnBasis::monomial) {
        for (std::size_t t = 0; t < families.sets.size(); ++t) {
          total += families.coefficients[t] * std::ldexp(1.0, families.sets[t].count_common(shared));
        }
      } else {
        for (int i = 0; i < p; ++i) {
          bool same = true;
          if (!s.group.empty() && !s.group[i].empty()) {
            same = s.group_of(i, a) == s.group_of(i, b);
          } else {
            for (int j : s.parents[i]) {
              if (!agree.test(j)) {
                same = false;
                break;
              }
            }
          }
          if (same) total += basis == BnBasis::symmetric ? agree.test(i) : 1 + shared.test(i);
        }
      }
      k(r, c) = total;
    }
    monitor.check();
  });
  return k;
}

namespace {

// Group of the parents' pattern at node i, for all rows: columns are read as they lie in memory.
Eigen::VectorXi groups_of(const BnStructure& s, int i, Codes x) {
  Eigen::VectorXi at = Eigen::VectorXi::Zero(x.rows());
  int stride = 1;
  for (int u : s.parents[i]) {
    at += stride * x.col(u);
    stride *= s.levels[u];
  }
  if (!s.group.empty() && !s.group[i].empty()) {
    for (Index r = 0; r < x.rows(); ++r) at[r] = s.group[i][at[r]];
  }
  return at;
}

}  // namespace

std::vector<MatrixXd> bn_counts(const BnStructure& s, Codes x, const std::vector<char>& use) {
  std::vector<MatrixXd> counts;
  for (int i = 0; i < s.nodes(); ++i) {
    counts.push_back(MatrixXd::Zero(s.groups(i), s.levels[i]));
    const Eigen::VectorXi at = groups_of(s, i, x);
    for (Index r = 0; r < x.rows(); ++r) {
      if (use.empty() || use[r]) counts[i](at[r], x(r, i)) += 1;
    }
  }
  return counts;
}

BnTables bn_tables(const std::vector<MatrixXd>& counts, double alpha) {
  BnTables tables = counts;
  for (MatrixXd& table : tables) {
    for (Index g = 0; g < table.rows(); ++g) {
      const double total = table.row(g).sum() + alpha * static_cast<double>(table.cols());
      if (total > 0) {
        table.row(g) = ((table.row(g).array() + alpha) / total).matrix();
      } else {
        table.row(g).setConstant(1 / static_cast<double>(table.cols()));
      }
    }
  }
  return tables;
}

VectorXd bn_log_density(const BnStructure& s, const BnTables& tables, Codes x) {
  VectorXd out = VectorXd::Zero(x.rows());
  for (int i = 0; i < s.nodes(); ++i) {  // one logarithm per cell of a table
    const MatrixXd logs = tables[i].array().log().matrix();
    const Eigen::VectorXi at = groups_of(s, i, x);
    for (Index r = 0; r < x.rows(); ++r) out[r] += logs(at[r], x(r, i));
  }
  return out;
}

VectorXd bn_weights(const BnStructure& s, const BnColumns& columns, const BnTables& p, const BnTables& q) {
  const auto odds = [&](int i, int g, int v) { return std::log(p[i](g, v)) - std::log(q[i](g, v)); };
  VectorXd w = VectorXd::Zero(static_cast<Index>(columns.columns.size()));
  if (columns.basis != BnBasis::monomial) {
    for (std::size_t c = 0; c < columns.columns.size(); ++c) {
      const BnColumn& column = columns.columns[c];
      const int i = column.nodes[0], v = column.values[0];
      w[c] = v == 0 ? odds(i, column.group, 0) : odds(i, column.group, v) - odds(i, column.group, 0);
    }
    return w;
  }
  std::map<std::pair<std::vector<int>, std::vector<int>>, Index> place;
  for (std::size_t c = 0; c < columns.columns.size(); ++c) {
    place.emplace(std::make_pair(columns.columns[c].nodes, columns.columns[c].values), static_cast<Index>(c));
  }
  for (int i = 0; i < s.nodes(); ++i) {
    std::vector<int> members = s.parents[i];
    members.push_back(i);  // i has the largest stride
    const Index patterns = s.patterns(i), size = patterns * s.levels[i];
    VectorXd g(size);
    for (Index t = 0; t < size; ++t) g[t] = odds(i, static_cast<int>(t % patterns), static_cast<int>(t / patterns));
    // Moebius inversion one coordinate at a time: subtract the value at the reference level from every other level.
    Index stride = 1;
    for (int j : members) {
      const Index levels = s.levels[j];
      for (Index t = 0; t < size; ++t) {
        const Index v = t / stride % levels;
        if (v > 0) g[t] -= g[t - v * stride];
      }
      stride *= levels;
    }
    for (Index t = 0; t < size; ++t) {
      std::vector<std::pair<int, int>> on;
      Index rest = t;
      for (int j : members) {
        const int v = static_cast<int>(rest % s.levels[j]);
        rest /= s.levels[j];
        if (v > 0) on.emplace_back(j, v);
      }
      std::sort(on.begin(), on.end());
      std::pair<std::vector<int>, std::vector<int>> key;
      for (const auto& item : on) {
        key.first.push_back(item.first);
        key.second.push_back(item.second);
      }
      w[place.at(key)] += g[t];
    }
  }
  return w;
}

MixedGraph chow_liu_tree(Codes x, const std::vector<int>& levels, const std::vector<int>& classes, int n_classes,
                         Monitor& monitor) {
  const int p = static_cast<int>(levels.size());
  const double n = static_cast<double>(x.rows());
  const auto information = [&](int i, int j) {  // I(x_i; x_j | class)
    double total = 0;
    for (int c = 0; c < n_classes; ++c) {
      MatrixXd table = MatrixXd::Zero(levels[i], levels[j]);
      for (Index r = 0; r < x.rows(); ++r) {
        if (classes[r] == c) table(x(r, i), x(r, j)) += 1;
      }
      const VectorXd rows = table.rowwise().sum();
      const Eigen::RowVectorXd cols = table.colwise().sum();
      const double sum = table.sum();
      for (Index a = 0; a < table.rows(); ++a) {
        for (Index b = 0; b < table.cols(); ++b) {
          if (table(a, b) > 0) total += table(a, b) / n * std::log(table(a, b) * sum / (rows[a] * cols[b]));
        }
      }
    }
    return total;
  };
  MixedGraph tree(p);
  if (p == 0) return tree;
  std::vector<double> best(p, -std::numeric_limits<double>::infinity());
  std::vector<int> link(p, 0);
  std::vector<char> in(p, 0);
  in[0] = 1;
  for (int j = 1; j < p; ++j) best[j] = information(0, j);
  for (int step = 1; step < p; ++step) {
    monitor.check();
    int next = -1;
    for (int j = 0; j < p; ++j) {
      if (!in[j] && (next < 0 || best[j] > best[next])) next = j;
    }
    in[next] = 1;
    tree.add_directed(link[next], next);
    for (int j = 0; j < p; ++j) {
      if (in[j]) continue;
      const double value = information(next, j);
      if (value > best[j]) {
        best[j] = value;
        link[j] = next;
      }
    }
  }
  return tree;
}

}  // namespace granary::graph
