// Weights of features when the classes of the samples are known.
//
//   sum_g tr(Q^gg' A^gg' A^gg Q^gg) - gamma sum_{g != h} tr(Q^gh' A^gh' A^gh Q^gh),   A^gh = sum_i alpha_i m_i^g m_i^h'
//
// m_i^g: feature i over the samples of class g; Q^gh: the k_gh leading right singular vectors of A^gh. Wolf and Shashua (JMLR 6,
// 2005), Definition 6. With both signs there is no monotone ascent: the best weights met on the way are kept, by the criterion as
// a function of alpha alone (sums of squares of the k_gh largest singular values).
#pragma once

#include "regress/q_alpha.h"

namespace granary::regress {

struct QAlphaClassesOptions {
  double gamma = 0.5;
  Index k_within = 2;   // k_gg, cut to what a class has
  Index k_between = 1;  // k_gh
  double tol = 1e-8;    // on the change of alpha
  int max_iter = 50;
};
template <class V>
void fields(V& v, QAlphaClassesOptions& t) {
  v("gamma", t.gamma);
  v("k_within", t.k_within);
  v("k_between", t.k_between);
  v("tol", t.tol);
  v("max_iter", t.max_iter);
}

// `x`: q x n, columns m_i standardised over all samples; `labels`: 0, 1, ... for the q samples.
QAlphaResult q_alpha_classes(ConstMatrixRef x, const std::vector<int>& labels, const QAlphaClassesOptions& options,
                             Monitor& monitor);

// Share of the variation of every feature that lies between the classes: where the weights start.
VectorXd between_share(ConstMatrixRef x, const std::vector<int>& labels);

}  // namespace granary::regress
