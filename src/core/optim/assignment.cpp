#include "core/optim/assignment.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/errors.h"

namespace granary {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// rows <= columns. Each round brings in one row along the shortest path in reduced costs to a free column.
void augment(ConstMatrixRef cost, AssignmentResult& out, Monitor& monitor) {
  const Index n = cost.rows(), m = cost.cols();
  std::vector<Index> row_of(static_cast<std::size_t>(m), -1), before(static_cast<std::size_t>(m));
  std::vector<char> done(static_cast<std::size_t>(m));
  VectorXd distance(m);
  out.column = VectorXi::Constant(n, -1);
  out.u = VectorXd::Zero(n);
  out.v = VectorXd::Zero(m);
  for (Index fresh = 0; fresh < n; ++fresh) {
    monitor.check();
    distance.setConstant(infinity);
    std::fill(done.begin(), done.end(), 0);
    std::vector<Index> rows, columns;  // visited, in order
    Index i = fresh, end = -1;
    double reached = 0;
    while (end < 0) {
      rows.push_back(i);
      Index next = -1;
      for (Index j = 0; j < m; ++j) {
        if (done[static_cast<std::size_t>(j)]) continue;
        const double through = reached + cost(i, j) - out.u[i] - out.v[j];
        if (through < distance[j]) {
          distance[j] = through;
          before[static_cast<std::size_t>(j)] = i;
        }
        // Of equal columns a free one: the path ends there.
        if (next < 0 || distance[j] < distance[next] || (distance[j] == distance[next] && row_of[static_cast<std::size_t>(j)] < 0)) next = j;
      }
      reached = distance[next];
      done[static_cast<std::size_t>(next)] = 1;
      columns.push_back(next);
      if (row_of[static_cast<std::size_t>(next)] < 0) {
        end = next;
      } else {
        i = row_of[static_cast<std::size_t>(next)];
      }
    }
    out.u[fresh] += reached;
    for (std::size_t r = 1; r < rows.size(); ++r) out.u[rows[r]] += reached - distance[out.column[rows[r]]];
    for (const Index j : columns) out.v[j] -= reached - distance[j];
    for (Index j = end; j >= 0;) {  // turn the path round
      const Index row = before[static_cast<std::size_t>(j)];
      row_of[static_cast<std::size_t>(j)] = row;
      const Index previous = out.column[row];
      out.column[row] = static_cast<int>(j);
      j = row == fresh ? -1 : previous;
    }
  }
}

}  // namespace

AssignmentResult assign_rows(ConstMatrixRef cost, Monitor& monitor) {
  const Stopwatch clock;
  const Index n = cost.rows(), m = cost.cols();
  if (!cost.allFinite()) throw InputError("the costs of an assignment must be finite.");
  AssignmentResult out;
  if (n <= m) {
    augment(cost, out, monitor);
  } else {
    AssignmentResult turned;
    augment(cost.transpose(), turned, monitor);
    out.column = VectorXi::Constant(n, -1);
    for (Index j = 0; j < m; ++j) out.column[turned.column[j]] = static_cast<int>(j);
    out.u = turned.v;
    out.v = turned.u;
  }
  for (Index i = 0; i < n; ++i)
    if (out.column[i] >= 0) out.objective += cost(i, out.column[i]);
  Convergence& c = out.convergence;
  c.iterations = static_cast<int>(std::min(n, m));
  c.gap = std::abs(out.objective - out.u.sum() - out.v.sum());
  c.residual = 0;
  for (Index j = 0; j < m; ++j)
    for (Index i = 0; i < n; ++i) c.residual = std::max(c.residual, out.u[i] + out.v[j] - cost(i, j));
  const double size = n > 0 && m > 0 ? cost.cwiseAbs().maxCoeff() * static_cast<double>(std::min(n, m)) : 0;
  c.converged = c.gap <= 1e-10 * size && c.residual <= 1e-10 * size;
  c.seconds = clock.seconds();
  return out;
}

AssignmentResult assign_rows_most(ConstMatrixRef gain, Monitor& monitor) {
  AssignmentResult out = assign_rows(-gain, monitor);
  out.objective = -out.objective;
  out.u = -out.u;
  out.v = -out.v;
  return out;
}

}  // namespace granary
