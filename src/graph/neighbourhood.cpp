#include "graph/neighbourhood.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/optim/l1_quadratic.h"
#include "core/base/parallel.h"

namespace granary::graph {

std::vector<Neighbourhoods> neighbourhoods(const ConstMatrixRef& s, const std::vector<double>& lambda,
                                           const NeighbourOptions& options, Monitor& monitor) {
  const Index p = s.rows();
  const std::size_t count = lambda.size();
  const Stopwatch clock;
  for (const double value : lambda) {
    if (!(value >= 0)) throw InputError(message("lambda must not be negative, got ", value, "."));
  }
  L1QuadraticOptions inner;
  inner.tol = options.tol;
  inner.max_iter = options.max_iter;
  // A constant variable has no neighbours: its own regression is empty, and no other may use it.
  const VectorXd deviation = s.diagonal().cwiseMax(0).cwiseSqrt();
  std::vector<std::vector<std::vector<Eigen::Triplet<double>>>> found(p);  // by variable, then lambda
  std::vector<std::vector<Convergence>> ends(p);
  parallel_for(p, options.threads, monitor, [&](Index j) {
    found[j].resize(count);
    ends[j].resize(count);
    VectorXd v = VectorXd::Zero(p), gradient = -s.col(j), mu(p);
    for (std::size_t l = 0; l < count; ++l) {
      if (!(deviation[j] > 0)) {
        ends[j][l].converged = true;
        ends[j][l].gap = ends[j][l].residual = 0;
        continue;
      }
      for (Index k = 0; k < p; ++k) {
        const bool out = k == j || !(deviation[k] > 0);
        mu[k] =
            out ? std::numeric_limits<double>::infinity() : lambda[l] * (options.standardize ? deviation[j] * deviation[k] : 1);
      }
      ends[j][l] = l1_quadratic(s, s.col(j), mu, v, gradient, inner, monitor);
      for (Index k = 0; k < p; ++k) {
        if (v[k] != 0) found[j][l].emplace_back(static_cast<int>(k), static_cast<int>(j), v[k]);
      }
    }
  });
  std::vector<Neighbourhoods> path(count);
  for (std::size_t l = 0; l < count; ++l) {
    std::vector<Eigen::Triplet<double>> entries;
    Convergence& end = path[l].convergence;
    end.converged = true;
    end.gap = end.residual = 0;
    for (Index j = 0; j < p; ++j) {
      entries.insert(entries.end(), found[j][l].begin(), found[j][l].end());
      const Convergence& own = ends[j][l];
      end.converged = end.converged && own.converged;
      end.iterations = std::max(end.iterations, own.iterations);
      if (!(own.gap <= end.gap)) end.gap = own.gap;
      if (!(own.residual <= end.residual)) end.residual = own.residual;
      if (!own.converged && end.message.empty()) end.message = message("variable ", j + 1, ": ", own.message);
    }
    path[l].coefficients.resize(p, p);
    path[l].coefficients.setFromTriplets(entries.begin(), entries.end());
    end.seconds = clock.seconds() / static_cast<double>(count);
  }
  return path;
}

MatrixXd neighbour_weights(const SparseMatrix& coefficients, NeighbourRule rule, double edge) {
  const Index p = coefficients.cols();
  MatrixXd votes = MatrixXd::Zero(p, p), weights(p, p);
  for (Index j = 0; j < p; ++j) {
    for (SparseMatrix::InnerIterator it(coefficients, j); it; ++it) {
      votes(it.row(), j) += 1;
      votes(j, it.row()) += 1;
    }
  }
  const double needed = rule == NeighbourRule::both ? 2 : 1;
  for (Index j = 0; j < p; ++j) {
    for (Index i = 0; i < p; ++i) weights(i, j) = i == j || votes(i, j) >= needed ? edge : Penalty::forbidden;
  }
  return weights;
}

}  // namespace granary::graph
