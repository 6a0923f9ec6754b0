#include "regress/scaled_design.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"

namespace granary::regress {

ScaledDesign scale_columns(ConstMatrixRef x, bool center, bool scale) {
  const Index p = x.cols();
  ScaledDesign out;
  out.x.resize(x.rows(), p);
  out.center.resize(p);
  out.scale.resize(p);
  for (Index j = 0; j < p; ++j) {
    const Index at = static_cast<Index>(out.keep.size());
    const double mean = center ? x.col(j).mean() : 0;
    out.x.col(at) = x.col(j).array() - mean;
    const double second = std::sqrt(out.x.col(at).squaredNorm() / static_cast<double>(x.rows()));
    if (!(second > 1e-14 * std::max(std::abs(mean), 1e-300))) continue;
    out.center[at] = mean;
    out.scale[at] = scale ? second : 1;
    out.x.col(at) /= out.scale[at];
    out.keep.push_back(j);
  }
  const Index kept = static_cast<Index>(out.keep.size());
  if (kept == 0) throw InputError("Every column of `x` is constant: there is nothing to estimate.");
  out.x.conservativeResize(Eigen::NoChange, kept);
  out.center.conservativeResize(kept);
  out.scale.conservativeResize(kept);
  return out;
}

std::vector<int> kept_places(const ScaledDesign& design, const std::vector<Index>& which, Index columns) {
  std::vector<int> place(static_cast<std::size_t>(columns), -1), out;
  for (std::size_t k = 0; k < design.keep.size(); ++k) place[static_cast<std::size_t>(design.keep[k])] = static_cast<int>(k);
  if (which.empty())
    for (const int at : place)
      if (at >= 0) out.push_back(at);
  for (const Index j : which) {
    if (j < 0 || j >= columns) throw InputError(message("`which` must name columns 1 to ", columns, ", not ", j + 1, "."));
    if (place[static_cast<std::size_t>(j)] < 0) throw InputError(message("column ", j + 1, " is constant: it has no coefficient to ask for."));
    out.push_back(place[static_cast<std::size_t>(j)]);
  }
  return out;
}

}  // namespace granary::regress
