#include "process/gplvm_groups.h"

#include <map>

namespace granary::process {

MatrixXd take_rows(ConstMatrixRef x, const std::vector<Index>& rows) {
  MatrixXd out(static_cast<Index>(rows.size()), x.cols());
  for (Index k = 0; k < out.rows(); ++k) out.row(k) = x.row(rows[static_cast<std::size_t>(k)]);
  return out;
}

NoisyTargets NoisyTargets::rows(const std::vector<Index>& which) const {
  NoisyTargets out;
  out.y = take_rows(y, which);
  if (!plain()) out.noise = take_rows(noise, which);
  return out;
}

Index NoisyTargets::cells() const { return plain() ? y.size() : (noise.array() < missing_from).count(); }

std::vector<ColumnGroup> group_columns(const NoisyTargets& targets) {
  const Index n = targets.y.rows(), d = targets.y.cols();
  std::vector<ColumnGroup> groups;
  if (targets.plain()) {
    ColumnGroup all;
    for (Index i = 0; i < d; ++i) all.columns.push_back(i);
    for (Index k = 0; k < n; ++k) all.rows.push_back(k);
    all.noise = VectorXd::Zero(n);
    all.y = targets.y;
    groups.push_back(std::move(all));
    return groups;
  }
  std::map<std::vector<double>, std::size_t> seen;
  for (Index i = 0; i < d; ++i) {
    std::vector<double> pattern(static_cast<std::size_t>(n));
    bool any = false;
    for (Index k = 0; k < n; ++k) {
      const bool there = targets.observed(k, i);
      any = any || there;
      pattern[static_cast<std::size_t>(k)] = there ? targets.noise(k, i) : -1;
    }
    if (!any) continue;
    const auto found = seen.emplace(std::move(pattern), groups.size());
    if (found.second) groups.emplace_back();
    groups[found.first->second].columns.push_back(i);
  }
  for (ColumnGroup& group : groups) {
    const Index first = group.columns.front();
    for (Index k = 0; k < n; ++k)
      if (targets.observed(k, first)) group.rows.push_back(k);
    const Index size = static_cast<Index>(group.rows.size()), width = static_cast<Index>(group.columns.size());
    group.noise.resize(size);
    group.y.resize(size, width);
    for (Index k = 0; k < size; ++k) {
      const Index row = group.rows[static_cast<std::size_t>(k)];
      group.noise[k] = targets.noise(row, first);
      for (Index c = 0; c < width; ++c) group.y(k, c) = targets.y(row, group.columns[static_cast<std::size_t>(c)]);
    }
  }
  return groups;
}

}  // namespace granary::process
