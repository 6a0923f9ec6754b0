#include "graph/contingency.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/errors.h"
#include "core/math/special.h"

namespace granary::graph {

const std::vector<int>& Strata::of(const std::vector<int>& variables) {
  const std::size_t rows = codes_.empty() ? 0 : codes_[0].size();
  if (steps_.empty()) {
    steps_.emplace_back(rows, 0);
    counts_.push_back(1);
  }
  std::size_t same = 0;
  while (same < variables.size() && same < variables_.size() && variables[same] == variables_[same]) ++same;
  if (steps_.size() < variables.size() + 1) {
    steps_.resize(variables.size() + 1, std::vector<int>(rows));
    counts_.resize(variables.size() + 1);
  }
  for (std::size_t t = same; t < variables.size(); ++t) {
    const std::vector<int>&before = steps_[t], &code = codes_[variables[t]];
    const int width = levels_[variables[t]];
    label_.assign(static_cast<std::size_t>(counts_[t]) * static_cast<std::size_t>(width), -1);
    int count = 0;
    for (std::size_t r = 0; r < rows; ++r) {
      if (before[r] < 0 || code[r] < 0) {
        steps_[t + 1][r] = -1;
        continue;
      }
      int& label = label_[static_cast<std::size_t>(before[r]) * width + code[r]];
      if (label < 0) label = count++;
      steps_[t + 1][r] = label;
    }
    counts_[t + 1] = count;
  }
  variables_ = variables;
  count_ = counts_[variables.size()];
  return steps_[variables.size()];
}

class ContingencySession : public TestSession {
 public:
  explicit ContingencySession(const ContingencyTest& test) : test_(test), strata_(test.codes_, test.levels_) {}
  double evidence(int i, int j, const std::vector<int>& given) override { return -result(i, j, given).p_value; }

  ContingencyResult result(int i, int j, const std::vector<int>& given) {
    const std::vector<int>& stratum = strata_.of(given);
    const std::size_t nx = test_.levels_[i], ny = test_.levels_[j], cells = nx * ny;
    const std::vector<int>&x = test_.codes_[i], &y = test_.codes_[j];
    table_.assign(cells * static_cast<std::size_t>(strata_.count()), 0);
    ContingencyResult result;
    const std::vector<int>& counts = test_.options_.counts;
    for (std::size_t r = 0; r < stratum.size(); ++r) {
      if (stratum[r] < 0 || x[r] < 0 || y[r] < 0) continue;
      const double count = counts.empty() ? 1 : counts[r];
      table_[static_cast<std::size_t>(stratum[r]) * cells + static_cast<std::size_t>(x[r]) * ny + y[r]] += count;
      result.rows += count;
    }
    row_.resize(nx);
    column_.resize(ny);
    for (int s = 0; s < strata_.count(); ++s) add_stratum(&table_[static_cast<std::size_t>(s) * cells], nx, ny, result);
    const auto& options = test_.options_;
    if (!options.adjust_df) {
      result.df = (static_cast<double>(nx) - 1) * (static_cast<double>(ny) - 1);
      for (int v : given) result.df *= test_.levels_[v];
    }
    if (result.rows < options.rows_per_df * result.df && options.sparse != ContingencyOptions::Sparse::test) {
      result.p_value = options.sparse == ContingencyOptions::Sparse::independent ? 1 : 0;
    } else {
      result.p_value = result.df > 0 ? gamma_q(result.df / 2, std::max(0.0, result.statistic) / 2) : 1;
    }
    return result;
  }

 private:
  void add_stratum(const double* table, std::size_t nx, std::size_t ny, ContingencyResult& result) {
    std::fill(row_.begin(), row_.end(), 0.0);
    std::fill(column_.begin(), column_.end(), 0.0);
    double total = 0;
    for (std::size_t a = 0; a < nx; ++a) {
      for (std::size_t b = 0; b < ny; ++b) {
        row_[a] += table[a * ny + b];
        column_[b] += table[a * ny + b];
        total += table[a * ny + b];
      }
    }
    if (total == 0) return;
    const bool g2 = test_.options_.statistic == ContingencyOptions::Statistic::g2;
    for (std::size_t a = 0; a < nx; ++a) {
      for (std::size_t b = 0; b < ny; ++b) {
        const double seen = table[a * ny + b], expected = row_[a] * column_[b] / total;
        if (g2 && seen > 0) result.statistic += 2 * seen * std::log(seen / expected);
        if (!g2 && expected > 0) result.statistic += (seen - expected) * (seen - expected) / expected;
      }
    }
    if (test_.options_.adjust_df) {
      const auto occurring = [](const std::vector<double>& margin) {
        return static_cast<double>(std::count_if(margin.begin(), margin.end(), [](double m) { return m > 0; }));
      };
      result.df += (occurring(row_) - 1) * (occurring(column_) - 1);
    }
  }

  const ContingencyTest& test_;
  Strata strata_;
  std::vector<double> table_, row_, column_;
};

ContingencyTest::ContingencyTest(std::vector<std::vector<int>> codes, std::vector<int> levels, const ContingencyOptions& options)
    : codes_(std::move(codes)), levels_(std::move(levels)), options_(options) {
  if (!options_.counts.empty() && !codes_.empty() && options_.counts.size() != codes_[0].size()) throw InputError("there must be one count per row.");
  for (int count : options_.counts) require(count >= 0, "a count is negative.");
  if (codes_.size() != levels_.size()) throw InputError("there must be one number of levels per variable.");
  for (std::size_t v = 0; v < codes_.size(); ++v) {
    if (codes_[v].size() != codes_[0].size()) throw InputError("all variables need the same number of rows.");
    for (int code : codes_[v]) {
      if (code >= levels_[v]) {
        throw InputError(message("variable ", v + 1, " has the code ", code, ", but only ", levels_[v], " levels."));
      }
    }
  }
}

std::unique_ptr<TestSession> ContingencyTest::session() const { return std::make_unique<ContingencySession>(*this); }

ContingencyResult ContingencyTest::result(int i, int j, const std::vector<int>& given) const {
  return ContingencySession(*this).result(i, j, given);
}

}  // namespace granary::graph
