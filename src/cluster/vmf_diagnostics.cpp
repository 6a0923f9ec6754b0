#include "cluster/vmf_diagnostics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/cluster/linear_scores.h"
#include "core/math/logspace.h"
#include "core/math/special.h"

namespace granary::cluster {

Cohesion cohesion(const DataRows& x, const VectorXi& label, Index k) {
  if (label.size() != x.rows()) throw InputError(message("there are ", label.size(), " labels for ", x.rows(), " rows."));
  ClusterSums sums = cluster_sums(x, VectorXd(), label, k);
  for (Index h = 0; h < k; ++h) {
    const double length = sums.first.row(h).norm();
    if (length > 0) sums.first.row(h) /= length;
  }
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  Cohesion out;
  out.size = sums.weight;
  out.cluster_mean = VectorXd::Zero(k);
  out.cluster_min = VectorXd::Ones(k);
  for (Index i = 0; i < x.rows(); ++i) {
    const double cosine = x.score(i, sums.first, label[i]);
    out.cluster_mean[label[i]] += cosine;
    out.cluster_min[label[i]] = std::min(out.cluster_min[label[i]], cosine);
  }
  out.h_mean = out.cluster_mean.sum() / static_cast<double>(x.rows());
  out.h_min = out.cluster_min.minCoeff();
  for (Index h = 0; h < k; ++h) out.cluster_mean[h] /= std::max(out.size[h], 1.0);
  const MatrixXd between = sums.first * sums.first.transpose();
  double sum = 0, pairs = 0;
  out.s_max = k > 1 ? -1 : none;
  for (Index g = 0; g < k; ++g) {
    for (Index h = 0; h < g; ++h) {
      const double weight = out.size[g] * out.size[h];
      sum += weight * between(g, h);
      pairs += weight;
      if (weight > 0) out.s_max = std::max(out.s_max, between(g, h));
    }
  }
  out.s_mean = pairs > 0 ? sum / pairs : none;
  return out;
}

PacMdl pac_mdl(double errors, double labelled, double unlabelled, double classes, double clusters, double delta) {
  const double least = std::log(delta) - clusters * std::log(classes), all = labelled + unlabelled;
  // log P(at most `errors` of the labelled rows are among the b wrong ones)
  const auto log_cdf = [&](double b) {
    const double total = log_choose(all, labelled);
    LogSumExp sum;
    for (double j = std::max(0.0, labelled - (all - b)); j <= std::min(errors, b); ++j) sum.add(log_choose(b, j) + log_choose(all - b, labelled - j) - total);
    return sum.value();
  };
  double low = errors, high = unlabelled + errors;  // beyond, more than `errors` of the labelled rows would be wrong
  if (log_cdf(high) < least) {
    while (high - low > 1) {  // the probability falls with b
      const double middle = std::floor(0.5 * (low + high));
      (log_cdf(middle) >= least ? low : high) = middle;
    }
  } else {
    low = high;
  }
  return {low, unlabelled > 0 ? (low - errors) / unlabelled : 0};
}

}  // namespace granary::cluster
