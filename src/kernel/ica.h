// Kernel independent component analysis: the rotation of whitened data whose components depend least on each other.
//
//   minimise  f(W) = measure of dependence of the columns of z W'   over orthogonal W
//
// Descent along geodesics W <- expm(q D) W, D skew (Edelman, Arias, Smith 1998; section 4.3 of Gretton, Herbrich, Smola,
// Bousquet, Schoelkopf, JMLR 6, 2005). Two components: all angles on a grid, then a line search, so the minimum is the global
// one. More: from each start, D is the gradient in the Lie algebra, made conjugate to the last direction; q from a parabola
// through the value and slope at 0 and one more value, kept where it lowers f. Then the same with the next kernel, half as wide
// ("polishing"). What differs from the paper: the gradient is exact (ica_contrast.h) where the kernel has derivatives, by
// differences over Jacobi rotations where not; directions are conjugate; nu of the kernel mutual information is fixed when a
// kernel comes into use, since it is a minimum over data points and would make f jump.
#pragma once

#include <vector>

#include "core/base/convergence.h"
#include "core/kernel/kernel.h"
#include "core/kernel/kernel_features.h"
#include "core/base/monitor.h"
#include "kernel/dependence.h"
#include "kernel/dependence_variable.h"
#include "kernel/ica_start.h"

namespace granary::kernel {

struct KernelIcaOptions {
  DependenceOptions dependence;
  KernelFeaturesOptions rank;
  bool fixed_nu = false;  // nu as in `dependence`, else by the rule
  NuRule nu_rule = NuRule::gram;
  double tol = 1e-4;   // on the largest angle of a step
  int max_iter = 100;  // per kernel
  int grid = 90;       // angles, for two components
  int threads = 1;
  int k = 0;                        // components
  IcaStart start = IcaStart::jade;  // of the first descent; the others are from random rotations
  int n_starts = 1;
  MatrixXd unmixing;  // for a given start: k x p
};
template <class V>
void fields(V& v, KernelIcaOptions& t) {
  v("measure", t.dependence.measure);
  v("variances", t.dependence.variances);
  v("kappa", t.dependence.kappa);
  v("nu", t.dependence.nu);
  v("nu_rule", t.nu_rule);
  v("fixed_nu", t.fixed_nu);
  fields(v, t.rank);
  v("tol", t.tol);
  v("max_iter", t.max_iter);
  v("threads", t.threads);
  v("k", t.k);
  v("start", t.start);
  v("n_starts", t.n_starts);
  v("unmixing", t.unmixing);
}

struct KernelIcaResult {
  MatrixXd w;                 // orthogonal
  double value = 0;           // f with the last kernel
  double nu = 0;              // with the last kernel
  bool nu_raised = false;     // the rule's nu left f undefined at the start, so the safe one was taken
  std::vector<double> trace;  // f after every step, kernel after kernel
  std::vector<int> stage;     // the kernel of each
  Convergence convergence;
};

// Kernels of one input, in the order of use.
KernelIcaResult kernel_ica(const MatrixXd& z, const MatrixXd& start, const std::vector<Kernel>& kernels,
                           const KernelIcaOptions& options, Monitor& monitor);

// The same of data as they come: whitened, from every start, and the lowest value wins. The stream of a start does not depend on
// how many there are.
struct KernelIcaFit {
  IcaComponents components;
  KernelIcaResult best;
  std::vector<double> starts;  // value reached from each
  Index winner = 0;
};
template <class V>
void fields(V& v, KernelIcaFit& t) {
  fields(v, t.components);
  v("value", t.best.value);
  v("nu", t.best.nu);
  v("nu_raised", t.best.nu_raised);
  v("trace", t.best.trace);
  v("stage", t.best.stage);
  v("starts", t.starts);
  v("best", positions(t.winner));
}
KernelIcaFit kernel_ica(ConstMatrixRef x, const std::vector<KernelSpec>& kernels, const KernelIcaOptions& options, const Rng& rng,
                        Monitor& monitor);

MatrixXd skew_exponential(const MatrixXd& skew);  // expm of a skew-symmetric matrix: orthogonal

}  // namespace granary::kernel
