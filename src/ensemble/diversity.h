// How much of an ensemble's error is whose: members f_i(x), their mean or weighted sum fbar, the response t.
//
//   ambiguity   (fbar - t)^2 = sum_i c_i (f_i - t)^2 - sum_i c_i (f_i - fbar)^2    in every row, weights c on the simplex   (10)
//   variances   E (fbar - t)^2 = bias^2 + var / M + (1 - 1/M) covar                at every point, over trainings           (6-9)
//               mean error of a member = bias^2 + Omega,  ambiguity = Omega - var / M - (1 - 1/M) covar     (12-14)
//
// Brown, Wyatt and Tino (JMLR 2005). Expectations are means over the repetitions, so that the identities hold to rounding. Over
// points squares are averaged, not averages squared.
#pragma once

#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary::ensemble {

struct AmbiguityResult {
  VectorXd prediction;                            // of the ensemble, by row
  VectorXd error, member_error, ambiguity;        // by row: that of the ensemble is the second less the third
  VectorXd by_member_error, by_member_ambiguity;  // means over the rows
  MatrixXd correlation;                           // of the members' errors; NaN where an error does not vary
};
template <class V>
void fields(V& v, AmbiguityResult& t) {
  v("prediction", t.prediction);
  v("error", t.error);
  v("member_error", t.member_error);
  v("ambiguity", t.ambiguity);
  v("by_member_error", t.by_member_error);
  v("by_member_ambiguity", t.by_member_ambiguity);
  v("correlation", t.correlation);
}

// members: rows x members. weights: of the members, empty for equal ones.
AmbiguityResult ambiguity(ConstMatrixRef members, ConstVectorRef y, ConstVectorRef weights, Monitor& monitor);

struct VarianceResult {
  VectorXd bias, variance, covariance;  // by point; covariance NaN for one member
  VectorXd error, member_error, ambiguity, omega;
};
template <class V>
void fields(V& v, VarianceResult& t) {
  v("bias", t.bias);
  v("variance", t.variance);
  v("covariance", t.covariance);
  v("error", t.error);
  v("member_error", t.member_error);
  v("ambiguity", t.ambiguity);
  v("omega", t.omega);
}

// members: by point one column with the predictions of member 1 in all repetitions, then of member 2, ...; truth: by point.
VarianceResult variances(ConstMatrixRef members, Index repetitions, ConstVectorRef truth, Monitor& monitor);

// By what (f_i - t) is replaced in the gradient of a member, by row and member (Appendix C): A = f_i - t, B = f_i - fbar, C = B /
// M, D = the other members' part, -C;
// `single` A, `nc` A - lambda B, `whole` (A - B) / M.
struct GradientParts {
  MatrixXd a, b, c, d, single, nc, whole;
};
template <class V>
void fields(V& v, GradientParts& t) {
  v("a", t.a);
  v("b", t.b);
  v("c", t.c);
  v("d", t.d);
  v("single", t.single);
  v("nc", t.nc);
  v("whole", t.whole);
}
GradientParts gradient_parts(ConstMatrixRef members, ConstVectorRef y, double lambda);

// e_div of (17), averaged over the rows: (1 - kappa) times half the mean error of a member plus kappa times half that of the
// ensemble.
double nc_objective(ConstMatrixRef members, ConstVectorRef y, double kappa);

}  // namespace granary::ensemble
