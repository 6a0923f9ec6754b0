// Learning curves of soft committee machines: gradient descent, one example per update, on p = alpha N fixed examples.
//
//   student  sum_l g(h_l),  h_l = w_l'x / sqrt(N),  g(u) = erf(u / sqrt 2);   x ~ N(0, I)
//   teacher  y = sum_m g(k_m + xi_m) + xi_0,  k_m = w*_m'x / sqrt(N),  var xi_s = sigma_s^2
//   update   w_l <- w_l - (eta / sqrt N) x d_l,  d_l = g'(h_l) [sum g(h) - y],  time t = updates / N
//
// Barber and Sollich (NIPS 10, 1998), equations (5) to (12). The eigenvalues of A = (1/N) sum x x' are cut into equal blocks c
// with mean a_c, and the order parameters Q^c = w_l.w_l', R^c = w_l.w*_m, U^c = w_l.b_s, b_s = sum_mu xi_s^mu x^mu / sqrt(N),
// each projected on block c, obey
//
//   dR^c/dt = -eta <k^c d>,   dU^c/dt = -eta <c^c d>,   dQ^c/dt = -eta (<h^c d'> + <d h^c'>) + eta^2 (a_c / alpha) <d d'>,
//
// the averages being over Gaussian activations with the covariances of (9) and (10). This is exact for linear g and for alpha ->
// infinity, where it becomes the equations of Saad and Solla (Phys. Rev. E 1995), and an approximation otherwise: on a finite
// training set activations are not Gaussian.
#pragma once

#include "core/base/convergence.h"
#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "core/random/rng.h"
#include "core/math/ode.h"
#include "core/base/types.h"

namespace granary::kernel {

struct CommitteeModel {
  int students = 1;  // L
  int teachers = 1;  // M
  MatrixXd teacher;  // T, M x M overlaps w*_m.w*_m' / N
  VectorXd noise;    // sigma_s^2, s = 0 (output), 1..M (activations)
  double eta = 1;
  VectorXd ratio;            // a_c / alpha per block, of mean one
  double inverse_alpha = 0;  // 1 / alpha; zero for an infinite training set
  bool linear = false;       // g(u) = u
  bool noisy_test = true;    // the test error counts the teacher's noise, as definition (2) does

  Index variables() const { return students + teachers + 1; }  // (h, u = k + xi, xi_0)
  Index block_size() const { return students * (students + 2 * teachers + 1); }
};

enum class CommitteeActivation { erf, linear };
inline Names<CommitteeActivation> names(CommitteeActivation) {
  return {{CommitteeActivation::erf, "erf"}, {CommitteeActivation::linear, "linear"}};
}

// A model as it is asked for. alpha infinite: one block, and no correlation of the weights with the noise.
struct CommitteeSetting {
  double alpha = 1, eta = 1;
  int students = 1;
  MatrixXd teacher;
  VectorXd noise;
  int blocks = 10;
  CommitteeActivation activation = CommitteeActivation::erf;
  bool noisy_test = true;
  MatrixXd q, r;  // overlaps at the start, for curves
};
template <class V>
void fields(V& v, CommitteeSetting& t) {
  v("alpha", t.alpha);
  v("eta", t.eta);
  v("L", t.students);
  v("teacher", t.teacher);
  v("noise", t.noise);
  v("blocks", t.blocks);
  v("activation", t.activation);
  v("noisy_test", t.noisy_test);
  v("q0", t.q);
  v("r0", t.r);
}
CommitteeModel committee_model(const CommitteeSetting& setting);

// Overlaps R of a student at random: normals of this size in the span of the teacher's vectors, halved until vectors with
// overlaps (q, r, teacher) exist; zero where the student's are zero.
MatrixXd random_overlaps(double size, const MatrixXd& q, const MatrixXd& teacher, Rng& rng);
bool overlaps_exist(const MatrixXd& q, const MatrixXd& r, const MatrixXd& teacher);

// Averages over zero-mean Gaussian variables (h_1..h_L, u_1..u_M, xi_0) with covariance `c`. In closed form: the factors g'(h)
// only tilt the law. <v d_l> = sum_i B(l, i) cov(v, variable i), for every v jointly Gaussian with them.
MatrixXd gradient_coefficients(const MatrixXd& c, Index students, bool linear);
// <d_l d_l'>
MatrixXd gradient_products(const MatrixXd& c, Index students, bool linear);
// 1/2 <(sum g(h) - sum g(u) - xi_0)^2>
double mean_half_square(const MatrixXd& c, Index students, bool linear);

// The order parameters of all blocks in one vector: per block Q (L x L), R (L x M), U (L x (M + 1), output noise first), by
// columns.
VectorXd committee_start(const CommitteeModel& model, const MatrixXd& q, const MatrixXd& r);
MatrixXd training_covariance(const CommitteeModel& model, const VectorXd& state);
MatrixXd test_covariance(const CommitteeModel& model, const MatrixXd& q, const MatrixXd& r);
void committee_derivative(const CommitteeModel& model, const VectorXd& state, VectorXd& derivative);

struct CommitteeCurve {
  VectorXd test, train;  // one per time reached; fewer than asked for where the weights diverge
  MatrixXd q, r, u;      // averages over blocks, one column per time
  double least_eigenvalue =
      0;  // of the training covariance along the way, relative to its largest: no less than zero but for rounding
  OdeResult ode;
  Convergence convergence;
};
template <class V>
void fields(V& v, CommitteeCurve& t) {
  v("test", t.test);
  v("train", t.train);
  v("q", t.q);
  v("r", t.r);
  v("u", t.u);
  v("least_eigenvalue", t.least_eigenvalue);
  v("diverged", t.ode.diverged);
  v("reached", t.ode.time);
  v("convergence", t.convergence);
}
CommitteeCurve committee_curve(const CommitteeModel& model, const MatrixXd& q, const MatrixXd& r, ConstVectorRef times,
                               const OdeOptions& options, Monitor& monitor);

}  // namespace granary::kernel
