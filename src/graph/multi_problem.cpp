#include "graph/multi_problem.h"

#include <algorithm>
#include <cmath>

#include "core/base/convergence.h"
#include "core/base/parallel.h"
#include "core/graph/union_find.h"
#include "graph/multi_newton.h"
#include "core/linalg/dense.h"

namespace granary::graph {

void check_problem(const MultiProblem& problem) {
  const MultiPenalty& d = problem.diagonal;
  const bool bounded_diagonal = d.l1 > 0 || (d.l2 > 0 && d.norm != MultiNorm::fused);
  for (int k = 0; k < problem.tasks(); ++k) {
    if (!(problem.weight[k] > 0))
      throw InputError(message("the weight of task ", k + 1, " must be positive, got ", problem.weight[k], "."));
    if (problem.s[k].rows() != problem.variables() || problem.s[k].cols() != problem.variables()) {
      throw InputError(message("task ", k + 1, " differs from task 1 in the number of variables."));
    }
    for (Index i = 0; i < problem.variables(); ++i) {
      if (problem.s[k](i, i) > 0 || bounded_diagonal) continue;
      throw InputError(
          message("variable ", i + 1, " has variance ", problem.s[k](i, i), " in task ", k + 1,
                  " and an unpenalised diagonal, so the likelihood has no maximum; drop it or penalise the diagonal."));
    }
  }
  if (!(problem.off.l1 >= 0) || !(problem.off.l2 >= 0)) throw InputError("penalties must not be negative.");
}

MultiState diagonal_state(const MultiProblem& problem, Monitor& monitor) {
  const Index p = problem.variables();
  const int tasks = problem.tasks();
  MultiState state;
  state.pattern.resize(p, p);
  state.pattern.setIdentity();
  state.values.resize(tasks, p);
  state.w.assign(tasks, MatrixXd::Zero(p, p));
  state.log_det = VectorXd::Zero(tasks);
  for (int k = 0; k < tasks; ++k) {
    const double t = problem.weight[k], free = problem.diagonal.none() ? 0 : (problem.diagonal.l1 + problem.diagonal.l2) / t;
    for (Index i = 0; i < p; ++i) {
      const double variance = problem.s[k](i, i) + free;
      state.values(k, i) = 1 / variance;
      state.w[k](i, i) = variance;
      state.log_det[k] -= std::log(variance);
    }
  }
  if (problem.diagonal.none()) return state;
  // Each variable is a problem of its own, with 1 x 1 matrices.
  for (Index i = 0; i < p; ++i) {
    MultiProblem one;
    for (int k = 0; k < tasks; ++k) one.s.emplace_back(problem.s[k].data() + i * (p + 1), 1, 1);
    one.weight = problem.weight;
    one.off = problem.off;
    one.diagonal = problem.diagonal;
    MultiState small;
    small.pattern.resize(1, 1);
    small.pattern.setIdentity();
    small.values = state.values.col(i);
    small.w.resize(tasks);
    small.log_det.resize(tasks);
    for (int k = 0; k < tasks; ++k) {
      small.w[k] = MatrixXd::Constant(1, 1, 1 / small.values(k, 0));
      small.log_det[k] = std::log(small.values(k, 0));
    }
    MultiOptions options;
    options.tol = 1e-12;
    multi_newton(one, options, monitor, small);
    for (int k = 0; k < tasks; ++k) {
      state.log_det[k] += small.log_det[k] - std::log(state.values(k, i));
      state.values(k, i) = small.values(k, 0);
      state.w[k](i, i) = small.w[k](0, 0);
    }
  }
  return state;
}

double linear_and_penalty(const MultiProblem& problem, const SparseMatrix& pattern, const MatrixXd& values) {
  double sum = 0;
  const int tasks = problem.tasks();
  for_each_entry(pattern, [&](Index i, Index j, Index e) {
    const double* x = values.data() + e * tasks;
    double term = penalty_value(problem.penalty(i == j), x, tasks);
    for (int k = 0; k < tasks; ++k) term += problem.weight[k] * problem.s[k](i, j) * x[k];
    sum += i == j ? term : 2 * term;
  });
  return sum;
}

double objective(const MultiProblem& problem, const MultiState& state) {
  return linear_and_penalty(problem, state.pattern, state.values) - problem.weight.dot(state.log_det);
}

SparseMatrix task_upper(const SparseMatrix& pattern, const MatrixXd& values, int task) {
  SparseMatrix upper = pattern;
  for (Index e = 0; e < upper.nonZeros(); ++e) upper.valuePtr()[e] = values(task, e);
  return upper;
}

bool factorise(MultiState& state, std::vector<SpdInverse>& factors, int threads, Monitor& monitor) {
  const Index tasks = state.values.rows();
  factors.resize(tasks);
  std::vector<char> good(tasks, 0);
  parallel_for(tasks, threads, monitor,
               [&](Index k) { good[k] = factors[k].factorise(task_upper(state.pattern, state.values, static_cast<int>(k))); });
  if (std::find(good.begin(), good.end(), 0) != good.end()) return false;
  state.log_det.resize(tasks);
  for (Index k = 0; k < tasks; ++k) state.log_det[k] = factors[k].log_det();
  return true;
}

void invert(MultiState& state, const std::vector<SpdInverse>& factors, int threads, Monitor& monitor) {
  state.w.resize(factors.size());
  parallel_for(static_cast<Index>(factors.size()), threads, monitor, [&](Index k) { factors[k].inverse(state.w[k]); });
}

void drop_zero_blocks(MultiState& state) {
  const Index p = state.pattern.cols();
  std::vector<int> starts(p + 1, 0), rows;
  Index kept = 0;
  for_each_entry(state.pattern, [&](Index i, Index j, Index e) {
    if (i != j && (state.values.col(e).array() == 0).all()) return;
    if (kept != e) state.values.col(kept) = state.values.col(e);
    ++kept;
    ++starts[j + 1];
    rows.push_back(static_cast<int>(i));
  });
  for (Index j = 0; j < p; ++j) starts[j + 1] += starts[j];
  state.values.conservativeResize(Eigen::NoChange, kept);
  const std::vector<double> ones(kept, 1.0);
  state.pattern = Eigen::Map<const SparseMatrix>(p, p, kept, starts.data(), rows.data(), ones.data());
}

MultiFreeSet free_set(const MultiProblem& problem, const MultiState& state) {
  const Index p = problem.variables();
  const int tasks = problem.tasks();
  MultiFreeSet out;
  BlockSolver off(problem.off, tasks), diagonal(problem.diagonal, tasks);
  MatrixXd root(p, tasks);
  for (int k = 0; k < tasks; ++k) root.col(k) = state.w[k].diagonal().cwiseSqrt();
  std::vector<int> starts(p + 1, 0), rows;
  std::vector<double> values;
  VectorXd q(tasks), c(tasks), x(tasks), z(tasks);
  double moved = 0, size = 0;
  for (Index j = 0; j < p; ++j) {
    SparseMatrix::InnerIterator it(state.pattern, j);
    Index e = state.pattern.outerIndexPtr()[j];
    for (Index i = 0; i <= j; ++i) {
      const bool listed = it && it.row() == i;
      for (int k = 0; k < tasks; ++k) c[k] = problem.weight[k] * (state.w[k](i, j) - problem.s[k](i, j));  // minus the gradient
      if (listed) {
        x = state.values.col(e++);
        ++it;
      }
      if (!listed || (i != j && (x.array() == 0).all())) {
        if (off.is_zero(c.data())) continue;
        x.setZero();
      }
      for (int k = 0; k < tasks; ++k) {
        const MatrixXd& w = state.w[k];
        q[k] = problem.weight[k] * (i == j ? w(j, j) * w(j, j) : w(i, j) * w(i, j) + w(i, i) * w(j, j));
        c[k] += q[k] * x[k];
      }
      (i == j ? diagonal : off).solve(q.data(), c.data(), z.data());
      for (int k = 0; k < tasks; ++k) {
        const double unit = (i == j ? 1 : 2) * root(i, k) * root(j, k);
        moved += std::abs(z[k] - x[k]) * unit;
        size += std::abs(x[k]) * unit;
      }
      rows.push_back(static_cast<int>(i));
      values.insert(values.end(), x.data(), x.data() + tasks);
    }
    starts[j + 1] = static_cast<int>(rows.size());
  }
  const std::vector<double> ones(rows.size(), 1.0);
  out.pattern = Eigen::Map<const SparseMatrix>(p, p, static_cast<Index>(rows.size()), starts.data(), rows.data(), ones.data());
  out.values = Eigen::Map<const MatrixXd>(values.data(), tasks, static_cast<Index>(rows.size()));
  out.residual = moved / size;
  return out;
}

double duality_gap(const MultiProblem& problem, double objective, const std::vector<MatrixXd>& w) {
  const Index p = problem.variables();
  const int tasks = problem.tasks();
  BlockSolver off(problem.off, tasks), diagonal(problem.diagonal, tasks);
  const VectorXd ones = VectorXd::Ones(tasks);
  VectorXd a(tasks), x(tasks);
  std::vector<MatrixXd> excess(tasks, MatrixXd(p, p));  // A_k / T_k, lower triangle
  for (Index j = 0; j < p; ++j) {
    for (Index i = j; i < p; ++i) {
      for (int k = 0; k < tasks; ++k) a[k] = problem.weight[k] * (w[k](i, j) - problem.s[k](i, j));
      (i == j ? diagonal : off).solve(ones.data(), a.data(), x.data());
      for (int k = 0; k < tasks; ++k) excess[k](i, j) = (a[k] - x[k]) / problem.weight[k];
    }
  }
  // A positive diagonal helps V to be positive definite, so it is kept; fused differences have both signs and shrink with the
  // rest.
  const bool keep_diagonal = !problem.diagonal.none() && problem.diagonal.norm != MultiNorm::fused;
  MatrixXd v(p, p);
  for (const double towards_s : {0.0, 1e-3, 1e-2, 0.1, 0.3, 0.6, 1.0}) {
    double value = 0;
    bool good = true;
    for (int k = 0; k < tasks && good; ++k) {
      v = problem.s[k] + (1 - towards_s) * excess[k];
      if (keep_diagonal) v.diagonal() = problem.s[k].diagonal() + excess[k].diagonal();
      const LltInPlace llt(v);
      good = llt.info() == Eigen::Success;
      if (!good) break;
      const double log_det = 2 * v.diagonal().array().log().sum();
      good = std::isfinite(log_det);
      value += problem.weight[k] * (log_det + static_cast<double>(p));
    }
    if (good) return objective - value;
  }
  return Convergence::unknown;
}

std::vector<std::vector<int>> screen_components(const MultiProblem& problem) {
  const int p = static_cast<int>(problem.variables()), tasks = problem.tasks();
  BlockSolver off(problem.off, tasks);
  VectorXd c(tasks);
  UnionFind sets(p);
  for (int j = 0; j < p && sets.sets() > 1; ++j) {
    for (int i = 0; i < j; ++i) {
      for (int k = 0; k < tasks; ++k) c[k] = problem.weight[k] * problem.s[k](i, j);
      if (!off.is_zero(c.data())) sets.unite(i, j);
    }
  }
  return sets.members();
}

double largest_entry_weight(const MultiProblem& problem) {
  const int tasks = problem.tasks();
  BlockSolver off(problem.off, tasks);
  VectorXd c(tasks);
  double largest = 0;
  for (Index j = 0; j < problem.variables(); ++j) {
    for (Index i = 0; i < j; ++i) {
      for (int k = 0; k < tasks; ++k) c[k] = problem.weight[k] * problem.s[k](i, j);
      largest = std::max(largest, off.entry_weight(c.data()));
    }
  }
  return largest;
}

}  // namespace granary::graph
