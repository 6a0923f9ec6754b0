#include "core/sequence/alignment.h"

#include <algorithm>
#include <limits>

#include "core/base/errors.h"

namespace granary {
namespace {

// What the last step of the best alignment ending in a cell was, and from which kind of step it came; `none`: it starts here.
enum Kind : signed char { none = -1, by_pair = 0, by_delete = 1, by_insert = 2 };

struct Cell {
  double score[3];  // by kind of the last step
  Kind from[3];
};

// The best predecessor for a step of kind `to`: leaving a gap or opening one costs gap_open, staying in it gap_extend.
void arrive(const Cell& before, Kind to, double step, double open, double extend, double& score, Kind& from) {
  double best = before.score[0] + (to == by_pair ? 0 : open);
  Kind kind = by_pair;
  for (Kind k : {by_delete, by_insert}) {
    const double value = before.score[k] + (to == by_pair ? 0 : k == to ? extend : open);
    if (value > best) {
      best = value;
      kind = k;
    }
  }
  const double fresh = to == by_pair ? 0 : open;  // an alignment that starts with this step
  if (fresh >= best) {
    best = fresh;
    kind = none;
  }
  score = best + step;
  from = kind;
}

}  // namespace

Alignment smith_waterman(const std::vector<int>& x, const std::vector<int>& y, const AlignmentScores& s) {
  const int n = static_cast<int>(x.size()), m = static_cast<int>(y.size());
  constexpr double never = -std::numeric_limits<double>::infinity();
  const Cell empty = {{never, never, never}, {none, none, none}};
  const std::size_t width = static_cast<std::size_t>(m) + 1;
  std::vector<Cell> table((static_cast<std::size_t>(n) + 1) * width, empty);
  Alignment best;
  int end_x = 0, end_y = 0;
  Kind end_kind = none;
  for (int i = 0; i <= n; ++i) {
    Cell* row = table.data() + static_cast<std::size_t>(i) * width;
    const Cell* above = i > 0 ? row - width : nullptr;
    for (int j = 0; j <= m; ++j) {
      Cell& cell = row[j];
      if (i > 0 && j > 0) {
        arrive(above[j - 1], by_pair, s.pairs(x[static_cast<std::size_t>(i - 1)], y[static_cast<std::size_t>(j - 1)]), 0, 0,
               cell.score[0], cell.from[0]);
      }
      if (i > 0) arrive(above[j], by_delete, 0, s.gap_open, s.gap_extend, cell.score[1], cell.from[1]);
      if (j > 0) arrive(row[j - 1], by_insert, 0, s.gap_open, s.gap_extend, cell.score[2], cell.from[2]);
      for (Kind k : {by_pair, by_delete, by_insert}) {
        if (cell.score[k] > best.score) {
          best.score = cell.score[k];
          end_x = i;
          end_y = j;
          end_kind = k;
        }
      }
    }
  }
  int i = end_x, j = end_y;
  for (Kind k = end_kind; k != none;) {
    best.steps.push_back(k);
    const Kind before = table[static_cast<std::size_t>(i) * width + static_cast<std::size_t>(j)].from[k];
    if (k != by_insert) --i;
    if (k != by_delete) --j;
    k = before;
  }
  best.start_x = i;
  best.start_y = j;
  std::reverse(best.steps.begin(), best.steps.end());
  return best;
}

double alignment_score(const std::vector<int>& x, const std::vector<int>& y, const Alignment& a, const AlignmentScores& s) {
  std::size_t i = static_cast<std::size_t>(a.start_x), j = static_cast<std::size_t>(a.start_y);
  double total = 0;
  for (std::size_t k = 0; k < a.steps.size(); ++k) {
    const int step = a.steps[k];
    if ((step != insert_step && i >= x.size()) || (step != delete_step && j >= y.size())) {
      throw InputError("an alignment goes beyond the end of its sequences.");
    }
    if (step == pair_step) {
      total += s.pairs(x[i], y[j]);
    } else {
      total += k > 0 && a.steps[k - 1] == step ? s.gap_extend : s.gap_open;
    }
    if (step != insert_step) ++i;
    if (step != delete_step) ++j;
  }
  return total;
}

}  // namespace granary
