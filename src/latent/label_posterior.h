// The labels of a finite mixture after Bayes: which component each row came from, with the parameters integrated out.
//
//   p(Y | X) ~ prod_h (gamma)^(n_h) m(x_{Y = h}),   gamma^(n) the rising factorial of Dirichlet(gamma) shares, m the marginal of a conjugate family
//
// Draws of the partition come from the collapsed sampler under the Pitman-Yor law with sigma = -gamma, theta = k gamma, which is this law without names. The names are given
// draw by draw: blocks are assigned to components so that the sum of the memberships of a reference (the fit of maximum likelihood) is largest, the best case of
// Yamazaki (JMLR 2014), section 2; blocks that are missing in a draw are empty components.
#pragma once

#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "latent/conjugate_family.h"

namespace granary::latent {

struct LabelPosterior {
  MatrixXd membership;      // n x k: p(y_i = h | X), the share of the draws
  MatrixXd predicted;       // new rows x k: p(y = h | x, X), the mean over the draws
  Eigen::MatrixXi labels;   // draws x n, with the names of the reference
};
template <class V>
void fields(V& v, LabelPosterior& t) {
  v("membership", t.membership);
  v("predicted", t.predicted);
  v("labels", positions(t.labels));
}

// family: the rows of the fit, then new ones; partitions: draws x rows of the fit; reference: memberships of these rows, one column per component.
LabelPosterior label_posterior(const BlockFamily& family, double gamma, const Eigen::MatrixXi& partitions, ConstMatrixRef reference, Monitor& monitor);

}  // namespace granary::latent
