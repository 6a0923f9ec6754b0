// Local alignment of two sequences of symbols (Smith and Waterman 1981), with gaps that cost per symbol or by opening and
// extension (Gotoh 1982).
//
// An alignment starts anywhere in x and y and goes on by pairs (x_i, y_j), by deletions (x_i beside a gap) and insertions (y_j
// beside a gap). Its score is the sum of the scores of the pairs, gap_open for the first symbol beside a gap and gap_extend for
// each further one beside the same gap. The empty alignment scores 0, so the best one is never below. O(|x| |y|).
#pragma once

#include <vector>

#include "core/base/fields.h"
#include "core/base/types.h"

namespace granary {

enum AlignmentStep : int { pair_step = 0, delete_step = 1, insert_step = 2 };

struct AlignmentScores {
  ConstMatrixRef pairs;  // A x A, row = symbol of x
  double gap_open = 0, gap_extend = 0;
};

struct Alignment {
  double score = 0;
  int start_x = 0, start_y = 0;  // of the first step
  std::vector<int> steps;        // AlignmentStep
};
template <class V>
void fields(V& v, Alignment& t) {
  v("score", t.score);
  v("start_x", positions(t.start_x));
  v("start_y", positions(t.start_y));
  v("steps", t.steps);
}

// Among equal scores: the end that comes first in x, then in y; backwards from there stop before go on, pair before deletion
// before insertion, and a gap rather opened than extended.
Alignment smith_waterman(const std::vector<int>& x, const std::vector<int>& y, const AlignmentScores& scores);

// Of steps that must fit into the sequences; used to check alignments given from outside.
double alignment_score(const std::vector<int>& x, const std::vector<int>& y, const Alignment& alignment,
                       const AlignmentScores& scores);

}  // namespace granary
