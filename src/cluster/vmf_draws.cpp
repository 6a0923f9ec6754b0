#include <algorithm>
#include <cmath>

#include "cluster/vmf.h"
#include "core/base/errors.h"
#include "core/cluster/seeding.h"

namespace granary::cluster {

namespace {

// mu'x of one draw. With b = (d - 1) / (2 kappa + sqrt(4 kappa^2 + (d - 1)^2)) and Z beta, W = (1 - (1 + b) Z) / (1 - (1 - b) Z); 1 - W and
// 1 - x0 W, x0 = (1 - b) / (1 + b), are written out, since for a large kappa both are tiny.
struct Along {
  double w, across;  // mu'x and sqrt(1 - (mu'x)^2)
};
Along draw_along(double d, double kappa, Rng& rng) {
  const double m = d - 1, b = m / (2 * kappa + std::sqrt(4 * kappa * kappa + m * m)), x0 = (1 - b) / (1 + b);
  const double log_peak = std::log(4 * b) - 2 * std::log1p(b);  // log(1 - x0^2)
  while (true) {
    const double z = rng.beta(0.5 * m, 0.5 * m), below = 1 - (1 - b) * z;
    const double rest = 2 * b * z / below, w = 1 - rest;
    const double accept = kappa * (w - x0) + m * (std::log(2 * b / ((1 + b) * below)) - log_peak);
    if (accept >= std::log(rng.uniform_open())) return {w, std::sqrt(std::max(rest * (2 - rest), 0.0))};
  }
}

}  // namespace

VmfDraws vmf_draws(Index n, const VmfParameters& p, Rng& rng, Monitor& monitor) {
  const Index d = p.directions.cols();
  if (d < 2) throw InputError("directions need at least two columns.");
  VmfDraws out{MatrixXd(n, d), VectorXi(n)};
  for (Index i = 0; i < n; ++i) {
    if (i % 64 == 0) monitor.progress(static_cast<double>(i) / static_cast<double>(n));
    const Index h = p.share.size() > 1 ? draw_index(p.share, rng.uniform()) : 0;
    const VectorXd mu = p.directions.row(h).transpose();
    const Along along = draw_along(static_cast<double>(d), p.concentration[h], rng);
    VectorXd across = rng.normals(d);
    across -= mu * mu.dot(across);
    across -= mu * mu.dot(across);
    out.x.row(i) = (along.w * mu + along.across * across.normalized()).transpose();
    out.cluster[i] = static_cast<int>(h);
  }
  return out;
}

}  // namespace granary::cluster
