#include "graph/neighbourhood.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/optim/l1_quadratic.h"
#include "core/base/parallel.h"
#include "core/linalg/dense.h"

namespace granary::graph {

namespace {

// Whether no variable is a function of the others to eight digits of its variance: the pivots of the Cholesky factor.
bool clearly_definite(const ConstMatrixRef& s) {
  const Llt factor(s);
  if (factor.info() != Eigen::Success) return false;
  const VectorXd root = factor.matrixLLT().diagonal();
  return (root.array().square() / s.diagonal().array()).minCoeff() > 1e-8;
}

}  // namespace

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

std::vector<NeighbourFit> neighbour_path(const ConstMatrixRef& s, const std::vector<double>& lambda, const NeighbourPathOptions& options,
                                         Monitor& monitor) {
  const double refit = options.refit ? *options.refit : clearly_definite(s) ? 0 : 0.01;
  const auto regressions =
      neighbourhoods(s, lambda, {options.standardize, 1e-2 * options.tol, options.max_iter, options.threads}, monitor);
  GlassoOptions constrained;
  constrained.tol = options.tol;
  constrained.threads = options.threads;
  constrained.covariance = options.covariance || lambda.size() == 1;
  constrained.warm = false;
  std::vector<NeighbourFit> out;
  for (const Neighbourhoods& found : regressions) {
    const MatrixXd weights = neighbour_weights(found.coefficients, options.rule, refit * s.diagonal().mean());
    NeighbourFit next{glasso(s, Penalty::matrix(weights), constrained, monitor), found.coefficients, found.convergence, refit};
    if (!found.convergence.converged) {
      next.fit.convergence.converged = false;
      next.fit.convergence.message = found.convergence.message;
    }
    out.push_back(std::move(next));
    monitor.progress(static_cast<double>(out.size()) / static_cast<double>(lambda.size()));
  }
  return out;
}

}  // namespace granary::graph
