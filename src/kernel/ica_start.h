// Independent components by moments: whitening, and the two classical rotations that kernel ICA starts from.
//
// Rows of x are observations of x = A s with independent s. With z = whiten(x) of unit covariance, s = W z for an orthogonal W,
// which is found by
//
//   JADE      joint diagonalisation of the fourth cumulants of z (Cardoso and Souloumiac, IEE Proc. F 1993; Cardoso, Neural Comp.
//   1999) FastICA   fixed-point iterations w <- E z g(w'z) - E g'(w'z) w for all rows at once, W <- (W W')^-1/2 W, g = tanh or
//   cubic
//             (Hyvarinen, IEEE Trans. Neural Networks 1999)
#pragma once

#include "core/base/convergence.h"
#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "core/random/rng.h"
#include "core/base/types.h"

namespace granary::kernel {

struct Whitening {
  MatrixXd z;         // m x k, mean 0, covariance I with divisor m
  VectorXd mean;      // of the columns of x
  MatrixXd whitener;  // k x p: z = (x - mean) whitener'
  MatrixXd colourer;  // p x k, its pseudo-inverse
};
// Directions whose standard deviation is below tol times the largest are left out. InputError where nothing varies. Columns are
// scaled first.
Whitening whiten(ConstMatrixRef x, Index components, double tol = 1e-9);

struct IcaRotation {
  MatrixXd w;  // orthogonal, rows are components: s = z w'
  Convergence convergence;
};

IcaRotation jade(const MatrixXd& z, int max_sweeps, Monitor& monitor);

enum class Contrast { tanh, cubic };
inline Names<Contrast> names(Contrast) { return {{Contrast::tanh, "tanh"}, {Contrast::cubic, "cubic"}}; }
struct FastIcaOptions {
  Contrast contrast = Contrast::tanh;
  double tol = 1e-6;  // on 1 - min |w_new'w_old|
  int max_iter = 500;
};
IcaRotation fast_ica(const MatrixXd& z, const MatrixXd& start, const FastIcaOptions& options, Monitor& monitor);

enum class IcaStart { jade, fastica, random, given };
inline Names<IcaStart> names(IcaStart) {
  return {{IcaStart::jade, "jade"}, {IcaStart::fastica, "fastica"}, {IcaStart::random, "random"}, {IcaStart::given, "given"}};
}

struct IcaMomentsOptions {
  int k = 0;  // components
  IcaStart method = IcaStart::jade;
  Contrast contrast = Contrast::tanh;
  double tol = 1e-6;  // of FastICA
  int max_iter = 500;
};
template <class V>
void fields(V& v, IcaMomentsOptions& t) {
  v("k", t.k);
  v("method", t.method);
  v("contrast", t.contrast);
  v("tol", t.tol);
  v("max_iter", t.max_iter);
}

// JADE, FastICA from a random start, or a random rotation.
IcaRotation ica_rotation(const MatrixXd& z, const IcaMomentsOptions& options, Rng& rng, Monitor& monitor);

// s = W (x - mean), x = A s + mean, with components in the order of their part in the variance of x.
struct IcaComponents {
  MatrixXd rotation, w, a, s;
  VectorXd mean;
  MatrixXd whitener;
  Convergence convergence;
};
template <class V>
void fields(V& v, IcaComponents& t) {
  v("rotation", t.rotation);
  v("W", t.w);
  v("A", t.a);
  v("S", t.s);
  v("mean", t.mean);
  v("whitener", t.whitener);
  v("convergence", t.convergence);
}
IcaComponents ica_components(const IcaRotation& rotation, const Whitening& white);
IcaComponents ica_by_moments(ConstMatrixRef x, const IcaMomentsOptions& options, Rng& rng, Monitor& monitor);

MatrixXd random_rotation(Index n, Rng& rng);     // uniform on the orthogonal group
MatrixXd nearest_orthogonal(const MatrixXd& w);  // (W W')^-1/2 W
// Components in the order of their part in the variance of x, each with its largest mixing coefficient positive.
MatrixXd order_components(const MatrixXd& w, const Whitening& white);

}  // namespace granary::kernel
