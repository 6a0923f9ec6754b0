// One-dimensional factors t(f) for expectation propagation, each known by the moments of the tilted law
//
//   log Z = log int t(f) N(f | m, v) df,   mean and variance of t(f) N(f | m, v) / Z
//
//   probit            Phi(y f), y = +-1                         logit      1 / (1 + exp(-y f)), by quadrature
//   truncation        1[lower < f < upper]                      laplace    exp(-|f| / b) / (2 b)
//   spike_slab        (1 - p) delta_0(f) + p N(f | 0, w)        discrete   sum_k w_k delta(f - x_k), Ising spins included
//   gaussian          N(f | y, w)                               general    any positive function, by quadrature
//
// All are stable far into the tails.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/math/quadrature.h"
#include "core/base/types.h"

namespace granary {

struct SiteMoments {
  double log_z = 0, mean = 0, variance = 0;
};

SiteMoments probit_moments(double y, double m, double v);
SiteMoments truncation_moments(double lower, double upper, double m, double v);  // either bound may be infinite
SiteMoments laplace_moments(double b, double m, double v);
SiteMoments spike_slab_moments(double p, double w, double m, double v);
SiteMoments gaussian_moments(double y, double w, double m, double v);
SiteMoments discrete_moments(ConstVectorRef values, ConstVectorRef log_weights, double m, double v);
// Around the mode of the tilted law, found by Newton steps on differences of log_t, which has to be concave or close to it.
SiteMoments quadrature_moments(const std::function<double(double)>& log_t, const Quadrature& rule, double m, double v);

// The same for any positive function, with kinks, jumps or several modes: the highest point is looked for on a grid and by steps that
// shrink, and both sides of it are integrated by adaptive Gauss-Kronrod rules. Some hundred values of log_t.
SiteMoments general_moments(const std::function<double(double)>& log_t, double m, double v);

// A factor per variable. `moments` has to be safe to call from several threads.
class EpSites {
 public:
  virtual ~EpSites() = default;
  virtual Index size() const = 0;
  virtual SiteMoments moments(Index i, double m, double v) const = 0;
  virtual bool log_concave() const { return true; }  // then site precisions never get negative
};

class ProbitSites : public EpSites {
 public:
  explicit ProbitSites(ConstVectorRef y) : y_(y) {}
  Index size() const override { return y_.size(); }
  SiteMoments moments(Index i, double m, double v) const override { return probit_moments(y_[i], m, v); }

 private:
  VectorXd y_;
};

class LogitSites : public EpSites {
 public:
  explicit LogitSites(ConstVectorRef y, int nodes = 32) : y_(y), rule_(gauss_hermite(nodes)) {}
  Index size() const override { return y_.size(); }
  SiteMoments moments(Index i, double m, double v) const override;

 private:
  VectorXd y_;
  Quadrature rule_;
};

class TruncationSites : public EpSites {
 public:
  TruncationSites(ConstVectorRef lower, ConstVectorRef upper) : lower_(lower), upper_(upper) {}
  Index size() const override { return lower_.size(); }
  SiteMoments moments(Index i, double m, double v) const override { return truncation_moments(lower_[i], upper_[i], m, v); }

 private:
  VectorXd lower_, upper_;
};

// A function per variable: for mixtures of kinds of factors.
class MixedSites : public EpSites {
 public:
  using Function = std::function<SiteMoments(double m, double v)>;
  MixedSites(std::vector<Function> sites, bool log_concave) : sites_(std::move(sites)), log_concave_(log_concave) {}
  Index size() const override { return static_cast<Index>(sites_.size()); }
  SiteMoments moments(Index i, double m, double v) const override { return sites_[i](m, v); }
  bool log_concave() const override { return log_concave_; }

 private:
  std::vector<Function> sites_;
  bool log_concave_;
};

}  // namespace granary
