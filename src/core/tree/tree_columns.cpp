#include "core/tree/tree_columns.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/base/monitor.h"

namespace granary {

void TreeColumn::store(const std::vector<Code>& codes) {
  const Code most = this->codes + 1;
  if (most <= 256) {
    narrow_.assign(codes.begin(), codes.end());
  } else if (most <= 65536) {
    middle_.assign(codes.begin(), codes.end());
  } else {
    wide_ = codes;
  }
}

void TreeColumn::gather(const std::uint32_t* rows, Index n, Code* out) const {
  if (!narrow_.empty()) {
    for (Index i = 0; i < n; ++i) out[i] = narrow_[rows[i]];
  } else if (!middle_.empty()) {
    for (Index i = 0; i < n; ++i) out[i] = middle_[rows[i]];
  } else {
    for (Index i = 0; i < n; ++i) out[i] = wide_[rows[i]];
  }
}

namespace {

TreeColumn numeric_column(const VectorXd& x) {
  TreeColumn out;
  const auto n = static_cast<std::size_t>(x.size());
  std::vector<std::pair<double, std::uint32_t>> order;
  order.reserve(n);
  for (std::size_t i = 0; i < n; ++i)
    if (!std::isnan(x[i])) order.emplace_back(x[i], static_cast<std::uint32_t>(i));
  out.missing = order.size() < n;
  std::sort(order.begin(), order.end());
  std::vector<TreeColumn::Code> codes(n);
  for (const auto& [value, row] : order) {
    if (out.values.empty() || value != out.values.back()) out.values.push_back(value);
    codes[row] = static_cast<TreeColumn::Code>(out.values.size() - 1);
  }
  out.codes = static_cast<TreeColumn::Code>(out.values.size());
  if (out.missing)
    for (std::size_t i = 0; i < n; ++i)
      if (std::isnan(x[i])) codes[i] = out.codes;
  out.store(codes);
  return out;
}

TreeColumn categorical_column(const VectorXd& x, int levels, Index column) {
  TreeColumn out;
  out.categorical = true;
  out.codes = static_cast<TreeColumn::Code>(levels);
  std::vector<TreeColumn::Code> codes(x.size());
  for (Index i = 0; i < x.size(); ++i) {
    if (std::isnan(x[i])) {
      out.missing = true;
      codes[i] = out.codes;
    } else if (x[i] >= 0 && x[i] < levels && x[i] == std::floor(x[i])) {
      codes[i] = static_cast<TreeColumn::Code>(x[i]);
    } else {
      throw InputError(message("column ", column + 1, " is categorical, and ", x[i], " in row ", i + 1, " is none of its ", levels, " levels."));
    }
  }
  out.store(codes);
  return out;
}

}  // namespace

TreeColumns::TreeColumns(const Design& x, const VectorXi& levels, int threads) : rows_(x.rows()), columns_(x.cols()) {
  if (levels.size() > 0 && levels.size() != x.cols()) throw InputError("`levels` needs one number per column.");
  Monitor monitor;
  parallel_for(x.cols(), threads, monitor, [&](Index j) {
    const VectorXd column = x.is_sparse() ? VectorXd(x.sparse().col(j)) : VectorXd(x.dense().col(j));
    columns_[j] = levels.size() > 0 && levels[j] > 0 ? categorical_column(column, levels[j], j) : numeric_column(column);
  });
}

double TreeColumns::bytes(Index n, Index p) {
  const double rows = static_cast<double>(n);
  return rows * static_cast<double>(p) * (rows < 256 ? 1 : rows < 65536 ? 2 : 4);
}

}  // namespace granary
