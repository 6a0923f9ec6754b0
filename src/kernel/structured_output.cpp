#include "kernel/structured_output.h"

#include <algorithm>

namespace granary::kernel {

double dot(const SparseVector& a, const SparseVector& b) {
  double sum = 0;
  std::size_t i = 0, j = 0;
  while (i < a.index.size() && j < b.index.size()) {
    if (a.index[i] < b.index[j]) {
      ++i;
    } else if (a.index[i] > b.index[j]) {
      ++j;
    } else {
      sum += a.value[i++] * b.value[j++];
    }
  }
  return sum;
}

SparseVector SparseBuilder::finish() {
  const auto earlier = [](const Term& a, const Term& b) { return a.index < b.index; };
  if (!std::is_sorted(terms_.begin(), terms_.end(), earlier)) std::stable_sort(terms_.begin(), terms_.end(), earlier);
  SparseVector v;
  v.index.reserve(terms_.size());
  v.value.reserve(terms_.size());
  for (std::size_t k = 0; k < terms_.size();) {
    const int index = terms_[k].index;
    double sum = 0;
    for (; k < terms_.size() && terms_[k].index == index; ++k) sum += terms_[k].value;
    if (sum != 0) {
      v.index.push_back(index);
      v.value.push_back(sum);
    }
  }
  terms_.clear();
  return v;
}

SparseVector Output::psi(Index i, const Label& y) const {
  SparseBuilder builder;
  add_psi(i, y, 1, builder);
  return builder.finish();
}

SparseVector Output::difference(Index i, const Label& y) const {
  SparseBuilder builder;
  add_psi(i, truth(i), 1, builder);
  add_psi(i, y, -1, builder);
  return builder.finish();
}

}  // namespace granary::kernel
