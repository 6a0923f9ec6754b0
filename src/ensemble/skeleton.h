// Features of a body followed by its joints: Wu and Cheng (JMLR 2014), Appendix A. In every frame
//
//   1. the joint `origin` moves to the origin;
//   2. the plane through the three joints of `plane` is turned to be orthogonal to the third axis, with the first axis from the
//      first to the second of them (the paper leaves the turn within the plane open);
//   3. all is divided by the sum of the lengths of `pairs`.
//
// Features: positions of `joints`, differences along those of `pairs` whose both ends are among them, and, with `speed`, how both
// change since the frame before; nought in the first. Twelve joints and eleven pairs: 2 (36 + 33) = 138. A frame with a joint
// that is not a number has no features; nor has the change after it.
#pragma once

#include <vector>

#include "core/base/fields.h"
#include "core/base/types.h"

namespace granary::ensemble {

struct SkeletonOptions {
  int origin = 0;
  std::vector<int> plane;       // three joints
  Eigen::MatrixXi pairs;        // rows: two joints
  std::vector<int> joints;      // whose features are wanted; empty: all
  bool speed = true;
};
template <class V>
void fields(V& v, SkeletonOptions& t) {
  v("origin", positions(t.origin));
  v("plane", positions(t.plane));
  v("pairs", positions(t.pairs));
  v("joints", positions(t.joints));
  v("speed", t.speed);
}

// frames: T x 3J, the three coordinates of a joint side by side.
MatrixXd skeleton_features(ConstMatrixRef frames, const SkeletonOptions& options);

}  // namespace granary::ensemble
