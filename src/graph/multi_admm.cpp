#include "graph/multi_admm.h"

#include <algorithm>

#include "core/optim/admm.h"
#include "core/prox/proximal.h"

namespace granary::graph {

MultiReport multi_admm(const MultiProblem& problem, const MultiOptions& options, Monitor& monitor, MultiState& state) {
  const Index p = problem.variables();
  const int tasks = problem.tasks();
  const auto side_by_side = [&](const MultiState& from) {
    MatrixXd all = MatrixXd::Zero(p, p * tasks);
    for_each_entry(from.pattern, [&](Index i, Index j, Index e) {
      for (int k = 0; k < tasks; ++k) all(i, k * p + j) = all(j, k * p + i) = from.values(k, e);
    });
    return all;
  };

  AdmmOptions driver;
  double curvature = 0;  // of f at the diagonal start
  for (int k = 0; k < tasks; ++k) curvature += problem.weight[k] * state.w[k].diagonal().array().square().mean();
  driver.rho = curvature / tasks;
  driver.max_iter = options.max_iter;
  driver.tol = 0;  // the optimality of Z and the gap decide
  driver.gap_tol = options.tol;
  driver.gap_every = 20;

  AdmmProblem admm_problem;
  admm_problem.f = [&](const MatrixXd& v, double rho) {
    MatrixXd x(p, p * tasks);
    for (int k = 0; k < tasks; ++k)
      x.middleCols(k * p, p) = prox_log_det(problem.s[k], v.middleCols(k * p, p), rho / problem.weight[k]).x;
    return x;
  };
  BlockSolver off(problem.off, tasks), diagonal(problem.diagonal, tasks);
  VectorXd q(tasks), c(tasks), x(tasks);
  admm_problem.g.push_back([&](const MatrixXd& v, double rho) {
    MatrixXd z(p, p * tasks);
    q.setConstant(rho);
    for (Index j = 0; j < p; ++j) {
      for (Index i = 0; i <= j; ++i) {
        for (int k = 0; k < tasks; ++k) c[k] = rho * v(i, k * p + j);
        (i == j ? diagonal : off).solve(q.data(), c.data(), x.data());
        for (int k = 0; k < tasks; ++k) z(i, k * p + j) = z(j, k * p + i) = x[k];
      }
    }
    return z;
  });
  std::vector<SpdInverse> factors(tasks);
  bool have_z = false;
  const double size = static_cast<double>(p) * problem.weight.sum();
  // At Z, once Z is positive definite: the larger of the residual and the gap, both without units.
  admm_problem.gap = [&](const AdmmState& now) {
    const MatrixXd& z = now.z[0];
    MultiState next;
    std::vector<Eigen::Triplet<double>> entries;
    std::vector<double> values;
    for (Index j = 0; j < p; ++j) {
      for (Index i = 0; i <= j; ++i) {
        bool zero = i != j;
        for (int k = 0; k < tasks; ++k) zero = zero && z(i, k * p + j) == 0;
        if (zero) continue;
        entries.emplace_back(static_cast<int>(i), static_cast<int>(j), 1.0);
        for (int k = 0; k < tasks; ++k) values.push_back(z(i, k * p + j));
      }
    }
    next.pattern.resize(p, p);
    next.pattern.setFromTriplets(entries.begin(), entries.end());
    next.values = Eigen::Map<const MatrixXd>(values.data(), tasks, static_cast<Index>(entries.size()));
    if (!factorise(next, factors, options.threads, monitor)) return Convergence::unknown;
    invert(next, factors, options.threads, monitor);
    state = std::move(next);
    have_z = true;
    const double residual = free_set(problem, state).residual;
    return residual > options.tol ? residual
                                  : std::max(residual, duality_gap(problem, objective(problem, state), state.w) / size);
  };
  const AdmmResult end = admm(admm_problem, side_by_side(state), driver, monitor);
  MultiReport report;
  report.converged = have_z && end.convergence.converged && end.convergence.gap <= options.tol;
  report.iterations = end.convergence.iterations;
  if (!report.converged) report.message = message("stopped after ", report.iterations, " iterations");
  return report;
}

}  // namespace granary::graph
