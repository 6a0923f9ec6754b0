// Random numbers that are the same on every platform and at every number of threads.
//
// The generator is xoshiro256++ (Blackman, Vigna 2021), its state filled from a 64-bit key by SplitMix64. Three ways to draw:
//
//   Rng rng(seed);  rng.normal();                 in sequence
//   Rng mine = rng.stream(task);                  a child addressed by `task`, whatever rng has drawn before: one per parallel
//   task Rng::at(seed, i, j).normal();                 a draw that can be asked for again: frozen noise
//
// The samplers use no std:: distribution. Counts are exact in distribution up to rounding of doubles, at any parameter.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "core/base/types.h"

namespace granary {

class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t state) : state_(state) {}
  std::uint64_t operator()() { return finish(state_ += 0x9e3779b97f4a7c15u); }

  // A bijection of 64-bit words whose output bits each depend on every input bit.
  static std::uint64_t finish(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t state_;
};

class Xoshiro256 {
 public:
  explicit Xoshiro256(const std::array<std::uint64_t, 4>& state) : s_(state) {}

  std::uint64_t operator()() {
    const std::uint64_t result = rotate(s_[0] + s_[3], 23) + s_[0];
    const std::uint64_t t = s_[1] << 17;
    s_[2] ^= s_[0];
    s_[3] ^= s_[1];
    s_[1] ^= s_[2];
    s_[0] ^= s_[3];
    s_[2] ^= t;
    s_[3] = rotate(s_[3], 45);
    return result;
  }

 private:
  static std::uint64_t rotate(std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
  std::array<std::uint64_t, 4> s_;
};

class Rng {
 public:
  using result_type = std::uint64_t;
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }

  explicit Rng(std::uint64_t seed) : key_(seed), bits_(expand(seed)) {}

  Rng stream(std::uint64_t task) const { return Rng(combine(key_, task)); }
  static Rng at(std::uint64_t seed, std::uint64_t key1, std::uint64_t key2 = 0) {
    return Rng(combine(combine(seed, key1), key2));
  }
  // Cheaper than at(...).uniform(): no state is built. In [0, 1).
  static double uniform_at(std::uint64_t seed, std::uint64_t key1, std::uint64_t key2 = 0) {
    return to_unit(combine(combine(seed, key1), key2));
  }
  static double normal_at(std::uint64_t seed, std::uint64_t key1, std::uint64_t key2 = 0) {
    return at(seed, key1, key2).normal();
  }
  static double gumbel_at(std::uint64_t seed, std::uint64_t key1, std::uint64_t key2 = 0) {
    return at(seed, key1, key2).gumbel();
  }

  result_type operator()() { return bits_(); }

  // Continuous
  double uniform() { return to_unit(bits_()); }                                           // [0, 1), multiples of 2^-53
  double uniform_open() { return (static_cast<double>(bits_() >> 12) + 0.5) * 0x1p-52; }  // (0, 1), symmetric about 1/2
  double uniform(double lower, double upper);
  double normal();
  double normal(double mean, double sd);
  double exponential();             // mean 1
  double exponential(double rate);  // mean 1 / rate
  double gumbel();                  // location 0, scale 1: mean is Euler's constant
  double gamma(double shape, double scale = 1);
  double log_gamma_draw(double shape);  // log of a gamma(shape, 1) draw, finite where the draw itself is below 1e-308
  double beta(double a, double b);
  double chi_square(double df);
  double student_t(double df);
  // Normal(mean, sd) given lower <= x <= upper; either bound may be infinite, and both may lie far in one tail.
  double truncated_normal(double lower, double upper, double mean = 0, double sd = 1);

  // Vectors and matrices
  VectorXd dirichlet(ConstVectorRef alpha);
  VectorXd normals(Index n);
  VectorXd multivariate_normal(ConstVectorRef mean, ConstMatrixRef cholesky);            // covariance L L', L lower
  VectorXd multivariate_normal_precision(ConstVectorRef mean, ConstMatrixRef cholesky);  // precision L L', L lower
  // Lower triangular T with T T' ~ Wishart(df, L L'), mean df L L'; df > p - 1 need not be whole (Bartlett).
  MatrixXd wishart_factor(double df, ConstMatrixRef cholesky);
  MatrixXd wishart(double df, ConstMatrixRef cholesky);

  // Counts
  std::uint64_t below(std::uint64_t n);  // 0 .. n - 1
  bool bernoulli(double p);
  std::int64_t binomial(std::int64_t n, double p);
  std::int64_t poisson(double mean);
  std::int64_t geometric(double p);                                                           // failures before the first success
  std::int64_t hypergeometric(std::int64_t marked, std::int64_t others, std::int64_t draws);  // marked ones among the draws
  int categorical(ConstVectorRef weights);
  int categorical_log(ConstVectorRef log_weights);  // Gumbel-max: no normalisation, any scale

  // Orders
  std::vector<int> permutation(int n);
  std::vector<int> sample_without_replacement(int n, int k);  // k of 0 .. n - 1, in random order, O(k) memory when k << n
  template <class Sequence>
  void shuffle(Sequence& items) {
    for (auto i = static_cast<std::uint64_t>(items.size()); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  static double to_unit(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }
  static std::array<std::uint64_t, 4> expand(std::uint64_t seed) {
    SplitMix64 mix(seed);
    return {mix(), mix(), mix(), mix()};
  }
  // Not symmetric, so that (1, 2) and (2, 1) differ; the odd constants keep small keys apart.
  static std::uint64_t combine(std::uint64_t key, std::uint64_t value) {
    return SplitMix64::finish(SplitMix64::finish(key + 0x9e3779b97f4a7c15u) ^
                              (value * 0xd1342543de82ef95u + 0x2545f4914f6cdd1du));
  }

  std::uint64_t key_;
  Xoshiro256 bits_;
};

// Categorical draws in O(1) each after O(n) preparation (Walker 1977, Vose 1991).
class AliasTable {
 public:
  explicit AliasTable(ConstVectorRef weights);
  int draw(Rng& rng) const;
  int size() const { return static_cast<int>(alias_.size()); }

 private:
  std::vector<double> keep_;  // chance that column i yields i rather than alias_[i]
  std::vector<int> alias_;
};

}  // namespace granary
