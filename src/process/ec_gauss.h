// A Gaussian prior times one factor per variable, the factors described by words and numbers: see core/infer/ep_sites.h for what
// each kind means and core/infer/ep.h for the fixed point.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "core/base/fields.h"
#include "core/infer/ep.h"
#include "process/ec_box.h"

namespace granary::process {

enum class EcFactorKind { truncate, probit, spike_slab, laplace, gaussian, discrete, generic, flat };
inline Names<EcFactorKind> names(EcFactorKind) {
  return {{EcFactorKind::truncate, "truncate"}, {EcFactorKind::probit, "probit"},     {EcFactorKind::spike_slab, "spike_slab"},
          {EcFactorKind::laplace, "laplace"},   {EcFactorKind::gaussian, "gaussian"}, {EcFactorKind::discrete, "discrete"},
          {EcFactorKind::generic, "generic"},   {EcFactorKind::flat, "flat"}};
}

struct EcFactorExtra {
  VectorXd values, log_w;                      // discrete
  std::function<double(double)> log_density;  // generic
};
template <class V>
void fields(V& v, EcFactorExtra& t) {
  v("values", t.values);
  v("log_w", t.log_w);
  v("log_density", t.log_density);
}

struct EcGaussProblem {
  MatrixView sigma{nullptr, 0, 0};
  VectorView mu{nullptr, 0};
  std::vector<EcFactorKind> kind;
  VectorXd a, b;
  std::vector<std::optional<EcFactorExtra>> extra;
  std::vector<char> log_concave;
};
template <class V>
void fields(V& v, EcGaussProblem& t) {
  v("Sigma", t.sigma);
  v("mu", t.mu);
  v("kind", t.kind);
  v("a", any_number(t.a));
  v("b", any_number(t.b));
  v("extra", t.extra);
  v("log_concave", t.log_concave);
}

EpResult ec_gauss(const EcGaussProblem& problem, const EpOptions& options, Rng& rng, Monitor& monitor);

struct BoxOptions {
  int samples = 24576, shifts = 12, threads = 1;
};
template <class V>
void fields(V& v, BoxOptions& t) {
  v("samples", t.samples);
  v("shifts", t.shifts);
  v("threads", t.threads);
}

}  // namespace granary::process
