#include "kernel/structured_align.h"

#include <algorithm>
#include <utility>

#include "core/base/errors.h"

namespace granary::kernel {

AlignOutput::AlignOutput(std::vector<AlignExample> examples, Index alphabet, bool affine)
    : examples_(std::move(examples)), alphabet_(alphabet), affine_(affine) {
  SparseBuilder builder;
  for (std::size_t i = 0; i < examples_.size(); ++i) {
    if (!examples_[i].truth.empty()) add_psi(static_cast<Index>(i), examples_[i].truth, 1, builder);  // throws if it does not fit
  }
}

void AlignOutput::add_psi(Index i, const Label& y, double factor, SparseBuilder& psi) const {
  const AlignExample& example = examples_[static_cast<std::size_t>(i)];
  const std::vector<int>& other = example.candidates[static_cast<std::size_t>(y[0])];
  std::size_t a = static_cast<std::size_t>(y[1]), b = static_cast<std::size_t>(y[2]);
  const Index gap = alphabet_ * alphabet_;
  for (std::size_t k = 3; k < y.size(); ++k) {
    const int step = y[k];
    if ((step != insert_step && a >= example.native.size()) || (step != delete_step && b >= other.size())) {
      throw InputError(message("the alignment of example ", i + 1, " goes beyond the end of its sequences."));
    }
    if (step == pair_step) {
      psi.add(example.native[a] + alphabet_ * other[b], factor);
    } else {
      psi.add(affine_ && k > 3 && y[k - 1] == step ? gap + 1 : gap, factor);
    }
    if (step != insert_step) ++a;
    if (step != delete_step) ++b;
  }
}

Label AlignOutput::best(Index i, const VectorXd& v, int without) const {
  const AlignExample& example = examples_[static_cast<std::size_t>(i)];
  const Index gap = alphabet_ * alphabet_;
  const AlignmentScores scores = {Eigen::Map<const MatrixXd>(v.data(), alphabet_, alphabet_), v[gap],
                                  affine_ ? v[gap + 1] : v[gap]};
  Alignment top;
  int at = -1;
  for (int c = 0; c < static_cast<int>(example.candidates.size()); ++c) {
    if (c == without) continue;
    Alignment a = smith_waterman(example.native, example.candidates[static_cast<std::size_t>(c)], scores);
    if (at < 0 || a.score > top.score) {
      top = std::move(a);
      at = c;
    }
  }
  if (at < 0) return {};
  Label y = {at, top.start_x, top.start_y};
  y.insert(y.end(), top.steps.begin(), top.steps.end());
  return y;
}

// The zero-one loss makes all rescalings one.
Label AlignOutput::most_violated(Index i, const VectorXd& v, const Search&) const { return best(i, v, truth(i)[0]); }

// Section 4.4.3: at most as many steps as there are symbols in both, counts are not negative.
double AlignOutput::radius_bound(Index i) const {
  const AlignExample& example = examples_[static_cast<std::size_t>(i)];
  double longest = 0;
  for (const std::vector<int>& y : example.candidates)
    longest = std::max(longest, static_cast<double>(y.size() + example.native.size()));
  return std::sqrt(2.0) * longest;
}

}  // namespace granary::kernel
