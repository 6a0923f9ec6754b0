// Rivals of the debiased lasso: other rows in step 3 of its algorithm, or other ways altogether.
//
//   nodewise  the rows of van de Geer et al. (Ann. Stat. 42, 2014)
//   ridge     the projection of Buehlmann (Bernoulli 19, 2013), whose bias enters p-values and intervals as delta
//   split     a lasso on one half, least squares on the other, p-values joined over many splits: Meinshausen, Meier and Buehlmann
//             (JASA 104, 2009)
//   ols       least squares, where there are more rows than columns
#pragma once

#include "regress/debiased_lasso.h"

namespace granary::regress {

enum class DebiasedMethod { nodewise, ridge, split, ols };
inline Names<DebiasedMethod> names(DebiasedMethod) {
  return {{DebiasedMethod::nodewise, "nodewise"}, {DebiasedMethod::ridge, "ridge"}, {DebiasedMethod::split, "split"}, {DebiasedMethod::ols, "ols"}};
}

struct BaselineOptions {
  DebiasedMethod method = DebiasedMethod::nodewise;
  std::optional<double> lambda, sigma, lambda0, lambda_nodes;
  int splits = 50;
  bool standardize = true;
  bool intercept = true;
  double alpha = 0.05;
  int threads = 1;
};
template <class V>
void fields(V& v, BaselineOptions& t) {
  v("method", t.method);
  v("lambda", t.lambda);
  v("sigma", t.sigma);
  v("lambda0", t.lambda0);
  v("lambda_nodes", t.lambda_nodes);
  v("splits", t.splits);
  v("standardize", t.standardize);
  v("intercept", t.intercept);
  v("alpha", t.alpha);
  v("threads", t.threads);
}

DebiasedResult debiased_baseline(const DebiasedData& data, const BaselineOptions& options, const Rng& rng, Monitor& monitor);

}  // namespace granary::regress
