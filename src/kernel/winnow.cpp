#include "kernel/winnow.h"

#include <cmath>
#include <utility>

namespace granary::kernel {

Winnow::Winnow(const SparseRows& rows, const WinnowOptions& options, WinnowState state)
    : rows_(rows), options_(options), state_(std::move(state)) {
  if (!(options.promotion > 1)) throw InputError("`promotion` must be greater than 1.");
  const Index p = rows.cols();
  if (state_.exponent.size() == 0) {
    state_.exponent = VectorXd::Zero(p);
    if (options.balanced) state_.complement = VectorXd::Zero(p);
  }
  if (state_.exponent.size() != p) throw InputError("The rows do not have the columns of the state.");
  const auto power = [&](double e) { return std::pow(options_.promotion, e); };
  weight_ = state_.exponent.unaryExpr(power);
  complement_weight_ = state_.complement.unaryExpr(power);
  complement_total_ = complement_weight_.sum();
}

double Winnow::score(Index row) const {
  const SparseRows::Row r = rows_.row(row);
  double sum = 0;
  for (Index k = 0; k < r.size; ++k) sum += weight_[r.index[k]];
  if (options_.balanced) {
    sum += complement_total_;
    for (Index k = 0; k < r.size; ++k) sum -= complement_weight_[r.index[k]];
    for (Index k = 0; k < r.n_missing; ++k) sum -= complement_weight_[r.missing[k]];
  }
  return sum - options_.threshold;
}

void Winnow::shift(VectorXd& exponent, VectorXd& weight, Index i, double by) {
  exponent[i] += by;
  weight[i] = std::pow(options_.promotion, exponent[i]);
}

Trial Winnow::learn(Index row, int label, double /* id */) {
  const bool wrong = (score(row) > 0) != (label == 1);
  if (!wrong) return {};
  const SparseRows::Row r = rows_.row(row);
  const double by = label == 1 ? 1 : -1;
  for (Index k = 0; k < r.size; ++k) shift(state_.exponent, weight_, r.index[k], by);
  if (options_.balanced) {
    Index one = 0, gap = 0;
    for (Index i = 0; i < rows_.cols(); ++i) {
      if (one < r.size && r.index[one] == i) {
        ++one;
      } else if (gap < r.n_missing && r.missing[gap] == i) {
        ++gap;
      } else {
        shift(state_.complement, complement_weight_, i, by);
      }
    }
    complement_total_ = complement_weight_.sum();
  }
  ++state_.updates;
  return {true, true};
}

}  // namespace granary::kernel
