#include "regress/q_alpha_theory.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/linalg/leading_eigenpair.h"
#include "core/base/parallel.h"

namespace granary::regress {

double positivity_share(Index n, double mean, double sd, int replicates, int threads, const Rng& rng, Monitor& monitor) {
  if (n < 1 || replicates < 1) throw InputError("n and the number of replicates must be at least 1.");
  std::vector<char> positive(static_cast<std::size_t>(replicates), 0);
  parallel_for(replicates, threads, monitor, [&](Index r) {
    Rng mine = rng.stream(static_cast<std::uint64_t>(r));
    MatrixXd g(n, n);
    for (Index j = 0; j < n; ++j) {
      for (Index i = j; i < n; ++i) g(i, j) = mine.normal(mean, sd);
    }
    const VectorXd start = VectorXd::Ones(n) + 0.1 * mine.normals(n);
    LeadingEigenOptions options;
    options.tol = 1e-9;
    options.max_products = 5000;
    options.subspace = 24;
    const VectorXd v =
        leading_eigenpair([&](ConstVectorRef x, VectorRef y) { y.noalias() = g.selfadjointView<Eigen::Lower>() * x; }, start,
                          options, monitor)
            .vector;
    positive[static_cast<std::size_t>(r)] = v.minCoeff() > 0 || v.maxCoeff() < 0;
  });
  return static_cast<double>(std::count(positive.begin(), positive.end(), 1)) / replicates;
}

}  // namespace granary::regress
