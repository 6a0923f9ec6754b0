// A picture of rows in many dimensions: their positions, and those of some centres, on the plane of the two directions of largest variance.
#pragma once

#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "core/linalg/design.h"

namespace granary {

struct PrincipalPlane {
  MatrixXd rows, centres;  // two columns each; one column of data gives zeros in the second
  VectorXd share;          // of the variance, for the two directions
};
template <class V>
void fields(V& v, PrincipalPlane& t) {
  v("rows", t.rows);
  v("centers", t.centres);
  v("share", t.share);
}

PrincipalPlane principal_plane(const Design& x, ConstMatrixRef centres, Monitor& monitor);

}  // namespace granary
