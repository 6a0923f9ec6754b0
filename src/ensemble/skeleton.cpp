#include "ensemble/skeleton.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/errors.h"

namespace granary::ensemble {
namespace {

using Point = Eigen::Matrix<double, 3, 1>;
using Frame = Eigen::Matrix<double, 3, 3>;

Point cross(const Point& a, const Point& b) { return Point(a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                                                           a[0] * b[1] - a[1] * b[0]); }

}  // namespace

MatrixXd skeleton_features(ConstMatrixRef frames, const SkeletonOptions& o) {
  const Index n = frames.rows(), all = frames.cols() / 3;
  require(frames.cols() == 3 * all && all >= 3, "a frame needs three numbers for each of at least three joints.");
  const auto inside = [&](int j) { return j >= 0 && j < all; };
  require(inside(o.origin) && o.plane.size() == 3 && std::all_of(o.plane.begin(), o.plane.end(), inside),
          message("`origin` and `plane` must name joints, 1 to ", all, "."));
  require(o.pairs.cols() == 2 && o.pairs.rows() >= 1, "`pairs` must have two columns and at least one row.");
  for (Index r = 0; r < o.pairs.rows(); ++r) require(inside(o.pairs(r, 0)) && inside(o.pairs(r, 1)),
                                                     message("`pairs` must name joints, 1 to ", all, "."));
  std::vector<int> joints = o.joints;
  if (joints.empty()) {
    joints.resize(static_cast<std::size_t>(all));
    std::iota(joints.begin(), joints.end(), 0);
  }
  require(std::all_of(joints.begin(), joints.end(), inside), message("`joints` must name joints, 1 to ", all, "."));
  std::vector<Index> kept;
  const auto wanted = [&](int j) { return std::find(joints.begin(), joints.end(), j) != joints.end(); };
  for (Index r = 0; r < o.pairs.rows(); ++r)
    if (wanted(o.pairs(r, 0)) && wanted(o.pairs(r, 1))) kept.push_back(r);
  const Index still = 3 * static_cast<Index>(joints.size() + kept.size());
  MatrixXd out = MatrixXd::Constant(n, o.speed ? 2 * still : still, std::numeric_limits<double>::quiet_NaN());
  Eigen::Matrix<double, 3, Eigen::Dynamic> body(3, all);
  for (Index t = 0; t < n; ++t) {
    for (Index j = 0; j < all; ++j) body.col(j) = frames.block(t, 3 * j, 1, 3).transpose();
    if (body.allFinite()) {
      const Point first = body.col(o.plane[0]), along = body.col(o.plane[1]) - first, other = body.col(o.plane[2]) - first,
          normal = cross(along, other);
      if (!(normal.norm() > 1e-9 * along.norm() * other.norm()) || !(normal.norm() > 0)) {
        throw InputError(message("the three joints of `plane` lie on a line in frame ", t + 1, "."));
      }
      Frame turn;
      turn.row(0) = along.normalized().transpose();
      turn.row(2) = normal.normalized().transpose();
      turn.row(1) = cross(turn.row(2).transpose(), turn.row(0).transpose()).transpose();
      const Point from = body.col(o.origin);
      double length = 0;
      for (Index r = 0; r < o.pairs.rows(); ++r) length += (body.col(o.pairs(r, 1)) - body.col(o.pairs(r, 0))).norm();
      if (!(length > 0)) throw InputError(message("all pairs have length zero in frame ", t + 1, "."));
      for (Index j = 0; j < all; ++j) {
        const Point moved = body.col(j) - from;
        for (Index a = 0; a < 3; ++a) body(a, j) = (turn(a, 0) * moved[0] + turn(a, 1) * moved[1] + turn(a, 2)
                                                    * moved[2]) / length;
      }
      Index at = 0;
      for (const int j : joints)
        for (Index a = 0; a < 3; ++a) out(t, at++) = body(a, j);
      for (const Index r : kept)
        for (Index a = 0; a < 3; ++a) out(t, at++) = body(a, o.pairs(r, 1)) - body(a, o.pairs(r, 0));
    }
    if (!o.speed) continue;
    for (Index c = 0; c < still; ++c) out(t, still + c) = t > 0 ? out(t, c) - out(t - 1, c) : out(t, c) - out(t, c);
  }
  return out;
}

}  // namespace granary::ensemble
