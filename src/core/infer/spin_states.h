// The hypercube {-1, +1}^n behind Ising models and influence games: all energies, and all moments up to pairs, in O(2^n).
//
//   energy(x) = x'Wx + b'x,   W symmetric with zero diagonal;   p(x) = exp(energy(x)) / Z
//
// State number s has x_i = +1 where bit i of s is set. Energies come by doubling: with spin k added, energy(x, x_k) =
// energy(x) + x_k (b_k + 2 sum_{j<k} w_kj x_j), and the bracket doubles the same way, so that a state costs a few additions,
// each energy is a sum of at most n terms, and the loops run over contiguous memory. (A Gray-code walk costs O(n) per state and
// lets rounding pile up over 2^n steps.)
//
// Moments are the Walsh-Hadamard transform of p at the sets of one and two spins. Only those are followed: halving p by
// its last spin into sum and difference, the differences carry the moments with that spin, the sums all others:
// 2^n + 2^(n-1) + ... additions instead of n 2^n.
#pragma once

#include <vector>

#include "core/base/monitor.h"
#include "core/random/rng.h"
#include "core/base/fields.h"
#include "core/base/types.h"

namespace granary {

constexpr int max_enumerated_spins = 25;  // 2^25 doubles are 256 MB

struct SpinModel {
  MatrixXd w;  // symmetric, zero diagonal
  VectorXd b;
};
template <class V>
void fields(V& v, SpinModel& t) {
  v("W", t.w);
  v("b", t.b);
}
void check(const SpinModel& model);  // require_spin_model(), for models that come from R

struct SpinMoments {
  double log_partition = 0;
  VectorXd mean;    // E x_i
  MatrixXd second;  // E x_i x_j, ones on the diagonal
};

// InputError unless w is square, finite, symmetric with zero diagonal and fits b.
void require_spin_model(ConstMatrixRef w, ConstVectorRef b);

VectorXd spin_energies(ConstMatrixRef w, ConstVectorRef b);

// Mean and second moments of the law with these weights (any sum) on 2^n states; `weights` is used up.
void spin_moments_of(VectorXd& weights, int n, double& total, VectorXd& mean, MatrixXd& second);

// Fast Walsh-Hadamard transform in place: out[t] = sum_s in[s] prod_{i in t} x_i(s).
void walsh_hadamard(VectorXd& values);

// Connected components of the graph w_ij != 0; members increasing.
std::vector<std::vector<int>> spin_components(ConstMatrixRef w);
int largest_component(ConstMatrixRef w);

// Exact, one connected component at a time: log Z adds, moments across components are products. InputError if one component has
// more than max_enumerated_spins.
SpinMoments exact_moments(ConstMatrixRef w, ConstVectorRef b, Monitor& monitor);
double exact_log_partition(ConstMatrixRef w, ConstVectorRef b, Monitor& monitor);

// p(x) of all 2^n states; n at most max_enumerated_spins.
VectorXd spin_probabilities(ConstMatrixRef w, ConstVectorRef b);

// Rows of -1 and +1 from the exact law, by inversion, component by component.
MatrixXd exact_spin_sample(ConstMatrixRef w, ConstVectorRef b, Index rows, Rng& rng, Monitor& monitor);

// sum_x p(x) log(p(x) / q(x)) for two Ising models; exact.
double spin_divergence(const SpinModel& p, const SpinModel& q, Monitor& monitor);

}  // namespace granary
