// The dual of a decorrelating row as its bound falls: an exact path, and where it ends.
//
//   v(mu) = argmin_v 1/2 v'Sv - v_i + mu |v|_1,   S = X'X / n,   mu from 1 down
//
// v is piecewise linear in mu (Osborne, Presnell, Turlach, IMA J. Numer. Anal. 2000). With A = {j : |c_j| = mu}, c = Sv - e_i,
// and
// s = -sign(c_A): dv_A = S_AA^-1 s per unit that mu falls. A column joins where its |c_j| reaches mu and leaves where its v_j
// reaches zero.
// A column that is a combination of those in A brings a direction nu with X nu = 0 along which the objective does not change:
// v moves along it
// until another column leaves (a pivot of the simplex method), and where none does nu is a ray, a certificate of what lies below:
//
//   X nu = 0,  nu_i / |nu|_1 = mu_min   so   nu_i = nu'(e_i - S m) <= mu |nu|_1 for every row m that is feasible at mu.
#pragma once

#include <vector>

#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary::regress {

class RowPath {
 public:
  // Down to `target`, or to where no row is feasible. `x` must outlive the path.
  RowPath(ConstMatrixRef x, Index i, double target, Monitor& monitor);

  enum class End { reached, ray, stopped };  // stopped: the arithmetic could not go on; nothing is said about mu below
  End end() const { return end_; }
  double mu() const { return mu_; }       // the last one on the path; after a ray the smallest feasible one
  const VectorXd& ray() const { return ray_; }
  VectorXd at(double mu) const;           // v(mu), for mu not below mu()

 private:
  struct Piece {
    double mu;  // where it begins
    std::vector<Index> active;
    VectorXd v, slope;
  };
  ConstMatrixRef x_;
  End end_ = End::stopped;
  double mu_ = 1;
  VectorXd ray_;
  std::vector<Piece> pieces_;
};

}  // namespace granary::regress
