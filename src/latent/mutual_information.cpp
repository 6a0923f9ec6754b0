#include "latent/mutual_information.h"

#include <algorithm>
#include <cmath>

#include "core/math/special.h"

namespace granary::latent {

InformationResult mutual_information(ConstMatrixRef counts, const EntropyOptions& options, Monitor& monitor) {
  const Stopwatch watch;
  const VectorXd x = counts.rowwise().sum(), y = counts.colwise().sum().transpose();
  VectorXd joint(counts.size());
  for (Index j = 0; j < counts.cols(); ++j) joint.segment(j * counts.rows(), counts.rows()) = counts.col(j);
  InformationResult out;
  out.convergence.converged = true;
  out.convergence.residual = 0;
  const auto entropy = [&](const VectorXd& c) {
    EntropyOptions one = options;
    one.n_draws = 0;
    one.alphabet = static_cast<double>(c.size());
    Rng unused(0);
    const EntropyResult found = entropy_estimate(c, one, unused, monitor);
    if (!found.convergence.converged) {
      out.convergence.converged = false;
      out.convergence.message = found.convergence.message;
      out.convergence.reason = found.convergence.why();
    }
    out.convergence.iterations = std::max(out.convergence.iterations, found.convergence.iterations);
    if (found.convergence.residual > out.convergence.residual) out.convergence.residual = found.convergence.residual;
    return found.estimate;
  };
  out.entropy_x = entropy(x);
  out.entropy_y = entropy(y);
  out.entropy_joint = entropy(joint);
  out.total = joint.sum();
  out.estimate = out.entropy_x + out.entropy_y - out.entropy_joint;
  double mean = 0, square = 0;
  for (int pass = 0; pass < 2; ++pass) {
    for (Index j = 0; j < counts.cols(); ++j) {
      for (Index i = 0; i < counts.rows(); ++i) {
        if (counts(i, j) == 0) continue;
        const double p = counts(i, j) / out.total, l = std::log(counts(i, j) * out.total / (x[i] * y[j]));
        if (pass == 0) {
          mean += p * l;
        } else {
          square += p * (l - mean) * (l - mean);
        }
      }
    }
  }
  out.sd = std::sqrt(square / out.total);
  const double z = normal_quantile(0.5 + options.level / 2);
  out.lower = std::max(0.0, out.estimate - z * out.sd);
  out.upper = std::max(0.0, out.estimate + z * out.sd);
  out.convergence.seconds = watch.seconds();
  return out;
}

VectorXd rarefied(ConstVectorRef counts, double size, Rng& rng) {
  VectorXd out = VectorXd::Zero(counts.size());
  auto left = static_cast<std::int64_t>(counts.sum()), draws = static_cast<std::int64_t>(size);
  for (Index i = 0; i < counts.size() && draws > 0; ++i) {
    const auto here = static_cast<std::int64_t>(counts[i]);
    const std::int64_t taken = rng.hypergeometric(here, left - here, draws);
    out[i] = static_cast<double>(taken);
    left -= here;
    draws -= taken;
  }
  return out;
}

}  // namespace granary::latent
