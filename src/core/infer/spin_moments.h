// Approximate moments of an Ising model: the "(B, V, S, D)-samplers" and their deterministic relatives.
//
// Honorio (PhD thesis, Stony Brook 2012), sections 5.2.3 and 5.4. Model and notation as in spin_states.h; every moment returned
// lies in [-1, 1].
#pragma once

#include "core/base/convergence.h"
#include "core/infer/spin_states.h"

namespace granary {

enum class MomentMethod { exact, gibbs, importance, persistent, mean_field, belief };
inline Names<MomentMethod> names(MomentMethod) {
  return {{MomentMethod::exact, "exact"},    {MomentMethod::gibbs, "gibbs"},           {MomentMethod::importance, "importance"},
          {MomentMethod::persistent, "pcd"}, {MomentMethod::mean_field, "mean_field"}, {MomentMethod::belief, "belief"}};
}

struct MomentOptions {
  int samples = 1000;
  int sweeps = 5;         // Gibbs sweeps on each sample
  double damping = 0.5;   // mean field and belief propagation
  bool diagnose = false;  // compute r_hat
  double tol = 1e-8;      // largest change of a mean or message
  int max_iter = 200;     // belief propagation; mean field takes ten times as many
};
template <class V>
void fields(V& v, MomentOptions& t) {
  v("samples", t.samples);
  v("sweeps", t.sweeps);
  v("damping", t.damping);
  v("diagnose", t.diagnose);
  v("tol", t.tol);
  v("max_iter", t.max_iter);
}

struct MomentResult {
  VectorXd mean;
  MatrixXd second;
  double log_partition = Convergence::unknown;  // exact; mean field: lower bound; importance: estimate; belief: Bethe
  double effective_samples = Convergence::unknown;
  double r_hat = Convergence::unknown;  // Gibbs: of the energy over the second half of the sweeps, between and within chains
  Convergence convergence;
};
template <class V>
void fields(V& v, MomentResult& t) {
  v("mean", t.mean);
  v("second", t.second);
  v("logz", any_number(t.log_partition));
  v("ess", any_number(t.effective_samples));
  v("r_hat", any_number(t.r_hat));
  v("convergence", t.convergence);
}

struct MeanField {
  VectorXd mean;
  double log_partition = 0;  // E_q energy + entropy of q, never above log Z
  Convergence convergence;
};
// m_i = tanh(b_i + 2 sum_j w_ij m_j), one variable after the other, damped.
MeanField mean_field(ConstMatrixRef w, ConstVectorRef b, ConstVectorRef start, const MomentOptions& options, Monitor& monitor);

// One systematic sweep of every row of x (rows of -1, +1): P(x_i = +1 | rest) = 1 / (1 + exp(-2 (b_i + 2 sum_j w_ij x_j))).
void gibbs_sweep(ConstMatrixRef w, ConstVectorRef b, MatrixRef x, Rng& rng, Monitor& monitor);

// `chains` is the state of the persistent chains: filled on the first call, kept afterwards. Other methods leave it alone.
MomentResult spin_moments(ConstMatrixRef w, ConstVectorRef b, MomentMethod method, const MomentOptions& options, MatrixXd& chains,
                          Rng& rng, Monitor& monitor);

// Loopy belief propagation (damped sum-product on log ratios); exact on forests. Pairs that share no edge get
// the covariance that a shortest path between them carries: exact on forests too.
MomentResult belief_moments(ConstMatrixRef w, ConstVectorRef b, const MomentOptions& options, Monitor& monitor);

struct SpinSampleOptions {
  Index rows = 1;
  bool exact = true;  // by inversion, component by component; else Gibbs
  int burn_in = 1000, thin = 10;
};
template <class V>
void fields(V& v, SpinSampleOptions& t) {
  v("rows", t.rows);
  v("exact", t.exact);
  v("burn_in", t.burn_in);
  v("thin", t.thin);
}
MatrixXd spin_sample(const SpinModel& model, const SpinSampleOptions& options, Rng rng, Monitor& monitor);

// Rows from the Gibbs sampler: `chains` independent chains, each `burn_in` sweeps and then one row every `thin`.
MatrixXd gibbs_spin_sample(ConstMatrixRef w, ConstVectorRef b, Index rows, int burn_in, int thin, Rng& rng, Monitor& monitor);

}  // namespace granary
