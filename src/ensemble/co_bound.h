// One round of Bayesian co-boosting for one class c: Wu and Cheng (JMLR 2014), section 3.1.2. With s_i = 1 for cases of the
// class, -1 for others, log odds R_i of before, and the answers h_v of the views, the bound on the number of one-against-the-rest
// errors is
//
//   B = sum_i w_i exp(-s_i (R_i + sum_v b_v,[h_v(i) = c])),    b = log of the likelihood ratios P(h_v | z = c) / P(h_v | z != c)
//
// For two views its four ratios are alpha_1..alpha_4 of equation 11. B is convex in b for any number of views and depends on the
// cases through 2^(V + 1) cells only, S of equation 12 for V = 2. Each b has a closed form given the others (equation 14); after
// ten rounds of those Newton steps finish. To each cell `smooth` times the sum of all is added, without which an empty one would
// send a ratio to 0 or infinity; B itself still never rises. One view: alpha_1 = sqrt(S[h = c, y = c] / S[h = c, y != c]),
// confidence-rated boosting.
//
// (alpha_1, alpha_2) -> k (alpha_1, alpha_2) with the other view's divided by k changes nothing: here the sum b_v0 + b_v1 is the
// same for all views.
#pragma once

#include <vector>

#include "core/base/types.h"

namespace granary::ensemble {

constexpr Index most_views = 12;

struct BoundStep {
  VectorXd hit, miss;  // of every view: b where h_v = c, and where h_v != c
  double before = 0, after = 0;
  int sweeps = 0, newton = 0;
  double residual = 0;  // largest derivative of the smoothed bound, relative to it
};

// answers: cases x views, classes from 0. log_odds: of class c, every case. weights: of the cases.
BoundStep bound_step(const Eigen::MatrixXi& answers, const VectorXi& y, ConstVectorRef log_odds, const VectorXd& weights,
                     int label, double smooth);

// P(h = c | z != c) and P(h = c | z = c) of the two ratios of a view (equation 15), NaN where no probabilities have these ratios.
void probabilities_of(double hit, double miss, double& if_other, double& if_class);

}  // namespace granary::ensemble
