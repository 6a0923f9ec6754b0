// Around transfer forests: features of image sequences, and how much too small plug-in entropies are.
#pragma once

#include "core/base/fields.h"
#include "core/base/types.h"

namespace granary::ensemble {

// H(t) = tau where |V(t) - V(t - 1)| >= xi, else max(0, H(t - 1) - 1); H(1) = 0; averaged over areas to rows x columns.
struct MotionOptions {
  int height = 0, width = 0;   // of a frame
  int rows = 16, columns = 12;
  double tau = 8, xi = 25;
};
template <class V>
void fields(V& v, MotionOptions& t) {
  v("height", t.height);
  v("width", t.width);
  v("rows", t.rows);
  v("columns", t.columns);
  v("tau", t.tau);
  v("xi", t.xi);
}
// video: frames as columns, each height x width. One row per frame.
MatrixXd motion_history(ConstMatrixRef video, const MotionOptions& options);

// Of K draws from p: the mean of the plug-in entropy, between H(p) - sum_y p_y log(1 + (1 - p_y) / (K p_y)) and H(p); corrected: with (labels met - 1) / (2 K) added.
// Theorem 1 of the paper prints the upper bound as a lower one; the second step of its proof (Jensen) gives E H_K <= H(p).
struct EntropyBounds {
  double entropy = 0, expected = 0, lower = 0, upper = 0, corrected = 0;
};
template <class V>
void fields(V& v, EntropyBounds& t) {
  v("entropy", t.entropy);
  v("expected", t.expected);
  v("lower", t.lower);
  v("upper", t.upper);
  v("corrected", t.corrected);
}
EntropyBounds entropy_bounds(ConstVectorRef p, int draws);

}  // namespace granary::ensemble
