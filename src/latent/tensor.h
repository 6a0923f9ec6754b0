// Orthogonal decomposition of a symmetric k x k x k tensor: Anandkumar, Ge, Hsu, Kakade and Telgarsky (JMLR 2014), sections 4 and 5.
//
//   T = sum_i lambda_i v_i (x) v_i (x) v_i,   v_i orthonormal,  lambda_i > 0
//
//   power        Algorithm 1: from random starts u <- T(I, u, u) / |.|, the best value T(u, u, u) is kept, polished and deflated
//   power_stop   Algorithm 2: a start is taken as soon as |T(u,u,u)| >= max{|T|_F / (2 sqrt r), |T(I,I,u)|_F / 1.05}, r components being left
//   joint        the slices T(I, I, eta_m) are diagonalised together by rotations (Cardoso and Souloumiac): all components at once
//   jennrich     eigenvectors of one slice T(I, I, eta)
//   svd          left singular vectors of the k x k^2 unfolding: only where no two lambda are equal
//   ball         maximises T(u, u, u) on the ball by u <- T(I, u, u) + shift u, which climbs at every step; then deflated as in `power`
//
// Section 5.2 prints 1 / sqrt(2 r) in the rule of Algorithm 2; what its analysis supports is 1 / (2 sqrt r). The paper leaves the numbers of starts and steps
// open. Of a tensor that is only nearly orthogonal (estimated moments) the residual says how nearly.
#pragma once

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "core/random/rng.h"

namespace granary::latent {

class Tensor3 {
 public:
  Tensor3() = default;
  explicit Tensor3(Index k) : k_(k), unfolded_(MatrixXd::Zero(k, k * k)) {}
  // From the k x k^2 unfolding (entry i, j, l at row i, column j + k l), averaged over all orders of its indices.
  static Tensor3 symmetric(ConstMatrixRef unfolded);

  Index size() const { return k_; }
  const MatrixXd& unfolded() const { return unfolded_; }
  double norm() const { return unfolded_.norm(); }
  VectorXd times(ConstVectorRef u) const;                // T(I, u, u)
  MatrixXd slice(ConstVectorRef u) const;                // T(I, I, u)
  double value(ConstVectorRef u) const;                  // T(u, u, u)
  void add(double lambda, ConstVectorRef u);             // + lambda u (x) u (x) u
  Tensor3 turned(ConstMatrixRef q) const;                // T(Q', Q', Q')

 private:
  Index k_ = 0;
  MatrixXd unfolded_;
};

enum class TensorMethod { power, power_stop, joint, jennrich, svd, ball };
inline Names<TensorMethod> names(TensorMethod) {
  return {{TensorMethod::power, "power"},
          {TensorMethod::power_stop, "power_stop"},
          {TensorMethod::joint, "joint"},
          {TensorMethod::jennrich, "jennrich"},
          {TensorMethod::svd, "svd"},
          {TensorMethod::ball, "ball"}};
}

struct TensorOptions {
  TensorMethod method = TensorMethod::power;
  int n_starts = 0;       // L; 0: max(20, 3 k)
  int max_iter = 100;     // N
  double tol = 1e-12;     // change of the vector at which steps end
  MatrixXd candidates;    // further starts, one per column (whitened data)
};
template <class V>
void fields(V& v, TensorOptions& t) {
  v("method", t.method);
  v("n_starts", t.n_starts);
  v("max_iter", t.max_iter);
  v("tol", t.tol);
  v("candidates", t.candidates);
}

struct TensorResult {
  VectorXd values;         // lambda, in the order found (falling for `joint` and `svd`)
  MatrixXd vectors;        // columns
  double residual = 0;     // |T - sum lambda v^3|_F / |T|_F
  double coherence = 0;    // max |V'V - I|
  VectorXd attraction;     // largest modulus of the eigenvalues of (2 / lambda) P T(I,I,v) P on the complement of v: below 1, v attracts
  VectorXd curvature;      // largest eigenvalue of 6 T(I,I,v) - 3 lambda I there, over lambda: below 0, v is a maximum of T(u,u,u)
  VectorXd steps;          // change of one more step from v, of the tensor without the components found before (all at once: without the others)
  int starts = 0;
  Convergence convergence;  // residual: the largest of `steps`
};
template <class V>
void fields(V& v, TensorResult& t) {
  v("values", t.values);
  v("vectors", t.vectors);
  v("residual", t.residual);
  v("coherence", t.coherence);
  v("attraction", t.attraction);
  v("curvature", t.curvature);
  v("steps", t.steps);
  v("starts", t.starts);
  v("convergence", t.convergence);
}

// The largest |T(u, u, u)| that steps from `starts` random directions lead to: a lower bound of the operator norm.
double operator_norm(const Tensor3& tensor, int starts, Rng& rng, Monitor& monitor);

TensorResult tensor_decompose(const Tensor3& tensor, Index components, const TensorOptions& options, Rng& rng, Monitor& monitor);

}  // namespace granary::latent
